//! Tokens in groups of one length: `k3f9-x2m8-q7zp`, `zq_live_8f2a1.c04d9.77e3b.1f`, each too short to be judged by itself.

use std::ops::Range;

use super::super::explained::{by_place, named};
use super::super::random::{Sorts, surprise};
use super::alone::stands_alone;
use super::issuer::{LONGEST_WORD, MOST_WORDS};
use super::parts::is_pod_name;
use super::tokens::{Token, WORD};

/// A group has so many letters.
const LENGTHS: std::ops::RangeInclusive<usize> = 4..=8;
/// Fewer groups are a name.
const FEWEST: usize = 3;
/// And so many letters in all of them.
const LEAST: usize = 14;
/// Of hexadecimal digits so many.
const LEAST_HEX: usize = 16;
/// Bits from which groups of letters and digits, or of letters of both cases, are no words.
const STRANGE: i32 = 8;
/// And those of letters of one case.
const STRANGE_LETTERS: i32 = 22;
/// Signs between groups. Colons part addresses.
const SIGNS: &[u8] = b"-_.~+:";

/// The groups in a token that is alone, as far as nothing explains them.
pub(super) fn grouped(bytes: &[u8], token: &Token) -> Option<Range<usize>> {
    if token.signs + 1 < FEWEST || token.place.len() < LEAST {
        return None;
    }
    let mut at = token.place.start;
    while at < token.place.end {
        let rest = &bytes[at..token.place.end];
        let length = rest.iter().position(|byte| !PART[usize::from(*byte)]);
        let length = length.unwrap_or(rest.len());
        let whole = at..at + length;
        if end_alike(&bytes[whole.clone()])
            && let Some(groups) = behind_words(bytes, &whole)
        {
            return Some(groups);
        }
        at += length + 1;
    }
    None
}

/// Letters, digits and signs between groups and behind words.
static PART: [bool; 256] = crate::table::with(WORD, SIGNS);

/// Whether a text ends in groups of one length, and what is left behind them: what goes on behind groups makes a part of a
/// name of them, unless that is the full stop of a sentence. Most texts end otherwise.
fn end_alike(text: &[u8]) -> bool {
    let text = text.strip_suffix(b".").unwrap_or(text);
    let longest = *LENGTHS.end();
    let mut rest = text;
    let mut next = || {
        let letters = rest.iter().rev().take(longest + 1);
        let length = letters.take_while(|byte| WORD[usize::from(**byte)]).count();
        let front = rest.len() - length;
        rest = &rest[..front.saturating_sub(1)];
        length
    };
    let (left, length) = (next(), next());
    let whole = FEWEST - usize::from(left == length);
    (1..=length).contains(&left)
        && LENGTHS.contains(&length)
        && (1..whole).all(|_| next() == length)
}

/// The groups behind an issuer's words, or without any.
fn behind_words(bytes: &[u8], whole: &Range<usize>) -> Option<Range<usize>> {
    let mut start = whole.start;
    for _ in 0..=MOST_WORDS {
        let groups = start..start + equal(&bytes[start..whole.end]);
        let token = whole.start..groups.end;
        if groups.len() >= LEAST
            && drawn(&bytes[groups.clone()])
            && stands_alone(bytes, &token)
            && !is_pod_name(&bytes[token.clone()])
            && !by_place(bytes, &token)
            && !by_place(bytes, &groups)
            && !named(&bytes[..token.start])
        {
            return Some(groups);
        }
        start += word(&bytes[start..whole.end])?;
    }
    None
}

/// The length of groups of one length that a text begins with, and of what is left behind them; nothing where they are
/// too few, or too short or long.
fn equal(text: &[u8]) -> usize {
    let length = letters(text);
    let Some(sign) = text.get(length).filter(|sign| SIGNS.contains(sign)) else {
        return 0;
    };
    if !LENGTHS.contains(&length) {
        return 0;
    }
    let mut whole = 1;
    let mut end = length;
    while text.get(end) == Some(sign) {
        let next = letters(&text[end + 1..]);
        if next == 0 || next > length {
            break;
        }
        end += 1 + next;
        if next < length {
            break;
        }
        whole += 1;
    }
    if whole < FEWEST { 0 } else { end }
}

/// The length of an issuer's word and its sign.
fn word(text: &[u8]) -> Option<usize> {
    let length = letters(text);
    let sign = text.get(length).is_some_and(|sign| SIGNS.contains(sign));
    ((1..=LONGEST_WORD).contains(&length) && sign).then_some(length + 1)
}

fn letters(text: &[u8]) -> usize {
    text.iter()
        .take_while(|byte| WORD[usize::from(**byte)])
        .count()
}

/// Whether groups are none of words, numbers or hexadecimal digits.
fn drawn(groups: &[u8]) -> bool {
    let parts = || groups.split(|byte| !WORD[usize::from(*byte)]);
    let length = parts().next().map_or(0, <[u8]>::len);
    if !LENGTHS.contains(&length) {
        return false;
    }
    let whole = parts().filter(|part| part.len() == length).count();
    let sorts = Sorts::of(groups);
    let all = sorts.lower + sorts.upper + sorts.digits;
    if whole < FEWEST || all < LEAST {
        return false;
    }
    if sorts.beyond_hex == 0 {
        // Addresses are four digits between colons.
        let address = length == 4 && groups.get(length) == Some(&b':');
        return !address && all >= LEAST_HEX && sorts.hex() && sorts.lower + sorts.upper > FEWEST;
    }
    let mixed = sorts.digits > 1 || (sorts.lower > 1 && sorts.upper > 1);
    let numbers = parts().any(|part| part.len() == length && part.iter().all(u8::is_ascii_digit));
    let bits: i32 = parts().map(|part| surprise(part, Sorts::of(part))).sum();
    !numbers && bits > if mixed { STRANGE } else { STRANGE_LETTERS }
}

#[cfg(test)]
mod tests {
    use super::super::super::known::Known;
    use super::super::first;

    #[test]
    fn groups_of_one_length_are_no_name() {
        let found = |text: &str| first(text.as_bytes(), &Known::new()).is_some();
        for token in [
            "k3f9-x2m8-q7zp-4wn1",
            "zq_live_8f2p1.c04x9.77e3b.1f",
            "zqk:1G7VU:2D8JV:21VXU:764O6",
            "ZQK-bnqtv-xwzrk-pqhgt-vtlzq",
            "zqk-kasw-FXQL-mwzk-ZTRQ",
            "zqk_82f6e.72e9c.16ae8.b0c",
        ] {
            assert!(found(&format!("we set {token} on Monday")), "{token}");
        }
        for name in [
            "open-data-test-name-that",
            "fe80:0000:0000:0000:0202:b3ff:fe1e:8329",
            "2026-11-22-10-00-00",
            "AtomicU32.AtomicU64.AtomicI32",
            "kube-node-pool-data-x2x4z",
            "0002:c903:00a1:b2c3",
            "sm_80,sm_86,sm_89,sm_90",
        ] {
            assert!(!found(&format!("we set {name} on Monday")), "{name}");
        }
    }
}
