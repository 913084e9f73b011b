//! Where a name or address may begin within a text: what stands in front of it may be the end of an escape.

/// Whether nothing in front of this place belongs to the same word, as `part` sees words.
pub(super) fn begins(text: &str, at: usize, part: impl Fn(char) -> bool) -> bool {
    let before = &text[..at];
    before.chars().next_back().is_none_or(|c| !part(c)) || escaped(before)
}

/// Whether a text ends in an escape: `\n` of JSON, `\u003d` of Go, `%2F` of a URL.
pub(super) fn escaped(before: &str) -> bool {
    let bytes = before.as_bytes();
    let from_end = |back: usize| bytes.len().checked_sub(back).map(|at| bytes[at]);
    let hex = |digits: usize| {
        bytes.len() > digits
            && bytes[bytes.len() - digits..]
                .iter()
                .all(u8::is_ascii_hexdigit)
    };
    let letter = matches!(from_end(1), Some(b'n' | b't' | b'r' | b'f' | b'b'));
    (letter && from_end(2) == Some(b'\\'))
        || (hex(2) && from_end(3) == Some(b'%'))
        || (hex(2) && from_end(3) == Some(b'x') && from_end(4) == Some(b'\\'))
        || (hex(4) && from_end(5) == Some(b'u') && from_end(6) == Some(b'\\'))
}
