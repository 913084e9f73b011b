//! The log collector of AKS nodes (`aks-log-collector.sh`): a zip of copied files, and `collect/` with what commands printed.
//!
//! Source: AgentBaker's `parts/linux/cloud-init/artifacts/aks-log-collector.sh`.

use super::host_log::host;
use super::kind_export::pod_log;
use super::node_files::copied;
use super::{Capture, Identity, Layout, Survey, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "aks-log-collector",
    title: "AKS log collector",
    recognise: |survey| {
        let mut roots = survey.roots("collect/");
        roots.retain(|root| {
            let has = |path: &str| survey.below(&format!("{root}{path}")).next().is_some();
            has("proc/") && (has("collect/systemctl-status.txt") || has("collect/ip_"))
        });
        roots
    },
    identity: |survey: &Survey, root| {
        let logs = ["var/log/syslog", "var/log/azure/"];
        let mut heads = logs
            .iter()
            .flat_map(|path| survey.below(&format!("{root}{path}")));
        Identity {
            node: heads.find_map(host),
            ..Identity::default()
        }
    },
    map,
};

fn map(survey: &Survey, capture: &Capture, path: &str) -> Target {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        ["var", "log", "pods", pod, container, file] => {
            let folder = format!("{}{}", capture.root, parts[..5].join("/"));
            pod_log(survey, &folder, pod, container, file)
        }
        // The journal's own files.
        ["var", "log", "journal", ..] => Target::Unknown,
        ["collect", ..] => Target::Unknown,
        _ => copied(path).map_or(Target::Unknown, |file| capture.of_node(&file)),
    }
}
