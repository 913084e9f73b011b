//! Problem Statement: what people notice, a sentence for each independent problem.

use super::{Section, SectionCtx};
use crate::model::{Analysis, Incident};
use crate::report::blocks::{Block, Rich};
use crate::report::{first_screen, words};

pub(super) static SECTION: Section = Section {
    id: "problem-statement",
    title: "Problem Statement",
    build,
};

fn build(analysis: &Analysis, _: &SectionCtx) -> Vec<Block> {
    match analysis.incidents.as_slice() {
        [] => vec![without_cause(analysis)],
        [only] => vec![Block::paragraph(symptom(only))],
        several => vec![
            Block::paragraph(format!(
                "{} independent problems were found. Fix them in this order:",
                several.len()
            )),
            Block::List {
                ordered: true,
                items: several.iter().map(problem).collect(),
            },
        ],
    }
}

fn problem(incident: &Incident) -> Rich {
    Rich::prose(&words::sentence(&incident.title))
        .text(" ")
        .verdict(incident.verdict)
        .text(", severity ")
        .severity(incident.severity)
        .text(". ")
        .join(symptom(incident))
}

/// What people notice; the title stands in where no symptom was captured.
fn symptom(incident: &Incident) -> Rich {
    match incident.symptoms.first() {
        Some(symptom) => Rich::new()
            .strong("Symptom:")
            .text(" ")
            .say(&words::sentence(&symptom.text)),
        None => Rich::prose(&words::sentence(&incident.title)),
    }
}

fn without_cause(analysis: &Analysis) -> Block {
    let failing: Vec<_> = analysis.impact.workloads.iter().collect();
    if failing.is_empty() {
        return Block::paragraph(super::coverage::no_workload_seen(analysis));
    }
    let mut text = Rich::from(format!(
        "{}: ",
        first_screen::failing(&failing, analysis.reference_time)
    ));
    for (index, workload) in failing.iter().take(3).enumerate() {
        text = text
            .text(if index == 0 { "" } else { ", " })
            .code(words::subject(&workload.subject))
            .text(format!(" ({})", words::ill(&workload.state)));
    }
    Block::paragraph(text.text("."))
}
