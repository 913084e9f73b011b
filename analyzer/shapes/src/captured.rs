//! What an expression captures in every line of a shape, where no open place decides about it.

use std::ops::Range;

use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::primitives::{PatternID, StateID};

use crate::ascii;
use crate::automaton::Automaton;
use crate::shape::{is_open, may_stand_at};
use crate::steps::{after, holds};

/// The automaton of an expression for ASCII, with its captures.
pub(crate) fn automaton(source: &str) -> Option<Automaton> {
    Automaton::with_captures(&ascii::narrowed(source)?)
}

/// States at places of a shape that are told apart, a bit each; of more it is not asked.
const MOST_PLACES: usize = 4 << 20;

/// What an automaton finds in all lines of a shape, by the names of its groups; none where lines may differ.
///
/// It is followed as a search that goes back does: the first that is found is what every search finds. Wherever that
/// depends on what stands at an open place it is given up.
pub(crate) fn captured<'n>(
    automaton: &'n Automaton,
    shape: &[u8],
) -> Option<Vec<(&'n str, Range<usize>)>> {
    let nfa = automaton.nfa();
    let places = nfa.states().len() * (shape.len() + 1);
    if places > MOST_PLACES {
        return None;
    }
    let mut search = Search {
        nfa,
        shape,
        seen: vec![0; places.div_ceil(64)],
        slots: vec![None; nfa.group_info().slot_len()],
    };
    for start in 0..=shape.len() {
        match shape.get(start) {
            Some(place) if is_open(*place) && automaton.begins_at(*place) => return None,
            Some(byte) if !is_open(*byte) && !automaton.begins_with(*byte) => continue,
            _ => {}
        }
        search.slots.fill(None);
        match search.from(start) {
            Some(true) => break,
            Some(false) if start < shape.len() => {}
            _ => return None,
        }
    }
    let names = nfa.group_info().pattern_names(PatternID::ZERO).enumerate();
    let of = |group: usize| Some(search.slots[2 * group]?..search.slots[2 * group + 1]?);
    let named = names.filter_map(|(group, name)| Some((name?, of(group)?)));
    Some(named.collect())
}

struct Search<'s> {
    nfa: &'s NFA,
    shape: &'s [u8],
    /// States that were tried at a place, a bit each, which need not be tried there again.
    seen: Vec<u64>,
    slots: Vec<Option<usize>>,
}

/// What is left to be tried.
enum Left {
    /// A state at a place.
    Try(StateID, usize),
    /// What a group held before.
    Restore(usize, Option<usize>),
}

impl Search<'_> {
    /// Whether there is a match from a place on; none where an open place decides.
    fn from(&mut self, start: usize) -> Option<bool> {
        let mut left = vec![Left::Try(self.nfa.start_anchored(), start)];
        while let Some(next) = left.pop() {
            match next {
                Left::Restore(slot, before) => self.slots[slot] = before,
                Left::Try(state, at) => {
                    if self.go(state, at, &mut left)? {
                        return Some(true);
                    }
                }
            }
        }
        Some(false)
    }

    fn go(&mut self, mut state: StateID, mut at: usize, left: &mut Vec<Left>) -> Option<bool> {
        loop {
            if self.is_seen(state, at) {
                return Some(false);
            }
            match self.nfa.state(state) {
                State::Match { .. } => return Some(true),
                State::Fail => return Some(false),
                State::Look { look, next } => {
                    let before = at.checked_sub(1).map(|at| self.shape[at]);
                    if !holds(*look, before, self.shape.get(at).copied())? {
                        return Some(false);
                    }
                    state = *next;
                }
                State::Capture { next, slot, .. } => {
                    left.push(Left::Restore(slot.as_usize(), self.slots[slot.as_usize()]));
                    self.slots[slot.as_usize()] = Some(at);
                    state = *next;
                }
                State::Union { alternates } => {
                    let (first, others) = alternates.split_first()?;
                    left.extend(others.iter().rev().map(|one| Left::Try(*one, at)));
                    state = *first;
                }
                State::BinaryUnion { alt1, alt2 } => {
                    left.push(Left::Try(*alt2, at));
                    state = *alt1;
                }
                over => {
                    let Some(byte) = self.shape.get(at) else {
                        return Some(false);
                    };
                    if is_open(*byte) {
                        return (!may_go_over(over, *byte)).then_some(false);
                    }
                    let Some(next) = after(over, *byte) else {
                        return Some(false);
                    };
                    (state, at) = (next, at + 1);
                }
            }
        }
    }

    /// Whether a state was tried at a place; now it is.
    fn is_seen(&mut self, state: StateID, at: usize) -> bool {
        let place = state.as_usize() * (self.shape.len() + 1) + at;
        let (sixty_four, bit) = (&mut self.seen[place / 64], 1 << (place % 64));
        let before = *sixty_four;
        *sixty_four |= bit;
        before & bit != 0
    }
}

/// Whether a state leads on over some byte that may stand at an open place.
fn may_go_over(state: &State, kind: u8) -> bool {
    (0..0x80u8).any(|byte| may_stand_at(byte, kind) && after(state, byte).is_some())
}

#[cfg(test)]
mod tests {
    use regex::bytes::Regex;

    use super::*;
    use crate::shape;
    use crate::words::Words;

    const SOURCES: [&str; 9] = [
        r"\b(?P<device>cilium_vxlan|flannel\.\d+)\b",
        r"(?i)(?P<a>pull\w*) (?P<b>image|[a-z]+)",
        r"(?P<a>x(?:.*y)?) ",
        r"^(?P<a>[A-Z]+):|(?P<b>to\b)",
        r"(?P<a>no(?:t ready)?)(?P<b> \d+)?",
        r"(?P<a>\S+) is (?P<b>up|down)$",
        r"a(?P<a>b*?)(?P<b>c|bc)",
        r"(?P<a>[\w-]*plugin)\B",
        r"(?:^|\s)(?P<a>kube-system)\s",
    ];

    proptest::proptest! {
        #[test]
        fn what_is_found_in_a_shape_is_found_in_every_line_of_it(
            parts in proptest::collection::vec(
                "cilium_vxlan|flannel\\.|pull|pulled |image|x|y| |to|ERR: |no|not ready|\\S| is up|abbc|plugin|kube-system|[0-9]{1,3}|[0-9a-f]{2,6}|veth[0-9a-f]{7}|[a-z0-9]{1,7}|\n",
                0..8,
            ),
        ) {
            let line = parts.concat();
            proptest::prop_assume!(line.is_ascii());
            let words = Words::of(["pull", "not"].into_iter());
            let shape = shape::of(line.as_bytes(), false, &words).unwrap();
            for source in SOURCES {
                let nfa = automaton(source).unwrap();
                let Some(found) = captured(&nfa, &shape) else { continue };
                let regex = Regex::new(source).unwrap();
                let matched = regex.captures(line.as_bytes());
                proptest::prop_assert!(matched.is_some(), "{} in {:?}", source, line);
                let names = regex.capture_names().flatten();
                let wanted: Vec<_> = matched.iter().flat_map(|all| names.clone().filter_map(|name| Some((name, all.name(name)?.as_bytes())))).collect();
                let found: Vec<_> = found.iter().map(|(name, at)| (*name, &shape[at.clone()])).collect();
                proptest::prop_assert_eq!(found, wanted, "{} in {:?}", source, line);
            }
        }
    }

    #[test]
    fn a_match_between_open_places_is_certain_and_one_that_they_decide_is_not() {
        let words = Words::of(std::iter::empty());
        let line = b"cilium_vxlan: no queue on lxc0a1b2c3d4e5f, 17 left";
        let shape = shape::of(line, false, &words).unwrap();
        let found =
            |source: &str| captured(&automaton(source).unwrap(), &shape).map(|all| all.len());
        assert_eq!(found(r"\b(?P<device>cilium_vxlan|flannel\.\d+)\b"), Some(1));
        assert_eq!(found(r"(?P<what>queue)"), Some(1));
        assert_eq!(found(r"(?P<what>queue.*\d)"), None);
        assert_eq!(found(r"(?P<what>left)"), Some(1));
        assert_eq!(found(r"(?P<what>1?7 left)"), None);
        assert_eq!(found(r"(?P<what>missing)"), None);
        let shape = shape::of(b"at 17 left", false, &words).unwrap();
        let within = automaton(r"\B(?P<what>\d) |(?P<left>left)").unwrap();
        assert!(captured(&within, &shape).is_none());
    }
}
