//! Coverage: what was and was not seen, and what therefore cannot be said.

use super::{Section, SectionCtx, limited};
use crate::model::{Analysis, Coverage};
use crate::report::blocks::{Block, Rich, Tone};
use crate::report::{escape, words};

pub(super) static SECTION: Section = Section {
    id: "coverage",
    title: "Coverage: What We Could Not See",
    build,
};

/// Whether something of the source is missing. An unknown outcome is a gap: without a manifest nobody can tell.
pub(crate) fn is_gap(source: &Coverage) -> bool {
    source.outcome != "collected" || !source.missing.is_empty()
}

/// What is said when no failing workload is known: only a complete input can say that there is none.
pub(super) fn no_workload_seen(analysis: &Analysis) -> &'static str {
    if is_whole(analysis) {
        "The input names no workload that fails."
    } else {
        "No failing workload was seen, but the input is not complete, so this does not say that there is none."
    }
}

/// Whether the input can be called complete: every source is known and whole, and the file has its end.
pub(super) fn is_whole(analysis: &Analysis) -> bool {
    !analysis.coverage.is_empty()
        && !analysis.coverage.iter().any(is_gap)
        && !analysis.input.cut_short
        && analysis.input.interrupted.is_none()
}

/// The note on the first screen when the input itself is incomplete.
pub(super) fn warning(analysis: &Analysis) -> Option<Block> {
    let mut text = Rich::new();
    if analysis.input.cut_short {
        text = text.text(
            "The input has no manifest at its end: it was cut short, or another tool wrote it. What is missing from it may simply not have been written. ",
        );
    }
    if let Some(why) = &analysis.input.interrupted {
        text = text
            .text("The collection ended early: ")
            .say(&words::sentence(why))
            .text(" ");
    }
    let gaps = analysis
        .coverage
        .iter()
        .filter(|source| is_gap(source))
        .count();
    if gaps > 0 {
        let all = words::count(analysis.coverage.len() as u64, "source");
        text = text
            .text(format!("{gaps} of {all} incomplete: see "))
            .jump("Coverage", "coverage")
            .text(".");
    }
    if text.is_empty() {
        return None;
    }
    Some(Block::Callout {
        tone: Tone::Warning,
        title: "What limits this report".to_owned(),
        text,
    })
}

fn build(analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    let mut blocks = Vec::new();
    if analysis.coverage.is_empty() {
        blocks.push(Block::paragraph(
            "The input does not say which sources were attempted, so nothing can be concluded from what it does not hold.",
        ));
    }
    let (gaps, whole): (Vec<&Coverage>, Vec<&Coverage>) =
        analysis.coverage.iter().partition(|source| is_gap(source));
    if !gaps.is_empty() {
        let mut rows: Vec<Vec<Rich>> = gaps.into_iter().map(gap).collect();
        let more = limited(&mut rows, ctx.limits.rows, "report.json");
        let columns = ["Source", "Outcome", "Why", "So we cannot say"];
        blocks.push(Block::table(
            "Sources that are missing or incomplete",
            &columns,
            rows,
        ));
        blocks.extend(more);
    } else if !analysis.coverage.is_empty() {
        blocks.push(Block::paragraph(
            "Every source that was attempted was collected whole.",
        ));
    }
    if !whole.is_empty() {
        let mut text = Rich::from("Collected whole: ");
        for (index, source) in whole.iter().enumerate().take(ctx.limits.rows) {
            text = text
                .text(if index == 0 { "" } else { ", " })
                .say(&source.title);
        }
        blocks.push(Block::paragraph(text.text(".")));
    }
    blocks
}

fn gap(source: &Coverage) -> Vec<Rich> {
    const SHOWN: usize = 6;
    let mut why = Rich::prose(&words::sentence(
        source.why.as_deref().unwrap_or("no reason was recorded"),
    ));
    if !source.missing.is_empty() {
        why = why.text(" Missing: ");
        for (index, part) in source.missing.iter().take(SHOWN).enumerate() {
            why = why
                .text(if index == 0 { "" } else { "; " })
                .say(&escape::cut_end(part.trim(), 200));
        }
        if source.missing.len() > SHOWN {
            why = why.text(format!(
                "; {} more in report.json",
                source.missing.len() - SHOWN
            ));
        }
        why = why.text(".");
    }
    let mut open = Rich::new();
    for (index, text) in source.so_we_cannot_say.iter().take(SHOWN).enumerate() {
        open = open
            .text(if index == 0 { "" } else { "; " })
            .say(&words::clause(text));
    }
    if source.so_we_cannot_say.len() > SHOWN {
        open = open.text(format!(
            "; {} more in report.json",
            source.so_we_cannot_say.len() - SHOWN
        ));
    }
    if source.so_we_cannot_say.is_empty() {
        open = open.text("no cause depended on it here");
    }
    vec![
        Rich::prose(source.title.trim())
            .text(" ")
            .code(source.source.clone()),
        Rich::from(source.outcome.clone()),
        why,
        open,
    ]
}
