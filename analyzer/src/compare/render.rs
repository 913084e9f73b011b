//! A comparison for people: a screen, or a section for the ticket.

use std::fmt::Write as _;

use super::{Comparison, Outcome};
use crate::report::escape::{md_code, md_fence, md_text, one_line};

/// Rows shown of one table.
const ROWS: usize = 30;

impl Outcome {
    fn sentence(self) -> &'static str {
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
pub fn text(one: &Comparison) -> String {
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
        .map_or_else(|| "well or gone".to_owned(), one_line)
}

/// For the ticket: the section "Resolution Confirmation" and the message that goes with it.
pub fn markdown(one: &Comparison) -> String {
    let mut page = format!(
        "# Before and after\n\n**{}**\n\n- Before: {}{}\n- After: {}{}\n\n",
        one.outcome.sentence(),
        md_code(&one.before.name, false),
        time(one.before.finished),
        md_code(&one.after.name, false),
        time(one.after.finished),
    );
    for warning in &one.warnings {
        let _ = writeln!(page, "> Note: {}", md_text(warning));
    }
    page.push_str("\n## Causes\n\n| | cause | before | after | why |\n|---|---|---|---|---|\n");
    for cause in &one.causes {
        let verdict = |verdict: Option<crate::model::Verdict>| {
            verdict.map_or("not seen", crate::model::Verdict::word)
        };
        let _ = writeln!(
            page,
            "| **{}** | {} (`{}`) | {} | {} | {} |",
            cause.fate.word(),
            md_text(&cause.title),
            cause.cause,
            verdict(cause.before),
            verdict(cause.after),
            md_text(&cause.why),
        );
    }
    page.push_str(&configuration(one));
    page.push_str(&tables(one));
    page.push_str(&message(one));
    page
}

fn time(at: Option<chrono::DateTime<chrono::Utc>>) -> String {
    at.map_or_else(String::new, |at| {
        format!(", collected {}", at.format("%Y-%m-%d %H:%M:%S UTC"))
    })
}

fn configuration(one: &Comparison) -> String {
    if one.configuration.is_empty() {
        return "\n## What was changed\n\nNo configuration that both bundles hold differs.\n"
            .into();
    }
    let mut text = String::from("\n## What was changed\n\n");
    for change in one.configuration.iter().take(ROWS) {
        let _ = write!(
            text,
            "{} ({}):\n\n",
            md_code(&change.path, false),
            change.how
        );
        let mut lines = change.lines.join("\n");
        if change.more > 0 {
            let _ = write!(lines, "\n… {} more lines", change.more);
        }
        text.push_str(&md_fence(&lines, "diff", 0));
        text.push('\n');
    }
    if one.configuration.len() > ROWS {
        let _ = writeln!(
            text,
            "{} more entries differ.",
            one.configuration.len() - ROWS
        );
    }
    text
}

fn tables(one: &Comparison) -> String {
    let mut text = String::new();
    let values: Vec<_> = one.counts.iter().chain(&one.environment).collect();
    if !values.is_empty() {
        text.push_str("\n## Counts and versions\n\n| | before | after |\n|---|---|---|\n");
        for value in values.into_iter().take(ROWS) {
            let side = |value: &Option<String>| md_text(&side(value));
            let _ = writeln!(
                text,
                "| {} | {} | {} |",
                md_text(&value.label),
                side(&value.before),
                side(&value.after)
            );
        }
    }
    if !one.workloads.is_empty() {
        text.push_str("\n## Workloads that failed in either\n\n| workload | before | after |\n|---|---|---|\n");
        for workload in one.workloads.iter().take(ROWS) {
            let _ = writeln!(
                text,
                "| {} | {} | {} |",
                md_code(&workload.subject, true),
                md_text(&pod(&workload.before)),
                md_text(&pod(&workload.after))
            );
        }
    }
    text
}

/// The message of the Communication pack, only where it would be true.
fn message(one: &Comparison) -> String {
    let recovered = one
        .workloads
        .iter()
        .filter(|one| one.before.is_some() && one.after.is_none())
        .count();
    let failing = one
        .workloads
        .iter()
        .filter(|one| one.after.is_some())
        .count();
    if one.outcome != Outcome::Resolved {
        return "\n## Resolution Confirmation\n\nNot to be sent yet: see above what remains or cannot be seen.\n".into();
    }
    let causes: Vec<String> = one
        .causes
        .iter()
        .map(|cause| one_line(&cause.title))
        .collect();
    let mut lines = vec![
        format!("RESOLVED: {}", causes.join("; ")),
        format!(
            "Confirmed by a second collection{}.",
            time(one.after.finished)
        ),
        format!("Workloads that recovered or are gone: {recovered}. Still not well: {failing}."),
    ];
    if failing > 0 {
        lines.push("What still fails has no cause that is confirmed or likely in the second bundle; it may need its pods deleted to retry.".into());
    }
    lines.push("Ticket: [ticket] · Downtime: [from, to] · Follow-up: [owner, date]".into());
    format!(
        "\n## Resolution Confirmation\n\nReady to paste; places in brackets are for a person.\n\n{}\n",
        md_fence(&lines.join("\n"), "text", 0)
    )
}
