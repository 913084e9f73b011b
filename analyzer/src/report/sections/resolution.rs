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
    if analysis.incidents.is_empty() {
        return vec![Block::paragraph(
            Rich::from("There is nothing to fix yet: no cause was confirmed. What to do instead stands under ")
                .jump("Next Steps", "next-steps")
                .text("."),
        )];
    }
    let mut blocks = vec![Block::paragraph(
        "Derived from the captured state and not applied to anything. Read each command before running it.",
    )];
    blocks.extend(per_incident(
        analysis,
        "resolution",
        3,
        |index, incident| fix(index + 1, incident, analysis, ctx),
    ));
    blocks
}

fn fix(number: usize, incident: &Incident, analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    let level = below(analysis, 3);
    let plan = plan::of(incident);
    if plan.steps.is_empty() && plan.files.is_empty() {
        let text = Rich::from("No fix is known here for ")
            .code(incident.cause.clone())
            .text(".");
        return vec![Block::paragraph(text)];
    }
    let heading =
        |id: &str, title: &str| Block::heading(level, format!("{id}-{number}"), title.to_owned());
    let mut blocks = Vec::new();
    if !incident.remedy.title.trim().is_empty() {
        blocks.push(Block::paragraph(
            Rich::new()
                .strong("Fix:")
                .text(" ")
                .say(&words::sentence(&incident.remedy.title)),
        ));
    }
    if let Some(fix) = &incident.fix {
        blocks.push(heading("replay", "What trying it showed"));
        blocks.extend(replayed::blocks(fix, ctx));
    }
    blocks.push(heading("steps", "Steps"));
    blocks.extend(take(&plan, incident, analysis));
    if !plan.files.is_empty() {
        blocks.push(heading("files", "Files"));
        blocks.extend(files(&plan));
    }
    blocks.push(heading("dry-run", "Dry run"));
    blocks.push(dry_run(&plan));
    if !plan.back.is_empty() {
        blocks.push(heading("roll-back", "Roll back"));
        blocks.push(Block::Steps {
            items: plan.back.clone(),
        });
    }
    if let Some(fix) = plan::tried(incident) {
        blocks.extend(replayed::deltas(fix, ctx));
        blocks.extend(in_words(incident, fix, &plan, analysis));
    }
    blocks
}

/// The rule's own steps, folded: they say what to look at around the change. Left out where the change that
/// was tried is narrower than they are.
fn in_words(incident: &Incident, fix: &Fix, plan: &Plan, analysis: &Analysis) -> Option<Block> {
    if incident.remedy.steps.is_empty() || !fix.leaves_closed.is_empty() {
        return None;
    }
    let words = plan::in_words(incident);
    let mut blocks = take(&words, incident, analysis);
    for (name, language, content) in &words.files {
        let same = |file: &&(String, String, String)| file.2.trim() == content.trim();
        blocks.push(match plan.files.iter().find(same) {
            Some((other, ..)) => Block::paragraph(
                Rich::new()
                    .code(name.clone())
                    .text(" is ")
                    .code(other.clone())
                    .text(" above."),
            ),
            None => Block::File {
                name: name.clone(),
                language: language.clone(),
                content: content.clone(),
            },
        });
    }
    Some(Block::Details {
        summary: "The same in the rule's words, with what to look at around it".to_owned(),
        blocks,
    })
}

fn take(plan: &Plan, incident: &Incident, analysis: &Analysis) -> Vec<Block> {
    let mut blocks = vec![Block::Steps {
        items: plan.steps.clone(),
    }];
    blocks.extend(fill_in::note(&plan.steps, incident, analysis));
    blocks
}

fn files(plan: &Plan) -> Vec<Block> {
    let file = |(name, language, content): &(String, String, String)| Block::File {
        name: name.clone(),
        language: language.clone(),
        content: content.clone(),
    };
    plan.files.iter().map(file).collect()
}

fn dry_run(plan: &Plan) -> Block {
    let numbers: Vec<String> = plan.dry.iter().map(ToString::to_string).collect();
    if numbers.is_empty() {
        return Block::paragraph(
            "No step of this fix has a dry run. Its steps were not tried on this node.",
        );
    }
    Block::paragraph(format!(
        "Of the steps above, number {} shows what would change and changes nothing; compare its output before going on.",
        words::join(&numbers)
    ))
}
