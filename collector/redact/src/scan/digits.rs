//! Whether a line with other decimal digits, and other ids, may hold what is searched for.

use std::ops::Range;
use std::sync::LazyLock;

use super::super::alike::{Alike, Others, Zeros};
use super::super::{encoded, escapes};
use super::search::{Hit, Search};

/// The words that are searched for with a zero for each digit.
static WITHOUT_DIGITS: LazyLock<Search> = LazyLock::new(|| Search::of(true));

/// Whether more may be found in a part of others of a line than was in it. It is given with a zero for each of its decimal
/// digits and what is written in its ids.
pub(crate) fn digits_may_tell(
    line: &Alike<'_>,
    zeros: &Zeros,
    found: &[Hit],
    others: Others,
) -> bool {
    if escapes::digits_may_tell(&zeros.text) || encoded::digits_may_tell(line, zeros, others) {
        return true;
    }
    let mut expected = found.iter();
    let mut told = false;
    WITHOUT_DIGITS.run(&zeros.text, |start, end, bits| {
        told = expected.next() != Some(&(start, end, bits));
        told
    });
    told
}

/// Whether a word that is searched for may stand in a part of a line, were its ids others.
pub(super) fn ids_may_tell(line: &Alike<'_>, part: &Range<usize>) -> bool {
    let mut told = false;
    if !line.ids(part).is_empty() {
        WITHOUT_DIGITS.run(&line.zeros(part).text, |_, _, _| {
            told = true;
            true
        });
    }
    told
}

#[cfg(test)]
mod tests {
    use super::super::Seen;
    use super::*;
    use crate::draws::Draws;

    fn told(line: &str) -> bool {
        let line = Alike::of(line.as_bytes());
        digits_may_tell(&line, &line.zeros(&(0..line.text.len())), &[], Others::All)
    }

    #[test]
    fn words_with_digits_and_names_with_digits_tell() {
        for text in [
            "x 8z a",
            "use a1_key now",
            "api 3key",
            "a%41",
            "cGFzc3dvcmQ6IGh1bnRlcjI2",
            "x: [9, 8",
        ] {
            assert!(told(text), "{text}");
        }
        for calm in [
            "I0517 04:49:55.123456 1 main.go:12] took 815 ms",
            "- key: nvidia.com/gpu took 5",
            "kernel: [40404.047159] x",
        ] {
            assert!(!told(calm), "{calm}");
        }
    }

    #[test]
    fn a_line_that_digits_do_not_tell_of_is_empty_with_all_digits() {
        const PARTS: [&str; 40] = [
            " ",
            " ",
            "7z",
            "9z",
            "key",
            "s3",
            "s4",
            "_",
            "-",
            ":[1",
            ": [12, 5",
            "k10",
            "k99",
            "$2",
            "$6$",
            "1//0",
            "-us1",
            "r8_",
            "v1.0-",
            "oy2",
            "pw",
            "pat",
            "auth",
            "token",
            "x",
            "://",
            "a@b",
            "2026-11-20",
            "sha256:",
            "q7ZkP2mXv9q7ZkP2",
            "sk",
            "dt0c01.",
            "%41%42",
            "[1, 2, 3, ",
            "10.0.0.1",
            "mysql",
            "docker",
            "812",
            ".",
            "base64",
        ];
        let mut draws = Draws::new();
        let (mut calm, mut told) = (0, 0);
        for _ in 0..30_000 {
            let line: String = (0..1 + draws.below(7)).map(|_| draws.of(&PARTS)).collect();
            if !Seen::of(line.as_bytes()).empty() || self::told(&line) {
                told += 1;
                continue;
            }
            calm += 1;
            for _ in 0..4 {
                let mut other = |letter: char| match letter {
                    '0'..='9' => char::from(b"0123456789"[draws.below(10)]),
                    _ => letter,
                };
                let other: String = line.chars().map(&mut other).collect();
                assert!(Seen::of(other.as_bytes()).empty(), "{line:?} {other:?}");
            }
        }
        assert!(calm > 3000 && told > 3000, "{calm} {told}");
    }
}
