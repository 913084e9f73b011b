//! `minikube logs`: one text of sections that begin with `==> name <==`.

use std::collections::BTreeMap;

use casefile_bundle::Entry;

use super::kubernetes_dirs::log;
use super::node_files::journal;
use super::{Capture, Identity, Layout, Part, Survey, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "minikube-logs",
    title: "minikube logs",
    recognise: |survey| {
        let sections = [
            "==> Audit <==",
            "==> Last Start <==",
            "==> Docker <==",
            "==> containerd <==",
            "==> CRI-O <==",
        ];
        survey.files(|entry| {
            let text = entry.text();
            text.lines().any(|line| sections.contains(&line.trim_end()))
        })
    },
    identity: |_: &Survey, _| Identity::default(),
    map: |_, _, _| Target::Split(sections),
};

fn heading(line: &str) -> Option<&str> {
    let name = line.trim_end().strip_prefix("==> ")?.strip_suffix(" <==")?;
    Some(name.trim())
}

fn sections(_: &Capture, _: &str, text: &str) -> Vec<Part> {
    let mut found: Vec<(String, u32, String)> = Vec::new();
    for (line, number) in text.lines().zip(1_u32..) {
        if let Some(name) = heading(line) {
            found.push((name.to_owned(), number.saturating_add(1), String::new()));
        } else if let Some((_, _, section)) = found.last_mut() {
            section.push_str(line);
            section.push('\n');
        }
    }
    let node = node(&found);
    let pods = pods(&found);
    // A start that was refused does not touch a cluster that runs.
    let answers = described(&found).is_some();
    let mut parts: Vec<Part> = Vec::new();
    for (name, line, text) in found {
        if name == "Last Start" {
            if !answers {
                parts.extend(exit(line, &text));
            }
            continue;
        }
        let Some(path) = path(&name, &node, &pods) else {
            continue;
        };
        if !parts.iter().any(|part| part.path == path) {
            parts.push(Part { path, line, text });
        }
    }
    parts
}

/// Why the last `minikube start` ended, where it failed (`pkg/minikube/exit`), and the head of its log, which dates it. The
/// rest of its log is what the program on the workstation did.
fn exit(line: u32, text: &str) -> Vec<Part> {
    let part = |path: &str, mark: &str| {
        let mut lines = text.lines().zip(line..);
        let (said, line) = lines.find(|(said, _)| said.contains(mark))?;
        Some(Part {
            path: path.to_owned(),
            line,
            text: format!("{said}\n"),
        })
    };
    let Some(exit) = part("minikube/last-start.txt", "Exiting due to ") else {
        return Vec::new();
    };
    let head = part("minikube/last-start-head.txt", "Log file created at: ");
    head.into_iter().chain([exit]).collect()
}

/// The node: as its description names it.
fn node(found: &[(String, u32, String)]) -> String {
    described(found).unwrap_or("minikube").to_owned()
}

/// The name of the first node that the API server described; none where it did not answer.
fn described(found: &[(String, u32, String)]) -> Option<&str> {
    let described = found.iter().find(|(name, _, _)| name == "describe nodes");
    let mut lines = described.iter().flat_map(|(_, _, text)| text.lines());
    let name = lines.find_map(|line| line.strip_prefix("Name:"));
    name.map(str::trim)
}

/// Pods by the id of a container of theirs.
fn pods(found: &[(String, u32, String)]) -> BTreeMap<String, String> {
    let tables = found
        .iter()
        .filter(|(name, _, _)| name == "container status");
    let rows = tables.flat_map(|(_, _, text)| text.lines().skip(1));
    rows.filter_map(|row| {
        let mut cells = row.split_whitespace();
        let id = cells.next()?;
        let pod = cells.rfind(|cell| !is_namespace(cell))?;
        Some((id.to_owned(), pod.to_owned()))
    })
    .collect()
}

/// Newer crictl names the namespace behind the pod.
fn is_namespace(cell: &str) -> bool {
    matches!(
        cell,
        "kube-system" | "default" | "kubernetes-dashboard" | "ingress-nginx"
    )
}

fn path(name: &str, node: &str, pods: &BTreeMap<String, String>) -> Option<String> {
    let (title, id) = match name.split_once(" [") {
        Some((title, id)) => (title, Some(id.trim_end_matches(']'))),
        None => (name, None),
    };
    let on_node = |path: &str| Some(Entry::Node(node, path).path());
    if let Some(id) = id {
        let pod = pods
            .iter()
            .find(|(known, _)| known.starts_with(id) || id.starts_with(known.as_str()));
        let namespace = if title == "kubernetes-dashboard" {
            title
        } else {
            "kube-system"
        };
        let known = pod.map_or_else(|| title.to_owned(), |(_, pod)| pod.clone());
        return Some(log(namespace, &known, &format!("{title}-{id}"), false));
    }
    match title {
        "dmesg" => on_node("commands/dmesg.out"),
        "kernel" => on_node("commands/uname.out"),
        "kubelet" => on_node(&journal("kubelet")),
        "Docker" => on_node(&journal("docker")),
        "containerd" => on_node(&journal("containerd")),
        "CRI-O" => on_node(&journal("crio")),
        "describe nodes" => Some("minikube/describe-nodes.txt".to_owned()),
        "container status" => Some("minikube/container-status.txt".to_owned()),
        // What the user typed.
        "Audit" => None,
        _ => Some(format!("minikube/{}.txt", title.replace([' ', '/'], "-"))),
    }
}
