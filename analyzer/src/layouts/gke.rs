//! Nodes of GKE: Kubernetes' `log-dump.sh` (a folder a node, with its serial console), and the snapshots of `bmctl` and `gkectl`.
//! Images of Container-Optimized OS have sos, which is a format of its own.
//!
//! Source: kubernetes' `cluster/log-dump/log-dump.sh`; the list of a snapshot's commands in Google's documentation.

use casefile_bundle::Entry;

use super::host_log::host;
use super::kubernetes_dirs::list;
use super::node_files::{copied, journal, printed};
use super::survey::without_packing;
use super::{Capture, Identity, Layout, Survey, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "gke-node-logs",
    title: "GKE node logs or cluster snapshot",
    recognise: |survey| {
        let mut roots: Vec<String> = Vec::new();
        for entry in &survey.entries {
            let folder = entry.path.strip_suffix("/serial-1.log");
            if let Some((root, _)) = folder.map(|one| one.rsplit_once('/').unwrap_or(("", one))) {
                let root = match root {
                    "" => String::new(),
                    root => format!("{root}/"),
                };
                roots.push(root);
            }
        }
        // One node's folder by itself.
        if survey.has("serial-1.log") {
            roots.push(String::new());
        }
        roots.extend(survey.roots("kubectlCommands/"));
        roots.extend(survey.roots("nodes/kubectl_get_nodes.yaml"));
        roots.sort();
        roots.dedup();
        roots
    },
    identity: |survey: &Survey, root| {
        let logs = ["kern.log", "systemd.log", "kubelet.log"];
        let mut heads = logs
            .iter()
            .filter_map(|log| survey.get(&format!("{root}{log}")));
        Identity {
            node: heads.find_map(host),
            ..Identity::default()
        }
    },
    map,
};

fn map(_: &Survey, capture: &Capture, path: &str) -> Target {
    let parts: Vec<&str> = path.split('/').collect();
    let on = |node: &str, path: &str| Target::As(Entry::Node(node, path).path());
    match parts.as_slice() {
        ["kubectlCommands" | "kubectlLogs", ..] => Target::Loose,
        ["nodes", node, "commands", rest @ ..] => {
            let typed = rest.join("/").replace('_', " ");
            let typed = typed.trim_start_matches("sudo ");
            printed(typed).map_or(Target::Loose, |known| on(node, known))
        }
        ["nodes", node, "files", rest @ ..] => {
            copied(&rest.join("/")).map_or(Target::Unknown, |file| on(node, &file))
        }
        // What `log-dump.sh` asks of the cluster.
        ["nodes", "kubectl_get_nodes.yaml"] => Target::Yaml(list("nodes", None)),
        ["nodes", ..] => Target::Unknown,
        [node, file] => log(file).map_or(Target::Unknown, |path| on(node, &path)),
        [file] => log(file).map_or(Target::Unknown, |path| capture.of_node(&path)),
        _ => Target::Unknown,
    }
}

/// Our path of a log below its node's folder; rotations keep their names, `kube-proxy.log-20261119-1763600000.gz`.
fn log(file: &str) -> Option<String> {
    let file = without_packing(file);
    let Some(name) = file.strip_suffix(".log") else {
        let rotated = file.contains(".log-") || file.contains(".log.");
        return rotated.then(|| format!("rootfs/var/log/{file}"));
    };
    Some(match name {
        "kern" => "rootfs/var/log/kern.log".to_owned(),
        "systemd" => journal("journal"),
        serial if serial.starts_with("serial-") => format!("rootfs/var/log/dmesg-{serial}"),
        unit => journal(unit),
    })
}
