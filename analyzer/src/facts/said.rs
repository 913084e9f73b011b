//! Where a real program's own word contradicts what is worked out from captured files.

use serde::Serialize;

use super::{FactType, Field};

const fn field(name: &'static str, doc: &'static str) -> Field {
    Field { name, doc }
}

/// A simulation that stepped back: the program that it imitates says otherwise.
#[derive(Debug, Clone, Default, Serialize)]
pub struct SaidOtherwise {
    /// Node.
    pub node: String,
    /// Whose word it is: `containerd`, `kernel` or `nvidia-smi`.
    pub program: String,
    /// What it says and what the captured files give, as a sentence without a full stop.
    pub sentence: String,
}

impl FactType for SaidOtherwise {
    const KIND: &'static str = "said-otherwise";
    const FIELDS: &'static [Field] = &[
        field("node", "node"),
        field("program", "containerd, kernel or nvidia-smi"),
        field("sentence", "what it says, and what the files give"),
    ];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}
