//! What objects beside pods and nodes do to them: volumes held by nodes that are gone, pods that a webhook is not
//! given, configurations that no ConfigMap holds.

use super::{Deriver, Known};
use crate::facts::cluster::{
    AttachedVolume, Attachment, ConfigMap, NetworkPluginMissing, PluginConfigMissing, Webhook,
    WebhookSkip,
};
use crate::facts::kube::{Node, Pod, Workload};
use crate::facts::scheduling::Namespace;
use crate::facts::{AnyFact, Fact, FactType};
use crate::scheduling::api::{self, LabelSelector, Labels};
use crate::scheduling::selector;

/// Joins them.
pub(super) static DERIVER: Deriver = Deriver {
    id: "cluster",
    derive,
};

/// HAMi's webhook, under the names of the project's releases.
const HAMI_WEBHOOKS: [&str; 2] = ["vgpu.hami.io", "vgpu.4pd.io"];

/// Resources that only HAMi's scheduler can serve.
const HAMI_RESOURCES: [&str; 3] = [
    "nvidia.com/gpumem",
    "nvidia.com/gpucores",
    "nvidia.com/gpumem-percentage",
];

/// Label by which a node asks for a configuration of the device plugin.
const PLUGIN_CONFIG: &str = "nvidia.com/device-plugin.config";

fn derive(known: &Known<'_>) -> Vec<AnyFact> {
    let mut facts = attachments(known);
    facts.extend(webhook_skips(known));
    facts.extend(plugin_configs(known));
    facts.extend(no_network_plugin(known));
    facts
}

/// The same place and words, another statement.
fn after<A, B: FactType>(fact: &Fact<A>, data: B) -> AnyFact {
    Fact {
        data,
        place: fact.place.clone(),
        text: fact.text.clone(),
        at: fact.at,
    }
    .into()
}

fn attachments(known: &Known<'_>) -> Vec<AnyFact> {
    let nodes = known.facts.table::<Node>();
    let state = |name: &str| match nodes.iter().find(|node| node.data.name == name) {
        _ if nodes.is_empty() => "",
        None => "gone",
        Some(node) if node.data.ready => "present",
        Some(_) => "not-ready",
    };
    let held = known.facts.table::<Attachment>().iter();
    held.map(|fact| {
        let mut attachment = fact.data.clone();
        state(&attachment.node).clone_into(&mut attachment.node_state);
        after(fact, AttachedVolume(attachment))
    })
    .collect()
}

/// Whether a webhook's selector takes these labels. One that is absent or empty takes all.
fn takes(wanted: Option<&LabelSelector>, labels: &Labels) -> bool {
    wanted.is_none() || selector::matches(wanted, labels)
}

fn asks_for_hami(pod: &api::Pod) -> bool {
    let mut amounts = pod.spec.containers.iter().map(|one| &one.resources);
    amounts.any(|one| {
        let named = |name: &&str| one.limits.get(name).or(one.requests.get(name)).is_some();
        HAMI_RESOURCES.iter().any(named)
    })
}

fn webhook_skips(known: &Known<'_>) -> Vec<AnyFact> {
    let hooks = known.facts.table::<Webhook>().iter();
    let Some(hook) = hooks
        .map(|fact| &fact.data)
        .find(|hook| HAMI_WEBHOOKS.contains(&hook.name.as_str()))
    else {
        return Vec::new();
    };
    let namespaces = known.facts.table::<Namespace>();
    let labels_of = |name: &str| {
        let found = namespaces.iter().map(|fact| &fact.data.0.metadata);
        found
            .into_iter()
            .find(|meta| meta.name == name)
            .map(|meta| &meta.labels)
    };
    let pods = known.facts.table::<api::Pod>().iter();
    pods.filter(|pod| asks_for_hami(&pod.data))
        .filter_map(|pod| {
            let meta = &pod.data.metadata;
            let excluded = labels_of(&meta.namespace)
                .is_some_and(|has| !takes(hook.namespace_selector.as_ref(), has));
            let by = match takes(hook.object_selector.as_ref(), &meta.labels) {
                _ if excluded => "namespace",
                false => "pod",
                true => return None,
            };
            let skip = WebhookSkip {
                namespace: meta.namespace.clone(),
                pod: meta.name.clone(),
                webhook: hook.name.clone(),
                by: by.to_owned(),
                scheduler: pod.data.scheduler().to_owned(),
            };
            Some(after(pod, skip))
        })
        .collect()
}

fn plugin_configs(known: &Known<'_>) -> Vec<AnyFact> {
    let maps = known.facts.table::<ConfigMap>();
    if maps.is_empty() {
        return Vec::new();
    }
    let held = |config: &str| {
        maps.iter()
            .any(|map| map.data.keys.iter().any(|key| key == config))
    };
    let nodes = known.facts.table::<api::Node>().iter();
    nodes
        .filter_map(|node| {
            let config = node.data.metadata.labels.get(PLUGIN_CONFIG)?;
            let missing = PluginConfigMissing {
                node: node.data.metadata.name.clone(),
                config: config.clone(),
                searched: maps.len(),
            };
            (!config.is_empty() && !held(config)).then(|| after(node, missing))
        })
        .collect()
}

/// Where a cluster keeps what it needs before it has a pod network.
const SYSTEM: &str = "kube-system";

/// Nodes whose kubelet waits for a pod network that nothing brings. A plugin is known by what it does, whatever its name:
/// it lays its files into the node's folders of CNI. K3s has its network in its own process.
fn no_network_plugin(known: &Known<'_>) -> Vec<AnyFact> {
    let workloads = known.facts.table::<Workload>();
    let pods = known.facts.table::<Pod>();
    let own = workloads
        .iter()
        .map(|one| (&one.data.namespace, &one.data.mounts));
    let all: Vec<_> = own
        .chain(
            pods.iter()
                .map(|one| (&one.data.namespace, &one.data.mounts)),
        )
        .collect();
    let is_of_cni = |path: &String| path.split('/').any(|part| part == "cni");
    let is_system = all.iter().any(|(namespace, _)| *namespace == SYSTEM);
    if !is_system || all.iter().any(|(_, mounts)| mounts.values().any(is_of_cni)) {
        return Vec::new();
    }
    let listed = workloads.iter().any(|one| one.data.kind == "daemonset");
    let waits = |node: &&Fact<Node>| {
        let said = node.data.not_ready.to_ascii_lowercase();
        !node.data.kubelet.contains("+k3s")
            && (said.contains("cni ") || said.contains("network plugin"))
    };
    let nodes = known.facts.table::<Node>().iter().filter(waits);
    nodes
        .map(|node| {
            let missing = NetworkPluginMissing {
                node: node.data.name.clone(),
                not_ready: node.data.not_ready.clone(),
                searched: all.len(),
                listed,
            };
            Fact {
                data: missing,
                place: node.place.clone(),
                text: node.text.clone(),
                at: node.data.not_ready_since,
            }
            .into()
        })
        .collect()
}
