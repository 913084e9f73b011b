//! Inspection reports of MicroK8s and of Canonical Kubernetes (`k8s inspect`).

use super::node_files::{host_of, journal, printed};
use super::{Capture, Identity, Layout, Survey, Target, kubernetes_dirs};

pub(super) static LAYOUT: Layout = Layout {
    id: "snap-inspection-report",
    title: "MicroK8s or k8s-snap inspection report",
    recognise: |survey| {
        let mut roots: Vec<String> = Vec::new();
        for entry in &survey.entries {
            let unit = entry
                .path
                .strip_suffix("/journal.log")
                .or_else(|| entry.path.strip_suffix("/systemctl.log"));
            let Some(unit) = unit else { continue };
            let (root, name) = unit
                .rsplit_once('/')
                .map_or(("", unit), |(root, name)| (root, name));
            if name.starts_with("snap.microk8s.") || name.starts_with("k8s.") {
                roots.push(if root.is_empty() {
                    String::new()
                } else {
                    format!("{root}/")
                });
            }
        }
        roots.dedup();
        roots
    },
    identity: |survey: &Survey, root| {
        let paths = ["uname.log", "sys/uname", "network/uname"];
        let line = paths
            .iter()
            .find_map(|path| survey.line(&format!("{root}{path}")));
        let node = line.and_then(|line| line.split_whitespace().nth(1).map(str::to_owned));
        // MicroK8s asks for no name of the host; its journals do.
        let mut journals = survey
            .below(root)
            .filter(|entry| entry.path.ends_with("/journal.log"));
        let host =
            || journals.find_map(|entry| Some(entry.text().lines().find_map(host_of)?.to_owned()));
        Identity {
            node: node.or_else(host),
            ..Identity::default()
        }
    },
    map,
};

fn map(_: &Survey, capture: &Capture, path: &str) -> Target {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        [unit, "journal.log"] => {
            let unit = if unit.starts_with("k8s.") {
                format!("snap.{unit}")
            } else {
                (*unit).to_owned()
            };
            capture.of_node(&journal(&unit))
        }
        ["args", service] => {
            capture.of_node(&format!("rootfs/var/snap/microk8s/current/args/{service}"))
        }
        ["cluster-info", rest @ ..] => {
            kubernetes_dirs::dump(&rest.join("/")).unwrap_or(Target::Unknown)
        }
        ["k8s" | "kubectl", ..] => Target::Loose,
        ["sys", "etc-os-release"] => capture.of_node("rootfs/etc/os-release"),
        ["sys", "proc-mounts"] => capture.of_node("rootfs/proc/mounts"),
        ["sys", "disk_usage"] => capture.of_node("commands/df.out"),
        ["sys", "loaded_kernel_modules"] => capture.of_node("commands/lsmod.out"),
        ["apparmor", "dmesg"] => capture.of_node("commands/dmesg.out"),
        ["network", "ip-addr"] => capture.of_node("commands/ip-addr.out"),
        ["network", "ip-route"] => capture.of_node("commands/ip-route.out"),
        ["network", "iptables-S"] => Target::Loose,
        ["ip-a.log"] => capture.of_node("commands/ip-addr.out"),
        ["ip-r.log"] => capture.of_node("commands/ip-route.out"),
        ["network" | "sys", file] | [file] => match printed(file.trim_end_matches(".log")) {
            Some(known) => capture.of_node(known),
            None => Target::Unknown,
        },
        _ => Target::Unknown,
    }
}
