//! Logs of containers and files of nodes. They stay where the capture has them and are read when someone asks.

use std::ops::ControlFlow;

/// Reads texts of the capture.
pub trait Texts: Send + Sync {
    /// Gives the text of an entry piece by piece until `each` has enough.
    ///
    /// Errors: a sentence that says why the entry could not be read.
    fn read(
        &self,
        entry: &str,
        each: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), String>;
}

/// No texts at all.
#[derive(Debug, Clone, Copy)]
pub struct NoTexts;

impl Texts for NoTexts {
    fn read(&self, entry: &str, _: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<(), String> {
        Err(format!("{entry} is not in this recording"))
    }
}

/// Which log of a container a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Run {
    /// Of the container that ran, or ended last.
    Current,
    /// Of the one before.
    Previous,
}

/// A container's log.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogFile {
    /// Namespace of the pod.
    pub namespace: String,
    /// The pod.
    pub pod: String,
    /// The container.
    pub container: String,
    /// Which run of it.
    pub run: Run,
    /// The entry that holds it.
    pub entry: String,
}

/// A file of a node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeFile {
    /// The path that the node's log endpoint gives it.
    pub path: String,
    /// The entry that holds it.
    pub entry: String,
}
