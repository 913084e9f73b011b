//! `kind export logs`: a folder a node, with the logs of its services and pods.

use casefile_bundle::Entry;

use super::node_files::journal;
use super::{Capture, Identity, Layout, Survey, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "kind-logs",
    title: "kind export logs",
    recognise: |survey| {
        let mut roots = survey.roots("kind-version.txt");
        roots.extend(survey.roots("docker-info.txt").into_iter().filter(|root| {
            survey
                .below(root)
                .any(|entry| entry.path.ends_with("/kubernetes-version.txt"))
        }));
        roots.sort();
        roots.dedup();
        roots
    },
    identity: |survey: &Survey, root| Identity {
        version: survey.line(&format!("{root}kind-version.txt")),
        kubernetes: survey
            .below(root)
            .find(|entry| entry.path.ends_with("/kubernetes-version.txt"))
            .and_then(|entry| survey.line(&entry.path)),
        ..Identity::default()
    },
    map,
};

fn map(_: &Survey, _: &Capture, path: &str) -> Target {
    let parts: Vec<&str> = path.split('/').collect();
    let on = |node: &str, path: &str| Target::As(Entry::Node(node, path).path());
    match parts.as_slice() {
        [node, "kubelet.log"] => on(node, &journal("kubelet")),
        [node, "containerd.log"] => on(node, &journal("containerd")),
        // Holds the two above as well, among the rest.
        [node, "journal.log"] => on(node, &journal("journal")),
        [node, "serial.log"] => on(node, "rootfs/var/log/serial.log"),
        _ => Target::Unknown,
    }
}
