//! Random texts by their entropy: no name, no form and no table of the redaction is used here.

use std::ops::Range;

/// A shorter text is a chance of spelling, a longer one a certificate or a document.
const LENGTHS: std::ops::RangeInclusive<usize> = 24..=120;
/// Of each sort of letters there are at least so many.
const EACH: usize = 3;
/// Shannon's entropy that a text of capitals, small letters and digits reaches when it was drawn, in bits a character.
const MIN_BITS: f64 = 3.9;
/// What stands directly in front of a digest, and how keys of SSH and certificates begin.
const SUMS: [&[u8]; 3] = [b"AAAA", b"MII", b"LS0t"];

/// What is said of such a place.
pub(super) const RANDOM: &str = "a random text that nothing explains";

/// Texts of letters and digits without order that stand alone, between blanks, quotes or brackets.
pub(super) fn find(bytes: &[u8]) -> Vec<Range<usize>> {
    let none = |byte: &u8| !byte.is_ascii_alphanumeric();
    let mut found = Vec::new();
    let mut at = 0;
    while at + LENGTHS.start() <= bytes.len() {
        // A word of this length holds one of as many bytes apart; most are passed over here.
        let probe = at + LENGTHS.start() - 1;
        if none(&bytes[probe]) {
            at = probe + 1;
            continue;
        }
        let start = bytes[at..probe]
            .iter()
            .rposition(none)
            .map_or(at, |place| at + place + 1);
        let end = bytes[probe..]
            .iter()
            .position(none)
            .map_or(bytes.len(), |length| probe + length);
        at = end;
        let word = &bytes[start..end];
        if LENGTHS.contains(&word.len()) && alone(bytes, start, end) && random(word) {
            found.push(start..end);
        }
    }
    found
}

/// Whether a word is no part of a path, a name or a line of base64.
fn alone(bytes: &[u8], start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).map(|at| bytes[at]);
    let behind = bytes.get(end).copied();
    let open = before.is_none_or(|byte| b" \t\n\"'=(<[{,".contains(&byte));
    let closed = behind.is_none_or(|byte| b" \t\r\n\"'\\)>]},;".contains(&byte));
    let line_of_its_own = before.is_none_or(|byte| b" \t\n".contains(&byte))
        && behind.is_none_or(|byte| b"\r\n".contains(&byte))
        && matches!(end - start, 64 | 70 | 76);
    open && closed && !line_of_its_own
}

fn random(word: &[u8]) -> bool {
    let count = |sort: fn(&u8) -> bool| word.iter().filter(|byte| sort(byte)).count();
    let sorts = [
        count(u8::is_ascii_uppercase),
        count(u8::is_ascii_lowercase),
        count(u8::is_ascii_digit),
    ];
    let changes = word
        .windows(2)
        .filter(|two| sort(two[0]) != sort(two[1]))
        .count();
    sorts.iter().all(|sort| *sort >= EACH)
        && changes * 5 >= word.len() * 2
        && !SUMS.iter().any(|begin| word.starts_with(begin))
        && super::forms::bits(word) >= MIN_BITS
}

fn sort(byte: u8) -> u8 {
    match byte {
        b'A'..=b'Z' => 0,
        b'a'..=b'z' => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_texts_are_found_and_names_digests_and_keys_are_not() {
        let random = "q7ZkP2mXv9Lw4RtB0cYhD6sF";
        for text in [
            format!("login with {random} failed"),
            format!("{{\"x\":\"{random}\"}}"),
        ] {
            assert_eq!(find(text.as_bytes()).len(), 1, "{text}");
        }
        for text in [
            "preferredDuringSchedulingIgnoredDuringExecution2 x".to_owned(),
            format!("key SHA256:{random} fits"),
            format!("ssh-rsa AAAA{random}AAAA{random} a@b"),
            format!("/var/lib/{random}/x dm-uuid-LVM-{random}"),
            format!("a\n{}\nb", "q7ZkP2mXv9Lw4RtB".repeat(4)),
            "0a1b2c3d4e5f6a7b0a1b2c3d4e5f6a7b".to_owned(),
        ] {
            assert!(find(text.as_bytes()).is_empty(), "{text}");
        }
    }
}
