//! Values of helm releases that the release's workloads and pods do not show.

use serde_json::Value;

use super::{Deriver, Known};
use crate::facts::helm::HelmDrift;
use crate::facts::kube::HelmRelease;
use crate::facts::{AnyFact, Fact, excerpt};
use crate::helm::expected::components;
use crate::helm::lines::line_of;
use crate::helm::{Drift, Seen, drifts};
use crate::model::Place;
use crate::parsers::PodTemplate;

/// Joins values files with workloads and pods of the release's namespace.
pub(super) static DERIVER: Deriver = Deriver { id: "helm", derive };

/// Values files larger than this are not taken apart.
const LARGEST: usize = 4 << 20;

fn derive(known: &Known<'_>) -> Vec<AnyFact> {
    let mut facts = Vec::new();
    for release in known.facts.table::<HelmRelease>() {
        let folder = format!("helm/{}/{}", release.data.namespace, release.data.name);
        let Some(values) = values(known, &format!("{folder}/values-all.yaml")) else {
            continue;
        };
        let templates = known.facts.table::<PodTemplate>().iter();
        let seen: Vec<Seen> = templates
            .filter(|one| one.data.namespace == release.data.namespace)
            .flat_map(|one| one.data.containers.iter().cloned())
            .collect();
        for drift in drifts(&values, &seen) {
            facts.push(fact(known, release, &folder, drift));
        }
    }
    facts
}

fn values(known: &Known<'_>, path: &str) -> Option<Value> {
    let text = known
        .documents
        .get(path)
        .filter(|text| text.len() <= LARGEST)?;
    serde_saphyr::from_str(text).ok()
}

/// The value at a path such as `toolkit.env[NAME]`.
fn at<'a>(values: &'a Value, path: &str) -> Option<&'a Value> {
    let mut now = values;
    let (path, item) = match path.split_once('[') {
        Some((path, item)) => (path, Some(item.trim_end_matches(']'))),
        None => (path, None),
    };
    for key in path.split('.') {
        now = now.get(key)?;
    }
    let Some(item) = item else {
        return Some(now);
    };
    let mut listed = now.as_array()?.iter();
    listed
        .find(|one| one.get("name").and_then(Value::as_str) == Some(item))?
        .get("value")
}

fn fact(known: &Known<'_>, release: &Fact<HelmRelease>, folder: &str, drift: Drift) -> AnyFact {
    let user = values(known, &format!("{folder}/values-user.yaml"));
    let by_user = user
        .as_ref()
        .is_some_and(|user| at(user, &drift.value).is_some());
    let file = if by_user {
        "values-user.yaml"
    } else {
        "values-all.yaml"
    };
    let path = format!("{folder}/{file}");
    let text = known.documents.get(&path).map_or("", String::as_str);
    let line = line_of(text, &drift.value);
    let quoted = line
        .and_then(|line| {
            text.lines()
                .nth(usize::try_from(line).ok()?.checked_sub(1)?)
        })
        .map_or_else(String::new, |line| excerpt(line.trim(), 300));
    let earlier = earlier(known, folder, &drift, release.data.revision);
    let data = HelmDrift {
        namespace: release.data.namespace.clone(),
        release: release.data.name.clone(),
        chart: release.data.chart.clone(),
        revision: release.data.revision,
        kind: drift.kind.to_owned(),
        value: drift.value,
        expected: drift.expected,
        seen: drift.seen,
        places: drift.places,
        set_by: if by_user { "user" } else { "chart" }.to_owned(),
        seen_in_revision: earlier,
    };
    Fact {
        data,
        place: Place { path, line },
        text: quoted,
        at: None,
    }
    .into()
}

/// The newest earlier revision of which the user's values say what is seen.
fn earlier(known: &Known<'_>, folder: &str, drift: &Drift, newest: u64) -> Option<u64> {
    let prefix = format!("{folder}/values-user-");
    let files = known.documents.range(prefix.clone()..);
    let files = files.take_while(|(path, _)| path.starts_with(&prefix));
    let revisions = files.filter_map(|(path, _)| {
        let number = path.strip_prefix(&prefix)?.strip_suffix(".yaml")?;
        number.parse::<u64>().ok().filter(|number| *number < newest)
    });
    let mut revisions: Vec<u64> = revisions.collect();
    revisions.sort_unstable();
    revisions.into_iter().rev().find(|number| {
        let old = values(known, &format!("{prefix}{number}.yaml"));
        let said = old.as_ref().and_then(|old| said(old, drift));
        said.is_some_and(|said| said == drift.seen)
    })
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
