//! The words that messages are made of, and which of them a mistyped one may be.

use std::collections::{BTreeSet, HashSet};

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

/// What a word and its slips have in common, apart from their lengths: the first and the last letter.
type Ends = (Option<u8>, Option<u8>);

/// The words of the messages that are looked for.
#[derive(Debug, Default)]
pub struct Words {
    /// By their ends and length, those of one by their lower case.
    known: Vec<Word>,
}

/// A word in lower case, and how it is written: a variable and a program may have one name.
#[derive(Debug)]
struct Word {
    lower: Box<str>,
    written: Vec<Box<str>>,
}

impl Words {
    /// Takes the words of texts that messages are made of.
    pub fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let met: HashSet<&str> = texts.flat_map(split).collect();
        let lower = |word: &str| word.to_ascii_lowercase().into_boxed_str();
        let mut met: Vec<_> = met.into_iter().map(|word| (lower(word), word)).collect();
        met.sort_unstable_by(|(a, one), (b, other)| {
            let by_key = key(a).cmp(&key(b));
            by_key.then_with(|| (a, one).cmp(&(b, other)))
        });
        let mut known: Vec<Word> = Vec::new();
        for (lower, word) in met {
            match known.last_mut().filter(|last| last.lower == lower) {
                Some(last) => last.written.push(word.into()),
                None => known.push(Word {
                    lower,
                    written: vec![word.into()],
                }),
            }
        }
        Self { known }
    }

    /// Whether a word, in lower case, is one of them.
    pub fn has(&self, word: &str) -> bool {
        self.forms(word).is_some()
    }

    /// How a word, in lower case, is written.
    fn forms(&self, word: &str) -> Option<&[Box<str>]> {
        let found = self.known.binary_search_by(|known| {
            let by_key = key(&known.lower).cmp(&key(word));
            by_key.then_with(|| known.lower.as_ref().cmp(word))
        });
        Some(&self.known.get(found.ok()?)?.written)
    }

    /// Known words of this length that begin and end as a word does.
    fn alike(&self, word: &str, length: usize) -> impl Iterator<Item = &str> {
        let wanted = (ends(word), length);
        let from = self
            .known
            .partition_point(|known| key(&known.lower) < wanted);
        let alike = self.known.get(from..).unwrap_or_default().iter();
        let alike = alike.map(|known| known.lower.as_ref());
        alike.take_while(move |known| key(known) == wanted)
    }

    /// Known words that have a letter less inside than this one.
    fn shorter<'w>(&'w self, word: &'w str) -> impl Iterator<Item = &'w str> {
        let alike = self.alike(word, word.len().saturating_sub(1));
        alike.filter(|known| has_one_more(word, known))
    }

    /// Known words that have a letter more inside than this one.
    fn longer<'w>(&'w self, word: &'w str) -> impl Iterator<Item = &'w str> {
        let alike = self.alike(word, word.len() + 1);
        alike.filter(|known| has_one_more(known, word))
    }

    /// The only known word that is one slip away from an unknown one.
    pub(super) fn meant(&self, word: &str) -> Option<String> {
        if !(SHORTEST..=LONGEST).contains(&word.len()) {
            return None;
        }
        let lower = word.to_ascii_lowercase();
        if self.has(&lower) {
            return None;
        }
        // A wrong letter, or two in the wrong order.
        let same = self.alike(&lower, lower.len());
        let mut near: BTreeSet<&str> = same.filter(|known| is_slip(&lower, known)).collect();
        // A letter too many or too few. "Cancelled" is how others write "canceled".
        if lower.len() >= LONG {
            let doubled = |text: &str| text.matches("ll").count();
            near.extend(
                self.shorter(&lower)
                    .filter(|known| doubled(&lower) <= doubled(known)),
            );
            near.extend(self.longer(&lower));
        }
        near.retain(|known| known.len() >= SHORTEST && !is_variant(known, &lower));
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
        if !(SHORT - 1..=LONGEST).contains(&word.len()) || self.has(&lower) {
            return Vec::new();
        }
        let is_slip =
            |known: &&str| is_turned(known, &lower) || differing(known, &lower).len() == 1;
        let same = self.alike(&lower, lower.len()).filter(is_slip);
        let near = same.chain(self.shorter(&lower)).chain(self.longer(&lower));
        let near: BTreeSet<&str> = near
            .filter(|known| known.len() >= SHORT && !is_variant(known, &lower))
            .collect();
        let near = near.into_iter();
        near.map(|known| self.in_the_case_of(word, known)).collect()
    }

    /// Whether the rules and messages that ship with the program use a word, in lower case, anywhere: it is one of the field.
    pub fn is_ordinary(word: &str) -> bool {
        let (rules, messages, _) = crate::shipped::catalogue();
        let mut texts = rules.iter().chain(messages).map(|(_, text, ..)| *text);
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
        let forms = self.forms(known)?.iter();
        let alike = forms.filter(|form| inner(form) == inner(word));
        // They are in order, and of equal ones the first is taken.
        let best = alike.min_by_key(|form| capital(form) != capital(word))?;
        if capital(word) && best.as_ref() == known {
            let (first, rest) = best.split_at(1);
            return Some(first.to_ascii_uppercase() + rest);
        }
        Some(best.to_string())
    }
}

/// What words and their slips are found by.
fn key(word: &str) -> (Ends, usize) {
    (ends(word), word.len())
}

fn ends(word: &str) -> Ends {
    (word.bytes().next(), word.bytes().next_back())
}

/// Whether a word is another one of the same ends with one letter more inside.
fn has_one_more(longer: &str, shorter: &str) -> bool {
    let (longer, shorter) = (longer.as_bytes(), shorter.as_bytes());
    let begun = longer.iter().zip(shorter).take_while(|(a, b)| a == b);
    let begun = begun.count();
    longer.len() == shorter.len() + 1 && longer.get(begun + 1..) == shorter.get(begun..)
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

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 6] = [
        "containerd",
        "unauthorized",
        "Insufficient",
        "kubelet",
        "cancelled",
        "taint",
    ];

    proptest::proptest! {
        #[test]
        fn a_word_with_one_slip_inside_is_near_the_known_one(
            which in 0..KNOWN.len(), slip in 0..4, at in 1..9_usize, letter in "[a-z]",
        ) {
            let known = KNOWN[which];
            let at = at.min(known.len() - 3);
            let (begin, rest) = known.split_at(at);
            let (one, behind) = rest.split_at(1);
            let slipped = match slip {
                0 => format!("{begin}{behind}"),
                1 => format!("{begin}{letter}{rest}"),
                2 => format!("{begin}{letter}{behind}"),
                _ => format!("{begin}{}{one}{}", &behind[..1], &behind[1..]),
            };
            let near = Words::of(KNOWN.into_iter()).near(&slipped);
            let lower = slipped.to_ascii_lowercase();
            let is_known = lower == known.to_ascii_lowercase();
            let found = near.iter().any(|one| one.eq_ignore_ascii_case(known));
            proptest::prop_assert_eq!(found, !is_known && !is_variant(&lower, &known.to_ascii_lowercase()), "{} {:?}", slipped, near);
        }
    }
}
