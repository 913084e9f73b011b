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

/// Which marks the lines of a stretch hold, a bit each.
#[derive(Debug, Clone, Copy, Default)]
pub struct Marks(u8);

impl Marks {
    /// Those of a stretch in which nothing was looked for: it may hold all of them.
    pub fn unsearched() -> Self {
        Self(u8::MAX)
    }

    /// Notes one of a line.
    pub fn note(&mut self, mark: Mark) {
        self.0 |= 1 << mark as u8;
    }

    /// Whether some line may hold it.
    pub fn hold(self, mark: Mark) -> bool {
        self.0 & (1 << mark as u8) != 0
    }
}

/// Extractors that note a mark where a text stands.
macro_rules! marks {
    ($($name:ident: $needle:expr => $mark:ident,)+) => {
        $(pub(super) static $name: Extractor = Extractor {
            needle: $needle,
            extract: |_| Some(Extracted::Mark(Mark::$mark)),
        };)+
    };
}

marks! {
    UNIT_RESULT: UNIT_FAILED[0] => UnitFailed,
    UNIT_STATE: UNIT_FAILED[1] => UnitFailed,
    KERNEL_START: KERNEL_STARTED => KernelStarted,
    TEST_RESULT: TEST_FAILED => TestFailed,
    SECTION: CAPTION => Caption,
    NOT_REGISTERED: NODE_TROUBLES[0] => NodeTrouble,
    NETWORK_NOT_READY: NODE_TROUBLES[1] => NodeTrouble,
    STATUS_NOT_UPDATED: NODE_TROUBLES[2] => NodeTrouble,
}
