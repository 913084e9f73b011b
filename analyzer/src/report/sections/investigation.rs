//! Investigation Process: the questions in order, the command a person would have run, the lines that answer, what follows.

use super::{Section, SectionCtx, below, per_incident};
use crate::model::{Analysis, Observation, Verdict};
use crate::report::blocks::{Block, Rich};
use crate::report::words;

pub(super) static SECTION: Section = Section {
    id: "investigation",
    title: "Investigation Process",
    build,
};

fn build(analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    let mut blocks = vec![Block::paragraph(
        "Made from the bundle alone. Each observation names the command that a person would have run on the node; \
         the lines below it are what the bundle holds in its place.",
    )];
    if analysis
        .incidents
        .iter()
        .all(|incident| incident.observations.is_empty())
    {
        blocks.push(Block::heading(3, "observations", "Observations"));
        blocks.extend(checked(analysis, ctx));
        return blocks;
    }
    blocks.push(Block::heading(3, "observations", "Observations"));
    blocks.extend(per_incident(
        analysis,
        "observations",
        4,
        |index, incident| {
            let mut part = Vec::new();
            for (nth, observation) in incident.observations.iter().enumerate() {
                let prefix = format!("o{}-{}", index + 1, nth + 1);
                part.extend(one(observation, &prefix, nth + 1, below(analysis, 4), ctx));
            }
            part
        },
    ));
    blocks
}

/// What was checked when no observation led to a cause.
fn checked(analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    let ruled_out: Vec<_> = analysis
        .differential
        .iter()
        .filter(|cause| cause.verdict == Verdict::RuledOut)
        .collect();
    let elsewhere =
        Rich::from("No observation led to a cause. Everything that was considered stands under ")
            .jump("Differential", "differential")
            .text(".");
    let mut blocks = vec![Block::paragraph(elsewhere)];
    if ruled_out.is_empty() {
        return blocks;
    }
    let items = ruled_out
        .iter()
        .take(ctx.limits.evidence)
        .map(|cause| {
            let text = Rich::new()
                .code(cause.cause.clone())
                .text(": ")
                .say(cause.why.trim());
            match &cause.place {
                Some(place) => ctx.place(text.text(" · "), place),
                None => text,
            }
        })
        .collect();
    blocks.push(Block::paragraph("Checked and ruled out:"));
    blocks.push(Block::list(items));
    blocks
}

fn one(
    observation: &Observation,
    prefix: &str,
    number: usize,
    level: u8,
    ctx: &SectionCtx,
) -> Vec<Block> {
    let heading = Rich::from(format!("Observation {number}: ")).say(observation.question.trim());
    let mut blocks = vec![Block::heading(level, prefix, heading)];
    if !observation.command.trim().is_empty() {
        blocks.push(Block::Command {
            command: observation.command.clone(),
        });
    }
    blocks.extend(ctx.excerpt(prefix, false, &observation.lines, |_| true));
    if observation.lines.is_empty() {
        blocks.push(Block::paragraph(
            "The bundle holds no line that answers this.",
        ));
    }
    if !observation.conclusion.trim().is_empty() {
        let text = Rich::new()
            .strong("What follows:")
            .text(" ")
            .say(&words::sentence(&observation.conclusion));
        blocks.push(Block::paragraph(text));
    }
    blocks
}
