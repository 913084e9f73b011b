//! Resolution Process: steps, files and dry run of each fix, in the order to apply them, and what trying it showed.

use super::{Section, SectionCtx, below, per_incident, replayed};
use crate::model::fix::Fix;
use crate::model::{Analysis, Incident};
use crate::report::blocks::{Block, Rich};
use crate::report::plan::{self, Plan};
use crate::report::{fill_in, words};

pub(super) static SECTION: Section = Section {
    id: "resolution",
    title: "Resolution Process",
    build,
};

fn build(analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    if analysis.incidents.is_empty() || super::is_calm(analysis) {
        return Vec::new();
    }
    let mut blocks = vec![Block::paragraph(
        "Nothing has been applied. Read each command before you run it.",
    )];
    blocks.extend(per_incident(
        analysis,
        "resolution",
        3,
        |index, incident| fix(index + 1, incident, below(analysis, 3), ctx),
    ));
    blocks
}

fn fix(number: usize, incident: &Incident, level: u8, ctx: &SectionCtx) -> Vec<Block> {
    let plan = plan::of(incident);
    if plan.steps.is_empty() && plan.files.is_empty() {
        let text = Rich::from("No fix is known for ")
            .code(incident.cause.clone())
            .text(".");
        return vec![Block::paragraph(text)];
    }
    let heading =
        |id: &str, title: &str| Block::heading(level, format!("{id}-{number}"), title.to_owned());
    let mut blocks = Vec::new();
    if !incident.remedy.title.trim().is_empty() {
        let title = words::sentence(&incident.remedy.title);
        blocks.push(Block::paragraph(
            Rich::new().strong("Fix:").text(" ").say(&title),
        ));
    }
    blocks.push(heading("steps", "Steps"));
    blocks.extend(steps(&plan));
    blocks.extend(plan.files.iter().map(file));
    if let Some(fix) = &incident.fix {
        blocks.push(heading("replay", "Replay on the collected state"));
        blocks.extend(replayed::blocks(fix, ctx));
    }
    if !plan.back.is_empty() {
        blocks.push(heading("roll-back", "Roll back"));
        blocks.push(Block::Steps {
            items: plan.back.clone(),
        });
    }
    if let Some(fix) = plan::tried(incident) {
        let mut more: Vec<Block> = replayed::deltas(fix, ctx);
        more.extend(in_words(incident, fix, &plan));
        blocks.extend(Block::folded(
            "Every captured file that the fix changes, and manual steps",
            more,
        ));
    }
    blocks
}

/// The rule's own steps. Left out where the change that was tried is narrower than they are.
fn in_words(incident: &Incident, fix: &Fix, plan: &Plan) -> Vec<Block> {
    if incident.remedy.steps.is_empty() || !fix.leaves_closed.is_empty() {
        return Vec::new();
    }
    let words = plan::in_words(incident);
    let mut blocks = vec![Block::paragraph(Rich::new().strong("Manual steps"))];
    blocks.extend(steps(&words));
    for own in &words.files {
        let same = |other: &&(String, String, String)| other.2.trim() == own.2.trim();
        blocks.push(match plan.files.iter().find(same) {
            Some((other, ..)) => Block::paragraph(
                Rich::new()
                    .code(own.0.clone())
                    .text(" is the same file as ")
                    .code(other.clone())
                    .text("."),
            ),
            None => file(own),
        });
    }
    blocks
}

fn steps(plan: &Plan) -> Vec<Block> {
    let mut blocks = vec![Block::Steps {
        items: plan.steps.clone(),
    }];
    blocks.extend(fill_in::note(&plan.steps));
    blocks
}

fn file((name, language, content): &(String, String, String)) -> Block {
    Block::File {
        name: name.clone(),
        language: language.clone(),
        content: content.clone(),
    }
}
