//! What trying a fix on a copy of the captured state showed: part of the Resolution Process.

use super::SectionCtx;
use crate::model::fix::{CauseName, Fix, FixClaim, FixOutcome};
use crate::report::blocks::{Block, Rich};
use crate::report::words;

/// Longest difference that is printed, in lines.
const DIFF_LINES: usize = 60;

/// Whether the cause is gone, what remains, what is new, what it opens, and what changes where.
pub(crate) fn blocks(fix: &Fix, ctx: &SectionCtx) -> Vec<Block> {
    let mut blocks = vec![Block::paragraph(verdict(fix))];
    if fix.actions.is_empty() {
        return blocks;
    }
    let rows = [
        ("Gone", &fix.gone, "nothing"),
        ("Remains", &fix.remains, "nothing else"),
        ("New", &fix.appears, "nothing"),
    ];
    // Where the state shows no cause at all, three times "nothing" would read as a success.
    if rows.iter().any(|(_, causes, _)| !causes.is_empty()) {
        let rows = rows.map(|(word, causes, none)| vec![Rich::from(word), causes_of(causes, none)]);
        blocks.push(Block::Table {
            caption: "Causes in the changed state".to_owned(),
            columns: vec![Rich::from("With the change"), Rich::from("Causes")],
            rows: rows.into(),
            titled: false,
            row_heads: true,
        });
    }
    let mut items: Vec<Rich> = Vec::new();
    for open in &fix.opens {
        items.push(
            Rich::new()
                .strong("It opens")
                .text(" ")
                .say(&words::sentence(open)),
        );
    }
    for closed in &fix.leaves_closed {
        items.push(
            Rich::from("The rule's wider change is not needed. This one leaves closed: ")
                .say(&words::sentence(closed)),
        );
    }
    for assumed in &fix.assumes {
        items.push(Rich::from("It takes for granted that ").say(&words::sentence(assumed)));
    }
    for cost in &fix.costs {
        items.push(
            Rich::new()
                .strong("A person has to choose it")
                .text(": ")
                .say(&words::sentence(cost)),
        );
    }
    for one in &fix.not_shown {
        items.push(
            Rich::new()
                .strong("Not shown")
                .text(": ")
                .say(&words::sentence(one)),
        );
    }
    items.truncate(ctx.limits.rows);
    if !items.is_empty() {
        blocks.push(Block::list(items));
    }
    blocks
}

/// How it ended, in a few words for the first screen; none where nothing was tried.
pub(crate) fn in_short(fix: Option<&Fix>) -> Option<&'static str> {
    let fix = fix?;
    Some(match fix.claim {
        FixClaim::DoesNotHelp => "the known fix does not help here",
        FixClaim::CannotBeShown => {
            "fix described below, not applied; the bundle cannot show its effect"
        }
        _ if !fix.costs.is_empty() => {
            "fix described below, not applied; it takes something from somebody, so a person has to choose it"
        }
        FixClaim::HealsTheWorkload => "fix proven on the captured state, not applied",
        FixClaim::RemovesTheCause => {
            "fix removes the cause from the captured state, not applied; that the workload then runs is not shown"
        }
        FixClaim::NeedsARuntimeStep => {
            "fix described below, not applied; it needs a step on the running node that no replay can show"
        }
    })
}

fn verdict(fix: &Fix) -> Rich {
    let text = Rich::from(
        "The change was made in a copy of what the bundle holds, and the whole diagnosis was run again on that copy; lines named here are the copy's. ",
    );
    let text = match fix.outcome {
        FixOutcome::Gone => text.text("The cause is ").strong("gone").text(": "),
        FixOutcome::StillThere => text
            .text("The cause is ")
            .strong("still there")
            .text(", so this does not help: "),
        FixOutcome::CannotBeShown if fix.actions.is_empty() => Rich::from("Whether it helps ")
            .strong("cannot be shown")
            .text(": "),
        FixOutcome::CannotBeShown => text
            .text("Whether it helps ")
            .strong("cannot be shown")
            .text(": "),
    };
    text.say(&words::sentence(&fix.why))
}

fn causes_of(causes: &[CauseName], none: &str) -> Rich {
    if causes.is_empty() {
        return Rich::from(none);
    }
    let mut text = Rich::new();
    for (index, cause) in causes.iter().enumerate() {
        text = text
            .text(if index == 0 { "" } else { " · " })
            .code(cause.cause.clone())
            .text(": ")
            .say(&words::clause(&cause.title))
            .text(" ")
            .verdict(cause.verdict);
    }
    text
}

/// The entries that differ, folded: they are long, and the steps say the same in short.
pub(crate) fn deltas(fix: &Fix, ctx: &SectionCtx) -> Option<Block> {
    if fix.deltas.is_empty() {
        return None;
    }
    let shown = fix.deltas.iter().take(ctx.limits.evidence);
    let mut blocks: Vec<Block> = shown
        .map(|delta| Block::File {
            name: delta.entry.clone(),
            language: "diff".to_owned(),
            content: shortened(&delta.diff),
        })
        .collect();
    let rest = fix.deltas.len().saturating_sub(ctx.limits.evidence);
    if rest > 0 {
        let text = format!(
            "{} more in report.json.",
            words::count(rest as u64, "changed entry").replace("entrys", "entries")
        );
        blocks.push(Block::paragraph(text));
    }
    let entries = words::count(fix.deltas.len() as u64, "captured entry");
    Some(Block::Details {
        summary: format!(
            "What it changes: {}, captured against changed",
            entries.replace("entrys", "entries")
        ),
        blocks,
    })
}

fn shortened(diff: &str) -> String {
    let lines = diff.lines().count();
    if lines <= DIFF_LINES {
        return diff.to_owned();
    }
    let mut shown: Vec<&str> = diff.lines().take(DIFF_LINES).collect();
    let rest = format!("[{} more lines in report.json]\n", lines - DIFF_LINES);
    shown.push(&rest);
    shown.join("\n")
}
