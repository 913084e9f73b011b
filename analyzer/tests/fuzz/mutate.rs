//! Real text with something broken in it.

use proptest::prelude::*;

/// One thing that is done to a text.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    /// Replaces the byte at a place.
    Flip(usize, u8),
    /// Ends the text there.
    Cut(usize),
    /// Leaves a stretch out.
    Drop(usize, usize),
    /// Says a stretch again, somewhere else.
    Repeat(usize, usize, usize),
    /// Puts something hostile there.
    Insert(usize, &'static str),
    /// The same, many times over.
    Nest(usize, &'static str),
}

/// What breaks readers: brackets, quotes, escapes, huge and negative numbers, dates that are none, other line ends.
const HOSTILE: [&str; 28] = [
    "[",
    "{",
    "}",
    "]",
    "\"",
    "'",
    "\\",
    "\\u0000",
    "\u{0}",
    "\u{feff}",
    "\r\n",
    "\n\n",
    "=",
    ": ",
    "- ",
    "&a *a",
    "<",
    ">",
    "<!DOCTYPE x [<!ENTITY y \"z\">]>",
    "null",
    "1e999",
    "-9223372036854775808",
    "18446744073709551616",
    "9999-99-99T99:99:99Z",
    "0001-01-01T00:00:00Z",
    "\u{202e}",
    "/../../etc/passwd",
    "%s%n",
];

pub(crate) fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let at = || any::<usize>();
    let word = || proptest::sample::select(HOSTILE.to_vec());
    let edit = prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Edit::Flip(at, byte)),
        at().prop_map(Edit::Cut),
        (at(), 1..400_usize).prop_map(|(at, length)| Edit::Drop(at, length)),
        (at(), 1..400_usize, at()).prop_map(|(at, length, to)| Edit::Repeat(at, length, to)),
        (at(), word()).prop_map(|(at, word)| Edit::Insert(at, word)),
        (at(), word()).prop_map(|(at, word)| Edit::Nest(at, word)),
    ];
    proptest::collection::vec(edit, 0..5)
}

/// Applies edits; places are taken modulo the length.
pub(crate) fn edited(seed: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for edit in edits {
        let place = |at: usize, bytes: &[u8]| at % (bytes.len() + 1);
        match edit {
            Edit::Flip(at, byte) => {
                let at = place(*at, &bytes);
                if let Some(old) = bytes.get_mut(at) {
                    *old = *byte;
                }
            }
            Edit::Cut(at) => bytes.truncate(place(*at, &bytes)),
            Edit::Drop(at, length) => {
                let from = place(*at, &bytes);
                let to = from.saturating_add(*length).min(bytes.len());
                bytes.drain(from..to);
            }
            Edit::Repeat(at, length, to) => {
                let from = place(*at, &bytes);
                let end = from.saturating_add(*length).min(bytes.len());
                let part = bytes[from..end].to_vec();
                let to = place(*to, &bytes);
                bytes.splice(to..to, part);
            }
            Edit::Insert(at, word) => insert(&mut bytes, *at, word.as_bytes()),
            Edit::Nest(at, word) => insert(&mut bytes, *at, word.repeat(600).as_bytes()),
        }
    }
    bytes
}

fn insert(bytes: &mut Vec<u8>, at: usize, word: &[u8]) {
    let at = at % (bytes.len() + 1);
    bytes.splice(at..at, word.iter().copied());
}
