//! Two bundles of one site, before and after a change: which causes are gone, what explains it, who recovered.
//!
//! The comparison is of meanings, not of texts: causes by their verdicts and evidence, pods by their
//! states, configuration entry by entry. What the second bundle cannot see is said, never called gone.

mod causes;
pub(crate) mod command;
mod config;
mod history;
mod page;
mod render;
mod site;

use std::collections::BTreeMap;
use std::path::Path;

use casefile_bundle::Entry;
use serde::Serialize;

pub(crate) use causes::{CauseChange, Fate};
pub(crate) use config::ConfigChange;
pub(crate) use history::history;
pub(crate) use page::page;
pub(crate) use render::text;

use crate::change::captured::Captured;
use crate::diagnose::{AnalyzeError, Analyzer};
use crate::model::{Analysis, Input};
use crate::scan::Documents;

/// What came of the incident between the two bundles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Outcome {
    /// Every cause of the first bundle is gone, none is new, and the second bundle could see that.
    Resolved,
    /// Some causes are gone, others remain or are new.
    Partly,
    /// No cause is gone.
    NotResolved,
    /// The second bundle does not hold what it would take to say so, or the two do not belong together.
    CannotBeSaid,
    /// The first bundle showed no certain cause, and neither does the second.
    NothingToResolve,
}

/// A workload in both bundles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct WorkloadChange {
    /// `pod/<ns>/<name>`.
    pub subject: String,
    /// State before: `well`, `not there`, or what was wrong; none where the bundle does not hold its kind.
    pub before: Option<String>,
    /// State after, in the same words.
    pub after: Option<String>,
}

/// A count or version in both bundles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ValueChange {
    /// What it is.
    pub label: String,
    /// Before.
    pub before: Option<String>,
    /// After.
    pub after: Option<String>,
}

/// Everything that two bundles say about one another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Comparison {
    /// Version of this JSON form.
    pub schema: &'static str,
    /// The first bundle.
    pub before: Input,
    /// The second.
    pub after: Input,
    /// What became of the incident.
    pub outcome: Outcome,
    /// Why the two may not belong together, or what the second cannot see.
    pub warnings: Vec<String>,
    /// Causes that are confirmed or likely in either.
    pub causes: Vec<CauseChange>,
    /// Configuration that differs.
    pub configuration: Vec<ConfigChange>,
    /// Versions and machines that differ.
    pub environment: Vec<ValueChange>,
    /// Counts that differ.
    pub counts: Vec<ValueChange>,
    /// Workloads whose state differs, or that failed in both.
    pub workloads: Vec<WorkloadChange>,
}

/// Compares two inputs.
pub(crate) fn compare(
    analyzer: &Analyzer,
    before: &Path,
    after: &Path,
) -> Result<Comparison, AnalyzeError> {
    let first = analyzer.analyze(before)?;
    let examined = analyzer.examine(after)?;
    let state = analyzer
        .judge_again(&examined.reading, &Documents::new())?
        .state;
    let second = examined.analysis;
    let mut old = Captured::open(analyzer.input(before)).map_err(AnalyzeError::Open)?;
    let mut new = Captured::open(analyzer.input(after)).map_err(AnalyzeError::Open)?;
    let warnings = site::warnings(&first, &second, &mut old, &mut new);
    let mut causes = causes::changes(&first, &second, &state);
    if !warnings.together {
        causes.iter_mut().for_each(CauseChange::of_another_site);
    }
    Ok(Comparison {
        schema: "casefile.diff/1",
        outcome: outcome(&causes, warnings.together),
        warnings: warnings.sentences,
        configuration: config::changes(&mut old, &mut new),
        environment: values(&environment(&first), &environment(&second)),
        counts: values(&counts(&first), &counts(&second)),
        workloads: workloads(&first, &mut old, &second, &mut new),
        causes,
        before: first.input,
        after: second.input,
    })
}

fn outcome(causes: &[CauseChange], together: bool) -> Outcome {
    let count = |fate: Fate| causes.iter().filter(|one| one.fate == fate).count();
    let (gone, remaining, new, unseen) = (
        count(Fate::Gone),
        count(Fate::Remains),
        count(Fate::New),
        count(Fate::CannotBeSeen),
    );
    if !together {
        Outcome::CannotBeSaid
    } else if causes.is_empty() {
        Outcome::NothingToResolve
    } else if gone > 0 && remaining + new + unseen == 0 {
        Outcome::Resolved
    } else if gone > 0 {
        Outcome::Partly
    } else if unseen > 0 && remaining + new == 0 {
        Outcome::CannotBeSaid
    } else {
        Outcome::NotResolved
    }
}

fn environment(analysis: &Analysis) -> BTreeMap<String, String> {
    let items = analysis.environment.iter();
    items
        .map(|item| (item.label.clone(), item.value.clone()))
        .collect()
}

fn counts(analysis: &Analysis) -> BTreeMap<String, String> {
    let counts = analysis.impact.counts.iter();
    counts
        .map(|(name, count)| (name.replace('_', " "), count.to_string()))
        .collect()
}

fn values(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<ValueChange> {
    let labels: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    labels
        .into_iter()
        .filter(|label| before.get(*label) != after.get(*label))
        .map(|label| ValueChange {
            label: label.clone(),
            before: before.get(label).cloned(),
            after: after.get(label).cloned(),
        })
        .collect()
}

fn workloads(
    before: &Analysis,
    old: &mut Captured,
    after: &Analysis,
    new: &mut Captured,
) -> Vec<WorkloadChange> {
    let failing = |analysis: &Analysis| -> BTreeMap<String, String> {
        let workloads = analysis.impact.workloads.iter();
        workloads
            .map(|one| (one.subject.clone(), one.state.clone()))
            .collect()
    };
    let (before, after) = (failing(before), failing(after));
    let subjects: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    subjects
        .into_iter()
        .map(|subject| WorkloadChange {
            subject: subject.clone(),
            before: before.get(subject).cloned().or_else(|| well(subject, old)),
            after: after.get(subject).cloned().or_else(|| well(subject, new)),
        })
        .collect()
}

/// The states of a workload that does not fail.
pub(crate) const WELL: &str = "well";
pub(crate) const GONE: &str = "not there";

/// What a bundle says of a workload that it does not show to fail; none where it does not hold its kind.
fn well(subject: &str, state: &mut Captured) -> Option<String> {
    let mut parts = subject.splitn(3, '/');
    let (kind, namespace, name) = (parts.next()?, parts.next()?, parts.next()?);
    let list = state.before(&Entry::ListIn(&format!("{kind}s"), namespace).path());
    let Some(list) = list else {
        // A namespace without any has no list, where the others have theirs.
        let all = Entry::Objects(&format!("{kind}s/")).path();
        let others = state.paths().any(|path| path.starts_with(&all));
        return others.then(|| GONE.to_owned());
    };
    let list: serde_json::Value = serde_json::from_str(&list).ok()?;
    let mut items = list["items"].as_array()?.iter();
    let there = items.any(|item| item["metadata"]["name"] == name);
    Some(if there { WELL } else { GONE }.to_owned())
}
