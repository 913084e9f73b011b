//! A bundle path: the name of one entry, safe to show, to compare and to join to a folder.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::entry::Entry;
use crate::hash::sha256_hex;

/// Longest path in bytes.
const MAX_BYTES: usize = 1024;
/// Longest segment that [`BundlePath::from_parts`] makes; file systems refuse more than 255.
const MAX_SEGMENT: usize = 240;

/// A relative, UTF-8, `/`-separated path inside a bundle.
///
/// It has no `..`, `.` or empty segment, no leading `/`, no backslash, no control character, and at
/// most 1024 bytes. Its copies share it: an archive may hold very many.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BundlePath(Arc<str>);

/// Why a text is not a [`BundlePath`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum PathError {
    /// No text at all.
    #[error("empty path")]
    Empty,
    /// Starts with `/`.
    #[error("absolute path")]
    Absolute,
    /// A `..`, `.` or empty segment.
    #[error("path with a '..', '.' or empty segment")]
    Segment,
    /// NUL, another control character, or a backslash.
    #[error("path with a control character or backslash")]
    Character,
    /// Longer than 1024 bytes.
    #[error("path longer than 1024 bytes")]
    TooLong,
}

/// A path as it is called below these folders, which are given with their `/`; as it is where it lies elsewhere.
pub(crate) fn below<'p>(path: &'p str, folders: &str) -> &'p str {
    let below = path.strip_prefix(folders);
    below.filter(|rest| !rest.is_empty()).unwrap_or(path)
}

impl BundlePath {
    /// The path below these folders, which are given with their `/`; the path itself where it lies elsewhere.
    pub(crate) fn below(self, folders: &str) -> Self {
        let below = below(&self.0, folders);
        let changed = below.len() < self.0.len();
        let below = changed.then(|| Self::new(below).ok());
        below.flatten().unwrap_or(self)
    }

    /// Takes `text` as it is, or says which rule it breaks.
    pub fn new(text: &str) -> Result<Self, PathError> {
        if text.is_empty() {
            return Err(PathError::Empty);
        }
        if text.len() > MAX_BYTES {
            return Err(PathError::TooLong);
        }
        if text.starts_with('/') {
            return Err(PathError::Absolute);
        }
        if text.split('/').any(|s| matches!(s, "" | "." | "..")) {
            return Err(PathError::Segment);
        }
        if text.chars().any(is_bad) {
            return Err(PathError::Character);
        }
        Ok(Self(text.into()))
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Makes any text (pod name, host path) a safe path: parts are joined with `/`, empty segments
    /// and a leading `/` are dropped, bad segments and characters (and `%`) are percent-encoded, and what is too
    /// long is cut and ends in a hash of the whole, so that different inputs stay different.
    pub fn from_parts<I: IntoIterator<Item = S>, S: AsRef<str>>(parts: I) -> Self {
        let mut whole = String::new();
        for part in parts {
            for segment in part.as_ref().split('/').filter(|s| !s.is_empty()) {
                if !whole.is_empty() {
                    whole.push('/');
                }
                whole.push_str(&shorten(encode_segment(segment), MAX_SEGMENT));
            }
        }
        if whole.is_empty() {
            whole.push('_');
        }
        let whole = shorten(whole, MAX_BYTES);
        Self(whole.into())
    }

    /// Makes a path of the raw bytes of a foreign archive's entry name.
    ///
    /// `./` and doubled slashes are dropped. Bytes that are not UTF-8, control characters and
    /// backslashes are percent-encoded; the flag says whether that happened. `..` and absolute
    /// names are refused: they are attempts, not accidents.
    pub(crate) fn from_raw(raw: &[u8]) -> Result<(Self, bool), PathError> {
        if raw.first() == Some(&b'/') {
            return Err(PathError::Absolute);
        }
        if raw.len() > MAX_BYTES * 2 {
            return Err(PathError::TooLong);
        }
        let mut text = String::with_capacity(raw.len());
        let mut renamed = false;
        for chunk in raw.utf8_chunks() {
            for c in chunk.valid().chars() {
                renamed |= is_bad(c);
                push_encoded(&mut text, c, is_bad(c));
            }
            for byte in chunk.invalid() {
                renamed = true;
                push_percent(&mut text, *byte);
            }
        }
        let kept: Vec<&str> = text
            .split('/')
            .filter(|s| !matches!(*s, "" | "."))
            .collect();
        Self::new(&kept.join("/")).map(|path| (path, renamed))
    }
}

fn is_bad(c: char) -> bool {
    c.is_control() || c == '\\'
}

fn push_percent(out: &mut String, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.push('%');
    out.push(char::from(DIGITS[usize::from(byte >> 4)]));
    out.push(char::from(DIGITS[usize::from(byte & 15)]));
}

fn push_encoded(out: &mut String, c: char, encode: bool) {
    if encode {
        let mut utf8 = [0; 4];
        for byte in c.encode_utf8(&mut utf8).bytes() {
            push_percent(out, byte);
        }
    } else {
        out.push(c);
    }
}

fn encode_segment(segment: &str) -> String {
    let dots = matches!(segment, "." | "..");
    let mut out = String::with_capacity(segment.len());
    for c in segment.chars() {
        push_encoded(&mut out, c, dots || is_bad(c) || c == '%');
    }
    out
}

fn shorten(text: String, max: usize) -> String {
    if text.len() <= max {
        return text;
    }
    let hash = sha256_hex(text.as_bytes());
    let mut end = max - 18;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let kept = text[..end].trim_end_matches('/');
    format!("{kept}~{}", &hash[..16])
}

impl From<Entry<'_>> for BundlePath {
    /// The entry's path, with names made safe as by [`BundlePath::from_parts`].
    fn from(entry: Entry<'_>) -> Self {
        Self::from_parts([entry.path()])
    }
}

impl fmt::Display for BundlePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Borrow<str> for BundlePath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for BundlePath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for BundlePath {
    type Error = PathError;

    fn try_from(text: String) -> Result<Self, PathError> {
        Self::new(&text)
    }
}

impl From<BundlePath> for String {
    fn from(path: BundlePath) -> Self {
        path.0.as_ref().to_owned()
    }
}
