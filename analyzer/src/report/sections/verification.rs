//! Verification: the checks that show each fix worked, with what should be seen.

use super::{Section, SectionCtx, per_incident};
use crate::model::Analysis;
use crate::report::blocks::{Block, Rich};
use crate::report::{fill_in, plan};

pub(super) static SECTION: Section = Section {
    id: "verification",
    title: "Verification",
    build,
};

fn build(analysis: &Analysis, _: &SectionCtx) -> Vec<Block> {
    let mut blocks = per_incident(analysis, "verification", 3, |_, incident| {
        if incident.remedy.verify.is_empty() {
            return Vec::new();
        }
        let items = plan::steps(&incident.remedy.verify);
        let note = fill_in::note(&items, incident, analysis);
        let mut blocks = vec![Block::Steps { items }];
        blocks.extend(note);
        blocks
    });
    if blocks.is_empty() {
        blocks.push(Block::paragraph(
            "No fix was proposed, so there is nothing to verify yet.",
        ));
    }
    if analysis.incidents.is_empty() {
        return blocks;
    }
    blocks.push(Block::paragraph(
        Rich::from("To close the incident, collect a second bundle after the fix: a report on it that no longer names ")
            .text("the cause, with the same sources collected, is the proof. Until then this is open."),
    ));
    let remaining = still_expected(analysis);
    if !remaining.is_empty() {
        let mut text = Rich::from("With the first fix alone that report still names: ");
        for (nth, cause) in remaining.iter().enumerate() {
            text = text
                .text(if nth == 0 { "" } else { ", " })
                .code(cause.clone());
        }
        blocks.push(Block::paragraph(text.text(".")));
    }
    blocks
}

/// Causes that the first fix leaves or brings, as trying it showed.
fn still_expected(analysis: &Analysis) -> Vec<String> {
    let fix = analysis.incidents.first().and_then(plan::tried);
    let left = fix
        .into_iter()
        .flat_map(|fix| fix.remains.iter().chain(&fix.appears));
    left.map(|one| one.cause.clone()).collect()
}
