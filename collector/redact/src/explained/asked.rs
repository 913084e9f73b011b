//! Whether anything asked what a place says: what was judged without that question is judged alike wherever it stands.

use std::cell::Cell;

thread_local! {
    static ASKED: Cell<bool> = const { Cell::new(false) };
}

/// A question about a place.
pub(crate) fn ask() {
    ASKED.set(true);
}

/// Whether there was one since the last call of [`asked`], which this is not.
pub(crate) fn asks() -> bool {
    ASKED.get()
}

/// Whether there was one since the last call.
pub(crate) fn asked() -> bool {
    ASKED.replace(false)
}
