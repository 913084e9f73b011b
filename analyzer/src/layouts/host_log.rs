//! System logs lying about: `journalctl > kubelet.log`, syslog, messages. Their lines name the host.

use std::collections::BTreeMap;

use super::node_files::{by_host, host_of, journal};
use super::survey::plain_name;
use super::{Capture, Entry, Identity, Layout, Survey, Target, months};

pub(super) static LAYOUT: Layout = Layout {
    id: "journal",
    title: "system logs as text",
    recognise: |survey| survey.files(|entry| hosts(entry).is_some()),
    identity: |survey: &Survey, root| Identity {
        node: survey.get(root).and_then(host),
        ..Identity::default()
    },
    map: |survey: &Survey, capture: &Capture, _| {
        let Some(entry) = survey.get(&capture.root) else {
            return Target::Loose;
        };
        let text = entry.text();
        if host(entry).is_none() {
            return Target::Split(by_host);
        }
        if text.lines().any(months::is_foreign) {
            return Target::Split(months::in_english);
        }
        capture.of_node(&file(&capture.root, &text))
    },
};

/// Our path below the node: the kernel's where nearly all lines are the kernel's.
pub(super) fn file(path: &str, text: &str) -> String {
    let named = plain_name(path);
    let lines = || {
        text.lines()
            .take(200)
            .filter(|line| host_of(line).is_some())
    };
    let of_kernel = lines().filter(|line| line.contains(" kernel: ")).count();
    if of_kernel * 10 >= lines().count() * 9 {
        return format!("rootfs/var/log/kern.log-{named}");
    }
    journal(&named)
}

/// The hosts that nearly all of the first lines name, with the number of their lines.
fn hosts(entry: &Entry) -> Option<BTreeMap<String, usize>> {
    const ENOUGH: usize = 5;
    let text = entry.text();
    let mut lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with("-- "))
        .collect();
    // The last may be cut.
    lines.pop();
    let mut hosts: BTreeMap<String, usize> = BTreeMap::new();
    for host in lines.iter().filter_map(|line| host_of(line)) {
        *hosts.entry(host.to_owned()).or_default() += 1;
    }
    let count: usize = hosts.values().sum();
    // What a machine is called before it has its name.
    if hosts.keys().any(|host| !host.starts_with("localhost")) {
        hosts.retain(|host, _| !host.starts_with("localhost"));
    }
    (count >= ENOUGH && count * 5 >= lines.len() * 4).then_some(hosts)
}

/// The one host that they name; a line in ten may be of another, as where a host got its name while it started.
pub(super) fn host(entry: &Entry) -> Option<String> {
    let hosts = hosts(entry)?;
    let all: usize = hosts.values().sum();
    let (host, count) = hosts.into_iter().max_by_key(|(_, count)| *count)?;
    (count * 10 >= all * 9).then_some(host)
}
