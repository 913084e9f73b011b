//! The containers of pods and of workloads' templates with all that helm values can set in them, and what every object
//! says of the release that made it.

use std::collections::BTreeMap;

use casefile_bundle::Entry;
use serde::Deserialize;
use serde_json::Value;

use super::pod_json::{Meta, Object};
use super::pods::fact;
use super::{Item, Parsed, Parser, Read};
use crate::facts::{AnyFact, FactType, Field};
use crate::flat::Flat;
use crate::helm::Seen;
use crate::helm::expected::toleration;
use crate::helm::owner::{Marked, is_mark};

/// Reads custom resources that a chart fills with its values, and an operator serves.
pub(super) static CUSTOM: Parser = Parser {
    id: "operators-resources",
    reads: &[
        Entry::Custom("clusterpolicies.nvidia.com"),
        Entry::Custom("nvidiadrivers.nvidia.com"),
        Entry::List("clusterpolicies"),
        Entry::List("nvidiadrivers"),
    ],
    read: Read::Items(parse_custom),
};

/// An object that a release may own.
#[derive(Debug, Clone, Default)]
pub struct PodTemplate {
    /// What it says of who made it.
    pub marked: Marked,
    /// The containers of its template; none for kinds that have no pods of their own.
    pub containers: Vec<Seen>,
    /// Of a pod that runs, its containers and their images.
    pub images: Vec<(String, String)>,
    /// `spec` of a custom resource.
    pub spec: Option<Value>,
}

impl PodTemplate {
    /// Its containers, of a template or of a pod, as far as they are known.
    pub fn seen(&self) -> impl Iterator<Item = Seen> {
        let images = self.images.iter().map(|(container, image)| Seen {
            workload: self.subject(),
            container: container.clone(),
            image: image.clone(),
            ..Seen::default()
        });
        self.containers.iter().cloned().chain(images)
    }
}

impl serde::Serialize for PodTemplate {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.subject())
    }
}

impl FactType for PodTemplate {
    const KIND: &'static str = "pod-template";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        let Marked {
            kind,
            namespace,
            name,
            ..
        } = &self.marked;
        if namespace.is_empty() {
            format!("{kind}/{name}")
        } else {
            format!("{kind}/{namespace}/{name}")
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Bare {
    kind: String,
    metadata: Meta,
    spec: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Workload {
    kind: String,
    metadata: Meta,
    spec: Spec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Spec {
    replicas: Option<u64>,
    template: Template,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Template {
    spec: PodSpec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PodSpec {
    containers: Vec<Container>,
    init_containers: Vec<Container>,
    node_selector: Flat<String, String>,
    tolerations: Vec<Value>,
    runtime_class_name: Option<String>,
    volumes: Vec<Volume>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Volume {
    config_map: Option<NamedMap>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct NamedMap {
    name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Container {
    name: String,
    image: String,
    env: Vec<Variable>,
    command: Vec<String>,
    args: Vec<String>,
    resources: BTreeMap<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Variable {
    name: String,
    value: Option<String>,
    value_from: Option<Value>,
}

fn resources(container: &Container) -> Flat<String, String> {
    let parts = container
        .resources
        .iter()
        .filter_map(|(part, all)| Some((part, all.as_object()?)));
    let named = parts.flat_map(|(part, all)| {
        all.iter().map(move |(name, amount)| {
            let text = amount
                .as_str()
                .map_or_else(|| amount.to_string(), str::to_owned);
            (format!("{part}.{name}"), text)
        })
    });
    named.collect()
}

fn environment(container: &Container) -> Flat<String, Option<String>> {
    let known = |one: &Variable| match (&one.value, &one.value_from) {
        (Some(value), _) => Some(value.clone()),
        (None, Some(_)) => None,
        (None, None) => Some(String::new()),
    };
    container
        .env
        .iter()
        .map(|one| (one.name.clone(), known(one)))
        .collect()
}

fn containers(workload: &str, spec: &PodSpec, replicas: Option<u64>) -> Vec<Seen> {
    let all = spec.containers.iter().chain(&spec.init_containers);
    let maps = spec
        .volumes
        .iter()
        .filter_map(|one| one.config_map.as_ref());
    let config_maps: Vec<String> = maps.map(|one| one.name.clone()).collect();
    all.map(|one| Seen {
        workload: workload.to_owned(),
        container: one.name.clone(),
        image: one.image.clone(),
        env: Some(environment(one)),
        args: Some(one.command.iter().chain(&one.args).cloned().collect()),
        resources: resources(one),
        node_selector: spec.node_selector.clone(),
        replicas,
        tolerations: spec.tolerations.iter().filter_map(toleration).collect(),
        runtime_class: spec.runtime_class_name.clone(),
        config_maps: config_maps.clone(),
    })
    .collect()
}

fn marked(kind: &str, meta: Meta) -> Marked {
    let owners = meta.owner_references.into_iter();
    // Annotations may be larger than all else that an object says.
    let marks = |all: BTreeMap<String, String>| {
        let marks = all.into_iter().filter(|(key, _)| is_mark(key));
        marks.collect()
    };
    Marked {
        kind: kind.to_owned(),
        namespace: meta.namespace,
        name: meta.name,
        labels: marks(meta.labels),
        annotations: marks(meta.annotations),
        owners: owners
            .map(|owner| (owner.kind.to_lowercase(), owner.name))
            .collect(),
    }
}

fn stated(item: &Item<'_>, data: PodTemplate) -> AnyFact {
    let text = format!("\"name\":\"{}\"", data.marked.name);
    fact(data, item, text).into()
}

/// A workload's template; `folder` is its kind in lower case where it does not say it itself.
pub(super) fn of_workload(item: &Item<'_>, folder: &str) -> Option<AnyFact> {
    let object: Workload = serde_json::from_slice(item.json).ok()?;
    let own = object.kind.to_lowercase();
    let kind = if own.is_empty() { folder } else { own.as_str() };
    let (namespace, name) = (&object.metadata.namespace, &object.metadata.name);
    let workload = format!("{kind}/{namespace}/{name}");
    let containers = containers(&workload, &object.spec.template.spec, object.spec.replicas);
    let data = PodTemplate {
        marked: marked(kind, object.metadata),
        containers,
        ..PodTemplate::default()
    };
    Some(stated(item, data))
}

/// A pod that runs, as far as it may differ from its workload's template: pods of a template that was changed and
/// not rolled out keep the old image. Admission adds variables, resources and selectors to pods.
pub(super) fn of_pod(pod: Object, item: &Item<'_>) -> Option<AnyFact> {
    if matches!(pod.status.phase.as_str(), "Succeeded" | "Failed") {
        return None;
    }
    let all = pod
        .spec
        .containers
        .into_iter()
        .chain(pod.spec.init_containers);
    let data = PodTemplate {
        images: all.map(|one| (one.name, one.image)).collect(),
        marked: marked("pod", pod.metadata),
        ..PodTemplate::default()
    };
    Some(stated(item, data))
}

/// A replica set or job, which stands between a workload and its pods.
pub(super) fn between(item: &Item<'_>, kind: &str) -> Option<AnyFact> {
    let object: Bare = serde_json::from_slice(item.json).ok()?;
    let data = PodTemplate {
        marked: marked(kind, object.metadata),
        ..PodTemplate::default()
    };
    Some(stated(item, data))
}

fn parse_custom(item: &Item<'_>) -> Parsed {
    let object: Bare = match serde_json::from_slice(item.json) {
        Ok(object) => object,
        Err(error) => {
            let text = format!("custom resource not read: {error}");
            return Parsed::problem(item.place.clone(), text);
        }
    };
    let file = item.place.path.rsplit('/').next().unwrap_or_default();
    let kind = match object.kind.to_lowercase() {
        none if none.is_empty() && file.starts_with("nvidiadrivers") => "nvidiadriver".to_owned(),
        none if none.is_empty() => "clusterpolicy".to_owned(),
        kind => kind,
    };
    let data = PodTemplate {
        marked: marked(&kind, object.metadata),
        spec: Some(object.spec),
        ..PodTemplate::default()
    };
    Parsed {
        facts: vec![stated(item, data)],
        ..Parsed::default()
    }
}
