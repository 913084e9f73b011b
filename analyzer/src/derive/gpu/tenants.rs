//! Who holds a GPU's memory: the processes that nvidia-smi lists, and whose they are.

use super::{Known, gpus};
use crate::facts::gpu::{Gpu, GpuTenant};
use crate::facts::kube::Pod;
use crate::facts::{AnyFact, Fact, whose};

pub(super) fn facts(known: &Known<'_>, node: &str, listed: &[Fact<Gpu>]) -> Vec<AnyFact> {
    let gpus = gpus(known, node, listed);
    gpus.iter().filter_map(|gpu| tenant(known, gpu)).collect()
}

/// The process of a card that holds most of its memory.
fn tenant(known: &Known<'_>, gpu: &Fact<Gpu>) -> Option<AnyFact> {
    let node = gpu.data.node.as_str();
    let clients = gpu.data.card.clients.iter();
    let client = clients.max_by_key(|client| client.memory)?;
    let memory = client.memory?;
    let pod = whose::group(known.facts, node, client.pid)
        .and_then(|group| whose::pod(known.facts, group));
    let whose = match (pod, only_running(known, node)) {
        (Some(pod), _) => format!(", of pod {}/{}", pod.namespace, pod.name),
        (None, Some(pod)) => format!(
            "; the only pod with a GPU that runs on {node} is {}/{}",
            pod.namespace, pod.name
        ),
        (None, None) => String::new(),
    };
    let tenant = GpuTenant {
        node: node.to_owned(),
        bus_id: gpu.data.card.bus_id.clone(),
        pid: client.pid,
        sentence: format!(
            "nvidia-smi lists process {} as {} with {memory} MiB{whose}",
            client.pid, client.name
        ),
    };
    let fact = Fact {
        data: tenant,
        place: gpu.place.clone(),
        text: gpu.text.clone(),
        at: gpu.at,
    };
    Some(fact.into())
}

/// The pod with a GPU that runs on a node, where there is one alone.
fn only_running<'k>(known: &'k Known<'_>, node: &str) -> Option<&'k Pod> {
    let pods = known.facts.table::<Pod>().iter().map(|pod| &pod.data);
    let mut running = pods
        .filter(|pod| pod.node == node && !node.is_empty() && pod.gpus > 0)
        .filter(|pod| pod.state == "Running");
    running.next().filter(|_| running.next().is_none())
}
