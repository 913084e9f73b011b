//! Revisions that are not in effect or still under way, and values that no template reads.

use std::collections::BTreeSet;

use casefile_bundle::Entry;
use serde_json::Value;

use super::files::{at, place, values};
use crate::derive::Known;
use crate::facts::helm::{HelmUnread, HelmUpgrade};
use crate::facts::{AnyFact, Fact, excerpt};
use crate::parsers::{HelmChanges, HelmRevision, UnreadValue};

/// Changes told of one revision.
const MOST_WANTED: usize = 12;

/// The newest revision of each release, where it did not end as deployed.
pub(super) fn upgrades(known: &Known<'_>) -> Vec<AnyFact> {
    let table = known.facts.table::<HelmRevision>().iter();
    let releases = table.map(|one| (one.data.namespace.as_str(), one.data.release.as_str()));
    let releases: BTreeSet<(&str, &str)> = releases.collect();
    let found = releases.into_iter().filter_map(|release| {
        let of = |namespace: &str, name: &str| (namespace, name) == release;
        let revisions = known.facts.table::<HelmRevision>().iter();
        let own = revisions.filter(|one| of(&one.data.namespace, &one.data.release));
        let own: Vec<&Fact<HelmRevision>> = own.collect();
        let newest = own.iter().max_by_key(|one| one.data.revision)?;
        if !under_way_or_failed(&newest.data.status) {
            return None;
        }
        let deployed = own.iter().filter(|one| one.data.status == "deployed");
        let mut changes = known.facts.table::<HelmChanges>().iter();
        let changes = changes.find(|one| {
            of(&one.data.namespace, &one.data.release) && one.data.to == newest.data.revision
        });
        let updated = newest.data.updated;
        let minutes = known
            .now
            .zip(updated)
            .map(|(now, at)| (now - at).num_minutes());
        let data = HelmUpgrade {
            namespace: release.0.to_owned(),
            release: release.1.to_owned(),
            revision: newest.data.revision,
            status: newest.data.status.clone(),
            description: excerpt(&newest.data.description, 400),
            deployed: deployed.map(|one| one.data.revision).max(),
            wanted: changes.map_or_else(Vec::new, |one| wanted(&one.data)),
            minutes,
        };
        let fact = Fact {
            data,
            place: newest.place.clone(),
            text: newest.text.clone(),
            at: updated,
        };
        Some(fact.into())
    });
    found.collect()
}

fn under_way_or_failed(status: &str) -> bool {
    status == "failed" || status == "uninstalling" || status.starts_with("pending-")
}

/// What a revision changes, in words.
fn wanted(changes: &HelmChanges) -> Vec<String> {
    let (from, to) = &changes.charts;
    let chart = (from != to).then(|| format!("chart: {from} -> {to}"));
    let text = |side: &Value, path: &str| match at(side, path) {
        None => "not set".to_owned(),
        Some(Value::String(text)) => excerpt(text, 80),
        Some(other) => excerpt(&other.to_string(), 80),
    };
    let values = changes.paths.iter().map(|path| {
        let (before, after) = (text(&changes.before, path), text(&changes.after, path));
        format!("{path}: {before} -> {after}")
    });
    chart.into_iter().chain(values).take(MOST_WANTED).collect()
}

/// Values that no template reads, at their lines in the user's values.
pub(super) fn unread(known: &Known<'_>) -> Vec<AnyFact> {
    let unread = known.facts.table::<UnreadValue>().iter();
    let found = unread.map(|one| {
        let folder = Entry::Helm(&one.data.namespace, &one.data.release, "").path();
        let (place, text) = place(known, &folder, &one.data.value, true);
        let all = values(known, &format!("{folder}values-all.yaml"));
        let data = HelmUnread {
            namespace: one.data.namespace.clone(),
            release: one.data.release.clone(),
            chart: one.data.chart.clone(),
            alike: all
                .as_ref()
                .map_or_else(String::new, |all| alike(all, &one.data.value)),
            value: one.data.value.clone(),
        };
        let fact = Fact {
            data,
            place,
            text: text.into(),
            at: None,
        };
        fact.into()
    });
    found.collect()
}

/// Depth that values are searched to.
const DEEPEST: usize = 12;

/// The chart's value that is called alike: a neighbour but for letters' case or two letters, or the same key elsewhere.
fn alike(all: &Value, path: &str) -> String {
    let (parent, key) = path.rsplit_once('.').unwrap_or(("", path));
    let table = if parent.is_empty() {
        Some(all)
    } else {
        at(all, parent)
    };
    let neighbours = table.and_then(Value::as_object).into_iter().flatten();
    let near = neighbours
        .filter(|(name, _)| *name != key)
        .map(|(name, _)| (distance(&name.to_lowercase(), &key.to_lowercase()), name))
        .filter(|(far, _)| *far <= 2 && *far * 3 <= key.chars().count())
        .min();
    if let Some((_, name)) = near {
        return if parent.is_empty() {
            name.clone()
        } else {
            format!("{parent}.{name}")
        };
    }
    let mut same = Vec::new();
    elsewhere(all, key, &mut Vec::new(), &mut same);
    same.retain(|found| found != path);
    same.into_iter().next().unwrap_or_default()
}

fn elsewhere(values: &Value, key: &str, path: &mut Vec<String>, found: &mut Vec<String>) {
    let Some(table) = values.as_object().filter(|_| path.len() < DEEPEST) else {
        return;
    };
    for (name, value) in table {
        path.push(name.clone());
        if name == key {
            found.push(path.join("."));
        }
        elsewhere(value, key, path, found);
        path.pop();
    }
}

/// Letters to change, add or leave out to get from one word to the other.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().take(100).collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, letter) in left.chars().take(100).enumerate() {
        let mut before = row[0];
        row[0] = line + 1;
        for (at, other) in right.iter().enumerate() {
            let change = before + usize::from(letter != *other);
            before = row[at + 1];
            row[at + 1] = change.min(row[at] + 1).min(before + 1);
        }
    }
    row[right.len()]
}
