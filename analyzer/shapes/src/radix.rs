//! Shapes that were proven, as a radix tree that a text is walked along: what stands between its numbers and ids is compared
//! as it is. Most lines are of such a shape, and none has to be written for them.

use std::ops::Range;

use crate::before::Before;
use crate::shape::{DIGIT, DIGITS, OTHER, is_short_number, next_token, open_token, token_at};
use crate::words::Words;

/// Bytes that a tree takes at most. One that outgrows them is forgotten and grows anew.
const LARGEST: usize = if cfg!(test) { 4 << 10 } else { 2 << 20 };
/// Ways that lead on from one place over numbers and ids: they are tried one after another.
const MOST_OPEN: usize = 64;

/// A place in texts that begin alike. Most have one way on, over a number or an id, and are met once in a while, so that they
/// take little room.
struct Node {
    /// What follows here in all of them, as a range of the bytes of all runs.
    run: Range<u32>,
    /// The shape of the text that ends behind it; [`NONE`] where none does.
    ends: u32,
    /// Where the ways on behind it are; [`NONE`] where there is none or only the next.
    fork: u32,
    /// The way on over a number or an id that was known first; [`NONE`] where there is none.
    open: Way,
}

/// The ways on from a place that has several.
#[derive(Default)]
struct Fork {
    /// The first bytes that follow, eight in a number.
    firsts: Vec<[u8; 8]>,
    /// The places behind them.
    children: Vec<u32>,
    /// Over other numbers and ids than the first one.
    open: Vec<Way>,
}

/// A way over a number or an id: its shape, and the place behind it.
type Way = (Token, u32);

const NONE: u32 = u32::MAX;

/// The shape of a number or an id, and before its bytes how many they are. A longer one leads nowhere.
type Token = [u8; 16];

/// That of most numbers.
const NUMBER: Token = token_of_bytes(&[DIGITS]);

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
    nodes: Vec<Node>,
    forks: Vec<Fork>,
    /// The bytes of all runs.
    runs: Vec<u8>,
    /// Where texts of a kind begin.
    roots: Vec<([u8; 2], u32)>,
    /// What kind of text is looked for: texts of one follow one another.
    kind: Option<[u8; 2]>,
    before: Before<u32>,
    /// The shape of the present number or id.
    token: Vec<u8>,
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
            let node = &self.nodes[here as usize];
            if !self.goes_on(node, &text[at..]) {
                return None;
            }
            at += node.run.len();
            let next = text.get(at).copied();
            let is_over = match end {
                End::Last => next.is_none(),
                End::Quote => next == Some(b'"'),
            };
            if is_over && node.ends != NONE {
                return Some((node.ends as usize, at));
            }
            let next = next?;
            let (length, kinds) = match node.open.1 {
                NONE => (0, OTHER),
                _ => token_at(&text[at..]),
            };
            if kinds & DIGIT == 0 {
                here = self.child(node, next)?;
                continue;
            }
            let token = match is_short_number(&text[at..], (length, kinds), words) {
                true => {
                    at += length;
                    NUMBER
                }
                false => {
                    self.token.clear();
                    at += open_token(&text[at..], (length, kinds), words, &mut self.token);
                    token(&self.token)?
                }
            };
            here = self.way(node, token)?;
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
        if self.bytes() > LARGEST {
            self.clear();
        }
        let mut here = self.root(kind).unwrap_or_else(|| {
            let root = self.add(Node::new(0..0));
            self.roots.push((kind, root));
            root
        });
        let mut at = 0;
        while let Some((start, kinds)) = next_token(text, at, is_escaped) {
            here = self.along(here, &text[at..start]);
            self.token.clear();
            at = start + open_token(&text[start..], kinds, words, &mut self.token);
            let Some(next) = token(&self.token).and_then(|token| self.over(here, token)) else {
                return;
            };
            here = next;
        }
        here = self.along(here, &text[at..]);
        self.nodes[here as usize].ends = shape;
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

    fn run(&self, node: &Node) -> &[u8] {
        &self.runs[node.run.start as usize..node.run.end as usize]
    }

    /// Whether a text goes on as the run of a place does. Most runs are shorter than eight bytes, which are compared at once.
    fn goes_on(&self, node: &Node, text: &[u8]) -> bool {
        let Range { start, end } = node.run;
        let (start, length) = (start as usize, end.saturating_sub(start) as usize);
        let eight = |bytes: &[u8]| bytes.first_chunk().map(|eight| u64::from_le_bytes(*eight));
        let run = self.runs.get(start..).unwrap_or_default();
        match (eight(text), eight(run)) {
            (Some(text), Some(run)) if length < 8 => (text ^ run) << 1 << (63 - 8 * length) == 0,
            (Some(text_begin), Some(run_begin)) => {
                text_begin == run_begin && text.get(8..length) == run.get(8..length)
            }
            _ => text.get(..length) == run.get(..length),
        }
    }

    fn bytes(&self) -> usize {
        // A fork most often has two or three ways.
        const FORK: usize = size_of::<Fork>() + 3 * size_of::<Way>();
        self.nodes.len() * size_of::<Node>() + self.forks.len() * FORK + self.runs.len()
    }

    /// The place behind a byte that follows.
    fn child(&self, node: &Node, first: u8) -> Option<u32> {
        let fork = self.forks.get(node.fork as usize)?;
        let mut eights = fork.firsts.iter().zip(fork.children.chunks(8));
        eights.find_map(|(eight, children)| children.get(position(eight, first)?).copied())
    }

    /// The place behind a number or an id that follows.
    fn way(&self, node: &Node, token: Token) -> Option<u32> {
        let (first, next) = node.open;
        if first == token {
            return (next != NONE).then_some(next);
        }
        let mut others = self.forks.get(node.fork as usize)?.open.iter();
        let found = others.find(|(shape, _)| *shape == token);
        found.map(|(_, next)| *next)
    }

    fn add(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        number(self.nodes.len() - 1)
    }

    fn fork(&mut self, here: u32) -> &mut Fork {
        let node = &mut self.nodes[here as usize];
        if node.fork == NONE {
            node.fork = number(self.forks.len());
            self.forks.push(Fork::default());
        }
        &mut self.forks[node.fork as usize]
    }

    /// The place behind a stretch of a text that goes on here.
    fn along(&mut self, mut here: u32, mut stretch: &[u8]) -> u32 {
        loop {
            let node = &self.nodes[here as usize];
            if node.is_blank() {
                let start = number(self.runs.len());
                self.runs.extend_from_slice(stretch);
                self.nodes[here as usize].run = start..number(self.runs.len());
                return here;
            }
            let run = self.run(node);
            let same = run.iter().zip(stretch).take_while(|(a, b)| a == b).count();
            if same < run.len() {
                self.split(here, same);
            }
            stretch = &stretch[same..];
            let Some(first) = stretch.first() else {
                return here;
            };
            here = match self.child(&self.nodes[here as usize], *first) {
                Some(next) => next,
                None => {
                    let next = self.add(Node::new(0..0));
                    self.fork(here).add(*first, next);
                    next
                }
            };
        }
    }

    /// The place behind a number or an id; none where too many lead on from here.
    fn over(&mut self, here: u32, token: Token) -> Option<u32> {
        let node = &self.nodes[here as usize];
        let known = self.way(node, token);
        let fork = self.forks.get(node.fork as usize);
        if known.is_some() || fork.is_some_and(|fork| fork.open.len() >= MOST_OPEN) {
            return known;
        }
        let next = self.add(Node::new(0..0));
        match &mut self.nodes[here as usize].open {
            open @ (_, NONE) => *open = (token, next),
            _ => self.fork(here).open.push((token, next)),
        }
        Some(next)
    }

    /// Lets what follows behind so many bytes of a run begin a place of its own.
    fn split(&mut self, here: u32, at: usize) {
        let Range { start, end } = self.nodes[here as usize].run;
        let middle = start + number(at);
        let before = Node::new(start..middle);
        let old = std::mem::replace(&mut self.nodes[here as usize], before);
        let behind = self.add(Node {
            run: middle..end,
            ..old
        });
        let first = self.runs[middle as usize];
        self.fork(here).add(first, behind);
    }
}

fn number(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The shape of a number or an id as it is looked up.
fn token(shape: &[u8]) -> Option<Token> {
    (shape.len() < size_of::<Token>()).then(|| token_of_bytes(shape))
}

/// The same of one that is short enough. Put together in a register: what is written byte by byte and read at once makes a
/// processor wait.
const fn token_of_bytes(shape: &[u8]) -> Token {
    let mut token = shape.len() as u128;
    let mut at = 0;
    while at < shape.len() {
        token = token << 8 | shape[at] as u128;
        at += 1;
    }
    token.to_le_bytes()
}

/// Where among eight bytes this one stands first.
fn position(eight: &[u8; 8], byte: u8) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let differing = u64::from_le_bytes(*eight) ^ (u64::from(byte) * ONES);
    // The lowest bit is that of the first byte that is zero; those above it may be of others.
    let same = differing.wrapping_sub(ONES) & !differing & (ONES << 7);
    (same != 0).then_some((same.trailing_zeros() / 8) as usize)
}

impl Fork {
    /// Adds a way on behind a first byte.
    fn add(&mut self, first: u8, next: u32) {
        let at = self.children.len() % 8;
        if at == 0 {
            self.firsts.push([0; 8]);
        }
        if let Some(eight) = self.firsts.last_mut() {
            eight[at] = first;
        }
        self.children.push(next);
    }
}

impl Node {
    /// A place behind which nothing is known.
    fn new(run: Range<u32>) -> Self {
        Self {
            run,
            ends: NONE,
            fork: NONE,
            open: (Token::default(), NONE),
        }
    }

    /// Whether nothing is known of what follows here.
    fn is_blank(&self) -> bool {
        self.run.is_empty() && self.ends == NONE && self.fork == NONE && self.open.1 == NONE
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::shape;

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
                "(pod=|po|ab|401| unauthorized| |, |x509|xid|-[bcdf2-9]{5}|[0-9]{1,5}|[0-9a-f]{1,9}|\\\\[nt\"\\\\]|(pod)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9]{4}-[a-f]{4}-[0-9a-f]{12}|veth[0-9a-f]{8}|5m0s|z){0,5}",
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
        assert!(radix.bytes() < 2 * LARGEST);
        let known = (0..200).filter(|number| {
            radix
                .find([0, 0], (&text(*number), End::Last), &words)
                .is_some()
        });
        assert!((1..200).contains(&known.count()));
    }
}
