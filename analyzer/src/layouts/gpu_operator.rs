//! The GPU Operator's must-gather: flat files, bug reports of the nodes beside them.
//!
//! Source: the operator's `hack/must-gather.sh`, and what it wrote of a sample.

use casefile_bundle::Entry;

use super::kubernetes_dirs::{PartLines, log};
use super::{Capture, Identity, Layout, Part, Survey, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "gpu-operator-must-gather",
    title: "NVIDIA GPU Operator must-gather",
    recognise: |survey| {
        let marks = [
            "gpu_nodes.labels",
            "gpu_nodes.status",
            "gpu_operand_pods.status",
            "cluster_policy.yaml",
            "cluster_policy.missing",
        ];
        let mut roots: Vec<String> = marks.iter().flat_map(|mark| survey.roots(mark)).collect();
        roots.sort();
        roots.dedup();
        roots
    },
    identity: |survey: &Survey, root| Identity {
        namespace: of_operator(survey, root, "namespace"),
        // The image of the plugin writes its name above it.
        version: survey.get(&format!("{root}version")).and_then(|entry| {
            let text = entry.text().into_owned();
            Some(text.lines().nth(1)?.trim().to_owned())
        }),
        ..Identity::default()
    },
    map,
};

/// What the metadata of the operator's pod say, which the tool asks for by its label.
fn of_operator(survey: &Survey, root: &str, key: &str) -> Option<String> {
    let pod = survey.get(&format!("{root}gpu_operator_pod.yaml"))?;
    let start = format!("  {key}: ");
    let text = pod.text();
    let line = text.lines().find_map(|line| line.strip_prefix(&start))?;
    Some(line.trim().trim_matches(['"', '\'']).to_owned())
}

/// The namespace, which is mostly called like this.
fn namespace(capture: &Capture) -> &str {
    capture
        .identity
        .namespace
        .as_deref()
        .unwrap_or("gpu-operator")
}

fn map(survey: &Survey, capture: &Capture, path: &str) -> Target {
    let list = |plural: &str| Target::Yaml(Entry::ListIn(plural, namespace(capture)).path());
    match path {
        "cluster_policy.yaml" => Target::Yaml(Entry::List("clusterpolicies").path()),
        "nvidiadrivers.yaml" => Target::Yaml(Entry::List("nvidiadrivers").path()),
        "openshift_version.yaml" => Target::Yaml(Entry::List("clusterversions").path()),
        "gpu_operand_pods.yaml" => list("pods"),
        // The operator is among the pods of its namespace.
        "gpu_operator_pod.yaml" if survey.has(&beside(capture, "gpu_operand_pods.yaml")) => {
            Target::Double
        }
        "gpu_operator_pod.status" | "gpu_operand_pods.status" | "gpu_operand_pod_images.txt"
            if survey.has(&beside(capture, "gpu_operand_pods.yaml")) =>
        {
            Target::Double
        }
        "gpu_operator_pod.yaml" => list("pods"),
        "gpu_operand_ds.yaml" => list("daemonsets"),
        "gpu_operand_ds.status" if survey.has(&beside(capture, "gpu_operand_ds.yaml")) => {
            Target::Double
        }
        "must-gather.log" | "must-gather.stderr.log" | "version" => Target::Unknown,
        _ if path.contains('/') => Target::Loose,
        _ => named(survey, capture, path),
    }
}

fn beside(capture: &Capture, file: &str) -> String {
    format!("{}{file}", capture.root)
}

/// Logs are named by pod; what is described or printed as a table is read by content.
fn named(survey: &Survey, capture: &Capture, file: &str) -> Target {
    let Some((name, _)) = pod_of(file) else {
        return Target::Loose;
    };
    if name.is_some() {
        return Target::Split(containers);
    }
    let pod = of_operator(survey, &capture.root, "name");
    let pod = pod.unwrap_or_else(|| "gpu-operator".to_owned());
    let previous = file.ends_with(PREVIOUS);
    Target::As(log(namespace(capture), &pod, "gpu-operator", previous))
}

/// How the log of a container that ran before ends.
const PREVIOUS: &str = ".previous.log";

/// The pod that a log is of, none for the operator's own, and whether it is of containers that ran before.
fn pod_of(file: &str) -> Option<(Option<&str>, bool)> {
    let previous = file.ends_with(PREVIOUS);
    let ending = if previous { PREVIOUS } else { ".log" };
    let name = file.strip_suffix(ending)?;
    match name.strip_prefix("gpu_operand_pod_") {
        Some(pod) => Some((Some(pod), previous)),
        None => (name == "gpu_operator_pod").then_some((None, previous)),
    }
}

/// The logs of a pod's containers in one file: `[pod/<pod>/<container>] <time> <text>`. Older scripts wrote no such mark.
fn containers(capture: &Capture, path: &str, text: &str) -> Vec<Part> {
    let file = path.strip_prefix(&capture.root).unwrap_or(path);
    let Some((Some(of_file), previous)) = pod_of(file) else {
        return Vec::new();
    };
    let mut parts = PartLines::default();
    for (line, number) in text.lines().zip(1_u32..) {
        let marked = line
            .strip_prefix("[pod/")
            .and_then(|rest| rest.split_once("] "));
        let (mark, said) = marked.unwrap_or(("", line));
        let (pod, container) = mark.split_once('/').unwrap_or((of_file, "all"));
        let ours = log(namespace(capture), pod, container, previous);
        parts.add(&ours, number, said);
    }
    parts.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pods_log_is_taken_apart_by_container_and_lines_keep_their_numbers() {
        let capture = Capture {
            format: "x",
            title: "x",
            root: "d/".to_owned(),
            identity: Identity {
                namespace: Some("nvidia".to_owned()),
                ..Identity::default()
            },
        };
        let text = "[pod/p/init] T one\n[pod/p/main] T two\n[pod/p/init] T three\nfour\n";
        let found = containers(&capture, "d/gpu_operand_pod_p.previous.log", text);
        let logs = "cluster-resources/pods/logs/nvidia/p";
        let found: Vec<(&str, u32, &str)> = found
            .iter()
            .map(|part| (part.path.as_str(), part.line, part.text.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                (
                    format!("{logs}/init-previous.log").as_str(),
                    1,
                    "T one\n\nT three\n"
                ),
                (format!("{logs}/main-previous.log").as_str(), 2, "T two\n"),
                (format!("{logs}/all-previous.log").as_str(), 4, "four\n"),
            ]
        );
    }
}
