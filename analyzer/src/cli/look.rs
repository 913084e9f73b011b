//! The commands that look through the texts of a capture.

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use clap::{Args, ValueEnum};

use super::KeyArgs;

/// Which lines are looked at.
#[derive(Debug, Args)]
pub struct FilterArgs {
    /// Only lines from this moment on (RFC 3339).
    #[arg(long, value_name = "TIME", value_parser = super::parse_time)]
    pub since: Option<DateTime<Utc>>,
    /// Only lines up to this moment (RFC 3339).
    #[arg(long, value_name = "TIME", value_parser = super::parse_time)]
    pub until: Option<DateTime<Utc>>,
    /// Only lines of this node.
    #[arg(long, value_name = "NAME")]
    pub node: Option<String>,
    /// Only lines of this unit, e.g. kubelet.
    #[arg(long, value_name = "UNIT")]
    pub unit: Option<String>,
    /// Only lines of this pod.
    #[arg(long, value_name = "NAMESPACE/POD")]
    pub pod: Option<String>,
    /// Only lines that are at least this loud, as far as they say.
    #[arg(long)]
    pub level: Option<LoudAs>,
}

/// How loud a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LoudAs {
    /// Debug and louder.
    Debug,
    /// Information and louder.
    Info,
    /// Warnings and errors.
    Warning,
    /// Errors.
    Error,
}

/// Arguments of `grep`.
#[derive(Debug, Args)]
pub struct GrepArgs {
    /// Regular expression to look for.
    #[arg(value_name = "PATTERN")]
    pub pattern: String,
    /// Bundle, unpacked bundle or capture of another tool.
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// Take capital and small letters as equal.
    #[arg(long)]
    pub ignore_case: bool,
    /// Take the pattern as plain text.
    #[arg(short = 'F', long)]
    pub fixed: bool,
    /// Lines to print around each hit.
    #[arg(short = 'C', long, value_name = "NUMBER", default_value_t = 0)]
    pub context: usize,
    /// Print one JSON object a line.
    #[arg(long)]
    pub json: bool,
    /// Which lines.
    #[command(flatten)]
    pub filter: FilterArgs,
    /// Keys.
    #[command(flatten)]
    pub keys: KeyArgs,
}

/// Arguments of `timeline`.
#[derive(Debug, Args)]
pub struct TimelineArgs {
    /// Bundle, unpacked bundle or capture of another tool. Those of one cluster are merged.
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// Only lines that match this regular expression.
    #[arg(long, value_name = "PATTERN")]
    pub grep: Option<String>,
    /// Most lines; the newest are kept.
    #[arg(long, value_name = "NUMBER", default_value_t = 1000)]
    pub limit: usize,
    /// Print one JSON object a line.
    #[arg(long)]
    pub json: bool,
    /// Which lines; without --level, warnings and errors.
    #[command(flatten)]
    pub filter: FilterArgs,
    /// Keys.
    #[command(flatten)]
    pub keys: KeyArgs,
}

/// Arguments of `logs`.
#[derive(Debug, Args)]
pub struct LogsArgs {
    /// Bundle, unpacked bundle or capture of another tool.
    #[arg(value_name = "INPUT")]
    pub input: PathBuf,
    /// NAMESPACE/POD, NAMESPACE/POD/CONTAINER, or NODE/UNIT.
    #[arg(value_name = "SUBJECT")]
    pub subject: String,
    /// The log of the run before the last restart.
    #[arg(short, long)]
    pub previous: bool,
    /// Only the last lines.
    #[arg(long, value_name = "NUMBER")]
    pub tail: Option<usize>,
    /// Only lines from this moment on (RFC 3339).
    #[arg(long, value_name = "TIME", value_parser = super::parse_time)]
    pub since: Option<DateTime<Utc>>,
    /// With the time of each line.
    #[arg(long)]
    pub timestamps: bool,
    /// Keys.
    #[command(flatten)]
    pub keys: KeyArgs,
}

/// Arguments of `ls`.
#[derive(Debug, Args)]
pub struct LsArgs {
    /// Bundle.
    #[arg(value_name = "INPUT")]
    pub input: PathBuf,
    /// Only entries whose path starts with this.
    #[arg(value_name = "PREFIX", default_value = "")]
    pub prefix: String,
    /// Keys.
    #[command(flatten)]
    pub keys: KeyArgs,
}

/// Arguments of `cat`.
#[derive(Debug, Clone, Args)]
pub struct CatArgs {
    /// Bundle.
    #[arg(value_name = "INPUT")]
    pub input: PathBuf,
    /// Entry, as `ls` prints it; `PATH:LINE` prints that line only.
    #[arg(value_name = "PATH")]
    pub path: String,
    /// Keys.
    #[command(flatten)]
    pub keys: KeyArgs,
}
