//! `calicoctl cluster diags`: `nodes/<node>/`, `cluster/kubernetes/`, and the older `calicoctl node diags`, flat.
//!
//! Source: calico's `calicoctl/commands/cluster/diags.go` and `node/diags.go`.

use casefile_bundle::Entry;

use super::kubernetes_dirs::{everywhere, is_read, log};
use super::node_files::journal;
use super::{Capture, Identity, Layout, Survey, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "calico-diags",
    title: "calicoctl diagnostics",
    recognise: |survey| {
        let mut roots = survey.roots("cluster/kubernetes/");
        roots.retain(|root| {
            // Where Calico keeps its objects elsewhere it has no definitions of them.
            let beside = ["cluster/crd/", "cluster/calico-system/"];
            let folders = beside.map(|folder| survey.has_folder(&format!("{root}{folder}")));
            folders.contains(&true)
        });
        // A node's diagnostics; what failed there leaves no file.
        for mark in ["ipv4_route", "ipv4_tables", "journalctl_calico_node"] {
            let marked = survey.roots(mark).into_iter();
            roots.extend(marked.filter(|root| {
                let beside = ["date", "ipsets", "nft_ruleset", "ipv6_addr", "hostname"];
                let there = beside.map(|file| survey.has(&format!("{root}{file}")));
                there.into_iter().filter(|there| *there).count() > 1
            }));
        }
        roots.sort();
        roots.dedup();
        roots
    },
    identity: |survey: &Survey, root| {
        let version = survey.get(&format!("{root}cluster/version.yaml"));
        let text = version.map(|entry| entry.text().into_owned());
        Identity {
            node: survey.line(&format!("{root}hostname")),
            kubernetes: text.as_deref().and_then(servers_version),
            ..Identity::default()
        }
    },
    map,
};

/// The server's release, of `kubectl version -o yaml`.
fn servers_version(text: &str) -> Option<String> {
    let (_, server) = text.split_once("serverVersion:")?;
    let said = |line: &str| Some(line.trim_start().strip_prefix("gitVersion:")?.to_owned());
    let value = server.lines().find_map(said)?;
    Some(value.trim().trim_matches('"').to_owned())
}

/// Whether a file holds what kubectl said in the place of an output: the tool writes both into it.
fn is_refusal(survey: &Survey, path: &str) -> bool {
    let said = [
        "error: ",
        "Error from server",
        "Unable to connect to the server",
        "The connection to the server",
    ];
    let line = survey.line(path);
    line.is_some_and(|line| said.iter().any(|start| line.starts_with(start)))
}

fn map(survey: &Survey, capture: &Capture, path: &str) -> Target {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        ["cluster" | "nodes", ..] if is_refusal(survey, &format!("{}{path}", capture.root)) => {
            Target::Unknown
        }
        ["cluster", "kubernetes", file] => objects(survey, capture, path, file),
        ["cluster", "calico-system" | "tigera-operator", _] => Target::Double,
        ["cluster", "version.yaml"] => Target::Loose,
        ["nodes", node, file] => match of_node(file) {
            Some(known) => Target::As(Entry::Node(node, &known).path()),
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
        ["logs", "container_creation_time"] => Target::Unknown,
        // Logs of the components, and those of containers by their names or ids.
        ["logs", rest @ ..] => {
            capture.of_node(&format!("rootfs/var/log/calico/{}", rest.join("/")))
        }
        _ => Target::Unknown,
    }
}

fn objects(survey: &Survey, capture: &Capture, path: &str, file: &str) -> Target {
    let (name, ending) = file.rsplit_once('.').unwrap_or((file, ""));
    let plural = match name {
        "pv" => "persistentvolumes",
        "pvc" => "persistentvolumeclaims",
        "sc" => "storageclasses",
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

fn of_node(file: &str) -> Option<String> {
    let known = match file {
        "iptables-legacy-save.txt" => "commands/iptables-legacy-save.out",
        "iptables-nft-save.txt" => "commands/iptables-save.out",
        "nft-ruleset.txt" => "commands/nft-list-ruleset.out",
        "ip-route.txt" => "commands/ip-route.out",
        "ip-route-v6.txt" => "commands/ip6-route.out",
        "ip-rule.txt" => "commands/ip-rule.out",
        "ip-addr.txt" => "commands/ip-addr.out",
        "ip-link.txt" => "commands/ip-link.out",
        "ip-neigh.txt" => "commands/ip-neigh.out",
        "ipset-list.txt" => "commands/ipset-list.out",
        // The CNI plugin's logs, whose names end in `.log` a second time.
        _ => {
            let log = file.strip_suffix(".log")?;
            return Some(format!("rootfs/var/log/calico/cni/{log}"));
        }
    };
    Some(known.to_owned())
}

/// A file of `calicoctl node diags`.
fn flat(file: &str) -> Option<String> {
    Some(match file {
        "ipv4_route" => "commands/ip-route.out".to_owned(),
        "ipv6_route" => "commands/ip6-route.out".to_owned(),
        "ipv4_addr" => "commands/ip-addr.out".to_owned(),
        "nft_ruleset" => "commands/nft-list-ruleset.out".to_owned(),
        "ipv4_tables" => "commands/iptables-save.out".to_owned(),
        "ipv6_tables" => "commands/ip6tables-save.out".to_owned(),
        "ipsets" | "ipset_container" => format!("commands/{}.out", file.replace('_', "-")),
        "hostname" => "rootfs/etc/hostname".to_owned(),
        "journalctl_calico_node" => journal("calico-node"),
        _ => return None,
    })
}
