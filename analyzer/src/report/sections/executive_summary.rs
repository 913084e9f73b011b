//! Executive Summary: what happened, and the impact as counted from the bundle.

use super::{Section, SectionCtx, first_screen, limited};
use crate::model::{Analysis, ImpactedWorkload};
use crate::report::blocks::{Block, Rich};
use crate::report::words;

pub(super) static SECTION: Section = Section {
    id: "executive-summary",
    title: "Executive Summary",
    build,
};

fn build(analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    let mut blocks = vec![Block::heading(3, "what-happened", "What Happened")];
    if analysis.incidents.is_empty() {
        blocks.push(Block::paragraph(first_screen::nothing_confirmed(analysis)));
    }
    for (index, incident) in analysis.incidents.iter().enumerate() {
        let mut text = Rich::new();
        if analysis.incidents.len() > 1 {
            text = text.strong(format!("{}.", words::rank(index))).text(" ");
        }
        text = text.say(&words::summary(incident));
        if let Some(since) = incident.since {
            text = text.text(format!(" First seen {}.", words::time(since)));
        }
        blocks.push(Block::paragraph(text));
    }
    blocks.push(Block::heading(3, "impact", "Impact"));
    blocks.extend(impact(analysis, ctx));
    blocks
}

fn impact(analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    let mut blocks = Vec::new();
    if let Some(text) = plain(analysis) {
        blocks.push(Block::paragraph(text.text(".")));
    }
    let counted = first_screen::counted(&analysis.impact);
    let besides = first_screen::counted_besides(&analysis.impact);
    let mut items: Vec<Rich> = counted.into_iter().chain(besides).map(Rich::from).collect();
    for incident in &analysis.incidents {
        for symptom in &incident.symptoms {
            items.push(Rich::prose(&words::opening(&symptom.text)));
        }
    }
    items.truncate(ctx.limits.evidence);
    if items.is_empty() && analysis.impact.workloads.is_empty() {
        blocks.push(Block::paragraph(super::coverage::no_workload_seen(
            analysis,
        )));
    }
    if !items.is_empty() {
        blocks.push(Block::list(items));
    }
    if !analysis.impact.workloads.is_empty() {
        let mut rows: Vec<Vec<Rich>> = analysis
            .impact
            .workloads
            .iter()
            .map(|workload| row(workload, analysis, ctx))
            .collect();
        let more = limited(&mut rows, ctx.limits.rows, "the bundle's pod lists");
        let columns = [
            "Workload",
            "State",
            "Restarts",
            "GPUs asked for",
            "For how long",
            "Where it stands",
        ];
        blocks.push(Block::table(
            "Workloads that do not do their work",
            &columns,
            rows,
        ));
        blocks.extend(more);
    }
    blocks.push(Block::Blanks {
        items: vec![
            "detected by".to_owned(),
            "who was affected, and what it cost them".to_owned(),
            "time of detection and of recovery".to_owned(),
        ],
    });
    blocks
}

/// Who is hit and for how long in one clause, for readers who want no more.
pub(super) fn plain(analysis: &Analysis) -> Option<Rich> {
    let impact = &analysis.impact;
    let get = |key: &str| impact.counts.get(key).copied().unwrap_or(0);
    if impact.workloads.is_empty() {
        return None;
    }
    let pods = words::count(impact.workloads.len() as u64, "pod");
    let verb = if impact.workloads.len() == 1 {
        "does"
    } else {
        "do"
    };
    let mut text = format!("{pods} {verb} not do their work");
    if impact.workloads.len() == 1 {
        text = format!("{pods} does not do its work");
    }
    let (owners, namespaces) = (get("workloads_affected"), get("namespaces_affected"));
    if owners > 0 && namespaces > 0 {
        text = format!(
            "{text} ({} in {})",
            words::count(owners, "workload"),
            words::count(namespaces, "namespace")
        );
    }
    let since = impact.workloads.iter().filter_map(|one| one.since).min();
    if let (Some(since), Some(now)) = (since, analysis.reference_time)
        && now >= since
    {
        let which = if impact.workloads.len() == 1 {
            ""
        } else {
            "the longest "
        };
        text = format!("{text}, {which}for {}", words::span(now - since));
    }
    let wanted = get("gpus_wanted");
    if wanted > 0 {
        text = format!(
            "{text}; {} for {}",
            if impact.workloads.len() == 1 {
                "it asks"
            } else {
                "together they ask"
            },
            words::count(wanted, "GPU")
        );
    }
    Some(Rich::new().strong(text))
}

fn row(workload: &ImpactedWorkload, analysis: &Analysis, ctx: &SectionCtx) -> Vec<Rich> {
    let lasted = match (workload.since, analysis.reference_time) {
        (Some(since), Some(now)) if now >= since => words::span(now - since),
        _ => "not known".to_owned(),
    };
    vec![
        Rich::new().code(workload.subject.clone()),
        Rich::from(words::ill(&workload.state)),
        Rich::from(workload.restarts.to_string()),
        Rich::from(workload.gpus.to_string()),
        Rich::from(lasted),
        ctx.place(Rich::new(), &workload.place),
    ]
}
