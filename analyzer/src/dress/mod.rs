//! How a line is said: what a log puts before its message, and what in a text nobody said at all.
//!
//! [`line`] takes the dress off a line: the clock, the host, who speaks and how loudly. [`document`] tells
//! text that is read from text that was said: help, comments, lists, schemas, source code.

pub(crate) mod clock;
mod comments;
pub mod document;
mod history;
pub mod line;
pub mod mend;
mod page;
pub mod respell;
pub mod rewrap;
mod rows;
mod typed;

use serde::Deserialize;

pub use line::{Dress, Level, host, undress};

/// How much weight a line carries as a statement, the most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Voice {
    /// Somebody said it, and not as a mere note.
    #[default]
    Spoken,
    /// Somebody said it, and what exactly is a guess: the text was damaged.
    Mended,
    /// Its speaker calls it information: a setting, a start, a step that went well.
    Note,
    /// The vocabulary knows it: every start says it, or it reads like a fault and is none.
    Routine,
    /// Nothing says who said it, or whether it was said, in a text that is more than what a person pastes.
    Bare,
}

/// What a message is, whatever it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Nature {
    /// Something does not work, and this names it.
    Fault,
    /// Something does not work because something else does not.
    Consequence,
    /// What the component says when it starts, on a healthy machine too.
    StartUp,
    /// Something works again.
    Recovery,
    /// It reads like a fault and is none.
    Benign,
}

impl Nature {
    /// Whether a line that holds such a message is a mere note, whatever else its words match.
    pub fn is_note(self) -> bool {
        matches!(self, Nature::StartUp | Nature::Benign)
    }
}

/// What a recovery ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// The node is ready: its runtime answers, its pod network is up, the API server knows it.
    NodeReady,
    /// The API server answers its clients.
    ApiServerReady,
    /// etcd answers in time.
    EtcdReady,
    /// The driver has initialised the GPUs.
    DriverLoaded,
    /// A kubelet got through its start.
    KubeletStarted,
    /// The kubelet's client certificate is valid.
    KubeletCertificate,
    /// The driver in a virtual machine got its license.
    VgpuLicensed,
}
