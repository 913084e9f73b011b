//! Problem Statement: what people notice, and why, in two sentences.

use super::{Section, SectionCtx};
use crate::model::{Analysis, Incident};
use crate::report::blocks::{Block, Rich};
use crate::report::words;

pub(super) static SECTION: Section = Section {
    id: "problem-statement",
    title: "Problem Statement",
    build,
};

fn build(analysis: &Analysis, _: &SectionCtx) -> Vec<Block> {
    if analysis.incidents.is_empty() {
        return without_cause(analysis);
    }
    let mut items = Vec::new();
    for incident in &analysis.incidents {
        items.push(problem(incident));
    }
    if items.len() == 1 {
        return items.into_iter().map(Block::paragraph).collect();
    }
    vec![
        Block::paragraph(format!(
            "{} independent problems are in play; fix them in this order:",
            items.len()
        )),
        Block::List {
            ordered: true,
            items,
        },
    ]
}

fn problem(incident: &Incident) -> Rich {
    let mut text = Rich::prose(&words::sentence(&incident.title)).text(" ");
    if let Some(symptom) = incident.symptoms.first() {
        text = text
            .text("People notice: ")
            .say(&words::opening(&symptom.text))
            .text(" ");
    }
    text.text("Verdict: ")
        .verdict(incident.verdict)
        .text(", severity ")
        .severity(incident.severity)
        .text(".")
}

fn without_cause(analysis: &Analysis) -> Vec<Block> {
    let hit = &analysis.impact.workloads;
    let mut text = match hit.len() {
        0 => Rich::from(super::coverage::no_workload_seen(analysis)).text(" "),
        n => Rich::from(format!(
            "{} not do their work: ",
            if n == 1 {
                "1 workload does".to_owned()
            } else {
                format!("{n} workloads do")
            }
        )),
    };
    for (index, workload) in hit.iter().take(3).enumerate() {
        text = text
            .text(if index == 0 { "" } else { ", " })
            .code(workload.subject.clone())
            .text(" ");
        text = text.text(words::ill(&workload.state));
    }
    if !hit.is_empty() {
        text = text.text(". ");
    }
    vec![
        Block::paragraph(text.text("No cause was confirmed from what was collected.")),
        Block::Blanks {
            items: vec!["what was reported, by whom, and when".to_owned()],
        },
    ]
}
