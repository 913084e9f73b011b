//! All causes that were considered, and lines that are known to be harmless.

use super::incident;
use crate::model::{Benign, Considered, Verdict};
use crate::rules::engine::Assessment;

/// All that was considered, the surest first. What another cause tells better (`readings`) is not claimed beside it.
pub(super) fn rows(
    ranked: &[&Assessment<'_>],
    explained: &[(&str, &str)],
    readings: &[(&str, &str)],
) -> Vec<Considered> {
    let of = |pairs: &[(&str, &str)], id: &str| {
        let pair = pairs.iter().find(|(effect, _)| *effect == id);
        pair.map(|(_, by)| (*by).to_owned())
    };
    let mut rows: Vec<Considered> = ranked
        .iter()
        .filter_map(|one| {
            let file = &one.rule.file;
            let (why, place) = incident::why(one);
            let better = of(readings, &file.id);
            let verdict = one.verdict?;
            Some(Considered {
                cause: file.id.clone(),
                family: file.family.clone(),
                title: one.headline(),
                verdict: match better {
                    Some(_) => verdict.max(Verdict::Possible),
                    None => verdict,
                },
                why,
                place,
                explained_by: of(explained, &file.id).or(better),
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
