//! Where the parts of a match stand in every line of one shape, found out once instead of anew in each line.
//!
//! An expression is run over the shape as it would be run over a line, with each open place as one step. That is only
//! possible where the expression treats all bytes that may stand there alike, however many they are: after one of
//! them it has to be in the states that it is in after two. States that only some of the bytes lead on from are followed
//! apart: as long as they end in nothing, nothing depends on them. Wherever that is not so, the expression is tried on
//! each line.

use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::look::Look;
use regex_automata::util::primitives::StateID;

use super::abstract_match::{Follower, after};
use super::parts::Track;
use super::shape::{self, is_open};

/// A part of a match that does not stand in the line.
pub(super) const NOWHERE: u32 = u32::MAX;
/// Inside an open place.
const INSIDE: u32 = u32::MAX - 1;

/// What an expression does in all lines of a shape.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Traced {
    /// It matches none.
    Never,
    /// It matches all, and its parts stand at these places of the shape.
    Always(Box<[u32]>),
    /// Only the line tells.
    Unknown,
}

/// States of an automaton in the order of what is preferred, each with the places of the parts so far.
#[derive(Default)]
struct List {
    states: Vec<StateID>,
    parts: Vec<u32>,
    /// The generation in which a state was last added.
    added: Vec<u32>,
    generation: u32,
    /// It holds a match, and nothing behind it.
    matched: bool,
}

impl List {
    fn clear(&mut self, states: usize) {
        self.states.clear();
        self.parts.clear();
        self.added.resize(states, 0);
        self.generation += 1;
        self.matched = false;
    }

    fn parts(&self, at: usize, width: usize) -> &[u32] {
        &self.parts[at * width..(at + 1) * width]
    }

    fn holds(&self, state: StateID) -> bool {
        self.added.get(state.as_usize()) == Some(&self.generation)
    }

    fn is_same(&self, other: &Self) -> bool {
        self.states == other.states && self.parts == other.parts && self.matched == other.matched
    }
}

/// What stands beside a place; nothing at an end of the line.
#[derive(Clone, Copy)]
struct Beside {
    before: Option<u8>,
    behind: Option<u8>,
}

impl Beside {
    const INSIDE: Self = Self {
        before: Some(shape::DIGITS),
        behind: Some(shape::DIGITS),
    };

    fn at(shape: &[u8], place: usize) -> Self {
        Self {
            before: place.checked_sub(1).map(|before| shape[before]),
            behind: shape.get(place).copied(),
        }
    }

    /// Whether an assertion holds; none where that is not known.
    fn holds(self, look: Look) -> Option<bool> {
        let is_word = |byte: Option<u8>| {
            byte.is_some_and(|byte| is_open(byte) || byte == b'_' || byte.is_ascii_alphanumeric())
        };
        let (before, behind) = (is_word(self.before), is_word(self.behind));
        Some(match look {
            Look::Start => self.before.is_none(),
            Look::End => self.behind.is_none(),
            Look::StartLF => self.before.is_none_or(|byte| byte == b'\n'),
            Look::EndLF => self.behind.is_none_or(|byte| byte == b'\n'),
            Look::WordAscii => before != behind,
            Look::WordAsciiNegate => before == behind,
            Look::WordStartAscii => !before && behind,
            Look::WordEndAscii => before && !behind,
            Look::WordStartHalfAscii => !before,
            Look::WordEndHalfAscii => !behind,
            _ => return None,
        })
    }
}

enum Todo {
    Go(StateID),
    PutBack(usize, u32),
}

/// Follows expressions over shapes, and remembers what it needs for that.
#[derive(Default)]
pub(super) struct Tracer {
    now: List,
    next: List,
    inside: List,
    further: List,
    todo: Vec<Todo>,
    parts: Vec<u32>,
    found: Option<Box<[u32]>>,
    /// States that only some bytes of the present open place lead on from, and where they may lead.
    partial: Vec<StateID>,
    maybe: Follower,
}

impl Tracer {
    /// What an expression does in all lines of a shape.
    pub(super) fn trace(&mut self, track: &Track, shape: &[u8]) -> Traced {
        match self.follow(&track.nfa, shape) {
            None => Traced::Unknown,
            Some(()) => self.found.take().map_or(Traced::Never, Traced::Always),
        }
    }

    fn follow(&mut self, nfa: &NFA, shape: &[u8]) -> Option<()> {
        let count = nfa.states().len();
        self.found = None;
        self.now.clear(count);
        self.maybe.rest(nfa);
        for place in 0..=shape.len() {
            let is_over = self.now.states.is_empty() && self.maybe.waiting().is_empty();
            if self.found.is_some() && is_over {
                break;
            }
            let mut now = std::mem::take(&mut self.now);
            let at = u32::try_from(place).ok()?;
            self.begin(nfa, &mut now, at, Beside::at(shape, place))?;
            let mut waiting = self.maybe.waiting().iter();
            if waiting.any(|state| now.holds(*state)) {
                return None;
            }
            let mut next = std::mem::take(&mut self.next);
            next.clear(count);
            let beside = Beside::at(shape, (place + 1).min(shape.len()));
            let went = match shape.get(place) {
                Some(byte) if is_open(*byte) => {
                    self.over_open(nfa, *byte, (&now, &mut next), (at, beside))
                }
                byte => {
                    let over = byte.map_or(Over::Nothing, |byte| Over::Byte(*byte));
                    let found = self.step(nfa, over, (&now, &mut next), (at + 1, beside));
                    let may = byte.is_some_and(|byte| self.maybe.goes_over(nfa, *byte));
                    found
                        .filter(|_| !may)
                        .map(|found| self.found = found.or(self.found.take()))
                }
            };
            (self.now, self.next) = (next, now);
            went?;
        }
        Some(())
    }

    /// A match may begin at a place, where none was found before.
    fn begin(&mut self, nfa: &NFA, list: &mut List, at: u32, beside: Beside) -> Option<()> {
        if self.found.is_none() {
            self.parts.clear();
            self.parts.resize(nfa.group_info().slot_len(), NOWHERE);
            self.close(nfa, list, nfa.start_anchored(), (at, beside))?;
        }
        Some(())
    }

    /// An open place, of which one byte and several have to lead to the same.
    fn over_open(
        &mut self,
        nfa: &NFA,
        kind: u8,
        (now, next): (&List, &mut List),
        (at, beside): (u32, Beside),
    ) -> Option<()> {
        let over = Over::Open(shape::bytes_of(kind));
        let within = (INSIDE, Beside::INSIDE);
        let mut inside = std::mem::take(&mut self.inside);
        let mut further = std::mem::take(&mut self.further);
        self.partial.clear();
        let mut go = || {
            let found = self.step(nfa, over, (now, next), (at + 1, beside))?;
            self.found = found.or(self.found.take());
            let edge = std::mem::take(&mut self.partial);
            inside.clear(nfa.states().len());
            self.step(nfa, over, (now, &mut inside), within)?;
            self.begin(nfa, &mut inside, INSIDE, Beside::INSIDE)?;
            further.clear(nfa.states().len());
            self.step(nfa, over, (&inside, &mut further), within)?;
            self.begin(nfa, &mut further, INSIDE, Beside::INSIDE)?;
            let is_even = inside.is_same(&further);
            further.clear(nfa.states().len());
            self.partial.clear();
            self.step(nfa, over, (&inside, &mut further), (at + 1, beside))?;
            let within = std::mem::take(&mut self.partial);
            if self.maybe.goes_over_open(nfa, kind, (&edge, &within)) {
                return None;
            }
            // A match that ends inside is followed by a longer one, or nobody knows where it ends.
            let ends = !inside.matched || next.matched;
            (is_even && ends && next.is_same(&further)).then_some(())
        };
        let went = go();
        self.inside = inside;
        self.further = further;
        went
    }

    /// Goes on from all states of a list; gives the match that it holds.
    fn step(
        &mut self,
        nfa: &NFA,
        over: Over,
        (from, to): (&List, &mut List),
        place: (u32, Beside),
    ) -> Option<Option<Box<[u32]>>> {
        let width = nfa.group_info().slot_len();
        for (number, state) in from.states.iter().enumerate() {
            let state = nfa.state(*state);
            if matches!(state, State::Match { .. }) {
                return Some(Some(from.parts(number, width).into()));
            }
            let next = match over.leads_to(state) {
                Leads::To(next) => Some(next),
                Leads::Nowhere => None,
                Leads::Some => {
                    self.partial.push(from.states[number]);
                    None
                }
            };
            if let Some(next) = next {
                self.parts.clear();
                self.parts.extend_from_slice(from.parts(number, width));
                self.close(nfa, to, next, place)?;
            }
        }
        Some(None)
    }

    /// Adds a state, and those that it leads to without a byte, in the order of what is preferred.
    fn close(
        &mut self,
        nfa: &NFA,
        to: &mut List,
        first: StateID,
        (at, beside): (u32, Beside),
    ) -> Option<()> {
        self.todo.clear();
        self.todo.push(Todo::Go(first));
        while let Some(todo) = self.todo.pop() {
            let state = match todo {
                Todo::PutBack(part, place) => {
                    self.parts[part] = place;
                    continue;
                }
                Todo::Go(state) => state,
            };
            // What comes behind a match is never preferred.
            if to.matched
                || std::mem::replace(&mut to.added[state.as_usize()], to.generation)
                    == to.generation
            {
                continue;
            }
            match nfa.state(state) {
                State::Fail => {}
                State::Look { look, next } => {
                    if beside.holds(*look)? {
                        self.todo.push(Todo::Go(*next));
                    }
                }
                State::Union { alternates } => {
                    self.todo
                        .extend(alternates.iter().rev().map(|one| Todo::Go(*one)));
                }
                State::BinaryUnion { alt1, alt2 } => {
                    self.todo.extend([Todo::Go(*alt2), Todo::Go(*alt1)])
                }
                State::Capture { next, slot, .. } => {
                    let part = slot.as_usize();
                    self.todo.push(Todo::PutBack(part, self.parts[part]));
                    self.parts[part] = at;
                    self.todo.push(Todo::Go(*next));
                }
                end => {
                    to.matched |= matches!(end, State::Match { .. });
                    to.states.push(state);
                    to.parts.extend_from_slice(&self.parts);
                }
            }
        }
        Some(())
    }
}

/// What is gone over.
#[derive(Clone, Copy)]
enum Over {
    Nothing,
    Byte(u8),
    /// Any of these bytes.
    Open(&'static [u8]),
}

/// Where that leads from a state.
enum Leads {
    To(StateID),
    Nowhere,
    /// Some of the bytes lead on.
    Some,
}

impl Over {
    fn leads_to(self, state: &State) -> Leads {
        let to = |next: Option<StateID>| next.map_or(Leads::Nowhere, Leads::To);
        match self {
            Self::Nothing => Leads::Nowhere,
            Self::Byte(byte) => to(after(state, byte)),
            Self::Open(bytes) => {
                let mut all = bytes.iter().map(|byte| after(state, *byte));
                let first = all.next().flatten();
                if all.all(|next| next == first) {
                    to(first)
                } else {
                    Leads::Some
                }
            }
        }
    }
}
