//! Mitigation: what to do until the fix can be applied.

use super::{Section, SectionCtx, per_incident};
use crate::model::Analysis;
use crate::report::blocks::{Block, Rich};

pub(super) static SECTION: Section = Section {
    id: "mitigation",
    title: "Mitigation Strategies",
    build,
};

fn build(analysis: &Analysis, _: &SectionCtx) -> Vec<Block> {
    if super::is_calm(analysis) {
        return Vec::new();
    }
    let blocks = per_incident(analysis, "mitigation", 3, |_, incident| {
        if incident.remedy.mitigate.is_empty() {
            return Vec::new();
        }
        vec![Block::list(
            incident
                .remedy
                .mitigate
                .iter()
                .map(|text| Rich::prose(text.trim()))
                .collect(),
        )]
    });
    if blocks.is_empty() {
        return blocks;
    }
    let mut all = vec![Block::paragraph("Until the fix can be applied:")];
    all.extend(blocks);
    all
}
