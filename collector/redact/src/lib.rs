//! The collector's redaction for programs that are not the collector: the analyzer's `convert` writes bundles with it, so that
//! one that was converted is as clean as one that was collected.
//!
//! The code lies in the collector, which is where it is tested; this crate builds the same files without what a
//! collector needs besides (an API server, a host). Names of a site are replaced by the collector only.

#[path = "../../src/redact/mod.rs"]
pub mod redact;

pub use redact::{Content, Key, Redactor};

/// What stands for the collector's replacement of a site's names, of which there is none here.
mod anonymize {
    /// Nothing: no value of it exists.
    #[derive(Debug)]
    pub enum Anonymizer {}

    impl Anonymizer {
        /// A text with the site's names replaced.
        pub fn text(&self, _: &str) -> String {
            match *self {}
        }

        /// Bytes with the site's names replaced.
        pub fn bytes(&self, _: &[u8]) -> Vec<u8> {
            match *self {}
        }
    }
}
