//! Base64 that is wrapped over several lines, as `base64` and YAML blocks print it: joined, cleaned and wrapped again.

use super::marker::Marker;
use super::{encoded, table};

/// Shorter lines are not what a program wraps at.
const MIN_WIDTH: usize = 60;
/// Lines that are held at most.
const MAX_LINES: usize = 20_000;

/// The digits of base64, of both alphabets.
static DIGITS: [bool; 256] = table::with(table::LETTERS_AND_DIGITS, b"+/_-");
/// Those of a document, with the padding.
static DOCUMENT_DIGITS: [bool; 256] = table::with(table::LETTERS_AND_DIGITS, b"+/=");

fn all_in(text: &str, digits: &[bool; 256]) -> bool {
    text.bytes().all(|byte| digits[usize::from(byte)])
}

/// The lines so far.
#[derive(Default)]
pub(super) struct Wrapped {
    lines: Vec<Line>,
}

struct Line {
    indent: String,
    digits: String,
    end: Vec<u8>,
}

/// What became of a line.
pub(super) enum Step {
    /// It is one of them and waits.
    Held,
    /// It is the last of them.
    Complete,
    /// It is something else.
    Other,
}

impl Wrapped {
    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Takes a line without its line end.
    pub(super) fn push(&mut self, text: &str, end: &[u8]) -> Step {
        let digits = text.trim();
        let base64 = !digits.is_empty()
            && !digits.starts_with('-')
            && all_in(digits.trim_end_matches('='), &DIGITS);
        let fits = || match self.lines.first() {
            None => {
                digits.len() >= MIN_WIDTH
                    && digits.len().is_multiple_of(4)
                    && encoded::possible(digits.as_bytes())
            }
            Some(first) => digits.len() <= first.digits.len(),
        };
        if !base64 || !fits() {
            return Step::Other;
        }
        let width = self
            .lines
            .first()
            .map_or(digits.len(), |first| first.digits.len());
        let last = digits.len() < width || self.lines.len() >= MAX_LINES;
        self.lines.push(Line {
            indent: text[..text.len() - text.trim_start().len()].to_owned(),
            digits: digits.to_owned(),
            end: end.to_vec(),
        });
        if last { Step::Complete } else { Step::Held }
    }

    /// The lines cleaned, with their line ends; none where there are none.
    pub(super) fn finish(&mut self, depth: usize, marker: &mut Marker) -> Option<String> {
        let lines = std::mem::take(&mut self.lines);
        let first = lines.first()?;
        let joined: String = lines.iter().map(|line| line.digits.as_str()).collect();
        let cleaned = encoded::document(&joined, depth, marker);
        let text = cleaned.as_deref().unwrap_or(&joined);
        let width = first.digits.len();
        let mut out = String::with_capacity(joined.len() + lines.len() * 8);
        let mut rest = text;
        while !rest.is_empty() {
            let (now, behind) = rest.split_at(rest.len().min(width));
            rest = behind;
            out.push_str(&first.indent);
            out.push_str(now);
            if !rest.is_empty() {
                out.push_str(&String::from_utf8_lossy(&first.end));
            }
        }
        let end = lines.last().map(|line| String::from_utf8_lossy(&line.end));
        out.push_str(&end.unwrap_or_default());
        Some(out)
    }
}

/// A private key of 8,192 bits has fewer lines; what is longer is a document or a binary file in base64.
const DOCUMENT: u32 = 110;

/// Lines of base64 of one width in a row.
#[derive(Default)]
pub(super) struct Block {
    width: usize,
    lines: u32,
}

impl Block {
    /// Whether a line belongs to a long block.
    pub(super) fn goes_on(&mut self, line: &str) -> bool {
        let digits = line.trim_end();
        let width = digits.len();
        let last = width <= self.width && self.lines >= DOCUMENT;
        if !(last || width >= MIN_WIDTH) || !all_in(digits, &DOCUMENT_DIGITS) {
            *self = Self::default();
            return false;
        }
        if width != self.width {
            *self = Self { width, lines: 0 };
        }
        self.lines += 1;
        last || self.lines >= DOCUMENT
    }
}
