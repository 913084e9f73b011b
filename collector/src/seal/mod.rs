//! What a bundle leaves the site with: a signature over its manifest and bytes, and encryption to its recipients.

pub mod encrypt;
pub mod sign;

/// Why a key cannot be used or a signature does not hold.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {why}")]
pub struct SealError {
    /// The file or option.
    pub what: String,
    /// What is wrong and what to do.
    pub why: String,
}

impl SealError {
    fn new(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            why: why.into(),
        }
    }
}
