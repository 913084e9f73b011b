//! Problem Statement: what people notice, a sentence for each independent problem.

use super::{Section, SectionCtx};
use crate::model::{Analysis, Incident, Verdict};
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
        // Nobody has a problem; what single lines would fit is folded below.
        _ if super::is_calm(analysis) => vec![without_cause(analysis)],
        // What fails is sure; a cause that is only possible is not what people notice.
        [only] if only.verdict == Verdict::Possible && something_fails(analysis) => {
            vec![without_cause(analysis)]
        }
        [only] if only.verdict == Verdict::Possible => {
            let text = Rich::from("No cause was confirmed. One would fit what was seen: ");
            vec![Block::paragraph(text.join(problem(only)))]
        }
        [only] => vec![Block::paragraph(symptom(only))],
        several => vec![
            Block::paragraph(introduced(several)),
            Block::List {
                ordered: true,
                items: several.iter().map(problem).collect(),
            },
        ],
    }
}

fn something_fails(analysis: &Analysis) -> bool {
    !analysis.impact.workloads.is_empty() || !analysis.unexplained.is_empty()
}

/// What the list below is: problems, or only what would fit.
fn introduced(several: &[Incident]) -> String {
    let sure = several
        .iter()
        .filter(|one| one.verdict <= Verdict::Likely)
        .count();
    match sure {
        0 => "No cause was confirmed. These would fit what was seen; settle them in this order:"
            .to_owned(),
        1 => "1 problem was found. The causes after it are only possible:".to_owned(),
        all if all == several.len() => {
            format!("{all} independent problems were found. Fix them in this order:")
        }
        some => format!(
            "{some} independent problems were found; fix them in this order. \
             The causes after them are only possible:"
        ),
    }
}

fn problem(incident: &Incident) -> Rich {
    let text = Rich::prose(&words::sentence(&incident.title))
        .text(" ")
        .verdict(incident.verdict);
    // How bad something is that may not be so says nothing.
    let text = match incident.verdict {
        Verdict::Possible => text.text("."),
        _ => text
            .text(", severity ")
            .severity(incident.severity)
            .text("."),
    };
    match incident.symptoms.is_empty() || incident.verdict == Verdict::Possible {
        true => text,
        false => text.text(" ").join(symptom(incident)),
    }
}

/// What people notice; the title stands in where no symptom was captured.
fn symptom(incident: &Incident) -> Rich {
    match incident.symptoms.first() {
        Some(symptom) => {
            // The line itself is quoted where it is explained.
            let quoted = symptom
                .evidence
                .first()
                .map_or("", |line| line.text.as_str());
            let says = super::without_quote(symptom.text.trim(), quoted);
            let says = words::sentence(says);
            Rich::new().strong("Symptom:").text(" ").say(&says)
        }
        None => Rich::prose(&words::sentence(&incident.title)),
    }
}

fn without_cause(analysis: &Analysis) -> Block {
    let failing: Vec<_> = analysis.impact.workloads.iter().collect();
    if let (true, Some(first)) = (failing.is_empty(), analysis.unexplained.first()) {
        let state = match first.reason.is_empty() {
            true => String::new(),
            false => format!(": {}", words::clause(&first.reason)),
        };
        let text = Rich::new().strong("Symptom:").text(" ");
        let text = text.code(words::subject(&first.subject)).text(state);
        return Block::paragraph(text.text("."));
    }
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
