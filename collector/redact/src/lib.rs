//! Redaction: secrets are replaced while bytes stream towards the bundle, and nothing reaches it by another road.
//!
//! `bytes` decides what a stream is (text, gzip, UTF-16, binary). Text is cut into lines; a line without any hint of a
//! secret passes as it is. The others are cleaned string by string where they are JSON (`json`), by the names in front
//! of secrets (`pairs`, `words`), by the programs that take them (`args`), inside base64 (`encoded`, `wrapped`), by the
//! forms that secrets have of themselves (`patterns`, `forms`), and over lines where a value spans them (`pem`,
//! `secret_object`, YAML blocks, quotes). What is left and looks drawn by a machine (`random`) goes too, unless its place
//! explains it (`unexplained`, `explained`).

mod alike;
mod args;
mod audit;
mod bytes;
mod calm;
mod cut_key;
mod encoded;
mod escapes;
mod explained;
mod forms;
mod json;
mod keep;
mod key;
mod known;
mod lines;
mod marker;
mod name;
mod notations;
mod number;
mod pairs;
mod patterns;
mod pem;
mod random;
mod scan;
mod secret_object;
mod span;
mod stream;
mod table;
mod unexplained;
mod value;
mod words;
mod wrapped;

pub use forms::classes;
pub use keep::{Keep, KeepError};
pub use key::{Key, Site};
pub use name::{clean_name, clean_sentence};

use std::borrow::Cow;
use std::collections::BTreeMap;

use bytes::{Gzip, HEAD, Kind, MAX_WHOLE};
use lines::Lines;
use marker::Marker;

/// Strings within strings are looked into this deep.
const MAX_DEPTH: usize = 6;
/// A longer line is handed on in pieces, cut where no word is cut.
const MAX_LINE: usize = 4 << 20;

/// How a redactor looks at what it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A file, command output or log: text of any kind, or something binary.
    Text,
    /// One JSON value a line (API lists with one item a line, journal lines): stays valid JSON.
    JsonLines,
}

/// Redacts one stream.
pub struct Redactor {
    held: Vec<u8>,
    mode: Mode,
    lines: Lines,
    depth: usize,
    /// What comes out is no text.
    opaque: bool,
}

/// How the stream is taken.
enum Mode {
    /// Not decided: the head has not come yet.
    Sniff,
    /// Line by line, or text by text where NUL ends them.
    Lines { strings: bool },
    /// Inflated, cleaned and packed again.
    Gzip(Box<Gzip>),
    /// Held to be looked at as a whole.
    Whole(Kind),
    /// Too large to be looked at, and left out.
    Dropped(&'static str),
}

impl Redactor {
    /// A redactor for one entry.
    pub fn new(content: Content, key: Key) -> Self {
        Self::nested(content, 0, key)
    }

    fn nested(content: Content, depth: usize, key: Key) -> Self {
        let mode = match content {
            Content::Text => Mode::Sniff,
            Content::JsonLines => Mode::Lines { strings: false },
        };
        Self {
            held: Vec::new(),
            mode,
            lines: Lines::new(content, depth, Marker::new(key)),
            depth,
            opaque: false,
        }
    }

    /// Takes bytes in any chunking and appends what is safe to `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let from = out.len();
        self.take(bytes, out);
        self.anonymise(from, out);
    }

    /// Appends what was held back.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        let from = out.len();
        self.close(out);
        self.anonymise(from, out);
    }

    /// Replaces the site's names in what was appended: at the outermost level, and not in packed bytes.
    fn anonymise(&mut self, from: usize, out: &mut Vec<u8>) {
        let key = self.lines.marker.key();
        if self.depth > 0 || self.opaque || out.len() == from {
            return;
        }
        if let Some(site) = key.site() {
            let named = site.bytes(&out[from..]);
            out.truncate(from);
            out.extend_from_slice(&named);
        }
    }

    fn take(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        match &mut self.mode {
            Mode::Lines { strings } => {
                let strings = *strings;
                self.lines_of(bytes, strings, out);
            }
            Mode::Gzip(gzip) => gzip.push(bytes, out),
            Mode::Dropped(_) => {}
            Mode::Sniff => {
                self.held.extend_from_slice(bytes);
                if self.held.len() >= HEAD {
                    self.decide(out);
                }
            }
            Mode::Whole(kind) => {
                let kind = *kind;
                self.held.extend_from_slice(bytes);
                if self.held.len() > MAX_WHOLE {
                    self.too_large(kind, out);
                }
            }
        }
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        if matches!(self.mode, Mode::Sniff) {
            unexplained::note_only_id(&self.held, self.lines.marker.known());
            self.decide(out);
        }
        match std::mem::replace(&mut self.mode, Mode::Lines { strings: false }) {
            Mode::Gzip(mut gzip) => gzip.finish(&mut self.lines.marker, out),
            Mode::Whole(kind) => self.whole(kind, out),
            Mode::Dropped(what) => {
                out.extend(bytes::left_out(what, b"", &mut self.lines.marker));
            }
            Mode::Lines { .. } | Mode::Sniff => {}
        }
        if !self.held.is_empty() {
            let whole = std::mem::take(&mut self.held);
            self.lines.line(&whole, out);
        }
        self.lines.finish(out);
    }

    /// How many secrets of each class were replaced.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        self.lines.marker.counts().clone()
    }

    /// The head is there: decides how the stream is taken, and takes what is held.
    fn decide(&mut self, out: &mut Vec<u8>) {
        let held = std::mem::take(&mut self.held);
        let kind = bytes::kind(&held[..held.len().min(HEAD)]);
        self.mode = match kind {
            Kind::Text => Mode::Lines { strings: false },
            Kind::Strings => Mode::Lines { strings: true },
            Kind::Gzip => Mode::Gzip(Box::new(Gzip::new(self.depth, &self.lines.marker))),
            Kind::Closed(what) => Mode::Dropped(what),
            Kind::Json | Kind::Utf16(_) | Kind::Binary => Mode::Whole(kind),
        };
        self.opaque = matches!(kind, Kind::Gzip | Kind::Utf16(_) | Kind::Binary);
        self.take(&held, out);
    }

    fn too_large(&mut self, kind: Kind, out: &mut Vec<u8>) {
        let held = std::mem::take(&mut self.held);
        if kind == Kind::Json {
            self.mode = Mode::Lines { strings: false };
            self.take(&held, out);
        } else {
            self.mode = Mode::Dropped("binary file");
        }
    }

    fn whole(&mut self, kind: Kind, out: &mut Vec<u8>) {
        let held = std::mem::take(&mut self.held);
        let marker = &mut self.lines.marker;
        match kind {
            Kind::Utf16(little) => out.extend(bytes::utf16(&held, little, self.depth, marker)),
            Kind::Binary => out.extend(bytes::binary(&held, self.depth, marker)),
            _ => {
                let cleaned = std::str::from_utf8(&held)
                    .ok()
                    .and_then(|text| whole_json(text, self.depth, marker));
                match cleaned {
                    Some(cleaned) => out.extend_from_slice(cleaned.as_bytes()),
                    None => self.lines_of(&held, false, out),
                }
            }
        }
    }
}

/// A JSON document over several lines; none where it is not JSON.
fn whole_json(text: &str, depth: usize, marker: &mut Marker) -> Option<String> {
    serde_json::from_str::<serde::de::IgnoredAny>(text).ok()?;
    json::clean(text, depth, marker).map(Cow::into_owned)
}

/// Cleans a text found inside a string.
fn clean_text(text: &str, depth: usize, marker: &mut Marker) -> String {
    if text.contains('\n')
        && text.trim_start().starts_with(['{', '['])
        && let Some(cleaned) = whole_json(text, depth, marker)
    {
        return cleaned;
    }
    let mut out = Vec::with_capacity(text.len());
    let one_line = memchr::memchr(b'\n', text.as_bytes()).is_none() && text.len() <= MAX_LINE;
    let inner = if one_line && depth > 0 {
        let mut lines = Lines::new(Content::Text, depth, marker.nested());
        if !text.is_empty() {
            lines.line(text.as_bytes(), &mut out);
        }
        lines.finish(&mut out);
        lines
    } else {
        let mut inner = Redactor::nested(Content::Text, depth, marker.key());
        inner.mode = Mode::Lines { strings: false };
        inner.lines.marker = marker.nested();
        inner.push(text.as_bytes(), &mut out);
        inner.finish(&mut out);
        inner.lines
    };
    marker.take_in(inner.marker);
    String::from_utf8(out).unwrap_or_else(|error| {
        // Nothing that is cut leaves half a letter, but a text must come back.
        String::from_utf8_lossy(error.as_bytes()).into_owned()
    })
}

#[cfg(test)]
mod draws;
#[cfg(test)]
mod tests;
