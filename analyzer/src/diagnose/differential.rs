//! All causes that were considered, and lines that are known to be harmless.

use super::incident;
use crate::model::{Benign, Considered, Verdict};
use crate::rules::engine::Assessment;

/// All that was considered, the surest first.
pub(super) fn rows(ranked: &[&Assessment<'_>], explained: &[(&str, &str)]) -> Vec<Considered> {
    let by = |id: &str| {
        explained
            .iter()
            .find(|(effect, _)| *effect == id)
            .map(|(_, by)| *by)
    };
    let mut rows: Vec<Considered> = ranked
        .iter()
        .filter_map(|one| {
            let file = &one.rule.file;
            let (why, place) = incident::why(one);
            Some(Considered {
                cause: file.id.clone(),
                family: file.family.clone(),
                title: one.headline(),
                verdict: one.verdict?,
                why,
                place,
                explained_by: by(&file.id).map(str::to_owned),
            })
        })
        .collect();
    // Among equally sure causes the ones that explain others come first, and of those that were ruled out the ones
    // that resemble the best cause.
    let family = |id: &str| {
        let rule = ranked.iter().find(|one| one.rule.file.id == id);
        rule.map(|one| one.rule.file.family.as_str())
    };
    let best = ranked.first().map(|one| one.rule.file.family.as_str());
    rows.sort_by_key(|row| {
        let far = row.verdict == Verdict::RuledOut && family(&row.cause) != best;
        (row.verdict, row.explained_by.is_some(), far)
    });
    rows
}

/// Lines that look like a fault and are none, where there are any.
pub(super) fn benign(one: &Assessment<'_>) -> Option<Benign> {
    one.verdict.filter(|verdict| verdict.is_live())?;
    Some(Benign {
        id: one.rule.file.id.clone(),
        text: one.tell(&one.rule.file.summary),
        evidence: incident::evidence(one, |_| true),
    })
}
