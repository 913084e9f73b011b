//! Whether a line with other decimal digits may hold what is searched for.

use std::sync::LazyLock;

use super::super::encoded;
use super::search::Search;

/// The words that are searched for with a zero for each digit.
static WITHOUT_DIGITS: LazyLock<Search> = LazyLock::new(|| Search::of(true));

/// Whether something may be secret in a line in which nothing is, were its decimal digits others.
pub(crate) fn digits_may_tell(line: &[u8]) -> bool {
    if !line.iter().any(u8::is_ascii_digit) {
        return false;
    }
    // An escape is written with digits.
    if memchr::memchr2(b'%', b'\\', line).is_some() || memchr::memmem::find(line, b"&#").is_some() {
        return true;
    }
    let zeros = line.iter().map(|byte| match byte {
        b'0'..=b'9' => b'0',
        other => *other,
    });
    let zeros: Vec<u8> = zeros.collect();
    let mut told = encoded::digits_may_tell(&zeros);
    WITHOUT_DIGITS.run(&zeros, |_, _, _| {
        told = true;
        true
    });
    told
}

#[cfg(test)]
mod tests {
    use super::super::Seen;
    use super::*;
    use crate::draws::Draws;

    #[test]
    fn words_with_digits_and_names_with_digits_tell() {
        for told in [
            "x 8z a",
            "use a1_key now",
            "api 3key",
            "a%41",
            "cGFzc3dvcmQ6IGh1bnRlcjI2",
            "x: [9, 8",
        ] {
            assert!(digits_may_tell(told.as_bytes()), "{told}");
        }
        for calm in [
            "I0517 04:49:55.123456 1 main.go:12] took 815 ms",
            "- key: nvidia.com/gpu took 5",
            "kernel: [40404.047159] x",
        ] {
            assert!(!digits_may_tell(calm.as_bytes()), "{calm}");
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
            if !Seen::of(line.as_bytes()).empty() || digits_may_tell(line.as_bytes()) {
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
