//! Typing errors in a pasted text: a word that nobody uses and that is one slip away from exactly one word of the
//! messages that are looked for. The slack is bounded (one slip, inside a long word, never its first or last letter),
//! and what was read in this way is named.

mod words;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

pub use casefile_catalogue_files::worded::split;
pub use words::Words;
use words::is_turned;

/// Who writes a word so often means it.
const MEANT: usize = 3;
/// Words that are respelled in one text; more of them are another language and no typing errors.
const MOST: usize = 64;

/// Whether a line is a pair of JSON: a program wrote it, or its spelling is what a program reads and must not be mended.
pub fn is_json_pair(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with('"') && line.contains("\":")
}

/// A text with its typing errors mended, and what was read as what, by line from 0; none where nothing is.
pub fn respell(text: &str, words: &Words) -> Option<(String, BTreeMap<u32, String>)> {
    let mut meant: HashMap<&str, Option<String>> = HashMap::new();
    let mut told: BTreeMap<u32, String> = BTreeMap::new();
    let mut mended = String::with_capacity(text.len());
    let mut count = 0;
    let mut written: HashMap<&str, usize> = HashMap::new();
    for word in split(text) {
        *written.entry(word).or_default() += 1;
    }
    for (number, line) in (0u32..).zip(text.split_inclusive('\n')) {
        let mut rest = line;
        let is_prose = !is_json_pair(line);
        for word in split(line).filter(|_| is_prose) {
            let looked_up = meant.entry(word).or_insert_with(|| words.meant(word));
            let Some(known) = looked_up else { continue };
            // Nobody means two letters in the wrong order.
            let turned = is_turned(&word.to_ascii_lowercase(), &known.to_ascii_lowercase());
            if written.get(word).is_some_and(|times| *times >= MEANT) && !turned {
                continue;
            }
            let Some(at) = rest.find(word) else { continue };
            mended.push_str(&rest[..at]);
            mended.push_str(known);
            rest = &rest[at + word.len()..];
            let note = format!("{word:?} is read as {known:?}");
            told.entry(number)
                .and_modify(|notes| *notes = format!("{notes}, {note}"))
                .or_insert(note);
            count += 1;
        }
        mended.push_str(rest);
    }
    ((1..=MOST).contains(&count)).then_some((mended, told))
}

/// Whether a text may be a paste that a person typed into.
pub fn is_short(text: &[u8]) -> bool {
    /// Bytes; a capture is larger.
    const PASTE: usize = 16 << 10;
    text.len() <= PASTE
}

/// A text as it is shown in a sentence.
pub fn notes(told: &BTreeMap<u32, String>) -> Cow<'static, str> {
    const SHOWN: usize = 3;
    let mut shown: Vec<&str> = told.values().map(String::as_str).collect();
    let left = shown.len().saturating_sub(SHOWN);
    shown.truncate(SHOWN);
    let more = if left > 0 {
        format!(", and {left} more lines")
    } else {
        String::new()
    };
    Cow::Owned(format!(
        "{}{more}: what rests on these lines is at most likely",
        shown.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use casefile_catalogue_files::worded::words_of;

    fn words() -> Words {
        let expressions = [
            r"(?i)insufficient (?:memory|nvidia\.com/gpu)",
            "FailedScheduling",
            "containers? restarting",
            "CONTAINERD_CONFIG",
            "containerd config",
            r"no networks? found|(?:over|under)flow(?:ed|s)",
        ];
        let texts = expressions.map(words_of);
        Words::of(texts.iter().map(String::as_str))
    }

    #[test]
    fn one_slip_inside_a_word_of_a_message_is_mended_and_named() {
        for (typed, meant) in [
            (
                "0/3 nodes: Insufifcient memory",
                "0/3 nodes: Insufficient memory",
            ),
            (
                "0/3 nodes: Insuficient memory",
                "0/3 nodes: Insufficient memory",
            ),
            ("Warning FailedShceduling", "Warning FailedScheduling"),
            ("FailedSchedulnig", "FailedScheduling"),
            ("restarrting", "restarting"),
            ("insuffixient nvidia", "insufficient nvidia"),
            ("/etc/contianerd/", "/etc/containerd/"),
            ("no netowrks found", "no networks found"),
            ("undreflowed", "underflowed"),
            ("CONTIANERD_CONFIG", "CONTAINERD_CONFIG"),
        ] {
            let (mended, told) = respell(typed, &words()).unwrap();
            assert_eq!(mended, meant);
            assert_eq!(told.len(), 1, "{told:?}");
        }
    }

    #[test]
    fn another_countrys_spelling_is_no_slip() {
        let words = Words::of(["cannot synchronise", "the behaviour of the log"].into_iter());
        assert!(respell("cannot synchronize; its behavior", &words).is_none());
        assert!(words.near("synchronize").is_empty());
        assert!(respell("cannot synchrinise", &words).is_some());
    }

    #[test]
    fn letters_in_the_wrong_order_are_a_slip_however_often_they_are_copied() {
        let (mended, told) = respell("contianerd\ncontianerd\ncontianerd\n", &words()).unwrap();
        assert_eq!(mended, "containerd\n".repeat(3));
        assert_eq!(told.len(), 3);
    }

    #[test]
    fn words_that_somebody_means_stay_as_they_are() {
        for text in [
            "Insufficient memory",
            "containers",
            "restartinx",
            "xestarting",
            "rsteatring",
            "memroy",
            "restarted",
            "restsrting",
            "containerID",
            "  \"containres\": 3,",
        ] {
            assert!(respell(text, &words()).is_none(), "{text}");
        }
    }
}
