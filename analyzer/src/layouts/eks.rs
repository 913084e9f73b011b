//! The log collector of EKS nodes (`eks-log-collector.sh`).

use super::node_files::journal;
use super::{Capture, Identity, Layout, Survey, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "eks-log-collector",
    title: "EKS log collector",
    recognise: |survey| {
        let mut roots = survey.roots("system/instance-id.txt");
        roots.extend(
            survey
                .roots("ipamd/")
                .into_iter()
                .filter(|root| survey.has_folder(&format!("{root}kubelet/"))),
        );
        roots.sort();
        roots.dedup();
        roots
    },
    identity: |survey: &Survey, root| {
        let line = survey.line(&format!("{root}kernel/uname.txt"));
        let node = line.and_then(|line| line.split_whitespace().nth(1).map(str::to_owned));
        Identity {
            node,
            ..Identity::default()
        }
    },
    map,
};

fn map(_: &Survey, capture: &Capture, path: &str) -> Target {
    let known = match path {
        "kernel/dmesg.current" | "kernel/dmesg.boot" => "commands/dmesg.out",
        "kernel/uname.txt" => "commands/uname.out",
        "sysctls/sysctl_all.txt" => "commands/sysctl.out",
        "networking/iptables-save.txt" => "commands/iptables-save.out",
        "networking/ip6tables-save.txt" => "commands/ip6tables-save.out",
        "networking/iproute.txt" => "commands/ip-route.out",
        "networking/iprule.txt" => "commands/ip-rule.out",
        "networking/resolv.conf" => "rootfs/etc/resolv.conf",
        "kubelet/config.json" => "rootfs/etc/kubernetes/kubelet/config.json",
        "kubelet/kubelet-config.json" => "rootfs/etc/kubernetes/kubelet/kubelet-config.json",
        "storage/inodes.txt" => "commands/df-inodes.out",
        "containerd/containerd-config.txt" => "rootfs/etc/containerd/config.toml",
        "storage/mounts.txt" => "rootfs/proc/mounts",
        _ => return other(capture, path),
    };
    capture.of_node(known)
}

fn other(capture: &Capture, path: &str) -> Target {
    match path {
        "kubelet/kubelet.log" => capture.of_node(&journal("kubelet")),
        "containerd/containerd-log.txt" => capture.of_node(&journal("containerd")),
        "docker/docker.log" => capture.of_node(&journal("docker")),
        _ => match path.split_once('/') {
            Some(("var_log", file)) => capture.of_node(&format!("rootfs/var/log/{file}")),
            Some(("gpu", _)) => Target::Unknown,
            Some(("cni", file)) if file.ends_with("list") || file.ends_with("conf") => {
                capture.of_node(&format!("rootfs/etc/cni/net.d/{file}"))
            }
            Some(("nodeadm", file)) => capture.of_node(&journal(file)),
            Some(("ipamd", file)) if file.ends_with(".log") => {
                capture.of_node(&format!("rootfs/var/log/aws-routed-eni/{file}"))
            }
            _ => Target::Unknown,
        },
    }
}
