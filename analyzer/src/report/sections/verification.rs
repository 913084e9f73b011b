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
        let note = fill_in::note(&items, incident);
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
    blocks
}
