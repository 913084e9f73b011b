//! Resolution Process: steps, files and dry run of each fix, in the order to apply them.

use super::{Section, SectionCtx, below, per_incident};
use crate::model::{Analysis, Incident, Step};
use crate::report::blocks::{Block, Rich, StepItem};
use crate::report::words;

pub(super) static SECTION: Section = Section {
    id: "resolution",
    title: "Resolution Process",
    build,
};

fn build(analysis: &Analysis, _: &SectionCtx) -> Vec<Block> {
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
        |index, incident| fix(index + 1, incident, below(analysis, 3)),
    ));
    blocks
}

fn fix(number: usize, incident: &Incident, level: u8) -> Vec<Block> {
    let remedy = &incident.remedy;
    if remedy.steps.is_empty() && remedy.files.is_empty() {
        let text = Rich::from("No fix is known here for ")
            .code(incident.cause.clone())
            .text(".");
        return vec![Block::paragraph(text)];
    }
    let mut blocks = Vec::new();
    if !remedy.title.trim().is_empty() {
        blocks.push(Block::paragraph(
            Rich::new()
                .strong("Fix:")
                .text(" ")
                .say(&words::sentence(&remedy.title)),
        ));
    }
    if !remedy.steps.is_empty() {
        blocks.push(Block::heading(level, format!("steps-{number}"), "Steps"));
        blocks.push(Block::Steps {
            items: steps(&remedy.steps),
        });
    }
    if !remedy.files.is_empty() {
        blocks.push(Block::heading(level, format!("files-{number}"), "Files"));
        for file in &remedy.files {
            blocks.push(Block::File {
                name: file.name.clone(),
                language: file.language.clone(),
                content: file.content.clone(),
            });
        }
    }
    blocks.push(Block::heading(
        level,
        format!("dry-run-{number}"),
        "Dry run",
    ));
    blocks.push(dry_run(&remedy.steps));
    blocks
}

/// Steps of the model as steps of the report.
pub(crate) fn steps(steps: &[Step]) -> Vec<StepItem> {
    steps
        .iter()
        .map(|step| StepItem {
            text: Rich::prose(&words::sentence(&step.text)),
            command: step
                .command
                .clone()
                .filter(|command| !command.trim().is_empty()),
            expect: step
                .expect
                .as_ref()
                .map(|text| Rich::prose(&words::sentence(text))),
        })
        .collect()
}

fn dry_run(steps: &[Step]) -> Block {
    let numbers: Vec<String> = steps
        .iter()
        .enumerate()
        .filter(|(_, step)| {
            step.command
                .as_ref()
                .is_some_and(|command| command.contains("--dry-run"))
        })
        .map(|(index, _)| (index + 1).to_string())
        .collect();
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
