//! `antctl supportbundle`: `clusterinfo`, and an archive an agent and one of the controller. The archive of one agent alone is what
//! a `SupportBundleCollection` uploads.
//!
//! Source: antrea's `pkg/antctl/raw/supportbundle/command.go` and `pkg/support/dump.go`.

use std::fmt::Write as _;

use casefile_bundle::Entry;

use super::kubernetes_dirs::{PartLines, everywhere, is_read};
use super::survey::name;
use super::{Capture, Identity, Layout, Part, Survey, Target};

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
    identity: |survey: &Survey, root| {
        let about = ["agentinfo", "controllerinfo"];
        let own = about.iter().map(|file| format!("{root}{file}"));
        let inside = survey
            .below(root)
            .map(|entry| entry.path.clone())
            .filter(|path| about.contains(&name(path)));
        let about = own.chain(inside).find_map(|path| survey.get(&path));
        let text = about.map(|entry| entry.text().into_owned());
        let text = text.unwrap_or_default();
        Identity {
            node: survey
                .has(&format!("{root}agentinfo"))
                .then(|| agents_node(&text))
                .flatten(),
            version: said(text.lines(), "version"),
            ..Identity::default()
        }
    },
    map,
};

/// The value of a key, whose capitals the encoder of some releases drops.
fn said<'a>(mut lines: impl Iterator<Item = &'a str>, key: &str) -> Option<String> {
    let value = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let value = value.trim().trim_matches(['"', '\'']);
        (name.eq_ignore_ascii_case(key) && !value.is_empty()).then_some(value)
    })?;
    Some(value.to_owned())
}

/// The node that an `AntreaAgentInfo` refers to.
fn agents_node(text: &str) -> Option<String> {
    let mut lines = text.lines();
    lines.find(|line| line.trim_end().eq_ignore_ascii_case("noderef:"))?;
    let inside = lines
        .take_while(|line| line.starts_with(' '))
        .map(str::trim_start);
    said(inside, "name")
}

fn map(survey: &Survey, capture: &Capture, path: &str) -> Target {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        ["clusterinfo"] => Target::Split(objects),
        // Both dump the routes of one table; newer releases dump those of all tables as well.
        [.., "route"] => {
            let folder = path.trim_end_matches("route");
            let all = format!("{}{folder}route-table-all", capture.root);
            match survey.has(&all) {
                true => Target::Double,
                false => agent(node(capture, path), &["route-table-all"]),
            }
        }
        [archive, file @ ..] if archive.starts_with("agent_") => agent(node(capture, path), file),
        [archive, .., file] if archive.starts_with("controller") && is_log(file) => Target::Loose,
        [.., "controllerinfo"] => Target::Loose,
        file => agent(node(capture, path), file),
    }
}

/// The node that a file is of: the archive that holds it is named by it.
fn node<'a>(capture: &'a Capture, path: &'a str) -> &'a str {
    let archive = path.split('/').next().unwrap_or_default();
    match archive.strip_prefix("agent_") {
        Some(node) => node.trim_end_matches(".tar.gz"),
        None => capture.identity.node.as_deref().unwrap_or(super::UNNAMED),
    }
}

fn is_log(file: &str) -> bool {
    file.contains(".log")
}

/// A file of an agent's archive.
fn agent(node: &str, parts: &[&str]) -> Target {
    let on_node = |path: &str| Target::As(Entry::Node(node, path).path());
    match parts {
        ["iptables"] => Target::Split(both_protocols),
        ["nftables"] => on_node("commands/nft-list-ruleset.out"),
        ["address"] => on_node("commands/ip-addr.out"),
        ["link"] => on_node("commands/ip-link.out"),
        ["rule"] => on_node("commands/ip-rule.out"),
        ["route-table-all"] => on_node("commands/ip-route.out"),
        ["ipset"] => on_node("commands/ipset-save.out"),
        ["logs", "kubelet", file] => on_node(&super::node_files::journal(file)),
        ["logs", _, file] if is_log(file) => on_node(&format!("rootfs/var/log/antrea/{file}")),
        ["agentinfo"] => Target::Loose,
        _ => Target::Unknown,
    }
}

/// The objects of the cluster: below a comment that names their kind, either each as a document or, of releases before 1.5, a list
/// as one. None says its kind itself.
fn objects(_: &Capture, _: &str, text: &str) -> Vec<Part> {
    let mut parts = PartLines::default();
    let mut open: Option<(u32, String)> = None;
    let mut kind: Option<String> = None;
    for (line, number) in text.lines().zip(1_u32..).chain([("---", u32::MAX)]) {
        let names = line.strip_prefix('#').map(str::trim);
        if names.is_none() && line != "---" {
            let (_, document) = open.get_or_insert_with(|| (number, String::new()));
            let _ = writeln!(document, "{line}");
            continue;
        }
        if let (Some((from, document)), Some(kind)) = (open.take(), &kind) {
            parts.add_objects(kind, from, &document, |json| json);
        }
        if let Some(comment) = names {
            let plural = match comment {
                "replicas" => "replicasets",
                "configs" => "configmaps",
                plural => plural,
            };
            kind = is_read(plural).then(|| everywhere(plural));
        }
    }
    parts.finish()
}

/// The rules of both protocols, dumped one behind the other.
fn both_protocols(capture: &Capture, path: &str, text: &str) -> Vec<Part> {
    let below = path.strip_prefix(&capture.root).unwrap_or(path);
    let node = node(capture, below);
    let mut parts: Vec<Part> = Vec::new();
    for (line, number) in text.lines().zip(1_u32..) {
        let program = match line {
            _ if line.starts_with("# Generated by ip6tables-save ") => Some("ip6tables-save"),
            _ if line.starts_with("# Generated by ") => Some("iptables-save"),
            _ => parts.is_empty().then_some("iptables-save"),
        };
        let ours = program.map(|program| Entry::Printed(node, program).path());
        let new = ours.filter(|ours| parts.last().is_none_or(|part| part.path != *ours));
        if let Some(path) = new {
            parts.push(Part {
                path,
                line: number,
                text: String::new(),
            });
        }
        if let Some(part) = parts.last_mut() {
            let _ = writeln!(part.text, "{line}");
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layouts::Entry as Surveyed;

    fn capture(root: &str, node: Option<&str>) -> Capture {
        Capture {
            format: "x",
            title: "x",
            root: root.into(),
            identity: Identity {
                node: node.map(str::to_owned),
                ..Identity::default()
            },
        }
    }

    /// The objects that a text gives: path, line in the file, name.
    fn found(text: &str) -> Vec<(String, u32, String)> {
        let parts = objects(&capture("", None), "clusterinfo", text);
        let of = parts.iter().flat_map(|part| {
            let lines = part.text.lines().zip(part.line..);
            let objects = lines.filter(|(line, _)| !line.is_empty());
            objects.map(|(line, number)| {
                let object: serde_json::Value = serde_json::from_str(line).unwrap();
                let name = object["metadata"]["name"].as_str().unwrap().to_owned();
                (part.path.clone(), number, name)
            })
        });
        of.collect()
    }

    #[test]
    fn objects_get_their_kind_from_the_comment_above_them() {
        let pods = "cluster-resources/pods/all-namespaces.json";
        let configs = "cluster-resources/configmaps/all-namespaces.json";
        let each = "#pods\nmetadata:\n    name: a\nspec:\n    containers:\n        - name: c\n---\nmetadata:\n    name: b\n---\n#nodes\nmetadata:\n    name: n1\n---\n#configs\ndata:\n    x: |\n        # not a comment of the dump\n        ---\nmetadata:\n    name: antrea-config\n---\n";
        let expected = [
            (pods, 2, "a"),
            (pods, 8, "b"),
            ("cluster-resources/nodes.json", 12, "n1"),
            (configs, 16, "antrea-config"),
        ];
        let expected = expected.map(|(path, line, name)| (path.to_owned(), line, name.to_owned()));
        assert_eq!(found(each), expected);
        let lists = "#pods\nitems:\n- metadata:\n    name: a\n- metadata:\n    name: b\nmetadata:\n  resourceVersion: \"7\"\n---\n#nodes\nitems: []\nmetadata: {}\n---\n";
        let expected = [(pods, 3, "a"), (pods, 5, "b")];
        let expected = expected.map(|(path, line, name)| (path.to_owned(), line, name.to_owned()));
        assert_eq!(found(lists), expected);
    }

    #[test]
    fn an_agents_node_is_named_by_its_archive_or_by_its_information() {
        let info = "typemeta:\n    kind: \"\"\n    apiversion: \"\"\nobjectmeta:\n    name: n2\nversion: v1.15.1\npodref:\n    kind: Pod\n    name: antrea-agent-x2x4z\nnoderef:\n    kind: Node\n    namespace: \"\"\n    name: n2\nnodesubnets:\n    - 10.0.0.0/24\n";
        let survey = Survey::new(vec![Surveyed {
            path: "n2_collection.tar.gz/agentinfo".into(),
            head: info.as_bytes().to_vec(),
            tail: Vec::new(),
            size: None,
        }]);
        assert_eq!((LAYOUT.recognise)(&survey), ["n2_collection.tar.gz/"]);
        let identity = (LAYOUT.identity)(&survey, "n2_collection.tar.gz/");
        assert_eq!(identity.node.as_deref(), Some("n2"));
        assert_eq!(identity.version.as_deref(), Some("v1.15.1"));
        assert_eq!(
            agents_node(&info.replace("noderef", "nodeRef")).as_deref(),
            Some("n2")
        );
        let outer = capture("d/", None);
        assert_eq!(node(&outer, "agent_n1.tar.gz/iptables"), "n1");
    }

    #[test]
    fn rules_of_both_protocols_are_told_apart() {
        let text = "# Generated by iptables-save v1.8.9 on Thu Jan  1 00:00:00 2026\n*nat\nCOMMIT\n# Generated by ip6tables-save v1.8.9 on Thu Jan  1 00:00:00 2026\n*nat\nCOMMIT\n";
        let parts = both_protocols(&capture("", None), "agent_n1.tar.gz/iptables", text);
        let found: Vec<(&str, u32)> = parts
            .iter()
            .map(|part| (part.path.as_str(), part.line))
            .collect();
        assert_eq!(
            found,
            [
                ("nodes/n1/commands/iptables-save.out", 1),
                ("nodes/n1/commands/ip6tables-save.out", 4),
            ]
        );
    }
}
