//! System logs lying about: `journalctl > kubelet.log`, syslog, messages. Their lines name the host.

use std::collections::BTreeMap;

use super::node_files::{host_of, journal};
use super::survey::name;
use super::{Capture, Entry, Identity, Layout, Survey};

pub(super) static LAYOUT: Layout = Layout {
    id: "journal",
    title: "system logs as text",
    recognise: |survey| survey.files(|entry| host(entry).is_some()),
    identity: |survey: &Survey, root| Identity {
        node: survey.get(root).and_then(host),
        version: None,
        ..Identity::default()
    },
    map: |_: &Survey, capture: &Capture, _| {
        let file: String = name(&capture.root)
            .chars()
            .map(|letter| {
                if letter.is_ascii_graphic() && letter != '/' {
                    letter
                } else {
                    '-'
                }
            })
            .collect();
        capture.of_node(&journal(&file))
    },
};

/// The host that nearly all of the first lines name.
fn host(entry: &Entry) -> Option<String> {
    const ENOUGH: usize = 5;
    let text = entry.text();
    let mut lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    // The last may be cut.
    lines.pop();
    let mut hosts: BTreeMap<&str, usize> = BTreeMap::new();
    for host in lines.iter().filter_map(|line| host_of(line)) {
        *hosts.entry(host).or_default() += 1;
    }
    let (host, count) = hosts.into_iter().max_by_key(|(_, count)| *count)?;
    (count >= ENOUGH && count * 5 >= lines.len() * 4).then(|| host.to_owned())
}
