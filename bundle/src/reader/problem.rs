//! A problem: what is wrong with an input, in a sentence that names the file and the place.

use std::io;
use std::path::PathBuf;

/// Something wrong with a part of the input. The rest was read all the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum ReadProblem {
    /// `casefile.json` or `manifest.json` does not parse.
    #[error("{path}: {message}")]
    BadMetadata {
        /// The entry.
        path: String,
        /// What serde said, with line and column.
        message: String,
    },
    /// A header is there and no manifest: collection or transfer was cut short.
    #[error("manifest.json is missing: the bundle was cut short")]
    NoManifest,
    /// The input ended, or became unreadable, in the middle of an entry.
    #[error("{path}: cut short after {got} of {expected} bytes")]
    CutEntry {
        /// The entry.
        path: String,
        /// Bytes delivered.
        got: u64,
        /// Bytes declared.
        expected: u64,
    },
    /// The input ended, or became unreadable, before the archive did.
    #[error("archive cut short after {at} bytes of content: {why}")]
    Cut {
        /// Inflated bytes read.
        at: u64,
        /// What was found instead.
        why: String,
    },
    /// A stretch of the file is damaged; reading went on behind it.
    #[error("{path}: {lost} bytes lost at byte {at} of the file: {why}")]
    Damaged {
        /// The entry, or `archive` between entries.
        path: String,
        /// Inflated bytes lost.
        lost: u64,
        /// Offset in the input file.
        at: u64,
        /// What is wrong there.
        why: String,
    },
    /// A tar header that is none; the next good one was looked for.
    #[error("archive: bad entry header at byte {at} of the content: {why}")]
    BadHeader {
        /// Offset in the inflated bytes.
        at: u64,
        /// What is wrong with it.
        why: String,
    },
    /// More content than the limit; the rest of the entry was skipped.
    #[error("{path}: over the limit of {limit} bytes for one entry; the rest was skipped")]
    EntryOverLimit {
        /// The entry.
        path: String,
        /// The limit.
        limit: u64,
    },
    /// A name that could lead out of a folder; the entry was skipped.
    #[error("{path}: entry skipped: {why}")]
    UnsafePath {
        /// The name as far as it can be shown.
        path: String,
        /// The rule it breaks.
        why: String,
    },
    /// A name with odd bytes; the entry was read under a name with these percent-encoded.
    #[error("{path}: name holds bytes that are not printable UTF-8, shown percent-encoded")]
    Renamed {
        /// The name it got.
        path: String,
    },
    /// A link, device or the like; skipped.
    #[error("{path}: {kind} skipped")]
    NotRegular {
        /// The entry.
        path: String,
        /// What it is.
        kind: String,
    },
    /// A second entry with the same path; skipped.
    #[error("{path}: second entry with this name skipped")]
    Duplicate {
        /// The entry.
        path: String,
    },
    /// Archives inside archives, deeper than any tool makes them; not opened.
    #[error("{path}: too many archives inside one another; not opened")]
    TooDeep {
        /// The innermost that was reached.
        path: String,
    },
    /// An encrypted entry of a zip archive; skipped.
    #[error(
        "{path}: encrypted, so it was not read; unpack the archive with its password and name the folder"
    )]
    Encrypted {
        /// The entry.
        path: String,
    },
    /// A file of a folder, or something packed, that cannot be read, or not to its end.
    #[error("{path}: {message}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system said.
        message: String,
    },
    /// Too many entries; reading stopped.
    #[error("more than {limit} entries; the rest was not read")]
    TooManyEntries {
        /// The limit.
        limit: u64,
    },
    /// Too many inflated bytes; reading stopped.
    #[error("more than {limit} bytes of content; the rest was not read")]
    TotalOverLimit {
        /// The limit.
        limit: u64,
    },
    /// Inflates beyond what honest data does; reading stopped.
    #[error("content inflates to more than {limit} times its size; the rest was not read")]
    RatioOverLimit {
        /// The limit.
        limit: u64,
    },
    /// Something follows the end of the archive; ignored.
    #[error("bytes after the end of the archive ignored")]
    TrailingData,
    /// The analysis of a piece failed; a bug of the program, not of the input.
    #[error("{path}: analysis of part {seq} failed inside the program (please report): {message}")]
    SinkPanicked {
        /// The entry.
        path: String,
        /// Number of the piece.
        seq: u32,
        /// The panic message.
        message: String,
    },
    /// More problems of this input than are listed.
    #[error("{count} more problems not listed")]
    More {
        /// How many.
        count: u64,
    },
}

/// The input as a whole cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No such file or folder.
    #[error("{path}: no such file or folder", path = path.display())]
    NotFound {
        /// The input.
        path: PathBuf,
    },
    /// The system refuses to read it.
    #[error("{path}: cannot be read", path = path.display())]
    Unreadable {
        /// The input.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Nothing in it.
    #[error("{path}: empty file", path = path.display())]
    Empty {
        /// The input.
        path: PathBuf,
    },
    /// Neither an archive nor text.
    #[error("{path}: not a bundle: {looks_like}", path = path.display())]
    NotABundle {
        /// The input.
        path: PathBuf,
        /// What it looks like.
        looks_like: String,
    },
    /// Encrypted, and not opened by the keys that were given.
    #[error("{path}: cannot be decrypted: {why}", path = path.display())]
    Locked {
        /// The input.
        path: PathBuf,
        /// Why, and what to do.
        why: String,
    },
    /// Written by a newer major version of the format.
    #[error(
        "{path}: written by format {major}; this program reads up to {known}: use a newer casefile-analyzer",
        path = path.display()
    )]
    NewerMajor {
        /// The input.
        path: PathBuf,
        /// Major version of the input.
        major: u32,
        /// Newest major version that this crate reads.
        known: u32,
    },
}
