//! Whether an expression can match any of the lines of one shape, asked of its automaton without running it on each.
//!
//! A shape is a line in which stretches are left open ([`crate::shape`]). All states that the automaton can be in are
//! followed at once, over every byte that may stand at an open place. Anchors and word boundaries are taken to hold
//! wherever they stand, but for boundaries inside an open place, where all bytes are of words. So what is said to be
//! impossible is impossible; what is said to be possible may not be.

use std::collections::HashSet;

use regex_automata::nfa::thompson::{NFA, State, Transition};
use regex_automata::util::primitives::StateID;

use crate::alphabet;
use crate::automaton::Automaton;
use crate::runs::{Letters, Run};
use crate::shape::{DRAWN, HEX, ID, MIXED, is_open};
use crate::steps::{after, is_boundary, transitions};
use crate::words::Words;

/// Follows automata over shapes.
#[derive(Default)]
pub struct Follower {
    /// States that wait for a byte, now and after the next one.
    now: Vec<StateID>,
    next: Vec<StateID>,
    /// The generation in which a state was last reached, for each numbered run.
    reached: Vec<u32>,
    generation: u32,
    /// States that were reached after letters that are known.
    begun: HashSet<(Run, StateID)>,
    stack: Vec<(StateID, Run)>,
    /// States to go on from inside an open place.
    open: Vec<(Run, StateID)>,
    /// The kind of the open place that is gone through.
    place: Option<u8>,
}

impl Follower {
    /// Whether some line of the shape may be matched. In shapes the words stand as they are.
    pub fn may_match(&mut self, automaton: &Automaton, words: &Words, shape: &[u8]) -> bool {
        if automaton.start().is_none() {
            return true;
        }
        self.renew(automaton.nfa());
        self.now.clear();
        shape.iter().any(|byte| match is_open(*byte) {
            true => self.over_open(automaton, words, *byte),
            false => self.over_byte(automaton, *byte),
        })
    }

    /// Makes room for the states of an automaton; what was reached in others was reached in former generations.
    fn renew(&mut self, nfa: &NFA) {
        if self.generation > u32::MAX / 2 {
            self.reached.fill(0);
            self.generation = 0;
        }
        let room = nfa.states().len() * Run::NUMBERS;
        self.reached.resize(self.reached.len().max(room), 0);
    }

    fn turn(&mut self, place: Option<u8>) {
        self.generation += 1;
        self.begun.clear();
        self.next.clear();
        self.open.clear();
        self.place = place;
    }

    /// One byte that is known; true where a match was reached.
    fn over_byte(&mut self, automaton: &Automaton, byte: u8) -> bool {
        let begins = automaton.begins_with(byte);
        if !begins && self.now.is_empty() {
            return false;
        }
        self.turn(None);
        let nfa = automaton.nfa();
        let now = std::mem::take(&mut self.now);
        let begin = automaton.start().filter(|_| begins).into_iter().flatten();
        let may = now.iter().chain(begin).any(|state| {
            after(nfa.state(*state), byte).is_some_and(|to| self.close(nfa, to, Run::FREE))
        });
        self.now = std::mem::replace(&mut self.next, now);
        may
    }

    /// An open place: one or more bytes of its kind; true where a match was reached.
    fn over_open(&mut self, automaton: &Automaton, words: &Words, kind: u8) -> bool {
        if self.now.is_empty() && !automaton.begins_at(kind) {
            return false;
        }
        self.turn(Some(kind));
        let nfa = automaton.nfa();
        // A place of base 16, or of digits and letters, holds a digit, which may come later.
        let first = Run {
            has_digit: !matches!(kind, HEX | MIXED),
            ..Run::FREE
        };
        let from = self
            .now
            .iter()
            .chain(automaton.start().into_iter().flatten());
        self.open.extend(from.map(|state| (first, *state)));
        // A match may begin anywhere inside.
        const MIXED_RUNS: [Run; 5] = [
            Run::FREE,
            Run::after(Letters::Any(1)),
            Run::after(Letters::Any(2)),
            Run::after(Letters::Any(3)),
            Run::after(Letters::Hex),
        ];
        let runs = if kind == MIXED {
            &MIXED_RUNS[..]
        } else {
            &MIXED_RUNS[..1]
        };
        let inside = runs
            .iter()
            .flat_map(|run| automaton.inside().iter().map(|state| (*run, *state)));
        self.open.extend(inside);
        while let Some((run, state)) = self.open.pop() {
            let may = transitions(nfa.state(state)).any(|one| match kind {
                MIXED => self.over_mixed(nfa, words, (run, one)),
                DRAWN => {
                    let mut letters = alphabet::RANGES.iter();
                    letters.any(|range| within(one, *range)) && self.close(nfa, one.next, run)
                }
                _ => self.over_number(nfa, kind, (run, one)),
            });
            if may {
                return true;
            }
        }
        std::mem::swap(&mut self.now, &mut self.next);
        self.now.sort_unstable();
        self.now.dedup();
        false
    }

    /// Goes on over what may follow in digits and numbers of base 16.
    fn over_number(&mut self, nfa: &NFA, kind: u8, (run, one): (Run, Transition)) -> bool {
        let digit = within(one, (b'0', b'9')) && self.close(nfa, one.next, Run::FREE);
        digit
            || matches!(kind, HEX | ID)
                && within(one, (b'a', b'f'))
                && self.close(nfa, one.next, run)
    }

    /// Goes on over what may follow where digits and letters stand together.
    fn over_mixed(&mut self, nfa: &NFA, words: &Words, (run, one): (Run, Transition)) -> bool {
        if within(one, (b'0', b'9')) && self.close(nfa, one.next, Run::FREE) {
            return true;
        }
        let letters = run.letters;
        let is_hex = within(one, (b'a', b'f')) && matches!(letters, Letters::None | Letters::Hex);
        if is_hex && self.close(nfa, one.next, run.with(Letters::Hex)) {
            return true;
        }
        if !within(one, (b'a', b'z')) && !within(one, (b'A', b'Z')) {
            return false;
        }
        let letter = (one.start == one.end).then_some(one.start);
        let letters = match (letters, letter) {
            (Letters::None, Some(letter)) => Letters::Begun([letter, 0]),
            (Letters::None, None) => Letters::Any(1),
            (Letters::Begun([first, 0]), Some(letter)) => Letters::Begun([first, letter]),
            (Letters::Begun([_, 0]), None) | (Letters::Any(1), _) => Letters::Any(2),
            (Letters::Begun([first, second]), Some(letter))
                if words.stands_in_shapes([first, second, letter]) =>
            {
                return false;
            }
            (Letters::Begun(_), _) | (Letters::Any(2), _) => Letters::Any(3),
            (Letters::Any(_) | Letters::Hex | Letters::Over, _) => return false,
        };
        let run = run.with(letters);
        self.close(nfa, one.next, run)
    }

    /// Adds a state, and those that it leads to without a byte; true where one of them is a match.
    fn close(&mut self, nfa: &NFA, state: StateID, run: Run) -> bool {
        self.stack.clear();
        self.stack.push((state, run));
        while let Some((state, run)) = self.stack.pop() {
            if !self.is_new(nfa, state, run) {
                continue;
            }
            let is_open = self.place.is_some();
            let may_end = run.has_digit;
            match nfa.state(state) {
                State::Match { .. } => return true,
                State::Look { look, next } if is_open && is_boundary(*look) => {
                    if may_end {
                        self.stack.push((*next, Run::after(Letters::Over)));
                    }
                }
                State::Look { next, .. } | State::Capture { next, .. } => {
                    self.stack.push((*next, run));
                }
                State::Union { alternates } => {
                    let all = alternates.iter().map(|next| (*next, run));
                    self.stack.extend(all);
                }
                State::BinaryUnion { alt1, alt2 } => {
                    self.stack.extend([(*alt1, run), (*alt2, run)]);
                }
                State::Fail => {}
                State::ByteRange { .. } | State::Sparse(_) | State::Dense(_) => {
                    if may_end {
                        self.next.push(state);
                    }
                    if is_open && run.letters != Letters::Over {
                        self.open.push((run, state));
                    }
                }
            }
        }
        false
    }

    fn is_new(&mut self, nfa: &NFA, state: StateID, run: Run) -> bool {
        let Some(number) = run.number() else {
            return self.begun.insert((run, state));
        };
        let first = number * nfa.states().len();
        let reached = &mut self.reached[first + state.as_usize()];
        std::mem::replace(reached, self.generation) != self.generation
    }
}

/// Whether a transition takes some byte of a range.
fn within(one: Transition, (first, last): (u8, u8)) -> bool {
    one.start <= last && one.end >= first
}

#[cfg(test)]
mod tests {
    use regex::bytes::Regex;

    use super::*;
    use crate::shape;

    const SOURCES: [&str; 15] = [
        r"(?i)\bdbe\b|\bfor\b.*x",
        r"(?-i:\bFOR)\d",
        r"(?i)for\d|\d(?:xid|fox)",
        r"\b[a-f]+\b.\b\d+\b",
        r"(?i)failed to pull.{0,30}unauthorized",
        r"Xid.*?: (?P<code>\d+),",
        r"\bxid\b",
        r"^E\d{4} .*no runtime for (?P<h>\w+)",
        r"veth[0-9a-f]{2,8}$",
        r"\d[a-f]{4}\d",
        r"[g-z]{3}\d|dead\d",
        r"a1b2|cafe",
        r"pull\s+(?:image )?(?P<i>\S+)x\d",
        r"\bxk\w+|c\d[kx]",
        r"-\d{4}-[a-f]+-",
    ];

    fn may(source: &str, text: &[u8], is_escaped: bool) -> Option<bool> {
        let words = Words::of(["xid", "for", "6443"].into_iter());
        let mut shape = shape::of(text, is_escaped, &words)?;
        let mut said = Vec::new();
        if is_escaped {
            shape::unescape(&shape, &mut said).then_some(())?;
            shape = said;
        }
        let nfa = Automaton::of(source).unwrap();
        Some(Follower::default().may_match(&nfa, &words, &shape))
    }

    proptest::proptest! {
        #[test]
        fn no_shape_of_a_line_that_matches_is_called_impossible(
            parts in proptest::collection::vec(
                "failed to pull |unauthorized|Xid|xid|for|FOR|fox|dbe|: |,|E1120 |no runtime for |veth|cafe|a1b2|dead|pull image |[0-9a-f]{8}-[0-9]{4}-[a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|-[b-d2-9]{5}|[a-f0-9]{3}-[xk7]{5}|5m0s|30T00|[a-zF]{2,5}[0-9a-f]{6,9}|[0-9]{2}6443[0-9a-f]{2}|[ .\"\\\\\n-]|[0-9]{1,4}|[0-9a-f]{1,9}|[0-9a-zA-Z]{1,9}",
                0..9,
            ),
        ) {
            let text = parts.concat();
            let json = serde_json::to_string(&text).unwrap();
            for source in SOURCES {
                if Regex::new(source).unwrap().is_match(text.as_bytes()) {
                    proptest::prop_assert_eq!(may(source, text.as_bytes(), false), Some(true), "{}", source);
                    let escaped = &json.as_bytes()[1..json.len() - 1];
                    proptest::prop_assert_ne!(may(source, escaped, true), Some(false), "{}", source);
                }
            }
        }
    }

    #[test]
    fn what_the_words_of_a_line_exclude_is_impossible() {
        let line =
            b"E1120 10:00:21.1 812 a.go:72] pulled q1r2s3t sha256:0a1b2c3d4e5f as veth0a1b2c3d";
        for (source, expected) in [
            (r"(?i)pull.{0,300}unauthorized", false),
            (r"no runtime for \w+", false),
            (r"as (?P<name>veth\w+)", true),
            (r"(?i)^e\d+ .*a\.go:72", true),
            (r"sha256:zz", false),
            (r"as \bdbe\b", false),
            (r"(?i)sha256:.*\bdbe\b", false),
            (r"\bfor\d", false),
            (r"(?i)d \bdbe\b", false),
            (r"(?i)d \bd?be\b", false),
            (r"(?i)d \bd3e\b", true),
        ] {
            assert_eq!(may(source, line, false), Some(expected), "{source}");
        }
    }
}
