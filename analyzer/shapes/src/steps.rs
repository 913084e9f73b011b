//! Steps of automata over shapes, which have bytes that are known and open places.

use regex_automata::nfa::thompson::{NFA, State};
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

/// The states that wait for a byte, reached from these over anchors that hold; none where a match is reached.
pub(crate) fn waiting(
    nfa: &NFA,
    from: &[StateID],
    holds: impl Fn(Look) -> bool,
) -> Option<Vec<StateID>> {
    let mut open = from.to_vec();
    let mut seen: Vec<StateID> = Vec::new();
    let mut waiting = Vec::new();
    while let Some(state) = open.pop() {
        if seen.contains(&state) {
            continue;
        }
        seen.push(state);
        match nfa.state(state) {
            State::Match { .. } => return None,
            State::Fail => {}
            State::Look { look, next } => open.extend(holds(*look).then_some(*next)),
            State::Capture { next, .. } => open.push(*next),
            State::Union { alternates } => open.extend(alternates.iter()),
            State::BinaryUnion { alt1, alt2 } => open.extend([*alt1, *alt2]),
            _ => waiting.push(state),
        }
    }
    Some(waiting)
}

/// The same from where a match begins, anchors left aside.
pub(crate) fn waiting_at_start(nfa: &NFA) -> Option<Vec<StateID>> {
    waiting(nfa, &[nfa.start_anchored()], |_| true)
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
