//! Causes to plant: files of the examples inside rules.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use casefile_catalogue_files::examples::{Example, examples};
use serde_json::Value;

use super::Machine;

/// The forty causes. Each has an example that makes it the first cause of a bundle that is otherwise well, and that brings
/// no setting of its own.
pub const PLANTED: [&str; 40] = [
    "gpu-fallen-off-bus",
    "gpu-ecc-uncorrectable",
    "gsp-firmware-timeout",
    "gpu-hw-power-brake",
    "gpu-init-failed",
    "gpu-row-remap-pending",
    "gpu-thermal-violation",
    "nvlink-link-fault",
    "application-gpu-fault",
    "pcie-acs-iommu-p2p",
    "driver-library-version-mismatch",
    "driver-too-old-for-cuda",
    "driver-image-not-published",
    "open-kernel-modules-required",
    "secure-boot-blocks-module",
    "conflicting-gpu-kernel-driver",
    "fabric-manager-not-running",
    "fabric-manager-version-mismatch",
    "mig-change-blocked-by-gpu-client",
    "gpu-memory-exhausted",
    "cdi-hook-path-missing-on-host",
    "containerd-registry-config-conflict",
    "containerd-dropin-version-mismatch",
    "kubelet-cgroup-driver-mismatch",
    "runtimeclass-missing",
    "legacy-hook-ldconfig-killed",
    "image-pull-credentials",
    "image-corrupt-on-node",
    "imagefs-full",
    "inotify-watches-exhausted",
    "node-clock-skew",
    "cluster-certificate-expired",
    "cni-bin-dir-wrong-owner",
    "neighbour-table-overflow",
    "mtu-mismatch",
    "conntrack-table-full",
    "rwo-volume-held-by-live-pod",
    "nfs-client-missing-on-node",
    "shm-too-small",
    "nccl-socket-ifname-wrong",
];

/// A cause with the files that show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planted {
    /// Cause id.
    pub id: String,
    /// Name of the example.
    pub example: String,
    files: BTreeMap<String, String>,
}

/// The causes of [`PLANTED`], read from the rules: of each the first example that is confirmed.
///
/// # Errors
/// A rule that is not there, or without such an example.
pub fn planted(rules: &Path) -> anyhow::Result<Vec<Planted>> {
    let all = every(rules)?;
    PLANTED
        .iter()
        .map(|id| {
            let own = all.iter().find(|cause| cause.id == *id).cloned();
            own.with_context(|| format!("rule {id}: no example that can be planted"))
        })
        .collect()
}

/// Every cause that can be planted, in the order of ids.
///
/// # Errors
/// A folder or rule that cannot be read.
pub(super) fn every(rules: &Path) -> anyhow::Result<Vec<Planted>> {
    let mut found: BTreeMap<String, Planted> = BTreeMap::new();
    for entry in walkdir::WalkDir::new(rules).sort_by_file_name() {
        let entry = entry?;
        if entry
            .path()
            .extension()
            .is_none_or(|ending| ending != "yaml")
        {
            continue;
        }
        let text = std::fs::read_to_string(entry.path())?;
        let rule: Value =
            serde_saphyr::from_str(&text).with_context(|| entry.path().display().to_string())?;
        let id = entry.path().file_stem().unwrap_or_default();
        let id = id.to_string_lossy();
        let written = rule.get("examples").and_then(Value::as_array);
        let read = examples(written.map_or(&[], Vec::as_slice)).map_err(anyhow::Error::msg)?;
        for example in read {
            if let Some(planted) = of_example(&id, example) {
                found.entry(id.to_string()).or_insert(planted);
            }
        }
    }
    Ok(found.into_values().collect())
}

/// An example that is confirmed and that a node's bundle can hold: its own journal and files, or pasted lines, which
/// are then lines of the node's system log.
fn of_example(id: &str, example: Example) -> Option<Planted> {
    if example.verdict != "confirmed" {
        return None;
    }
    let mut files = BTreeMap::new();
    for (path, text) in example.files {
        if path == "pasted.txt" {
            files.insert("nodes/NODE/rootfs/var/log/syslog".to_owned(), text);
        } else if let Some(below) = path.strip_prefix("nodes/") {
            let (_, below) = below.split_once('/')?;
            files.insert(format!("nodes/NODE/{below}"), text);
        } else if path.starts_with("cluster-resources/pods/logs/") {
            files.insert(path, text);
        } else {
            return None;
        }
    }
    Some(Planted {
        id: id.to_owned(),
        example: example.name,
        files,
    })
}

impl Planted {
    /// Puts it onto a node's files; a file that is there gets more lines.
    pub(super) fn onto(&self, machine: &Machine, files: &mut BTreeMap<String, String>) {
        for (path, text) in &self.files {
            let path = path.replace("NODE", &machine.node);
            let file = files.entry(path).or_default();
            file.push_str(text);
            if !file.ends_with('\n') {
                file.push('\n');
            }
        }
    }
}
