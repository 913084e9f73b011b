//! The command line: what the user typed, and nothing else.

use std::path::PathBuf;

mod ask;
#[cfg(feature = "fleet")]
mod fleet;
mod look;
mod serve;
mod shared;

pub use ask::{
    AskArgs, AskInput, AskMtuArgs, AskPacketArgs, AskRuntimeArgs, AskScheduleArgs, Question,
};
use clap::{Args, Parser, Subcommand, ValueEnum};
#[cfg(feature = "fleet")]
pub use fleet::{
    FleetArgs, FleetCommand, InboxArgs, OddArgs, PlanArgs, RunArgs, SqlArgs, SqlFormat, StatusArgs,
    WorkArgs, WorkerArgs,
};
pub use look::{CatArgs, FilterArgs, GrepArgs, LogsArgs, LoudAs, LsArgs, TimelineArgs};
pub use serve::{AsOf, OpenArgs, ServeArgs, ShellArgs};
use shared::parse_size;
pub use shared::{KeyArgs, MemoryArgs, RuleArgs};

use crate::model::Verdict;

/// Replays a bundle of a GPU node offline, names the root cause and renders the post-mortem.
#[derive(Debug, Parser)]
#[command(name = "casefile-analyzer", version, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write the post-mortem of a bundle as Markdown, HTML and JSON.
    Report(ReportArgs),
    /// Print the diagnosis.
    Diagnose(DiagnoseArgs),
    /// Write the change that removes a cause as files, tried on the captured state.
    Fix(FixArgs),
    /// Say what changed between bundles of one site, and whether the incident is over.
    Diff(DiffArgs),
    /// Ask what the captured state would do with a packet, a runtime handler, a pod or the largest packet.
    Ask(AskArgs),
    /// Analyse every bundle that arrives in a folder or bucket; one page shows what is new and who had it before.
    #[cfg(feature = "fleet")]
    Inbox(InboxArgs),
    /// Ask the analyses of many bundles by SQL.
    #[cfg(feature = "fleet")]
    Sql(SqlArgs),
    /// Analyse the bundles of many nodes in shards, and find what the sick ones have in common.
    #[cfg(feature = "fleet")]
    Fleet(FleetArgs),
    /// Analyse many bundles, with `inbox` and `sql`: not in this build.
    #[cfg(not(feature = "fleet"))]
    #[command(aliases = ["inbox", "sql"], disable_help_flag = true)]
    Fleet(NotBuilt),
    /// Answer kubectl, k9s and other clients of Kubernetes from what was captured, read-only.
    Serve(ServeArgs),
    /// Show a capture in the browser: report, objects, files, logs, search, and what a change would do.
    Open(OpenArgs),
    /// Start a shell whose kubectl talks to the captured cluster.
    Shell(ShellArgs),
    /// Write another tool's capture as a bundle, with secrets taken out.
    Convert(ConvertArgs),
    /// Search all text of a capture.
    Grep(GrepArgs),
    /// Print warnings and errors of all logs, journals and events in the order of time.
    Timeline(TimelineArgs),
    /// Print the log of a container or the journal of a unit.
    Logs(LogsArgs),
    /// List the entries of a bundle.
    Ls(LsArgs),
    /// Print one entry of a bundle.
    Cat(CatArgs),
    /// List, show, test, write and document the rules.
    Rules(RulesArgs),
    /// Show and check page templates of reports.
    Template(TemplateArgs),
    /// Print the JSON schema of report.json and of `diagnose --format json`.
    Schema,
}

/// Arguments of a command that this build does not have, so that they are not what is complained of.
#[cfg(not(feature = "fleet"))]
#[derive(Debug, Args)]
pub struct NotBuilt {
    /// Whatever was typed behind the command.
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub rest: Vec<std::ffi::OsString>,
}

/// Arguments of `report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Bundle, unpacked bundle, folder of bundles or of evidence, text file, or `-` for pasted text. Bundles of
    /// several nodes of one cluster are analysed as one.
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// Take bundles that do not say which cluster they are of as one cluster's.
    #[arg(long)]
    pub join: bool,
    /// Folder to write to; made if it does not exist.
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Formats to write.
    #[arg(long, value_delimiter = ',', default_value = "md,html,json")]
    pub format: Vec<ReportFormat>,
    /// Own page template (minijinja), or the name of a shipped one (`template list`). It makes the Markdown
    /// report, or the HTML or Jira report if its name holds `.html` or `.jira`.
    #[arg(long, value_name = "FILE|NAME")]
    pub template: Option<PathBuf>,
    /// Style sheet that sets the colours of the HTML report anew.
    #[arg(long, value_name = "FILE")]
    pub theme: Option<PathBuf>,
    /// Most bytes of the Markdown and Jira reports, and of the text of adf, e.g. 32KiB; the least important is left out first.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_size: Option<usize>,
    /// Language of the first screen, headings and messages. Causes, evidence and steps stay English.
    #[arg(long, value_name = "LANG", default_value = "en", value_parser = clap::builder::PossibleValuesParser::new(crate::report::lang::codes()))]
    pub lang: String,
    /// Rules.
    #[command(flatten)]
    pub rules: RuleArgs,
    /// Memory.
    #[command(flatten)]
    pub memory: MemoryArgs,
    /// Keys.
    #[command(flatten)]
    pub keys: KeyArgs,
}

/// A format of `report`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Markdown.
    Md,
    /// One HTML file.
    Html,
    /// Wiki markup for Jira and Confluence.
    Jira,
    /// JSON.
    Json,
    /// The first screen as plain text, at most 1,500 characters.
    Ticket,
    /// Markdown with folds, for a comment on GitHub or GitLab.
    Github,
    /// The first screen as Slack blocks.
    Slack,
    /// The first screen as a card of Teams.
    Teams,
    /// An Atlassian Document (JSON), for Jira's newer interfaces.
    Adf,
}

/// Arguments of `diagnose`.
#[derive(Debug, Args)]
pub struct DiagnoseArgs {
    /// Bundle, unpacked bundle, folder of bundles or of evidence, text file, or `-` for pasted text. Bundles of
    /// several nodes of one cluster are analysed as one.
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// Take bundles that do not say which cluster they are of as one cluster's.
    #[arg(long)]
    pub join: bool,
    /// Output.
    #[arg(long, default_value = "text")]
    pub format: DiagnoseFormat,
    /// Judge as of this moment (RFC 3339): what was said later is not known yet, and what ended later still holds.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub at: Option<chrono::DateTime<chrono::Utc>>,
    /// Everything about every cause, not one screen.
    #[arg(long)]
    pub full: bool,
    /// One line.
    #[arg(short, long, conflicts_with = "full")]
    pub quiet: bool,
    /// Exit with 1 if a cause is at least this sure.
    #[arg(long, value_name = "VERDICT")]
    pub fail_on: Option<FailOn>,
    /// Answer about this first: pod/NAMESPACE/NAME or node/NAME.
    #[arg(long, value_name = "SUBJECT", value_parser = parse_subject)]
    pub about: Option<String>,
    /// Rules.
    #[command(flatten)]
    pub rules: RuleArgs,
    /// Memory.
    #[command(flatten)]
    pub memory: MemoryArgs,
    /// Keys.
    #[command(flatten)]
    pub keys: KeyArgs,
}

/// A format of `diagnose`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiagnoseFormat {
    /// For a person.
    Text,
    /// The same in at most 1,500 characters, for a ticket.
    Ticket,
    /// For a program.
    Json,
    /// SARIF 2.1.0.
    Sarif,
    /// JUnit XML.
    Junit,
}

/// A verdict for `--fail-on`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Only confirmed causes.
    Confirmed,
    /// Confirmed and likely causes.
    Likely,
}

impl FailOn {
    /// Whether a cause with this verdict counts.
    pub fn reached_by(self, verdict: Verdict) -> bool {
        match self {
            FailOn::Confirmed => verdict == Verdict::Confirmed,
            FailOn::Likely => verdict <= Verdict::Likely,
        }
    }
}

/// Arguments of `fix`.
#[derive(Debug, Args)]
pub struct FixArgs {
    /// Bundle, unpacked bundle, folder of bundles or of loose text; bundles of one cluster's nodes are taken as one.
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// Take bundles that do not say which cluster they are of as one with the others.
    #[arg(long)]
    pub join: bool,
    /// Folder to write to; made if it does not exist.
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Try this change instead of the rules': a values file, a drop-in, `ufw route` rules, a manifest, or changes.yaml.
    #[arg(long, value_name = "FILE")]
    pub what_if: Vec<PathBuf>,
    /// Cause that the change is for; the first of the diagnosis if not given.
    #[arg(long, value_name = "ID", requires = "what_if")]
    pub cause: Option<String>,
    /// Helm release that a values file is for.
    #[arg(long, value_name = "NAMESPACE/RELEASE", requires = "what_if")]
    pub release: Option<String>,
    /// Path on the node that a configuration file is for.
    #[arg(long, value_name = "PATH", requires = "what_if")]
    pub at: Option<String>,
    /// Node that the change is for, where the bundle holds several.
    #[arg(long, value_name = "NAME", requires = "what_if")]
    pub node: Option<String>,
    /// Rules.
    #[command(flatten)]
    pub rules: RuleArgs,
    /// Memory.
    #[command(flatten)]
    pub memory: MemoryArgs,
    /// Keys.
    #[command(flatten)]
    pub keys: KeyArgs,
}

/// Arguments of `diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// Bundles in the order of time; each is compared with the one before it. A page compares the last with the
    /// first, and tells the history of all.
    #[arg(required = true, num_args = 2.., value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// Folder to write comparison.md, .html, .jira and .json to; made if it does not exist.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Formats; `text` if they are printed, `md,html,json` if they are written to a folder.
    #[arg(long, value_delimiter = ',')]
    pub format: Vec<DiffFormat>,
    /// Rules.
    #[command(flatten)]
    pub rules: RuleArgs,
    /// Memory.
    #[command(flatten)]
    pub memory: MemoryArgs,
    /// Keys.
    #[command(flatten)]
    pub keys: KeyArgs,
}

/// A format of `diff`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum DiffFormat {
    /// For a person at a terminal; printed also where files are written.
    Text,
    /// Markdown, for the ticket.
    Md,
    /// One HTML file.
    Html,
    /// Wiki markup for Jira and Confluence.
    Jira,
    /// For a program: one document a pair; in a folder, one of the first and the last.
    Json,
}

/// Arguments of `template`.
#[derive(Debug, Args)]
pub struct TemplateArgs {
    /// What to do with them.
    #[command(subcommand)]
    pub command: TemplateCommand,
}

/// What to do with templates.
#[derive(Debug, Subcommand)]
pub enum TemplateCommand {
    /// List the templates that ship with the analyzer, and what a template sees.
    List,
    /// Print a shipped template, to start an own one from.
    Show {
        /// Its name.
        name: String,
    },
    /// Say what is wrong with a template, with its lines.
    Check {
        /// The template.
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

/// Reads a moment as RFC 3339 writes it.
pub(crate) fn parse_time(text: &str) -> Result<chrono::DateTime<chrono::Utc>, String> {
    chrono::DateTime::parse_from_rfc3339(text)
        .map(|at| at.to_utc())
        .map_err(|error| format!("{error}; write a moment such as 2026-11-20T10:00:00Z"))
}

/// Reads `pod/NAMESPACE/NAME` or `node/NAME`.
fn parse_subject(text: &str) -> Result<String, String> {
    let parts: Vec<&str> = text.split('/').collect();
    let whole = parts.iter().all(|part| !part.is_empty());
    match parts.as_slice() {
        ["pod", _, _] | ["node", _] if whole => Ok(text.to_owned()),
        _ => Err("write pod/NAMESPACE/NAME or node/NAME".to_owned()),
    }
}

/// Arguments of `convert`.
#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// Capture of any tool: archive, folder, file, or `-` for standard input.
    #[arg(value_name = "INPUT")]
    pub input: PathBuf,
    /// Bundle to write; must not exist.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Keys.
    #[command(flatten)]
    pub keys: KeyArgs,
}

/// Arguments of `rules`.
#[derive(Debug, Args)]
pub struct RulesArgs {
    /// What to do with them.
    #[command(subcommand)]
    pub command: RulesCommand,
}

/// What to do with the rules.
#[derive(Debug, Subcommand)]
pub enum RulesCommand {
    /// List all rules: family, id, severity, title.
    List(RuleArgs),
    /// Show one rule as a page of a runbook.
    Show {
        /// Cause id.
        id: String,
        /// Rules.
        #[command(flatten)]
        rules: RuleArgs,
    },
    /// Check the rules and run the examples inside them.
    Test(RuleArgs),
    /// Write a new rule to start from; it passes its checks and its own examples.
    New {
        /// Cause id: lower-case letters, digits and hyphens.
        id: String,
        /// Family, the folder that it is written to.
        #[arg(long, default_value = "node")]
        family: String,
        /// Folder of rules, as given to `--rules`.
        #[arg(short, long, value_name = "DIR", default_value = ".")]
        output: PathBuf,
    },
    /// Print the JSON schema of a rule file, for editors.
    Schema,
    /// Write all rules as a reference to browse: an index by family, one Markdown page a rule.
    Docs {
        /// Folder to write to; made if it does not exist.
        #[arg(short, long, value_name = "DIR")]
        output: PathBuf,
        /// Rules.
        #[command(flatten)]
        rules: RuleArgs,
    },
}
