//! Differential: every cause that was considered, what ruled it out, what could not be checked.

use std::collections::BTreeMap;

use super::{Section, SectionCtx, limited};
use crate::model::{Analysis, Considered, Verdict};
use crate::report::blocks::{Block, Rich};
use crate::report::{escape, words};

pub(super) static SECTION: Section = Section {
    id: "differential",
    title: "Differential",
    build,
};

fn build(analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    if analysis.differential.is_empty() {
        return vec![Block::paragraph(
            "No cause of the catalogue had any evidence for or against it in this input.",
        )];
    }
    let of = |keep: fn(Verdict) -> bool| -> Vec<&Considered> {
        analysis
            .differential
            .iter()
            .filter(|c| keep(c.verdict))
            .collect()
    };
    let mut blocks = Vec::new();
    blocks.push(Block::heading(3, "considered", "In play"));
    blocks.extend(table(
        "Causes in play",
        of(Verdict::is_live),
        "No cause is in play.",
        ctx,
    ));
    let past = of(|verdict| verdict == Verdict::Past);
    if !past.is_empty() {
        blocks.push(Block::heading(3, "past", "Was so, and is over"));
        blocks.extend(table("Causes that are over", past, "", ctx));
    }
    blocks.push(Block::heading(3, "ruled-out", "Ruled out, and how"));
    let ruled_out = of(|verdict| verdict == Verdict::RuledOut);
    blocks.extend(table(
        "Causes that were ruled out",
        ruled_out,
        "No cause could be ruled out.",
        ctx,
    ));
    blocks.push(Block::heading(3, "not-checked", "Not checked"));
    blocks.extend(not_checked(
        &of(|verdict| verdict == Verdict::NotChecked),
        ctx,
    ));
    if !analysis.benign.is_empty() {
        blocks.push(Block::heading(
            3,
            "benign",
            "Looks like a fault and is none",
        ));
        blocks.extend(benign(analysis, ctx));
    }
    blocks
}

fn table(caption: &str, causes: Vec<&Considered>, none: &str, ctx: &SectionCtx) -> Vec<Block> {
    if causes.is_empty() {
        return vec![Block::paragraph(none)];
    }
    let mut rows: Vec<Vec<Rich>> = causes.into_iter().map(|cause| row(cause, ctx)).collect();
    let more = limited(&mut rows, ctx.limits.rows, "report.json");
    let mut blocks = vec![Block::table(
        caption,
        &["Cause", "Verdict", "Because"],
        rows,
    )];
    blocks.extend(more);
    blocks
}

fn row(cause: &Considered, ctx: &SectionCtx) -> Vec<Rich> {
    let mut why = Rich::prose(&escape::cut_middle(cause.why.trim(), escape::EXCERPT_CHARS));
    if let Some(other) = &cause.explained_by {
        why = why.text(" Explained by ").code(other.clone()).text(".");
    }
    if let Some(place) = &cause.place {
        why = ctx.place(why.text(" · "), place);
    }
    vec![
        Rich::new()
            .code(cause.cause.clone())
            .text(if cause.title.trim().is_empty() {
                ""
            } else {
                ": "
            })
            .say(cause.title.trim()),
        Rich::new().verdict(cause.verdict),
        why,
    ]
}

/// Causes that could not be checked, grouped by what is missing: dozens share one reason.
fn not_checked(causes: &[&Considered], ctx: &SectionCtx) -> Vec<Block> {
    if causes.is_empty() {
        return vec![Block::paragraph(
            "Every cause that was considered could be checked.",
        )];
    }
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for cause in causes {
        groups
            .entry(cause.why.trim())
            .or_default()
            .push(&cause.cause);
    }
    let mut rows: Vec<Vec<Rich>> = groups
        .into_iter()
        .map(|(why, causes)| group(why, &causes))
        .collect();
    let more = limited(&mut rows, ctx.limits.rows, "report.json");
    let lead = format!(
        "{} could not be checked. Not checked is not ruled out.",
        words::count(causes.len() as u64, "cause")
    );
    let columns = ["What is missing", "So these stay open"];
    let mut blocks = vec![
        Block::paragraph(lead),
        Block::table("Causes that were not checked", &columns, rows),
    ];
    blocks.extend(more);
    blocks
}

fn group(why: &str, causes: &[&str]) -> Vec<Rich> {
    const SHOWN: usize = 30;
    let mut text = Rich::new();
    for (index, cause) in causes.iter().take(SHOWN).enumerate() {
        text = text.text(if index == 0 { "" } else { ", " }).code(*cause);
    }
    if causes.len() > SHOWN {
        text = text.text(format!(" and {} more in report.json", causes.len() - SHOWN));
    }
    vec![
        Rich::prose(&escape::cut_middle(why, escape::EXCERPT_CHARS)),
        text,
    ]
}

fn benign(analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    let mut rows: Vec<Vec<Rich>> = analysis
        .benign
        .iter()
        .map(|noise| {
            let mut shown = Rich::new();
            if let Some(line) = noise.evidence.first() {
                shown = shown
                    .code(escape::cut_middle(line.text.trim(), 200).into_owned())
                    .text(" ");
                shown = ctx.place(shown.text("· "), &line.place);
                let seen = noise
                    .evidence
                    .iter()
                    .map(|line| line.count)
                    .fold(0, u64::saturating_add);
                if seen > 1 {
                    shown = shown.text(format!(" (seen {seen} times)"));
                }
            }
            vec![
                Rich::new().code(noise.id.clone()),
                shown,
                Rich::prose(&words::sentence(&noise.text)),
            ]
        })
        .collect();
    let more = limited(&mut rows, ctx.limits.rows, "report.json");
    let mut blocks = vec![Block::table(
        "Known noise",
        &["Id", "Line", "Why it is harmless"],
        rows,
    )];
    blocks.extend(more);
    blocks
}
