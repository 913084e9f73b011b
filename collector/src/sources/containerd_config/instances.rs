//! The containerd instances of a node: from running processes, units, distributions' argument files and known paths.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::host::Host;
use crate::sources::processes::{Process, flag};

/// What containerd reads when it is not told otherwise.
const DEFAULT_CONFIG: &str = "/etc/containerd/config.toml";

/// One instance, running or only set up, as a line of `containerd.json`.
#[derive(Debug, Clone, Default, Serialize, PartialEq, Eq)]
pub(crate) struct Instance {
    /// Short and stable: what set it up.
    pub(crate) id: String,
    /// Its process, when it runs.
    pub(crate) pid: Option<u32>,
    /// When that started.
    pub(crate) started: Option<String>,
    /// Its program.
    pub(crate) binary: Option<String>,
    /// What its program says.
    pub(crate) version: Option<String>,
    /// Its configuration file.
    pub(crate) config_path: String,
    /// Whether that is there.
    pub(crate) config_exists: bool,
    /// Its socket.
    pub(crate) socket: Option<String>,
    /// Its root folder.
    pub(crate) root: Option<String>,
    /// Its state folder.
    pub(crate) state: Option<String>,
    /// Its unit.
    pub(crate) unit: Option<String>,
    /// How each of these was found.
    pub(crate) evidence: Vec<String>,
}

impl Instance {
    /// The files as this instance sees them: a snap's may differ from the host's.
    pub(crate) fn files(&self, host: &Host) -> Host {
        self.pid
            .map_or_else(|| host.clone(), |pid| host.seen_by(pid))
    }
}

/// What distributions set up: name, configuration, socket.
const KNOWN: [(&str, &str, &str); 9] = [
    (
        "containerd",
        DEFAULT_CONFIG,
        "/run/containerd/containerd.sock",
    ),
    (
        "k8s-snap",
        "/var/snap/k8s/common/etc/containerd/config.toml",
        "/run/containerd/containerd.sock",
    ),
    (
        "k8s-snap-custom",
        "/var/lib/k8s-containerd/k8s-containerd/etc/containerd/config.toml",
        "/var/lib/k8s-containerd/k8s-containerd/run/containerd/containerd.sock",
    ),
    (
        "microk8s",
        "/var/snap/microk8s/current/args/containerd.toml",
        "/var/snap/microk8s/common/run/containerd.sock",
    ),
    (
        "k3s",
        "/var/lib/rancher/k3s/agent/etc/containerd/config.toml",
        "/run/k3s/containerd/containerd.sock",
    ),
    (
        "rke2",
        "/var/lib/rancher/rke2/agent/etc/containerd/config.toml",
        "/run/k3s/containerd/containerd.sock",
    ),
    (
        "k0s",
        "/etc/k0s/containerd.toml",
        "/run/k0s/containerd.sock",
    ),
    (
        "docker",
        "/var/run/docker/containerd/containerd.toml",
        "/var/run/docker/containerd/containerd.sock",
    ),
    (
        "gke",
        "/home/kubernetes/containerd/config.toml",
        "/run/containerd/containerd.sock",
    ),
];
/// Argument files, one flag a line.
const ARGUMENTS: [(&str, &str); 2] = [
    ("k8s-snap", "/var/snap/k8s/common/args/containerd"),
    ("microk8s", "/var/snap/microk8s/current/args/containerd"),
];
/// Files in which k8s-snap remembers a base folder of its own for containerd.
const BASE_DIRS: [&str; 2] = [
    "/var/snap/k8s/common/lock/containerd-base-dir",
    "/var/snap/k8s/common/lock/containerd-socket-path",
];
/// Units that start a containerd.
const UNITS: [&str; 4] = [
    "/etc/systemd/system/*containerd*.service",
    "/lib/systemd/system/*containerd*.service",
    "/usr/lib/systemd/system/*containerd*.service",
    "/usr/local/lib/systemd/system/*containerd*.service",
];

/// All instances, running ones first, one per configuration and socket.
pub(crate) fn find(host: &Host, processes: &[Process]) -> Vec<Instance> {
    let mut found: Vec<Instance> = processes
        .iter()
        .filter(|process| process.is_containerd())
        .map(|process| running(host, process))
        .collect();
    for (id, path) in ARGUMENTS {
        if let Ok(text) = host.read_text(path) {
            let args: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            merge(&mut found, from_arguments(id, path, &args));
        }
    }
    for instance in from_units(host) {
        merge(&mut found, instance);
    }
    for (id, config, socket) in KNOWN {
        if host.exists(config) {
            let evidence = vec![format!("{config} exists, where {id} has it")];
            let socket = host.exists(socket).then(|| socket.to_owned());
            merge(
                &mut found,
                Instance {
                    id: id.to_owned(),
                    config_path: config.to_owned(),
                    socket,
                    evidence,
                    ..Instance::default()
                },
            );
        }
    }
    for instance in custom_base(host) {
        merge(&mut found, instance);
    }
    for instance in &mut found {
        instance.config_exists = instance.files(host).exists(&instance.config_path);
    }
    name_apart(&mut found);
    found
}

/// Adds what another trace says of an instance that is known, or a new instance.
fn merge(found: &mut Vec<Instance>, new: Instance) {
    let same = |old: &&mut Instance| {
        old.config_path == new.config_path
            && (old.socket.is_none()
                || new.socket.is_none()
                || old.socket == new.socket
                || old.pid.is_some())
    };
    match found.iter_mut().find(same) {
        Some(old) => {
            old.socket = old.socket.take().or(new.socket);
            old.root = old.root.take().or(new.root);
            old.state = old.state.take().or(new.state);
            old.unit = old.unit.take().or(new.unit);
            old.binary = old.binary.take().or(new.binary);
            old.evidence.extend(new.evidence);
        }
        None => found.push(new),
    }
}

fn running(host: &Host, process: &Process) -> Instance {
    let pid = process.pid;
    let mut evidence = vec![format!("process {pid}: {}", process.cmdline.join(" "))];
    let config = process.flag(&["--config", "-c", "-config"]);
    if config.is_none() {
        evidence.push(format!(
            "process {pid} has no --config: the default {DEFAULT_CONFIG}"
        ));
    }
    let config = config.unwrap_or_else(|| DEFAULT_CONFIG.to_owned());
    let told = Settings::of(&host.seen_by(pid), &config);
    let unit = process.cgroup.as_deref().and_then(|path| {
        path.rsplit('/')
            .find(|part| part.ends_with(".service"))
            .map(str::to_owned)
    });
    if let Some(unit) = &unit {
        evidence.push(format!("process {pid} is in the control group of {unit}"));
    }
    let default = |path: &str| Some(path.to_owned());
    Instance {
        id: unit.as_deref().map_or_else(
            || format!("pid-{pid}"),
            |unit| unit.trim_end_matches(".service").to_owned(),
        ),
        pid: Some(pid),
        started: process.start.clone(),
        binary: process
            .exe
            .clone()
            .or_else(|| process.cmdline.first().cloned()),
        version: None,
        config_exists: false,
        socket: process
            .flag(&["--address", "-a"])
            .or(told.address)
            .or_else(|| default("/run/containerd/containerd.sock")),
        root: process
            .flag(&["--root"])
            .or(told.root)
            .or_else(|| default("/var/lib/containerd")),
        state: process
            .flag(&["--state"])
            .or(told.state)
            .or_else(|| default("/run/containerd")),
        config_path: config,
        unit,
        evidence,
    }
}

fn from_arguments(id: &str, path: &str, args: &[String]) -> Instance {
    Instance {
        id: id.to_owned(),
        config_path: flag(args, &["--config", "-c"]).unwrap_or_else(|| DEFAULT_CONFIG.to_owned()),
        socket: flag(args, &["--address", "-a"]),
        root: flag(args, &["--root"]),
        state: flag(args, &["--state"]),
        evidence: vec![format!("{path}: {}", args.join(" "))],
        ..Instance::default()
    }
}

fn from_units(host: &Host) -> Vec<Instance> {
    let mut by_name: BTreeMap<String, Instance> = BTreeMap::new();
    for path in UNITS.iter().flat_map(|pattern| host.glob(pattern)) {
        let Ok(text) = host.read_text(&path) else {
            continue;
        };
        let Some(line) = text
            .lines()
            .find_map(|line| line.trim().strip_prefix("ExecStart="))
        else {
            continue;
        };
        let args: Vec<String> = line
            .trim_start_matches(['-', '@', '+', '!'])
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        if !args
            .first()
            .is_some_and(|program| program.ends_with("/containerd") || program == "containerd")
        {
            continue;
        }
        let unit = path.rsplit('/').next().unwrap_or(&path).to_owned();
        let mut instance = from_arguments(unit.trim_end_matches(".service"), &path, &args);
        instance.unit = Some(unit.clone());
        instance.binary = args.first().cloned();
        // /etc comes first and wins, as it does for systemd.
        by_name.entry(unit).or_insert(instance);
    }
    by_name.into_values().collect()
}

/// k8s-snap with a base folder of its own: named by a lock file, or implied by the socket that its arguments name.
fn custom_base(host: &Host) -> Vec<Instance> {
    let mut found = Vec::new();
    for path in BASE_DIRS {
        let Ok(text) = host.read_text(path) else {
            continue;
        };
        let value = text.trim();
        let base = value
            .strip_suffix("/run/containerd")
            .unwrap_or(value)
            .trim_end_matches('/');
        if !base.starts_with('/') {
            continue;
        }
        for below in ["etc/containerd", "k8s-containerd/etc/containerd"] {
            let config = format!("{base}/{below}/config.toml");
            if host.exists(&config) {
                let evidence = vec![format!("{path}: {value}")];
                found.push(Instance {
                    id: "k8s-snap-custom".to_owned(),
                    config_path: config,
                    evidence,
                    ..Instance::default()
                });
            }
        }
    }
    found
}

/// Two instances of one name get numbers.
fn name_apart(found: &mut [Instance]) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for instance in found {
        let count = seen.entry(instance.id.clone()).or_default();
        *count += 1;
        if *count > 1 {
            instance.id = format!("{}-{count}", instance.id);
        }
    }
}

/// What a configuration file itself says of socket and folders.
#[derive(Default)]
struct Settings {
    address: Option<String>,
    root: Option<String>,
    state: Option<String>,
}

impl Settings {
    fn of(host: &Host, config: &str) -> Self {
        let mut settings = Self::default();
        let Ok(text) = host.read_text(config) else {
            return settings;
        };
        let mut section = String::new();
        for line in text.lines().map(str::trim) {
            if line.starts_with('[') {
                section = line.trim_matches(['[', ']']).to_owned();
                continue;
            }
            let Some((key, value)) = line.split_once('=') else {
                continue;
            };
            let value = value.trim().trim_matches(['"', '\'']).to_owned();
            let slot = match (section.as_str(), key.trim()) {
                ("", "root") => &mut settings.root,
                ("", "state") => &mut settings.state,
                ("grpc", "address") => &mut settings.address,
                _ => continue,
            };
            *slot = Some(value).filter(|value| !value.is_empty());
        }
        settings
    }
}
