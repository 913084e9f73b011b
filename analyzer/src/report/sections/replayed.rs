//! What trying a fix on a copy of the captured state showed: part of the Resolution Process.

use super::SectionCtx;
use crate::model::Analysis;
use crate::model::fix::{CauseName, Fix, FixClaim, FixOutcome};
use crate::report::blocks::{Block, Rich};
use crate::report::words;

/// Characters of the reason; the evidence that is gone stands in full above.
const WHY: usize = 200;
/// Longest difference that is printed, in lines.
const DIFF_LINES: usize = 60;

/// Whether the cause is gone, what remains, what is new, and what the fix opens, takes and assumes.
pub(crate) fn blocks(fix: &Fix, ctx: &SectionCtx) -> Vec<Block> {
    let mut blocks = vec![Block::paragraph(verdict(fix))];
    if fix.actions.is_empty() {
        return blocks;
    }
    let mut items: Vec<Rich> = Vec::new();
    for (label, causes) in [("Still there", &fix.remains), ("New", &fix.appears)] {
        if !causes.is_empty() {
            items.push(
                Rich::new()
                    .strong(format!("{label}:"))
                    .text(" ")
                    .join(causes_of(causes)),
            );
        }
    }
    let notes = [
        ("It opens:", &fix.opens),
        ("It leaves closed:", &fix.leaves_closed),
        ("Decide first:", &fix.costs),
        ("Not shown:", &fix.not_shown),
        ("Assumes that", &fix.assumes),
    ];
    for (label, texts) in notes {
        let note = |text: &String| {
            Rich::new()
                .strong(label)
                .text(" ")
                .say(&words::sentence(text))
        };
        items.extend(texts.iter().map(note));
    }
    items.truncate(ctx.limits.evidence);
    if !items.is_empty() {
        blocks.push(Block::list(items));
    }
    blocks
}

/// What trying the fix showed, in a sentence for the first screen; none where nothing was tried.
pub(crate) fn in_short(fix: Option<&Fix>, analysis: &Analysis) -> Option<String> {
    let fix = fix?;
    let replay = "Tried on a copy of the collected state:";
    let text = match fix.claim {
        FixClaim::DoesNotHelp => return Some(format!("{replay} it does not resolve the cause.")),
        FixClaim::CannotBeShown => {
            return Some(
                "Not applied yet. It cannot be tried on a copy, so check it on the node."
                    .to_owned(),
            );
        }
        _ if !fix.costs.is_empty() => {
            format!("{replay} the cause is gone, but the fix has a cost to decide on first")
        }
        FixClaim::HealsTheWorkload => {
            format!("{replay} the cause is gone and the workload can run")
        }
        FixClaim::RemovesTheCause => {
            format!("{replay} the cause is gone; whether the workload then runs is not known")
        }
        FixClaim::NeedsARuntimeStep => {
            format!("{replay} the files are right; one step on the running node is left")
        }
    };
    let left: Vec<String> = fix
        .remains
        .iter()
        .filter(|left| analysis.incidents.iter().any(|one| one.cause == left.cause))
        .map(|left| format!("`{}`", left.cause))
        .collect();
    Some(match left.is_empty() {
        true => format!("{text}."),
        false => format!(
            "{text}; {} then still {} to be fixed.",
            words::join(&left),
            match left.len() {
                1 => "has",
                _ => "have",
            }
        ),
    })
}

fn verdict(fix: &Fix) -> Rich {
    let text = Rich::new();
    let text = match fix.outcome {
        FixOutcome::Gone => text.text("The cause is ").strong("gone").text(": "),
        FixOutcome::StillThere => text
            .text("The cause is ")
            .strong("still there")
            .text(", so this fix does not resolve it: "),
        FixOutcome::CannotBeShown => text
            .text("Replay ")
            .strong("cannot verify")
            .text(" this fix: "),
    };
    text.say(&words::sentence(&words::first_clause(&fix.why, WHY)))
}

fn causes_of(causes: &[CauseName]) -> Rich {
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

/// The entries that differ, captured against changed.
pub(crate) fn deltas(fix: &Fix, ctx: &SectionCtx) -> Vec<Block> {
    let shown = fix.deltas.iter().take(ctx.limits.evidence);
    let mut blocks: Vec<Block> = shown
        .map(|delta| Block::File {
            name: delta.entry.clone(),
            language: "diff".to_owned(),
            content: shortened(&delta.diff),
        })
        .collect();
    let rest = fix.deltas.len().saturating_sub(ctx.limits.evidence) as u64;
    if rest > 0 {
        let files = words::count_more(rest, "changed file");
        blocks.push(Block::paragraph(format!("{files} in report.json.")));
    }
    blocks
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
