//! Ids of hexadecimal digits, written alike: what is said of an id is said by where it stands, not by which digits it has. So a
//! line is judged with the same digits in each of its ids, and one that stood there with other ids is known again.

mod ids;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use smallvec::SmallVec;

use super::known::Known;
use super::number::{self, without_digits};
use super::table::{LETTERS_AND_DIGITS, of};
use super::unexplained::MIN_HEX;
use ids::{All, LONGEST, ids, next_run};
pub(crate) use ids::{UUID, has_form_of_uuid};

/// What stands for all ids.
const DIGITS: &[u8; LONGEST] = b"8c1f4e7a2b9d4e63a5f07c3d9e1b6f42b3d85a17c9e0f264d81b3c7e5a9f0246\
e7d1a48c3b5f92607acd1e94f8b3520d6c9ea17f4b82d5031f7ec69a0d4b85e3";
const UUID_DIGITS: &[u8; UUID] = b"8c1f4e7a-2b9d-4e63-a5f0-7c3d9e1b6f42";

/// How a journal's line begins.
const CURSOR: &[u8] = b"{\"__CURSOR\":\"";

static WORD: [bool; 256] = LETTERS_AND_DIGITS;
/// What stands between an id and something else.
static ENDS: [bool; 256] = of(b" \t\"'");

/// A text, and how it is judged.
pub(crate) struct Alike<'a> {
    /// As it stands there.
    pub(crate) text: &'a [u8],
    judged: OnceCell<Cow<'a, [u8]>>,
    /// Where ids are, front to back.
    ids: All,
    /// The end of the cursor that a journal's line begins with.
    cursor: usize,
}

/// Which other texts are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Others {
    /// All of the same number.
    All,
    /// Those in which words with small letters have the same digits: `web-7f9c`, `sha256`, `eth0`.
    SameNames,
}

/// The number of all texts that differ from this one in their decimal digits and ids only, and the text with its ids where it
/// has any. Digits directly beside an id are the same in all of them (`sha256:`), and so are the ids of a cursor, which this
/// table knows.
#[inline]
pub(crate) fn number<'a>(text: &'a [u8], known: &Known) -> (u64, Option<Box<Alike<'a>>>) {
    if cursor(text) == 0 && next_run(text, 0).is_none() {
        return (number::of_long(text, without_digits), None);
    }
    numbered(text, known)
}

#[inline(never)]
fn numbered<'a>(text: &'a [u8], known: &Known) -> (u64, Option<Box<Alike<'a>>>) {
    let alike = Box::new(Alike::of(text));
    (alike.number(known), Some(alike))
}

impl<'a> Alike<'a> {
    pub(crate) fn of(text: &'a [u8]) -> Self {
        let mut all = Self {
            text,
            judged: OnceCell::new(),
            ids: All::new(),
            cursor: cursor(text),
        };
        if let Some(first) = next_run(text, all.cursor) {
            ids(text, first, &mut all.ids);
        }
        all
    }

    /// The text with its ids written alike: all of it stands where it did.
    pub(crate) fn judged(&self) -> &[u8] {
        self.judged.get_or_init(|| {
            let mut judged = Cow::Borrowed(self.text);
            if self.cursor > 0 {
                numbers_alike(&mut judged.to_mut()[CURSOR.len()..self.cursor]);
            }
            for id in &self.ids {
                let there = &mut judged.to_mut()[id.clone()];
                // Of the names of a cloud's objects, which begin so, ids of other lengths are none.
                let zero = there[0] == b'0';
                match id.len() {
                    UUID if there.contains(&b'-') => there.copy_from_slice(UUID_DIGITS),
                    length => there.copy_from_slice(&DIGITS[..length]),
                }
                if zero {
                    there[0] = b'0';
                }
            }
            judged
        })
    }

    /// All ids.
    pub(crate) fn all_ids(&self) -> &[Range<usize>] {
        &self.ids
    }

    /// The ids that stand in a part, or reach into it.
    pub(crate) fn ids(&self, part: &Range<usize>) -> &[Range<usize>] {
        let first = self.ids.partition_point(|id| id.end <= part.start);
        let behind = &self.ids[first..];
        &behind[..behind.partition_point(|id| id.start < part.end)]
    }

    fn number(&self, known: &Known) -> u64 {
        let rest = self.number_of(&(self.cursor..self.text.len()), &self.ids);
        number::mixed(self.cursor_number(known), rest)
    }

    /// The same number of a part of the text with these ids, beyond which none goes on; none where its cursor does.
    #[inline]
    pub(crate) fn number_of_part(&self, part: &Range<usize>, ids: &[Range<usize>]) -> Option<u64> {
        (part.start >= self.cursor).then(|| self.number_of(part, ids))
    }

    #[inline]
    fn number_of(&self, part: &Range<usize>, ids: &[Range<usize>]) -> u64 {
        match ids {
            [] => number::of_long(&self.text[part.clone()], without_digits),
            ids => self.number_around(part, ids),
        }
    }

    fn number_around(&self, part: &Range<usize>, ids: &[Range<usize>]) -> u64 {
        let (mut all, mut at) = (0, part.start);
        for id in ids {
            let front = number::of_long(&self.text[at..id.start], without_digits);
            let beside = self.beside(id);
            let before = eight_before(&self.text[..id.start], id.start - beside.start);
            let behind = eight_behind(&self.text[id.end..], beside.end - id.end);
            // Other digits there may be none of an id.
            let zero = u64::from(self.text[id.start] == b'0');
            let place = ((id.start - part.start) as u64) << 16 | zero << 8 | id.len() as u64;
            all = number::mixed(all ^ front, place);
            all = number::mixed(number::mixed(all, before), behind);
            at = id.end;
        }
        number::mixed(
            all,
            number::of_long(&self.text[at..part.end], without_digits),
        )
    }

    fn cursor_number(&self, known: &Known) -> u64 {
        if self.cursor == 0 {
            return 0;
        }
        let mut cursor: SmallVec<[u8; 256]> = SmallVec::from_slice(&self.text[..self.cursor]);
        numbers_alike(&mut cursor[CURSOR.len()..]);
        let [table, lost] = known.kept();
        number::mixed(
            number::mixed(number::of_long(&cursor, |part| part), table),
            lost,
        )
    }

    /// The number of those texts of a number that have the same names.
    pub(crate) fn number_with_names(&self, number: u64) -> u64 {
        let mut text = self.text.to_vec();
        for id in &self.ids {
            text[id.clone()].fill(b'0');
        }
        text[..self.cursor].fill(b'0');
        for word in text[self.cursor..].split_mut(|byte| !WORD[usize::from(*byte)]) {
            // Most words have no digit.
            let (digits, small) = word.iter().fold((false, false), |(digits, small), byte| {
                (
                    digits | byte.is_ascii_digit(),
                    small | byte.is_ascii_lowercase(),
                )
            });
            if digits && !small {
                zero_digits(word);
            }
        }
        number::mixed(number, number::of_long(&text, |part| part))
    }

    /// Whether a digit at a place stands in a word with small letters.
    fn in_name(&self, at: usize) -> bool {
        let word = |byte: &&u8| WORD[usize::from(**byte)];
        let before = self.text[..at].iter().rev().take_while(word);
        let mut all = before.chain(self.text[at..].iter().take_while(word));
        all.any(u8::is_ascii_lowercase)
    }

    /// An id with what stands directly beside it.
    fn beside(&self, id: &Range<usize>) -> Range<usize> {
        let ends = |byte: &u8| ENDS[usize::from(*byte)];
        let front = &self.text[id.start.saturating_sub(BESIDE)..id.start];
        let behind = &self.text[id.end..self.text.len().min(id.end + BESIDE)];
        let before = front.iter().rev().position(ends).unwrap_or(front.len());
        let after = behind.iter().position(ends).unwrap_or(behind.len());
        id.start - before..id.end + after
    }

    /// Whether the digits at a place are the same in all others, or those of ids.
    pub(crate) fn is_fixed(&self, place: &Range<usize>, others: Others) -> bool {
        let from = place.start.saturating_sub(BESIDE);
        let near = self.ids(&(from..place.end + BESIDE)).iter();
        let mut beside = near.map(|id| self.beside(id));
        beside.any(|beside| beside.start <= place.start && place.end <= beside.end)
            || (others == Others::SameNames && !place.clone().any(|at| self.is_number(at)))
    }

    /// Whether a digit stands at a place that is in no word with small letters.
    fn is_number(&self, at: usize) -> bool {
        self.text[at].is_ascii_digit() && !self.in_name(at)
    }

    /// Whether a digit at a place may be another one in others.
    pub(crate) fn is_free(&self, place: &Range<usize>, others: Others) -> bool {
        let mut digits = place.clone().filter(|at| self.text[*at].is_ascii_digit());
        digits.any(|at| !self.is_fixed(&(at..at + 1), others))
    }

    /// A part of the text with a zero for each digit, and for all that is written in an id.
    pub(crate) fn zeros(&self, part: &Range<usize>) -> Zeros {
        let mut text = self.judged()[part.clone()].to_vec();
        zero_digits(&mut text);
        for id in self.ids(part) {
            let from = id.start.max(part.start) - part.start;
            text[from..id.end.min(part.end) - part.start].fill(b'0');
        }
        let from = part.start;
        Zeros { text, from }
    }
}

fn zero_digits(text: &mut [u8]) {
    text.iter_mut()
        .filter(|byte| byte.is_ascii_digit())
        .for_each(|byte| *byte = b'0');
}

/// A part of a text with a zero for each digit.
pub(crate) struct Zeros {
    pub(crate) text: Vec<u8>,
    /// Where it begins in the whole.
    from: usize,
}

impl Zeros {
    /// Where in the whole text a part of it stands.
    pub(crate) fn place(&self, part: &Range<usize>) -> Range<usize> {
        self.from + part.start..self.from + part.end
    }
}

/// So many bytes beside an id stand directly there, unless a blank or a quote stands between.
const BESIDE: usize = 8;

/// So many bytes at the end of a text.
fn eight_before(text: &[u8], length: usize) -> u64 {
    let all = match text.last_chunk() {
        Some(eight) => u64::from_le_bytes(*eight),
        None => text
            .iter()
            .fold(0, |all, byte| (all >> 8) | (u64::from(*byte) << 56)),
    };
    u64::checked_shr(all, 64 - 8 * u32::try_from(length).unwrap_or(0)).unwrap_or(0)
}

/// So many bytes at the beginning of a text.
fn eight_behind(text: &[u8], length: usize) -> u64 {
    let all = match text.first_chunk() {
        Some(eight) => u64::from_le_bytes(*eight),
        None => text
            .iter()
            .rev()
            .fold(0, |all, byte| (all << 8) | u64::from(*byte)),
    };
    u64::checked_shl(all, 64 - 8 * u32::try_from(length).unwrap_or(0)).unwrap_or(0)
}

/// The end of the cursor that a line of a journal begins with; nothing where it has none.
fn cursor(text: &[u8]) -> usize {
    let Some(rest) = text.strip_prefix(CURSOR) else {
        return 0;
    };
    let length = memchr::memchr(b'"', rest).unwrap_or(0);
    if rest.starts_with(b"s=") {
        CURSOR.len() + length
    } else {
        0
    }
}

/// Writes the numbers of a cursor alike: what is shorter than an id counts.
fn numbers_alike(cursor: &mut [u8]) {
    for part in cursor.split_mut(|byte| *byte == b';') {
        let value = part.get_mut(2..).filter(|value| value.len() < MIN_HEX);
        let value = value.filter(|value| value.iter().all(u8::is_ascii_hexdigit));
        if let Some(value) = value {
            value.fill(b'0');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str) -> [u64; 2] {
        let (number, alike) = number(text.as_bytes(), &Known::new());
        let alike = alike.unwrap_or_else(|| Box::new(Alike::of(text.as_bytes())));
        [number, alike.number_with_names(number)]
    }

    #[test]
    fn texts_that_differ_in_their_digits_and_ids_only_have_one_number() {
        let written = |time: &str, pod: &str, id: &str| {
            numbers(&format!(
                "I1120 {time} 815 go.go:12] pod=\"{pod}\" id=sha256:{id}"
            ))
        };
        let id = "9b1f3c7a5e2d80469b1f3c7a5e2d8046";
        let one = written("10:15:09.12", "web-7f9c", id);
        let other = written(
            "11:42:17.03",
            "web-7f9c",
            "3f9a1c7e5b08d2643f9a1c7e5b08d264",
        );
        assert_eq!(one, other);
        let [all, names] = written("10:15:09.12", "web-8f9c", id);
        assert_eq!(all, one[0]);
        assert_ne!(names, one[1]);
        // Of another length, of another algorithm, a text, and no id.
        for told in [
            written("10:15:09.12", "web-7f9c", &id[1..]),
            written(
                "10:15:09.12",
                "web-7f9c",
                "6c6f6e6a6b6d6e636c6f6e6a6b6d6e63",
            ),
            written(
                "10:15:09.12",
                "web-7f9c",
                "8c1f4e7a2b9d4e63a5f07c3d9e1b6f4g",
            ),
            numbers(&format!(
                "I1120 10:15:09.12 815 go.go:12] pod=\"web-7f9c\" id=sha512:{id}"
            )),
        ] {
            assert_ne!(told[0], one[0]);
        }
    }

    #[test]
    fn hexadecimal_digits_of_a_text_are_none_of_an_id_whatever_their_letters_are() {
        let id = numbers("x 8c1f4e7a2b9d4e63 y")[0];
        assert_eq!(numbers("x 9d0a3b6c5e8f1a27 y")[0], id);
        assert_ne!(numbers("x 6c6f6e6a6b6d6e63 y")[0], id);
    }

    #[test]
    fn a_text_is_judged_with_the_same_digits_in_each_id() {
        let text = "pvc-0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9 of 0b1f3c7a5e2d8046";
        let alike = Alike::of(text.as_bytes());
        let judged = String::from_utf8_lossy(alike.judged()).into_owned();
        assert_eq!(
            judged,
            "pvc-0c1f4e7a-2b9d-4e63-a5f0-7c3d9e1b6f42 of 0c1f4e7a2b9d4e63"
        );
        let zeros = alike.zeros(&(41..text.len()));
        assert_eq!(zeros.text, b"of 0000000000000000");
        assert_eq!(zeros.place(&(3..5)), 44..46);
    }

    #[test]
    fn digits_are_free_where_others_may_have_other_ones() {
        let text = "took 815 ms of web-7f9c sha256:9b1f3c7a5e2d8046-7 5";
        let alike = Alike::of(text.as_bytes());
        let free = |digits: &str, others: Others| {
            let at = text.find(digits).unwrap();
            alike.is_free(&(at..at + digits.len()), others)
        };
        for others in [Others::All, Others::SameNames] {
            assert!(free("815", others) && free(" 5", others));
            assert!(!free("256", others) && !free("9b1f", others) && !free("-7 ", others));
        }
        assert!(free("7f9c", Others::All) && !free("7f9c", Others::SameNames));
    }
}
