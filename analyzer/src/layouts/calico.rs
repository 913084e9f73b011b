//! `calicoctl cluster diags`: `nodes/<node>/`, `cluster/kubernetes/`, and the older `calicoctl node diags`, flat.
//!
//! Source: calico's `calicoctl/commands/cluster/diags.go` and `node/diags.go`.

use casefile_bundle::{Entry, entry};

use super::kubernetes_dirs::{everywhere, is_read, log};
use super::node_files::journal;
use super::{Capture, Identity, Layout, Survey, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "calico-diags",
    title: "calicoctl diagnostics",
    recognise: |survey| {
        let mut roots = survey.roots_with("cluster/kubernetes/", &[entry::NODES, "cluster/crd/"]);
        roots.retain(|root| survey.has_folder(&format!("{root}cluster/crd/")));
        // A node's diagnostics.
        roots.extend(survey.roots("journalctl_calico_node"));
        roots.sort();
        roots.dedup();
        roots
    },
    identity: |survey: &Survey, root| Identity {
        node: survey.line(&format!("{root}hostname")),
        ..Identity::default()
    },
    map,
};

fn map(survey: &Survey, capture: &Capture, path: &str) -> Target {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        ["cluster", "kubernetes", file] => objects(survey, capture, path, file),
        ["cluster", "calico-system" | "tigera-operator", _] => Target::Double,
        ["nodes", node, file] => match of_node(file) {
            Some(known) => Target::As(Entry::Node(node, known).path()),
            None => Target::Unknown,
        },
        // The log of all containers of a pod, and of one container before its restart.
        ["nodes", _, namespace, file] => match file.strip_suffix(".previous.log") {
            Some(name) => match name.rsplit_once('.') {
                Some((pod, container)) => Target::As(log(namespace, pod, container, true)),
                None => Target::Loose,
            },
            None => match file.strip_suffix(".log") {
                Some(pod) => Target::As(log(namespace, pod, "all", false)),
                None => Target::Loose,
            },
        },
        // Links to the same logs.
        ["links", ..] => Target::Double,
        [file] => match flat(file) {
            Some(known) => capture.of_node(&known),
            None => Target::Unknown,
        },
        ["logs", ..] => Target::Loose,
        _ => Target::Unknown,
    }
}

fn objects(survey: &Survey, capture: &Capture, path: &str, file: &str) -> Target {
    let (name, ending) = file.rsplit_once('.').unwrap_or((file, ""));
    let plural = match name {
        "pv" => "persistentvolumes",
        "pvc" => "persistentvolumeclaims",
        name => name,
    };
    let yaml = format!("{}{}", capture.root, path.replace(".txt", ".yaml"));
    match ending {
        "yaml" if is_read(plural) => Target::Yaml(everywhere(plural)),
        "txt" if survey.has(&yaml) => Target::Double,
        "txt" => Target::Loose,
        _ => Target::Unknown,
    }
}

fn of_node(file: &str) -> Option<&'static str> {
    Some(match file {
        "iptables-legacy-save.txt" => "commands/iptables-legacy-save.out",
        "iptables-nft-save.txt" => "commands/iptables-save.out",
        "nft-ruleset.txt" => "commands/nft-list-ruleset.out",
        "ip-route.txt" => "commands/ip-route.out",
        "ip-addr.txt" => "commands/ip-addr.out",
        _ => return None,
    })
}

/// A file of `calicoctl node diags`.
fn flat(file: &str) -> Option<String> {
    Some(match file {
        "ipv4_route" => "commands/ip-route.out".to_owned(),
        "ipv4_addr" => "commands/ip-addr.out".to_owned(),
        "nft_ruleset" => "commands/nft-list-ruleset.out".to_owned(),
        "ipv4_tables" => "commands/iptables-save.out".to_owned(),
        "ipv6_tables" => "commands/ip6tables-save.out".to_owned(),
        "journalctl_calico_node" => journal("calico-node"),
        _ => return None,
    })
}
