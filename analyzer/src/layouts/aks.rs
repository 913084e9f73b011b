//! The log collector of AKS nodes (`aks-log-collector.sh`): a zip of copied files, and `collect/` with what commands printed.
//!
//! Source: AgentBaker's `parts/linux/cloud-init/artifacts/aks-log-collector.sh`.

use super::host_log::host;
use super::node_files::{copied, journal};
use super::{Capture, Identity, Layout, Survey, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "aks-log-collector",
    title: "AKS log collector",
    recognise: |survey| {
        let mut roots = survey.roots("collect/");
        roots.retain(|root| {
            let has = |path: &str| survey.below(&format!("{root}{path}")).next().is_some();
            // Releases before 2025 kept what is below /proc beside the outputs.
            (has("proc/") || has("collect/proc/"))
                && (has("collect/systemctl-status.txt") || has("collect/ip_"))
        });
        roots
    },
    identity: |survey: &Survey, root| {
        let logs = ["var/log/syslog", "var/log/azure/"];
        let mut heads = logs
            .iter()
            .flat_map(|path| survey.below(&format!("{root}{path}")));
        Identity {
            // Where no system log is kept as text, the name that the node gives itself.
            node: heads
                .find_map(host)
                .or_else(|| survey.line(&format!("{root}etc/hostname"))),
            ..Identity::default()
        }
    },
    map,
};

fn map(_: &Survey, capture: &Capture, path: &str) -> Target {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        // The journal's own files.
        ["var", "log", "journal", ..] => Target::Unknown,
        ["collect", "proc", ..] => {
            let file = path.strip_prefix("collect/").and_then(copied);
            file.map_or(Target::Unknown, |file| capture.of_node(&file))
        }
        ["collect", file] => printed(file).map_or(Target::Unknown, |file| capture.of_node(&file)),
        // Of a network namespace, whose node is not told from others' by the names.
        ["collect", ..] => Target::Unknown,
        _ => copied(path).map_or(Target::Unknown, |file| capture.of_node(&file)),
    }
}

/// What a command printed: `ip` as JSON, as we have it as well.
fn printed(file: &str) -> Option<String> {
    let known = match file {
        "crictl_info.json" => "crictl-info",
        "ip_4_addr.json" => "ip-addr",
        "ip_4_neighbor.json" => "ip-neigh",
        "ip_4_route.json" => "ip-route",
        "ip_6_route.json" => "ip6-route",
        "ip_link.json" => "ip-link",
        "ip_rule.json" => "ip-rule",
        "nftables.txt" => "nft-list-ruleset",
        "sysctl.txt" => "sysctl",
        "lspci.txt" => "lspci",
        "du_bytes.txt" => "df",
        "du_inodes.txt" => "df-inodes",
        "systemctl-status.txt" => "systemctl-status",
        _ => {
            let unit = file.strip_prefix("journalctl_")?.strip_suffix(".txt")?;
            return Some(journal(unit));
        }
    };
    Some(format!("commands/{known}.out"))
}
