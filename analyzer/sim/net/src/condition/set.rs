//! Sets and the keys of maps: nft's named and anonymous ones, and ipsets.

use std::collections::BTreeMap;

use super::Tri;
use super::answer::interface;
use super::field::Reading;
use crate::packet::Interface;

/// One part of an element's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Anything.
    Any,
    /// Numbers from the first to the last, both included.
    Range(u128, u128),
    /// An interface name or prefix.
    Interface(Interface),
}

/// One element: a key of one or several parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// The parts, in the order of the set's type.
    pub key: Vec<Piece>,
    /// An exception (`nomatch` of an ipset) from less specific elements.
    pub except: bool,
    /// Something at the element says at each packet whether it is found, such as a limit.
    pub unsure: bool,
}

impl Element {
    /// An ordinary element.
    pub fn new(key: Vec<Piece>) -> Element {
        Element {
            key,
            except: false,
            unsure: false,
        }
    }
}

/// The elements of a set, or the keys of a map.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Set {
    elements: Vec<Element>,
    /// Elements that are one exact number in every part.
    exact: BTreeMap<Vec<u128>, usize>,
    /// All others.
    ranged: Vec<usize>,
    /// True when some element has [`Element::except`].
    excepts: bool,
    /// Why the captured elements may not be all, if so.
    pub doubt: Option<String>,
}

/// Combinations of possible values that are tried; more make a look-up doubtful.
const MAX_COMBINATIONS: usize = 256;

/// What a look-up finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Whether the packet is in the set.
    pub answer: Tri,
    /// Elements that it may be, each by its place in the set.
    pub elements: Vec<usize>,
}

impl Set {
    /// A set of these elements.
    pub fn new(elements: Vec<Element>) -> Set {
        let mut set = Set {
            excepts: elements.iter().any(|element| element.except),
            ..Set::default()
        };
        for (at, element) in elements.iter().enumerate() {
            match exact_key(element) {
                // Of two equal keys the kernel keeps the first.
                Some(key) if !set.excepts && !element.unsure => {
                    set.exact.entry(key).or_insert(at);
                }
                _ => set.ranged.push(at),
            }
        }
        set.elements = elements;
        set
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// True without elements.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// The elements.
    pub fn elements(&self) -> &[Element] {
        &self.elements
    }

    pub(super) fn find(&self, readings: &[Reading<'_>]) -> Found {
        let mut found = Found {
            answer: Tri::No,
            elements: Vec::new(),
        };
        let Some(combinations) = combinations(readings) else {
            found.answer = if self.is_empty() { Tri::No } else { Tri::Maybe };
            found.elements = (0..self.elements.len()).collect();
            return found;
        };
        let (mut all, mut some) = (true, false);
        for values in combinations {
            let one = self.find_one(&values, &mut found.elements);
            all &= one == Tri::Yes;
            some |= one != Tri::No;
        }
        found.answer = match (all, some) {
            (true, _) => Tri::Yes,
            (_, true) => Tri::Maybe,
            _ => Tri::No,
        };
        if found.answer != Tri::Yes && self.doubt.is_some() {
            found.answer = Tri::Maybe;
        }
        found.elements.sort_unstable();
        found.elements.dedup();
        found
    }

    /// The answer for known values, and the elements that it may be.
    fn find_one(&self, values: &[Value<'_>], which: &mut Vec<usize>) -> Tri {
        let numbers: Option<Vec<u128>> = values.iter().map(Value::number).collect();
        let unknown = numbers.is_none();
        if let Some(at) = numbers.and_then(|numbers| self.exact.get(&numbers)) {
            which.push(*at);
            return Tri::Yes;
        }
        let exact: Vec<usize> = if unknown {
            self.exact.values().copied().collect()
        } else {
            Vec::new()
        };
        let mut best: Option<(u32, usize)> = None;
        let mut doubtful = false;
        for at in exact.iter().chain(&self.ranged).copied() {
            let element = &self.elements[at];
            match element.holds(values) {
                Tri::No => {}
                Tri::Maybe => {
                    doubtful = true;
                    which.push(at);
                }
                Tri::Yes => {
                    let width = element.width();
                    if best.is_none_or(|(narrowest, _)| width < narrowest) {
                        best = Some((width, at));
                    }
                }
            }
        }
        let Some((_, at)) = best else {
            return if doubtful { Tri::Maybe } else { Tri::No };
        };
        which.push(at);
        match (self.excepts, doubtful) {
            (false, _) => Tri::Yes,
            (true, true) => Tri::Maybe,
            (true, false) => Tri::of(!self.elements[at].except),
        }
    }
}

fn exact_key(element: &Element) -> Option<Vec<u128>> {
    let number = |piece: &Piece| match piece {
        Piece::Range(low, high) if low == high => Some(*low),
        _ => None,
    };
    element.key.iter().map(number).collect()
}

/// A value of one field: a number, an interface or something unknown.
enum Value<'a> {
    Unknown,
    /// There may be none.
    Doubtful,
    Number(u128),
    Interface(super::Slot<'a>),
}

impl Value<'_> {
    fn number(&self) -> Option<u128> {
        match self {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }
}

impl Element {
    fn holds(&self, values: &[Value<'_>]) -> Tri {
        let parts = self
            .key
            .iter()
            .zip(values)
            .map(|(piece, value)| match (piece, value) {
                (_, Value::Doubtful) => Tri::Maybe,
                (Piece::Any, _) => Tri::Yes,
                (Piece::Range(low, high), Value::Number(n)) => Tri::of(low <= n && n <= high),
                (Piece::Interface(wanted), Value::Interface(slot)) => interface(wanted, *slot),
                (_, Value::Unknown) => Tri::Maybe,
                _ => Tri::No,
            });
        if self.key.len() == values.len() || self.key == [Piece::Any] {
            let found = parts.min().unwrap_or(Tri::No);
            if self.unsure {
                found.min(Tri::Maybe)
            } else {
                found
            }
        } else {
            Tri::Maybe
        }
    }

    /// How much the element covers, in bits: the narrowest one counts.
    fn width(&self) -> u32 {
        let bits = |piece: &Piece| match piece {
            Piece::Any => 256,
            Piece::Range(low, high) => 128 - (high - low).leading_zeros(),
            Piece::Interface(Interface::Name(_)) => 0,
            Piece::Interface(Interface::Prefix(name)) => {
                16u32.saturating_sub(u32::try_from(name.len()).unwrap_or(16))
            }
        };
        self.key.iter().map(bits).sum()
    }
}

/// Every combination of the values that the fields may have; `None` when there are too many.
fn combinations<'a>(readings: &[Reading<'a>]) -> Option<Vec<Vec<Value<'a>>>> {
    let mut all: Vec<Vec<Value<'a>>> = vec![Vec::new()];
    for reading in readings {
        let count = match reading {
            Reading::Numbers(numbers) => numbers.len(),
            _ => 1,
        };
        if all.len().saturating_mul(count) > MAX_COMBINATIONS {
            return None;
        }
        let mut longer = Vec::new();
        for start in all {
            for at in 0..count {
                let mut one: Vec<Value<'a>> = start.iter().map(Value::copy).collect();
                one.push(match reading {
                    Reading::Numbers(numbers) => Value::Number(numbers[at]),
                    Reading::Interface(slot) => Value::Interface(*slot),
                    Reading::Doubtful => Value::Doubtful,
                    Reading::Unknown | Reading::Absent => Value::Unknown,
                });
                longer.push(one);
            }
        }
        all = longer;
    }
    Some(all)
}

impl<'a> Value<'a> {
    fn copy(&self) -> Value<'a> {
        match self {
            Value::Unknown => Value::Unknown,
            Value::Doubtful => Value::Doubtful,
            Value::Number(number) => Value::Number(*number),
            Value::Interface(slot) => Value::Interface(*slot),
        }
    }
}
