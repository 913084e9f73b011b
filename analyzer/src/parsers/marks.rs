//! Texts that a stretch of a log is read for by itself, and seldom holds.

use super::{Extracted, Extractor};

/// What systemd says when a unit failed, as the texts that its lines hold: the result since 229, the state before 236
/// (`unit_notify` in src/core/unit.c).
pub const UNIT_FAILED: [&str; 2] = [": Failed with result '", " entered failed state"];
/// What the kernel says first.
pub const KERNEL_STARTED: &str = "Linux version ";
/// How Kubernetes' end-to-end tests log the failure of one (`test/e2e/framework/log.go`), behind the time.
pub const TEST_FAILED: &str = ": FAIL: ";
/// What a kubelet says of its own node: that the API server does not let it register, that its network is not ready, that its
/// status does not arrive (`pkg/kubelet/kubelet_node_status.go`, `kubelet.go`).
pub const NODE_TROUBLES: [&str; 3] = [
    "nable to register node",
    "untime network not ready",
    "nable to update node status",
];
/// How a section's caption begins where `tail` and `head` print several files.
pub const CAPTION: &str = "==> ";

/// What a line holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// One of [`UNIT_FAILED`].
    UnitFailed,
    /// [`KERNEL_STARTED`].
    KernelStarted,
    /// [`TEST_FAILED`].
    TestFailed,
    /// [`CAPTION`].
    Caption,
    /// One of [`NODE_TROUBLES`].
    NodeTrouble,
}

/// Which marks the lines of a stretch hold.
#[derive(Debug, Clone, Copy, Default)]
pub struct Marks {
    /// Some hold one of [`UNIT_FAILED`].
    pub unit_failed: bool,
    /// Some hold [`KERNEL_STARTED`].
    pub kernel_started: bool,
    /// Some hold [`TEST_FAILED`].
    pub test_failed: bool,
    /// Some hold [`CAPTION`].
    pub caption: bool,
    /// Some hold one of [`NODE_TROUBLES`].
    pub node_trouble: bool,
}

impl Marks {
    /// Those of a stretch in which nothing was looked for: it may hold all of them.
    pub fn unsearched() -> Self {
        Self {
            unit_failed: true,
            kernel_started: true,
            test_failed: true,
            caption: true,
            node_trouble: true,
        }
    }

    /// Notes one of a line.
    pub fn note(&mut self, mark: Mark) {
        match mark {
            Mark::UnitFailed => self.unit_failed = true,
            Mark::KernelStarted => self.kernel_started = true,
            Mark::TestFailed => self.test_failed = true,
            Mark::Caption => self.caption = true,
            Mark::NodeTrouble => self.node_trouble = true,
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
pub(super) static TEST_RESULT: Extractor = Extractor {
    needle: TEST_FAILED,
    extract: |_| Some(Extracted::Mark(Mark::TestFailed)),
};
pub(super) static SECTION: Extractor = Extractor {
    needle: CAPTION,
    extract: |_| Some(Extracted::Mark(Mark::Caption)),
};
pub(super) static NOT_REGISTERED: Extractor = Extractor {
    needle: NODE_TROUBLES[0],
    extract: |_| Some(Extracted::Mark(Mark::NodeTrouble)),
};
pub(super) static NETWORK_NOT_READY: Extractor = Extractor {
    needle: NODE_TROUBLES[1],
    extract: |_| Some(Extracted::Mark(Mark::NodeTrouble)),
};
pub(super) static STATUS_NOT_UPDATED: Extractor = Extractor {
    needle: NODE_TROUBLES[2],
    extract: |_| Some(Extracted::Mark(Mark::NodeTrouble)),
};
