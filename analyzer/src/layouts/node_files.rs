//! Files and outputs of a node by names that all tools share.

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
    ("nft list ruleset", "commands/nft-list-ruleset.out"),
    ("ufw status verbose", "commands/ufw-status-verbose.out"),
    ("ip -d address", "commands/ip-addr.out"),
    ("ip addr", "commands/ip-addr.out"),
    ("ip a", "commands/ip-addr.out"),
    ("ip route", "commands/ip-route.out"),
    ("ip r", "commands/ip-route.out"),
    ("timedatectl", "commands/timedatectl.out"),
    ("chronyc tracking", "commands/chronyc-tracking.out"),
    ("mokutil --sb-state", "commands/mokutil-sb-state.out"),
    ("df -i", "commands/df-inodes.out"),
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
    if matches!(command, "df" | "df -h" | "df -aliTh" | "df -al -x autofs") {
        return Some("commands/df.out");
    }
    COMMANDS.iter().find(fits).map(|known| known.1)
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

/// The host that a line of a system log names behind its time: `Nov 20 10:00:00 gpu-1 kubelet[1]: ...` or
/// `2026-11-20T10:00:00+0100 gpu-1 kubelet[1]: ...`.
pub(super) fn host_of(line: &str) -> Option<&str> {
    let mut words = line.split_ascii_whitespace();
    let first = words.next()?;
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let stamped = if MONTHS.contains(&first) {
        words.next()?.parse::<u8>().ok()?;
        words.next()?
    } else {
        first.split_once('T').filter(|(day, _)| day.len() == 10)?.1
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

/// Takes a service's log of several nodes apart by the hosts that its lines name; they follow one another.
pub(super) fn by_host(_: &Capture, path: &str, text: &str) -> Vec<Part> {
    const MOST: usize = 256;
    let unit = name(path)
        .trim_end_matches(".log")
        .trim_end_matches("_service");
    let mut parts: Vec<Part> = Vec::new();
    let mut open: Option<&str> = None;
    for (line, number) in text.lines().zip(1_u32..) {
        let host = host_of(line).or(open);
        if host != open && parts.len() < MOST {
            let again = parts
                .iter()
                .filter(|part| host.is_some_and(|host| part.path.split('/').nth(1) == Some(host)));
            let again = again.count();
            let host = host.unwrap_or_default();
            let file = if again == 0 {
                unit.to_owned()
            } else {
                format!("{unit}-{}", again + 1)
            };
            let path = format!("nodes/{host}/{}", journal(&file));
            parts.push(Part {
                path,
                line: number,
                text: String::new(),
            });
        }
        open = host;
        if let Some(part) = parts.last_mut() {
            part.text.push_str(line);
            part.text.push('\n');
        }
    }
    parts
}
