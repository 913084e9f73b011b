//! The words that messages are made of, and which of them a mistyped one may be.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::split;

/// A shorter word has too many neighbours.
const SHORTEST: usize = 7;
/// Of a shorter word a letter too many or too few makes another one that people write: "Pulling" and "Polling".
const LONG: usize = 9;
/// Of a shorter word a wrong letter does.
const LONGER: usize = 11;
/// A longer run of letters is no word but data.
const LONGEST: usize = 40;
/// A word this short may be meant where all the rest of a message stands beside it.
const SHORT: usize = 5;

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
        let long = words.known.keys().filter(|word| word.len() >= SHORT);
        for word in long {
            for part in parts(word) {
                words.without.entry(part).or_default().push(word.clone());
            }
        }
        words
    }

    /// Whether a word, in lower case, is one of them.
    pub fn has(&self, word: &str) -> bool {
        self.known.contains_key(word)
    }

    /// The only known word that is one slip away from an unknown one.
    pub(super) fn meant(&self, word: &str) -> Option<String> {
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
            known.len() >= SHORTEST && ends(known) == ends(&lower) && !is_variant(known, &lower)
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

    /// The known words that are one slip away from an unknown one, whatever slip inside the word. Which of them is meant, if
    /// any, the rest of its line has to say.
    pub fn near(&self, word: &str) -> Vec<String> {
        let lower = word.to_ascii_lowercase();
        if !(SHORT - 1..=LONGEST).contains(&word.len()) || self.known.contains_key(&lower) {
            return Vec::new();
        }
        let lists = parts(&lower).chain([lower.clone()]);
        let lists: Vec<&Vec<String>> = lists.filter_map(|part| self.without.get(&part)).collect();
        let mut near: BTreeSet<&str> = lists.into_iter().flatten().map(String::as_str).collect();
        for part in parts(&lower) {
            let shorter = self.known.get_key_value(&part);
            near.extend(shorter.map(|(known, _)| known.as_str()));
        }
        let ends = |text: &str| (text.bytes().next(), text.bytes().next_back());
        let is_near = |known: &&&str| {
            known.len() >= SHORT
                && ends(known) == ends(&lower)
                && !is_variant(known, &lower)
                && (known.len() != lower.len()
                    || is_turned(known, &lower)
                    || differing(known, &lower).len() == 1)
        };
        let near = near.iter().filter(is_near);
        near.map(|known| self.in_the_case_of(word, known)).collect()
    }

    /// Whether the rules and messages that ship with the program use a word, in lower case, anywhere: it is one of the field.
    pub fn is_ordinary(word: &str) -> bool {
        let (rules, messages, _) = crate::shipped::catalogue();
        let mut texts = rules.iter().chain(messages).map(|(_, text, _)| *text);
        texts.any(|text| split(text).any(|other| other.eq_ignore_ascii_case(word)))
    }

    /// A known word, in capitals where the mistyped one is, and else as a message writes it.
    fn in_the_case_of(&self, word: &str, known: &str) -> String {
        let capitals = word.bytes().filter(u8::is_ascii_uppercase).count();
        if capitals > 2 && capitals + 1 >= word.len() {
            return known.to_ascii_uppercase();
        }
        self.written(word, known)
            .unwrap_or_else(|| known.to_owned())
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

/// A word without one of its inner letters, in all ways.
fn parts(word: &str) -> impl Iterator<Item = String> {
    (1..word.len().saturating_sub(1)).map(|at| format!("{}{}", &word[..at], &word[at + 1..]))
}

/// Whether two words are one in British and in American spelling: "synchronise" and "synchronize", "behaviour" and
/// "behavior". That is how somebody writes, and no slip.
fn is_variant(one: &str, other: &str) -> bool {
    let american = |word: &str| {
        word.replace("is", "iz")
            .replace("ys", "yz")
            .replace("our", "or")
    };
    one != other && american(one) == american(other)
}

/// Whether two words of the same length differ in one letter, or in the order of two neighbours.
fn is_slip(one: &str, other: &str) -> bool {
    let wrong = one.len() == other.len() && one.len() >= LONGER && differing(one, other).len() == 1;
    wrong || is_turned(one, other)
}

/// Whether two words differ in the order of two neighbouring letters.
pub(super) fn is_turned(one: &str, other: &str) -> bool {
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
