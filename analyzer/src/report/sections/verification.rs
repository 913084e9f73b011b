//! Verification: the checks that show each fix worked, with what should be seen.

use super::{Section, SectionCtx, per_incident, replayed};
use crate::model::Analysis;
use crate::model::fix::FixOutcome;
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
        let note = fill_in::note(&items);
        let mut blocks = vec![Block::Steps { items }];
        blocks.extend(note);
        blocks
    });
    if analysis.incidents.is_empty() || super::is_calm(analysis) {
        return Vec::new();
    }
    let mut text = Rich::prose(
        "Then collect a second bundle and compare: `casefile-analyzer diff` says whether the incident is over.",
    );
    let remaining = still_expected(analysis);
    for (nth, cause) in remaining.iter().enumerate() {
        text = text
            .text(if nth == 0 {
                " After the first fix alone it still names "
            } else {
                ", "
            })
            .code(cause.clone());
    }
    if !remaining.is_empty() {
        text = text.text(".");
    }
    blocks.push(Block::paragraph(text));
    blocks
}

/// Causes that the first fix leaves or brings, as trying it showed.
fn still_expected(analysis: &Analysis) -> Vec<String> {
    let fix = analysis.incidents.first().and_then(plan::tried);
    let left = fix
        .into_iter()
        // What could not be tried leaves nothing to expect.
        .filter(|fix| fix.outcome != FixOutcome::CannotBeShown)
        .flat_map(|fix| fix.remains.iter().chain(&fix.appears));
    let left = left.filter(|one| replayed::is_sure(one));
    left.map(|one| one.cause.clone()).collect()
}
