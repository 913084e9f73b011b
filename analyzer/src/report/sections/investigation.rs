//! Investigation Process: the questions in order, the command a person would have run, the lines that answer, what follows.

use super::{Section, SectionCtx, per_incident};
use crate::model::{Analysis, Observation, Verdict};
use crate::report::blocks::{Block, Rich};
use crate::report::words;

pub(super) static SECTION: Section = Section {
    id: "investigation",
    title: "Investigation Process",
    build,
};

/// Lines under one question; more of them say the same.
pub(super) const LINES: usize = 2;

fn build(analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    let mut incidents = analysis.incidents.iter();
    if incidents.all(|incident| incident.observations.is_empty()) {
        return checked(analysis);
    }
    let mut blocks = vec![Block::heading(3, "observations", "Observations")];
    blocks.push(Block::paragraph(
        "Each question names the command that answers it on the node. The quoted lines come from the bundle.",
    ));
    blocks.extend(per_incident(
        analysis,
        "observations",
        4,
        |index, incident| {
            let (mut blocks, mut rest) = (Vec::new(), Vec::new());
            for (number, asked) in (1..).zip(&incident.observations) {
                let prefix = format!("o{}-{number}", index + 1);
                let (shown, more) = observation(asked, &prefix, ctx);
                blocks.extend(shown);
                rest.extend(more);
            }
            let summary = format!("Further lines about {}", incident.cause);
            blocks.extend(Block::folded(summary, rest));
            blocks
        },
    ));
    blocks
}

/// What was checked where no cause was found; the evidence of a cause without questions stands below it.
fn checked(analysis: &Analysis) -> Vec<Block> {
    if !analysis.incidents.is_empty() {
        return Vec::new();
    }
    let causes = analysis.differential.iter();
    let ruled_out = causes.filter(|cause| cause.verdict == Verdict::RuledOut);
    let text = match ruled_out.count() as u64 {
        0 => Rich::from("No observation led to a cause."),
        number => Rich::from("No observation led to a cause. ")
            .jump(words::count(number, "cause"), "differential")
            .text(format!(" {} checked and ruled out.", words::were(number))),
    };
    vec![
        Block::heading(3, "observations", "Observations"),
        Block::paragraph(text),
    ]
}

/// A question with its first lines and what follows from them; and its further lines.
fn observation(asked: &Observation, prefix: &str, ctx: &SectionCtx) -> (Vec<Block>, Vec<Block>) {
    let mut text = Rich::new().strong(asked.question.trim());
    if !asked.command.trim().is_empty() {
        text = text.text(" ").code(asked.command.trim());
    }
    let mut blocks = vec![Block::paragraph(text)];
    let (shown, rest) = asked.lines.split_at(asked.lines.len().min(LINES));
    blocks.extend(ctx.excerpt(prefix, shown, |_| true));
    if asked.lines.is_empty() {
        blocks.push(Block::paragraph("No line of the bundle answers this."));
    }
    if !asked.conclusion.trim().is_empty() {
        blocks.push(Block::paragraph(
            Rich::from("→ ").say(&words::sentence(&asked.conclusion)),
        ));
    }
    let mut more = ctx.excerpt_from(prefix, LINES, rest);
    if !more.is_empty() {
        more.insert(
            0,
            Block::paragraph(Rich::new().strong(asked.question.trim())),
        );
    }
    (blocks, more)
}
