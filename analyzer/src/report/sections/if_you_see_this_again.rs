//! If You Encounter Similar Issues: how to recognise each cause next time, and what to ask first.

use super::{Section, SectionCtx};
use crate::model::{Analysis, Incident};
use crate::report::blocks::{Block, Rich};
use crate::report::{escape, words};

pub(super) static SECTION: Section = Section {
    id: "if-you-see-this-again",
    title: "If You Encounter Similar Issues",
    build,
};

fn build(analysis: &Analysis, _: &SectionCtx) -> Vec<Block> {
    if super::is_calm(analysis) {
        return Vec::new();
    }
    let items: Vec<Rich> = analysis.incidents.iter().filter_map(recognise).collect();
    if items.is_empty() {
        return Vec::new();
    }
    vec![Block::list(items)]
}

/// The symptom and the command that decides: one line a cause.
fn recognise(incident: &Incident) -> Option<Rich> {
    let symptom = incident
        .symptoms
        .first()
        .map(|symptom| symptom.text.as_str());
    let seen = symptom.unwrap_or(&incident.title);
    let mut asked = incident.observations.iter();
    let decides = asked.rfind(|asked| !asked.command.trim().is_empty())?;
    let command = escape::one_line(&decides.command);
    Some(
        Rich::from("When you see \"")
            .say(&words::first_clause(&words::clause(seen), 160))
            .text("\", ask first: ")
            .say(decides.question.trim())
            .text(" ")
            .code(escape::cut_middle(command.trim(), 200).into_owned()),
    )
}
