//! Facts about loose text itself: whose output a stretch of it is, and which of its lines tell a time.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::{FactType, Field};

/// Loose text is of a cluster of OpenShift.
#[derive(Debug, Clone, Serialize)]
pub struct OpenShiftMark;

impl FactType for OpenShiftMark {
    const KIND: &'static str = "openshift-mark";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        String::new()
    }
}

/// A stretch of loose text that is of one object, by the command that printed it or by its head; the place is its first
/// line.
#[derive(Debug, Clone, Serialize)]
pub struct Printed {
    /// Kind in small letters.
    pub kind: String,
    /// Namespace; empty where the text names none.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// How many lines it has.
    pub lines: u32,
}

impl FactType for Printed {
    const KIND: &'static str = "printed";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        match self.namespace.as_str() {
            "" => format!("{}/{}", self.kind, self.name),
            namespace => format!("{}/{namespace}/{}", self.kind, self.name),
        }
    }
}

/// The newest date with its zone that a loose text tells.
#[derive(Debug, Clone, Serialize)]
pub struct NewestDate {
    /// The date.
    pub at: DateTime<Utc>,
}

impl FactType for NewestDate {
    const KIND: &'static str = "newest-date";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        String::new()
    }
}

/// A line of loose text that tells a time or an age; the text of the fact is the line.
#[derive(Debug, Clone, Serialize)]
pub struct TimedLine {
    /// It is a row of a table, whose ages count back from when the table was printed.
    pub row: bool,
}

impl TimedLine {
    /// Lines below a line of a log in which it may date one that has no time.
    pub const REACH: u32 = 40;
}

impl FactType for TimedLine {
    const KIND: &'static str = "timed-line";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        String::new()
    }
}
