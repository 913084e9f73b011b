//! Tokens of several parts, each too short to be judged by itself.

use std::ops::Range;

use super::super::alike::has_form_of_uuid;
use super::super::explained::{self, Said, ask_digits, by_place, in_request};
use super::super::random::{Sorts, surprise};
use super::super::table::all_hex;
use super::Found;
use super::alone::stands_alone;
use super::hex::{hex_parts, uuid};
use super::issuer::{LONGEST_WORD, MOST_WORDS};
use super::tokens::WORD;

/// Parts of a token that are too short to be looked at by themselves: `b1llz300-qb33nsh_3p8ta8z33`.
pub(super) fn strange(bytes: &[u8], run: &Range<usize>, sorts: Sorts) -> Option<Found> {
    let text = &bytes[run.clone()];
    let marks = text.len() - text.len().min(sorts.lower + sorts.upper + sorts.digits);
    if marks == 0 || plain_uuid(bytes, run, sorts) {
        return None;
    }
    let groups = (marks > 1 && (equal_groups(text) || mixed_groups(text))) || restless(text, sorts);
    // `/tmp/ssh-kX3a9Kb2Q7fL/agent.12` is a path, and no secret.
    let path = || bytes[..run.start].ends_with(b"/") && !in_request(&bytes[..run.start]);
    if groups && !path() && !is_pod_name(text) && !by_place(bytes, run) {
        return Some(Found::Drawn(run.clone()));
    }
    if marks > 1 && sorts.lower == 0 && licence(text) {
        return Some(Found::Drawn(run.clone()));
    }
    if run.len() < MIN_RUN {
        return None;
    }
    if marks > 1
        && let Some(rest) = behind_words(bytes, run)
    {
        let drawn = numbers(&bytes[rest.clone()]) || hex_parts(bytes, &rest, true);
        return (drawn && !by_place(bytes, run)).then(|| Found::Drawn(run.clone()));
    }
    let cased = sorts.digits > 0 && sorts.upper > 3 && sorts.lower > 3;
    let few = sorts.digits < 4 && !cased;
    if few || (sorts.digits + marks) * 5 > text.len() * 4 || is_pod_name(text) {
        return None;
    }
    let others = Others::of(text);
    if others.count == 0 {
        return hex_parts(bytes, run, false).then(|| Found::Drawn(run.clone()));
    }
    if others.bits > 0
        && others.count > 1
        && let Some(uuid) = uuid(bytes, run)
    {
        let said = explained::hex(bytes, &uuid, 36);
        return (said == Said::Nothing).then(|| Found::Drawn(run.clone()));
    }
    // `SWX-8cdf9499-...`: the kind of a thing and its id, which was judged by itself.
    let kind = others.count == 1 && others.longest < 6;
    if kind && uuid(bytes, run).is_some_and(|uuid| uuid.end == run.end) {
        return None;
    }
    // `KUBE-SVC-NPX46M4PTMTKRN6Y`: what stands in front of the last part may explain it.
    let last = text
        .iter()
        .rposition(|byte| !WORD[usize::from(*byte)])
        .map_or(run.start, |at| run.start + at + 1);
    let explained = || by_place(bytes, run) || by_place(bytes, &(last..run.end));
    (others.bits > STRANGE && !others.written && !explained()).then(|| Found::Drawn(run.clone()))
}

/// The parts of a token that are no hexadecimal digits, which were judged by themselves.
#[derive(Default)]
struct Others {
    count: usize,
    /// More bits than written ones would have.
    bits: i32,
    /// The length of the longest.
    longest: usize,
    /// One of them is a word of some language.
    written: bool,
}

impl Others {
    fn of(text: &[u8]) -> Self {
        let mut all = Self::default();
        for part in text.split(|byte| !WORD[usize::from(*byte)]) {
            if part.len() < 2 || all_hex(part) {
                continue;
            }
            let bits = surprise(part, Sorts::of(part));
            let small = part.len() > 4 && part.iter().all(u8::is_ascii_lowercase);
            all.count += 1;
            all.bits += bits;
            all.longest = all.longest.max(part.len());
            all.written |= small && bits < -3;
        }
        all
    }
}

/// Whether a run is a UUID of one case, and no word stands in front of it: none of the questions above finds such a one,
/// whose end was judged by itself. A first part without a digit may be an issuer's word.
fn plain_uuid(bytes: &[u8], run: &Range<usize>, sorts: Sorts) -> bool {
    let text = &bytes[run.clone()];
    let tied = run.start > 0 && WORD[usize::from(bytes[run.start - 1])];
    has_form_of_uuid(text)
        && (sorts.lower == 0 || sorts.upper == 0)
        && sorts.beyond_hex == 0
        && sorts.lower + sorts.upper + sorts.digits == 32
        && !tied
}

/// Hexadecimal digits and the marks that join them.
static HEX_RUN: [bool; 256] = crate::table::of(b"0123456789abcdefABCDEF-_");

/// What stands behind the words of an issuer in a token that is alone, where it is parts of hexadecimal digits alone.
fn behind_words(bytes: &[u8], run: &Range<usize>) -> Option<Range<usize>> {
    let mut start = run.start;
    for _ in 0..MOST_WORDS {
        let text = &bytes[start..run.end];
        let length = text
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric())
            .count();
        let mark = text.get(length).is_some_and(|byte| b"-_".contains(byte));
        let digits = text[..length].iter().any(u8::is_ascii_digit);
        let hex = digits && all_hex(&text[..length]);
        if !mark || hex || !(2..=LONGEST_WORD).contains(&length) {
            break;
        }
        start += length + 1;
    }
    let digits = bytes[start..run.end]
        .iter()
        .all(|byte| HEX_RUN[usize::from(*byte)]);
    (start > run.start && digits && stands_alone(bytes, run)).then_some(start..run.end)
}

/// `50418072774-92589393790616`: two or more long numbers that are no times.
fn numbers(text: &[u8]) -> bool {
    ask_digits();
    let number = |part: &[u8]| {
        let time = part.len() % 3 == 1 && matches!(part, [b'1', b'4'..=b'9', ..]);
        part.len() >= LONG_NUMBER && part.iter().all(u8::is_ascii_digit) && !time
    };
    let parts = || text.split(|byte| !WORD[usize::from(*byte)]);
    parts().count() > 1 && parts().all(number)
}

/// Shorter numbers count or measure something.
const LONG_NUMBER: usize = 11;

/// `abc1d3-7fgh2j-k9lm4n`: three or more parts of one length, each of letters and digits that form no words.
fn equal_groups(text: &[u8]) -> bool {
    let parts = || text.split(|byte| !WORD[usize::from(*byte)]);
    let length = parts().next().map_or(0, <[u8]>::len);
    let mixed = |part: &[u8]| {
        let digits = part.iter().filter(|byte| byte.is_ascii_digit()).count();
        digits > 0 && digits < part.len()
    };
    (5..9).contains(&length)
        && parts().count() > 2
        && parts().all(|part| part.len() == length && mixed(part))
        && !text
            .iter()
            .all(|byte| byte.is_ascii_hexdigit() || !WORD[usize::from(*byte)])
        && parts()
            .map(|part| surprise(part, Sorts::of(part)))
            .sum::<i32>()
            > LICENCE
}

/// `564i_0a9_v58bn`: three or more parts, each of letters and digits that form no words, and none of them a number behind a
/// word (`gen3`, `x4`).
fn mixed_groups(text: &[u8]) -> bool {
    let parts = || {
        text.split(|byte| !WORD[usize::from(*byte)])
            .filter(|part| !part.is_empty())
    };
    let mixed = |part: &[u8]| {
        let digits = part.iter().filter(|byte| byte.is_ascii_digit()).count();
        let numbered = part.iter().skip_while(|byte| byte.is_ascii_alphabetic());
        digits > 0 && digits < part.len() && numbered.clone().any(u8::is_ascii_alphabetic)
    };
    // Most names begin with a word.
    parts().all(|part| part.len() > 2 && mixed(part))
        && parts().count() > 2
        && !parts().all(all_hex)
        && parts()
            .map(|part| surprise(part, Sorts::of(part)))
            .sum::<i32>()
            > MIXED
}

/// Bits from which parts of such kinds are no names.
const MIXED: i32 = 2;

/// `kX3-a9K_b2Q-7fL`: capitals, small letters and digits that change places within parts as those of no name do.
fn restless(text: &[u8], sorts: Sorts) -> bool {
    if sorts.upper < 2 || sorts.lower < 2 || sorts.digits < 2 {
        return false;
    }
    let pairs = || {
        text.windows(2)
            .map(|two| (sort(two[0]), sort(two[1])))
            .filter(|(a, b)| *a < 3 && *b < 3)
    };
    let changes = pairs().filter(|(a, b)| a != b).count();
    let hexadecimal = || {
        ask_digits();
        memchr::memmem::find(text, b"0x").is_some()
    };
    let letters: Vec<u8> = text
        .iter()
        .copied()
        .filter(|byte| sort(*byte) < 3)
        .collect();
    letters.len() >= 10
        && changes * 20 >= pairs().count() * 11
        && surprise(&letters, Sorts::of(&letters)) > RESTLESS
        && !hexadecimal()
}

/// Capitals, small letters, digits, and marks.
fn sort(byte: u8) -> u8 {
    match byte {
        b'A'..=b'Z' => 0,
        b'a'..=b'z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    }
}

/// Bits from which parts that change so often are no names.
const RESTLESS: i32 = 6;

/// `IZAT6SA-AJUQES1-BZWZYWJ-VDIXPVG`: four or more parts of one length, or three of five, of capitals and digits, that are
/// no words.
fn licence(text: &[u8]) -> bool {
    let parts = || text.split(|byte| !WORD[usize::from(*byte)]);
    let length = parts().next().map_or(0, <[u8]>::len);
    let capitals = text.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    let hex = |byte: &u8| byte.is_ascii_hexdigit() || *byte == b'-';
    (4..9).contains(&length)
        && parts().all(|part| part.len() == length)
        && parts().count() + usize::from(length > 4) > 3
        && capitals > 7
        && !text.iter().all(hex)
        && parts()
            .map(|part| surprise(part, Sorts::of(part)))
            .sum::<i32>()
            > LICENCE
}

/// Bits from which such parts are no words.
const LICENCE: i32 = 6;

/// A token of several parts has at least so many letters.
const MIN_RUN: usize = 22;
/// And so many bits more than a written one would have.
const STRANGE: i32 = 10;

/// Whether a name ends as Kubernetes makes it unique: `-x2x4z`, of letters that form no words.
pub(super) fn is_pod_name(text: &[u8]) -> bool {
    ask_digits();
    let unique = |part: &[u8]| {
        part.iter()
            .all(|byte| b"bcdfghjklmnpqrstvwxz2456789".contains(byte))
    };
    text.len() > 6
        && text[text.len() - 6] == b'-'
        && unique(&text[text.len() - 5..])
        && text
            .iter()
            .all(|byte| !byte.is_ascii_uppercase() && *byte != b'_')
}
