//! The bundle: the one file that a collector carries off a node and an analyzer reads.
//!
//! A bundle is a `.tar.gz` of many small gzip members. [`Writer`] streams one out; [`scan`] reads one
//! (or a foreign tar, or an unpacked folder) in pieces on all cores without ever unpacking it.
//! `FORMAT.md` beside this crate describes the file for people who write their own reader.

mod blame;
pub mod entry;
mod hash;
mod keys;
mod manifest;
mod member;
mod path;
pub mod reader;
mod seal;
mod signature;
pub mod sources;
mod spool;
mod verify;
mod writer;

pub use entry::{ANY, Entry};
pub use hash::{Hasher, hex, sha256_hex};
pub use keys::{KeyError, Keys};
pub use manifest::{
    Clock, EntryRecord, FormatVersion, Header, Manifest, ManifestEnd, Outcome, SourceReport,
};
pub use path::{BundlePath, PathError};
pub use reader::{
    EntryInfo, Form, Input, Limits, OpenError, Piece, PieceSink, ReadProblem, Summary, Surveyed,
    is_content_folder, is_packed, list, read_chosen, read_entries, read_entry, read_through, scan,
    survey,
};
pub use signature::{Signed, read_signature};
pub use spool::{EntrySpool, FinishedEntry};
pub use verify::{VerifyReport, verify};
pub use writer::{EntryMeta, Sign, WriteError, Writer};

/// Path of the first entry, which holds the [`Header`].
pub const HEADER_PATH: &str = "casefile.json";
/// Path of the last entry, which holds the [`Manifest`].
pub const MANIFEST_PATH: &str = "manifest.json";
/// Path of the entry behind the manifest that holds its signature, where there is one.
pub const SIGNATURE_PATH: &str = "manifest.json.sig";
/// Path of the entry behind the manifest that holds the archive's checksum, where nobody signed.
pub const SUM_PATH: &str = "manifest.json.sum";
