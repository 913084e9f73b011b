//! Typing errors in a pasted text: a word that nobody uses and that is one slip away from exactly one word of the
//! messages that are looked for. The slack is bounded (one slip, inside a long word, never its first or last letter),
//! and what was read in this way is named.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A shorter word has too many neighbours.
const SHORTEST: usize = 7;
/// Of a shorter word a letter too many or too few makes another one that people write: "Pulling" and "Polling".
const LONG: usize = 9;
/// Of a shorter word a wrong letter does.
const LONGER: usize = 11;
/// Who writes a word so often means it.
const MEANT: usize = 3;
/// A longer run of letters is no word but data.
const LONGEST: usize = 40;
/// Words that are respelled in one text; more of them are another language and no typing errors.
const MOST: usize = 64;

/// The words of the messages that are looked for.
#[derive(Debug, Default)]
pub struct Words {
    /// How each is written, by its lower case: a variable and a program may have one name.
    known: BTreeMap<String, BTreeSet<String>>,
    /// Known words by what is left of them without one of their inner letters.
    without: HashMap<String, Vec<String>>,
}

impl Words {
    /// Takes the words of texts that messages are made of.
    pub fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut words = Self::default();
        for word in texts.flat_map(split) {
            let written = words.known.entry(word.to_ascii_lowercase());
            written.or_default().insert(word.to_owned());
        }
        let long = words.known.keys().filter(|word| word.len() >= SHORTEST);
        for word in long {
            for part in parts(word) {
                words.without.entry(part).or_default().push(word.clone());
            }
        }
        words
    }

    /// The only known word that is one slip away from an unknown one.
    fn meant(&self, word: &str) -> Option<String> {
        if !(SHORTEST..=LONGEST).contains(&word.len()) {
            return None;
        }
        let lower = word.to_ascii_lowercase();
        if self.known.contains_key(&lower) {
            return None;
        }
        let mut near: BTreeSet<&str> = BTreeSet::new();
        for part in parts(&lower) {
            // A letter too many. "Cancelled" is how others write "canceled".
            let shorter = self.known.get_key_value(&part);
            let variant = lower.matches("ll").count() > part.matches("ll").count();
            near.extend(
                shorter
                    .map(|(known, _)| known.as_str())
                    .filter(|_| lower.len() >= LONG && !variant),
            );
            // A wrong one, or two in the wrong order.
            let others = self.without.get(&part).into_iter().flatten();
            near.extend(
                others
                    .map(String::as_str)
                    .filter(|other| is_slip(&lower, other)),
            );
        }
        // A letter too few.
        let others = self.without.get(&lower).into_iter().flatten();
        near.extend(others.map(String::as_str).filter(|_| lower.len() >= LONG));
        near.retain(|known| {
            let ends = |text: &str| (text.bytes().next(), text.bytes().next_back());
            known.len() >= SHORTEST && ends(known) == ends(&lower)
        });
        let (Some(known), 1) = (near.first(), near.len()) else {
            return None;
        };
        // Letters that changed places keep their case.
        if is_turned(&lower, known) {
            let (at, _) = *differing(&lower, known).first()?;
            let mut letters = word.as_bytes().to_vec();
            letters.swap(at, at + 1);
            return String::from_utf8(letters).ok();
        }
        self.written(word, known)
    }

    /// A known word with the capitals that the text gave it, or with those of a message that is told from others by its
    /// first one. Capitals inside a word are those of a name: none where no message has as many.
    fn written(&self, word: &str, known: &str) -> Option<String> {
        let capital = |text: &str| text.starts_with(|first: char| first.is_ascii_uppercase());
        let inner = |text: &str| text.bytes().skip(1).filter(u8::is_ascii_uppercase).count();
        let forms = self.known.get(known)?.iter();
        let alike = forms.filter(|form| inner(form) == inner(word));
        let best = alike.min_by_key(|form| (capital(form) != capital(word), form.as_str()))?;
        if capital(word) && best == known {
            let (first, rest) = best.split_at(1);
            return Some(first.to_ascii_uppercase() + rest);
        }
        Some(best.clone())
    }
}

/// Runs of letters.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !letter.is_ascii_alphabetic());
    words.filter(|word| !word.is_empty())
}

/// A word without one of its inner letters, in all ways.
fn parts(word: &str) -> impl Iterator<Item = String> {
    (1..word.len().saturating_sub(1)).map(|at| format!("{}{}", &word[..at], &word[at + 1..]))
}

/// Whether two words of the same length differ in one letter, or in the order of two neighbours.
fn is_slip(one: &str, other: &str) -> bool {
    let wrong = one.len() == other.len() && one.len() >= LONGER && differing(one, other).len() == 1;
    wrong || is_turned(one, other)
}

/// Whether two words differ in the order of two neighbouring letters.
fn is_turned(one: &str, other: &str) -> bool {
    one.len() == other.len()
        && match differing(one, other).as_slice() {
            [(at, (a, b)), (next, (c, d))] => next - at == 1 && a == d && b == c,
            _ => false,
        }
}

/// Where two words of the same length have other letters, and which.
fn differing(one: &str, other: &str) -> Vec<(usize, (u8, u8))> {
    let pairs = one.bytes().zip(other.bytes()).enumerate();
    pairs.filter(|(_, (a, b))| a != b).collect()
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
        for word in split(line) {
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

/// The texts that matches of an expression are made of, each way that it can be worded.
pub fn texts_of(expression: &str) -> Vec<String> {
    let mut found = Vec::new();
    if let Ok(hir) = regex_syntax::parse(expression) {
        let runs = worded(&hir, vec![String::new()], &mut found);
        found.extend(runs);
    }
    found.retain(|text| !text.is_empty());
    found.sort();
    found.dedup();
    found
}

/// Ways of wording one text that are followed at once.
const WAYS: usize = 16;

/// Puts what an expression matches behind each of the texts before it; texts that end are found.
fn worded(hir: &regex_syntax::hir::Hir, runs: Vec<String>, found: &mut Vec<String>) -> Vec<String> {
    use regex_syntax::hir::HirKind;
    let behind = |text: &str| runs.iter().map(|run| format!("{run}{text}")).collect();
    match hir.kind() {
        HirKind::Literal(literal) => behind(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(class) => match pair(class) {
            Some(letter) => behind(letter.encode_utf8(&mut [0; 4])),
            None => ended(runs, found),
        },
        HirKind::Concat(parts) => parts
            .iter()
            .fold(runs, |runs, part| worded(part, runs, found)),
        HirKind::Alternation(parts) => {
            let ways = parts.iter().map(|part| worded(part, runs.clone(), found));
            let ways: Vec<String> = ways.flatten().collect();
            bounded(ways, found)
        }
        HirKind::Capture(capture) => worded(&capture.sub, runs, found),
        HirKind::Repetition(repetition) if repetition.max == Some(1) => {
            let mut ways = worded(&repetition.sub, runs.clone(), found);
            ways.extend(runs);
            bounded(ways, found)
        }
        HirKind::Repetition(repetition) => {
            let ways = worded(&repetition.sub, runs.clone(), found);
            found.extend(runs);
            ended(ways, found)
        }
        HirKind::Look(_) | HirKind::Empty => runs,
    }
}

/// Texts that end here; the next one starts anew.
fn ended(runs: Vec<String>, found: &mut Vec<String>) -> Vec<String> {
    found.extend(runs);
    vec![String::new()]
}

/// The same texts, unless they are more than are followed.
fn bounded(mut ways: Vec<String>, found: &mut Vec<String>) -> Vec<String> {
    ways.sort();
    ways.dedup();
    match ways.len() {
        0..=WAYS => ways,
        _ => ended(ways, found),
    }
}

/// The letter of a class that holds it in both cases, small.
fn pair(class: &regex_syntax::hir::Class) -> Option<char> {
    use regex_syntax::hir::Class;
    let letters: Vec<char> = match class {
        Class::Unicode(class) => {
            let ranges = class.iter().take(4);
            ranges
                .map(|range| (range.start() == range.end()).then_some(range.start()))
                .collect::<Option<_>>()?
        }
        Class::Bytes(class) => {
            let ranges = class.iter().take(4);
            ranges
                .map(|range| (range.start() == range.end()).then_some(char::from(range.start())))
                .collect::<Option<_>>()?
        }
    };
    let small = letters.iter().find(|letter| letter.is_ascii_lowercase())?;
    let same = |letter: &char| letter.to_lowercase().eq(small.to_lowercase()) || !letter.is_ascii();
    letters.iter().all(same).then_some(*small)
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

    fn words() -> Words {
        let expressions = [
            r"(?i)insufficient (?:memory|nvidia\.com/gpu)",
            "FailedScheduling",
            "containers? restarting",
            "CONTAINERD_CONFIG",
            "containerd config",
            r"no networks? found|(?:over|under)flow(?:ed|s)",
        ];
        let texts: Vec<String> = expressions.iter().flat_map(|one| texts_of(one)).collect();
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
        ] {
            assert!(respell(text, &words()).is_none(), "{text}");
        }
    }
}
