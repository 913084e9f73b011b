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
    let mut blocks = vec![Block::heading(3, "immediate-actions", "Immediate Actions")];
    let now = immediate(analysis);
    blocks.extend(table(
        "To do now",
        now,
        "Nothing has to be done at once because of what was found.",
        ctx,
    ));
    blocks.push(Block::heading(
        3,
        "long-term-improvements",
        "Long-term Improvements",
    ));
    let later = long_term(analysis);
    blocks.extend(table(
        "To do later",
        later,
        "Nothing long-term follows from what was found.",
        ctx,
    ));
    blocks.push(Block::Blanks {
        items: vec!["review date".to_owned(), "who reviews".to_owned()],
    });
    blocks
}

fn table(caption: &str, actions: Vec<[Rich; 2]>, none: &str, ctx: &SectionCtx) -> Vec<Block> {
    if actions.is_empty() {
        return vec![Block::paragraph(none)];
    }
    let mut rows: Vec<Vec<Rich>> = actions
        .into_iter()
        .map(|[what, why]| {
            vec![
                what,
                why,
                Rich::new().blank("owner"),
                Rich::new().blank("date"),
            ]
        })
        .collect();
    let more = limited(&mut rows, ctx.limits.rows, "report.json");
    let mut blocks = vec![Block::table(
        caption,
        &["Action", "Because", "Owner", "Until"],
        rows,
    )];
    blocks.extend(more);
    blocks
}

fn immediate(analysis: &Analysis) -> Vec<[Rich; 2]> {
    let mut actions = Vec::new();
    for (index, incident) in analysis.incidents.iter().enumerate() {
        let because = || {
            Rich::new()
                .code(incident.cause.clone())
                .text(" ")
                .verdict(incident.verdict)
        };
        if incident.verdict != Verdict::Confirmed {
            for text in incident.would_settle.iter().take(2) {
                actions.push([Rich::from("Settle: ").say(&words::clause(text)), because()]);
            }
        }
        if !incident.remedy.title.trim().is_empty() {
            let mut text = Rich::prose(&words::clause(&incident.remedy.title));
            if !incident.remedy.steps.is_empty() {
                let target = format!("steps-{}", index + 1);
                text = text.text(" (").jump("steps", target).text(")");
            }
            actions.push([text, because()]);
        }
    }
    if analysis.input.cut_short || analysis.input.interrupted.is_some() {
        actions.push([
            Rich::from("Collect again"),
            Rich::from(
                "the collection did not end, so what is missing from this bundle says nothing",
            ),
        ]);
    }
    for source in analysis
        .coverage
        .iter()
        .filter(|c| coverage::is_gap(c) && !c.so_we_cannot_say.is_empty())
    {
        let text = Rich::from("Collect ")
            .say(&source.title)
            .text(format!(" ({})", source.outcome));
        let mut why = Rich::from("without it we cannot say ")
            .say(&words::clause(&source.so_we_cannot_say[0]));
        if source.so_we_cannot_say.len() > 1 {
            why = why.text(format!(", and {} more", source.so_we_cannot_say.len() - 1));
        }
        actions.push([text, why]);
    }
    if !analysis.incidents.is_empty() {
        actions.push([
            Rich::from("Collect a second bundle after the fix and compare"),
            Rich::from("a fix is proven by its result, not by its steps"),
        ]);
    }
    actions
}

fn long_term(analysis: &Analysis) -> Vec<[Rich; 2]> {
    let mut actions = Vec::new();
    for incident in &analysis.incidents {
        for text in &incident.remedy.prevent {
            actions.push([
                Rich::prose(&words::clause(text)),
                Rich::from("keeps ")
                    .code(incident.cause.clone())
                    .text(" from coming back"),
            ]);
        }
    }
    for source in analysis.coverage.iter().filter(|c| c.outcome == "failed") {
        let why = source.why.as_deref().unwrap_or("no reason was recorded");
        actions.push([
            Rich::from("Make it possible to collect ").say(&source.title),
            Rich::from("it failed: ").say(&words::clause(why)),
        ]);
    }
    actions
}
