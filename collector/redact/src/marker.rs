//! The placeholder that a secret leaves behind, and the count of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::key::Key;
use super::known::Known;

/// Makes placeholders and counts them by class.
pub(crate) struct Marker {
    key: Key,
    counts: BTreeMap<String, u64>,
    /// A private key began in a string of its own and has not ended: so many strings may still belong to it.
    pub(crate) key_lines: u32,
    /// Whether what nothing explains is replaced: not in what only decides about a binary file.
    pub(crate) guesses: bool,
}

impl Marker {
    /// No secrets seen yet.
    pub(crate) fn new(key: Key) -> Self {
        Self {
            key,
            counts: BTreeMap::new(),
            key_lines: 0,
            guesses: true,
        }
    }

    /// `<redacted:CLASS:xxxxxxxx>`, counted.
    pub(crate) fn mark(&mut self, class: &str, secret: &[u8]) -> String {
        self.key.remember(secret);
        *self.counts.entry(class.to_owned()).or_default() += 1;
        format!("<redacted:{class}:{}>", self.key.pseudonym(secret))
    }

    /// A placeholder for a text that may be no secret at all: counted, and not searched for elsewhere.
    pub(crate) fn stand_in(&mut self, class: &str, text: &[u8]) -> String {
        *self.counts.entry(class.to_owned()).or_default() += 1;
        format!("<redacted:{class}:{}>", self.key.pseudonym(text))
    }

    /// Whether the user wants to keep a text that nothing explains.
    pub(crate) fn keeps(&self, text: &str) -> bool {
        self.key.keeps(text)
    }

    /// The ids of this run that a place explained.
    pub(crate) fn known(&self) -> &Known {
        self.key.known()
    }

    /// The same, while something is marked.
    pub(crate) fn shared_known(&self) -> Arc<Known> {
        Arc::clone(self.key.known())
    }

    /// One for a text within another, which counts by itself.
    pub(crate) fn nested(&self) -> Self {
        Self {
            guesses: self.guesses,
            ..Self::new(self.key.clone())
        }
    }

    /// Takes in what such a one found out.
    pub(crate) fn take_in(&mut self, inner: Self) {
        self.absorb(inner.counts);
        self.key_lines = self.key_lines.max(inner.key_lines);
    }

    /// Adds what another marker counted.
    pub(crate) fn absorb(&mut self, other: BTreeMap<String, u64>) {
        for (class, count) in other {
            *self.counts.entry(class).or_default() += count;
        }
    }

    /// The key, for a nested redactor.
    pub(crate) fn key(&self) -> Key {
        self.key.clone()
    }

    /// Placeholders by class.
    pub(crate) fn counts(&self) -> &BTreeMap<String, u64> {
        &self.counts
    }
}
