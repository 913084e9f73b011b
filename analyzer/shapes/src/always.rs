//! Whether an expression matches every line of a shape, whatever stands at its open places: where each of them is gone over
//! by a part that takes any letters and digits (`pulled .* in`), or lies outside of what matches.

use regex_automata::nfa::thompson::NFA;
use regex_automata::util::primitives::StateID;

use crate::shape::{is_open, may_stand_at};
use crate::steps::{after, holds, waiting, waiting_at_start};

/// Whether an automaton without captures, which need not match at the beginning, matches every line of a shape. Where that
/// is not found it may all the same.
pub(crate) fn matches_always(nfa: &NFA, shape: &[u8]) -> bool {
    let search = Search { nfa };
    let begins = begins(nfa);
    let mut reached: Vec<StateID> = Vec::new();
    for at in 0..=shape.len() {
        let byte = shape.get(at).copied();
        if byte.is_none_or(|byte| begins[usize::from(byte)]) {
            reached.push(nfa.start_anchored());
        }
        if reached.is_empty() {
            continue;
        }
        let before = at.checked_sub(1).map(|at| shape[at]);
        let Some(states) = waiting(nfa, &reached, |look| {
            holds(look, before, byte) == Some(true)
        }) else {
            return true;
        };
        reached = match byte {
            Some(kind) if is_open(kind) => search.over_open(&states, kind),
            Some(byte) => search.over(&states, byte),
            None => return false,
        };
    }
    false
}

struct Search<'n> {
    nfa: &'n NFA,
}

impl Search<'_> {
    /// Where these states lead to over a byte.
    fn over(&self, states: &[StateID], byte: u8) -> Vec<StateID> {
        let all = states.iter();
        let next = all.filter_map(|state| after(self.nfa.state(*state), byte));
        sorted(next.collect())
    }

    /// Where they lead to over an open place, whatever and however much stands there.
    fn over_open(&self, states: &[StateID], kind: u8) -> Vec<StateID> {
        let mut reached = self.over_any(states, kind);
        loop {
            // Between letters and digits.
            let inside = |look| holds(look, Some(kind), Some(kind)) == Some(true);
            let Some(states) = waiting(self.nfa, &reached, inside) else {
                // A match inside, over all that may stand there.
                return reached;
            };
            let next = self.over_any(&states, kind);
            let before = reached.len();
            reached.retain(|state| next.binary_search(state).is_ok());
            if reached.len() == before {
                return reached;
            }
        }
    }

    /// Where they lead to over each byte that may stand at an open place.
    fn over_any(&self, states: &[StateID], kind: u8) -> Vec<StateID> {
        let mut bytes = (0..0x80u8).filter(|byte| may_stand_at(*byte, kind));
        let mut common = match bytes.next() {
            Some(byte) => self.over(states, byte),
            None => Vec::new(),
        };
        for byte in bytes {
            if common.is_empty() {
                break;
            }
            let next = self.over(states, byte);
            common.retain(|state| next.binary_search(state).is_ok());
        }
        common
    }
}

/// The bytes that some match begins with, anchors left aside; all of them where one may be empty.
fn begins(nfa: &NFA) -> [bool; 256] {
    let Some(states) = waiting_at_start(nfa) else {
        return [true; 256];
    };
    std::array::from_fn(|byte| {
        u8::try_from(byte).is_ok_and(|byte| {
            let mut states = states.iter();
            is_open(byte) || states.any(|state| after(nfa.state(*state), byte).is_some())
        })
    })
}

fn sorted(mut states: Vec<StateID>) -> Vec<StateID> {
    states.sort_unstable();
    states.dedup();
    states
}

#[cfg(test)]
mod tests {
    use regex::bytes::Regex;

    use super::*;
    use crate::abstract_match::automaton;
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
                if matches_always(&automaton(source).unwrap(), &shape) {
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
            matches_always(&automaton(source).unwrap(), &shape)
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
