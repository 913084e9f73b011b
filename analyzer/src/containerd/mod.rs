//! containerd as a node would run it, computed from captured files alone.
//!
//! Nothing here reads a disk or a clock: the input is a [`CapturedTree`] of host files, captured process and
//! kubelet facts, and the version of the daemon. The output says what that daemon would do with its
//! configuration (which handlers exist, whether it starts, which file and line decided it), which of the
//! daemons on a node the kubelet talks to, and which of them the NVIDIA toolkit was told to configure.

pub mod config;
mod cri_rules;
mod cri_shape;
pub mod handlers;
pub mod instances;
pub mod kubelet;
pub mod merge;
pub mod migrate;
pub mod paths;
pub mod problem;
pub mod release;
pub mod toolkit;
pub mod tree;
pub mod value;

pub use config::{EffectiveConfig, LoadedFile, RootFile, Starts, resolve};
pub use handlers::{Cri, Handler, HandlerCheck, Known, Origin, cri_view};
// pub use instances::{Evidence, Instance, InstanceKind, KubeletUse, NodeFacts, Process, find_instances};
pub use problem::{ConfigProblem, Effect};
pub use release::{Containerd, Release};
// pub use toolkit::{ToolkitInput, ToolkitTarget, toolkit_target};
pub use tree::{Captured, CapturedTree, GlobResult, MapTree};
pub use value::{Node, Place, Section, Setting, Superseded, Value};

use serde::Serialize;

/// An answer that may honestly be missing: `Unknown` means the capture does not hold what would decide it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// Decided, positively.
    Yes,
    /// Decided, negatively.
    No,
    /// Not decidable from what was captured.
    Unknown,
}
