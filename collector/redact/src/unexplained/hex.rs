//! Hexadecimal digits: ids, sums and keys look alike, so their place or their value elsewhere in the run decides.

use std::ops::Range;

use super::super::escapes::behind_letter;
use super::super::explained::{self, Said, ask_digits, ask_ids};
use super::super::known::{Ids, Known};
use super::super::random::{Sorts, varied};
use super::super::table::all_hex;
use super::alone::stands_alone;
use super::issuer::around;
use super::tokens::{RUN, WORD};
use super::{Found, MIN_HEX};

/// Whether a word is hexadecimal digits behind a few letters: `eu01xxbfd4a807e4099453ba160493119a126319cb`. Fewer of them
/// count where the word stands alone.
pub(super) fn issued_hex(bytes: &[u8], word: &Range<usize>) -> bool {
    let text = &bytes[word.clone()];
    let length = text
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_hexdigit())
        .count();
    let letters = text.len() - length;
    let few = length >= ISSUED_ALONE && letters > 1;
    if letters > 8 || !(few || length >= ISSUED) {
        return false;
    }
    let sorts = Sorts::of(&text[letters..]);
    sorts.digits > 5
        && sorts.lower + sorts.upper > 2
        && (length >= ISSUED || stands_alone(bytes, word))
}

/// So many hexadecimal digits behind an issuer's letters are no version.
const ISSUED: usize = 20;
/// Or so many, alone.
const ISSUED_ALONE: usize = 16;

/// Hexadecimal digits: a text in them, a UUID, or an id or key of another form.
pub(super) fn hexadecimal(
    bytes: &[u8],
    word: &Range<usize>,
    place: Range<usize>,
    sorts: Sorts,
    ids: &Ids<'_>,
) -> Option<Found> {
    let digits = &bytes[place.clone()];
    if digits.len() == UUID_END
        && let Some(uuid) = uuid(bytes, word).or_else(|| glued_uuid(bytes, word))
    {
        let drawn =
            bytes[uuid.clone()].iter().any(u8::is_ascii_digit) && foreign(bytes, &uuid, 36, ids);
        return drawn.then_some(Found::Drawn(uuid));
    }
    if digits.len() == BOOTSTRAP
        && let Some(token) = bootstrap(bytes, word)
    {
        return Some(Found::Drawn(token));
    }
    let number = sorts.lower + sorts.upper == 0;
    // Texts of digits and signs (hexadecimal digits once more, `%44%42`) are written with digits alone.
    if number && digits.len() >= TWICE && as_text(digits).is_some() {
        return Some(Found::Hex(place));
    }
    if number && digits.len() >= LONG_NUMBER && stands_alone(bytes, word) && varied(digits) {
        return foreign(bytes, word, digits.len(), ids).then_some(Found::Drawn(place));
    }
    let short = digits.len() < MIN_HEX;
    if short || sorts.digits == 0 || number {
        let found = short
            && sorts.digits > 2
            && sorts.lower + sorts.upper > 0
            && short_hex(bytes, word, sorts);
        return found.then_some(Found::Drawn(place));
    }
    if as_text(digits).is_some() {
        return Some(Found::Hex(place));
    }
    // No program writes an id in both cases.
    if sorts.lower > 2 && sorts.upper > 2 && sorts.digits > 2 {
        return Some(Found::Drawn(place));
    }
    (foreign(bytes, word, digits.len(), ids)).then(|| Found::Drawn(with_tail(bytes, place)))
}

/// So many digits are no number.
const TWICE: usize = 40;
/// And so many that stand alone count nothing.
const LONG_NUMBER: usize = 24;

/// Whether neither its place nor, elsewhere in this run, its value explains an id.
fn foreign(bytes: &[u8], word: &Range<usize>, length: usize, ids: &Ids<'_>) -> bool {
    // What is known of an id may change.
    explained::ask(0, 0);
    if ids.has(word) {
        ask_ids();
        return false;
    }
    match explains(bytes, word, length) {
        Said::Named => {
            ask_ids();
            ids.note(word);
        }
        Said::Likely => {}
        Said::Nothing => return true,
    }
    false
}

/// A key of 64 bits, as `m_key set to 0x...` says it.
const MIN_KEY: usize = 16;

/// So few hexadecimal digits are an id, unless they stand alone or behind a word like `key`.
pub(super) const MIN_SHORT: usize = 14;

/// Whether nothing explains so few hexadecimal digits.
fn short_hex(bytes: &[u8], word: &Range<usize>, sorts: Sorts) -> bool {
    ask_digits();
    let text = &bytes[word.clone()];
    // Addresses of the kernel, numbers with zeros in front.
    let address = ["ffff", "0000"]
        .iter()
        .any(|begin| text.starts_with(begin.as_bytes()));
    if let Some(digits) = text.strip_prefix(b"0x") {
        let zeros = [&b"0000"[..], b"ffff"];
        let number = zeros.iter().any(|begin| digits.starts_with(begin));
        return digits.len() >= MIN_KEY && !number && explained::keyed(&bytes[..word.start]);
    }
    if text.len() < MIN_SHORT - 2 || address {
        return false;
    }
    if let Some(issued) = issued_short(bytes, word) {
        return issued;
    }
    let edge = |byte: Option<&u8>| byte.is_none_or(|byte| b" \t\r\n\"'[](){},;".contains(byte));
    let dot = bytes.get(word.end) == Some(&b'.') && edge(bytes.get(word.end + 1));
    let before = word.start.checked_sub(1).and_then(|at| bytes.get(at));
    text.len() >= MIN_SHORT
        && sorts.lower + sorts.upper > 2
        && (edge(before) || behind_letter(&bytes[..word.start]))
        && (dot || edge(bytes.get(word.end)))
        && !explained::has_name(&bytes[..word.start])
        && explained::hex(bytes, word, text.len()) == Said::Nothing
}

/// Whether few hexadecimal digits stand behind an issuer's words rather than behind the name of an object: `zq_live_`,
/// `ZQKT-`. None where no sign stands in front of them.
fn issued_short(bytes: &[u8], word: &Range<usize>) -> Option<bool> {
    let mark = *bytes[..word.start].last()?;
    if !RUN[usize::from(mark)] && (word.len() < MIN_TAGGED || !b".~:$#+".contains(&mark)) {
        return None;
    }
    let said: [&[u8]; 6] = [b"key", b"secret", b"token", b"sk", b"pk", b"live"];
    let last = bytes[..word.start - 1]
        .rsplit(|byte| !WORD[usize::from(*byte)])
        .next();
    if RUN[usize::from(mark)] && last.is_some_and(|last| said.contains(&last)) {
        return Some(word.len() >= MIN_SHORT);
    }
    let Some(issuer) = around(bytes, word) else {
        return Some(false);
    };
    let words = issuer.words(bytes, word);
    let numbered = words.iter().any(u8::is_ascii_digit);
    let formed = match mark {
        b'_' => !numbered || word.len() >= MIN_TAGGED,
        b'-' => issuer.capitals || !unique_name(&bytes[word.clone()]),
        // What logs call by its name is a word: Fabric Manager writes `Team Handle:be1e310e660a89ee`.
        b':' => words.len() <= SHORT_NAME || several(words),
        // Events end in their time: `web-0.17f3a1c2d4e5f607`.
        b'.' => !words.contains(&b'-') && words[0].is_ascii_alphabetic() && !time(bytes, word),
        _ => words[0].is_ascii_alphabetic(),
    };
    Some(formed && explains(bytes, word, word.len()) == Said::Nothing)
}

/// So many hexadecimal digits behind a word and another mark than a dash are a token.
const MIN_TAGGED: usize = 15;

/// A name of fewer letters, with its colon, is none.
const SHORT_NAME: usize = 6;

/// Whether a sign stands between an issuer's words.
fn several(words: &[u8]) -> bool {
    words[..words.len() - 1]
        .iter()
        .any(|byte| !WORD[usize::from(*byte)])
}

/// Whether sixteen hexadecimal digits may be a time in nanoseconds.
fn time(bytes: &[u8], word: &Range<usize>) -> bool {
    ask_digits();
    matches!(
        &bytes[word.start..word.start + 2],
        b"16" | b"17" | b"18" | b"19"
    )
}

/// What explains hexadecimal digits. What an issuer puts behind them, with the sign that stands in front as well, is part
/// of them and no name that goes on: `zq_<digits>_test`.
fn explains(bytes: &[u8], word: &Range<usize>, length: usize) -> Said {
    let sign = bytes.get(word.end);
    let same = sign.is_some() && sign == bytes[..word.start].last();
    let issuer = same.then(|| around(bytes, word)).flatten();
    let end = issuer.map_or(word.end, |issuer| issuer.whole.end);
    explained::hex(bytes, &(word.start..end), length + end - word.end)
}

/// Whether hexadecimal digits behind a dash make the name of an object unique: few of them, or 17 as a cloud gives them
/// (`vol-0a1b2c3d4e5f60718`).
fn unique_name(digits: &[u8]) -> bool {
    digits.len() < MIN_HEX - 3 || (digits.len() == MIN_HEX - 1 && digits[0] == b'0')
}

/// The second part of a token that joins a cluster has so many digits.
const BOOTSTRAP: usize = 16;

/// `be8dfd.da8a689a46edc282`: a token that joins a cluster, and no event (`web-0.17f3a1c2d4e5f607`).
fn bootstrap(bytes: &[u8], word: &Range<usize>) -> Option<Range<usize>> {
    let start = word.start.checked_sub(7)?;
    let id = &bytes[start..word.start - 1];
    let alone =
        start == 0 || !(RUN[usize::from(bytes[start - 1])] || b"./".contains(&bytes[start - 1]));
    let small = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let token = bytes[word.start - 1] == b'.'
        && alone
        && !time(bytes, word)
        && id.iter().all(small)
        && id.iter().any(u8::is_ascii_digit);
    token.then_some(start..word.end)
}

/// The last part of a UUID has so many digits.
const UUID_END: usize = 12;

/// The UUID that a word is the last part of.
pub(super) fn uuid(bytes: &[u8], word: &Range<usize>) -> Option<Range<usize>> {
    let start = word.end.checked_sub(36)?;
    let text = &bytes[start..word.end];
    let formed = text.iter().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_alphanumeric(),
    });
    let joined =
        start > 0 && WORD[usize::from(bytes[start - 1])] && !behind_letter(&bytes[..start]);
    (formed && !joined).then_some(start..word.end)
}

/// A UUID behind letters of its issuer: `ZQ0a1b2c3d-...`. `pod0a1b2c3d-...` is what a slice is called.
fn glued_uuid(bytes: &[u8], word: &Range<usize>) -> Option<Range<usize>> {
    let start = word.end.checked_sub(36)?;
    let length = bytes[..start]
        .iter()
        .rev()
        .take(ISSUER_LETTERS + 1)
        .take_while(|byte| WORD[usize::from(**byte)])
        .count();
    // `%2F0a1b2c3d-...` and `\\t0a1b2c3d-...` hold escapes.
    if matches!(bytes[..start - length].last(), Some(b'%' | b'\\')) {
        return None;
    }
    let glued = &bytes[start - length..start];
    let issuer = (1..=ISSUER_LETTERS).contains(&length)
        && !matches!(
            glued.to_ascii_lowercase().as_slice(),
            b"pod" | b"n" | b"id" | b"uuid" | b"uid"
        );
    let formed = bytes[start..word.end]
        .iter()
        .enumerate()
        .all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    (issuer && formed).then_some(start - length..word.end)
}

/// An issuer puts no more letters in front of an id.
const ISSUER_LETTERS: usize = 6;

/// What goes on behind hexadecimal digits that do not stay: `-0a1b2c3d-4e5f6071`, as some issuers end their keys.
pub(super) fn with_tail(bytes: &[u8], place: Range<usize>) -> Range<usize> {
    let mut place = place;
    while matches!(bytes.get(place.end), Some(b'-' | b'_')) {
        let from = place.end + 1;
        let length = bytes[from..]
            .iter()
            .take_while(|byte| WORD[usize::from(**byte)])
            .count();
        let part = &bytes[from..from + length];
        if length < MIN_TAIL || !all_hex(part) {
            break;
        }
        place.end = from + length;
    }
    place
}

/// A shorter part may be a number.
const MIN_TAIL: usize = 7;

/// Hexadecimal digits in parts of no usual lengths that nothing explains: `a289-1dad-dbeeeb-2c0b1f-dc0ed546`.
/// Fewer of them count behind an issuer's words.
pub(super) fn hex_parts(bytes: &[u8], run: &Range<usize>, issued: bool) -> bool {
    let text = &bytes[run.clone()];
    let digits = text.iter().filter(|byte| byte.is_ascii_hexdigit()).count();
    let letters = text
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .count();
    let mut parts = text
        .split(|byte| !WORD[usize::from(*byte)])
        .map(<[u8]>::len);
    let first = parts.next().unwrap_or(0);
    // What is left behind parts of one length may be short.
    let (mut last, mut count, mut short) = (first, 1, false);
    for length in parts {
        short |= last < 4;
        (last, count) = (length, count + 1);
    }
    let range = count == 2 && first == last;
    digits >= if issued { ISSUED_ALONE } else { 24 }
        && letters > 3
        && !short
        && !range
        && uuid(bytes, run).is_none_or(|uuid| uuid.start != run.start)
        && explained::hex(bytes, run, run.len()) == Said::Nothing
}

/// A file that is one id (`machine-id`, `boot_id`, `product_uuid`) explains it.
pub(crate) fn note_only_id(file: &[u8], known: &Known) {
    let id = file.trim_ascii();
    let hex = id
        .iter()
        .all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
    if hex && matches!(id.len(), 32 | 36) {
        known.note(id);
    }
}

/// The text that hexadecimal digits hold.
pub(super) fn as_text(digits: &[u8]) -> Option<String> {
    ask_digits();
    let text = |digits: &[u8]| letters(digits).flatten().map(char::from).collect();
    holds_text(digits).then(|| text(digits))
}

/// Whether hexadecimal digits hold a text.
pub(crate) fn holds_text(digits: &[u8]) -> bool {
    // Most digits are those of no text from the first letter on.
    digits.len().is_multiple_of(2) && letters(digits).all(|letter| letter.is_some())
}

/// The letters of a text that each two hexadecimal digits stand for.
fn letters(digits: &[u8]) -> impl Iterator<Item = Option<u8>> {
    let value = |byte: u8| char::from(byte).to_digit(16);
    digits.chunks_exact(2).map(move |pair| {
        let byte = u8::try_from((value(pair[0])? << 4) | value(pair[1])?).ok()?;
        (matches!(byte, 32..127 | 0 | b'\t' | b'\n' | b'\r')).then_some(byte)
    })
}
