//! How far around a token was looked to judge it: what was judged without such a look is judged alike wherever it stands,
//! and what was judged with one, wherever the same stands around it. Most tokens are judged alike whatever their decimal
//! digits are.

use std::cell::Cell;
use std::ops::Range;

thread_local! {
    static ASKED: Cell<Asked> = const { Cell::new(Asked::NOTHING) };
    static TOKEN: Cell<[usize; 2]> = const { Cell::new(NOWHERE) };
}

/// No place is within it.
const NOWHERE: [usize; 2] = [usize::MAX, 0];

/// What was asked about the place of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Anything.
    pub(crate) any: bool,
    /// So many bytes in front of it at most were looked at.
    pub(crate) before: usize,
    /// And so many behind it.
    pub(crate) behind: usize,
    /// Which decimal digits stand in it made a difference.
    pub(crate) digits: bool,
    /// What is known of ids did, or more of them are known now.
    pub(crate) ids: bool,
}

impl Asked {
    const NOTHING: Self = Self {
        any: false,
        before: 0,
        behind: 0,
        digits: false,
        ids: false,
    };
}

/// A question about a place that is answered by so many bytes in front of it and behind it. Those of the token itself need
/// not be counted, nor the one on each side of it.
pub(crate) fn ask(before: usize, behind: usize) {
    let asked = ASKED.get();
    ASKED.set(Asked {
        any: true,
        before: asked.before.max(before),
        behind: asked.behind.max(behind),
        digits: true,
        ids: asked.ids,
    });
}

/// One that is answered by as much as there is.
pub(crate) fn ask_far() {
    ask(usize::MAX, 0);
}

/// One that is answered by so many bytes in front of a part of the token and behind it. It is none about the place of the
/// token where the token holds them all.
pub(crate) fn ask_at(part: &Range<usize>, before: usize, behind: usize) {
    let [start, end] = TOKEN.get();
    let before = before.saturating_sub(part.start.saturating_sub(start));
    let behind = behind.saturating_sub(end.saturating_sub(part.end));
    match before + behind {
        0 => ask_digits(),
        _ => ask(before, behind),
    }
}

/// One that is answered by so many bytes at the end of some.
pub(crate) fn ask_before(before: &[u8], length: usize) {
    ask_at(&(before.len()..usize::MAX), length, 0);
}

/// The same where of the byte beside the token only that it is no letter or digit is asked.
pub(crate) fn ask_beside(before: &[u8], length: usize) {
    let [start, _] = TOKEN.get();
    match before.len() + 1 >= start.saturating_add(length) {
        true => ask_digits(),
        false => ask_before(before, length),
    }
}

/// A question that is answered by which decimal digits a token holds, not only by where they stand in it.
pub(crate) fn ask_digits() {
    ASKED.set(Asked {
        digits: true,
        ..ASKED.get()
    });
}

/// One that is answered by what is known of ids, or whose answer is known of one from now on.
pub(crate) fn ask_ids() {
    ASKED.set(Asked {
        ids: true,
        ..ASKED.get()
    });
}

/// Whether there was one about a place since the last call of [`asked`], which this is not.
pub(crate) fn asks() -> bool {
    ASKED.get().any
}

/// The questions since the last call.
pub(crate) fn asked() -> Asked {
    ASKED.replace(Asked::NOTHING)
}

/// Says which token the next questions are about, as if none was asked yet.
pub(crate) fn ask_about(token: &Range<usize>) {
    ASKED.set(Asked::NOTHING);
    TOKEN.set([token.start, token.end]);
}

/// The next questions are about places in another text than the token.
pub(crate) fn ask_elsewhere() {
    TOKEN.set(NOWHERE);
}
