//! The processes that make a node: container runtimes, kubelets, NVIDIA daemons and distributions' services, as /proc
//! shows them.

use chrono::{DateTime, SecondsFormat};
use serde::Serialize;

use crate::host::Host;

/// Clock ticks per second that /proc counts in; 100 on every Linux there is.
const TICKS: u64 = 100;

/// One process.
#[derive(Debug, Clone, Serialize, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its parent's number.
    pub ppid: u32,
    /// When it started, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// Its short name.
    pub comm: String,
    /// Its program's path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exe: Option<String>,
    /// Its command line.
    pub cmdline: Vec<String>,
    /// Its control group's path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<String>,
    /// Its root folder, where it can be seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
}

/// Program names that matter, as whole names.
const NAMES: [&str; 26] = [
    "containerd",
    "kubelet",
    "kubelite",
    "k3s",
    "k3s-server",
    "k3s-agent",
    "rke2",
    "k0s",
    "dockerd",
    "docker",
    "crio",
    "cri-dockerd",
    "k8sd",
    "k8s-dqlite",
    "kube-apiserver",
    "kube-proxy",
    "etcd",
    "nvidia-persistenced",
    "nvidia-fabricmanager",
    "nv-fabricmanager",
    "nv-hostengine",
    "nvidia-device-plugin",
    "nvidia-toolkit",
    "nvidia-container-toolkit",
    "gpu-operator",
    "vgpu-device-plugin",
];

/// The processes of interest, by number. Empty for another machine's disk, whose /proc is empty.
pub fn find(host: &Host) -> Vec<Process> {
    let boot = boot_time(host);
    let names = host.names("/proc").unwrap_or_default();
    let mut pids: Vec<u32> = names.iter().filter_map(|name| name.parse().ok()).collect();
    pids.sort_unstable();
    pids.into_iter()
        .filter_map(|pid| read(host, pid, boot))
        .collect()
}

fn boot_time(host: &Host) -> Option<u64> {
    let stat = host.read_text("/proc/stat").ok()?;
    stat.lines()
        .find_map(|line| line.strip_prefix("btime "))?
        .trim()
        .parse()
        .ok()
}

fn read(host: &Host, pid: u32, boot: Option<u64>) -> Option<Process> {
    let comm = host
        .read_text(&format!("/proc/{pid}/comm"))
        .ok()?
        .trim()
        .to_owned();
    let (raw, _) = host.read(&format!("/proc/{pid}/cmdline"), 64 << 10).ok()?;
    let cmdline: Vec<String> = raw
        .split(|byte| *byte == 0)
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .collect();
    let cmdline = trim_end(cmdline);
    let exe = host.read_link(&format!("/proc/{pid}/exe"));
    let program = exe
        .as_deref()
        .or(cmdline.first().map(String::as_str))
        .unwrap_or("");
    let base = base_name(program.trim_end_matches(" (deleted)"));
    if !NAMES.contains(&comm.as_str()) && !NAMES.contains(&base) {
        return None;
    }
    let (ppid, start) = parse_stat(
        &host
            .read_text(&format!("/proc/{pid}/stat"))
            .unwrap_or_default(),
    );
    let start = boot.zip(start).and_then(|(boot, ticks)| {
        let time = DateTime::from_timestamp(i64::try_from(boot + ticks / TICKS).ok()?, 0)?;
        Some(time.to_rfc3339_opts(SecondsFormat::Secs, true))
    });
    let cgroup = host
        .read_text(&format!("/proc/{pid}/cgroup"))
        .ok()
        .and_then(|text| {
            let line = text
                .lines()
                .find(|line| line.starts_with("0::") || line.contains(":name=systemd:"))?;
            line.splitn(3, ':').nth(2).map(str::to_owned)
        });
    let root = host.read_link(&format!("/proc/{pid}/root"));
    Some(Process {
        pid,
        ppid: ppid.unwrap_or(0),
        start,
        comm,
        exe,
        cmdline,
        cgroup,
        root,
    })
}

fn trim_end(mut cmdline: Vec<String>) -> Vec<String> {
    while cmdline.last().is_some_and(String::is_empty) {
        cmdline.pop();
    }
    cmdline
}

/// Parent and start (in ticks since boot) from /proc/PID/stat, whose second field may hold spaces and brackets.
fn parse_stat(stat: &str) -> (Option<u32>, Option<u64>) {
    let Some((_, rest)) = stat.rsplit_once(')') else {
        return (None, None);
    };
    let fields: Vec<&str> = rest.split_whitespace().collect();
    (
        fields.get(1).and_then(|f| f.parse().ok()),
        fields.get(19).and_then(|f| f.parse().ok()),
    )
}

/// A path's last segment.
pub fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

impl Process {
    /// Its program's name.
    pub fn program(&self) -> &str {
        let exe = self
            .exe
            .as_deref()
            .or(self.cmdline.first().map(String::as_str))
            .unwrap_or(&self.comm);
        base_name(exe.trim_end_matches(" (deleted)"))
    }

    /// Whether it is a containerd daemon (not a shim, not a client).
    pub fn is_containerd(&self) -> bool {
        const CLIENT: [&str; 7] = [
            "config",
            "publish",
            "oci-hook",
            "--version",
            "-v",
            "--help",
            "-h",
        ];
        let client = self
            .cmdline
            .iter()
            .skip(1)
            .any(|arg| CLIENT.contains(&arg.as_str()));
        (self.program() == "containerd" || self.comm == "containerd") && !client
    }

    /// Whether it is a kubelet or a program that runs one inside itself.
    pub fn runs_kubelet(&self) -> bool {
        ["kubelet", "kubelite", "k3s", "k3s-server", "k3s-agent"].contains(&self.program())
            || self.comm.starts_with("kubelet")
            || self.comm.starts_with("k3s-")
    }

    /// The value of the last of these flags that its command line has: `--flag value` or `--flag=value`.
    pub fn flag(&self, names: &[&str]) -> Option<String> {
        flag(&self.cmdline, names)
    }
}

/// The value of the last of these flags among arguments: `--flag value` or `--flag=value`.
pub fn flag(args: &[String], names: &[&str]) -> Option<String> {
    let mut found = None;
    for (at, arg) in args.iter().enumerate() {
        for name in names {
            if arg == name {
                found = args.get(at + 1).cloned().or(found);
            } else if let Some(value) = arg
                .strip_prefix(name)
                .and_then(|rest| rest.strip_prefix('='))
            {
                found = Some(value.trim_matches(['"', '\'']).to_owned());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_name_with_brackets_does_not_shift_the_fields() {
        let stat = "7 (a) b) S 3 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 1 2 3";
        assert_eq!(parse_stat(stat), (Some(3), Some(4242)));
        assert_eq!(parse_stat("nonsense"), (None, None));
    }

    #[test]
    fn flags_are_read_in_both_notations_and_the_last_one_wins() {
        let args: Vec<String> = ["x", "--config=/a", "-c", "/b", "--address"]
            .iter()
            .map(|a| (*a).to_owned())
            .collect();
        assert_eq!(flag(&args, &["--config", "-c"]), Some("/b".to_owned()));
        assert_eq!(flag(&args, &["--address"]), None);
    }

    #[test]
    fn processes_are_read_from_a_tree() {
        let dir = tempfile::tempdir().unwrap();
        let proc = dir.path().join("proc/12");
        std::fs::create_dir_all(&proc).unwrap();
        std::fs::write(dir.path().join("proc/stat"), "cpu 1\nbtime 1700000000\n").unwrap();
        std::fs::write(proc.join("comm"), "containerd\n").unwrap();
        std::fs::write(
            proc.join("cmdline"),
            b"/usr/bin/containerd\0--config\0/x.toml\0",
        )
        .unwrap();
        std::fs::write(
            proc.join("stat"),
            "12 (containerd) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 500 1",
        )
        .unwrap();
        std::fs::write(proc.join("cgroup"), "0::/system.slice/containerd.service\n").unwrap();
        let found = find(&Host::new(dir.path()));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].flag(&["--config"]).as_deref(), Some("/x.toml"));
        assert_eq!(found[0].start.as_deref(), Some("2023-11-14T22:13:25Z"));
        assert_eq!(
            found[0].cgroup.as_deref(),
            Some("/system.slice/containerd.service")
        );
    }
}
