//! `antctl supportbundle`: `clusterinfo`, and an archive an agent and one of the controller.
//!
//! Source: antrea's `pkg/antctl/raw/supportbundle/command.go` and `pkg/support/dump.go`.

use casefile_bundle::Entry;

use super::{Capture, Identity, Layout, Survey, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "antrea-supportbundle",
    title: "antctl supportbundle",
    recognise: |survey| {
        let mut roots = survey.roots("clusterinfo");
        roots.retain(|root| {
            let agents = ["agent_", "controller", "failed_nodes"];
            agents
                .iter()
                .any(|one| survey.below(&format!("{root}{one}")).next().is_some())
        });
        // An agent's archive by itself.
        for root in survey.roots("agentinfo") {
            let inside = roots.iter().any(|outer| root.starts_with(outer.as_str()));
            if !inside {
                roots.push(root);
            }
        }
        roots.sort();
        roots.dedup();
        roots
    },
    identity: |survey: &Survey, root| Identity {
        node: survey.get(&format!("{root}agentinfo")).and_then(|entry| {
            // AntreaAgentInfo is named by its node.
            let text = entry.text().into_owned();
            let (_, rest) = text.split_once("nodeRef:")?;
            let line = rest
                .lines()
                .find_map(|line| line.trim().strip_prefix("name:"))?;
            Some(line.trim().to_owned())
        }),
        ..Identity::default()
    },
    map,
};

fn map(_: &Survey, capture: &Capture, path: &str) -> Target {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        // Objects in YAML one after the other, each with its kind.
        ["clusterinfo"] => Target::Loose,
        [archive, file @ ..] if archive.starts_with("agent_") => {
            let node = archive.trim_start_matches("agent_");
            let node = node.trim_end_matches(".tar.gz");
            agent(file, |path| Target::As(Entry::Node(node, path).path()))
        }
        [archive, .., file] if archive.starts_with("controller") && is_log(file) => Target::Loose,
        file => agent(file, |path| capture.of_node(path)),
    }
}

fn is_log(file: &str) -> bool {
    file.contains(".log")
}

/// A file of an agent's archive.
fn agent(parts: &[&str], on_node: impl Fn(&str) -> Target) -> Target {
    match parts {
        ["iptables"] => on_node("commands/iptables-save.out"),
        ["nftables"] => on_node("commands/nft-list-ruleset.out"),
        ["address"] => on_node("commands/ip-addr.out"),
        ["route"] => on_node("commands/ip-route.out"),
        ["logs", "kubelet", file] => on_node(&super::node_files::journal(file)),
        ["logs", .., file] if is_log(file) => Target::Loose,
        _ => Target::Unknown,
    }
}
