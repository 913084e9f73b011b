//! Files and outputs of a node by names that all tools share.

use casefile_bundle::Entry;

use super::survey::{name, without_packing};
use super::{Capture, Part};

/// Folders of a root file system that tools copy as they are.
const ROOT: [&str; 9] = [
    "boot/", "etc/", "lib/", "opt/", "proc/", "run/", "sys/", "usr/", "var/",
];

/// The path below `nodes/<node>/` of a copied file.
pub(super) fn copied(path: &str) -> Option<String> {
    let known = ROOT.iter().any(|folder| path.starts_with(folder));
    known.then(|| format!("rootfs/{}", without_packing(path)))
}

/// What commands print, by how the command begins; the first that fits.
const COMMANDS: &[(&str, &str)] = &[
    ("nvidia-smi -q -x", "commands/nvidia-smi-q.xml"),
    ("nvidia-smi --query --xml", "commands/nvidia-smi-q.xml"),
    ("nvidia-smi --query -x", "commands/nvidia-smi-q.xml"),
    ("nvidia-smi -q", "commands/nvidia-smi-q.out"),
    ("nvidia-smi --query", "commands/nvidia-smi-q.out"),
    ("nvidia-smi topo", "commands/nvidia-smi-topo.out"),
    ("nvidia-smi nvlink", "commands/nvidia-smi-nvlink.out"),
    ("lspci", "commands/lspci.out"),
    ("lsmod", "commands/lsmod.out"),
    ("sysctl -a", "commands/sysctl.out"),
    ("uname", "commands/uname.out"),
    ("iptables-save", "commands/iptables-save.out"),
    ("ip6tables-save", "commands/ip6tables-save.out"),
    ("ipset list", "commands/ipset-list.out"),
    ("nft list ruleset", "commands/nft-list-ruleset.out"),
    ("ufw status verbose", "commands/ufw-status-verbose.out"),
    ("ip -d address", "commands/ip-addr.out"),
    ("ip addr", "commands/ip-addr.out"),
    ("ip a", "commands/ip-addr.out"),
    ("ip link", "commands/ip-link.out"),
    ("ip -d -s l", "commands/ip-link.out"),
    ("ip neigh", "commands/ip-neigh.out"),
    ("ip rule", "commands/ip-rule.out"),
    ("ip route", "commands/ip-route.out"),
    ("ip r", "commands/ip-route.out"),
    ("timedatectl", "commands/timedatectl.out"),
    ("chronyc tracking", "commands/chronyc-tracking.out"),
    ("mokutil --sb-state", "commands/mokutil-sb-state.out"),
    ("df -i", "commands/df-inodes.out"),
    ("df -ali -x autofs", "commands/df-inodes.out"),
    ("dmesg", "commands/dmesg.out"),
    ("journalctl --list-boots", "commands/journal-boots.out"),
    ("dkms status", "commands/dkms-status.out"),
];

/// The path below `nodes/<node>/` of what a command printed.
pub(super) fn printed(command: &str) -> Option<&'static str> {
    let (program, arguments) = command
        .trim()
        .split_once(' ')
        .unwrap_or((command.trim(), ""));
    let program = program.rsplit('/').next().unwrap_or(program);
    let command = format!("{program} {arguments}");
    let command = command.trim();
    let fits = |known: &&(&str, &str)| {
        command
            .strip_prefix(known.0)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '-']))
    };
    if command == "nvidia-smi" {
        return Some("commands/nvidia-smi.out");
    }
    if matches!(
        command,
        "df" | "df -h" | "df -hT" | "df -aliTh" | "df -al -x autofs"
    ) {
        return Some("commands/df.out");
    }
    COMMANDS.iter().find(fits).map(|known| known.1)
}

/// A command as it was typed, as far as its name in a report tells: blanks became `_`.
pub(super) fn typed(name: &str) -> String {
    match name {
        "ip_-d_address" | "ip_address_show" => "ip -d address".to_owned(),
        "ip_route_show_table_all" => "ip route show table all".to_owned(),
        _ => name.replace('_', " "),
    }
}

/// Where the journal of a unit, as text, lies below `nodes/<node>/`.
pub(super) fn journal(unit: &str) -> String {
    let unit = unit.trim_end_matches(".log").trim_end_matches(".txt");
    match unit {
        "kernel" | "dmesg" => "rootfs/var/log/kern.log".to_owned(),
        "journal" | "syslog" | "messages" => format!("journal/{unit}"),
        _ if unit.contains(".service") => format!("journal/{unit}"),
        _ => format!("journal/{unit}.service"),
    }
}

/// The host that a line of a system log names behind its time: `Nov 20 10:00:00 gpu-1 kubelet[1]: ...`, with the month in any
/// language, or `2026-11-20T10:00:00+0100 gpu-1 kubelet[1]: ...`.
pub(super) fn host_of(line: &str) -> Option<&str> {
    let mut words = line.split_ascii_whitespace();
    let first = words.next()?;
    let stamped = match first.split_once('T').filter(|(day, _)| day.len() == 10) {
        Some((_, clock)) => clock,
        None => {
            super::months::number(first)?;
            words.next()?.trim_end_matches('.').parse::<u8>().ok()?;
            words.next()?
        }
    };
    if stamped.len() < 8 || stamped.as_bytes().get(2) != Some(&b':') {
        return None;
    }
    let host = words.next()?;
    let speaker = words.next()?;
    let named = host
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'));
    (named && speaker.ends_with(':')).then_some(host)
}

/// Takes a service's log of several nodes apart by the hosts that its lines name: each host's lines at the numbers that they
/// have in the file.
pub(super) fn by_host(_: &Capture, path: &str, text: &str) -> Vec<Part> {
    const MOST: usize = 64;
    let unit = name(path)
        .trim_end_matches(".log")
        .trim_end_matches("_service");
    let mut hosts: Vec<(&str, Host)> = Vec::new();
    let mut open: Option<usize> = None;
    for (line, number) in text.lines().zip(1_u32..) {
        if let Some(host) = host_of(line) {
            let known = hosts.iter().position(|(name, _)| *name == host);
            open = known.or_else(|| {
                (hosts.len() < MOST).then(|| {
                    hosts.push((host, Host::from(number)));
                    hosts.len() - 1
                })
            });
        }
        if let Some((_, host)) = open.and_then(|at| hosts.get_mut(at)) {
            host.add(line, number);
        }
    }
    let parts = hosts.into_iter().map(|(name, host)| Part {
        path: Entry::Node(name, &journal(unit)).path(),
        line: host.first,
        text: host.text,
    });
    parts.collect()
}

/// The lines of one host among those of others.
struct Host {
    first: u32,
    next: u32,
    text: String,
}

impl Host {
    fn from(first: u32) -> Self {
        Self {
            first,
            next: first,
            text: String::new(),
        }
    }

    fn add(&mut self, line: &str, number: u32) {
        // Lines of others stay empty, so that places lead to the file's own lines.
        for _ in self.next..number {
            self.text.push('\n');
        }
        self.text.push_str(line);
        self.text.push('\n');
        self.next = number.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_two_hosts_keep_their_numbers() {
        let text = "Nov 20 10:00:00 a kubelet[1]: one\nNov 20 10:00:01 b kubelet[1]: two\nNov 20 10:00:02 a kubelet[1]: three\n";
        let capture = Capture {
            format: "x",
            title: "x",
            root: String::new(),
            identity: super::super::Identity::default(),
        };
        let found: Vec<(String, u32, usize)> = by_host(&capture, "d/kubelet_service.log", text)
            .into_iter()
            .map(|part| (part.path, part.line, part.text.lines().count()))
            .collect();
        assert_eq!(
            found,
            [
                ("nodes/a/journal/kubelet.service".to_owned(), 1, 3),
                ("nodes/b/journal/kubelet.service".to_owned(), 2, 1),
            ]
        );
    }

    #[test]
    fn hosts_are_named_in_any_language() {
        for line in [
            "ao\u{fb}t 25 19:38:03 gpu-1 kernel: x",
            "M\u{e4}r 5 19:38:03 gpu-1 kernel: x",
            "8\u{6708} 25 19:38:03 gpu-1 kernel: x",
            "2026-11-20T10:00:00+0100 gpu-1 kubelet[1]: x",
        ] {
            assert_eq!(host_of(line), Some("gpu-1"), "{line}");
        }
        assert_eq!(host_of("Then 25 19:38:03 gpu-1 kernel: x"), None);
    }
}
