//! Coverage: what was and was not seen, and what therefore cannot be said.

use super::{Section, SectionCtx, limited};
use crate::model::{Analysis, Coverage};
use crate::report::blocks::{Block, Rich};
use crate::report::words;
use crate::sources::UNKNOWN_TO_COLLECTOR;

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
        "No pod in this input is failing."
    } else {
        "No failing pod was seen, but the input is not complete, so there may be some."
    }
}

/// Whether the input can be called complete: every source is known and whole, and the file has its end.
pub(crate) fn is_whole(analysis: &Analysis) -> bool {
    !analysis.coverage.is_empty()
        && !analysis.coverage.iter().any(is_gap)
        && !analysis.input.cut_short
        && analysis.input.interrupted.is_none()
}

/// How the reason begins where a source is known from pieces of text alone.
const PASTED: &str = "only what was pasted";

/// What was not collected and therefore not checked, in short; empty where nothing is missing that mattered.
pub(crate) fn unseen(analysis: &Analysis) -> Rich {
    const SHOWN: usize = 5;
    let mut text = Rich::new();
    if let Some(why) = &analysis.input.interrupted {
        text = text
            .text("The collection ended early: ")
            .say(&words::sentence(why))
            .text(" ");
    }
    if analysis.coverage.is_empty() {
        return text.text("The input does not say what was collected, so absence proves nothing.");
    }
    let open: Vec<&Coverage> = analysis
        .coverage
        .iter()
        .filter(|source| is_gap(source) && !source.so_we_cannot_say.is_empty())
        .collect();
    for (nth, (why, titles)) in by_reason(&open).into_iter().enumerate() {
        let more = titles.len().saturating_sub(SHOWN) as u64;
        let shown = titles.iter().take(SHOWN).map(|title| (*title).to_owned());
        let mut shown: Vec<String> = shown.collect();
        if more > 0 {
            shown.push(words::count_more(more, "source"));
        }
        let one = titles.len() == 1 && !titles[0].ends_with('s');
        text = listed(text.text(if nth == 0 { "" } else { "; " }), &shown);
        text = text.text(match (why.starts_with(PASTED), one) {
            (true, true) => " was given only in part",
            (true, false) => " were given only in part",
            (false, true) => " was not collected",
            (false, false) => " were not collected",
        });
        let why = why
            .strip_prefix(PASTED)
            .unwrap_or(why)
            .trim_start_matches(", ");
        // That nobody recorded a reason is none.
        if !why.is_empty() && why != UNKNOWN_TO_COLLECTOR {
            let why = why.strip_prefix("no NVIDIA driver here: ").unwrap_or(why);
            text = text.text(" (").say(&words::first_clause(why, 90)).text(")");
        }
    }
    if open.is_empty() {
        return text;
    }
    text.text("; causes that only show there were not checked.")
}

/// A list whose names are parts of their own, so that each can be said in another language.
fn listed(mut text: Rich, names: &[String]) -> Rich {
    for (nth, name) in names.iter().enumerate() {
        text = text.text(match nth {
            0 => "",
            _ if nth + 1 == names.len() => " and ",
            _ => ", ",
        });
        text = text.text(name.as_str());
    }
    text
}

/// Sources by the reason why they are missing, in the order of the sources.
fn by_reason<'a>(sources: &[&'a Coverage]) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for source in sources {
        let why = source.why.as_deref().unwrap_or_default();
        let why = why.trim().trim_end_matches('.');
        let pasted = |text: &str| text.starts_with(PASTED);
        let same = |known: &str| known == why || (pasted(known) && pasted(why));
        match groups.iter_mut().find(|(known, _)| same(known)) {
            Some((_, titles)) => titles.push(&source.title),
            None => groups.push((why, vec![&source.title])),
        }
    }
    groups
}

fn build(analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    if analysis.coverage.is_empty() {
        return vec![Block::paragraph(
            "The input does not say which sources were collected, so nothing follows from what it does not hold.",
        )];
    }
    let (gaps, whole): (Vec<&Coverage>, Vec<&Coverage>) =
        analysis.coverage.iter().partition(|source| is_gap(source));
    let (open, harmless): (Vec<&Coverage>, Vec<&Coverage>) = gaps
        .into_iter()
        .partition(|source| !source.so_we_cannot_say.is_empty() || source.outcome != "collected");
    let (mut blocks, mut rest) = (Vec::new(), Vec::new());
    if open.is_empty() {
        blocks.push(Block::paragraph(
            "Every source that a known cause depends on was collected.",
        ));
    } else if super::is_calm(analysis) {
        blocks.push(in_short(&open));
        rest.extend(table("Sources that are missing or incomplete", open, ctx));
    } else {
        blocks.extend(table("Sources that are missing or incomplete", open, ctx));
    }
    if !harmless.is_empty() {
        rest.extend(table(
            "Sources with missing parts that no cause depends on",
            harmless,
            ctx,
        ));
    }
    if !whole.is_empty() {
        let titles: Vec<String> = whole.iter().map(|source| source.title.clone()).collect();
        let text = Rich::from("Complete: ").say(&titles.join(", ")).text(".");
        rest.push(Block::paragraph(text));
    }
    blocks.extend(Block::folded("Everything that was collected", rest));
    blocks
}

/// All sources that are missing or incomplete, by reason, in a paragraph.
fn in_short(open: &[&Coverage]) -> Block {
    let mut text = Rich::new();
    for (why, titles) in by_reason(open) {
        let titles: Vec<String> = titles.into_iter().map(str::to_owned).collect();
        let why = words::capital(why);
        let why = if why.is_empty() {
            "Not collected"
        } else {
            why.as_str()
        };
        text = text
            .say(&words::first_clause(why, 120))
            .text(": ")
            .say(&words::join(&titles))
            .text(". ");
    }
    let mut causes: Vec<&String> = open.iter().flat_map(|one| &one.so_we_cannot_say).collect();
    causes.sort_unstable();
    causes.dedup();
    let number = causes.len() as u64;
    let text = text.text(format!(
        "{} {} not checked because of this.",
        words::count(number, "cause"),
        words::were(number)
    ));
    Block::paragraph(text)
}

fn table(caption: &str, sources: Vec<&Coverage>, ctx: &SectionCtx) -> Vec<Block> {
    // Where much is missing, an example of each shows what that means.
    let examples = if sources.len() > 4 { 1 } else { 3 };
    let rows = sources.into_iter().map(|source| gap(source, examples));
    let mut rows: Vec<Vec<Rich>> = rows.collect();
    let more = limited(&mut rows, ctx.limits.rows, "report.json");
    let columns = ["Source", "Outcome", "Why", "Not checked because of it"];
    std::iter::once(Block::table(caption, &columns, rows))
        .chain(more)
        .collect()
}

/// A row about a source, with so many examples of what was not checked without it.
fn gap(source: &Coverage, examples: usize) -> Vec<Rich> {
    const SHOWN: usize = 3;
    // The rest of a long reason stands in report.json.
    const REASON: usize = 160;
    let reason = source.why.as_deref().filter(|why| !why.trim().is_empty());
    // What is missing says its own reasons.
    let reason = reason.or(source
        .missing
        .is_empty()
        .then_some("no reason was recorded"));
    let reason = words::first_clause(reason.unwrap_or_default(), REASON);
    let mut why = Rich::prose(&words::sentence(&reason));
    // What the reason says is not said again part by part.
    let missing = source.missing.iter().flat_map(|part| part.split("; "));
    let missing = missing.map(str::trim);
    let missing: Vec<&str> = missing.filter(|part| !reason.contains(part)).collect();
    if !missing.is_empty() {
        why = why.text(if reason.is_empty() {
            "Missing: "
        } else {
            " Missing: "
        });
        for (index, part) in missing.iter().take(SHOWN).enumerate() {
            why = why
                .text(if index == 0 { "" } else { "; " })
                .say(&words::first_clause(part, 100));
        }
        if missing.len() > SHOWN {
            why = why.text(format!("; {} more in report.json", missing.len() - SHOWN));
        }
        why = why.text(".");
    }
    let mut open = Rich::new();
    for (index, text) in source.so_we_cannot_say.iter().take(examples).enumerate() {
        open = open
            .text(if index == 0 { "" } else { "; " })
            .say(&words::clause(text));
    }
    if source.so_we_cannot_say.len() > examples {
        open = open.text(format!(
            "; {} more in report.json",
            source.so_we_cannot_say.len() - examples
        ));
    }
    if source.so_we_cannot_say.is_empty() {
        open = open.text("nothing");
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
