//! Container logs as they lie on the node's disk, for when no API server gives them.

use std::collections::BTreeSet;
use std::io::{Read, Seek, SeekFrom};

use tokio_util::sync::CancellationToken;

use super::cri_log::CriLog;
use super::log_fetch;
use super::pods::{Reason, Wanted, is_system};
use crate::host::{Host, HostError};
use crate::out::{Out, OutError};
use crate::redact::Content;

/// Where the kubelet keeps them: `<namespace>_<pod>_<uid>/<container>/<run>.log`.
pub const FOLDER: &str = "/var/log/pods";
/// The newest bytes taken of one file.
const KEEP: u64 = 4 << 20;
const PIECE: usize = 64 << 10;

/// One container's log folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Folder {
    later: bool,
    namespace: String,
    pod: String,
    /// Two pods of one name and namespace, one after the other, differ in it.
    uid: String,
    container: String,
}

impl Folder {
    fn path(&self) -> String {
        format!(
            "{FOLDER}/{}_{}_{}/{}",
            self.namespace, self.pod, self.uid, self.container
        )
    }

    fn name(&self) -> (String, String, String) {
        (
            self.namespace.clone(),
            self.pod.clone(),
            self.container.clone(),
        )
    }

    fn wanted(&self, again: bool) -> Wanted {
        let pod = if again {
            format!("{}_{}", self.pod, self.uid)
        } else {
            self.pod.clone()
        };
        Wanted {
            reason: Reason::System,
            elsewhere: false,
            namespace: self.namespace.clone(),
            pod,
            container: self.container.clone(),
            previous: false,
            ended: None,
        }
    }
}

/// What was taken from the disk.
#[derive(Debug, Default)]
pub struct Taken {
    /// Logs in the bundle.
    pub logs: u64,
    /// Folders of containers found.
    pub containers: u64,
    /// What could not be read, in words.
    pub notes: Vec<String>,
}

/// Which containers' logs are taken from the disk.
#[derive(Debug, Clone)]
pub enum Choice {
    /// All of these namespaces; of every namespace where there are none.
    Namespaces(BTreeSet<String>),
    /// These: namespace, pod, container.
    Containers(BTreeSet<(String, String, String)>),
}

impl Choice {
    fn takes(&self, folder: &Folder) -> bool {
        match self {
            Self::Namespaces(all) => all.is_empty() || all.contains(&folder.namespace),
            Self::Containers(some) => some.contains(&folder.name()),
        }
    }
}

/// Copies the current and the previous log of the chosen containers. Blocks.
pub fn copy(
    host: &Host,
    out: &Out,
    choice: &Choice,
    cancel: &CancellationToken,
) -> Result<Taken, OutError> {
    let mut taken = Taken::default();
    let folders = match folders(host) {
        Ok(folders) => folders,
        Err(error) if error.is_absent() => return Ok(taken),
        Err(error) => {
            taken.notes.push(format!("failed: {}", error.sentence()));
            return Ok(taken);
        }
    };
    let mut seen = BTreeSet::new();
    for folder in folders.into_iter().filter(|folder| choice.takes(folder)) {
        if cancel.is_cancelled() {
            taken
                .notes
                .push("skipped: the rest of the logs: time limit reached".to_owned());
            break;
        }
        taken.containers += 1;
        let again = !seen.insert(folder.name());
        let wanted = folder.wanted(again);
        let runs = runs(&host.names(&folder.path()).unwrap_or_default());
        for (run, previous) in runs.iter().rev().zip([false, true]) {
            let file = format!("{}/{run}.log", folder.path());
            match copy_one(host, out, &file, &wanted, previous)? {
                Ok(()) => taken.logs += 1,
                // A link into a container that is gone.
                Err(error) if error.is_absent() => {}
                Err(error) => taken.notes.push(format!("failed: {}", error.sentence())),
            }
        }
    }
    Ok(taken)
}

fn folders(host: &Host) -> Result<Vec<Folder>, HostError> {
    let mut folders = Vec::new();
    for name in host.names(FOLDER)? {
        let mut parts = name.splitn(3, '_');
        let (Some(namespace), Some(pod), Some(uid)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        for container in host.names(&format!("{FOLDER}/{name}")).unwrap_or_default() {
            folders.push(Folder {
                later: !is_system(namespace),
                namespace: namespace.to_owned(),
                pod: pod.to_owned(),
                uid: uid.to_owned(),
                container,
            });
        }
    }
    folders.sort();
    Ok(folders)
}

/// The numbers of the runs that have a plain log file, oldest first.
fn runs(names: &[String]) -> Vec<u64> {
    let numbers = names
        .iter()
        .filter_map(|name| name.strip_suffix(".log")?.parse().ok());
    let mut runs: Vec<u64> = numbers.collect();
    runs.sort_unstable();
    runs
}

fn copy_one(
    host: &Host,
    out: &Out,
    file: &str,
    wanted: &Wanted,
    previous: bool,
) -> Result<Result<(), HostError>, OutError> {
    let io = |source| HostError::Io {
        path: file.to_owned(),
        source,
    };
    let mut reader = match host.open(file) {
        Ok(reader) => reader,
        Err(error) => return Ok(Err(error)),
    };
    let size = reader.metadata().map_or(0, |meta| meta.len());
    let skipped = size.saturating_sub(KEEP);
    if let Err(error) = reader.seek(SeekFrom::Start(skipped)) {
        return Ok(Err(io(error)));
    }
    let mut entry = out.tail_entry(
        log_fetch::path(wanted, previous),
        Content::Text,
        Some(file.to_owned()),
        KEEP as usize,
    );
    if skipped > 0 {
        entry.truncated(format!("newest {KEEP} bytes of {size} taken"));
    }
    // A file that grows while it is read does not keep the reader for ever.
    let mut reader = reader.take(KEEP);
    let mut log = CriLog::default();
    let mut piece = vec![0; PIECE];
    let mut lines = Vec::new();
    let mut begun = skipped == 0;
    loop {
        let count = match reader.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) => {
                entry.truncated(format!("reading stopped: {error}"));
                break;
            }
        };
        let mut bytes = piece.get(..count).unwrap_or_default();
        if !begun {
            let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
                continue;
            };
            bytes = bytes.get(end + 1..).unwrap_or_default();
            begun = true;
        }
        log.push(bytes, &mut lines);
        entry.write(&lines)?;
        lines.clear();
    }
    log.finish(&mut lines);
    entry.write(&lines)?;
    entry.finish_blocking()?;
    Ok(Ok(()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::out::testing::sink;

    #[test]
    fn the_newest_two_runs_are_taken_and_hidden_names_are_not() {
        let names = [
            "10.log",
            "9.log",
            "2.log",
            "9.log.20260101-000000.gz",
            "x.log",
        ]
        .map(str::to_owned);
        assert_eq!(runs(&names), [2, 9, 10]);
    }

    #[test]
    fn logs_of_the_node_s_disk_get_the_paths_of_the_api_s() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("var/log/pods/default_web_1-2-3/app");
        fs::create_dir_all(&folder).unwrap();
        fs::write(
            folder.join("0.log"),
            "2026-01-01T00:00:00Z stdout F first\n",
        )
        .unwrap();
        fs::write(
            folder.join("1.log"),
            "2026-01-01T00:00:01Z stdout F second\n",
        )
        .unwrap();
        let (out, mut done) = sink("cluster_pod_logs", 1 << 20);
        let taken = copy(
            &Host::new(root.path()),
            &out,
            &Choice::Namespaces(BTreeSet::new()),
            &CancellationToken::new(),
        )
        .unwrap();
        assert_eq!((taken.logs, taken.containers), (2, 1));
        let paths: Vec<_> = std::iter::from_fn(|| done.try_recv().ok())
            .map(|done| done.meta.path.to_string())
            .collect();
        assert_eq!(
            paths,
            [
                "cluster-resources/pods/logs/default/web/app.log",
                "cluster-resources/pods/logs/default/web/app-previous.log",
            ]
        );
    }
}
