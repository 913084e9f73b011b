//! Rancher's logs collector for RKE2, k3s and kubeadm nodes.

use super::node_files::{journal, printed};
use super::survey::without_packing;
use super::{Capture, Identity, Layout, Survey, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "rancher-logs-collector",
    title: "Rancher logs collector",
    recognise: |survey| {
        survey.roots_with(
            "systeminfo/",
            &["journald/", "networking/", "rke2/", "k3s/", "systemlogs/"],
        )
    },
    identity: |survey: &Survey, root| Identity {
        node: survey
            .line(&format!("{root}systeminfo/hostname"))
            .or_else(|| uname(survey, root)),
        version: None,
        ..Identity::default()
    },
    map,
};

fn uname(survey: &Survey, root: &str) -> Option<String> {
    let line = survey.line(&format!("{root}systeminfo/uname"))?;
    line.split_whitespace().nth(1).map(str::to_owned)
}

fn map(_: &Survey, capture: &Capture, path: &str) -> Target {
    let path = without_packing(path);
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        ["journald", unit] => capture.of_node(&journal(unit)),
        ["systemlogs", file] => capture.of_node(&format!("rootfs/var/log/{file}")),
        [_, "agent-logs" | "server-logs", file] => {
            capture.of_node(&format!("rootfs/var/log/{file}"))
        }
        [_, "kubectl", ..] => Target::Loose,
        [_, "podlogs", file] => pod_log(file),
        [_, "crictl", "info"] => capture.of_node("commands/crictl-info.out"),
        ["systeminfo" | "networking", file] => system(capture, file),
        ["networking", "cni", file] => capture.of_node(&format!("rootfs/etc/cni/net.d/{file}")),
        ["docker", "etcdockerdaemon.json"] => capture.of_node("rootfs/etc/docker/daemon.json"),
        _ => Target::Unknown,
    }
}

fn system(capture: &Capture, file: &str) -> Target {
    let known = match file {
        "osrelease" => Some("rootfs/etc/os-release"),
        "etchosts" => Some("rootfs/etc/hosts"),
        "etcresolvconf" => Some("rootfs/etc/resolv.conf"),
        "sysctla" => Some("commands/sysctl.out"),
        "dfh" => Some("commands/df.out"),
        "dfi" => Some("commands/df-inodes.out"),
        "iptablessave" => Some("commands/iptables-save.out"),
        "ip6tablessave" => Some("commands/ip6tables-save.out"),
        "nft_ruleset" => Some("commands/nft-list-ruleset.out"),
        "ipaddrshow" => Some("commands/ip-addr.out"),
        "iproute" => Some("commands/ip-route.out"),
        "ubuntu-ufw" => Some("commands/ufw-status-verbose.out"),
        _ => printed(file),
    };
    known.map_or(Target::Unknown, |known| capture.of_node(known))
}

/// `<namespace>-<pod>`: where one ends is told by the namespaces that all clusters have.
fn pod_log(file: &str) -> Target {
    const NAMESPACES: [&str; 9] = [
        "kube-system",
        "cattle-system",
        "cattle-fleet-system",
        "cattle-monitoring-system",
        "calico-system",
        "tigera-operator",
        "gpu-operator",
        "ingress-nginx",
        "default",
    ];
    let previous = file.ends_with("-previous");
    let name = file.trim_end_matches("-previous");
    let known = NAMESPACES
        .iter()
        .find_map(|namespace| Some((*namespace, name.strip_prefix(namespace)?.strip_prefix('-')?)));
    match known {
        Some((namespace, pod)) => {
            Target::As(super::kubernetes_dirs::log(namespace, pod, "all", previous))
        }
        None => Target::Loose,
    }
}
