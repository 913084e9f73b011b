//! What each command does; each writes to the given output and says how it ended.

mod analysis;
mod ask;
mod context;
mod convert;
mod entries;
#[cfg(feature = "fleet")]
mod fleet;
#[cfg(feature = "fleet")]
mod inbox;
mod input;
mod look;
mod rules;
mod serve;
mod template;

use std::io::Write;

use casefile_bundle::{KeyError, Keys, OpenError};

use crate::cli::{Cli, Command, MemoryArgs, RuleArgs};
use crate::diagnose::{AnalyzeError, Analyzer};
use crate::report;
use crate::rules::{RuleError, RuleSet, load as load_rules};
use crate::scan::Budget;

/// How a command ended; the numbers are the exit codes of the README.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// Findings at or above `--fail-on`.
    Findings = 1,
    /// Wrong use.
    Usage = 2,
    /// Input unreadable or too new.
    Input = 3,
    /// Our own bug.
    Bug = 70,
}

/// What stands at the other end of the outputs; only the program itself may look.
#[derive(Debug, Clone, Copy, Default)]
pub struct Terminal {
    /// Standard output shows colours.
    pub colour: bool,
    /// Columns of standard output, where it is a terminal.
    pub width: Option<usize>,
    /// A person watches standard error.
    pub progress: bool,
}

/// Runs a command; messages for people go to `errors`.
pub fn run(
    cli: Cli,
    terminal: Terminal,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> anyhow::Result<Exit> {
    match cli.command {
        Command::Report(args) => analysis::report(&args, terminal, out, errors),
        Command::Diagnose(args) => analysis::diagnose(&args, terminal, out, errors),
        Command::Fix(args) => analysis::fix(&args, out, errors),
        Command::Diff(args) => analysis::diff(&args, out, errors),
        Command::Ask(args) => ask::run(&args, out, errors),
        #[cfg(feature = "fleet")]
        Command::Inbox(args) => inbox::run(&args, out, errors),
        #[cfg(feature = "fleet")]
        Command::Sql(args) => fleet::sql(&args, out, errors),
        #[cfg(feature = "fleet")]
        Command::Fleet(args) => fleet::run(&args, out, errors),
        #[cfg(not(feature = "fleet"))]
        Command::Fleet(_) => anyhow::bail!(
            "`fleet`, `inbox` and `sql` are not in this build: an SQL engine is most of the time of a build. \
             A release has them, and so has `cargo build --release -p casefile-analyzer --features fleet`"
        ),
        Command::Serve(args) => serve::serve(&args, out, errors),
        Command::Open(args) => serve::open(&args, out, errors),
        Command::Shell(args) => serve::shell(&args, errors),
        Command::Convert(args) => convert::convert(&args, out, errors),
        Command::Grep(args) => look::grep(&args, out, errors),
        Command::Timeline(args) => look::timeline(&args, out, errors),
        Command::Logs(args) => look::logs(&args, out),
        Command::Ls(args) => entries::ls(&args, out),
        Command::Cat(args) => entries::cat(&args, out, errors),
        Command::Rules(args) => rules::run(&args, out, errors),
        Command::Template(args) => template::run(&args, out, errors),
        Command::Schema => {
            out.write_all(report::schema().as_bytes())?;
            Ok(Exit::Done)
        }
    }
}

/// The rules of the analyzer and those of `--rules`. A file that cannot be used is told, and the others
/// run; the exit is then that of wrong usage, so that a script does not take a part of the rules for all.
fn load(
    args: &RuleArgs,
    errors: &mut dyn Write,
) -> anyhow::Result<(RuleSet, Vec<RuleError>, Exit)> {
    let (set, faults) = load_rules(args.rules.as_deref())?;
    for fault in &faults {
        writeln!(
            errors,
            "warning: {fault}; this rule is left out, the others run"
        )?;
    }
    let exit = if faults.is_empty() {
        Exit::Done
    } else {
        Exit::Usage
    };
    Ok((set, faults, exit))
}

fn analyzer(
    (rules, memory): (&RuleArgs, Option<&MemoryArgs>),
    keys: Option<Keys>,
    errors: &mut dyn Write,
) -> anyhow::Result<(Analyzer, Exit)> {
    let (set, faults, exit) = load(rules, errors)?;
    let analyzer = Analyzer::new(set)?.without(&faults);
    let budget = memory.map(|memory| Budget::of(memory.memory));
    let analyzer = analyzer.within(budget.unwrap_or_default());
    Ok((analyzer.opening_with(keys), exit))
}

/// The exit code that an error stands for.
pub fn exit_of(error: &anyhow::Error) -> Exit {
    if error.is::<OpenError>() || error.is::<KeyError>() {
        return Exit::Input;
    }
    match error.downcast_ref::<AnalyzeError>() {
        Some(AnalyzeError::Open(_) | AnalyzeError::NotUnderstood { .. }) => Exit::Input,
        Some(_) => Exit::Bug,
        None => Exit::Usage,
    }
}
