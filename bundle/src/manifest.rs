//! The manifest: what a bundle says about itself, in `casefile.json` (first) and `manifest.json` (last).

use std::collections::BTreeMap;
use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::path::BundlePath;

/// Version of the bundle format, written `major.minor`.
///
/// A reader refuses a newer major version and reads every older one and every minor version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FormatVersion {
    /// Raised when an old reader would misread the bundle.
    pub major: u32,
    /// Raised when something is added that an old reader may ignore.
    pub minor: u32,
}

impl FormatVersion {
    /// The version this crate writes.
    pub const CURRENT: Self = Self { major: 1, minor: 0 };
}

impl fmt::Display for FormatVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl From<FormatVersion> for String {
    fn from(version: FormatVersion) -> Self {
        version.to_string()
    }
}

/// A text that is not a format version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a format version such as \"1.0\"")]
pub struct VersionError(String);

impl TryFrom<String> for FormatVersion {
    type Error = VersionError;

    fn try_from(text: String) -> Result<Self, VersionError> {
        let (major, minor) = text.split_once('.').unwrap_or((text.as_str(), "0"));
        match (major.parse(), minor.parse()) {
            (Ok(major), Ok(minor)) => Ok(Self { major, minor }),
            _ => Err(VersionError(text.chars().take(40).collect())),
        }
    }
}

/// `casefile.json`: what is known when collection starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the bundle format.
    pub format: FormatVersion,
    /// Program and version that wrote it, e.g. `casefile-collector 0.1.0`.
    pub tool: String,
    /// Name of the node that the collector ran on.
    pub node: String,
    /// When collection started, by the node's clock.
    pub started: DateTime<Utc>,
    /// Options of the run that change what is in the bundle.
    #[serde(default)]
    pub options: BTreeMap<String, String>,
    /// The node's clock at the start.
    pub clock: Clock,
}

/// The node's clock, so that times of several sources can be put on one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// Wall clock.
    pub utc: DateTime<Utc>,
    /// `CLOCK_MONOTONIC` at the same moment, in nanoseconds since boot.
    #[serde(default)]
    pub monotonic_ns: Option<u64>,
    /// IANA name of the node's time zone.
    #[serde(default)]
    pub timezone: Option<String>,
    /// Whether the node said that its clock is synchronised.
    #[serde(default)]
    pub synchronised: Option<bool>,
}

/// `manifest.json`: what was attempted, what came of it, and every entry with its hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the bundle format.
    pub format: FormatVersion,
    /// Program and version that wrote it.
    pub tool: String,
    /// Name of the node that the collector ran on.
    pub node: String,
    /// When collection started.
    pub started: DateTime<Utc>,
    /// When collection ended; the "now" of every analysis.
    pub finished: DateTime<Utc>,
    /// Why collection ended early (signal, time limit), if it did.
    #[serde(default)]
    pub interrupted: Option<String>,
    /// Every attempted source, sorted by id.
    #[serde(default)]
    pub sources: Vec<SourceReport>,
    /// Every entry but the manifest itself, in archive order.
    #[serde(default)]
    pub entries: Vec<EntryRecord>,
}

/// What a writer is told at the end; the rest of the [`Manifest`] it knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestEnd {
    /// When collection ended.
    pub finished: DateTime<Utc>,
    /// Why collection ended early, if it did.
    pub interrupted: Option<String>,
    /// Every attempted source, in any order.
    pub sources: Vec<SourceReport>,
}

/// What came of one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// All of it is in the bundle.
    Collected,
    /// Some of it is in the bundle; the notes say what is missing.
    Partial,
    /// Nothing was there, or it was not asked for.
    Skipped,
    /// It was tried and gave nothing usable.
    Failed,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Collected => "collected",
            Self::Partial => "partial",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
        })
    }
}

/// One attempted source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceReport {
    /// Stable short name, e.g. `journal`.
    pub id: String,
    /// Name for people.
    #[serde(default)]
    pub title: String,
    /// What came of it.
    pub outcome: Outcome,
    /// Why it is not `collected`.
    #[serde(default)]
    pub why: Option<String>,
    /// When it began.
    pub started: DateTime<Utc>,
    /// When it ended.
    pub finished: DateTime<Utc>,
    /// Each missing part with its reason, in the order in which they came.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// One entry of the bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryRecord {
    /// Path below the top folder.
    pub path: BundlePath,
    /// Id of the source that made it.
    pub source: String,
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 of the content, 64 lower-case hex digits.
    pub sha256: String,
    /// Byte offset in the `.tar.gz` of the gzip member that holds the entry's tar header.
    pub member_offset: u64,
    /// Byte offset of the tar header in that member's inflated bytes.
    pub offset_in_member: u64,
    /// Why part of the content is missing, e.g. `byte limit 64 MiB, newest kept`.
    #[serde(default)]
    pub truncated: Option<String>,
    /// How many secrets of each class were taken out.
    #[serde(default)]
    pub redactions: BTreeMap<String, u64>,
    /// The host path, command line or API path it came from.
    #[serde(default)]
    pub origin: Option<String>,
}
