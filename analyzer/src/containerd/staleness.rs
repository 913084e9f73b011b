//! Config files that are newer than the daemon that should have read them.

use std::collections::BTreeMap;

use chrono::DateTime;
use serde::Serialize;

use super::config::EffectiveConfig;
use super::instances::Instance;
use super::paths;

/// A file of the effective configuration that was written after the daemon started: it is not in effect yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewerFile {
    /// The host path.
    pub host_path: String,
    /// When it was written, RFC 3339.
    pub written: String,
    /// When the daemon started, RFC 3339.
    pub started: String,
}

/// Lists the files of a configuration that are newer than the daemon.
///
/// `written` holds modification times, RFC 3339, by host path. A file whose time was not captured, and an
/// instance without a process, give no statement. A removed drop-in leaves no trace here.
#[must_use]
pub fn newer_files(
    instance: &Instance,
    config: &EffectiveConfig,
    written: &BTreeMap<String, String>,
) -> Vec<NewerFile> {
    let Some(started) = &instance.started else {
        return Vec::new();
    };
    let Ok(start) = DateTime::parse_from_rfc3339(started) else {
        return Vec::new();
    };
    let mut out = Vec::new();
    for file in &config.files {
        let host_path = paths::clean(&file.host_path);
        let Some(text) = written.get(&host_path) else {
            continue;
        };
        if DateTime::parse_from_rfc3339(text).is_ok_and(|time| time > start) {
            out.push(NewerFile {
                host_path,
                written: text.clone(),
                started: started.clone(),
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::{MapTree, NodeFacts, Process, RootFile, find_instances, resolve};
    use super::*;

    #[test]
    fn a_file_written_after_the_start_is_not_in_effect_yet() {
        let root = "/etc/containerd/config.toml";
        let mut tree = MapTree::whole();
        tree.add(root, "r", "version = 2\n");
        let started = Some("2026-11-20T10:00:00Z".to_owned());
        let processes = [Process {
            comm: "containerd".to_owned(),
            started,
            ..Process::default()
        }];
        let versions = BTreeMap::new();
        let facts = NodeFacts {
            tree: &tree,
            processes: &processes,
            processes_captured: true,
            versions: &versions,
            node_runtime: None,
            cri_socket: None,
        };
        let instances = find_instances(&facts);
        let config = resolve(
            &tree,
            RootFile {
                path: root,
                explicit: false,
            },
            Some("1.7.0"),
        );
        let at = |time: &str| BTreeMap::from([(root.to_owned(), time.to_owned())]);
        let newer = newer_files(&instances[0], &config, &at("2026-11-20T11:30:00+01:00"));
        assert_eq!(newer.len(), 1, "10:30 UTC is after the start");
        assert!(newer_files(&instances[0], &config, &at("2026-11-20T10:30:00+01:00")).is_empty());
    }
}
