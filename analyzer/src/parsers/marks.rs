//! Texts that a stretch of a log is read for by itself, and seldom holds.

use super::{Extracted, Extractor};

/// What systemd says when a unit failed, as the texts that its lines hold: the result since 229, the state before 236
/// (`unit_notify` in src/core/unit.c).
pub const UNIT_FAILED: [&str; 2] = [": Failed with result '", " entered failed state"];
/// What the kernel says first.
pub const KERNEL_STARTED: &str = "Linux version ";

/// What a line holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// One of [`UNIT_FAILED`].
    UnitFailed,
    /// [`KERNEL_STARTED`].
    KernelStarted,
}

/// Which marks the lines of a stretch hold.
#[derive(Debug, Clone, Copy, Default)]
pub struct Marks {
    /// Some hold one of [`UNIT_FAILED`].
    pub unit_failed: bool,
    /// Some hold [`KERNEL_STARTED`].
    pub kernel_started: bool,
}

impl Marks {
    /// Notes one of a line.
    pub fn note(&mut self, mark: Mark) {
        match mark {
            Mark::UnitFailed => self.unit_failed = true,
            Mark::KernelStarted => self.kernel_started = true,
        }
    }
}

pub(super) static UNIT_RESULT: Extractor = Extractor {
    needle: UNIT_FAILED[0],
    extract: |_| Some(Extracted::Mark(Mark::UnitFailed)),
};
pub(super) static UNIT_STATE: Extractor = Extractor {
    needle: UNIT_FAILED[1],
    extract: |_| Some(Extracted::Mark(Mark::UnitFailed)),
};
pub(super) static KERNEL_START: Extractor = Extractor {
    needle: KERNEL_STARTED,
    extract: |_| Some(Extracted::Mark(Mark::KernelStarted)),
};
