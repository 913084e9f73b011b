//! What comes first: among causes, and among incidents.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::facts::Facts;
use crate::facts::failing::Failing;
use crate::grade;
use crate::model::{Incident, Severity, Verdict};
use crate::rules::engine::Assessment;

/// Best first: by verdict, specific before catch-all, what a program ended with, most signals seen, worst severity, id.
pub(super) fn rank<'a, 'r>(causes: &[&'a Assessment<'r>]) -> Vec<&'a Assessment<'r>> {
    let mut ranked: Vec<_> = causes
        .iter()
        .copied()
        .filter(|one| one.verdict.is_some())
        .collect();
    ranked.sort_by_cached_key(|one| {
        let file = &one.rule.file;
        (
            one.verdict,
            file.catch_all,
            !ends_a_program(one),
            Reverse(one.weight()),
            file.severity,
            file.id.clone(),
        )
    });
    ranked
}

/// Whether a cause was seen in a line that says that its program ends: of several troubles that one stopped it.
fn ends_a_program(assessment: &Assessment<'_>) -> bool {
    let sure = matches!(
        assessment.verdict,
        Some(Verdict::Confirmed | Verdict::Likely)
    );
    let mut sightings = assessment.seen.values().flatten();
    sure && sightings.any(|one| grade::is_end(&one.text))
}

/// What to settle first: the sure before the possible, then the graver, then what something fails of now. The order of
/// the evidence decides between the rest.
pub(super) fn by_weight(facts: &Facts, incidents: &mut [Incident]) {
    let failing: BTreeSet<&str> = facts
        .table::<Failing>()
        .iter()
        .map(|one| one.data.subject.as_str())
        .collect();
    incidents.sort_by_key(|one| {
        let live = one
            .subjects
            .iter()
            .any(|subject| failing.contains(subject.as_str()));
        let grave = one.severity <= Severity::High;
        let class = match one.verdict {
            // What harms little waits, however sure it is, for what is probable and grave.
            Verdict::Confirmed if one.severity <= Severity::Medium => 0,
            Verdict::Likely if grave => 1,
            Verdict::Confirmed => 2,
            Verdict::Likely => 3,
            _ => 4,
        };
        // Between what is only possible the evidence decides alone.
        let sure = class < 4;
        (class, sure.then_some(one.severity), sure && !live)
    });
}
