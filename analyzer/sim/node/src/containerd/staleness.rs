//! Config files that are newer than the daemon that should have read them.

use std::collections::BTreeMap;

use chrono::DateTime;
use serde::Serialize;

use super::Answer;
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

/// A file may be written this much before the process that reads it counts as started later: modification times
/// and start times come from clocks of different precision.
const SLACK_SECONDS: i64 = 2;

/// Whether a daemon runs with what its files say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Staleness {
    /// Whether a file is newer than the process. Unknown where no start or no file time was captured.
    pub stale: Answer,
    /// Those files.
    pub newer: Vec<NewerFile>,
}

/// Compares the files of a configuration with the daemon's start.
///
/// `written` holds modification times, RFC 3339, by host path. A removed drop-in leaves no trace here.
#[must_use]
pub fn staleness(
    instance: &Instance,
    config: &EffectiveConfig,
    written: &BTreeMap<String, String>,
) -> Staleness {
    let started = instance.started.as_deref();
    let start = started.and_then(|text| DateTime::parse_from_rfc3339(text).ok());
    let (Some(started), Some(start)) = (started, start) else {
        return Staleness {
            stale: Answer::Unknown,
            newer: Vec::new(),
        };
    };
    let (mut dated, mut newer) = (false, Vec::new());
    for file in &config.files {
        let host_path = paths::clean(&file.host_path);
        let text = written.get(&host_path);
        let time = text.and_then(|text| DateTime::parse_from_rfc3339(text).ok());
        let (Some(text), Some(time)) = (text, time) else {
            continue;
        };
        dated = true;
        if (time - start).num_seconds() > SLACK_SECONDS {
            newer.push(NewerFile {
                host_path,
                written: text.clone(),
                started: started.to_owned(),
            });
        }
    }
    let stale = match (newer.is_empty(), dated) {
        (false, _) => Answer::Yes,
        (true, true) => Answer::No,
        (true, false) => Answer::Unknown,
    };
    Staleness { stale, newer }
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
        let at = |time: &str| {
            let written = BTreeMap::from([(root.to_owned(), time.to_owned())]);
            staleness(&instances[0], &config, &written)
        };
        let newer = at("2026-11-20T11:30:00+01:00");
        assert_eq!(newer.stale, Answer::Yes, "10:30 UTC is after the start");
        assert_eq!(newer.newer.len(), 1);
        assert_eq!(at("2026-11-20T10:30:00+01:00").stale, Answer::No);
        assert_eq!(
            at("2026-11-20T10:00:01Z").stale,
            Answer::No,
            "the second in which both happened decides nothing"
        );
        let none = staleness(&instances[0], &config, &BTreeMap::new());
        assert_eq!(none.stale, Answer::Unknown, "no file time was captured");
    }
}
