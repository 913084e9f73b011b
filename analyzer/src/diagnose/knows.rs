//! Whether the rules have anything to say about a message.

use super::Analyzer;
use crate::lines::{Channel, Origin};

impl Analyzer {
    /// Whether a rule's pattern or the vocabulary knows a message, whatever follows from it.
    pub fn knows(&self, message: &str) -> bool {
        let origin = Origin::of("pasted.txt", Channel::Text);
        !self
            .patterns
            .search(&origin, message.as_bytes())
            .hits
            .is_empty()
    }

    /// What judges: the analyzer's release and the digest of its rules.
    pub fn judge_name(&self) -> String {
        let digest = &self.set.digest;
        format!(
            "casefile-analyzer {} rules {}",
            env!("CARGO_PKG_VERSION"),
            digest.get(..16).unwrap_or(digest)
        )
    }
}
