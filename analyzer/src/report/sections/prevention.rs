//! Prevention: what keeps each cause from coming back.

use super::{Section, SectionCtx, per_incident};
use crate::model::Analysis;
use crate::report::blocks::{Block, Rich};

pub(super) static SECTION: Section = Section {
    id: "prevention",
    title: "Prevention Measures",
    build,
};

fn build(analysis: &Analysis, _: &SectionCtx) -> Vec<Block> {
    if super::is_calm(analysis) {
        return Vec::new();
    }
    per_incident(analysis, "prevention", 3, |_, incident| {
        if incident.remedy.prevent.is_empty() {
            return Vec::new();
        }
        vec![Block::list(
            incident
                .remedy
                .prevent
                .iter()
                .map(|text| Rich::prose(text.trim()))
                .collect(),
        )]
    })
}
