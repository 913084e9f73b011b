//! How far around a token was looked to judge it: what was judged without such a look is judged alike wherever it stands,
//! and what was judged with one, wherever the same stands around it.

use std::cell::Cell;

thread_local! {
    static ASKED: Cell<Asked> = const { Cell::new(Asked::NOTHING) };
}

/// What was asked about the place of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Anything.
    pub(crate) any: bool,
    /// So many bytes in front of it at most were looked at.
    pub(crate) before: usize,
    /// And so many behind it.
    pub(crate) behind: usize,
}

impl Asked {
    const NOTHING: Self = Self {
        any: false,
        before: 0,
        behind: 0,
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
    });
}

/// One that is answered by as much as there is.
pub(crate) fn ask_far() {
    ask(usize::MAX, 0);
}

/// Whether there was one since the last call of [`asked`], which this is not.
pub(crate) fn asks() -> bool {
    ASKED.get().any
}

/// The questions since the last call.
pub(crate) fn asked() -> Asked {
    ASKED.replace(Asked::NOTHING)
}
