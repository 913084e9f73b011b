//! The words of a token, each long enough to be judged by itself.

use std::ops::Range;

use super::super::encoded;
use super::super::explained::{self, Said, ask_digits, by_place};
use super::super::known::Ids;
use super::super::random::{Letters, MIN_DRAWN, ONE_CASE, Sorts, surprise};
use super::Found;
use super::alone::{glued, padded, stands_alone};
use super::hex::{hexadecimal, issued_hex};
use super::issuer::{around, ending};
use super::parts::strange;
use super::tokens::{RUN, Token, WORD, next_of};

/// What of the words in a token nothing explains. `placed` is set where one was drawn, and its place says why.
pub(super) fn in_runs(
    bytes: &[u8],
    from: usize,
    token: &Token,
    ids: &Ids<'_>,
    placed: &mut bool,
) -> Option<Found> {
    let bytes_in = &bytes[..token.place.end];
    if token.digits == 0 && token.upper == 0 {
        return in_letters(bytes, from, token, ids, placed);
    }
    let mut at = token.place.start;
    while let Some(run) = next_of::<MIN_DRAWN>(&RUN, bytes_in, at) {
        at = run.end;
        let sorts = Sorts::of(&bytes[run.clone()]);
        // Words of one case without a number, as most names are.
        if sorts.digits == 0 && run.len() < ONE_CASE && (sorts.upper == 0 || sorts.lower == 0) {
            continue;
        }
        let (mut start, mut here) = (run.start, false);
        while let Some(word) = next_of::<MIN_DRAWN>(&WORD, &bytes[..run.end], start) {
            match judge(bytes, from, word.clone(), ids) {
                Judged::Found(found) => return Some(found),
                Judged::Written => start = word.end,
                Judged::Explained(end) => {
                    start = end.max(word.end);
                    here = true;
                }
            }
        }
        if !here && let Some(found) = strange(bytes, &run, sorts) {
            return Some(found);
        }
        *placed |= here;
        at = at.max(start);
    }
    None
}

/// The same where all letters are small: only long words are drawn.
fn in_letters(
    bytes: &[u8],
    from: usize,
    token: &Token,
    ids: &Ids<'_>,
    placed: &mut bool,
) -> Option<Found> {
    let mut at = token.place.start;
    while let Some(word) = next_of::<ONE_CASE>(&WORD, &bytes[..token.place.end], at) {
        at = word.end;
        match judge(bytes, from, word, ids) {
            Judged::Found(found) => return Some(found),
            Judged::Written => {}
            Judged::Explained(end) => {
                at = end.max(at);
                *placed = true;
            }
        }
    }
    None
}

/// What a word turned out to be.
enum Judged {
    /// It does not stay as it is.
    Found(Found),
    /// It was drawn and its place says why: it stays, and with it what stands up to there.
    Explained(usize),
    /// It is no random text.
    Written,
}

/// Looks at one word of at least [`MIN_DRAWN`] letters and digits.
fn judge(bytes: &[u8], from: usize, word: Range<usize>, ids: &Ids<'_>) -> Judged {
    let word = without_escape(bytes, word);
    let text = &bytes[word.clone()];
    if text.len() < MIN_DRAWN {
        return Judged::Written;
    }
    let digits = behind_zero(text);
    let sorts = Sorts::of(digits);
    if sorts.beyond_hex == 0 {
        let place = word.end - digits.len()..word.end;
        let found = hexadecimal(bytes, &word, place, sorts, ids);
        return found.map_or(Judged::Written, Judged::Found);
    }
    let sorts = if digits.len() == text.len() {
        sorts
    } else {
        Sorts::of(text)
    };
    let letters = Letters::of(text, sorts);
    let short = || {
        let ended = || stands_alone(bytes, &(word.start..ending(bytes, word.end)));
        letters.short_drawn() && (stands_alone(bytes, &word) || (sorts.lower == 0 && ended()))
    };
    // Most words are none of it; what stands around the others is looked at then.
    let issued = || {
        letters.issued_drawn(false)
            && around(bytes, &word).is_some_and(|issuer| letters.issued_drawn(issuer.object(sorts)))
    };
    if !letters.drawn() && !glued(text, sorts) && !short() && !issued() && !padded(bytes, &word) {
        let issued =
            issued_hex(bytes, &word) && explained::hex(bytes, &word, text.len()) == Said::Nothing;
        return match issued && !by_place(bytes, &word) {
            true => Judged::Found(Found::Drawn(word)),
            false => Judged::Written,
        };
    }
    let mut whole = whole(bytes, word);
    whole.start = whole.start.max(from);
    if encoded_text(bytes, &whole) || by_place(bytes, &whole) {
        return Judged::Explained(whole.end);
    }
    Judged::Found(Found::Drawn(whole))
}

/// A number without what says that it is hexadecimal.
fn behind_zero(word: &[u8]) -> &[u8] {
    if word.get(1) == Some(&b'x') {
        ask_digits();
    }
    word.strip_prefix(b"0x").unwrap_or(word)
}

/// A word without the letters of an escape in front of it: `\nAbc`, `\u0026Abc`.
pub(super) fn without_escape(bytes: &[u8], word: Range<usize>) -> Range<usize> {
    let slashes = bytes[..word.start]
        .iter()
        .rev()
        .take_while(|byte| **byte == b'\\')
        .count();
    if slashes % 2 == 0 {
        let coloured =
            bytes[..word.start].ends_with(b"%") || bytes[..word.start].ends_with(b"\x1b[");
        return if coloured {
            word.start + 2..word.end
        } else {
            word
        };
    }
    let length = match bytes[word.start] {
        b'u' => 5,
        b'x' => 3,
        _ => 1,
    };
    (word.start + length).min(word.end)..word.end
}

/// A word with what belongs to it in base64 and in tokens: neighbours behind `+`, `/`, `-` and `_` that were drawn too.
fn whole(bytes: &[u8], word: Range<usize>) -> Range<usize> {
    let mut range = word;
    while let Some(mark) = bytes.get(range.end).filter(|byte| b"+/-_~.".contains(byte)) {
        let from = range.end + 1;
        let length = bytes[from..]
            .iter()
            .take_while(|byte| WORD[usize::from(**byte)])
            .count();
        if !belongs(*mark, &bytes[from..from + length]) {
            break;
        }
        range.end = from + length;
    }
    while let Some(mark) = range
        .start
        .checked_sub(1)
        .map(|at| bytes[at])
        .filter(|byte| b"+/-_~.".contains(byte))
    {
        let to = range.start - 1;
        let length = bytes[..to]
            .iter()
            .rev()
            .take_while(|byte| WORD[usize::from(**byte)])
            .count();
        if !belongs(mark, &bytes[to - length..to]) || bytes[..to - length].ends_with(b"\\") {
            break;
        }
        range.start = to - length;
    }
    let padding = bytes[range.end..]
        .iter()
        .take(2)
        .take_while(|byte| **byte == b'=')
        .count();
    range.start..range.end + padding
}

/// Whether a neighbour of a drawn word is part of it.
fn belongs(mark: u8, part: &[u8]) -> bool {
    let odd = || surprise(part, Sorts::of(part)) >= 0;
    match mark {
        b'+' => true,
        b'/' => part.len() > 4 && odd(),
        _ => part.len() > 5 && odd(),
    }
}

/// Whether a word is part of base64 of a text, which was looked at as what it is.
pub(super) fn encoded_text(bytes: &[u8], word: &Range<usize>) -> bool {
    ask_digits();
    let digit = |byte: &&u8| WORD[usize::from(**byte)] || b"+/_-".contains(byte);
    let before = bytes[..word.start].iter().rev().take_while(digit).count();
    let behind = bytes[word.end..].iter().take_while(digit).count();
    let run = &bytes[word.start - before..word.end + behind];
    // An issuer's prefix makes a token of it.
    let issued = run.iter().take(7).position(|byte| *byte == b'_');
    if issued.is_some_and(|at| at > 1 && run[at + 1..].starts_with(b"eyJ")) {
        return false;
    }
    let read = |run: &[u8]| encoded::text(std::str::from_utf8(run).ok()?);
    let tied = before > 0 && bytes[word.start - 1] == b'_';
    let plain = || read(bytes[word.clone()].trim_ascii_end()).filter(|_| !tied);
    read(run)
        .or_else(plain)
        .is_some_and(|text| !holds_drawn(&text))
}

/// So many hexadecimal digits in base64 are a key.
const HEX_KEY: usize = 24;

/// Whether what base64 says is one word, and that was drawn itself, as keys are that are encoded once more.
fn holds_drawn(text: &[u8]) -> bool {
    // Encoded twice: the inner text says what it is.
    let inner = std::str::from_utf8(text.trim_ascii()).ok();
    if let Some(inner) = inner.and_then(encoded::text) {
        return holds_drawn(&inner);
    }
    let blank = text.iter().any(|byte| b" \t\r\n\"{".contains(byte));
    let drawn = |part: &[u8]| {
        let sorts = Sorts::of(part);
        let digits = sorts.hex() && part.len() >= HEX_KEY;
        let letters = Letters::of(part, sorts);
        digits || letters.drawn() || letters.short_drawn()
    };
    !blank
        && text
            .split(|byte| !WORD[usize::from(*byte)])
            .any(|part| part.len() >= MIN_DRAWN && drawn(part))
}
