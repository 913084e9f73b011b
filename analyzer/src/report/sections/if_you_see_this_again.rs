//! If You Encounter Similar Issues: how to recognise each cause next time, and what to ask first.

use std::collections::BTreeSet;

use super::{Section, SectionCtx, per_incident};
use crate::model::{Analysis, Incident};
use crate::report::blocks::{Block, Rich};
use crate::report::{escape, words};

pub(super) static SECTION: Section = Section {
    id: "if-you-see-this-again",
    title: "If You Encounter Similar Issues",
    build,
};

fn build(analysis: &Analysis, _: &SectionCtx) -> Vec<Block> {
    let mut blocks = per_incident(analysis, "again", 3, |_, incident| recognise(incident));
    if blocks.is_empty() {
        blocks.push(Block::paragraph(
            "Nothing was found here to recognise next time. Collect the bundle while the problem is present: \
             states that have passed leave few traces.",
        ));
    }
    blocks
}

fn recognise(incident: &Incident) -> Vec<Block> {
    let mut items = Vec::new();
    let mut quoted = BTreeSet::new();
    for symptom in incident.symptoms.iter().take(3) {
        let mut text = Rich::new()
            .strong("You see:")
            .text(" ")
            .say(&words::clause(&symptom.text));
        if let Some(line) = symptom
            .evidence
            .first()
            .filter(|line| !line.text.trim().is_empty() && quoted.insert(&line.text))
        {
            text = text
                .text(", e.g. ")
                .code(escape::cut_middle(line.text.trim(), 160).into_owned());
        }
        items.push(text);
    }
    for observation in incident
        .observations
        .iter()
        .filter(|o| !o.command.trim().is_empty())
        .take(4)
    {
        let command = escape::one_line(&observation.command);
        items.push(
            Rich::new()
                .strong("Ask:")
                .text(" ")
                .say(observation.question.trim())
                .text(" ")
                .code(escape::cut_middle(command.trim(), 200).into_owned()),
        );
    }
    if !incident.look_alikes.trim().is_empty() {
        items.push(
            Rich::new()
                .strong("Tell it apart:")
                .text(" ")
                .say(&words::sentence(&incident.look_alikes)),
        );
    }
    if items.is_empty() {
        return Vec::new();
    }
    vec![Block::List {
        ordered: true,
        items,
    }]
}
