//! containerd as a node would run it, computed from captured files alone.
//!
//! Nothing here reads a disk or a clock: the input is a [`CapturedTree`] of host files, captured process and
//! kubelet facts, and the version of the daemon. The output says what that daemon would do with its
//! configuration (which handlers exist, whether it starts, which file and line decided it), which of the
//! daemons on a node the kubelet talks to, and which of them the NVIDIA toolkit was told to configure.

mod args;
pub mod checks;
pub mod config;
mod cri_rules;
mod cri_shape;
#[cfg(test)]
mod cri_tests;
mod distributions;
pub mod handlers;
pub mod instances;
pub mod kubelet;
pub mod kubelet_settings;
mod load;
mod lost;
pub mod merge;
pub mod migrate;
mod needs;
#[cfg(test)]
mod node_tests;
pub mod parse;
pub mod paths;
pub mod problem;
pub mod release;
mod shapes;
pub mod staleness;
#[cfg(test)]
mod tests;
pub mod toolkit;
mod toolkit_env;
pub mod tree;
pub mod value;

pub use checks::HandlerCheck;
pub use config::{EffectiveConfig, LoadedFile, RootFile, Starts, resolve};
pub use handlers::{Cri, Handler, Known, Origin, cri_view};
pub use instances::{
    Evidence, Instance, InstanceKind, NodeFacts, Process, find_instances, shared_paths,
};
pub use kubelet::{KubeletUse, kubelet_uses};
pub use problem::{ConfigProblem, Effect};
pub use release::{Containerd, Release};
pub use staleness::{NewerFile, Staleness, staleness};
pub use toolkit::{
    EnvVar, StrayHandler, ToolkitInput, ToolkitTarget, stray_handlers, toolkit_target,
};
pub use tree::{CapturedPath, CapturedTree, GlobResult, MapTree};
pub use value::{FileLine, Node, Section, Setting, Superseded, Value};

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
