//! The containers of pods and of workloads' templates with all that helm values can set in them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::Item;
use super::pods::{Meta, fact};
use crate::facts::{AnyFact, FactType, Field};
use crate::helm::Seen;

/// The containers of a workload or pod.
#[derive(Debug, Clone, Default)]
pub struct PodTemplate {
    /// Namespace.
    pub namespace: String,
    /// Containers.
    pub containers: Vec<Seen>,
}

impl serde::Serialize for PodTemplate {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.namespace)
    }
}

impl FactType for PodTemplate {
    const KIND: &'static str = "pod-template";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        let first = self.containers.first();
        first.map_or_else(String::new, |one| one.workload.clone())
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Workload {
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
#[serde(default)]
struct Pod {
    metadata: Meta,
    spec: PodSpec,
    status: Status,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Status {
    phase: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PodSpec {
    containers: Vec<Container>,
    init_containers: Vec<Container>,
    node_selector: BTreeMap<String, String>,
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

fn resources(container: &Container) -> BTreeMap<String, String> {
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

fn environment(container: &Container) -> BTreeMap<String, Option<String>> {
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
    all.map(|one| Seen {
        workload: workload.to_owned(),
        container: one.name.clone(),
        image: one.image.clone(),
        env: Some(environment(one)),
        args: Some(one.command.iter().chain(&one.args).cloned().collect()),
        resources: resources(one),
        node_selector: spec.node_selector.clone(),
        replicas,
    })
    .collect()
}

fn stated(item: &Item<'_>, meta: Meta, containers: Vec<Seen>) -> AnyFact {
    let text = format!("\"name\":\"{}\"", meta.name);
    let data = PodTemplate {
        namespace: meta.namespace,
        containers,
    };
    fact(data, item, text).into()
}

/// A workload's template; `kind` is its kind in lower case.
pub(super) fn of_workload(item: &Item<'_>, kind: &str) -> Option<AnyFact> {
    let object: Workload = serde_json::from_slice(item.json).ok()?;
    let (namespace, name) = (&object.metadata.namespace, &object.metadata.name);
    let workload = format!("{kind}/{namespace}/{name}");
    let seen = containers(&workload, &object.spec.template.spec, object.spec.replicas);
    Some(stated(item, object.metadata, seen))
}

/// A pod that runs, as far as it may differ from its workload's template: pods of a template that was changed and
/// not rolled out keep the old image.
pub(super) fn of_pod(item: &Item<'_>) -> Option<AnyFact> {
    let object: Pod = serde_json::from_slice(item.json).ok()?;
    if matches!(object.status.phase.as_str(), "Succeeded" | "Failed") {
        return None;
    }
    let workload = format!("pod/{}/{}", object.metadata.namespace, object.metadata.name);
    let seen = containers(&workload, &object.spec, None);
    // Admission adds variables, resources and selectors to pods; only their images are compared.
    let images = seen.into_iter().map(|one| Seen {
        workload: one.workload,
        container: one.container,
        image: one.image,
        ..Seen::default()
    });
    Some(stated(item, object.metadata, images.collect()))
}
