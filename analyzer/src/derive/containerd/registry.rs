//! Where an instance asks for images of the registries that this cluster's pods name.

use std::collections::BTreeSet;

use super::{Resolved, of_place};
use crate::containerd::instances::Instance;
use crate::containerd::{Answer, MapTree};
use crate::derive::Known;
use crate::facts::kube::Pod;
use crate::facts::runtime_parts::RegistryHost;
use crate::facts::{AnyFact, Fact};
use crate::model::Place;
use crate::runtimes::registry::{self, Resolution};

/// Registries asked about; a cluster names a handful.
const MAX_HOSTS: usize = 50;

/// Hosts of images, and those with inline mirrors.
fn hosts(known: &Known<'_>, mirrors: impl Iterator<Item = String>) -> BTreeSet<String> {
    let pods = known.facts.table::<Pod>().iter();
    let images = pods.flat_map(|pod| &pod.data.images);
    let of_images = images.map(|image| registry::host_of(image));
    let mirrors = mirrors.filter(|host| host != "*");
    of_images.chain(mirrors).take(100_000).collect()
}

/// Facts about hosts for which something is configured, or where something is wrong.
pub(super) fn facts(
    known: &Known<'_>,
    resolved: &Resolved,
    instance: &Instance,
    tree: &MapTree,
) -> Vec<AnyFact> {
    let Some((config, cri)) = resolved.of(instance) else {
        return Vec::new();
    };
    let hosts = hosts(known, cri.registry_mirrors.keys().cloned());
    let answers = hosts
        .into_iter()
        .take(MAX_HOSTS)
        .map(|host| registry::resolve(tree, config, cri, &host));
    let telling = answers.filter(|one| !one.decided_by.is_empty() || !one.fault.is_empty());
    telling
        .map(|answer| fact(known, resolved, instance, answer))
        .collect()
}

fn fact(
    known: &Known<'_>,
    resolved: &Resolved,
    instance: &Instance,
    answer: Resolution,
) -> AnyFact {
    let nowhere = || (Place::default(), String::new());
    let (place, text) = answer
        .place
        .as_ref()
        .map_or_else(nowhere, |place| of_place(known, place));
    let data = RegistryHost {
        node: resolved.node.clone(),
        instance: instance.id.clone(),
        used_by_kubelet: resolved.used(&instance.id).to_owned(),
        host: answer.host,
        endpoints: answer.endpoints.into_iter().map(|one| one.url).collect(),
        decided_by: answer.decided_by,
        fault: answer.fault,
        complete: answer.complete == Answer::Yes,
    };
    Fact {
        data,
        place,
        text: text.into(),
        at: None,
    }
    .into()
}
