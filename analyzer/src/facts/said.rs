//! Where a real program's own word contradicts what is worked out from captured files.

use serde::Serialize;

use super::fact;

fact! {
    /// A simulation that stepped back: the program that it imitates says otherwise.
    #[derive(Debug, Clone, Default, Serialize)]
    "said-otherwise" = pub struct SaidOtherwise {
        /// Node.
        pub node: String,
        /// Whose word it is: `containerd`, `kernel` or `nvidia-smi`.
        pub program: String,
        /// What it says and what the captured files give, as a sentence without a full stop.
        pub sentence: String,
    }
    subject = |fact| format!("node/{}", fact.node);
}
