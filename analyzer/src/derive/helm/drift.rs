//! Values of releases that the releases' workloads, pods and custom resources do not show.

use std::collections::BTreeMap;

use casefile_bundle::Entry;
use serde_json::Value;

use super::files::{User, at, place, values};
use crate::derive::Known;
use crate::facts::helm::{HelmDrift, HelmShown};
use crate::facts::kube::{HelmRelease, Node};
use crate::facts::{AnyFact, Fact, FactType, Rows};
use crate::helm::expected::components;
use crate::helm::owner::{Belongs, Named, Objects};
use crate::helm::{Drift, Seen, custom, drifts, labels, settings};
use crate::model::Place;
use crate::parsers::PodTemplate;

/// Objects cited of one difference.
const MOST_SHOWN: usize = 3;

/// Differences told of one release.
const MOST_DRIFTS: usize = 200;

/// What is a release's, and what shows it.
#[derive(Default)]
struct Own<'a> {
    objects: Vec<(&'a Fact<PodTemplate>, &'static str)>,
}

/// A release with its values and objects.
struct Release<'a> {
    fact: &'a Fact<HelmRelease>,
    folder: String,
    user: User,
    own: Own<'a>,
}

pub(super) fn facts(known: &Known<'_>) -> Vec<AnyFact> {
    let releases = known.facts.table::<HelmRelease>();
    let objects = known.facts.table::<PodTemplate>();
    let mut facts = Vec::new();
    for (fact, own) in releases.iter().zip(join(releases, objects)) {
        let folder = Entry::Helm(&fact.data.namespace, &fact.data.name, "").path();
        let all = values(known, &format!("{folder}values-all.yaml"));
        let user = || values(known, &format!("{folder}values-user.yaml"));
        let Some(values) = all.or_else(user) else {
            continue;
        };
        let release = Release {
            fact,
            user: User::read(known, &folder, fact.data.revision),
            folder,
            own,
        };
        for drift in compare(known, &release, &values) {
            facts.extend(shown(known, &release, &drift));
            facts.push(told(known, &release, drift));
        }
    }
    facts
}

/// The objects of each release. What names no release counts for those of its namespace, by its image.
fn join<'a>(releases: Rows<'_, HelmRelease>, objects: Rows<'a, PodTemplate>) -> Vec<Own<'a>> {
    let named: Vec<Named> = releases
        .iter()
        .map(|one| Named {
            namespace: one.data.namespace.clone(),
            name: one.data.name.clone(),
            chart: one.data.chart.clone(),
        })
        .collect();
    let index = Objects::new(objects.iter().map(|one| &one.data.marked));
    let mut owned: Vec<Own<'_>> = releases.iter().map(|_| Own::default()).collect();
    for object in objects {
        let marked = &object.data.marked;
        match index.release_of(marked, &named) {
            Belongs::To(at, how) => owned[at].objects.push((object, how.word())),
            Belongs::Elsewhere => {}
            Belongs::Unknown => {
                for (own, release) in owned.iter_mut().zip(&named) {
                    if release.namespace == marked.namespace {
                        own.objects.push((object, "image"));
                    }
                }
            }
        }
    }
    owned
}

fn compare(known: &Known<'_>, release: &Release<'_>, values: &Value) -> Vec<Drift> {
    let (own, chart) = (&release.own, release.fact.data.chart.as_str());
    let seen = |only_marked: bool| -> Vec<Seen> {
        let objects = own.objects.iter();
        let objects = objects.filter(|(_, how)| !only_marked || *how != "image");
        objects.flat_map(|(object, _)| object.data.seen()).collect()
    };
    let mut found = drifts(values, &seen(false));
    found.extend(settings::drifts(chart, values, &seen(true)));
    for (object, _) in &own.objects {
        if let Some(spec) = &object.data.spec {
            let root = custom::root_of(&object.data.marked.kind);
            found.extend(custom::drifts(values, spec, root, &object.data.subject()));
        }
    }
    let nodes = known.facts.table::<Node>().iter();
    let nodes = nodes.map(|one| (one.data.name.as_str(), &one.data.labels));
    found.extend(labels::drifts(chart, values, nodes));
    if chart == "gpu-operator" {
        found.extend(settings::operands(values, &daemonsets(known, own)));
    }
    found.sort_by(|a, b| (&a.value, a.kind).cmp(&(&b.value, b.kind)));
    found.dedup_by(|a, b| a.kind == b.kind && a.value == b.value && a.expected == b.expected);
    // What the user set is told before what the chart did.
    found.sort_by_key(|one| !release.user.set(&one.value));
    found.truncate(MOST_DRIFTS);
    found
}

/// The daemonsets of a release, where the list of them was collected whole: what is missing in a paste or in a list that
/// was cut is not known to be missing.
fn daemonsets(known: &Known<'_>, own: &Own<'_>) -> Vec<String> {
    let lists = own.objects.iter().filter(|(object, _)| {
        let path = crate::scan::joined::within(&object.place.path);
        path.starts_with(&Entry::Objects("daemonsets/").path()) && !known.broken.contains(path)
    });
    lists.map(|(object, _)| object.data.subject()).collect()
}

fn workload(place: &str) -> &str {
    place.split(' ').next().unwrap_or(place)
}

/// The object of a place that a difference names.
fn object<'a>(own: &Own<'a>, place: &str) -> Option<(&'a Fact<PodTemplate>, &'static str)> {
    let wanted = workload(place);
    let mut hits = own.objects.iter();
    hits.find(|(object, _)| object.data.subject() == wanted)
        .copied()
}

fn set_by(release: &Release<'_>, value: &str) -> String {
    let by = if release.user.set(value) {
        "user"
    } else {
        "chart"
    };
    by.to_owned()
}

fn shown(known: &Known<'_>, release: &Release<'_>, drift: &Drift) -> Vec<AnyFact> {
    let mut objects: BTreeMap<String, (&Place, &str)> = BTreeMap::new();
    for place in &drift.places {
        let node = place.strip_prefix("node/").and_then(|name| {
            let mut nodes = known.facts.table::<Node>().iter();
            nodes.find(|one| one.data.name == name)
        });
        if let Some(node) = node {
            objects.insert(place.clone(), (&node.place, &node.text));
        } else if let Some((found, _)) = object(&release.own, place) {
            objects.insert(found.data.subject(), (&found.place, &found.text));
        }
    }
    let facts = objects
        .into_iter()
        .take(MOST_SHOWN)
        .map(|(object, (place, text))| {
            let data = HelmShown {
                namespace: release.fact.data.namespace.clone(),
                release: release.fact.data.name.clone(),
                value: drift.value.clone(),
                seen: drift.seen.clone(),
                object,
                set_by: set_by(release, &drift.value),
            };
            Fact {
                data,
                place: place.clone(),
                text: text.into(),
                at: None,
            }
            .into()
        });
    facts.collect()
}

fn told(known: &Known<'_>, release: &Release<'_>, drift: Drift) -> AnyFact {
    let by_user = release.user.set(&drift.value);
    let (place, text) = place(known, &release.folder, &drift.value, by_user);
    let first = drift.places.first();
    let first = first.and_then(|first| object(&release.own, first));
    let about = &release.fact.data;
    let data = HelmDrift {
        namespace: about.namespace.clone(),
        release: about.name.clone(),
        chart: about.chart.clone(),
        revision: about.revision,
        joined_by: first.map_or("", |(_, how)| how).to_owned(),
        kind: drift.kind.to_owned(),
        set_by: set_by(release, &drift.value),
        seen_in_revision: earlier(release, &drift),
        value: drift.value,
        expected: drift.expected,
        seen: drift.seen,
        places: drift.places,
    };
    Fact {
        data,
        place,
        text: text.into(),
        at: None,
    }
    .into()
}

/// The newest earlier revision of which the user's values say what is seen.
fn earlier(release: &Release<'_>, drift: &Drift) -> Option<u64> {
    let mut revisions = release.user.earlier.iter();
    let found = revisions.find(|(_, old)| said(old, drift).is_some_and(|said| said == drift.seen));
    found.map(|(number, _)| *number)
}

/// What other values say of the same thing, as it would be seen.
fn said(values: &Value, drift: &Drift) -> Option<String> {
    if drift.kind == "image" {
        let own = components(values);
        let tag = own
            .iter()
            .find(|one| one.tag_path == drift.value)
            .map(|one| one.tag.clone());
        if tag.is_some() {
            return tag;
        }
    }
    match at(values, &drift.value)? {
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}
