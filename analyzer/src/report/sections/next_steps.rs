//! Next Steps: what follows from what was found, now and later, with an owner to be named.

use super::{Section, SectionCtx, coverage, limited};
use crate::model::{Analysis, Verdict};
use crate::report::blocks::{Block, Rich};
use crate::report::words;

pub(super) static SECTION: Section = Section {
    id: "next-steps",
    title: "Next Steps",
    build,
};

fn build(analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    let calm = super::is_calm(analysis);
    let mut blocks = Vec::new();
    if !calm {
        blocks.push(Block::heading(3, "immediate-actions", "Immediate Actions"));
    }
    blocks.extend(list(immediate(analysis), ctx));
    if calm {
        // No incident: nothing to improve after it, and nothing for people to fill in.
        return blocks;
    }
    blocks.push(Block::heading(
        3,
        "long-term-improvements",
        "Long-term Improvements",
    ));
    blocks.extend(list(long_term(analysis), ctx));
    blocks.push(Block::Blanks {
        items: BLANKS.map(str::to_owned).to_vec(),
    });
    blocks
}

/// What only people know, in one place.
const BLANKS: [&str; 6] = [
    "detected by, and when",
    "who was affected, and what it cost them",
    "time of recovery",
    "owner of each action, and until when",
    "who reviews, and when",
    "ticket",
];

fn list(mut items: Vec<Rich>, ctx: &SectionCtx) -> Vec<Block> {
    if items.is_empty() {
        return vec![Block::paragraph("None.")];
    }
    let more = limited(&mut items, ctx.limits.rows, "report.json");
    let list = Block::List {
        ordered: true,
        items,
    };
    std::iter::once(list).chain(more).collect()
}

fn immediate(analysis: &Analysis) -> Vec<Rich> {
    let mut actions = Vec::new();
    let calm = super::is_calm(analysis);
    // The first screen says what would settle the first; nobody waits for the others.
    let incidents = analysis.incidents.iter().filter(|_| !calm);
    for (number, incident) in (1..).zip(incidents) {
        if incident.verdict != Verdict::Confirmed {
            // The first question stands with the cause.
            let settle = incident.would_settle.first();
            actions.extend(settle.map(|_| {
                Rich::from("Answer the question that settles ")
                    .code(incident.cause.clone())
                    .text(".")
            }));
            let further = incident.would_settle.get(1);
            actions.extend(further.map(|text| {
                Rich::from("To be sure of ")
                    .code(incident.cause.clone())
                    .text(", answer as well: ")
                    .say(&words::sentence(text))
            }));
        }
        let shown = number == 1 || incident.verdict != Verdict::Possible;
        if shown && !incident.remedy.title.trim().is_empty() {
            let mut text = Rich::prose(&words::clause(&incident.remedy.title));
            if !incident.remedy.steps.is_empty() {
                text = text
                    .text(" (")
                    .jump("steps", format!("steps-{number}"))
                    .text(")");
            }
            actions.push(text.text("."));
        }
    }
    if analysis.input.cut_short || analysis.input.interrupted.is_some() {
        actions.push(Rich::from("Collect again: the collection did not end."));
    }
    actions.extend(missing(analysis));
    actions
}

/// What to collect so that more can be checked.
fn missing(analysis: &Analysis) -> Vec<Rich> {
    const APART: usize = 3;
    let gaps = analysis.coverage.iter();
    let gaps = gaps.filter(|source| coverage::is_gap(source));
    let gaps = gaps.filter(|source| !source.so_we_cannot_say.is_empty());
    let mut gaps: Vec<_> = gaps.collect();
    gaps.sort_by_key(|source| std::cmp::Reverse(source.so_we_cannot_say.len()));
    let rest = gaps.split_off(gaps.len().min(APART));
    let rest: Vec<String> = rest.iter().map(|source| source.title.clone()).collect();
    let rest = (!rest.is_empty()).then(|| {
        let names = words::join(&rest);
        Rich::from("Collect as well: ").say(&names).text(".")
    });
    gaps.into_iter()
        .map(|source| {
            let number = source.so_we_cannot_say.len() as u64;
            Rich::from("Collect ").say(&source.title).text(format!(
                ", then analyse again: {} {} not checked.",
                words::count(number, "cause"),
                words::were(number)
            ))
        })
        .chain(rest)
        .collect()
}

fn long_term(analysis: &Analysis) -> Vec<Rich> {
    let mut actions = Vec::new();
    let mut incidents = analysis.incidents.iter();
    let measures = incidents.any(|incident| !incident.remedy.prevent.is_empty());
    if measures {
        actions.push(
            Rich::from("Carry out the ")
                .jump("Prevention Measures", "prevention")
                .text("."),
        );
    }
    for source in analysis.coverage.iter().filter(|c| c.outcome == "failed") {
        let why = source.why.as_deref().unwrap_or("no reason was recorded");
        actions.push(
            Rich::from("Make it possible to collect ")
                .say(&source.title)
                .text(": ")
                .say(&words::sentence(why)),
        );
    }
    actions
}
