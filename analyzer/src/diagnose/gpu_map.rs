//! What a picture of GPUs shows: the cards of a node with the processes and pods on them, and where a pod that waits
//! would have to fit.

use std::collections::BTreeMap;

use super::state::{card, holds, nodes};
use crate::facts::gpu::Gpu;
use crate::facts::kube::{Container, Node, Pod};
use crate::facts::scheduling::{HamiCard, NodeFit, NodeResource, PodFit};
use crate::facts::{Fact, Facts, whose};
use crate::model::Figure;
use crate::model::state::{Card, CardClient, CardSlice, GpuHolder, GpuMap, PackedNode, Packing};

/// Families of causes that happen on the cards of a node.
const ON_CARDS: [&str; 4] = ["gpu-hardware", "gpu-sharing", "driver", "fabric"];
/// The family of causes that keep a pod from every node.
const PLACING: &str = "scheduling";
/// The family of HAMi, which hands out the memory of cards.
const SHARING: &str = "hami";
/// What a pod asks HAMi's memory with, in MiB.
const MEMORY: &str = "nvidia.com/gpumem";
/// Nodes of one picture.
const NODES: usize = 12;

/// The pictures that belong to a cause of this family, about these subjects.
pub(super) fn figures(family: &str, subjects: &[String], facts: &Facts) -> Vec<Figure> {
    if ON_CARDS.contains(&family) {
        let map = subjects.iter().find_map(|subject| map(subject, facts));
        return map.map(Figure::GpuMap).into_iter().collect();
    }
    if family == PLACING {
        let packing = subjects.iter().find_map(|subject| packing(subject, facts));
        return packing.map(Figure::Packing).into_iter().collect();
    }
    if family == SHARING {
        let packing = subjects.iter().find_map(|subject| memory(subject, facts));
        return packing.map(Figure::Packing).into_iter().collect();
    }
    Vec::new()
}

/// The cards of a node, or of the node that a pod runs on, where something is to be seen on them.
fn map(subject: &str, facts: &Facts) -> Option<GpuMap> {
    let name = node_of(subject, facts)?;
    let cards: Vec<Card> = facts
        .table::<Gpu>()
        .iter()
        .filter(|gpu| gpu.data.node == name)
        .fold(Vec::new(), |mut cards, gpu| {
            let known = cards
                .iter()
                .any(|one: &Card| one.bus_id == gpu.data.card.bus_id);
            if !known {
                cards.push(with_clients(gpu, facts));
            }
            cards
        });
    let holders: Vec<GpuHolder> = facts
        .table::<Pod>()
        .iter()
        .filter(|pod| pod.data.node == name && pod.data.gpus > 0 && holds(&pod.data))
        .map(holder)
        .collect();
    let said = |card: &Card| {
        !(card.trouble.is_empty() && card.clients.is_empty() && card.slices.is_empty())
    };
    let tells = cards.iter().any(said) || !holders.is_empty();
    if cards.is_empty() || !tells {
        return None;
    }
    let allocatable = nodes(facts)
        .into_iter()
        .find(|node| node.name == name)
        .and_then(|node| node.allocatable);
    Some(GpuMap {
        node: name,
        allocatable,
        cards,
        holders,
    })
}

/// The node that a subject is, is on, or runs on.
fn node_of(subject: &str, facts: &Facts) -> Option<String> {
    let mut parts = subject.split('/');
    match parts.next()? {
        "node" | "gpu" => parts.next().map(str::to_owned),
        "pod" => {
            let pod = pod(facts, subject)?;
            Some(pod.data.node.clone()).filter(|node| !node.is_empty())
        }
        _ => None,
    }
}

fn pod<'a>(facts: &'a Facts, subject: &str) -> Option<&'a Fact<Pod>> {
    let (namespace, name) = subject.strip_prefix("pod/")?.split_once('/')?;
    let mut pods = facts.table::<Pod>().iter();
    pods.find(|pod| pod.data.namespace == namespace && pod.data.name == name)
}

fn holder(pod: &Fact<Pod>) -> GpuHolder {
    GpuHolder {
        pod: named(&pod.data),
        gpus: pod.data.gpus,
        owner: pod.data.owner.clone(),
        state: pod.data.state.clone(),
        place: Some(pod.place.clone()),
    }
}

fn named(pod: &Pod) -> String {
    format!("{}/{}", pod.namespace, pod.name)
}

/// A card with its slices and processes.
fn with_clients(gpu: &Fact<Gpu>, facts: &Facts) -> Card {
    let data = &gpu.data.card;
    let slices = data.slices.iter().map(|slice| CardSlice {
        instance: slice.instance,
        memory_mib: slice.memory,
    });
    let clients = data.clients.iter().map(|client| {
        let known = CardClient {
            pid: client.pid,
            name: client.name.clone(),
            memory_mib: client.memory,
            instance: client.instance,
            ..CardClient::default()
        };
        match whose::group(facts, &gpu.data.node, client.pid) {
            Some(cgroup) => of_group(known, cgroup, facts),
            None => known,
        }
    });
    Card {
        slices: slices.collect(),
        clients: clients.collect(),
        ..card(gpu)
    }
}

/// Names the pod and the container by the ids in the control group.
fn of_group(mut client: CardClient, cgroup: &str, facts: &Facts) -> CardClient {
    if let Some(pod) = whose::pod(facts, cgroup) {
        client.pod = named(pod);
        client.owner.clone_from(&pod.owner);
        let containers = facts.table::<Container>().iter().map(|one| &one.data);
        let mut own = containers.filter(|one| {
            one.namespace == pod.namespace && one.pod == pod.name && !one.id.is_empty()
        });
        if let Some(container) = own.find(|one| cgroup.contains(&one.id)) {
            client.container.clone_from(&container.name);
        }
    }
    client
}

/// What every node has of what a pod waits for.
fn packing(subject: &str, facts: &Facts) -> Option<Packing> {
    let fits = facts.table::<PodFit>().iter().map(|fit| &fit.data);
    let mut fits = fits.filter(|fit| !fit.resource.is_empty() && fit.asked > 0);
    let fit = fits.find(|fit| subject == format!("pod/{}/{}", fit.namespace, fit.name))?;
    let reasons = facts.table::<NodeFit>().iter().map(|one| &one.data);
    let reasons: BTreeMap<&str, &str> = reasons
        .filter(|one| one.namespace == fit.namespace && one.pod == fit.name)
        .map(|one| (one.node.as_str(), one.says.as_str()))
        .collect();
    let mut packed: Vec<PackedNode> = facts
        .table::<NodeResource>()
        .iter()
        .filter(|one| one.data.resource == fit.resource && one.data.capacity > 0)
        .map(|one| PackedNode {
            node: one.data.node.clone(),
            allocatable: one.data.allocatable,
            held: one.data.allocated,
            holders: one.data.holders.clone(),
            refused: reasons
                .get(one.data.node.as_str())
                .copied()
                .unwrap_or_default()
                .to_owned(),
            place: Some(one.place.clone()),
        })
        .collect();
    packed.sort_by(|a, b| (b.allocatable, &a.node).cmp(&(a.allocatable, &b.node)));
    packed.dedup_by(|a, b| a.node == b.node);
    let with = packed.len();
    packed.truncate(NODES);
    (!packed.is_empty()).then(|| Packing {
        pod: format!("{}/{}", fit.namespace, fit.name),
        resource: fit.resource.clone(),
        asked: fit.asked,
        request: fit.request.clone(),
        nodes: packed,
        without: facts.table::<Node>().len().saturating_sub(with) as u64,
    })
}

/// What HAMi has left of each card's memory, beside what a pod that waits asks for.
fn memory(subject: &str, facts: &Facts) -> Option<Packing> {
    let pod = pod(facts, subject).filter(|pod| pod.data.phase == "Pending")?;
    let asked: i64 = pod.data.extended.get(MEMORY)?.parse().ok()?;
    let cards = facts.table::<HamiCard>().iter().map(|one| PackedNode {
        node: format!("{} on {}", one.data.uuid, one.data.node),
        allocatable: one.data.memory,
        held: one.data.memory_held,
        holders: one.data.holders.clone(),
        refused: match one.data.memory_free < asked {
            true => "too little memory free".to_owned(),
            false => String::new(),
        },
        place: Some(one.place.clone()),
    });
    let cards: Vec<PackedNode> = cards.take(NODES).collect();
    (!cards.is_empty()).then(|| Packing {
        pod: named(&pod.data),
        resource: MEMORY.to_owned(),
        asked,
        request: format!("{asked} MiB of GPU memory"),
        nodes: cards,
        without: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::machine::DeviceHolder;
    use crate::gpu::smi::{Card as Listed, Client};
    use crate::model::Place;

    fn fact<T>(data: T) -> Fact<T> {
        Fact {
            data,
            place: Place {
                path: "x".into(),
                line: Some(1),
            },
            text: crate::shared::Shared::default(),
            at: None,
        }
    }

    fn facts(cgroup: &str) -> Facts {
        let listed = Listed {
            bus_id: "00000000:17:00.0".into(),
            clients: vec![Client {
                pid: 41,
                name: "python3".into(),
                memory: Some(30),
                instance: None,
            }],
            ..Listed::default()
        };
        let gpu = Gpu {
            node: "n1".into(),
            card: listed,
        };
        let holder = DeviceHolder {
            node: "n1".into(),
            pid: 41,
            cgroup: cgroup.into(),
            ..DeviceHolder::default()
        };
        let pod = Pod {
            namespace: "team-a".into(),
            name: "llm-0".into(),
            node: "n1".into(),
            phase: "Running".into(),
            owner: "statefulset/llm".into(),
            uid: "8b4b4889-9035-5da4-943e-c5a51b314cf6".into(),
            gpus: 1,
            ..Pod::default()
        };
        let container = Container {
            namespace: "team-a".into(),
            pod: "llm-0".into(),
            name: "server".into(),
            id: "f00d".into(),
            ..Container::default()
        };
        let mut facts = Facts::default();
        for one in [
            fact(gpu).into(),
            fact(holder).into(),
            fact(pod).into(),
            fact(container).into(),
        ] {
            facts.add(one);
        }
        facts
    }

    #[test]
    fn a_process_leads_to_its_container_its_pod_and_its_owner() {
        let group = "0::/kubepods.slice/kubepods-pod8b4b4889_9035_5da4_943e_c5a51b314cf6.slice/cri-containerd-f00d.scope";
        let found = figures(
            "gpu-sharing",
            &["pod/team-a/llm-0".to_owned()],
            &facts(group),
        );
        let [Figure::GpuMap(map)] = &found[..] else {
            panic!("{found:?}");
        };
        let client = &map.cards[0].clients[0];
        assert_eq!(
            (
                client.container.as_str(),
                client.pod.as_str(),
                client.owner.as_str()
            ),
            ("server", "team-a/llm-0", "statefulset/llm")
        );
    }

    #[test]
    fn a_process_of_another_group_is_nobodys() {
        let found = figures(
            "gpu-sharing",
            &["node/n1".to_owned()],
            &facts("0::/user.slice"),
        );
        let [Figure::GpuMap(map)] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!(map.cards[0].clients[0].pod, "");
    }

    #[test]
    fn other_families_get_no_picture_of_gpus() {
        assert!(figures("dns", &["node/n1".to_owned()], &facts("")).is_empty());
    }
}
