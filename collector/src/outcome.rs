//! How a source ended: an outcome, and a note for every part that is missing.

use casefile_bundle::Outcome as ManifestOutcome;

/// What became of one source. Failure is data: it lands in the manifest, never in an early return of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Everything the source stands for was taken.
    Collected,
    /// Something was taken and something is missing; the notes say what.
    Partial {
        /// One sentence, without a full stop at its end.
        why: String,
    },
    /// Nothing was taken, because there is nothing here to take or it was not asked for.
    Skipped {
        /// One sentence, without a full stop at its end.
        why: String,
    },
    /// It should have been there, and could not be taken.
    Failed {
        /// One sentence, without a full stop at its end.
        why: String,
    },
}

impl Outcome {
    /// Something is missing.
    pub fn partial(why: impl Into<String>) -> Self {
        Self::Partial { why: why.into() }
    }

    /// Not there, or not wanted.
    pub fn skipped(why: impl Into<String>) -> Self {
        Self::Skipped { why: why.into() }
    }

    /// Could not be taken.
    pub fn failed(why: impl Into<String>) -> Self {
        Self::Failed { why: why.into() }
    }

    /// How a source ended that took something or nothing, by the first reason for what is missing.
    pub fn of(missing: impl IntoIterator<Item = String>, taken: bool) -> Self {
        match missing.into_iter().next() {
            None => Self::Collected,
            Some(why) if taken => Self::partial(why),
            Some(why) if why.starts_with("skipped") => Self::skipped(why),
            Some(why) => Self::failed(why),
        }
    }

    /// The reason, where the outcome has one.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Collected => None,
            Self::Partial { why } | Self::Skipped { why } | Self::Failed { why } => Some(why),
        }
    }

    /// The word that the manifest and the closing summary use.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Collected => "collected",
            Self::Partial { .. } => "partial",
            Self::Skipped { .. } => "skipped",
            Self::Failed { .. } => "failed",
        }
    }

    /// The manifest's form of it.
    pub fn manifest(&self) -> ManifestOutcome {
        match self {
            Self::Collected => ManifestOutcome::Collected,
            Self::Partial { .. } => ManifestOutcome::Partial,
            Self::Skipped { .. } => ManifestOutcome::Skipped,
            Self::Failed { .. } => ManifestOutcome::Failed,
        }
    }
}
