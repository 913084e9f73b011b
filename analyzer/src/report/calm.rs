//! A report on an input in which nothing fails: what only an incident needs is folded away.

use super::blocks::Block;
use super::{SectionView, words};
use crate::model::Analysis;

/// Sections that nobody needs while nothing fails, each with what is said in its place.
const FOLDED: [(&str, &str); 4] = [
    ("investigation", "What would settle the possible causes"),
    (
        "root-cause",
        "Possible causes, with what fits and what contradicts them",
    ),
    ("communication", "Messages, should somebody report a fault"),
    ("timeline", "Lines with a time, in order"),
];

/// Folds sections of a report in which nothing fails.
pub(super) fn fold(sections: &mut [SectionView], analysis: &Analysis) {
    if !words::is_calm(analysis) {
        return;
    }
    for section in sections {
        let known = FOLDED.iter().find(|(id, _)| *id == section.id);
        if let Some((_, summary)) = known {
            let blocks = std::mem::take(&mut section.blocks);
            section.blocks.extend(Block::folded(*summary, blocks));
        }
    }
}
