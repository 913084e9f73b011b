//! Shapes that were proven, as a radix tree that a text is walked along: what stands between its numbers and ids is compared
//! as it is. Most lines are of such a shape, and none has to be written for them.

use crate::before::Before;
use crate::places::{NONE, Places};
use crate::shape::{DIGIT, OTHER, next_token, token_at};
use crate::tokens::Tokens;
use crate::words::Words;

/// Bytes that a tree takes at most. One that outgrows them is forgotten and grows anew.
const LARGEST: usize = if cfg!(test) { 4 << 10 } else { 2 << 20 };
/// What ends a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Its last byte.
    Last,
    /// A quote that is not escaped: it is a text of JSON.
    Quote,
}

/// Texts by their shapes.
#[derive(Default)]
pub struct Radix {
    places: Places,
    /// Where texts of a kind begin.
    roots: Vec<([u8; 2], u32)>,
    /// What kind of text is looked for: texts of one follow one another.
    kind: Option<[u8; 2]>,
    before: Before<u32>,
    tokens: Tokens,
}

impl Radix {
    /// The shape of a text of a kind, and how long the text is; none where it is not known.
    pub fn find(
        &mut self,
        kind: [u8; 2],
        (text, end): (&[u8], End),
        words: &Words,
    ) -> Option<(usize, usize)> {
        if self.kind != Some(kind) {
            self.kind = Some(kind);
            self.before.forget();
        }
        let joint = self.before.joint(text);
        self.before.take(text);
        let (mut at, mut here) = joint.or_else(|| Some((0, self.root(kind)?)))?;
        loop {
            let node = self.places.at(here);
            if !self.places.goes_on(node, &text[at..]) {
                return None;
            }
            at += node.length as usize;
            let next = text.get(at).copied();
            let is_over = match end {
                End::Last => next.is_none(),
                End::Quote => next == Some(b'"'),
            };
            if is_over && node.ends != NONE {
                return Some((node.ends as usize, at));
            }
            let next = next?;
            let (length, kinds) = match node.over {
                NONE => (0, OTHER),
                _ => token_at(&text[at..]),
            };
            if kinds & DIGIT == 0 {
                here = self.places.child(node, next)?;
                continue;
            }
            let (step, length) = self.tokens.step(&text[at..], (length, kinds), words)?;
            at += length;
            here = self.places.way(self.places.at(here), step)?;
            self.before.note(text, (at, here), words);
        }
    }

    /// Notes the shape of a text, which is ASCII and in which characters may be escaped, each by one letter.
    pub fn insert(
        &mut self,
        kind: [u8; 2],
        (text, is_escaped): (&[u8], bool),
        words: &Words,
        shape: u32,
    ) {
        if self.places.bytes() > LARGEST {
            self.clear();
        }
        let mut here = self.root(kind).unwrap_or_else(|| {
            let root = self.places.add();
            self.roots.push((kind, root));
            root
        });
        let mut at = 0;
        while let Some((start, kinds)) = next_token(text, at, is_escaped) {
            here = self.places.along(here, &text[at..start]);
            let step = self.tokens.step(&text[start..], kinds, words);
            let over =
                step.and_then(|(step, length)| Some((self.places.over(here, step)?, length)));
            let Some((next, length)) = over else {
                return;
            };
            at = start + length;
            here = next;
        }
        here = self.places.along(here, &text[at..]);
        self.places.end(here, shape);
    }

    /// Forgets all shapes.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    fn root(&self, kind: [u8; 2]) -> Option<u32> {
        let mut roots = self.roots.iter();
        let found = roots.find(|(one, _)| *one == kind);
        found.map(|(_, root)| *root)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::places::token;
    use crate::shape::{self, open_token};

    /// The shapes of the numbers and ids of a text.
    fn tokens(text: &[u8], is_escaped: bool, words: &Words) -> impl Iterator<Item = Vec<u8>> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let mut shape = Vec::new();
            let (start, token) = next_token(text, at, is_escaped)?;
            at = start + open_token(&text[start..], token, words, &mut shape);
            Some(shape)
        })
    }

    proptest::proptest! {
        #[test]
        fn what_is_found_has_the_shape_and_what_was_inserted_is_found(
            begins in "([ -~]{0,4}|2026-11-29T1[0-9]:|x509|401 |401|\\\\[nt\"]|[0-9a-f]{8}-[0-9a-f]{4}-){0,3}",
            texts in proptest::collection::vec(
                "(pod=|po|ab|the container of this pod has no runtime|the container of this pod has none|401| unauthorized| |, |x509|xid|-[bcdf2-9]{5}|[0-9]{1,5}|[0-9a-f]{1,9}|\\\\[nt\"\\\\]|(pod)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9]{4}-[a-f]{4}-[0-9a-f]{12}|veth[0-9a-f]{8}|5m0s|z){0,5}",
                1..30,
            ),
            is_record: bool,
        ) {
            let words = Words::of(["xid", "x509", "6443", "401 unauthorized"].into_iter());
            let (mut radix, mut shapes) = (Radix::default(), BTreeMap::new());
            for text in texts.iter().map(|text| format!("{begins}{text}")) {
                let text = text.as_bytes();
                let Some(shape) = shape::of(text, is_record, &words) else { continue };
                let number = shapes.len();
                let number = *shapes.entry(shape).or_insert(number);
                // A message is a text of JSON with its quotes escaped, and the record goes on behind it.
                let message = [text, b"\",12"].concat();
                let (looked_for, end) = match is_record {
                    true if serde_json::from_str::<String>(&format!("\"{}\"", str::from_utf8(text).unwrap())).is_err() => continue,
                    true => (&message[..], End::Quote),
                    false => (text, End::Last),
                };
                let kind = [0, u8::from(is_record)];
                let before = radix.find(kind, (looked_for, end), &words);
                proptest::prop_assert!(before.is_none_or(|found| found == (number, text.len())), "{:?}", before);
                radix.insert(kind, (text, is_record), &words, u32::try_from(number).unwrap());
                let found = radix.find(kind, (looked_for, end), &words);
                let is_held = tokens(text, is_record, &words).all(|shape| token(&shape).is_some());
                proptest::prop_assert_eq!(found, is_held.then_some((number, text.len())));
                proptest::prop_assert_eq!(radix.find([1, 0], (text, End::Last), &words), None);
            }
        }
    }

    #[test]
    fn a_tree_that_grew_too_large_is_forgotten() {
        let words = Words::of(std::iter::empty());
        let mut radix = Radix::default();
        let text = |number: u8| vec![b'a' + number / 26, b'a' + number % 26];
        for number in 0..200 {
            radix.insert([0, 0], (&text(number), false), &words, u32::from(number));
        }
        assert!(radix.places.bytes() < 2 * LARGEST);
        let known = (0..200).filter(|number| {
            radix
                .find([0, 0], (&text(*number), End::Last), &words)
                .is_some()
        });
        assert!((1..200).contains(&known.count()));
    }
}
