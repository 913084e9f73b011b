//! What a token with percent signs says: `a%2Fb%3D` is `a/b=`.

use std::ops::Range;

use super::super::explained::ask_digits;

/// So much in front of a token explains it.
const REACH: usize = 96;
/// A longer token is a document.
const LONGEST: usize = 4096;

/// Whether a text holds a percent sign and two hexadecimal digits.
pub(super) fn any(text: &[u8]) -> bool {
    memchr::memchr_iter(b'%', text).any(|at| {
        ask_digits();
        escape(&text[at..]).is_some()
    })
}

/// The byte that an escape stands for, and its length; `%252F` is an escape of an escape.
fn escape(text: &[u8]) -> Option<(u8, usize)> {
    let again = text[1..].chunks_exact(2).take_while(|two| *two == b"25");
    let skipped = 2 * again.count();
    let digits = text.get(1 + skipped..3 + skipped);
    let value = |byte: u8| char::from(byte).to_digit(16);
    if let Some([high, low]) = digits
        && let (Some(high), Some(low)) = (value(*high), value(*low))
        && let Ok(byte) = u8::try_from(high * 16 + low)
    {
        return Some((byte, 3 + skipped));
    }
    (skipped > 0).then_some((b'%', 1 + skipped))
}

/// A token as what it says, with the place of each byte in what was written.
pub(super) struct Decoded {
    /// Some of what stands in front of it, and the token.
    pub(super) text: Vec<u8>,
    /// Where the token begins in it.
    pub(super) begin: usize,
    places: Vec<usize>,
}

impl Decoded {
    /// Reads a token; none where it is too long for one.
    pub(super) fn of(bytes: &[u8], token: &Range<usize>) -> Option<Self> {
        if token.len() > LONGEST {
            return None;
        }
        let front = token.start.saturating_sub(REACH);
        let mut all = Self {
            text: bytes[front..token.start].to_vec(),
            begin: token.start - front,
            places: (front..token.start).collect(),
        };
        let mut at = token.start;
        while at < token.end {
            let rest = &bytes[at..token.end];
            let read = (rest[0] == b'%').then(|| escape(rest)).flatten();
            let (byte, length) = read.unwrap_or((rest[0], 1));
            all.text.push(byte);
            all.places.push(at);
            at += length;
        }
        all.places.push(token.end);
        Some(all)
    }

    /// Where a part of it is written.
    pub(super) fn written(&self, part: &Range<usize>) -> Range<usize> {
        self.places[part.start]..self.places[part.end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_what_escapes_say_is_found_where_it_is_written() {
        let text = b"GET x=a%2Fbc%253Dd 5%25";
        assert!(any(text) && !any(b"50% of %s"));
        let read = Decoded::of(text, &(4..18)).unwrap();
        assert_eq!(&read.text[read.begin..], b"x=a/bc=d");
        let at = read.begin + 2;
        assert_eq!(&text[read.written(&(at..at + 4))], b"a%2Fbc");
        assert_eq!(&text[read.written(&(at + 4..at + 6))], b"%253Dd");
    }
}
