//! Text as terminals and other systems leave it: colour codes, UTF-16, byte order marks, Docker's objects around lines.

use std::borrow::Cow;

use crate::lines::json_file;

const ESCAPE: u8 = 0x1b;

/// The text without terminal codes and in UTF-8; lines stay where they are.
///
/// `start` says whether these bytes begin the file: only there a byte order mark can stand.
pub(super) fn clean(bytes: &[u8], start: bool) -> Cow<'_, [u8]> {
    let utf16 = |pair: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes[2..]
            .chunks_exact(2)
            .map(|two| pair([two[0], two[1]]))
            .collect();
        String::from_utf16_lossy(&units).into_bytes()
    };
    let plain = match bytes {
        [0xff, 0xfe, ..] if start => Cow::Owned(utf16(u16::from_le_bytes)),
        [0xfe, 0xff, ..] if start => Cow::Owned(utf16(u16::from_be_bytes)),
        [0xef, 0xbb, 0xbf, rest @ ..] if start => Cow::Borrowed(rest),
        _ => Cow::Borrowed(bytes),
    };
    let plain = match json_file::opened(&plain) {
        Cow::Owned(opened) => Cow::Owned(opened),
        Cow::Borrowed(_) => plain,
    };
    let plain = if memchr::memchr(ESCAPE, &plain).is_some() {
        Cow::Owned(without_codes(&plain))
    } else {
        plain
    };
    match start.then(|| crate::dress::mend::mend(&plain)).flatten() {
        Some(mended) => Cow::Owned(mended.into_bytes()),
        None => plain,
    }
}

/// Leaves out `ESC [ ... letter` (colour, cursor), `ESC ] ... BEL` (title) and `ESC` with one character.
fn without_codes(bytes: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memchr::memchr(ESCAPE, rest) {
        kept.extend_from_slice(&rest[..at]);
        let code = &rest[at + 1..];
        let skip = match code.first() {
            Some(b'[') => end(&code[1..], |byte| (0x40..=0x7e).contains(&byte)).map(|end| end + 2),
            Some(b']') => end(&code[1..], |byte| byte == 0x07).map(|end| end + 2),
            Some(b'\n') | None => Some(0),
            Some(_) => Some(1),
        };
        rest = &code[skip.unwrap_or(0).min(code.len())..];
    }
    kept.extend_from_slice(rest);
    kept
}

/// Where a code ends; none if it does not end on its line.
fn end(bytes: &[u8], is_end: impl Fn(u8) -> bool) -> Option<usize> {
    const LONGEST: usize = 256;
    let head = &bytes[..bytes.len().min(LONGEST)];
    let at = head
        .iter()
        .position(|byte| is_end(*byte) || *byte == b'\n')?;
    (head[at] != b'\n').then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_inside_a_word_do_not_hide_it() {
        let text = b"no \x1b[01;31m\x1b[Kruntime\x1b[m\x1b[K for\n\x1b]0;title\x07x\x1b\n";
        assert_eq!(&*clean(text, false), b"no runtime for\nx\n");
    }

    #[test]
    fn a_file_that_powershell_wrote_is_read() {
        let mut text = vec![0xff, 0xfe];
        text.extend("Name: x\n".encode_utf16().flat_map(u16::to_le_bytes));
        assert_eq!(&*clean(&text, true), b"Name: x\n");
        assert_eq!(&*clean(b"\xef\xbb\xbfa", true), b"a");
    }
}
