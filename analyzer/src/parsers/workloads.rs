//! Daemonsets, deployments and statefulsets: how many replicas are wanted and ready, and their environment.

use casefile_bundle::{ANY, Entry};
use serde::Deserialize;

use super::components::component;
use super::pods::{ContainerSpec, Meta, Volume, environment, fact, host_mounts};
use super::{Item, Parsed, Parser, Read};
use crate::facts::kube::Workload;

/// Reads the three kinds, one namespace an entry.
pub(super) static PARSER: Parser = Parser {
    id: "workloads",
    reads: &[
        Entry::ListIn("daemonsets", ANY),
        Entry::ListIn("deployments", ANY),
        Entry::ListIn("statefulsets", ANY),
    ],
    read: Read::Items(parse),
};

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PodSpec {
    containers: Vec<ContainerSpec>,
    init_containers: Vec<ContainerSpec>,
    volumes: Vec<Volume>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Template {
    spec: PodSpec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Spec {
    replicas: Option<u64>,
    template: Template,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    desired_number_scheduled: Option<u64>,
    number_ready: Option<u64>,
    ready_replicas: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Object {
    kind: String,
    metadata: Meta,
    spec: Spec,
    status: Option<Status>,
}

fn parse(item: &Item<'_>) -> Parsed {
    let object: Object = match item.object("workload") {
        Ok(object) => object,
        Err(problem) => return problem,
    };
    let kind = item.singular(&object.kind);
    let stated = object.status.is_some();
    let status = object.status.unwrap_or_default();
    let pods = object.spec.template.spec;
    let containers = || pods.containers.iter().chain(&pods.init_containers);
    let workload = Workload {
        kind: kind.clone(),
        stated,
        desired: status
            .desired_number_scheduled
            .or(object.spec.replicas)
            .unwrap_or(0),
        ready: status.number_ready.or(status.ready_replicas).unwrap_or(0),
        component: component(
            &object.metadata.name,
            containers().map(|one| one.image.as_str()),
        ),
        env: environment(containers()),
        mounts: host_mounts(&pods.volumes, containers()),
        images: containers().map(|one| one.image.clone()).collect(),
        namespace: object.metadata.namespace,
        name: object.metadata.name,
    };
    let text = format!("\"name\":\"{}\"", workload.name);
    let mut facts = vec![fact(workload, item, text).into()];
    facts.extend(super::scheduling::workload(item));
    facts.extend(super::templates::of_workload(item, &kind));
    Parsed {
        facts,
        ..Parsed::default()
    }
}
