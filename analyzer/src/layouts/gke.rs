//! Nodes of GKE: Kubernetes' `log-dump.sh` (a folder a node, with its serial console), and the snapshots of `bmctl` and `gkectl`.
//! Images of Container-Optimized OS have sos, which is a format of its own.
//!
//! Source: kubernetes' `cluster/log-dump/log-dump.sh`; the list of a snapshot's commands in Google's documentation.

use super::node_files::{copied, journal, printed};
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
        roots.extend(survey.roots("kubectlCommands/"));
        roots.sort();
        roots.dedup();
        roots
    },
    identity: |_, _| Identity::default(),
    map,
};

fn map(_: &Survey, _: &Capture, path: &str) -> Target {
    let parts: Vec<&str> = path.split('/').collect();
    let on = |node: &str, path: &str| Target::As(format!("nodes/{node}/{path}"));
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
        [node, file] => match file.strip_suffix(".log") {
            Some("kern") => on(node, "rootfs/var/log/kern.log"),
            Some("systemd") => on(node, &journal("journal")),
            Some(serial) if serial.starts_with("serial-") => {
                on(node, &format!("rootfs/var/log/dmesg-{serial}"))
            }
            Some(unit) => on(node, &journal(unit)),
            None => Target::Unknown,
        },
        _ => Target::Unknown,
    }
}
