//! Rancher's support-bundle-kit, which Harvester and Longhorn use: a zip that holds a zip a node.
//!
//! Source: support-bundle-kit's `pkg/manager/cluster.go`, `collectors/` and `hack/collector-*`, and its README for the older names.

use casefile_bundle::Entry;

use super::kubernetes_dirs::{is_read, list, log};
use super::node_files::{copied, journal};
use super::{Capture, Identity, Layout, Survey, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "support-bundle-kit",
    title: "Harvester or Longhorn support bundle",
    recognise: |survey| survey.roots_with("yamls/", &["yamls/cluster/", "yamls/namespaced/"]),
    identity: |survey: &Survey, root| {
        let meta = survey.get(&format!("{root}metadata.yaml"));
        let text = meta.map(|entry| entry.text().into_owned());
        let text = text.unwrap_or_default();
        let said = |key: &str| {
            let mut lines = text.lines();
            let value = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
            let value = value.trim().trim_matches(['"', '\'']);
            (!value.is_empty()).then(|| value.to_owned())
        };
        Identity {
            version: said("bundleversion").or_else(|| said("bundleVersion")),
            kubernetes: said("kubernetesversion").or_else(|| said("kubernetesVersion")),
            ..Identity::default()
        }
    },
    map,
};

fn map(_: &Survey, _: &Capture, path: &str) -> Target {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        ["yamls", "cluster", .., file] => objects(file, None),
        ["yamls", "namespaced", namespace, .., file] => objects(file, Some(namespace)),
        ["logs", namespace, pod, file] => match file.strip_suffix(".log.1") {
            Some(container) => Target::As(log(namespace, pod, container, true)),
            None => match file.strip_suffix(".log") {
                Some(container) => Target::As(log(namespace, pod, container, false)),
                None => Target::Unknown,
            },
        },
        ["nodes", node, rest @ ..] => {
            let node = node.trim_end_matches(".zip");
            // The archive holds a folder with the node's name again.
            let rest = match rest {
                [again, rest @ ..] if *again == node => rest,
                rest => rest,
            };
            of_node(rest).map_or(Target::Unknown, |file| {
                Target::As(Entry::Node(node, &file).path())
            })
        }
        _ => Target::Unknown,
    }
}

fn objects(file: &str, namespace: Option<&str>) -> Target {
    match file.strip_suffix(".yaml") {
        Some(plural) if is_read(plural) => Target::Yaml(list(plural, namespace)),
        _ => Target::Unknown,
    }
}

fn of_node(parts: &[&str]) -> Option<String> {
    match parts {
        ["configs", rest @ ..] => copied(&rest.join("/")),
        ["logs", "kernel.log"] => Some("rootfs/var/log/kern.log".to_owned()),
        // The boot before, and the one before that.
        ["logs", "kernel.log.1"] => Some("rootfs/var/log/kern.log.boot-1".to_owned()),
        ["logs", "kernel.log.2"] => Some("rootfs/var/log/kern.log.boot-2".to_owned()),
        ["logs", "console.log"] => Some("rootfs/var/log/console.log".to_owned()),
        ["logs", "containerd-images.log"] => None,
        ["logs", "syslog" | "messages"] => Some(journal(parts[1])),
        ["logs", file] => Some(journal(file)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_namings_of_objects_and_the_zip_of_a_node_are_understood() {
        let survey = Survey::default();
        let capture = Capture {
            format: "x",
            title: "x",
            root: String::new(),
            identity: Identity::default(),
        };
        let path = |file: &str| match map(&survey, &capture, file) {
            Target::As(path) | Target::Yaml(path) => path,
            _ => String::new(),
        };
        assert_eq!(
            [
                path("yamls/cluster/v1/nodes.yaml"),
                path("yamls/cluster/kubernetes/nodes.yaml"),
                path("yamls/namespaced/kube-system/v1/pods.yaml"),
                path("logs/kube-system/p/c.log.1"),
                path("nodes/n1.zip/n1/logs/kernel.log.1"),
                path("nodes/n1.zip/logs/rke2-agent.log"),
                path("nodes/n1.zip/n1/configs/etc/os-release"),
            ],
            [
                "cluster-resources/nodes.json",
                "cluster-resources/nodes.json",
                "cluster-resources/pods/kube-system.json",
                "cluster-resources/pods/logs/kube-system/p/c-previous.log",
                "nodes/n1/rootfs/var/log/kern.log.boot-1",
                "nodes/n1/journal/rke2-agent.service",
                "nodes/n1/rootfs/etc/os-release",
            ]
        );
    }
}
