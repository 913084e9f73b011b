//! The system's journal as JSON lying about: `journalctl -o json > kubelet.json`. Each record names its host.
//!
//! Source: systemd.journal-fields(7) for the fields that journald adds itself.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::node_files::journal;
use super::survey::plain_name;
use super::{Capture, Entry, Identity, Layout, Survey, Target};

pub(super) static LAYOUT: Layout = Layout {
    id: "journal-json",
    title: "system journal as JSON",
    recognise: |survey| survey.files(|entry| host(entry).is_some()),
    identity: |survey: &Survey, root| Identity {
        node: survey.get(root).and_then(host),
        ..Identity::default()
    },
    map: |survey: &Survey, capture: &Capture, _| match survey.get(&capture.root) {
        Some(entry) => capture.of_node(&file(entry)),
        None => Target::Loose,
    },
};

/// What of a record tells that the journal wrote it, and where.
#[derive(Deserialize)]
struct Record {
    #[serde(rename = "MESSAGE")]
    _message: IgnoredAny,
    #[serde(rename = "__REALTIME_TIMESTAMP")]
    _realtime: String,
    #[serde(rename = "_HOSTNAME")]
    host: String,
    #[serde(rename = "_TRANSPORT", default)]
    transport: String,
}

/// The records that the entry begins and ends with; none where any other line stands there.
fn records(entry: &Entry) -> Option<Vec<Record>> {
    if entry.head.first() != Some(&b'{') {
        return None;
    }
    let is_all = entry.size == u64::try_from(entry.head.len()).ok();
    let (head, tail) = (entry.text(), String::from_utf8_lossy(&entry.tail));
    // What is cut is a part of a line.
    let end = match is_all {
        true => head.len(),
        false => head.rfind('\n').unwrap_or(0),
    };
    let from = tail.find('\n').unwrap_or(tail.len());
    let lines = head[..end].lines().chain(tail[from..].lines());
    let lines = lines.filter(|line| !line.trim().is_empty());
    let records: Option<Vec<Record>> = lines.map(|line| serde_json::from_str(line).ok()).collect();
    records.filter(|records| !records.is_empty())
}

/// The one host that they name, but for what a machine is called before it has its name.
fn host(entry: &Entry) -> Option<String> {
    let records = records(entry)?.into_iter();
    let mut hosts: BTreeSet<String> = records.map(|record| record.host).collect();
    if hosts.len() > 1 {
        hosts.retain(|host| !host.starts_with("localhost"));
    }
    let host = hosts.pop_first()?;
    hosts.is_empty().then_some(host)
}

/// Our path below the node: the kernel's where all records are the kernel's.
fn file(entry: &Entry) -> String {
    let named = plain_name(&entry.path);
    let named = named.trim_end_matches(".json");
    let records = records(entry).unwrap_or_default();
    match records.iter().all(|record| record.transport == "kernel") {
        true => format!("journal/kernel-{named}.json"),
        false => format!("{}.json", journal(named)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layouts::Plan;

    fn target(path: &str, head: &str, tail: &str) -> Option<String> {
        let mut survey = Survey::new(vec![Entry {
            path: path.to_owned(),
            head: head.as_bytes().to_vec(),
            tail: tail.as_bytes().to_vec(),
            size: Some(1 << 20),
        }]);
        match Plan::of(&mut survey).target(path) {
            Some((_, Target::As(ours))) => Some(ours.clone()),
            _ => None,
        }
    }

    fn record(host: &str, transport: &str) -> String {
        format!(
            r#"{{"__REALTIME_TIMESTAMP":"1718150442612738","_HOSTNAME":"{host}","_TRANSPORT":"{transport}","MESSAGE":"up"}}"#
        )
    }

    #[test]
    fn a_journal_is_its_hosts_and_the_kernels_where_only_that_speaks() {
        let of = |path: &str, first: String, cut: &str, tail: &str| {
            target(path, &format!("{first}\n{cut}"), tail)
        };
        let unit = record("gpu-1", "journal");
        let path = "tmp/kubelet.json.gz";
        let ours = Some("nodes/gpu-1/journal/kubelet.service.json".to_owned());
        assert_eq!(of(path, unit.clone(), "{\"_HOST", "NAME\"}\n"), ours);
        let kernel = record("gpu-1", "kernel");
        let ours = Some("nodes/gpu-1/journal/kernel-k.json".to_owned());
        assert_eq!(of("k.json", kernel.clone(), "", ""), ours);
        let end = format!("\n{}\n", record("gpu-2", "kernel"));
        assert_eq!(of("k.json", kernel, "", &end), None, "of two hosts");
        assert_eq!(of("k.json", unit, "[1]\n", ""), None);
        let bare = r#"{"MESSAGE":"up","_HOSTNAME":"gpu-1"}"#.to_owned();
        assert_eq!(of("k.json", bare, "", ""), None, "no journal has no time");
    }
}
