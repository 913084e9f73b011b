//! What the page shows beyond the API: the report, the files of the capture, its lines, and what a change would do.

use std::sync::atomic::AtomicBool;

use bytes::Bytes;
use serde_json::Value;

/// Which lines of a capture a person wants to see. Empty texts ask for nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinesAsk {
    /// The file, as [`Desk::files`] names it; empty for all files.
    pub path: String,
    /// Only lines from this number on, counted from 1.
    pub from: Option<u64>,
    /// Text that lines hold, capital and small letters alike.
    pub text: String,
    /// Only lines from this moment on (RFC 3339).
    pub since: String,
    /// Only lines up to this moment (RFC 3339).
    pub until: String,
    /// `warning`: lines that are at least this severe.
    pub level: String,
    /// Only lines of this node.
    pub node: String,
    /// Only lines of this unit, or of this pod as `NAMESPACE/POD`.
    pub speaker: String,
    /// Whether the chart over time is wanted, for which all lines have to be read.
    pub chart: bool,
}

/// A change that a person proposes. Empty texts ask for nothing; without a text the changes of the rules are tried.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proposed {
    /// Name of the file that it would be, e.g. `values.yaml`: it says what the text is.
    pub name: String,
    /// The text of the file.
    pub text: String,
    /// Cause that it is for.
    pub cause: String,
    /// `NAMESPACE/RELEASE` that a values file is for.
    pub release: String,
    /// Path on the node that a configuration file is for.
    pub at: String,
    /// Node that it is for.
    pub node: String,
}

/// What the page of one context shows beyond the API. Errors are sentences for the person.
pub trait Desk: Send + Sync {
    /// The report as one HTML file, made when it is asked for first. Links to lines of files lead to
    /// `/ui/#c=PREFIX&file=PATH&line=NUMBER`, with the prefix of this context.
    fn report(&self, prefix: &str) -> Result<Bytes, String>;

    /// `[{"path", "size"}]`: files of the capture; the size in bytes where it is known.
    fn files(&self) -> Result<Value, String>;

    /// `{"lines": [{"path", "line", "at", "who", "level", "text"}], "more", "chart"}`. `gone` is set when nobody waits any more.
    fn lines(&self, ask: &LinesAsk, gone: &AtomicBool) -> Result<Value, String>;

    /// `[{"cause", "title", "verdict"}]`: what a change can be for.
    fn causes(&self) -> Result<Value, String>;

    /// `{"text", "files": [{"name", "text"}]}`: what the change would do to the captured state. Nothing is applied.
    fn attempt(&self, change: &Proposed) -> Result<Value, String>;
}
