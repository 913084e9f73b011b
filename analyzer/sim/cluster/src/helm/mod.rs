//! A release's values against what its workloads show. Pure: values and objects in, differences out.
//!
//! Which objects are a release's is told by [`owner`]. Rendered manifests are not captured, so a value and the container
//! where it has to show are joined by what charts have in common: a table that describes an image (repository, name,
//! version or tag) owns the `env`, `args`, `resources`, `nodeSelector`, tolerations, runtime class and replicas beside it,
//! and the containers that run that image are where these have to show. A value whose image runs nowhere says nothing.
//! What a chart of the GPU stack passes on in a way of its own is in [`settings`], what goes through a custom resource
//! in [`custom`].

pub mod custom;
pub mod expected;
pub mod labels;
pub mod lines;
pub mod owner;
pub mod settings;
pub mod yaml;

use std::collections::{BTreeMap, BTreeSet};

use crate::flat::Flat;

use expected::{Component, Expectation, image_name, image_parts};

use crate::scheduling::quantity::Resources;

/// A container as it is seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// `daemonset/<namespace>/<name>` or `pod/<namespace>/<name>`.
    pub workload: String,
    /// Container.
    pub container: String,
    /// Image as written.
    pub image: String,
    /// Literal environment; none where only the image is known.
    pub env: Option<Flat<String, Option<String>>>,
    /// Command and arguments; none where only the image is known.
    pub args: Option<Vec<String>>,
    /// `limits.<resource>` and `requests.<resource>`.
    pub resources: Flat<String, String>,
    /// Node selector of the pods.
    pub node_selector: Flat<String, String>,
    /// `spec.replicas`, of workloads that have it.
    pub replicas: Option<u64>,
    /// Tolerations of the pods, as [`expected::toleration`] spells them.
    pub tolerations: Vec<String>,
    /// `spec.runtimeClassName` of the pods.
    pub runtime_class: Option<String>,
    /// ConfigMaps that the pods mount.
    pub config_maps: Vec<String>,
}

/// A value that does not show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drift {
    /// `image`, `env`, `arg`, `resource`, `node-selector`, `toleration`, `runtime-class`, `config-map`, `replicas`,
    /// `custom-resource`, `node-label`, `disabled` or `absent`.
    pub kind: &'static str,
    /// Path of the value, e.g. `toolkit.version`.
    pub value: String,
    /// What it says.
    pub expected: String,
    /// What is seen instead.
    pub seen: String,
    /// Workloads and containers that show it.
    pub places: Vec<String>,
}

/// Places named of one difference.
const MOST_PLACES: usize = 8;

/// All differences, by path of the value.
#[must_use]
pub fn drifts(values: &serde_json::Value, seen: &[Seen]) -> Vec<Drift> {
    let components = expected::components(values);
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut sharing: BTreeMap<&str, usize> = BTreeMap::new();
    for component in &components {
        let tags = versions.entry(component.image.as_str()).or_default();
        tags.insert(component.tag.as_str());
        *sharing.entry(component.image.as_str()).or_default() += 1;
    }
    let mut running: BTreeMap<&str, Vec<&Seen>> = BTreeMap::new();
    for one in seen {
        running.entry(image_name(&one.image)).or_default().push(one);
    }
    let mut out = Vec::new();
    for component in &components {
        let Some(own) = running.get(component.image.as_str()) else {
            continue;
        };
        // Another component may share the image; then what runs may be that one's.
        let shared = sharing
            .get(component.image.as_str())
            .is_some_and(|count| *count > 1);
        if component.enabled == Some(false) {
            out.extend((!shared).then(|| disabled(component, own)));
            continue;
        }
        out.extend(wrong_tag(component, &versions, own));
        let called = if shared {
            named_after(component, own)
        } else {
            own.clone()
        };
        let checks = component.expectations.iter();
        out.extend(checks.filter_map(|one| check(&component.path, one, &called)));
    }
    out.sort_by(|a, b| (&a.value, a.kind).cmp(&(&b.value, b.kind)));
    out
}

/// A shorter name may be a part of any other.
const SHORTEST_NAME: usize = 4;

/// Of components that share an image, the workloads that are called like this one: `devicePlugin` and
/// `hami-device-plugin`.
fn named_after<'a>(component: &Component, own: &[&'a Seen]) -> Vec<&'a Seen> {
    let mut name = String::new();
    for letter in component
        .path
        .rsplit('.')
        .next()
        .unwrap_or_default()
        .chars()
    {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(letter.to_ascii_lowercase());
    }
    let called = own.iter().copied().filter(|one| {
        let workload = one.workload.rsplit('/').next().unwrap_or_default();
        name.len() >= SHORTEST_NAME && workload.contains(&name)
    });
    called.collect()
}

fn places<'a>(seen: impl Iterator<Item = &'a &'a Seen>) -> Vec<String> {
    let mut places: Vec<String> = seen
        .map(|one| format!("{} {}", one.workload, one.container))
        .collect();
    places.dedup();
    places.truncate(MOST_PLACES);
    places
}

fn disabled(component: &Component, own: &[&Seen]) -> Drift {
    Drift {
        kind: "disabled",
        value: format!("{}.enabled", component.path),
        expected: "false".to_owned(),
        seen: format!("{} runs", own[0].image),
        places: places(own.iter()),
    }
}

/// Whether a tag is the one of the values; drivers' images add the system that they were built for.
fn same_tag(seen: &str, expected: &str) -> bool {
    let rest = seen.strip_prefix(expected);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

fn wrong_tag(
    component: &Component,
    versions: &BTreeMap<&str, BTreeSet<&str>>,
    own: &[&Seen],
) -> Option<Drift> {
    let known = versions.get(component.image.as_str())?;
    // Where the chart chooses the tag of one of the tables with this image, any tag may be that one's.
    if known.contains("") {
        return None;
    }
    let tag = |one: &Seen| image_parts(&one.image).1.to_owned();
    let wrong: Vec<&&Seen> = own
        .iter()
        .filter(|one| !known.iter().any(|expected| same_tag(&tag(one), expected)))
        .collect();
    let tags: BTreeSet<String> = wrong.iter().map(|one| tag(one)).collect();
    (!wrong.is_empty()).then(|| Drift {
        kind: "image",
        value: component.tag_path.clone(),
        expected: component.tag.clone(),
        seen: tags.into_iter().collect::<Vec<_>>().join(", "),
        places: places(wrong.into_iter()),
    })
}

fn check(path: &str, expectation: &Expectation, own: &[&Seen]) -> Option<Drift> {
    let shown: Vec<(&&Seen, Option<String>)> = own
        .iter()
        .filter_map(|one| Some((one, shown(one, expectation)?)))
        .collect();
    // Charts put a value into some of the containers that run the image; one that shows it is enough.
    if shown.is_empty()
        || shown
            .iter()
            .any(|(_, value)| fits(expectation, value.as_deref()))
    {
        return None;
    }
    let values: BTreeSet<String> = shown
        .iter()
        .map(|(_, value)| value.clone().unwrap_or_else(|| "not set".to_owned()))
        .collect();
    Some(Drift {
        kind: expectation.kind,
        value: format!("{path}.{}", expectation.path)
            .trim_start_matches('.')
            .to_owned(),
        expected: expectation.value.clone(),
        seen: values.into_iter().collect::<Vec<_>>().join(", "),
        places: places(shown.iter().map(|(one, _)| *one)),
    })
}

/// What a container shows of an expectation; `None` where it cannot show it, `Some(None)` where it is not set.
fn shown(one: &Seen, expectation: &Expectation) -> Option<Option<String>> {
    let key = expectation.key.as_str();
    match expectation.kind {
        "env" => {
            let env = one.env.as_ref()?;
            match env.get(key) {
                // A value from elsewhere (a field, a secret) is not known.
                Some(None) => None,
                Some(Some(value)) => Some(Some(value.clone())),
                None => Some(None),
            }
        }
        "arg" => {
            let args = one.args.as_ref()?;
            Some(args.iter().find(|arg| *arg == key).cloned())
        }
        "resource" => one.env.as_ref().map(|_| one.resources.get(key).cloned()),
        "node-selector" => one
            .env
            .as_ref()
            .map(|_| one.node_selector.get(key).cloned()),
        "replicas" => one.replicas.map(|count| Some(count.to_string())),
        "runtime-class" => one.env.as_ref().map(|_| one.runtime_class.clone()),
        "toleration" => {
            let has = one.tolerations.iter().find(|own| *own == key).cloned();
            one.env.as_ref().map(|_| has)
        }
        "config-map" => {
            let has = one.config_maps.iter().find(|own| *own == key).cloned();
            one.env.as_ref().map(|_| has)
        }
        _ => None,
    }
}

fn fits(expectation: &Expectation, shown: Option<&str>) -> bool {
    let Some(shown) = shown else {
        return false;
    };
    shown == expectation.value
        || (expectation.kind == "resource"
            && same_quantity(&expectation.key, shown, &expectation.value))
}

/// Whether two quantities are one amount, as `1Gi` and `1024Mi`.
fn same_quantity(resource: &str, left: &str, right: &str) -> bool {
    let resource = resource.split('.').next_back().unwrap_or_default();
    let amount = |text: &str| Resources::from([(resource, text)]).get(resource);
    amount(left).is_some_and(|left| Some(left) == amount(right))
}

#[cfg(test)]
mod join_tests;
#[cfg(test)]
mod tests;
