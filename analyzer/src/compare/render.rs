//! A comparison for a person at a terminal.

use super::{Comparison, Outcome};
use crate::report::escape::one_line;

/// Rows shown of one table.
const ROWS: usize = 30;

impl Outcome {
    pub(super) fn sentence(self) -> &'static str {
        match self {
            Outcome::Resolved => {
                "Resolved: every cause of the first bundle is gone, and nothing new is confirmed or likely."
            }
            Outcome::Partly => "Partly resolved: some causes are gone, others remain or are new.",
            Outcome::NotResolved => "Not resolved: no cause is gone.",
            Outcome::CannotBeSaid => {
                "Whether it is resolved cannot be said from these two bundles."
            }
            Outcome::NothingToResolve => {
                "Neither bundle shows a cause that is confirmed or likely."
            }
        }
    }
}

/// For a terminal.
pub(crate) fn text(one: &Comparison) -> String {
    let mut out = format!(
        "{}\n{} -> {}\n",
        one.outcome.sentence(),
        name(&one.before),
        name(&one.after)
    );
    let mut say = |line: String| {
        out.push_str(&line);
        out.push('\n');
    };
    for warning in &one.warnings {
        say(format!("  warning: {}", one_line(warning)));
    }
    for cause in &one.causes {
        say(format!(
            "  {:<14}  {} ({})",
            cause.fate.word(),
            one_line(&cause.title),
            cause.cause
        ));
        say(format!(
            "                  {}",
            one_line(&crate::facts::excerpt(&cause.why, 200))
        ));
    }
    for value in one.counts.iter().chain(&one.environment).take(ROWS) {
        say(format!(
            "  {}: {} -> {}",
            one_line(&value.label),
            side(&value.before),
            side(&value.after)
        ));
    }
    for workload in one.workloads.iter().take(ROWS) {
        say(format!(
            "  {}: {} -> {}",
            one_line(&workload.subject),
            pod(&workload.before),
            pod(&workload.after)
        ));
    }
    for change in one.configuration.iter().take(ROWS) {
        say(format!("  {} {}", change.how, one_line(&change.path)));
        for line in change.lines.iter().take(6) {
            say(format!("      {}", one_line(line)));
        }
    }
    out
}

/// What a bundle is called: its node and time where it states them, else its file name.
fn name(input: &crate::model::Input) -> String {
    match (&input.node, input.finished) {
        (Some(node), Some(at)) => format!(
            "{} of {}",
            one_line(node),
            at.format("%Y-%m-%d %H:%M:%S UTC")
        ),
        _ => one_line(&input.name),
    }
}

fn side(value: &Option<String>) -> String {
    value
        .as_deref()
        .map_or_else(|| "not there".to_owned(), one_line)
}

fn pod(state: &Option<String>) -> String {
    state
        .as_deref()
        .map_or_else(|| "not known".to_owned(), one_line)
}
