//! Redaction: secrets are replaced while bytes stream towards the bundle, and nothing reaches it by another road.
//!
//! A stream is cut into lines. A line without any hint of a secret passes as it is. The others are cleaned by the
//! forms that secrets have of themselves (`patterns`), by the names in front of them (`pairs`, `words`), string by
//! string where the line is JSON (`json`), and over lines where a value spans them (`pem`, YAML blocks).

mod json;
mod key;
mod marker;
mod pairs;
mod patterns;
mod pem;
mod value;
mod words;

pub use key::Key;

use std::collections::BTreeMap;

use marker::Marker;
use pairs::Open;
use pem::Pem;
use words::KeyClass;

/// Strings within strings are looked into this deep.
const MAX_DEPTH: usize = 4;
/// A longer line is handed on in pieces, cut where no word is cut.
const MAX_LINE: usize = 4 << 20;
/// Lines that one YAML block or quoted value may hold back.
const MAX_OPEN_LINES: usize = 400;

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
    content: Content,
    marker: Marker,
    held: Vec<u8>,
    state: State,
    depth: usize,
}

/// What the lines so far mean for the next one.
#[derive(Default)]
struct State {
    pem: Option<Pem>,
    open: Option<(Open, usize)>,
    named: Option<KeyClass>,
}

impl Redactor {
    /// A redactor for one entry.
    pub fn new(content: Content, key: Key) -> Self {
        Self {
            content,
            marker: Marker::new(key),
            held: Vec::new(),
            state: State::default(),
            depth: 0,
        }
    }

    /// Takes bytes in any chunking and appends what is safe to `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|b| *b == b'\n') {
            let (line, behind) = rest.split_at(at + 1);
            rest = behind;
            if self.held.is_empty() {
                self.line(line, out);
            } else {
                self.held.extend_from_slice(line);
                let whole = std::mem::take(&mut self.held);
                self.line(&whole, out);
            }
        }
        self.held.extend_from_slice(rest);
        while self.held.len() > MAX_LINE {
            let at = cut_point(&self.held);
            let behind = self.held.split_off(at);
            let piece = std::mem::replace(&mut self.held, behind);
            self.line(&piece, out);
        }
    }

    /// Appends what was held back.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        if !self.held.is_empty() {
            let whole = std::mem::take(&mut self.held);
            self.line(&whole, out);
        }
        if let Some(mut pem) = self.state.pem.take() {
            out.extend_from_slice(pem.close(&mut self.marker, "").as_bytes());
        }
    }

    /// How many secrets of each class were replaced.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        self.marker.counts().clone()
    }

    /// One line with its line end, if it has one.
    fn line(&mut self, line: &[u8], out: &mut Vec<u8>) {
        let quiet =
            self.state.pem.is_none() && self.state.open.is_none() && self.state.named.is_none();
        if quiet && !patterns::suspicious(line) {
            out.extend_from_slice(line);
            return;
        }
        let body = line.strip_suffix(b"\n").unwrap_or(line);
        let body = body.strip_suffix(b"\r").unwrap_or(body);
        let end = &line[body.len()..];
        // Bytes that are no UTF-8 are replaced in this line alone; quiet lines keep theirs.
        let text = String::from_utf8_lossy(body).into_owned();
        if let Some(pem) = &mut self.state.pem {
            if let Some(done) = pem.push(&text, &mut self.marker) {
                self.state.pem = None;
                out.extend_from_slice(done.as_bytes());
            }
            return;
        }
        if let Some(cleaned) = self.continued(&text) {
            out.extend_from_slice(cleaned.as_bytes());
            out.extend_from_slice(end);
            return;
        }
        if let Some(cleaned) = self.fresh(text) {
            out.extend_from_slice(cleaned.as_bytes());
            out.extend_from_slice(end);
        }
    }

    /// A line that belongs to a value begun before.
    fn continued(&mut self, text: &str) -> Option<String> {
        let (open, lines) = self.state.open.take()?;
        let indent = text.len() - text.trim_start().len();
        let (goes_on, belongs, class) = match &open {
            Open::Deeper(above, class) => {
                let deeper = text.trim().is_empty() || indent > *above;
                (deeper, deeper, *class)
            }
            Open::Until(mark, class) => (!text.contains(mark), true, *class),
        };
        if let Open::Until(mark, _) = open
            && let Some(at) = text.find(mark)
        {
            let secret = self.marker.mark(class, &text.as_bytes()[..at]);
            return Some(format!("{secret}{}", &text[at..]));
        }
        if goes_on && lines < MAX_OPEN_LINES {
            self.state.open = Some((open, lines + 1));
        }
        if !belongs {
            return None;
        }
        if text.trim().is_empty() {
            return Some(text.to_owned());
        }
        let mark = self.marker.mark(class, text.trim().as_bytes());
        Some(format!("{}{mark}", &text[..indent]))
    }

    /// A line that begins anew; none while a private key is open.
    fn fresh(&mut self, text: String) -> Option<String> {
        let force = self.state.named.take();
        if looks_like_json(&text, self.content)
            && let Some(cleaned) = json::clean(&text, self.depth, &mut self.marker)
        {
            return Some(cleaned);
        }
        let (text, pem) = pem::enter(text, &mut self.marker);
        if pem.is_some() {
            self.state.pem = pem;
            return None;
        }
        self.state.named = yaml_name(&text);
        let text = patterns::replace(text, &mut self.marker);
        let cleaned = pairs::clean_line(&text, force, &mut self.marker);
        self.state.open = cleaned.open.map(|open| (open, 0));
        Some(cleaned.text)
    }
}

/// Cleans a text found inside a string.
fn clean_text(text: &str, depth: usize, marker: &mut Marker) -> String {
    let mut inner = Redactor::new(Content::Text, marker.key());
    inner.depth = depth;
    let mut out = Vec::with_capacity(text.len());
    inner.push(text.as_bytes(), &mut out);
    inner.finish(&mut out);
    marker.absorb(inner.counts());
    String::from_utf8_lossy(&out).into_owned()
}

fn looks_like_json(text: &str, content: Content) -> bool {
    let text = text.trim();
    match content {
        Content::JsonLines => true,
        Content::Text => {
            (text.starts_with("{\"") || text.starts_with("[\"") || text.starts_with("[{\""))
                && text.ends_with(['}', ']', ','])
        }
    }
}

/// The class of `- name: DB_PASSWORD`, whose value stands in the next line.
fn yaml_name(text: &str) -> Option<KeyClass> {
    let text = text.trim_start().trim_start_matches("- ").trim_start();
    let name = text
        .strip_prefix("name:")
        .or_else(|| text.strip_prefix("\"name\":"))?;
    words::classify(name.trim().trim_end_matches(',').trim_matches(['"', '\'']))
}

/// Where to cut a line that is too long: behind the last space or comma, so that no word is cut.
fn cut_point(bytes: &[u8]) -> usize {
    let from = MAX_LINE / 2;
    let tail = &bytes[from..MAX_LINE];
    tail.iter()
        .rposition(|b| matches!(b, b',' | b' '))
        .map_or(MAX_LINE, |at| from + at + 1)
}

#[cfg(test)]
mod tests;
