//! Which of the expressions may match in a line at all, as far as a look at its bytes tells, and what one of them matched
//! without a second search.

use std::ops::Range;

use regex::{Match, Regex};

/// Letters, digits and signs of names, as far as they are ASCII.
const fn of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

/// Whether a text holds some letters of ASCII, given in lower case, in any case.
pub(crate) fn holds(text: &str, letters: &[u8]) -> bool {
    let bytes = text.as_bytes();
    let Some(first) = letters.first() else {
        return true;
    };
    memchr::memchr2_iter(*first, first.to_ascii_uppercase(), bytes).any(|at| {
        let there = bytes.get(at..at + letters.len());
        there.is_some_and(|there| there.eq_ignore_ascii_case(letters))
    })
}

/// Whether a flag may stand somewhere: a dash or two behind nothing, a blank, a quote or a bracket, and a letter.
pub(super) fn flag(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'-', bytes).any(|at| {
        let before = at.checked_sub(1).map(|at| bytes[at]);
        // Blanks that are no ASCII end in such a byte.
        let begins = before.is_none_or(|byte| {
            byte.is_ascii_whitespace() || !byte.is_ascii() || b"\x0b\"'\\[,".contains(&byte)
        });
        let name = match bytes.get(at + 1) {
            Some(b'-') => bytes.get(at + 2),
            other => other,
        };
        begins && name.is_some_and(u8::is_ascii_alphabetic)
    })
}

/// The next pair at or behind a place: its name, and the whole with what stands between the name and its value.
pub(super) fn next_pair(regex: &Regex, text: &str, at: usize) -> Option<[Range<usize>; 2]> {
    let whole = regex.find_at(text, at)?;
    if let Some(key) = plain_key(text.as_bytes(), &whole) {
        return Some([key, whole.range()]);
    }
    next_captured(regex, text, at)
}

/// The same of any expression whose name is its group `k`.
pub(super) fn next_captured(regex: &Regex, text: &str, at: usize) -> Option<[Range<usize>; 2]> {
    let captures = regex.captures_at(text, at)?;
    Some([captures.name("k")?.range(), captures.get(0)?.range()])
}

/// The name that a match begins with, where it is ASCII and goes as far as names go: what parts it from its value is made
/// of none of its letters then.
fn plain_key(bytes: &[u8], whole: &Match<'_>) -> Option<Range<usize>> {
    let begin = whole.start();
    let rest = &bytes[begin..whole.end()];
    let length = rest.iter().position(|byte| !of_name(*byte))?;
    let first = rest.first().is_some_and(|byte| !b".-".contains(byte));
    // `name->x` and `name....x` part with letters of names; behind the name other letters may follow that are no ASCII.
    let parted = rest[length] == b'>' || rest[..length].ends_with(b".");
    (first && length > 0 && !parted && rest[length].is_ascii()).then_some(begin..begin + length)
}

#[cfg(test)]
mod tests {
    use super::super::{FLAG, NAMED, PAIR};
    use super::*;
    use crate::draws::Draws;

    const PARTS: [&str; 46] = [
        "name\":\"a",
        "\",\"value\":\"",
        "name",
        "key",
        "Value",
        "value",
        "a",
        "Z9",
        "ä",
        "：",
        "→",
        "\u{200b}",
        "\u{a0}",
        "\u{b}",
        " ",
        "  ",
        "\t",
        "=",
        ":",
        ":=",
        "=>",
        "->",
        "?=",
        ":: ",
        "....",
        "...",
        ".",
        "-",
        "--",
        "_",
        "\\",
        "\"",
        "'",
        ",",
        "[",
        ">",
        "<",
        "%3D",
        "%3a",
        "\\x3d",
        "x3D",
        "8",
        "/",
        "ſ",
        "\u{212a}ey",
        "(",
    ];

    fn texts() -> impl Iterator<Item = String> {
        let mut draws = Draws::new();
        (0..30_000).map(move |_| {
            let parts = 1 + draws.below(12);
            (0..parts).map(|_| draws.of(&PARTS)).collect()
        })
    }

    #[test]
    fn a_pair_is_what_the_expression_captures() {
        let pair = PAIR.as_ref().unwrap();
        for text in texts() {
            let mut at = 0;
            loop {
                let found = next_pair(pair, &text, at);
                assert_eq!(found, next_captured(pair, &text, at), "{text:?} {at}");
                let Some([_, whole]) = found else { break };
                at = whole.end;
            }
        }
    }

    #[test]
    fn an_expression_matches_nowhere_where_it_may_not() {
        let (flags, named) = (FLAG.as_ref().unwrap(), NAMED.as_ref().unwrap());
        let mut matched = [0, 0];
        for text in texts() {
            for (count, regex, may) in [(0, flags, flag(&text)), (1, named, holds(&text, b"value"))]
            {
                let matches = regex.is_match(&text);
                matched[count] += usize::from(matches);
                assert!(may || !matches, "{text:?}");
            }
        }
        assert!(matched.iter().all(|count| *count > 20), "{matched:?}");
    }
}
