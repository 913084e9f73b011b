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
    text = text.join(gaps_in_short(analysis));
    if text.is_empty() {
        return None;
    }
    Some(Block::Callout {
        tone: Tone::Warning,
        title: "What limits this report".to_owned(),
        text,
    })
}

/// The gaps that leave a cause open by name, the others as a number.
fn gaps_in_short(analysis: &Analysis) -> Rich {
    const SHOWN: usize = 4;
    let all = analysis.coverage.len();
    let gaps: Vec<&Coverage> = analysis.coverage.iter().filter(|one| is_gap(one)).collect();
    let (open, rest): (Vec<&Coverage>, Vec<&Coverage>) = gaps
        .into_iter()
        .partition(|source| !source.so_we_cannot_say.is_empty());
    let mut text = Rich::new();
    if open.is_empty() && rest.is_empty() {
        return text;
    }
    for (nth, source) in open.iter().take(SHOWN).enumerate() {
        let number = source.so_we_cannot_say.len() as u64;
        let causes = words::count(number, "cause");
        let were = if number == 1 { "was" } else { "were" };
        text = text
            .text(if nth == 0 { "" } else { "; " })
            .say(&source.title)
            .text(format!(
                " ({}), so {causes} {were} not checked",
                source.outcome
            ));
    }
    if open.len() > SHOWN {
        text = text.text(format!("; {} more sources", open.len() - SHOWN));
    }
    if !rest.is_empty() {
        let number = rest.len() as u64;
        text = text.text(match (open.is_empty(), number) {
            (true, _) => {
                format!("Parts of {number} of {all} sources are missing; no cause depended on them")
            }
            (false, 1) => ". Parts of 1 more source are missing; no cause depended on them".into(),
            (false, _) => {
                format!(". Parts of {number} more sources are missing; no cause depended on them")
            }
        });
    }
    text.text(". See ").jump("Coverage", "coverage").text(".")
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
    let reason = source.why.as_deref().filter(|why| !why.trim().is_empty());
    // What is missing says its own reasons.
    let reason = reason.or(source
        .missing
        .is_empty()
        .then_some("no reason was recorded"));
    let mut why = Rich::prose(&words::sentence(reason.unwrap_or_default()));
    if !source.missing.is_empty() {
        why = why.text(if reason.is_some() {
            " Missing: "
        } else {
            "Missing: "
        });
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
