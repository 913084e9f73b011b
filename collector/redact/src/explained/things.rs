//! Sentences that speak of something that has ids.

use std::sync::LazyLock;

use super::asked::ask;
use super::ends_in;
use super::lower::Words;

/// What has ids, or is one: a sentence with such a word explains the hexadecimal digits in it.
pub(super) static THINGS: LazyLock<Words> = LazyLock::new(|| {
    Words::of(
        "array blob block boot bridge btime btrfs build bus cgroup checksum claim claims cluster commit conmon \
     container containerd containers controller crio cursor daemon device devices digest disk dockerd drive \
     endpoint etcd event ext filesystem fingerprint gpu gpus guest guid hash hca holder host id identity ids \
     image images initiator instance interface invocation job layer leader lease luks lun lvm machine manifest \
     member mig mount mounted mounting namespace netns network node nodes object operation partition peer pid \
     pod pods podsandbox port pv pvc raft raid replica resource revision runc sandbox scope serial sha shim \
     slice snapshot snapshots snapshotter span subsystem sum swap target task tenant term thumbprint topology trace \
     transaction uid unit unmounting uuid version vm volume volumes vote worker xfs zpool",
    )
});

/// A sentence is read this far around an id.
pub(super) const SENTENCE: usize = 200;
const BEHIND: usize = 48;
/// A word that stands so many words in front of a long id, or is the first one behind it, speaks of that id.
const NEAR: usize = 7;

/// Whether a sentence speaks of something that has ids: of a long one nearby, since a token is as long.
pub(super) fn sentence_names_it(bytes: &[u8], line: &[u8], end: usize, long: bool) -> bool {
    ask(SENTENCE, BEHIND);
    let before = &line[line.len().saturating_sub(SENTENCE)..];
    // Of JSON, the string that holds it.
    let begins = |at: &usize| {
        let front = &before[..*at];
        [&b"\":"[..], b"\",", b"{", b"["]
            .iter()
            .any(|mark| front.ends_with(mark))
    };
    let begin = memchr::memrchr_iter(b'"', before).find(begins);
    let before = without_speaker(&before[begin.map_or(0, |at| at + 1)..]);
    let behind = &bytes[end..bytes.len().min(end + BEHIND)];
    let stop = memchr::memchr2(b'\n', b'"', behind).unwrap_or(behind.len());
    let behind = &behind[..stop];
    match long {
        true => names_thing(last_words(before)) || names_behind(first_word(behind), bytes, end),
        false => names_thing(before) || names_thing(behind),
    }
}

/// Whether the first word behind an id says what it is: no sum is written as a UUID is.
fn names_behind(word: &[u8], bytes: &[u8], end: usize) -> bool {
    let parted = bytes[..end]
        .iter()
        .rev()
        .take(UUID_END + 1)
        .any(|byte| *byte == b'-');
    let sum = || SUMS.iter().any(|sum| ends_in(word, sum.as_bytes()));
    names_thing(word) && !(parted && sum())
}

/// The last part of a UUID has so many digits.
const UUID_END: usize = 12;
/// What sums are called.
const SUMS: [&str; 4] = ["digest", "checksum", "sum", "hash"];

/// `trace: sent ...`: who speaks is not what is spoken of.
fn without_speaker(sentence: &[u8]) -> &[u8] {
    let name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte);
    let length = sentence.iter().take_while(name).count();
    match &sentence[length..] {
        [b':', b' ', rest @ ..] if length > 0 => rest,
        _ => sentence,
    }
}

/// The last few words of a text; digits and what they are tied to are none.
fn last_words(text: &[u8]) -> &[u8] {
    let blank = |byte: &u8| byte.is_ascii_whitespace();
    let mut words = 0;
    let mut at = text.len();
    while at > 0 && words < NEAR {
        let start = text[..at].iter().rposition(blank).map_or(0, |at| at + 1);
        let letters = text[start..at].iter().any(u8::is_ascii_alphabetic);
        let digits = text[start..at].iter().any(u8::is_ascii_digit);
        words += usize::from(letters && !digits);
        at = start.saturating_sub(1);
    }
    &text[at..]
}

fn first_word(text: &[u8]) -> &[u8] {
    let letter = |byte: &u8| byte.is_ascii_alphabetic();
    let start = text.iter().position(letter).unwrap_or(text.len());
    let length = text[start..].iter().take_while(|byte| letter(byte)).count();
    &text[..start + length]
}

/// Algorithms whose name makes a thing of a sum: its letters, and the digits behind them.
pub(super) const ALGORITHMS: [(&[u8], &[u8]); 4] = [
    (b"sha", b"256"),
    (b"sha", b"512"),
    (b"sha", b"1"),
    (b"md", b"5"),
];

/// Whether letters and what stands behind them hold the name of an algorithm.
fn is_algorithm(letters: &[u8], behind: &[u8]) -> bool {
    let named =
        |(name, number): &(&[u8], &[u8])| letters.ends_with(name) && behind.starts_with(number);
    // Most words end otherwise.
    matches!(letters.last(), Some(b'a' | b'd')) && ALGORITHMS.iter().any(named)
}

/// Names of machines are made of such words too (`gpu-node-7`): what a dash or a digit ties to others does not count.
fn names_thing(text: &[u8]) -> bool {
    let mut at = 0;
    while let Some(found) = text[at..].iter().position(u8::is_ascii_alphabetic) {
        let start = at + found;
        let length = text[start..]
            .iter()
            .take_while(|byte| byte.is_ascii_alphabetic())
            .count();
        at = start + length;
        let tied =
            |byte: Option<&u8>| byte.is_some_and(|byte| *byte == b'-' || byte.is_ascii_digit());
        if is_algorithm(&text[start..at], &text[at..]) {
            return true;
        }
        let apart = !tied(text.get(at)) && !tied(start.checked_sub(1).and_then(|at| text.get(at)));
        if apart && (2..=40).contains(&length) && is_thing(&text[start..at]) {
            return true;
        }
    }
    false
}

/// Whether one of the words in a name like `StopPodSandbox` is a thing.
fn is_thing(word: &[u8]) -> bool {
    let mut from = 0;
    (1..=word.len()).any(|at| {
        let ends = at == word.len()
            || (word[at].is_ascii_uppercase() && word[at - 1].is_ascii_lowercase());
        if !ends {
            return false;
        }
        THINGS.has(&word[std::mem::replace(&mut from, at)..at])
    })
}
