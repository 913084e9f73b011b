//! Tokens that were judged and that are none that was drawn, or that their place explains: names, paths and words stand in
//! line after line, so the last few thousand are kept and not judged again. A token that was judged by what stands around
//! it is kept with as much of that as was looked at, and one that was judged by which digits it holds with those. All
//! others are kept without their decimal digits: `pid=812` says what `pid=977` is.

use std::cell::Cell;
use std::ops::Range;

use super::super::calm::anew;
use super::super::explained::Asked;
use super::super::number::{self, without_digits};
use super::tokens::{TOKEN, Token};

const CELLS: usize = 2048;
/// Each is kept in one of two cells, so that two tokens of one line do not take each other's place again and again.
const WAYS: usize = 2;
/// A longer token is judged anew.
const LONGEST: usize = 192;

/// As much as is looked at to judge most tokens; what was looked at further is not kept.
const AROUND: usize = 256;

/// A token that its place explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Explained {
    /// The number of the token.
    number: u64,
    /// That of what stands around it.
    around: u64,
    /// So far was looked in front of it and behind it.
    reach: [u16; 2],
    /// What was known of ids made a difference.
    ids: bool,
}

impl Explained {
    const NONE: Self = Self {
        number: 0,
        around: 0,
        reach: [0; 2],
        ids: false,
    };
}

// Boxed, for what lies in a thread's own storage is taken from the stack of every thread, also of those that redact nothing.
thread_local! {
    static JUDGED: Box<[[Cell<u64>; WAYS]]> = table(Cell::new(0));
    static EXPLAINED: Box<[[Cell<Explained>; WAYS]]> = table(Cell::new(Explained::NONE));
}

fn table<T: Clone>(empty: T) -> Box<[[T; WAYS]]> {
    vec![std::array::from_fn(|_| empty.clone()); CELLS].into_boxed_slice()
}

/// A token that may be kept.
pub(super) struct Kept<'a> {
    /// All of it that makes a difference.
    text: &'a [u8],
    /// The bytes beside it, which are part of its judgement.
    beside: u64,
    /// The number of all tokens that differ from it in their digits only.
    alike: u64,
    digits: bool,
}

impl<'a> Kept<'a> {
    /// None where more around a token is part of its judgement.
    #[inline]
    pub(super) fn of(bytes: &'a [u8], token: &Token) -> Option<Self> {
        let place = &token.place;
        let before = place.start.checked_sub(1).map_or(b' ', |at| bytes[at]);
        let behind = bytes.get(place.end).copied().unwrap_or(b' ');
        // Behind a backslash the first letters may be those of an escape. What begins behind a letter is the rest of a token.
        if matches!(before, b'\\' | b'\x1b') || TOKEN[usize::from(before)] || anew() {
            return None;
        }
        let text = &bytes[place.clone()];
        if text.len() > LONGEST {
            return None;
        }
        let beside = u64::from(before) << 8 | u64::from(behind);
        let digits = token.digits > 0;
        let alike = match digits {
            true => number::of(ALIKE | beside, text, without_digits),
            false => number::of(beside, text, |part| part),
        };
        Some(Self {
            text,
            beside,
            alike: alike | 1,
            digits,
        })
    }

    /// Whether the token, or one that differs from it in digits only where they make no difference, was judged and is none
    /// that was drawn, wherever it stands.
    pub(super) fn written(&self) -> bool {
        written(self.alike)
    }

    /// The number of the token with its digits.
    pub(super) fn number(&self) -> u64 {
        match self.digits {
            true => number::of(self.beside, self.text, |part| part) | 1,
            false => self.alike,
        }
    }

    /// The number that what was judged without a question about its place is kept by.
    pub(super) fn judged(&self, number: u64, asked: Asked) -> u64 {
        if asked.digits { number } else { self.alike }
    }
}

/// No two bytes beside a token have this bit.
const ALIKE: u64 = 1 << 16;

/// Whether a token of this number was judged and is none that was drawn, wherever it stands.
pub(super) fn written(number: u64) -> bool {
    JUDGED.with(|judged| {
        let [newer, older] = &judged[cell(number)];
        if older.get() == number {
            newer.swap(older);
        }
        newer.get() == number
    })
}

/// Keeps what was judged without a question about its place.
pub(super) fn note(number: u64) {
    JUDGED.with(|judged| {
        let [newer, older] = &judged[cell(number)];
        older.set(newer.replace(number));
    });
}

/// How far around it was looked where a token of this number was judged and stays, if the same stood around it and as much was
/// known of ids; and whether that made a difference.
pub(super) fn explained(
    number: u64,
    bytes: &[u8],
    place: &Range<usize>,
    known: [u64; 2],
) -> Option<([u16; 2], bool)> {
    EXPLAINED.with(|explained| {
        let all = explained[cell(number)].iter().map(Cell::get);
        let same = |kept: &Explained| {
            kept.number == number && kept.around == around(bytes, place, kept.reach, known)
        };
        all.filter(same).map(|kept| (kept.reach, kept.ids)).next()
    })
}

/// Keeps what was judged by its place, unless that was looked at too far.
pub(super) fn note_explained(
    number: u64,
    bytes: &[u8],
    place: &Range<usize>,
    asked: Asked,
    known: [u64; 2],
) {
    if asked.before.max(asked.behind) > AROUND {
        return;
    }
    let reach = [asked.before, asked.behind].map(|far| u16::try_from(far).unwrap_or(u16::MAX));
    let around = around(bytes, place, reach, known);
    EXPLAINED.with(|explained| {
        let [newer, older] = &explained[cell(number)];
        older.set(newer.replace(Explained {
            number,
            around,
            reach,
            ids: asked.ids,
        }));
    });
}

/// The number of what stands around a token, as far as that reaches, and of what is known of ids.
fn around(bytes: &[u8], place: &Range<usize>, reach: [u16; 2], known: [u64; 2]) -> u64 {
    let [before, behind] = reach.map(usize::from);
    let front = &bytes[place.start.saturating_sub(before)..place.start];
    let back = &bytes[place.end..bytes.len().min(place.end + behind)];
    let known = number::mixed(known[0], known[1]);
    let number = number::of(known, front, |part| part);
    number::of(number, back, |part| part)
}

fn cell(number: u64) -> usize {
    usize::try_from(number >> 32).unwrap_or(0) % CELLS
}

#[cfg(test)]
mod tests {
    use super::super::super::alike::Alike;
    use super::super::super::known::Known;
    use super::super::next;
    use super::*;
    use crate::calm::ANEW;
    use crate::draws::Draws;

    fn token(text: &[u8], place: Range<usize>) -> Token {
        let count = |of: fn(&u8) -> bool| text[place.clone()].iter().filter(|b| of(b)).count();
        Token {
            lower: count(u8::is_ascii_lowercase),
            upper: count(u8::is_ascii_uppercase),
            digits: count(u8::is_ascii_digit),
            signs: count(u8::is_ascii_punctuation),
            place,
        }
    }

    #[test]
    fn a_token_is_known_again_beside_the_same_bytes_only() {
        let text = b"a gpu-operator-7x gpu-operator-7x \"gpu-operator-7x\"";
        let at = |start: usize| {
            Kept::of(text, &token(text, start..start + 15))
                .unwrap()
                .number()
        };
        note(at(2));
        assert!(written(at(18)) && !written(at(35)));
        let escaped = b"\\nabcdefgh";
        for place in [1..10, 2..10] {
            assert!(Kept::of(escaped, &token(escaped, place)).is_none());
        }
    }

    #[test]
    fn a_token_is_known_again_with_other_digits_where_they_make_no_difference() {
        let text = b" pid=x-812 pid=x-977 pid=x-81x ";
        let kept = |start: usize| Kept::of(text, &token(text, start..start + 9)).unwrap();
        let asked = |digits: bool| Asked {
            any: false,
            before: 0,
            behind: 0,
            digits,
            ids: false,
        };
        let (first, second, third) = (kept(1), kept(11), kept(21));
        note(first.judged(first.number(), asked(true)));
        assert!(written(first.number()) && !first.written() && !second.written());
        note(first.judged(first.number(), asked(false)));
        assert!(second.written() && !third.written());
    }

    #[test]
    fn a_token_is_explained_again_where_as_much_as_was_looked_at_is_the_same() {
        let text = b"x pod=ab0123456789 y pod=ab0123456789 pod=ab0123456789  ";
        let asked = |before: usize, behind: usize| Asked {
            any: true,
            before,
            behind,
            digits: true,
            ids: false,
        };
        let there = |start: usize, known: [u64; 2]| {
            let place = start..start + 12;
            explained(7, text, &place, known).is_some()
        };
        note_explained(7, text, &(6..18), asked(5, 1), [1, 2]);
        assert!(there(6, [1, 2]) && there(25, [1, 2]) && !there(6, [1, 3]) && !there(6, [2, 2]));
        note_explained(8, text, &(6..18), asked(AROUND + 1, 0), [1, 2]);
        assert_eq!(explained(8, text, &(6..18), [1, 2]), None);
        note_explained(7, text, &(6..18), asked(7, 2), [1, 3]);
        assert!(there(6, [1, 3]) && !there(25, [1, 3]));
    }

    /// Names, marks and ids that stand around each other in all ways.
    const PARTS: [&str; 56] = [
        " ",
        " ",
        " ",
        "\n",
        "=",
        ":",
        ": ",
        "\"",
        "\\\"",
        "\\n",
        "/",
        ".",
        "-",
        "_",
        "(",
        ")",
        ",",
        "{",
        "pod",
        "uid",
        "pod_uid",
        "name",
        "containerID",
        "sha256",
        "key",
        "the lease",
        "digest",
        "GET ",
        "https://h",
        "/var/lib/kubelet/pods/",
        "cali:",
        "cri-containerd-",
        "peer",
        "encryptedData",
        "  ",
        "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9",
        "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9",
        "9bc1f04a63d5e87c",
        "q7ZkP2mXv9q7ZkP2mXv9",
        "564i_0a9_v58bn",
        "ZQK9-7RT4-XW2P-8NVH",
        "cali9bc1f04a63d",
        "web-7f9c-x2x4z",
        "-----BEGIN CERTIFICATE-----",
        "pid=812,",
        "10.1.77.161:8080",
        "SRC=10-95",
        "0x1f3a9c",
        "%3D",
        "nvcr.io/x@sha256:",
        "{\"uid\":\"",
        "(uid=1584)",
        "17636349.123:2",
        "v0000",
        "libc.so.6",
        "k3f9-x2m8-q7zp",
    ];

    /// A line with some of its digits changed.
    fn with_other_digits(line: &str, draws: &mut Draws) -> String {
        let mut other = |letter: char| match letter {
            '0'..='9' if draws.below(3) == 0 => char::from(b"0123456789"[draws.below(10)]),
            'a'..='f' if draws.below(20) == 0 => char::from(b"abcdef0189"[draws.below(10)]),
            _ => letter,
        };
        line.chars().map(&mut other).collect()
    }

    #[test]
    fn what_is_kept_changes_nothing_that_is_found() {
        let (kept, anew, mut draws) = (Known::new(), Known::new(), Draws::new());
        let mut lines: Vec<String> = Vec::new();
        let (mut found, mut repeated) = (0, 0);
        for _ in 0..20_000 {
            // Parts of lines come again behind other ones.
            let mut line: String = (0..1 + draws.below(6)).map(|_| draws.of(&PARTS)).collect();
            for _ in 0..draws.below(3) {
                if let Some(other) = lines.get(draws.below(lines.len().max(1))) {
                    repeated += 1;
                    line += &other[other.len() / 2..];
                }
            }
            line.truncate(400);
            let line = with_other_digits(&line, &mut draws);
            let all = |known: &Known| {
                let (mut all, mut at) = (Vec::new(), 0);
                while let Some(one) = next(&Alike::of(line.as_bytes()), at, known) {
                    let (super::super::Found::Drawn(place) | super::super::Found::Hex(place)) =
                        &one;
                    at = place.end;
                    all.push(one);
                }
                all
            };
            let first = all(&kept);
            ANEW.set(true);
            let second = all(&anew);
            ANEW.set(false);
            assert_eq!(first, second, "{line:?}");
            found += first.len();
            lines.push(line);
        }
        assert!(found > 1000 && repeated > 1000, "{found} {repeated}");
    }
}
