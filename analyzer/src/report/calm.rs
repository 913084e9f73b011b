//! What only an incident needs is folded away where nothing fails, and what only a cause needs where all causes are
//! guesses about something else than what fails.

use super::blocks::Block;
use super::{SectionView, first_screen, words};
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

/// The same where something fails and no cause is known to have to do with it.
const GUESSED: [(&str, &str); 7] = [
    FOLDED[0],
    FOLDED[1],
    (
        "resolution",
        "The fix, only if the first possible cause is confirmed",
    ),
    ("verification", "How to check that fix"),
    ("prevention", "How to prevent the first possible cause"),
    ("mitigation", "What helps until that fix is applied"),
    ("if-you-see-this-again", "What to ask when you see the like"),
];

/// Folds sections of a report in which nothing fails, or in which all causes are guesses.
pub(super) fn fold(sections: &mut [SectionView], analysis: &Analysis) {
    let folded: &[(&str, &str)] = match (
        words::is_calm(analysis),
        first_screen::only_guesses(analysis),
    ) {
        (true, _) => &FOLDED,
        (false, true) => &GUESSED,
        (false, false) => return,
    };
    for section in sections {
        let known = folded.iter().find(|(id, _)| *id == section.id);
        if let Some((_, summary)) = known {
            let blocks = std::mem::take(&mut section.blocks);
            section.blocks.extend(Block::folded(*summary, blocks));
        }
    }
}
