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

/// Causes that are over which a report shows where nothing fails.
const OVER: usize = 3;

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
    // The causes above have their own parts of the page.
    let told = |cause: &&Considered| {
        analysis
            .incidents
            .iter()
            .all(|one| one.cause != cause.cause)
    };
    let live: Vec<&Considered> = of(Verdict::is_live).into_iter().filter(told).collect();
    let past = of(|verdict| verdict == Verdict::Past);
    let ruled_out = of(|verdict| verdict == Verdict::RuledOut);
    let open = of(|verdict| verdict == Verdict::NotChecked);
    let (mut blocks, mut rest) = (Vec::new(), Vec::new());
    if !live.is_empty() {
        let rows = table("Other causes with evidence", live, ctx);
        // Where nothing fails nobody looks for further causes.
        match super::is_calm(analysis) {
            true => rest.extend(rows),
            false => blocks.extend(rows),
        }
    }
    let over = past.len() as u64;
    let long = past.len() > OVER && super::is_calm(analysis);
    if !past.is_empty() {
        let rows = table("Happened, and is over", past, ctx);
        // Where nothing fails any more, a long list of what did is history.
        match long {
            true => rest.extend(rows),
            false => blocks.extend(rows),
        }
    }
    let numbers = |number: usize, done: &str| {
        let number = number as u64;
        format!(
            "{} {} {done}",
            words::count(number, "cause"),
            words::were(number)
        )
    };
    let over = match long {
        true => format!(
            "{} happened and {} over; ",
            words::count(over, "cause"),
            words::are(over)
        ),
        false => String::new(),
    };
    blocks.push(Block::paragraph(format!(
        "{over}{}; {}.",
        numbers(ruled_out.len(), "ruled out"),
        numbers(open.len(), "not checked")
    )));
    if !ruled_out.is_empty() {
        rest.extend(table("Ruled out", ruled_out, ctx));
    }
    rest.extend(not_checked(&open, ctx));
    rest.extend(benign(analysis, ctx));
    blocks.extend(Block::folded(
        "Everything that was ruled out or not checked",
        rest,
    ));
    blocks
}

fn table(caption: &str, causes: Vec<&Considered>, ctx: &SectionCtx) -> Vec<Block> {
    let mut rows: Vec<Vec<Rich>> = causes.into_iter().map(|cause| row(cause, ctx)).collect();
    let more = limited(&mut rows, ctx.limits.rows, "report.json");
    let mut blocks = vec![titled(caption, &["Cause", "Verdict", "Because"], rows)];
    blocks.extend(more);
    blocks
}

fn row(cause: &Considered, ctx: &SectionCtx) -> Vec<Rich> {
    let why = escape::cut_middle(cause.why.trim(), escape::EXCERPT_CHARS);
    let mut why = match cause.explained_by {
        Some(_) => Rich::prose(&words::sentence(&why)),
        None => Rich::prose(&why),
    };
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
        return Vec::new();
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
    let columns = ["Missing", "Not checked because of it"];
    let mut blocks = vec![titled("Not checked, so not ruled out", &columns, rows)];
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

fn titled(caption: &str, columns: &[&str], rows: Vec<Vec<Rich>>) -> Block {
    Block::Table {
        caption: caption.to_owned(),
        columns: columns.iter().map(|text| Rich::from(*text)).collect(),
        rows,
        titled: true,
        row_heads: false,
    }
}

fn benign(analysis: &Analysis, ctx: &SectionCtx) -> Vec<Block> {
    if analysis.benign.is_empty() {
        return Vec::new();
    }
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
    let columns = ["Id", "Line", "Why it is harmless"];
    let mut blocks = vec![titled("Looks like a fault and is none", &columns, rows)];
    blocks.extend(more);
    blocks
}
