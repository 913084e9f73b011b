//! Failing Without a Known Cause: what is unhealthy and no cause explains, with its last words.

use super::{Section, SectionCtx, limited};
use crate::model::{Analysis, Unexplained};
use crate::report::blocks::{Block, Rich};
use crate::report::{escape, words};

pub(super) static SECTION: Section = Section {
    id: "unexplained",
    title: "Failing Without a Known Cause",
    build,
};

/// Characters of last words in the table.
const WORDS: usize = 300;

fn build(analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    if analysis.unexplained.is_empty() {
        return Vec::new();
    }
    let mut rows: Vec<Vec<Rich>> = analysis
        .unexplained
        .iter()
        .map(|one| {
            let since = one.since.map(words::time).unwrap_or_default();
            vec![
                subject(one),
                Rich::prose(&one.reason),
                Rich::from(since),
                ctx.place(last_words(one), &one.place),
            ]
        })
        .collect();
    let more = limited(&mut rows, ctx.limits.rows, "report.json");
    let mut blocks = vec![Block::table(
        "Failing, and not explained by a confirmed or likely cause",
        &["Object", "State", "Since", "Last words"],
        rows,
    )];
    blocks.extend(more);
    let flows = analysis.unexplained.iter().flat_map(|one| &one.flows);
    let flows: Vec<Rich> = flows
        .map(|text| Rich::prose(&words::sentence(text)))
        .collect();
    if !flows.is_empty() {
        blocks.push(Block::list(flows));
    }
    blocks.extend(candidates(analysis));
    blocks
}

fn subject(one: &Unexplained) -> Rich {
    let text = Rich::new().code(words::subject(&one.subject));
    match one.also.len() {
        0 => text,
        more => text.text(format!(" and {more} more in the same state")),
    }
}

fn last_words(one: &Unexplained) -> Rich {
    match one.last_words.as_str() {
        "" => Rich::from("none collected "),
        words => Rich::new()
            .code(escape::cut_middle(words, WORDS).into_owned())
            .text(" "),
    }
}

/// What each would be settled with, once a cause.
fn candidates(analysis: &Analysis) -> Option<Block> {
    const SHOWN: usize = 8;
    let mut told: Vec<&str> = Vec::new();
    let mut items = Vec::new();
    for entry in &analysis.unexplained {
        for candidate in &entry.candidates {
            if told.contains(&candidate.cause.as_str()) || items.len() == SHOWN {
                continue;
            }
            told.push(&candidate.cause);
            items.push(
                Rich::new()
                    .code(candidate.cause.clone())
                    .text(format!(
                        " could be the cause for {}. To settle it: ",
                        words::subject(&entry.subject)
                    ))
                    .code(candidate.settle.clone()),
            );
        }
    }
    (!items.is_empty()).then(|| Block::list(items))
}
