//! A source: one thing worth knowing about a node or its cluster, how long it may take, and how it is collected.
//!
//! Adding one is a file in `sources/` and its entry in `bundle/src/sources.rs`.

use std::ops::Deref;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use casefile_bundle::sources::About;
pub use casefile_bundle::sources::Scope;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::cluster::ClusterHandle;
use crate::exec::Exec;
use crate::host::Host;
use crate::options::Options;
use crate::out::Out;
use crate::outcome::Outcome;

/// A future that a plain `fn` pointer can return.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// One source, as the static list has it.
#[derive(Debug)]
pub struct Source {
    /// Name, title and scope, as the analyzer knows them too.
    pub about: &'static About,
    /// It is asked to stop after this (see [`SourceCtx::cancel`]) and dropped a little later.
    pub timeout: Duration,
    /// The most bytes of content (before compression) that it may add to the bundle.
    pub max_bytes: u64,
    /// Everything it would read, run and request. Must not run or request anything.
    pub plan: fn(&PlanCtx<'_>) -> Vec<PlanItem>,
    /// Collects. Must say in notes ([`Out::note`]) what is missing and why.
    pub collect: fn(SourceCtx) -> BoxFuture<'static, Outcome>,
}

impl Deref for Source {
    type Target = About;

    fn deref(&self) -> &About {
        self.about
    }
}

/// What a source is given to work with. Cheap to clone, so that a source may spawn parts of itself.
#[derive(Clone)]
pub struct SourceCtx {
    /// The source itself.
    pub source: &'static Source,
    /// This run's options.
    pub options: Arc<Options>,
    /// The only way to host files.
    pub host: Host,
    /// The only way to start a process.
    pub exec: Exec,
    /// The only way into the bundle.
    pub out: Out,
    /// The API server, found and connected on first use and shared by all sources.
    pub cluster: Arc<ClusterHandle>,
    /// Cancelled when the source's time is up or the run is interrupted: stop soon, finish what is open. A source
    /// that does not is dropped two seconds later; its open entries are kept and marked as cut.
    pub cancel: CancellationToken,
}

/// What `plan` may look at: the host's files (to find globs and instances), never a process or a server.
pub struct PlanCtx<'a> {
    /// This run's options.
    pub options: &'a Options,
    /// Host files.
    pub host: &'a Host,
    /// To resolve a command's absolute path.
    pub exec: &'a Exec,
}

/// One thing that a source would do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum PlanItem {
    /// Reads a file, or every file that a glob names.
    File {
        /// Absolute path or glob, below the root.
        path: String,
    },
    /// Runs a command.
    Command {
        /// The program's absolute path, or none where it is not installed.
        program: Option<PathBuf>,
        /// Its arguments in full; a value found out at run time is written `<like this>`.
        line: String,
    },
    /// Asks a container runtime.
    Cri {
        /// Its socket.
        socket: String,
        /// Service and method of the Container Runtime Interface; all of them only read.
        call: &'static str,
    },
    /// Sends something over the network, which only `--probe` does.
    Probe {
        /// `dns` or `tcp`.
        protocol: &'static str,
        /// Whom, and for what name.
        target: String,
    },
    /// Asks the API server.
    Api {
        /// `GET` for nearly all; `POST` only for access reviews.
        method: &'static str,
        /// The request's path and query; a value found out at run time is written `<like this>`.
        path: String,
    },
}

impl PlanItem {
    /// A file or glob.
    pub fn file(path: impl Into<String>) -> Self {
        Self::File { path: path.into() }
    }

    /// A GET request.
    pub fn get(path: impl Into<String>) -> Self {
        Self::Api {
            method: "GET",
            path: path.into(),
        }
    }
}
