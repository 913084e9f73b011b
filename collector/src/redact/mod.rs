//! Redaction: secrets are replaced while bytes stream towards the bundle, and nothing reaches it by another road.

mod key;

pub use key::Key;

use std::collections::BTreeMap;

/// How a redactor looks at what it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Lines of text, configuration or logs.
    Text,
    /// One JSON value a line (API lists with one item a line, journal lines): stays valid JSON.
    JsonLines,
}

/// Redacts one stream.
pub struct Redactor {
    _content: Content,
    _key: Key,
    counts: BTreeMap<String, u64>,
}

impl Redactor {
    /// A redactor for one entry.
    pub fn new(content: Content, key: Key) -> Self {
        Self {
            _content: content,
            _key: key,
            counts: BTreeMap::new(),
        }
    }

    /// Takes bytes in any chunking and appends what is safe to `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(bytes);
    }

    /// Appends what was held back.
    pub fn finish(&mut self, _out: &mut Vec<u8>) {}

    /// How many secrets of each class were replaced.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        self.counts.clone()
    }
}
