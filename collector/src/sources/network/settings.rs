//! `host/sysctl.txt`: every readable setting below `net.`, as `sysctl` prints them, without that program.

use casefile_bundle::Entry;

use crate::host::Host;
use crate::out::Out;
use crate::redact::Content;
use crate::take::Tally;

const ROOT: &str = "/proc/sys/net";
/// Folders below it, at most this deep.
const MAX_DEPTH: usize = 5;
/// Settings in all; a node with thousands of pods has a folder for each of their links.
const MAX: usize = 20_000;
/// What the firewall source copies as files of their own.
const ELSEWHERE: [&str; 5] = [
    "ipv4/ip_forward",
    "/forwarding",
    "/rp_filter",
    "netfilter/nf_conntrack_count",
    "netfilter/nf_conntrack_max",
];

/// The kernel logs a warning with the reader's name for these of IPv6 (`ndisc_warn_deprecated_sysctl` in net/ipv6/ndisc.c);
/// `_ms` beside them has the same values.
const WARNED_OF: [&str; 2] = ["/base_reachable_time", "/retrans_time"];

/// What is read, for the plan.
pub(super) fn reads() -> impl Iterator<Item = String> {
    (1..=MAX_DEPTH).map(|depth| format!("{ROOT}{}", "/*".repeat(depth)))
}

/// Writes the list.
pub(super) fn write(host: &Host, out: &Out, tally: &mut Tally) {
    let mut lines = Vec::new();
    walk(host, ROOT, 0, &mut lines);
    if lines.is_empty() {
        return;
    }
    if lines.len() >= MAX {
        tally.broken(out, format!("{ROOT}: only {MAX} settings were taken"));
    }
    let mut entry = out.entry(
        out.path(Entry::Host, "sysctl.txt"),
        Content::Text,
        Some(ROOT.to_owned()),
    );
    let text = lines.join("\n") + "\n";
    let written = entry.write(text.as_bytes()).map(|_| ());
    match written.and_then(|()| entry.finish_blocking()) {
        Ok(()) => tally.taken += 1,
        Err(error) => tally.broken(out, format!("host/sysctl.txt: {error}")),
    }
}

fn walk(host: &Host, dir: &str, depth: usize, lines: &mut Vec<String>) {
    if depth >= MAX_DEPTH {
        return;
    }
    for name in host.names(dir).unwrap_or_default() {
        let path = format!("{dir}/{name}");
        if lines.len() >= MAX {
            return;
        }
        let is_folder = host.metadata(&path).is_ok_and(|meta| meta.is_dir());
        if is_folder {
            // Links of pods: their settings are those of `default`.
            if !["veth", "lxc", "cali"]
                .iter()
                .any(|start| name.starts_with(start))
            {
                walk(host, &path, depth + 1, lines);
            }
        } else if !elsewhere(&path) {
            lines.extend(setting(host, &path));
        }
    }
}

fn elsewhere(path: &str) -> bool {
    let mut left = ELSEWHERE.iter().chain(&WARNED_OF);
    left.any(|end| path.ends_with(end)) || path.starts_with("/proc/sys/net/bridge/")
}

/// `net.ipv4.tcp_mem = 1 2 3`; none for what cannot be read (`route/flush` is there to be written).
fn setting(host: &Host, path: &str) -> Option<String> {
    let (bytes, _) = host.read(path, 4096).ok()?;
    let value = String::from_utf8_lossy(&bytes);
    let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
    let name = path.strip_prefix("/proc/sys/")?;
    // As sysctl does: a dot within a name (`eth0.7`) changes places with the slash.
    let swapped: String = name
        .chars()
        .map(|c| match c {
            '/' => '.',
            '.' => '/',
            other => other,
        })
        .collect();
    Some(format!("{swapped} = {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_look_as_sysctl_prints_them() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join("proc/sys/net").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("ipv4/tcp_mem", "1\t2\t3\n");
        write("ipv4/conf/eth0.7/mtu", "1500\n");
        write("ipv4/conf/veth12/mtu", "1500\n");
        write("ipv4/ip_forward", "1\n");
        write("ipv6/neigh/default/retrans_time", "250\n");
        let mut lines = Vec::new();
        walk(&Host::new(dir.path()), ROOT, 0, &mut lines);
        assert_eq!(
            lines,
            [
                "net.ipv4.conf.eth0/7.mtu = 1500",
                "net.ipv4.tcp_mem = 1 2 3"
            ]
        );
    }

    #[test]
    fn this_machines_settings_agree_with_sysctl() {
        let name = "net.core.somaxconn";
        let Ok(output) = std::process::Command::new("sysctl").arg(name).output() else {
            return;
        };
        let said = String::from_utf8_lossy(&output.stdout);
        let own = setting(&Host::new("/"), "/proc/sys/net/core/somaxconn");
        assert_eq!(own.as_deref(), Some(said.trim()));
    }
}
