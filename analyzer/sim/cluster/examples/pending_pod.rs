//! Why a pending pod fits on no node: `kubectl get nodes,pods -A -o json` from standard input with the pod's
//! `namespace/name` as the argument, else a pod that asks for two GPUs of a node that has one.
//!
//! `kubectl get nodes,pods -A -o json | cargo run -p casefile-sim-cluster --example pending_pod -- default/train`

use std::error::Error;
use std::io::Write;

use casefile_sim_cluster::scheduling::{Cluster, Inputs, api, explain};
use serde::de::DeserializeOwned;
use serde_json::Value;

const LIST: &str = r#"{"items": [
  {"kind": "Node", "metadata": {"name": "gpu-07"}, "status": {"allocatable":
    {"cpu": "16", "memory": "64Gi", "pods": "110", "nvidia.com/gpu": "1"}}},
  {"kind": "Pod", "metadata": {"namespace": "default", "name": "train"}, "spec": {"containers":
    [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": "2"}, "requests": {"nvidia.com/gpu": "2"}}}]},
    "status": {"phase": "Pending"}}
]}"#;

fn objects<T: DeserializeOwned>(list: &Value, kind: &str) -> Result<Vec<T>, serde_json::Error> {
    let items = list["items"].as_array().into_iter().flatten();
    let of_kind = items.filter(|item| item["kind"] == kind);
    of_kind.map(|item| T::deserialize(item)).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let named = std::env::args().nth(1);
    let list: Value = match named {
        Some(_) => serde_json::from_reader(std::io::stdin())?,
        None => serde_json::from_str(LIST)?,
    };
    let name = named.unwrap_or_else(|| "default/train".to_owned());
    let (nodes, pods): (Vec<api::Node>, Vec<api::Pod>) =
        (objects(&list, "Node")?, objects(&list, "Pod")?);
    let is_named =
        |pod: &&api::Pod| format!("{}/{}", pod.metadata.namespace, pod.metadata.name) == name;
    let pod = pods.iter().find(is_named);
    let pod = pod.ok_or_else(|| format!("no pod {name} in the list"))?;
    let cluster = Cluster::new(Inputs {
        nodes: nodes.iter().collect(),
        nodes_complete: true,
        pods: pods.iter().collect(),
        pods_complete: true,
        ..Inputs::default()
    });
    let verdict = explain(pod, &cluster);
    let mut out = std::io::stdout().lock();
    writeln!(out, "{name}: {:?}\n{}", verdict.state, verdict.sentence)?;
    for node in &verdict.nodes {
        let reasons: Vec<String> = node
            .reasons
            .iter()
            .map(|reason| reason.detail.clone())
            .collect();
        writeln!(out, "  {}: {}", node.node, reasons.join(", "))?;
    }
    for open in &verdict.open {
        writeln!(out, "undecided: {open}")?;
    }
    Ok(())
}
