//! The GPU Operator's must-gather: flat files, bug reports of the nodes beside them.

use casefile_bundle::Entry;

use super::{Capture, Identity, Layout, Survey, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "gpu-operator-must-gather",
    title: "NVIDIA GPU Operator must-gather",
    recognise: |survey| {
        let marks = [
            "gpu_nodes.labels",
            "gpu_nodes.status",
            "cluster_policy.yaml",
            "cluster_policy.missing",
        ];
        let mut roots: Vec<String> = marks.iter().flat_map(|mark| survey.roots(mark)).collect();
        roots.sort();
        roots.dedup();
        roots
    },
    identity: |_, _| Identity::default(),
    map,
};

fn map(_: &Survey, _: &Capture, path: &str) -> Target {
    match path {
        "cluster_policy.yaml" => Target::Yaml(Entry::List("clusterpolicies").path()),
        "nvidiadrivers.yaml" => Target::Yaml(Entry::List("nvidiadrivers").path()),
        "gpu_operand_pods.yaml" => {
            Target::Yaml(Entry::ListIn("pods", "gpu-operator-operands").path())
        }
        "gpu_operator_pod.yaml" => Target::Yaml(Entry::ListIn("pods", "gpu-operator").path()),
        "gpu_operand_ds.yaml" => Target::Yaml(Entry::ListIn("daemonsets", "gpu-operator").path()),
        "must-gather.log" | "must-gather.stderr.log" | "version" => Target::Unknown,
        _ if path.contains('/') => Target::Loose,
        _ => named(path),
    }
}

/// Logs are named by pod; what is described or printed as a table is read by content.
fn named(file: &str) -> Target {
    let Some(name) = file.strip_suffix(".log") else {
        return Target::Loose;
    };
    let previous = name.ends_with(".previous");
    let name = name.trim_end_matches(".previous");
    let pod = match name.strip_prefix("gpu_operand_pod_") {
        Some(pod) => pod,
        None if name == "gpu_operator_pod" => "gpu-operator",
        None => return Target::Loose,
    };
    Target::As(super::kubernetes_dirs::log(
        "gpu-operator",
        pod,
        "all",
        previous,
    ))
}
