//! What no reader can explain does not leave in clear: words that were drawn by a machine, unless their place or their
//! value says what they are (digests, ids, public keys, names of chains). What stays is data in `explained`.

mod alone;
mod hex;
mod parts;
mod signs;

pub(super) use hex::note_only_id;

use std::ops::Range;

use super::explained::{self, Said, by_place};
use super::known::Known;
use super::marker::Marker;
use super::random::{MIN_DRAWN, Sorts, drawn_of, short_drawn, surprise};
use super::{MAX_DEPTH, clean_text, encoded};
use alone::{is_issued, padded, stands_alone};
use hex::{as_text, hexadecimal, issued_hex};
use parts::strange;

/// The placeholder's class.
pub(super) const CLASS: &str = "unexplained";
/// Fewer hexadecimal digits are an id.
pub(super) const MIN_HEX: usize = 18;

/// What a word is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Found {
    /// Nothing explains it.
    Drawn(Range<usize>),
    /// Hexadecimal digits of a text.
    Hex(Range<usize>),
}

/// Letters and digits, of which words are.
static WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = byte.is_ascii_alphanumeric();
        byte += 1;
    }
    table
};

/// Letters, digits and the marks that join them in names and tokens.
static RUN: [bool; 256] = {
    let mut table = WORD;
    table[b'-' as usize] = true;
    table[b'_' as usize] = true;
    table
};

/// The next word of letters and digits that is long enough, at or behind `from`.
fn next_word(bytes: &[u8], from: usize) -> Option<Range<usize>> {
    let mut at = from;
    while at + MIN_DRAWN <= bytes.len() {
        // A word of this length holds one of every eleventh bytes; most are passed over here.
        let probe = at + MIN_DRAWN - 1;
        if !WORD[usize::from(bytes[probe])] {
            at = probe + 1;
            continue;
        }
        let start = bytes[at..probe]
            .iter()
            .rposition(|byte| !WORD[usize::from(*byte)])
            .map_or(at, |place| at + place + 1);
        let end = bytes[probe..]
            .iter()
            .position(|byte| !WORD[usize::from(*byte)])
            .map_or(bytes.len(), |length| probe + length);
        if end - start >= MIN_DRAWN {
            return Some(start..end);
        }
        at = end;
    }
    None
}

/// A word without the letters of an escape in front of it: `\nAbc`, `\u0026Abc`.
fn without_escape(bytes: &[u8], word: Range<usize>) -> Range<usize> {
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

/// So many letters without a number are none that was drawn: of one case, and of both.
const ONE_CASE: usize = 20;
const MIXED: usize = 14;

/// The next thing that nothing explains, or that is a text in hexadecimal digits.
fn next(bytes: &[u8], from: usize, known: &Known) -> Option<Found> {
    let word = next_drawn(bytes, from, known);
    let begin = |found: &Found| match found {
        Found::Drawn(place) | Found::Hex(place) => place.start,
    };
    let end = word.as_ref().map_or(bytes.len(), begin);
    match signs::next(bytes, from, end) {
        Some(signs) if signs.start <= end => Some(Found::Drawn(signs)),
        _ => word,
    }
}

/// The same of what holds words.
fn next_drawn(bytes: &[u8], from: usize, known: &Known) -> Option<Found> {
    let mut at = from;
    while let Some(run) = next_run(bytes, at) {
        at = run.end;
        let sorts = Sorts::of(&bytes[run.clone()]);
        // Words of one case without a number, as most names are.
        if sorts.digits == 0 && run.len() < ONE_CASE && (sorts.upper == 0 || run.len() < MIXED) {
            continue;
        }
        let (mut start, mut placed) = (run.start, false);
        while let Some(word) = next_word(&bytes[..run.end], start) {
            match judge(bytes, from, word.clone(), known) {
                Judged::Found(found) => return Some(found),
                Judged::Written => start = word.end,
                Judged::Explained(end) => {
                    start = end.max(word.end);
                    placed = true;
                }
            }
        }
        if !placed && let Some(found) = strange(bytes, &run, sorts) {
            return Some(found);
        }
        at = at.max(start);
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
fn judge(bytes: &[u8], from: usize, word: Range<usize>, known: &Known) -> Judged {
    let word = without_escape(bytes, word);
    let text = &bytes[word.clone()];
    if text.len() < MIN_DRAWN {
        return Judged::Written;
    }
    let digits = text.strip_prefix(b"0x").unwrap_or(text);
    let sorts = Sorts::of(digits);
    if sorts.beyond_hex == 0 {
        let place = word.end - digits.len()..word.end;
        let found = hexadecimal(bytes, &word, place, sorts, known);
        return found.map_or(Judged::Written, Judged::Found);
    }
    let sorts = if digits.len() == text.len() {
        sorts
    } else {
        Sorts::of(text)
    };
    let short = || stands_alone(bytes, &word) && short_drawn(text, sorts);
    let issued = || {
        sorts.upper > 0
            && is_issued(bytes, &word)
            && (short_drawn(text, sorts) || padded(bytes, &word))
    };
    if !drawn_of(text, sorts) && !short() && !issued() && !padded(bytes, &word) {
        let issued = issued_hex(text) && explained::hex(bytes, &word, text.len()) == Said::Nothing;
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

/// The next run of letters, digits, `-` and `_` that is long enough, at or behind `from`.
fn next_run(bytes: &[u8], from: usize) -> Option<Range<usize>> {
    let mut at = from;
    while at + MIN_DRAWN <= bytes.len() {
        // A run of this length holds one of every eleventh bytes; most are passed over here.
        let probe = at + MIN_DRAWN - 1;
        if !RUN[usize::from(bytes[probe])] {
            at = probe + 1;
            continue;
        }
        let start = bytes[at..probe]
            .iter()
            .rposition(|byte| !RUN[usize::from(*byte)])
            .map_or(at, |place| at + place + 1);
        let end = bytes[probe..]
            .iter()
            .position(|byte| !RUN[usize::from(*byte)])
            .map_or(bytes.len(), |length| probe + length);
        if end - start >= MIN_DRAWN {
            return Some(start..end);
        }
        at = end;
    }
    None
}

/// Where the first thing begins that nothing explains.
pub(super) fn first(bytes: &[u8], known: &Known) -> Option<usize> {
    first_from(bytes, 0, known)
}

/// The same, at or behind a place.
pub(super) fn first_from(bytes: &[u8], from: usize, known: &Known) -> Option<usize> {
    next(bytes, from, known).map(|(Found::Drawn(place) | Found::Hex(place))| place.start)
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
fn encoded_text(bytes: &[u8], word: &Range<usize>) -> bool {
    let digit = |byte: &&u8| WORD[usize::from(**byte)] || b"+/_-".contains(byte);
    let before = bytes[..word.start].iter().rev().take_while(digit).count();
    let behind = bytes[word.end..].iter().take_while(digit).count();
    let run = &bytes[word.start - before..word.end + behind];
    // An issuer's prefix makes a token of it.
    let issued = run.iter().take(7).position(|byte| *byte == b'_');
    if issued.is_some_and(|at| at > 1 && run[at + 1..].starts_with(b"eyJ")) {
        return false;
    }
    let plain = || bytes[word.clone()].trim_ascii_end();
    [run, plain()]
        .iter()
        .any(|run| std::str::from_utf8(run).is_ok_and(encoded::holds_text))
}

/// Replaces in a text what nothing explains.
pub(super) fn clean(text: String, depth: usize, marker: &mut Marker) -> String {
    if !marker.guesses {
        return text;
    }
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    let known = marker.known();
    while let Some(found) = next(text.as_bytes(), at, &known) {
        let (Found::Drawn(place) | Found::Hex(place)) = found.clone();
        at = place.end;
        if let Some(with) = replacement(&found, &text[place.clone()], depth, marker) {
            out.push_str(&text[copied..place.start]);
            out.push_str(&with);
            copied = place.end;
        }
    }
    if copied == 0 {
        return text;
    }
    out.push_str(&text[copied..]);
    out
}

/// What stands for a place; none where it stays.
fn replacement(found: &Found, text: &str, depth: usize, marker: &mut Marker) -> Option<String> {
    match found {
        Found::Drawn(_) => (!marker.keeps(text)).then(|| marker.stand_in(CLASS, text.as_bytes())),
        Found::Hex(_) if depth >= MAX_DEPTH => None,
        Found::Hex(_) => {
            let inner = as_text(text.as_bytes())?;
            let cleaned = clean_text(&inner, depth + 1, marker);
            (cleaned != inner).then(|| {
                let upper = text.bytes().any(|byte| byte.is_ascii_uppercase());
                let hex = casefile_bundle::hex(cleaned.as_bytes());
                if upper { hex.to_ascii_uppercase() } else { hex }
            })
        }
    }
}

/// The same within a part of a line of JSON, whose names explain what follows them: places, and what stands there
/// instead.
pub(super) fn replacements(
    line: &str,
    part: &Range<usize>,
    depth: usize,
    marker: &mut Marker,
) -> Vec<(Range<usize>, String)> {
    let mut all = Vec::new();
    let mut at = part.start;
    let known = marker.known();
    while let Some(found) =
        next(&line.as_bytes()[..part.end], at, &known).filter(|_| marker.guesses)
    {
        let (Found::Drawn(place) | Found::Hex(place)) = found.clone();
        at = place.end;
        let with = replacement(&found, &line[place.clone()], depth, marker);
        all.extend(with.map(|with| (place, with)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;

    fn cleaned(text: &str) -> String {
        clean(text.to_owned(), 0, &mut Marker::new(Key::fixed()))
    }

    #[test]
    fn a_drawn_word_is_replaced_and_the_text_around_it_stays() {
        let token = "q7ZkP2mXv9".repeat(2);
        for text in [
            format!("login as joe with {token} failed"),
            format!("a:\n  - \"{token}\"\n"),
            format!("{{\"x\":\"\\n{token}\"}}"),
        ] {
            let out = cleaned(&text);
            assert!(
                !out.contains(&token) && out.contains("<redacted:unexplained:"),
                "{out}"
            );
            assert_eq!(cleaned(&out), out);
        }
        assert!(cleaned(&format!("{{\"x\":\"\\n{token}\"}}")).starts_with("{\"x\":\"\\n<redacted"));
    }

    fn uuid(hex: &str) -> String {
        format!(
            "{}-{}-{}-{}-{}",
            &hex[..8],
            &hex[8..12],
            &hex[..4],
            &hex[4..8],
            &hex[4..16]
        )
    }

    #[test]
    fn ids_that_nothing_explains_go_unless_their_place_explained_them_before() {
        let hex = "0a1b2c3d4e5f6a7b".repeat(2);
        let key = Key::fixed();
        let clean = |text: String| clean(text, 0, &mut Marker::new(key.clone()));
        for id in [hex.clone(), uuid(&hex)] {
            let said = format!("gpu-node-7 app: cannot use {id} here");
            assert!(!clean(said.clone()).contains(&id));
            assert!(clean(format!("pod_uid={id}")).contains(&id));
            assert!(clean(said).contains(&id));
        }
        for secret in [
            "IZAT6SA-AJUQES1-BZWZYWJ-VDIXPVG",
            "1shm0lth54a04-b1llz300-qb33nsh_3p8ta8z33",
            "sk_~8ElK98zT#l,ZkOK!o=",
            "kX3-a9K_b2Q-7fLq8Z",
            "ai$oy@v8w9-$rcawnt^87rv3-9k0t&srbc8v",
            "u/n0r+9rql3qq2qxvkp==",
            "ZQKT-8F3K2QX7M4WZ9TBC",
            "2/0a1b2c3d4e5f6a7b8c9d0e1f",
        ] {
            assert!(
                !clean(format!("we set {secret} on Monday")).contains(secret),
                "{secret}"
            );
        }
    }

    #[test]
    fn what_its_place_explains_stays() {
        let hex = "0a1b2c3d4e5f6a7b".repeat(4);
        for text in [
            format!("image nvcr.io/nvidia/cuda@sha256:{hex}"),
            format!("StopPodSandbox for \"{hex}\""),
            format!("/run/containerd/io.containerd.runtime.v2.task/k8s.io/{hex}/config.json"),
            format!("_BOOT_ID={}", &hex[..32]),
            "A IN storage.googleapis.com.otnvegtkq2zujdq1a1axahua4e.xx.internal.cloudapp.net. udp"
                .to_owned(),
            format!(
                "gpu-node-7 kernel: XFS (sda1): Mounting filesystem {}",
                uuid(&hex)
            ),
            format!("{{\"container_id\":\"{}\"}}", &hex[..32]),
            "ED25519 key SHA256:Zk3pQ7xV9mB2nL8cR4tY6wE1sD5fG0hJ3kA7uI9oP2q fits".to_owned(),
            "-A cali-PREROUTING -m comment --comment \"cali:6gwbT8clXdHdC1b1\" -j RETURN"
                .to_owned(),
            "-A KUBE-SERVICES -j KUBE-SVC-TCOU7JCQXEZGVUNU".to_owned(),
        ] {
            assert_eq!(cleaned(&text), text);
        }
    }
}
