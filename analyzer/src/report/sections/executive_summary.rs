//! Executive Summary: what happened, and the impact as counted from the bundle.

use super::{Section, SectionCtx, limited};
use crate::model::{Analysis, ImpactedWorkload, Verdict};
use crate::report::blocks::{Block, Rich};
use crate::report::{first_screen, words};

pub(super) static SECTION: Section = Section {
    id: "executive-summary",
    title: "Executive Summary",
    build,
};

fn build(analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    if super::is_calm(analysis) {
        return vec![calm(analysis)];
    }
    let mut blocks = vec![Block::heading(3, "what-happened", "What Happened")];
    let mut causes = analysis.incidents.iter();
    let guesses =
        !analysis.incidents.is_empty() && causes.all(|one| one.verdict == Verdict::Possible);
    if guesses {
        blocks.push(Block::paragraph(
            "No cause was confirmed, so what happened is not known.",
        ));
    }
    if analysis.incidents.is_empty() {
        let nothing = analysis.unexplained.is_empty() && analysis.impact.workloads.is_empty();
        blocks.push(Block::paragraph(match nothing {
            true => "No failing thing and no cause was found.",
            false => "No cause was found, so what happened is not known.",
        }));
    }
    let incidents = analysis.incidents.iter().filter(|_| !guesses);
    for (index, incident) in incidents.enumerate() {
        // What a further guess would mean is told with its evidence.
        if index > 0 && incident.verdict == Verdict::Possible {
            continue;
        }
        let mut text = Rich::new();
        if analysis.incidents.len() > 1 {
            text = text.strong(format!("{}.", words::rank(index))).text(" ");
        }
        // The first screen holds the beginning of the first cause.
        let summary = match index {
            0 => first_screen::rest(incident),
            _ => words::summary(incident),
        };
        let explanation = words::sentence(&incident.explanation);
        let said = [summary, explanation]
            .into_iter()
            .filter(|one| !one.is_empty());
        let said = said.collect::<Vec<_>>().join(" ");
        match said.is_empty() {
            true => blocks.push(Block::paragraph(text.say(&words::summary(incident)))),
            false => blocks.push(Block::paragraph(text.say(&said))),
        }
    }
    let impact = impact(analysis, ctx);
    if !impact.is_empty() {
        blocks.push(Block::heading(3, "impact", "Impact"));
    }
    blocks.extend(impact);
    blocks
}

/// What is said of an input in which nothing fails: the first screen has counted what was seen to be well.
fn calm(analysis: &Analysis) -> Block {
    Block::paragraph(match analysis.incidents.len() as u64 {
        0 => "Nothing that fails was found, and no cause.".to_owned(),
        number => format!(
            "Nothing that fails was found. Single lines would fit {}.",
            words::count(number, "possible cause")
        ),
    })
}

fn impact(analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    let counted = first_screen::counted(analysis);
    let mut blocks = Vec::new();
    if !counted.is_empty() {
        blocks.push(Block::paragraph(format!("{}.", words::join(&counted))));
    }
    if analysis.impact.workloads.is_empty() {
        // Without a cause the problem statement says so.
        if !analysis.incidents.is_empty() {
            let text = super::coverage::no_workload_seen(analysis);
            blocks.push(Block::paragraph(text));
        }
        return blocks;
    }
    let workloads = analysis.impact.workloads.iter();
    let mut rows: Vec<Vec<Rich>> = workloads.map(|one| row(one, analysis, ctx)).collect();
    let more = limited(&mut rows, ctx.limits.evidence, "report.json");
    let columns = [
        "Failing pod",
        "State",
        "Restarts",
        "GPUs requested",
        "Failing for",
        "Cause",
        "Source",
    ];
    blocks.push(Block::table("Failing pods", &columns, rows));
    blocks.extend(more);
    blocks
}

fn row(workload: &ImpactedWorkload, analysis: &Analysis, ctx: &SectionCtx) -> Vec<Rich> {
    let lasted = match (workload.since, analysis.reference_time) {
        (Some(since), Some(now)) if now >= since => words::span(now - since),
        _ => "not known".to_owned(),
    };
    let mut incidents = analysis.incidents.iter();
    let cause = incidents.find(|incident| incident.subjects.contains(&workload.subject));
    vec![
        Rich::new().code(words::subject(&workload.subject)),
        Rich::from(words::ill(&workload.state)),
        Rich::from(workload.restarts.to_string()),
        Rich::from(workload.gpus.to_string()),
        Rich::from(lasted),
        cause.map_or_else(
            || Rich::from("not explained"),
            |cause| Rich::new().code(cause.cause.clone()),
        ),
        ctx.place(Rich::new(), &workload.place),
    ]
}
