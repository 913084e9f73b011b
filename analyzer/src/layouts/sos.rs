//! sos reports: `sos_commands/<plugin>/<mangled command>` beside copied files of the node.

use casefile_bundle::entry;

use super::node_files::{copied, journal, printed, typed};
use super::survey::without_packing;
use super::{Capture, Identity, Layout, Survey, Target, kubernetes_dirs, taken};

pub(super) static LAYOUT: Layout = Layout {
    id: "sos",
    title: "sos report",
    recognise: |survey| survey.roots("sos_commands/"),
    identity,
    map,
};

fn identity(survey: &Survey, root: &str) -> Identity {
    let line = |path: &str| survey.line(&format!("{root}{path}"));
    let node = [
        "hostname",
        "sos_commands/host/hostname",
        "etc/hostname",
        "proc/sys/kernel/hostname",
    ]
    .iter()
    .find_map(|path| line(path));
    let version = line("version.txt").map(|text| match text.split_once(':') {
        Some((_, version)) => version.trim().to_owned(),
        None => text,
    });
    Identity {
        node,
        taken: survey.get(&format!("{root}date")).and_then(|date| {
            // `date`, or `timedatectl`, which also prints the hardware's clock.
            let text = date.text();
            let mut lines = text.lines().filter(|line| !line.contains("RTC"));
            lines.find_map(taken::moment)
        }),
        version,
        ..Identity::default()
    }
}

fn map(survey: &Survey, capture: &Capture, path: &str) -> Target {
    if let Some(file) = copied(path) {
        return capture.of_node(&file);
    }
    let Some(command) = path.strip_prefix("sos_commands/") else {
        return Target::Unknown;
    };
    let (plugin, name) = command.split_once('/').unwrap_or(("", command));
    let name = without_packing(name);
    match plugin {
        "logs" | "systemd" if name.starts_with("journalctl_") => {
            journals(survey, capture, plugin, name)
        }
        "kubernetes" | "openshift" => cluster(name),
        "containerd" if name == "containerd_config_dump" => {
            capture.of_node("commands/containerd-config-dump.out")
        }
        // Outputs of network namespaces are not the node's.
        "networking" if name.starts_with("ip_netns_exec") => Target::Unknown,
        _ if name.starts_with("systemctl_status_") => {
            capture.of_node(&format!("commands/{name}.out"))
        }
        _ => match printed(&typed(name)) {
            Some(known) => capture.of_node(known),
            None => Target::Unknown,
        },
    }
}

/// The journal as one file, or boot by boot where that is all there is.
fn journals(survey: &Survey, capture: &Capture, plugin: &str, name: &str) -> Target {
    let all = format!(
        "{}sos_commands/{plugin}/journalctl_--no-pager",
        capture.root
    );
    let whole = survey.get(&all).is_some_and(|entry| !entry.head.is_empty());
    match name {
        "journalctl_--no-pager" => capture.of_node(&journal("journal")),
        "journalctl_--list-boots" => capture.of_node("commands/journal-boots.out"),
        _ if whole => Target::Double,
        _ if name.ends_with("--boot_-1") || name.ends_with("--boot_-1_--catalog") => {
            capture.of_node("journal/journal-previous")
        }
        _ if name.contains("--boot") => capture.of_node(&journal("journal")),
        _ => match name.split("--unit_").nth(1) {
            Some(unit) => capture.of_node(&journal(unit)),
            None => Target::Unknown,
        },
    }
}

/// What the plugin of Kubernetes asked the API server for: tables and descriptions, or a dump.
fn cluster(name: &str) -> Target {
    let dumped = name.strip_prefix(entry::CLUSTER).and_then(|below| {
        let parts: Vec<&str> = below.split('/').collect();
        match parts.as_slice() {
            [namespace, "podlogs", pod, file] => {
                let container = file.trim_end_matches(".log");
                let previous = container.ends_with("-previous");
                let container = container.trim_end_matches("-previous");
                Some(Target::As(kubernetes_dirs::log(
                    namespace, pod, container, previous,
                )))
            }
            _ => kubernetes_dirs::dump(below),
        }
    });
    dumped.unwrap_or(Target::Loose)
}
