//! Rancher's support-bundle-kit, which Harvester and Longhorn use: a zip that holds a zip a node.
//!
//! Source: support-bundle-kit's `pkg/manager/cluster.go`, `collectors/` and `hack/collector-*`, and its README for the older names.

use casefile_bundle::Entry;

use super::kubernetes_dirs::{PartLines, is_of, is_read, list, log};
use super::node_files::{copied, journal};
use super::{Capture, Identity, Layout, Part, Survey, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "support-bundle-kit",
    title: "Harvester or Longhorn support bundle",
    recognise: |survey| {
        let mut roots = survey.roots_with("yamls/", &["yamls/cluster/", "yamls/namespaced/"]);
        // Where no API server answered there are no objects, but what is said of that.
        roots.extend(survey.roots("bundleGenerationError.log"));
        roots.sort();
        roots.dedup();
        roots
    },
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
        ["metadata.yaml" | "bundleGenerationError.log"] => Target::Loose,
        ["yamls", ..] => match ours(&parts) {
            Of::Kept(_) => Target::Split(objects),
            Of::Again => Target::Double,
            Of::Other => Target::Unknown,
        },
        ["logs", namespace, pod, file] => match file.strip_suffix(".log.1") {
            Some(container) => Target::As(log(namespace, pod, container, true)),
            None => match file.strip_suffix(".log") {
                Some(container) => Target::As(log(namespace, pod, container, false)),
                None => Target::Unknown,
            },
        },
        ["nodes", .., "hostinfos", "hostinfo"] => Target::Split(host_info),
        ["nodes", ..] => {
            let (node, rest) = inside(&parts);
            of_node(rest).map_or(Target::Unknown, |file| {
                Target::As(Entry::Node(node, &file).path())
            })
        }
        _ => Target::Unknown,
    }
}

/// The node of a path below `nodes/`, and what is behind it: the archive holds a folder with the node's name again.
fn inside<'a, 'p>(parts: &'p [&'a str]) -> (&'a str, &'p [&'a str]) {
    let [_, node, rest @ ..] = parts else {
        return (super::UNNAMED, &[]);
    };
    let node = node.trim_end_matches(".zip");
    match rest {
        [again, rest @ ..] if *again == node => (node, rest),
        rest => (node, rest),
    }
}

/// Longhorn's `hostinfo`: `os-release : ` and the like, each above its indented lines.
fn host_info(capture: &Capture, path: &str, text: &str) -> Vec<Part> {
    let below = path.strip_prefix(&capture.root).unwrap_or(path);
    let parts: Vec<&str> = below.split('/').collect();
    let (node, _) = inside(&parts);
    let mut found: Vec<Part> = Vec::new();
    let mut open = false;
    for (line, number) in text.lines().zip(1_u32..) {
        let file = match line.trim_end() {
            "hostname :" => "rootfs/etc/hostname",
            "os-release :" => "rootfs/etc/os-release",
            "system-info :" => "commands/uname.out",
            line => {
                open &= line.starts_with([' ', '\t']);
                if let Some(part) = found.last_mut().filter(|_| open) {
                    part.text += line.trim_start();
                    part.text.push('\n');
                }
                continue;
            }
        };
        open = true;
        found.push(Part {
            path: Entry::Node(node, file).path(),
            line: number.saturating_add(1),
            text: String::new(),
        });
    }
    found
}

/// What a list of objects is.
enum Of {
    /// One of ours, by this path.
    Kept(String),
    /// The objects of another one, as a second group has them.
    Again,
    /// Not read.
    Other,
}

/// The list of a path `yamls/cluster/<group>/<version>/<plural>.yaml` or `yamls/namespaced/<namespace>/...`. The core group has no
/// name; older releases wrote `kubernetes` for all groups of Kubernetes.
fn ours(parts: &[&str]) -> Of {
    let (namespace, group, file) = match parts {
        ["yamls", "cluster", group @ .., file] => (None, group, file),
        ["yamls", "namespaced", namespace, group @ .., file] => (Some(*namespace), group, file),
        _ => return Of::Other,
    };
    let group = match group {
        [group, _, ..] => group,
        _ => "",
    };
    match file.strip_suffix(".yaml").filter(|plural| is_read(plural)) {
        Some("events") if group == "events.k8s.io" => Of::Again,
        Some(plural) if group == "extensions" && !plural.ends_with("policies") => Of::Again,
        Some(plural) if is_of(group, plural) => Of::Kept(list(plural, namespace)),
        _ => Of::Other,
    }
}

/// The objects, with what is empty in them: the tool writes a text `null` for every empty one and for most that are not set.
fn objects(capture: &Capture, path: &str, text: &str) -> Vec<Part> {
    let below = path.strip_prefix(&capture.root).unwrap_or(path);
    let parts: Vec<&str> = below.split('/').collect();
    let mut found = PartLines::default();
    if let Of::Kept(ours) = ours(&parts) {
        found.add_objects(&ours, 1, text, |json| json.replace(":\"null\"", ":\"\""));
    }
    found.finish()
}

fn of_node(parts: &[&str]) -> Option<String> {
    match parts {
        ["configs", rest @ ..] => copied(&rest.join("/")),
        ["hostinfos", "proc_mounts"] => Some("rootfs/proc/mounts".to_owned()),
        ["hostinfos", "multipath.conf"] => Some("rootfs/etc/multipath.conf".to_owned()),
        ["hostinfos", "processes_info"] => Some("commands/ps.out".to_owned()),
        ["logs", "kernel.log"] => Some("rootfs/var/log/kern.log".to_owned()),
        // The boot before, and the one before that.
        ["logs", "kernel.log.1"] => Some("rootfs/var/log/kern.log.boot-1".to_owned()),
        ["logs", "kernel.log.2"] => Some("rootfs/var/log/kern.log.boot-2".to_owned()),
        ["logs", "dmesg.log"] => Some("commands/dmesg.out".to_owned()),
        ["logs", "console.log"] => Some("rootfs/var/log/console.log".to_owned()),
        ["logs", "containerd-images.log"] => None,
        // With their rotations.
        ["logs", file] if file.starts_with("syslog") || file.starts_with("messages") => {
            Some(format!("rootfs/var/log/{file}"))
        }
        ["logs", file] => {
            let unit = file.trim_end_matches(".log");
            Some(journal(unit.strip_suffix("-service").unwrap_or(unit)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_namings_of_objects_and_the_zip_of_a_node_are_understood() {
        let survey = Survey::default();
        let capture = capture();
        let path = |file: &str| match map(&survey, &capture, file) {
            Target::As(path) => path,
            Target::Split(_) => match ours(&file.split('/').collect::<Vec<_>>()) {
                Of::Kept(path) => path,
                _ => String::new(),
            },
            Target::Double => "again".to_owned(),
            _ => String::new(),
        };
        for (file, expected) in [
            (
                "yamls/cluster/v1/nodes.yaml",
                "cluster-resources/nodes.json",
            ),
            (
                "yamls/cluster/kubernetes/nodes.yaml",
                "cluster-resources/nodes.json",
            ),
            // What measures nodes, and what Longhorn calls one.
            ("yamls/cluster/metrics.k8s.io/v1beta1/nodes.yaml", ""),
            (
                "yamls/namespaced/longhorn-system/longhorn.io/v1beta2/nodes.yaml",
                "",
            ),
            (
                "yamls/namespaced/kube-system/v1/pods.yaml",
                "cluster-resources/pods/kube-system.json",
            ),
            (
                "yamls/namespaced/kube-system/apps/v1/daemonsets.yaml",
                "cluster-resources/daemonsets/kube-system.json",
            ),
            (
                "yamls/namespaced/kube-system/events.k8s.io/v1/events.yaml",
                "again",
            ),
            (
                "logs/kube-system/p/c.log.1",
                "cluster-resources/pods/logs/kube-system/p/c-previous.log",
            ),
            (
                "nodes/n1.zip/n1/logs/kernel.log.1",
                "nodes/n1/rootfs/var/log/kern.log.boot-1",
            ),
            (
                "nodes/n1.zip/logs/rke2-agent.log",
                "nodes/n1/journal/rke2-agent.service",
            ),
            (
                "nodes/n1.zip/n1/logs/k3s-agent-service.log",
                "nodes/n1/journal/k3s-agent.service",
            ),
            (
                "nodes/n1.zip/n1/logs/syslog.1",
                "nodes/n1/rootfs/var/log/syslog.1",
            ),
            (
                "nodes/n1.zip/n1/configs/etc/os-release",
                "nodes/n1/rootfs/etc/os-release",
            ),
        ] {
            assert_eq!(path(file), expected, "{file}");
        }
    }

    #[test]
    fn a_text_null_is_what_is_empty() {
        let text = "apiVersion: v1\nitems:\n- kind: PersistentVolumeClaim\n  metadata:\n    name: a\n  spec:\n    storageClassName: \"null\"\n- metadata:\n    name: nullable\nkind: List\n";
        let path = "yamls/namespaced/default/v1/persistentvolumeclaims.yaml";
        let parts = objects(&capture(), path, text);
        assert_eq!(parts[0].line, 3);
        let lines: Vec<&str> = parts[0].text.lines().collect();
        assert!(
            lines[0].contains("\"storageClassName\":\"\""),
            "{}",
            lines[0]
        );
        // Five lines of the first stand between the two.
        assert!(lines[5].contains("nullable"));
    }

    #[test]
    fn longhorns_host_is_described_in_one_file() {
        let text = "hostname : \n \tn1\nos-release : \n \tID=ubuntu\n\tVERSION_ID=\"24.04\"\nsystem-info : \n \tLinux n1 6.8.0-79-generic #79 SMP x86_64\n";
        let found = host_info(&capture(), "nodes/n1.zip/hostinfos/hostinfo", text);
        let found: Vec<(&str, u32, &str)> = found
            .iter()
            .map(|part| (part.path.as_str(), part.line, part.text.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                ("nodes/n1/rootfs/etc/hostname", 2, "n1\n"),
                (
                    "nodes/n1/rootfs/etc/os-release",
                    4,
                    "ID=ubuntu\nVERSION_ID=\"24.04\"\n"
                ),
                (
                    "nodes/n1/commands/uname.out",
                    7,
                    "Linux n1 6.8.0-79-generic #79 SMP x86_64\n"
                ),
            ]
        );
    }

    fn capture() -> Capture {
        Capture {
            format: "x",
            title: "x",
            root: String::new(),
            identity: Identity::default(),
        }
    }
}
