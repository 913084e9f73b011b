//! What became of each cause between two bundles.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::diagnose::Standing;
use crate::model::{Analysis, Considered, Evidence, Incident, Verdict};
use crate::sources;

/// What became of a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// Confirmed or likely before, and no longer so although the second bundle could see it.
    Gone,
    /// Confirmed or likely in both.
    Remains,
    /// Confirmed or likely only in the second.
    New,
    /// The second bundle lacks what would show it.
    CannotBeSeen,
}

impl Fate {
    /// The word for tables.
    pub fn word(self) -> &'static str {
        match self {
            Fate::Gone => "gone",
            Fate::Remains => "remains",
            Fate::New => "new",
            Fate::CannotBeSeen => "cannot be seen",
        }
    }
}

/// A cause in both bundles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CauseChange {
    /// Cause id.
    pub cause: String,
    /// Title, as of the bundle that shows it.
    pub title: String,
    /// What became of it.
    pub fate: Fate,
    /// Verdict before.
    pub before: Option<Verdict>,
    /// Verdict after.
    pub after: Option<Verdict>,
    /// Why, as a sentence.
    pub why: String,
}

impl CauseChange {
    /// The second bundle is of another node or cluster: what it does not show may go on where the first was taken.
    pub(super) fn of_another_site(&mut self) {
        if self.fate == Fate::Gone {
            self.fate = Fate::CannotBeSeen;
            self.why = "the second bundle is of another node or cluster and says nothing of the first one's".into();
        }
    }
}

/// All causes that are confirmed or likely in either bundle; those of the first bundle first.
pub(super) fn changes(before: &Analysis, after: &Analysis, state: &[Standing]) -> Vec<CauseChange> {
    let end = before.reference_time;
    let mut all: Vec<CauseChange> = sure(before)
        .map(|incident| fate(incident, after, state, end))
        .collect();
    for incident in sure(after) {
        if !sure(before).any(|known| known.cause == incident.cause) {
            let verdict = considered(before, &incident.cause).map(|one| one.verdict);
            all.push(CauseChange {
                cause: incident.cause.clone(),
                title: incident.title.clone(),
                fate: Fate::New,
                before: verdict,
                after: Some(incident.verdict),
                why: match verdict {
                    Some(Verdict::Possible) => "it was already possible in the first bundle".into(),
                    Some(Verdict::NotChecked) => "the first bundle could not see it".into(),
                    _ if explained(before, &incident.cause) => {
                        "the first bundle told it as part of another cause".into()
                    }
                    _ => "the first bundle shows nothing of it".into(),
                },
            });
        }
    }
    all
}

fn sure(analysis: &Analysis) -> impl Iterator<Item = &Incident> {
    analysis
        .incidents
        .iter()
        .filter(|one| one.verdict <= Verdict::Likely)
}

fn considered<'a>(analysis: &'a Analysis, cause: &str) -> Option<&'a Considered> {
    analysis.differential.iter().find(|one| one.cause == cause)
}

fn explained(analysis: &Analysis, cause: &str) -> bool {
    considered(analysis, cause).is_some_and(|one| one.explained_by.is_some())
}

fn fate(
    incident: &Incident,
    after: &Analysis,
    state: &[Standing],
    end: Option<DateTime<Utc>>,
) -> CauseChange {
    let now = considered(after, &incident.cause);
    let verdict = now.map(|one| one.verdict);
    let (fate, why) = match verdict {
        Some(Verdict::Confirmed | Verdict::Likely) if only_old(incident, after, state, end) => (
            Fate::Gone,
            "only lines from before the first bundle still speak of it, and the configuration no longer shows it".into(),
        ),
        Some(Verdict::Confirmed | Verdict::Likely) => (Fate::Remains, now.map(|one| one.why.clone()).unwrap_or_default()),
        Some(Verdict::RuledOut | Verdict::Past) => (Fate::Gone, now.map(|one| one.why.clone()).unwrap_or_default()),
        Some(Verdict::NotChecked) => (Fate::CannotBeSeen, now.map(|one| one.why.clone()).unwrap_or_default()),
        Some(Verdict::Possible) | None => match unseen(incident, after).as_slice() {
            [] => (Fate::Gone, "nothing that decided it is seen any more, and its sources were collected".into()),
            missing => (
                Fate::CannotBeSeen,
                format!("the second bundle lacks what showed it: {}", missing.join(", ")),
            ),
        },
    };
    CauseChange {
        cause: incident.cause.clone(),
        title: incident.title.clone(),
        fate,
        before: Some(incident.verdict),
        after: verdict,
        why,
    }
}

/// Whether all that still speaks for a cause was said before the first bundle was closed.
fn only_old(
    incident: &Incident,
    after: &Analysis,
    state: &[Standing],
    end: Option<DateTime<Utc>>,
) -> bool {
    let held = state
        .iter()
        .any(|one| one.cause == incident.cause && one.verdict.is_live());
    let now = after
        .incidents
        .iter()
        .find(|one| one.cause == incident.cause);
    let (Some(end), Some(now)) = (end, now) else {
        return false;
    };
    let lines = now
        .evidence
        .iter()
        .chain(now.symptoms.iter().flat_map(|one| &one.evidence));
    let dated: Vec<&Evidence> = lines.filter(|line| line.at.is_some()).collect();
    !held && !dated.is_empty() && dated.iter().all(|line| line.at.is_some_and(|at| at <= end))
}

/// Sources whose lines showed the cause and that the second bundle lacks.
fn unseen(incident: &Incident, after: &Analysis) -> Vec<&'static str> {
    let used: BTreeSet<&'static str> = incident
        .evidence
        .iter()
        .filter_map(|line| sources::of_entry(&line.place.path))
        .map(|source| source.id)
        .collect();
    let there = |id: &str| {
        after.coverage.iter().any(|one| {
            one.source == id && matches!(one.outcome.as_str(), "collected" | "partial" | "unknown")
        })
    };
    used.into_iter().filter(|id| !there(id)).collect()
}
