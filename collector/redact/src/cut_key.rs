//! A private key whose beginning was cut off: a log that keeps its newest part may begin in the middle of one.

use super::marker::Marker;

/// A key of 16,384 bits has about 220 lines.
const MAX_LINES: usize = 400;
/// Lines of key material are this long at most.
const WIDTH: usize = 80;

/// The first lines of a stream, as long as they may be key material.
pub(super) struct CutKey(Vec<Vec<u8>>);

/// What became of a line.
pub(super) enum Head {
    /// It waits.
    Held,
    /// It ends a key: this stands for the lines so far.
    Key(String),
    /// The stream begins otherwise: these lines waited.
    Other(Vec<Vec<u8>>),
}

impl CutKey {
    /// At the beginning of a stream.
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    /// Takes a line with its line end.
    pub(super) fn push(&mut self, line: &[u8], marker: &mut Marker) -> Head {
        let body = line.trim_ascii();
        let material = (4..=WIDTH).contains(&body.len())
            && body
                .iter()
                .all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(b));
        if material && self.0.len() < MAX_LINES {
            self.0.push(line.to_vec());
            return Head::Held;
        }
        let lines = std::mem::take(&mut self.0);
        let end = body.starts_with(b"-----END ")
            && memchr::memmem::find(body, b"PRIVATE KEY-----").is_some();
        if lines.is_empty() || !end {
            return Head::Other(lines);
        }
        Head::Key(format!("{}\n", marker.mark("private-key", &lines.concat())))
    }

    /// The lines that waited for an end that did not come.
    pub(super) fn finish(self) -> Vec<Vec<u8>> {
        self.0
    }
}
