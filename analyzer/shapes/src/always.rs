//! Whether an expression matches every line of a shape, whatever stands at its open places: where each of them is gone over
//! by a part that takes any letters and digits (`pulled .* in`), or lies outside of what matches.

use regex_automata::util::primitives::StateID;

use crate::automaton::Automaton;
use crate::shape::{is_open, may_stand_at};
use crate::steps::{Waiting, after, holds};

/// Whether an automaton without captures, which need not match at the beginning, matches every line of a shape. Where that
/// is not found it may all the same.
pub(crate) fn matches_always(automaton: &Automaton, shape: &[u8]) -> bool {
    let mut search = Search {
        automaton,
        reached: Vec::new(),
        common: Vec::new(),
        next: Vec::new(),
        waiting: Waiting::default(),
    };
    let nfa = automaton.nfa();
    for at in 0..=shape.len() {
        let byte = shape.get(at).copied();
        // What begins in an open place may begin elsewhere in another line, but an anchor before it may hold.
        if byte.is_none_or(|byte| is_open(byte) || automaton.begins_with(byte)) {
            search.reached.push(nfa.start_anchored());
        }
        if search.reached.is_empty() {
            continue;
        }
        let before = at.checked_sub(1).map(|at| shape[at]);
        let anchored = |look| holds(look, before, byte) == Some(true);
        if search.waiting.reach(nfa, &search.reached, anchored) {
            return true;
        }
        match byte {
            Some(kind) if is_open(kind) => search.over_open(kind),
            Some(byte) => search.over(byte),
            None => return false,
        }
    }
    false
}

struct Search<'a> {
    automaton: &'a Automaton,
    /// The states that every line of the shape leads to, in order.
    reached: Vec<StateID>,
    /// What is left of them while an open place is gone over.
    common: Vec<StateID>,
    next: Vec<StateID>,
    waiting: Waiting,
}

impl Search<'_> {
    /// Goes from the waiting states over a byte.
    fn over(&mut self, byte: u8) {
        self.step(byte);
        std::mem::swap(&mut self.reached, &mut self.next);
    }

    /// Goes from them over an open place, whatever and however much stands there.
    fn over_open(&mut self, kind: u8) {
        self.over_any(kind);
        std::mem::swap(&mut self.reached, &mut self.common);
        loop {
            // Between letters and digits.
            let inside = |look| holds(look, Some(kind), Some(kind)) == Some(true);
            let nfa = self.automaton.nfa();
            if self.reached.is_empty() || self.waiting.reach(nfa, &self.reached, inside) {
                // A match inside goes over all that may stand there.
                return;
            }
            self.over_any(kind);
            let before = self.reached.len();
            let Self {
                reached, common, ..
            } = self;
            reached.retain(|state| common.binary_search(state).is_ok());
            if reached.len() == before {
                return;
            }
        }
    }

    /// Finds where they lead to over each byte that may stand at an open place.
    fn over_any(&mut self, kind: u8) {
        let mut bytes = (0..0x80u8).filter(|byte| may_stand_at(*byte, kind));
        if let Some(byte) = bytes.next() {
            self.step(byte);
        }
        std::mem::swap(&mut self.common, &mut self.next);
        for byte in bytes {
            if self.common.is_empty() {
                break;
            }
            self.step(byte);
            let Self { common, next, .. } = self;
            common.retain(|state| next.binary_search(state).is_ok());
        }
    }

    /// Finds where they lead to over a byte.
    fn step(&mut self, byte: u8) {
        let nfa = self.automaton.nfa();
        let states = self.waiting.states.iter();
        let next = states.filter_map(|state| after(nfa.state(*state), byte));
        self.next.clear();
        self.next.extend(next);
        self.next.sort_unstable();
        self.next.dedup();
    }
}

#[cfg(test)]
mod tests {
    use regex::bytes::Regex;

    use super::*;
    use crate::shape;
    use crate::words::Words;

    const SOURCES: [&str; 8] = [
        r"(?i)pull\S*.*unauthorized",
        r"prometheus-\S+",
        r"\bpod \w+ is (?:up|down)\b",
        r"^E\d+ .*refused$",
        r"[0-9a-f]+ left",
        r"node-[a-z0-9]+\b up",
        r"x(?:\d|[a-z])*y",
        r"in \d+s\b|at .*:",
    ];

    proptest::proptest! {
        #[test]
        fn what_always_matches_matches_every_line_of_the_shape(
            parts in proptest::collection::vec(
                "pull|pulled |unauthorized|prometheus-|pod | is up| left|node-| up|x|y|in |s|at |:|E|refused| |-|[0-9]{1,3}|[0-9a-f]{2,6}|veth[0-9a-f]{7}|-[bcdf2-9]{5}|[a-z0-9]{1,7}|\n",
                0..8,
            ),
        ) {
            let line = parts.concat();
            let words = Words::of(["pull", "not"].into_iter());
            let shape = shape::of(line.as_bytes(), false, &words).unwrap();
            for source in SOURCES {
                if matches_always(&Automaton::of(source).unwrap(), &shape) {
                    let is_match = Regex::new(source).unwrap().is_match(line.as_bytes());
                    proptest::prop_assert!(is_match, "{} in {:?}", source, line);
                }
            }
        }
    }

    #[test]
    fn a_part_that_takes_whatever_stands_there_goes_over_it() {
        let words = Words::of(std::iter::empty());
        let always = |source: &str, line: &str| {
            let shape = shape::of(line.as_bytes(), false, &words).unwrap();
            matches_always(&Automaton::of(source).unwrap(), &shape)
        };
        let line = "Failed to pull registry/a:12b4 for web-5d8f9-x7k2p: 401 Unauthorized";
        for (source, expected) in [
            (r"(?i)pull\S*.{0,300}unauthorized", true),
            (r"pull.*Unauthorized$", true),
            (r"web-\S+:", true),
            (r"web-[a-z0-9]+-[a-z0-9]+:", true),
            (r"web-\d+", false),
            (r": \d+ Un", true),
            (r": \d{3} Un", false),
            (r"a:\w+\b for", true),
            (r"a:\w+\B for", false),
            (r"pull.*Forbidden", false),
        ] {
            assert_eq!(always(source, line), expected, "{source}");
        }
    }
}
