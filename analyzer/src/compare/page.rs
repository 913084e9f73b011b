//! A comparison as a page of blocks, for the ticket and for the browser, with the message that goes with it.

use super::{Comparison, ConfigChange, Fate, Outcome, ValueChange, history};
use crate::model::{Input, Verdict};
use crate::report::blocks::{Block, Rich, Tone};
use crate::report::document::Document;
use crate::report::sections::communication;
use crate::report::{Format, RenderError, words};

/// Rows shown of one table.
const ROWS: usize = 30;
/// Changed entries named in the message.
const NAMED: usize = 3;

/// The page of a comparison; `steps` are the comparisons of several bundles in a row, for their history.
///
/// # Errors
/// [`RenderError`] if a shipped template is wrong.
pub fn page(one: &Comparison, steps: &[Comparison], format: Format) -> Result<String, RenderError> {
    let time = one.after.finished.map(words::time).unwrap_or_default();
    let input = format!("{} and {}", one.before.name, one.after.name);
    let mut page = Document::new("Before and after", title(one), input, time);
    page.row("Outcome", Rich::from(one.outcome.sentence()));
    page.row("Before", bundle(&one.before));
    page.row("After", bundle(&one.after));
    page.row("Causes", Rich::from(counted(one)));
    for warning in &one.warnings {
        page.lead(Block::Callout {
            tone: Tone::Warning,
            title: "Note".to_owned(),
            text: Rich::from(warning.as_str()),
        });
    }
    page.section("causes", "What became of the causes", causes(one));
    page.section(
        "resolution-confirmation",
        "Resolution Confirmation",
        confirmation(one),
    );
    page.section("changed", "What was changed", configuration(one));
    page.section("counts", "Counts and versions", values(one));
    page.section(
        "workloads",
        "Workloads that failed in either",
        workloads(one),
    );
    page.section("history", "History", story(steps));
    page.render(format)
}

fn title(one: &Comparison) -> String {
    let titles = titles(one);
    match one.outcome {
        Outcome::Resolved => format!("Resolved: {titles}"),
        Outcome::Partly => format!("Partly resolved: {titles}"),
        Outcome::NotResolved => format!("Not resolved: {titles}"),
        Outcome::CannotBeSaid => "Whether it is resolved cannot be said".to_owned(),
        Outcome::NothingToResolve => "Nothing to resolve".to_owned(),
    }
}

fn titles(one: &Comparison) -> String {
    let titles = one.causes.iter().map(|cause| cause.title.replace('`', ""));
    titles.collect::<Vec<_>>().join("; ")
}

fn counted(one: &Comparison) -> String {
    let count = |fate: Fate| one.causes.iter().filter(|cause| cause.fate == fate).count();
    let parts: Vec<String> = [Fate::Gone, Fate::Remains, Fate::New, Fate::CannotBeSeen]
        .into_iter()
        .filter(|fate| count(*fate) > 0)
        .map(|fate| format!("{} {}", count(fate), fate.word()))
        .collect();
    if parts.is_empty() {
        "none is confirmed or likely in either".to_owned()
    } else {
        parts.join(", ")
    }
}

fn bundle(input: &Input) -> Rich {
    let name = Rich::new().code(input.name.as_str());
    let name = match &input.node {
        Some(node) => name.text(" of ").code(node.as_str()),
        None => name,
    };
    match input.finished {
        Some(at) => name.text(format!(", collected {}", words::time(at))),
        None => name.text(", time of collection unknown"),
    }
}

fn causes(one: &Comparison) -> Vec<Block> {
    let verdict = |verdict: Option<Verdict>| match verdict {
        Some(verdict) => Rich::new().verdict(verdict),
        None => Rich::from("not seen"),
    };
    let rows: Vec<Vec<Rich>> = one
        .causes
        .iter()
        .map(|cause| {
            vec![
                Rich::new().strong(cause.fate.word()),
                Rich::prose(&cause.title)
                    .text(" (")
                    .code(cause.cause.as_str())
                    .text(")"),
                verdict(cause.before),
                verdict(cause.after),
                Rich::prose(&cause.why),
            ]
        })
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let columns = ["Now", "Cause", "Before", "After", "Why"];
    vec![Block::table("What became of each cause", &columns, rows)]
}

/// The message of the Communication section, only where it would be true.
fn confirmation(one: &Comparison) -> Vec<Block> {
    if one.outcome != Outcome::Resolved {
        return vec![Block::Callout {
            tone: Tone::Warning,
            title: "Not to be sent yet".to_owned(),
            text: Rich::from("See above what remains or cannot be seen."),
        }];
    }
    let at = one.after.finished;
    let at = at.map_or_else(|| Rich::new().blank("time"), |at| words::time(at).into());
    let mut lines = communication::resolved(
        at,
        Rich::from(titles(one)),
        solution(one),
        Rich::from("a second collection, in which each cause is gone; ").blank("name"),
    );
    let (recovered, failing, unknown) = pods(one);
    let rest = match unknown {
        0 => String::new(),
        some => format!(" Not known, as the second bundle does not hold them: {some}."),
    };
    lines.push(Rich::from(format!(
        "Workloads that recovered or are gone: {recovered}. Still not well: {failing}.{rest}"
    )));
    if failing > 0 {
        lines.push(Rich::from("What still fails has no cause that is confirmed or likely in the second bundle; it may need its pods deleted to retry."));
    }
    lines.push(
        Rich::from("Ticket: ")
            .blank("ticket")
            .text(" · Downtime: ")
            .blank("from, to")
            .text(" · Follow-up: ")
            .blank("owner, date"),
    );
    vec![
        Block::paragraph("Ready to paste."),
        Block::Message {
            title: "Resolution Confirmation".to_owned(),
            lines,
        },
    ]
}

/// What differs in the configuration: which of it was the solution only a person knows.
fn solution(one: &Comparison) -> Rich {
    let blank = Rich::new().blank("what was done");
    if one.configuration.is_empty() {
        return blank;
    }
    let paths = one.configuration.iter().take(NAMED);
    let paths: Vec<&str> = paths.map(|change| change.path.as_str()).collect();
    let more = one.configuration.len() - paths.len();
    let rest = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    blank.text(format!(
        "; changed since the first collection: {}{rest}",
        paths.join(", ")
    ))
}

/// How many workloads that failed before are well or gone after, how many fail after, and of how many the second
/// bundle says nothing.
fn pods(one: &Comparison) -> (usize, usize, usize) {
    let is_over = |state: &str| [super::WELL, super::GONE].contains(&state);
    let (mut recovered, mut failing, mut unknown) = (0, 0, 0);
    for pod in &one.workloads {
        let failed = pod.before.as_deref().is_none_or(|state| !is_over(state));
        match pod.after.as_deref() {
            Some(state) if is_over(state) => recovered += usize::from(failed),
            Some(_) => failing += 1,
            None => unknown += 1,
        }
    }
    (recovered, failing, unknown)
}

fn configuration(one: &Comparison) -> Vec<Block> {
    if one.configuration.is_empty() {
        let none = "No configuration that both bundles hold differs.";
        return vec![Block::paragraph(none)];
    }
    let mut blocks = Vec::new();
    for change in one.configuration.iter().take(ROWS) {
        blocks.push(Block::paragraph(Rich::from(change.how)));
        blocks.push(file(change));
    }
    blocks.extend(rest(one.configuration.len(), "entries differ"));
    blocks
}

fn file(change: &ConfigChange) -> Block {
    let mut content = change.lines.join("\n");
    if change.more > 0 {
        content.push_str("\n… ");
        content.push_str(&words::count(change.more as u64, "more line"));
    }
    Block::File {
        name: change.path.clone(),
        language: "diff".to_owned(),
        content,
    }
}

fn values(one: &Comparison) -> Vec<Block> {
    let side = |value: &Option<String>| Rich::from(value.as_deref().unwrap_or("not there"));
    let row = |value: &ValueChange| {
        vec![
            Rich::from(value.label.as_str()),
            side(&value.before),
            side(&value.after),
        ]
    };
    let all: Vec<_> = one.counts.iter().chain(&one.environment).map(row).collect();
    table("Counts and versions that differ", "What", all)
}

fn workloads(one: &Comparison) -> Vec<Block> {
    let side = |state: &Option<String>| Rich::from(state.as_deref().unwrap_or("not known"));
    let all = one.workloads.iter().map(|pod| {
        vec![
            Rich::new().code(pod.subject.as_str()),
            side(&pod.before),
            side(&pod.after),
        ]
    });
    table("Workloads", "Workload", all.collect())
}

fn table(caption: &str, what: &str, mut rows: Vec<Vec<Rich>>) -> Vec<Block> {
    if rows.is_empty() {
        return Vec::new();
    }
    let total = rows.len();
    rows.truncate(ROWS);
    let mut blocks = vec![Block::table(caption, &[what, "Before", "After"], rows)];
    blocks.extend(rest(total, "rows"));
    blocks
}

fn rest(total: usize, what: &str) -> Option<Block> {
    let more = total.checked_sub(ROWS).filter(|more| *more > 0)?;
    Some(Block::paragraph(Rich::prose(&format!(
        "{more} more {what}; `--format json` holds all."
    ))))
}

/// When each cause was seen and when it went, where there are more than two bundles.
fn story(steps: &[Comparison]) -> Vec<Block> {
    if steps.len() < 2 {
        return Vec::new();
    }
    let names = history::names(steps).into_iter().map(Rich::from).collect();
    let rows = history::causes(steps)
        .into_iter()
        .map(|(cause, story)| vec![Rich::new().code(cause), Rich::from(story.join(", "))]);
    vec![
        Block::List {
            ordered: true,
            items: names,
        },
        Block::table(
            "Causes over time",
            &["Cause", "Bundle by bundle"],
            rows.collect(),
        ),
    ]
}
