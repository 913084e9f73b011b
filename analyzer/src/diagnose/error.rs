//! Why there is no analysis of an input.

use std::path::{Path, PathBuf};

use casefile_bundle::OpenError;

use crate::layouts::LAYOUTS;
use crate::model::Analysis;
use crate::rules::RuleError;

/// Why there is no analysis.
#[derive(Debug, thiserror::Error)]
pub enum AnalyzeError {
    /// The input cannot be read.
    #[error("{0}")]
    Open(OpenError),
    /// Nothing in the input is of a kind that is read.
    #[error(
        "{path}: nothing in it was understood ({entries} files{why}). What is accepted, packed in any way: a bundle of \
         casefile-collector; a capture of {accepted}; logs, and what kubectl, nvidia-smi and other programs of a node print",
        path = path.display()
    )]
    NotUnderstood {
        /// The input.
        path: PathBuf,
        /// Files in it.
        entries: u64,
        /// What could not be read, behind a semicolon; empty where all could.
        why: String,
        /// Tools whose captures are recognised.
        accepted: String,
    },
    /// A shipped rule is broken; a bug.
    #[error("a shipped rule is broken")]
    Rules(#[source] RuleError),
    /// A table of patterns does not compile; a bug.
    #[error("the pattern set does not compile: {0}")]
    Patterns(String),
}

impl AnalyzeError {
    /// Says of an analysis in which nothing was understood what is accepted.
    pub(crate) fn not_understood(input: &Path, analysis: &Analysis) -> Self {
        let mut titles: Vec<&str> = LAYOUTS.iter().map(|layout| layout.title).collect();
        titles.dedup();
        Self::NotUnderstood {
            path: input.to_owned(),
            entries: analysis.input.entries,
            why: analysis
                .problems
                .first()
                .map(|problem| format!("; {}", problem.text))
                .unwrap_or_default(),
            accepted: titles.join(", "),
        }
    }
}
