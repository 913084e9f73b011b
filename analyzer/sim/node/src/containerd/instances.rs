//! The containerd daemons of a node, running or only configured.

use std::collections::BTreeMap;

use serde::Serialize;

use super::args::{arg_file, option};
use super::config::{DEFAULT_CONFIG, RootFile, resolve};
pub use super::distributions::InstanceKind;
use super::distributions::{KnownPlace, PLACES, kind_of};
use super::paths;
use super::tree::{CapturedPath, CapturedTree};

/// The socket containerd listens on when nothing names another.
pub const DEFAULT_SOCKET: &str = "/run/containerd/containerd.sock";

/// A line of the bundle that supports a statement.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Evidence {
    /// The path in the bundle.
    pub path: String,
    /// Line from 1; 0 where the whole file is meant.
    pub line: u32,
    /// What stands there, or what follows from it.
    pub text: String,
}

/// A captured process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// The process id on the host.
    pub pid: u32,
    /// `comm`.
    pub comm: String,
    /// The executable.
    pub exe: Option<String>,
    /// The command line.
    pub cmdline: Vec<String>,
    /// Start time, RFC 3339.
    pub started: Option<String>,
    /// The control group path.
    pub cgroup: Option<String>,
    /// The systemd unit, where the collector found it.
    pub unit: Option<String>,
    /// The line of the bundle that lists it.
    pub source: Option<Evidence>,
}

impl Process {
    /// The systemd unit: as collected, else the last `.service` of the control group.
    #[must_use]
    pub fn unit(&self) -> Option<String> {
        let from_cgroup = || {
            self.cgroup
                .as_deref()?
                .rsplit('/')
                .find(|part| part.ends_with(".service"))
        };
        self.unit
            .clone()
            .or_else(|| from_cgroup().map(str::to_owned))
    }

    /// The name of the program it runs.
    #[must_use]
    pub fn program(&self) -> &str {
        let first = self
            .cmdline
            .first()
            .map(String::as_str)
            .filter(|word| !word.is_empty());
        let path = self.exe.as_deref().or(first).unwrap_or(&self.comm);
        paths::base(path.trim_end_matches(" (deleted)"))
    }

    pub(super) fn evidence(&self) -> Evidence {
        let text = format!("pid {}: {}", self.pid, self.cmdline.join(" "));
        match &self.source {
            Some(source) => Evidence {
                text,
                ..source.clone()
            },
            None => Evidence {
                path: String::new(),
                line: 0,
                text,
            },
        }
    }
}

/// What a bundle holds about one node.
#[derive(Clone, Copy)]
pub struct NodeFacts<'a> {
    /// Host files.
    pub tree: &'a dyn CapturedTree,
    /// CapturedPath processes; at least containerds, kubelets and distribution services.
    pub processes: &'a [Process],
    /// Whether processes were captured at all.
    pub processes_captured: bool,
    /// Output of `containerd --version` by executable path, where captured.
    pub versions: &'a BTreeMap<String, String>,
    /// `status.nodeInfo.containerRuntimeVersion` of the Node object.
    pub node_runtime: Option<&'a Evidence>,
    /// The annotation `kubeadm.alpha.kubernetes.io/cri-socket`; its value is the text.
    pub cri_socket: Option<&'a Evidence>,
}

/// One containerd.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Instance {
    /// The unit where it is unique on the node, else the config path.
    pub id: String,
    /// Who ships it.
    pub kind: InstanceKind,
    /// The root config file.
    pub config_path: String,
    /// Whether the command line names it.
    pub config_explicit: bool,
    /// The socket in one spelling.
    pub address: String,
    /// Where the socket's name comes from.
    pub address_from: &'static str,
    /// The persistent data folder.
    pub root: String,
    /// The state folder.
    pub state: String,
    /// Its version, where captured.
    pub version: Option<String>,
    /// The process; none for an instance that is only configured.
    pub pid: Option<u32>,
    /// When the process started, RFC 3339.
    pub started: Option<String>,
    /// Its systemd unit.
    pub unit: Option<String>,
    /// What shows that it exists.
    pub evidence: Vec<Evidence>,
}

impl Instance {
    /// Whether a process was seen.
    #[must_use]
    pub fn running(&self) -> bool {
        self.pid.is_some()
    }
}

/// Options of a containerd command line.
#[derive(Default)]
struct Flags {
    config: Option<String>,
    address: Option<String>,
    root: Option<String>,
    state: Option<String>,
}

fn flags(words: &[String]) -> Flags {
    Flags {
        config: option(words, &["config", "c"]),
        address: option(words, &["address", "a"]),
        root: option(words, &["root"]),
        state: option(words, &["state"]),
    }
}

/// All containerds of a node: those that run, then those that only have a config file in a known place.
#[must_use]
pub fn find_instances(facts: &NodeFacts<'_>) -> Vec<Instance> {
    let mut out: Vec<Instance> = Vec::new();
    for process in facts
        .processes
        .iter()
        .filter(|process| process.program() == "containerd")
    {
        // `containerd config dump` and the like are no daemons.
        let commands = ["config", "publish", "oci-hook", "help"];
        if process
            .cmdline
            .iter()
            .skip(1)
            .any(|word| commands.contains(&word.as_str()))
        {
            continue;
        }
        out.push(from_process(facts, process));
    }
    for place in &PLACES {
        if let Some(instance) = from_place(facts, place, &out) {
            out.push(instance);
        }
    }
    name_all(&mut out);
    out.sort_by(|a, b| a.id.cmp(&b.id));
    out
}

fn from_process(facts: &NodeFacts<'_>, process: &Process) -> Instance {
    let flags = flags(&process.cmdline);
    let unit = process.unit();
    let exe = process
        .exe
        .clone()
        .or_else(|| process.cmdline.first().cloned())
        .unwrap_or_default();
    let explicit = flags.config.is_some();
    let config_path = flags
        .config
        .clone()
        .unwrap_or_else(|| DEFAULT_CONFIG.to_owned());
    let kind = kind_of(&config_path, &exe, unit.as_deref().unwrap_or_default());
    let version = version_of(facts, &exe);
    build(
        facts,
        flags,
        Instance {
            id: String::new(),
            kind,
            config_path,
            config_explicit: explicit,
            address: String::new(),
            address_from: "",
            root: String::new(),
            state: String::new(),
            version,
            pid: Some(process.pid),
            started: process.started.clone(),
            unit,
            evidence: vec![process.evidence()],
        },
    )
}

fn version_of(facts: &NodeFacts<'_>, exe: &str) -> Option<String> {
    facts.versions.get(exe).cloned()
}

/// Fills in socket and folders: command line, then config, then what is built in.
fn build(facts: &NodeFacts<'_>, flags: Flags, mut instance: Instance) -> Instance {
    let root = RootFile {
        path: &instance.config_path,
        explicit: instance.config_explicit,
    };
    let config = resolve(facts.tree, root, instance.version.as_deref());
    let top = |path: &[&str]| {
        config
            .top(path)
            .and_then(|setting| setting.value.as_str())
            .map(str::to_owned)
    };
    let (address, from) = match (flags.address, top(&["grpc", "address"])) {
        (Some(address), _) => (address, "command line"),
        (None, Some(address)) => (address, "config file"),
        (None, None) => (DEFAULT_SOCKET.to_owned(), "built-in default"),
    };
    instance.address = paths::socket(&address);
    instance.address_from = from;
    instance.root = flags
        .root
        .or_else(|| top(&["root"]))
        .unwrap_or_else(|| "/var/lib/containerd".to_owned());
    instance.state = flags
        .state
        .or_else(|| top(&["state"]))
        .unwrap_or_else(|| "/run/containerd".to_owned());
    instance
}

fn from_place(facts: &NodeFacts<'_>, place: &KnownPlace, known: &[Instance]) -> Option<Instance> {
    let args = place.args.map(|path| arg_file(facts.tree, path));
    let mut evidence = Vec::new();
    let mut given = Flags::default();
    if let Some(args) = args {
        let (bundle_path, words) = args?;
        let text: Vec<String> = words.into_iter().map(|(_, word)| word).collect();
        given = flags(&text);
        evidence.push(Evidence {
            path: bundle_path,
            line: 1,
            text: text.join(" "),
        });
    }
    let explicit = given.config.is_some();
    let config_path = given
        .config
        .clone()
        .unwrap_or_else(|| place.config.to_owned());
    let same = |instance: &&Instance| {
        paths::same_run(&paths::clean(&instance.config_path))
            == paths::same_run(&paths::clean(&config_path))
    };
    if known.iter().any(|instance| same(&instance)) {
        return None;
    }
    match facts.tree.read(&config_path) {
        CapturedPath::Content { bundle_path, .. } => {
            evidence.push(Evidence {
                path: bundle_path,
                line: 1,
                text: format!("{config_path} exists"),
            });
        }
        _ if evidence.is_empty() => return None,
        _ => {}
    }
    let unit = (!place.unit.is_empty()).then(|| place.unit.to_owned());
    let unset = given.address.is_none();
    let mut instance = build(
        facts,
        given,
        Instance {
            id: String::new(),
            kind: place.kind,
            config_path,
            config_explicit: explicit,
            address: String::new(),
            address_from: "",
            root: String::new(),
            state: String::new(),
            version: None,
            pid: None,
            started: None,
            unit,
            evidence,
        },
    );
    if unset && instance.address_from == "built-in default" {
        instance.address = place.socket.to_owned();
        instance.address_from = "where this distribution puts it";
    }
    Some(instance)
}

/// Names each by its unit, or by its config path where the unit says too little.
fn name_all(instances: &mut [Instance]) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for unit in instances
        .iter()
        .filter_map(|instance| instance.unit.clone())
    {
        *seen.entry(unit).or_default() += 1;
    }
    for instance in instances.iter_mut() {
        let unit = instance
            .unit
            .clone()
            .filter(|unit| seen.get(unit) == Some(&1));
        instance.id = unit.unwrap_or_else(|| instance.config_path.clone());
    }
    // Two processes on one config file: told apart by their process ids.
    let ids: Vec<String> = instances
        .iter()
        .map(|instance| instance.id.clone())
        .collect();
    for instance in instances.iter_mut() {
        if let Some(pid) = instance
            .pid
            .filter(|_| ids.iter().filter(|id| **id == instance.id).count() > 1)
        {
            instance.id = format!("{} (pid {pid})", instance.id);
        }
    }
}

/// Pairs of instances that share a socket, root or state folder: only one of them can work.
#[must_use]
pub fn shared_paths(instances: &[Instance]) -> Vec<(String, String, String)> {
    let mut out = Vec::new();
    for (n, a) in instances.iter().enumerate() {
        for b in instances
            .iter()
            .skip(n + 1)
            .filter(|b| a.running() && b.running())
        {
            for (path, other) in [
                (&a.address, &b.address),
                (&a.root, &b.root),
                (&a.state, &b.state),
            ] {
                if paths::same_run(path) == paths::same_run(other) {
                    out.push((a.id.clone(), b.id.clone(), path.clone()));
                }
            }
        }
    }
    out
}
