//! `kind export logs`: a folder a node, with the logs of its services and pods.

use casefile_bundle::Entry;

use super::kubernetes_dirs::log;
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

fn map(survey: &Survey, capture: &Capture, path: &str) -> Target {
    let parts: Vec<&str> = path.split('/').collect();
    let on = |node: &str, path: &str| Target::As(Entry::Node(node, path).path());
    match parts.as_slice() {
        [node, "kubelet.log"] => on(node, &journal("kubelet")),
        [node, "containerd.log"] => on(node, &journal("containerd")),
        // Holds the two above as well, among the rest.
        [node, "journal.log"] => on(node, &journal("journal")),
        [node, "serial.log"] => on(node, "rootfs/var/log/serial.log"),
        [_, "pods", pod, container, file] => {
            let folder = format!("{}{}", capture.root, parts[..4].join("/"));
            pod_log(survey, &folder, pod, container, file)
        }
        // The same logs by another name.
        [node, "containers", _] if survey.has_folder(&format!("{}{node}/pods/", capture.root)) => {
            Target::Double
        }
        [_, "containers", file] => container_link(file),
        _ => Target::Unknown,
    }
}

/// A log below `/var/log/containers`: `<pod>_<namespace>_<container>-<id>.log`.
pub(super) fn container_link(file: &str) -> Target {
    let parts: Vec<&str> = file.trim_end_matches(".log").split('_').collect();
    match parts.as_slice() {
        [pod, namespace, container] => {
            let container = container
                .rsplit_once('-')
                .map_or(*container, |(name, _)| name);
            Target::As(log(namespace, pod, container, false))
        }
        _ => Target::Unknown,
    }
}

/// A log below `/var/log/pods`: `<namespace>_<pod>_<uid>/<container>/<restart>.log`; the newest is the present one.
pub(super) fn pod_log(
    survey: &Survey,
    folder: &str,
    pod: &str,
    container: &str,
    file: &str,
) -> Target {
    let mut names = pod.splitn(3, '_');
    let (Some(namespace), Some(name)) = (names.next(), names.next()) else {
        return Target::Unknown;
    };
    let number = |file: &str| {
        file.split('.')
            .next()
            .and_then(|number| number.parse::<u32>().ok())
    };
    let Some(own) = number(file) else {
        return Target::Unknown;
    };
    let all = survey.below(&format!("{folder}/"));
    let newest = all
        .filter_map(|entry| number(entry.path.rsplit('/').next()?))
        .max()
        .unwrap_or(own);
    match newest.saturating_sub(own) {
        0 => Target::As(log(namespace, name, container, false)),
        1 => Target::As(log(namespace, name, container, true)),
        older => Target::As(log(
            namespace,
            name,
            &format!("{container}-before-{older}"),
            true,
        )),
    }
}
