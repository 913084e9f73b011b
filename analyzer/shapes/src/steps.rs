//! Steps of automata over shapes, which have bytes that are known and open places.

use regex_automata::nfa::thompson::{NFA, State, Transition};
use regex_automata::util::look::Look;
use regex_automata::util::primitives::StateID;
use regex_syntax::is_word_byte;

use crate::shape::is_open;

/// Where a state leads to over a byte.
pub(crate) fn after(state: &State, byte: u8) -> Option<StateID> {
    match state {
        State::ByteRange { trans } => trans.matches_byte(byte).then_some(trans.next),
        State::Sparse(all) => all.matches_byte(byte),
        State::Dense(all) => all.matches_byte(byte),
        _ => None,
    }
}

/// The states that wait for a byte.
#[derive(Default)]
pub(crate) struct Waiting {
    pub(crate) states: Vec<StateID>,
    open: Vec<StateID>,
    /// For each state the turn in which it was seen last.
    seen: Vec<u32>,
    turn: u32,
}

impl Waiting {
    /// Those that are reached from others over anchors that hold; true where a match is reached.
    pub(crate) fn reach(
        &mut self,
        nfa: &NFA,
        from: &[StateID],
        holds: impl Fn(Look) -> bool,
    ) -> bool {
        self.turn = self.turn.wrapping_add(1);
        self.seen
            .resize(nfa.states().len(), self.turn.wrapping_sub(1));
        self.states.clear();
        self.open.clear();
        self.open.extend_from_slice(from);
        while let Some(state) = self.open.pop() {
            let seen = &mut self.seen[state.as_usize()];
            if std::mem::replace(seen, self.turn) == self.turn {
                continue;
            }
            match nfa.state(state) {
                State::Match { .. } => return true,
                State::Fail => {}
                State::Look { look, next } => self.open.extend(holds(*look).then_some(*next)),
                State::Capture { next, .. } => self.open.push(*next),
                State::Union { alternates } => self.open.extend(alternates.iter()),
                State::BinaryUnion { alt1, alt2 } => self.open.extend([*alt1, *alt2]),
                _ => self.states.push(state),
            }
        }
        false
    }
}

/// Whether an anchor asks for the bound of a word.
pub(crate) fn is_boundary(look: Look) -> bool {
    matches!(look, Look::WordAscii | Look::WordUnicode)
}

/// Over which bytes a state leads where.
pub(crate) fn transitions(state: &State) -> impl Iterator<Item = Transition> + '_ {
    let single = match state {
        State::ByteRange { trans } => std::slice::from_ref(trans),
        State::Sparse(all) => &all.transitions[..],
        _ => &[],
    };
    let dense = match state {
        State::Dense(all) => Some(all),
        _ => None,
    };
    let each = dense.into_iter().flat_map(|all| {
        let to = |byte| all.matches_byte(byte);
        (0..=u8::MAX).filter_map(move |byte| Some((byte, to(byte)?)))
    });
    let each = each.map(|(byte, next)| Transition {
        start: byte,
        end: byte,
        next,
    });
    single.iter().copied().chain(each)
}

/// Whether an anchor holds between two bytes of a shape. What stands at open places are letters and digits.
pub(crate) fn holds(look: Look, before: Option<u8>, behind: Option<u8>) -> Option<bool> {
    let is_word = |byte: Option<u8>| byte.is_some_and(|byte| is_open(byte) || is_word_byte(byte));
    let (word_before, word_behind) = (is_word(before), is_word(behind));
    Some(match look {
        Look::Start => before.is_none(),
        Look::End => behind.is_none(),
        Look::StartLF => before.is_none_or(|byte| byte == b'\n'),
        Look::EndLF => behind.is_none_or(|byte| byte == b'\n'),
        Look::WordAscii => word_before != word_behind,
        Look::WordAsciiNegate => word_before == word_behind,
        Look::WordStartAscii => !word_before && word_behind,
        Look::WordEndAscii => word_before && !word_behind,
        _ => return None,
    })
}
