//! Base64 inside text: decoded, cleaned as what it is (text, or gzip of text) and encoded again where anything was
//! replaced, so that it stays base64 of the same kind of document.

use std::borrow::Cow;
use std::io::{Read as _, Write as _};
use std::ops::Range;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use regex::Regex;

use super::alike::{Alike, Others, Zeros};
use super::marker::Marker;
use super::{MAX_DEPTH, clean_text, escapes};

/// Shorter runs hold no document.
const MIN_RUN: usize = 16;
/// The most that base64 of gzip may inflate to.
const MAX_INFLATED: u64 = 16 << 20;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::Indifferent);
const PLAIN: GeneralPurpose = GeneralPurpose::new(&STANDARD, LENIENT);
const URL: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT);

/// What a legacy key of NGC is the base64 of.
static NGC_KEY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new("^[a-z0-9]{26}:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$").ok()
});

/// The value of each digit of base64, in both alphabets; [`NONE`] of what is none.
static SIX: [u8; 256] = {
    let mut table = [NONE; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => NONE,
        };
        byte += 1;
    }
    table
};
/// No digit; its lower six bits are those of the digit for nothing.
const NONE: u8 = 64;

/// The next run of digits long enough, at or behind `from`, whose beginning decodes to text or gzip.
fn next_run(bytes: &[u8], from: usize) -> Option<Range<usize>> {
    let none = |byte: &u8| SIX[usize::from(*byte)] == NONE;
    let mut at = from;
    while at + MIN_RUN <= bytes.len() {
        // A run of this length holds one of every sixteenth bytes; most lines end here.
        let probe = at + MIN_RUN - 1;
        if none(&bytes[probe]) {
            at = probe + 1;
            continue;
        }
        let start = bytes[at..probe]
            .iter()
            .rposition(none)
            .map_or(at, |place| at + place + 1);
        // `one\nQWxh...`: the first letter belongs to an escape.
        let start = start + escapes::letters(bytes, start);
        let end = bytes[probe..]
            .iter()
            .position(none)
            .map_or(bytes.len(), |length| probe + length);
        if end - start >= MIN_RUN && promising(&bytes[start..start + MIN_RUN]) {
            let padding = bytes[end..]
                .iter()
                .take(2)
                .take_while(|b| **b == b'=')
                .count();
            return Some(start..end + padding);
        }
        at = end;
    }
    None
}

/// Whether a run begins as a text or gzip does, and an id stands in its beginning.
pub(crate) fn begins_with(bytes: &[u8], id: &Range<usize>) -> bool {
    let front = bytes[..id.start].iter().rev().take(MIN_RUN);
    let length = front.take_while(|byte| SIX[usize::from(**byte)] != NONE);
    let start = id.start - length.count();
    let start = start + escapes::letters(bytes, start);
    let head = bytes.get(start..start + MIN_RUN);
    start + MIN_RUN > id.start && head.is_some_and(promising)
}

/// Whether a run may begin as a text or gzip does in others of a text. Runs that ids begin do not, whatever the digits are.
pub(crate) fn digits_may_tell(text: &Alike<'_>, all: &Zeros, others: Others) -> bool {
    let zeros = &*all.text;
    let mut at = 0;
    let mut runs = zeros.split(|byte| SIX[usize::from(*byte)] == NONE);
    runs.any(|run| {
        let start = at + escapes::letters(zeros, at);
        at += run.len() + 1;
        let head = zeros[start..].first_chunk::<MIN_RUN>();
        let place = all.place(&(start..start + MIN_RUN));
        start + MIN_RUN < at
            && text.ids(&place).is_empty()
            && head.is_some_and(may_promise)
            && text.is_free(&place, others)
    })
}

/// Whether a run that begins so may begin as a text or gzip does, were its zeros other digits.
fn may_promise(head: &[u8; MIN_RUN]) -> bool {
    let (fours, _) = head.as_chunks::<4>();
    let number = head.iter().all(|byte| *byte == b'0');
    if number || !head.contains(&b'0') || fours[0] == *b"H0sI" {
        return fours[0] == *b"H0sI";
    }
    let in_no_text =
        |byte: &u8| CONTROL[usize::from(*byte)] || matches!(byte, 0xc0 | 0xc1 | 0xf5..);
    let mut fixed = fours.iter().flat_map(fixed);
    let begins = fixed
        .next()
        .is_none_or(|(place, first)| place > 0 || first & 0xc0 != 0x80);
    begins
        && !fours
            .iter()
            .flat_map(self::fixed)
            .any(|(_, byte)| in_no_text(&byte))
}

/// Those of the bytes that four digits stand for which are the same with other digits for zeros, and their places: the first two
/// bits of all decimal digits are set.
fn fixed(four: &[u8; 4]) -> impl Iterator<Item = (usize, u8)> {
    let bytes = three(four);
    let open = four.map(|byte| byte == b'0');
    let fixed = [!open[0], !open[1] && !open[2], !open[2] && !open[3]];
    (0..3).zip(bytes).filter(move |(place, _)| fixed[*place])
}

/// Whether the first digits of a run decode to what begins a text or gzip.
fn promising(head: &[u8]) -> bool {
    // A number is none: no letter of ASCII is written with decimal digits alone.
    if head.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let mut decoded = [0_u8; 12];
    let (threes, _) = decoded.as_chunks_mut::<3>();
    let (fours, _) = head.as_chunks::<4>();
    for (place, (three, four)) in threes.iter_mut().zip(fours).enumerate() {
        *three = self::three(four);
        // Most chance runs end here.
        if holds_control(three) {
            return place == 0 && *three == GZIP;
        }
        if place == 0 && !begins_text(three) {
            return false;
        }
    }
    // A character may be cut at the end of the head.
    match std::str::from_utf8(&decoded) {
        Ok(text) => printable(text),
        Err(error) => {
            error.error_len().is_none()
                && std::str::from_utf8(&decoded[..error.valid_up_to()]).is_ok_and(printable)
        }
    }
}

/// The bytes that four digits stand for.
fn three(four: &[u8; 4]) -> [u8; 3] {
    let bits = four.iter().fold(0_u32, |bits, byte| {
        (bits << 6) | u32::from(SIX[usize::from(*byte)] % NONE)
    });
    let [_, first, second, third] = bits.to_be_bytes();
    [first, second, third]
}

/// How gzip begins.
const GZIP: [u8; 3] = [0x1f, 0x8b, 8];

fn holds_control(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| CONTROL[usize::from(*byte)])
}

/// Whether a text may begin with these bytes: no character begins with a continuation byte, and one stands behind the first
/// byte of every character that has more of them.
fn begins_text(bytes: &[u8]) -> bool {
    let goes_on = |byte: u8| byte & 0xc0 == 0x80;
    !goes_on(bytes[0]) && goes_on(bytes[1]) == (bytes[0] >= 0x80)
}

/// Control characters that stand in no text.
static CONTROL: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] =
            byte.is_ascii_control() && !matches!(byte, b'\n' | b'\r' | b'\t' | b'\x1b');
        byte += 1;
    }
    table
};

/// Where the first thing begins that may be an encoded text.
pub(crate) fn first(bytes: &[u8]) -> Option<usize> {
    next_run(bytes, 0).map(|run| run.start)
}

/// Whether something that may be an encoded text stands anywhere.
pub(crate) fn possible(bytes: &[u8]) -> bool {
    first(bytes).is_some()
}

/// Cleans what is encoded in a line.
pub(crate) fn clean<'a>(text: Cow<'a, str>, depth: usize, marker: &mut Marker) -> Cow<'a, str> {
    if depth >= MAX_DEPTH {
        return text;
    }
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(run) = next_run(text.as_bytes(), at) {
        at = run.end;
        if let Some(cleaned) = document(&text[run.clone()], depth, marker) {
            out.push_str(&text[copied..run.start]);
            out.push_str(&cleaned);
            copied = run.end;
        }
    }
    if copied == 0 {
        return text;
    }
    out.push_str(&text[copied..]);
    out.into()
}

/// One run of base64; none where it holds no text or nothing in it was replaced.
pub(crate) fn document(run: &str, depth: usize, marker: &mut Marker) -> Option<String> {
    let engine = if run.contains(['-', '_']) {
        &URL
    } else {
        &PLAIN
    };
    let bytes = decode(run, engine)?;
    let cleaned = if bytes.starts_with(&[0x1f, 0x8b]) {
        gzip(&bytes, depth, marker)?
    } else {
        let text = String::from_utf8(bytes).ok()?;
        if NGC_KEY.as_ref().is_some_and(|key| key.is_match(&text)) {
            return Some(marker.mark("ngc-key", run.as_bytes()));
        }
        let cleaned = marker.key().anonymous(clean_text(&text, depth + 1, marker));
        (cleaned != text).then(|| cleaned.into_bytes())?
    };
    Some(engine.encode(cleaned))
}

/// Whether a run is base64 of a text or of gzip.
pub(crate) fn holds_text(run: &str) -> bool {
    text(run).is_some()
}

/// The text or gzip that a run is base64 of.
pub(crate) fn text(run: &str) -> Option<Vec<u8>> {
    let engine = if run.contains(['-', '_']) {
        &URL
    } else {
        &PLAIN
    };
    let head = run.as_bytes().get(..MIN_RUN)?;
    promising(head).then(|| decode(run, engine)).flatten()
}

/// The bytes, where they are text or gzip.
fn decode(run: &str, engine: &GeneralPurpose) -> Option<Vec<u8>> {
    let usable = run.trim_end_matches('=');
    // One left-over digit is no whole byte.
    let usable = if usable.len() % 4 == 1 {
        &usable[..usable.len() - 1]
    } else {
        usable
    };
    let bytes = engine.decode(usable).ok()?;
    let gzip = bytes.starts_with(&[0x1f, 0x8b, 8]);
    (gzip || std::str::from_utf8(&bytes).is_ok_and(printable)).then_some(bytes)
}

/// The bytes that some digits of base64 stand for.
pub(crate) fn bytes(digits: &[u8]) -> Option<Vec<u8>> {
    PLAIN.decode(digits).ok()
}

fn printable(text: &str) -> bool {
    text.chars()
        .all(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t' | '\u{1b}'))
}

/// Gzip of text, cleaned and packed again; the placeholder alone where it cannot be read to its end.
fn gzip(bytes: &[u8], depth: usize, marker: &mut Marker) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let read = MultiGzDecoder::new(bytes)
        .take(MAX_INFLATED)
        .read_to_end(&mut text);
    if read.is_err() || text.len() as u64 >= MAX_INFLATED {
        return Some(marker.mark("archive", bytes).into_bytes());
    }
    let text = match String::from_utf8(text) {
        Ok(text) => text,
        Err(error) => return Some(marker.mark("archive", error.as_bytes()).into_bytes()),
    };
    let cleaned = marker.key().anonymous(clean_text(&text, depth + 1, marker));
    (cleaned != text).then(|| pack(cleaned.as_bytes()))
}

/// Gzip with the same bytes for the same content.
pub(crate) fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    // Writing to memory does not fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}
