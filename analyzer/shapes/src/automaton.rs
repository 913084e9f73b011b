//! The automaton of an expression, with where its matches begin: it is asked about very many shapes.

use regex_automata::nfa::thompson::{Compiler, Config, NFA, WhichCaptures};
use regex_automata::util::primitives::StateID;
use regex_syntax::hir::Hir;

use crate::ascii;
use crate::shape::{DIGITS, ID, may_stand_at};
use crate::steps::{Waiting, is_boundary, transitions};

/// Kinds of open places.
const PLACES: usize = (ID - DIGITS + 1) as usize;
/// Size of an automaton in bytes; a larger one is not asked.
const LARGEST: usize = 1 << 17;

/// An automaton for texts that are ASCII.
#[derive(Debug, Clone)]
pub struct Automaton {
    nfa: NFA,
    /// The states in which a match begins, anchors left aside; none where one may be empty.
    start: Option<Box<[StateID]>>,
    /// Of those the ones in which one begins that need not begin at the bound of a word.
    inside: Box<[StateID]>,
    /// The bytes that some match begins with.
    begins: Bytes,
    /// For each kind of open places whether one of those may stand there.
    places: [bool; PLACES],
}

impl Automaton {
    /// That of an expression without its wide bounds: it matches whatever the expression matches. None where it is too large.
    pub fn of(source: &str) -> Option<Self> {
        Self::without_captures(&ascii::without_any_bounds(source)?)
    }

    /// That of an expression with its captures; none where it is too large.
    pub(crate) fn with_captures(hir: &Hir) -> Option<Self> {
        Self::compiled(hir, WhichCaptures::All)
    }

    /// That of an expression; none where it is too large.
    pub(crate) fn without_captures(hir: &Hir) -> Option<Self> {
        Self::compiled(hir, WhichCaptures::None)
    }

    fn compiled(hir: &Hir, captures: WhichCaptures) -> Option<Self> {
        let config = Config::new()
            .utf8(false)
            .nfa_size_limit(Some(LARGEST))
            .which_captures(captures);
        let nfa = Compiler::new().configure(config).build_from_hir(hir).ok()?;
        let begin = [nfa.start_anchored()];
        let mut waiting = Waiting::default();
        let is_empty = waiting.reach(&nfa, &begin, |_| true);
        let start = (!is_empty).then(|| Box::from(&*waiting.states));
        waiting.reach(&nfa, &begin, |look| !is_boundary(look));
        let of_start = |start| Bytes::of(&nfa, start);
        let begins = start.as_deref().map_or(Bytes::ALL, of_start);
        let may_begin = |place| (0..0x80).any(|byte| may_stand_at(byte, place) && begins.has(byte));
        let mut places = [false; PLACES];
        for (may, place) in places.iter_mut().zip(DIGITS..) {
            *may = may_begin(place);
        }
        Some(Self {
            begins,
            places,
            inside: waiting.states.into(),
            start,
            nfa,
        })
    }

    pub(crate) fn nfa(&self) -> &NFA {
        &self.nfa
    }

    pub(crate) fn start(&self) -> Option<&[StateID]> {
        self.start.as_deref()
    }

    pub(crate) fn inside(&self) -> &[StateID] {
        &self.inside
    }

    /// Whether some match begins with a byte, anchors left aside.
    pub(crate) fn begins_with(&self, byte: u8) -> bool {
        self.begins.has(byte)
    }

    /// The same for some byte that may stand at an open place.
    pub(crate) fn begins_at(&self, place: u8) -> bool {
        let kind = usize::from(place - DIGITS);
        self.places.get(kind).is_none_or(|may| *may)
    }
}

/// Some bytes.
#[derive(Debug, Clone, Default)]
struct Bytes([u64; 4]);

impl Bytes {
    const ALL: Self = Self([u64::MAX; 4]);

    /// Those over which some of these states lead on.
    fn of(nfa: &NFA, states: &[StateID]) -> Self {
        let mut all = Self::default();
        let states = states.iter().map(|state| nfa.state(*state));
        for one in states.flat_map(transitions) {
            for byte in one.start..=one.end {
                all.0[usize::from(byte / 64)] |= 1 << (byte % 64);
            }
        }
        all
    }

    fn has(&self, byte: u8) -> bool {
        self.0[usize::from(byte / 64)] & (1 << (byte % 64)) != 0
    }
}
