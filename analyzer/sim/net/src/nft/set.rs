//! Sets and maps as written, and their elements as values of given fields.

use std::sync::Arc;

use super::tokens::Token;
use super::values::{piece, single};
use crate::condition::field::Field;
use crate::condition::set::{Element, Piece, Set};

/// One element: the parts of its key, and what a map holds for it.
#[derive(Debug, Clone)]
pub(super) struct RawElement<'a> {
    pub(super) key: Vec<Token<'a>>,
    pub(super) data: &'a [Token<'a>],
    /// A limit, a quota or a count stands at the element, which says at each packet whether it is found.
    unsure: bool,
}

/// A set or map before it is known which fields are looked up in it.
#[derive(Debug, Clone, Default)]
pub(super) struct RawSet<'a> {
    pub(super) elements: Vec<RawElement<'a>>,
    cut: bool,
}

/// Words behind a key that belong to the element, up to the next of them.
const OPTIONS: [&str; 8] = [
    "timeout", "expires", "comment", "counter", "last", "limit", "quota", "ct",
];
/// Those that are asked at each packet, and may say no.
const ASKED: [&str; 3] = ["limit", "quota", "ct"];

/// A named set from the statements of its block.
pub(super) fn raw_set<'a>(statements: &[&'a [Token<'a>]], cut: bool) -> RawSet<'a> {
    for statement in statements {
        if let [name, equals, open, body @ ..] = *statement
            && name.is("elements")
            && equals.is("=")
            && open.is("{")
        {
            let body = match body.split_last() {
                Some((last, inner)) if last.is("}") => inner,
                _ => body,
            };
            return RawSet {
                elements: elements(body),
                cut,
            };
        }
    }
    RawSet {
        elements: Vec::new(),
        cut,
    }
}

/// An anonymous set from the words between its braces.
pub(super) fn anonymous<'a>(body: &'a [Token<'a>]) -> RawSet<'a> {
    RawSet {
        elements: elements(body),
        cut: false,
    }
}

fn elements<'a>(body: &'a [Token<'a>]) -> Vec<RawElement<'a>> {
    body.split(|token| token.is(","))
        .filter_map(|tokens| {
            let tokens = trim(tokens);
            (!tokens.is_empty()).then(|| element(tokens))
        })
        .collect()
}

/// Without the line ends around it.
fn trim<'a>(mut tokens: &'a [Token<'a>]) -> &'a [Token<'a>] {
    while let [first, rest @ ..] = tokens
        && first.is(";")
    {
        tokens = rest;
    }
    while let [rest @ .., last] = tokens
        && last.is(";")
    {
        tokens = rest;
    }
    tokens
}

fn element<'a>(tokens: &'a [Token<'a>]) -> RawElement<'a> {
    let colon = tokens.iter().position(|token| token.is(":"));
    let (head, data) = match colon {
        Some(at) => (&tokens[..at], trim(&tokens[at + 1..])),
        None => (tokens, &tokens[..0]),
    };
    let option = |token: &Token<'_>| OPTIONS.iter().any(|name| token.is(name));
    let words = head.iter().filter(|token| !token.is(";"));
    let key = words.clone().take_while(|token| !option(token));
    RawElement {
        key: key.filter(|token| !token.is(".")).copied().collect(),
        data,
        unsure: words
            .clone()
            .any(|token| ASKED.iter().any(|name| token.is(name))),
    }
}

/// The parts of a key: words that a bar joins are one part.
fn joined<'k, 'a>(key: &'k [Token<'a>]) -> Vec<&'k [Token<'a>]> {
    let mut parts = Vec::new();
    let mut start = 0;
    for at in 1..=key.len() {
        let bar = |at: usize| key.get(at).is_some_and(|token| token.is("|"));
        if at == key.len() || !(bar(at) || bar(at - 1)) {
            parts.push(&key[start..at]);
            start = at;
        }
    }
    parts
}

/// What one part stands for: `10.0.0.0/8`, `fin | psh`.
fn part_of(field: Field, part: &[Token<'_>]) -> Option<Piece> {
    if let [one] = part {
        return piece(field, one);
    }
    let bits = part.iter().filter(|token| !token.is("|"));
    let mut all = bits.map(|token| single(field, token.text));
    let all = all.try_fold(0, |all, bits| Some(all | bits?))?;
    Some(Piece::Range(all, all))
}

impl RawSet<'_> {
    /// The elements as values of these fields.
    pub(super) fn read(&self, fields: &[Field], name: &str) -> Arc<Set> {
        let mut elements = Vec::with_capacity(self.elements.len());
        let mut doubt = None;
        for raw in &self.elements {
            let parts = joined(&raw.key);
            let key: Option<Vec<Piece>> = match parts.as_slice() {
                [[star]] if star.is("*") => Some(vec![Piece::Any]),
                parts if parts.len() == fields.len() => parts
                    .iter()
                    .zip(fields)
                    .map(|(part, field)| part_of(*field, part))
                    .collect(),
                _ => None,
            };
            match key {
                Some(key) => elements.push(Element {
                    unsure: raw.unsure,
                    ..Element::new(key)
                }),
                None => {
                    let line = raw.key.first().map_or(0, |token| token.line);
                    doubt.get_or_insert_with(|| {
                        format!("an element of set {name} (line {line}) is not understood")
                    });
                    // Keeps its place beside the data of a map.
                    elements.push(Element::new(Vec::new()));
                }
            }
        }
        let mut set = Set::new(elements);
        set.doubt = doubt;
        if self.cut {
            set.doubt = Some(format!("the elements of set {name} are cut off"));
        }
        Arc::new(set)
    }
}
