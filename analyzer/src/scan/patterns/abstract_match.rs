//! Whether an expression can match any of the lines of one shape, asked of its automaton without running it on each.
//!
//! A shape is a line in which stretches are left open ([`super::shape`]). All states that the automaton can be in are
//! followed at once, over every byte that may stand at an open place. Anchors and word boundaries are taken to hold
//! wherever they stand. So what is said to be impossible is impossible; what is said to be possible may not be.

use regex_automata::nfa::thompson::{Compiler, Config, NFA, State, Transition, WhichCaptures};
use regex_automata::util::primitives::StateID;

use super::ascii;
use super::shape::{DIGITS, HEX, MIXED};

/// Size of an automaton in bytes; a larger one is not asked.
const LARGEST: usize = 1 << 17;

/// The states that runs of letters inside an open place lead through: after a digit, after one to three letters of any
/// kind, and after letters of numbers in base 16 only.
const RUNS: usize = 5;
const AFTER_DIGIT: usize = 0;
const AFTER_HEX: usize = 4;

/// The automaton of an expression for ASCII, without its wide bounds: it matches whatever the expression matches.
pub(super) fn automaton(source: &str) -> Option<NFA> {
    let hir = ascii::without_any_bounds(source)?;
    let config = Config::new()
        .utf8(false)
        .nfa_size_limit(Some(LARGEST))
        .which_captures(WhichCaptures::None);
    Compiler::new().configure(config).build_from_hir(&hir).ok()
}

/// Follows automata over shapes.
#[derive(Default)]
pub(super) struct Follower {
    /// States that wait for a byte, now and after the next one.
    now: Vec<StateID>,
    next: Vec<StateID>,
    /// Those in which a match begins.
    start: Vec<StateID>,
    /// The generation in which a state was last reached, for each place in a run of letters.
    reached: Vec<u32>,
    generation: u32,
    stack: Vec<StateID>,
    /// States to go on from inside an open place.
    open: Vec<(usize, StateID)>,
}

impl Follower {
    /// Whether some line of the shape may be matched.
    pub(super) fn may_match(&mut self, nfa: &NFA, shape: &[u8]) -> bool {
        self.reached.clear();
        self.reached.resize(nfa.states().len() * RUNS, 0);
        self.generation = 0;
        self.turn();
        if self.close(nfa, nfa.start_anchored(), AFTER_DIGIT) {
            return true;
        }
        std::mem::swap(&mut self.start, &mut self.next);
        self.now.clear();
        shape.iter().any(|byte| match *byte {
            DIGITS | HEX | MIXED => self.over_open(nfa, *byte),
            byte => self.over_byte(nfa, byte),
        })
    }

    fn turn(&mut self) {
        self.generation += 1;
        self.next.clear();
        self.open.clear();
    }

    /// One byte that is known; true where a match was reached.
    fn over_byte(&mut self, nfa: &NFA, byte: u8) -> bool {
        self.turn();
        let (now, start) = (
            std::mem::take(&mut self.now),
            std::mem::take(&mut self.start),
        );
        let mut from = now.iter().chain(&start);
        let may = from.any(|state| {
            after(nfa.state(*state), byte).is_some_and(|to| self.close(nfa, to, AFTER_DIGIT))
        });
        self.start = start;
        self.now = std::mem::replace(&mut self.next, now);
        may
    }

    /// An open place: one or more bytes of its kind; true where a match was reached.
    fn over_open(&mut self, nfa: &NFA, kind: u8) -> bool {
        self.turn();
        let runs = if kind == MIXED { RUNS } else { 1 };
        self.open
            .extend(self.now.iter().map(|state| (AFTER_DIGIT, *state)));
        // A match may begin anywhere inside.
        let begin = (0..runs).flat_map(|run| self.start.iter().map(move |state| (run, *state)));
        self.open.extend(begin);
        while let Some((run, state)) = self.open.pop() {
            for (run, ranges) in steps(kind, run) {
                for range in *ranges {
                    if self.over_range(nfa, state, *range, *run) {
                        return true;
                    }
                }
            }
        }
        std::mem::swap(&mut self.now, &mut self.next);
        self.now.sort_unstable();
        self.now.dedup();
        false
    }

    /// Adds a state, and those that it leads to without a byte; true where one of them is a match.
    fn close(&mut self, nfa: &NFA, state: StateID, run: usize) -> bool {
        let first = run * nfa.states().len();
        self.stack.clear();
        self.stack.push(state);
        while let Some(state) = self.stack.pop() {
            let reached = &mut self.reached[first + state.as_usize()];
            if *reached == self.generation {
                continue;
            }
            *reached = self.generation;
            match nfa.state(state) {
                State::Match { .. } => return true,
                State::Look { next, .. } | State::Capture { next, .. } => self.stack.push(*next),
                State::Union { alternates } => self.stack.extend(alternates.iter()),
                State::BinaryUnion { alt1, alt2 } => self.stack.extend([*alt1, *alt2]),
                State::Fail => {}
                State::ByteRange { .. } | State::Sparse(_) | State::Dense(_) => {
                    self.next.push(state);
                    self.open.push((run, state));
                }
            }
        }
        false
    }

    /// Adds what a state leads to over any byte of a range.
    fn over_range(&mut self, nfa: &NFA, state: StateID, range: (u8, u8), run: usize) -> bool {
        let (first, last) = range;
        let within = |one: &&Transition| one.start <= last && one.end >= first;
        match nfa.state(state) {
            State::ByteRange { trans } => within(&trans) && self.close(nfa, trans.next, run),
            State::Sparse(all) => {
                let mut all = all.transitions.iter().filter(within);
                all.any(|one| self.close(nfa, one.next, run))
            }
            State::Dense(all) => (first..=last)
                .filter_map(|byte| all.matches_byte(byte))
                .any(|to| self.close(nfa, to, run)),
            _ => false,
        }
    }
}

/// Where a state leads to over a byte.
fn after(state: &State, byte: u8) -> Option<StateID> {
    match state {
        State::ByteRange { trans } => trans.matches_byte(byte).then_some(trans.next),
        State::Sparse(all) => all.matches_byte(byte),
        State::Dense(all) => all.matches_byte(byte),
        _ => None,
    }
}

type Ranges = &'static [(u8, u8)];

/// What may follow inside an open place, and where in a run of letters that leads.
fn steps(kind: u8, run: usize) -> &'static [(usize, Ranges)] {
    const DIGIT: (usize, Ranges) = (AFTER_DIGIT, &[(b'0', b'9')]);
    const HEX_DIGIT: (usize, Ranges) = (AFTER_DIGIT, &[(b'0', b'9'), (b'a', b'f')]);
    const HEX_LETTER: (usize, Ranges) = (AFTER_HEX, &[(b'a', b'f')]);
    const LETTER: Ranges = &[(b'a', b'z'), (b'A', b'Z')];
    match (kind, run) {
        (DIGITS, _) => &[DIGIT],
        (HEX, _) => &[HEX_DIGIT],
        (_, AFTER_DIGIT) => &[DIGIT, (1, LETTER), HEX_LETTER],
        (_, 1) => &[DIGIT, (2, LETTER)],
        (_, 2) => &[DIGIT, (3, LETTER)],
        (_, AFTER_HEX) => &[DIGIT, HEX_LETTER],
        _ => &[DIGIT],
    }
}

#[cfg(test)]
mod tests {
    use regex::bytes::Regex;

    use super::super::shape;
    use super::*;

    const SOURCES: [&str; 9] = [
        r"(?i)failed to pull.{0,30}unauthorized",
        r"Xid.*?: (?P<code>\d+),",
        r"\bxid\b",
        r"^E\d{4} .*no runtime for (?P<h>\w+)",
        r"veth[0-9a-f]{2,8}$",
        r"\d[a-f]{4}\d",
        r"[g-z]{3}\d|dead\d",
        r"a1b2|cafe",
        r"pull\s+(?:image )?(?P<i>\S+)x\d",
    ];

    fn may(source: &str, text: &[u8], is_escaped: bool) -> Option<bool> {
        let mut shape = Vec::new();
        let words = shape::Words::of(["xid", "for"].into_iter());
        shape::write(text, is_escaped, &words, &mut shape).then_some(())?;
        let mut said = Vec::new();
        if is_escaped {
            shape::unescape(&shape, &mut said).then_some(())?;
            shape = said;
        }
        let nfa = automaton(source).unwrap();
        Some(Follower::default().may_match(&nfa, &shape))
    }

    proptest::proptest! {
        #[test]
        fn no_shape_of_a_line_that_matches_is_called_impossible(
            parts in proptest::collection::vec(
                "failed to pull |unauthorized|Xid|xid|: |,|E1120 |no runtime for |veth|cafe|a1b2|dead|pull image |[ .\"\\\\\n-]|[0-9]{1,4}|[0-9a-f]{1,9}|[0-9a-zA-Z]{1,9}",
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
        let line = b"E1120 10:00:21.1 812 a.go:72] pulled v1.2 sha256:0a1b2c3d4e5f as veth0a1b2c3d";
        for (source, expected) in [
            (r"(?i)pull.{0,300}unauthorized", false),
            (r"no runtime for \w+", false),
            (r"as (?P<name>veth\w+)", true),
            (r"(?i)^e\d+ .*a\.go:72", true),
            (r"sha256:zz", false),
        ] {
            assert_eq!(may(source, line, false), Some(expected), "{source}");
        }
    }
}
