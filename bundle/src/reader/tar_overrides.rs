//! Entries that only say something of the next one: GNU's long names and PAX attributes.

use tar::{EntryType, PaxExtensions};

/// What they say.
#[derive(Default)]
pub(crate) struct Overrides {
    pub(crate) name: Option<Vec<u8>>,
    pub(crate) size: Option<u64>,
    pub(crate) sparse: bool,
}

impl Overrides {
    /// Takes what one of them says.
    pub(crate) fn note(&mut self, kind: EntryType, bytes: &[u8]) {
        if kind.is_gnu_longname() {
            let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
            self.name = Some(bytes[..end].to_vec());
        } else if kind.is_pax_local_extensions() {
            for record in PaxExtensions::new(bytes).flatten() {
                match record.key_bytes() {
                    b"path" => self.name = Some(record.value_bytes().to_vec()),
                    b"size" => self.size = record.value().ok().and_then(|v| v.parse().ok()),
                    key if key.starts_with(b"GNU.sparse.") => self.sparse = true,
                    _ => {}
                }
            }
        }
    }
}
