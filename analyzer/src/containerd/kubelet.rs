//! Which containerd the kubelet talks to, and what shows it.

use serde::Serialize;

use super::args::{arg_file, option};
use super::instances::{DEFAULT_SOCKET, Evidence, Instance, InstanceKind, NodeFacts};
use super::paths;
use super::tree::Captured;

/// What the kubelet uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum KubeletUse {
    /// This instance.
    Instance {
        /// Its id.
        id: String,
        /// The endpoint in one spelling.
        endpoint: String,
        /// What shows it, strongest first.
        why: Vec<Evidence>,
    },
    /// An endpoint that belongs to no containerd of the node.
    NoSuchInstance {
        /// The endpoint in one spelling.
        endpoint: String,
        /// What shows it.
        why: Vec<Evidence>,
    },
    /// Another runtime, such as CRI-O.
    OtherRuntime {
        /// The endpoint in one spelling.
        endpoint: String,
        /// What shows it.
        why: Vec<Evidence>,
    },
    /// The capture does not tell.
    Unknown {
        /// What was looked for and not found.
        missing: Vec<String>,
    },
}

impl KubeletUse {
    /// The id of the instance, where it is known.
    #[must_use]
    pub fn instance(&self) -> Option<&str> {
        if let Self::Instance { id, .. } = self {
            Some(id)
        } else {
            None
        }
    }
}

const ENDPOINT: &str = "container-runtime-endpoint";

/// Files that hold kubelet arguments, in the order of their authority.
const ARG_FILES: [&str; 8] = [
    "/var/snap/k8s/common/args/kubelet",
    "/var/snap/microk8s/current/args/kubelet",
    "/var/lib/kubelet/kubeadm-flags.env",
    "/etc/default/kubelet",
    "/etc/sysconfig/kubelet",
    "/etc/systemd/system/kubelet.service",
    "/usr/lib/systemd/system/kubelet.service",
    "/lib/systemd/system/kubelet.service",
];
const UNIT_DROPINS: [&str; 3] = [
    "/etc/systemd/system/kubelet.service.d/*.conf",
    "/usr/lib/systemd/system/kubelet.service.d/*.conf",
    "/lib/systemd/system/kubelet.service.d/*.conf",
];
const CONFIG_FILES: [&str; 4] = [
    "/var/lib/kubelet/config.yaml",
    "/etc/kubernetes/kubelet/kubelet-config.json",
    "/etc/kubernetes/kubelet/config.json",
    "/etc/kubernetes/kubelet-config.yaml",
];

/// Decides which of the instances the kubelet uses.
///
/// Order of authority: the running kubelet's command line, the files its arguments come from, its
/// configuration file, the distribution that embeds both, the node's annotation, and last the only candidate.
#[must_use]
pub fn kubelet_uses(facts: &NodeFacts<'_>, instances: &[Instance]) -> KubeletUse {
    let mut missing = Vec::new();
    let sources = [
        from_process,
        from_arg_files,
        from_config,
        from_embedding,
        from_annotation,
    ];
    let mut answer: Option<(String, Vec<Evidence>)> = None;
    for source in sources {
        let Some((endpoint, evidence)) = source(facts, instances, &mut missing) else {
            continue;
        };
        match &mut answer {
            None => answer = Some((paths::socket(&endpoint), vec![evidence])),
            // Weaker sources that agree are kept; those that do not are overruled.
            Some((known, why)) if *known == paths::socket(&endpoint) => why.push(evidence),
            Some(_) => {}
        }
    }
    match answer {
        Some((endpoint, why)) => place(endpoint, why, facts, instances),
        None => only_candidate(facts, instances, missing),
    }
}

fn place(
    endpoint: String,
    mut why: Vec<Evidence>,
    facts: &NodeFacts<'_>,
    instances: &[Instance],
) -> KubeletUse {
    if ["crio", "dockershim", "cri-dockerd", "frakti"]
        .iter()
        .any(|name| endpoint.contains(name))
    {
        return KubeletUse::OtherRuntime { endpoint, why };
    }
    let real = |path: &str| paths::same_run(&facts.tree.canonical(path));
    let serves = |instance: &&Instance| {
        instance.kind != InstanceKind::Docker && real(&instance.address) == real(&endpoint)
    };
    // A socket that several name in their config belongs to the one that runs.
    let found = instances
        .iter()
        .filter(serves)
        .max_by_key(|instance| (instance.running(), instance.kind == InstanceKind::K8sSnap));
    match found {
        Some(instance) => {
            why.extend(instance.evidence.iter().cloned());
            KubeletUse::Instance {
                id: instance.id.clone(),
                endpoint,
                why,
            }
        }
        None => KubeletUse::NoSuchInstance { endpoint, why },
    }
}

type Found = Option<(String, Evidence)>;

fn from_process(facts: &NodeFacts<'_>, _: &[Instance], missing: &mut Vec<String>) -> Found {
    let mut kubelets = facts
        .processes
        .iter()
        .filter(|process| runs_kubelet(process.program()));
    let found = kubelets
        .clone()
        .find_map(|process| Some((option(&process.cmdline, &[ENDPOINT])?, process)));
    if found.is_none() {
        missing.push(match kubelets.next() {
            Some(kubelet) => format!(
                "no --{ENDPOINT} on the command line of kubelet pid {}",
                kubelet.pid
            ),
            None if facts.processes_captured => "no kubelet process was running".to_owned(),
            None => "processes were not captured".to_owned(),
        });
    }
    found.map(|(endpoint, process)| (endpoint, process.evidence()))
}

fn runs_kubelet(program: &str) -> bool {
    matches!(
        program,
        "kubelet" | "kubelite" | "k3s" | "k3s-server" | "k3s-agent" | "rke2" | "k0s"
    )
}

fn from_arg_files(facts: &NodeFacts<'_>, _: &[Instance], missing: &mut Vec<String>) -> Found {
    let mut files: Vec<String> = ARG_FILES.iter().map(|&path| path.to_owned()).collect();
    for pattern in UNIT_DROPINS {
        files.extend(facts.tree.glob(pattern).paths);
    }
    for path in files {
        let Some((bundle_path, words)) = arg_file(facts.tree, &path) else {
            continue;
        };
        // `KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=…` starts with a name.
        let words = words.into_iter().map(|(line, word)| {
            let at = word.find("--").unwrap_or(0);
            (
                line,
                word.get(at..)
                    .unwrap_or_default()
                    .trim_end_matches(['"', '\'', '\\'])
                    .to_owned(),
            )
        });
        let (lines, words): (Vec<u32>, Vec<String>) = words.unzip();
        if let Some(endpoint) = option(&words, &[ENDPOINT]) {
            let at = words
                .iter()
                .rposition(|word| word.contains(ENDPOINT))
                .unwrap_or(0);
            let line = lines.get(at).copied().unwrap_or(1);
            let text = format!("--{ENDPOINT}={endpoint}");
            return Some((
                endpoint,
                Evidence {
                    path: bundle_path,
                    line,
                    text,
                },
            ));
        }
    }
    missing.push(format!(
        "no captured file of kubelet arguments sets --{ENDPOINT}"
    ));
    None
}

fn from_config(facts: &NodeFacts<'_>, _: &[Instance], missing: &mut Vec<String>) -> Found {
    let kubelets = facts
        .processes
        .iter()
        .filter(|process| runs_kubelet(process.program()));
    let mut files: Vec<String> = kubelets
        .clone()
        .filter_map(|process| option(&process.cmdline, &["config"]))
        .collect();
    for dir in kubelets.filter_map(|process| option(&process.cmdline, &["config-dir"])) {
        // Drop-ins override the file, the last one wins.
        let found = facts.tree.glob(&paths::join(&dir, "*.conf")).paths;
        files.splice(0..0, found.into_iter().rev());
    }
    files.extend(CONFIG_FILES.iter().map(|&path| path.to_owned()));
    for path in files {
        let Captured::Content { bundle_path, text } = facts.tree.read(&path) else {
            continue;
        };
        for (number, line) in text.lines().enumerate() {
            if let Some(endpoint) = config_value(line, "containerRuntimeEndpoint") {
                let line_number = u32::try_from(number + 1).unwrap_or(u32::MAX);
                return Some((
                    endpoint,
                    Evidence {
                        path: bundle_path,
                        line: line_number,
                        text: line.trim().to_owned(),
                    },
                ));
            }
        }
    }
    missing.push("no captured KubeletConfiguration sets containerRuntimeEndpoint".to_owned());
    None
}

/// The value of a top-level key in YAML, or of a key in JSON with one key a line.
fn config_value(line: &str, key: &str) -> Option<String> {
    let yaml = line.strip_prefix(key);
    let json = line
        .trim_start()
        .strip_prefix('"')
        .and_then(|rest| rest.strip_prefix(key)?.strip_prefix('"'));
    let value = yaml.or(json)?.trim_start().strip_prefix(':')?.trim();
    let value = value
        .split(" #")
        .next()
        .unwrap_or_default()
        .trim_end_matches(',')
        .trim()
        .trim_matches(['"', '\'']);
    (!value.is_empty()).then(|| value.to_owned())
}

/// K3s, RKE2, k0s and MicroK8s start kubelet and containerd together.
fn from_embedding(facts: &NodeFacts<'_>, instances: &[Instance], _: &mut Vec<String>) -> Found {
    let embeds = |kind| {
        matches!(
            kind,
            InstanceKind::K3s | InstanceKind::Rke2 | InstanceKind::K0s | InstanceKind::Microk8s
        )
    };
    let running = instances
        .iter()
        .filter(|instance| embeds(instance.kind) && instance.running());
    let mut candidates = running.collect::<Vec<_>>();
    if candidates.is_empty() && !facts.processes_captured {
        candidates = instances
            .iter()
            .filter(|instance| embeds(instance.kind))
            .collect();
    }
    let [only] = candidates.as_slice() else {
        return None;
    };
    let evidence = only.evidence.first()?;
    let text = format!(
        "{} starts the kubelet with its own containerd: {}",
        kind_name(only.kind),
        evidence.text
    );
    Some((
        only.address.clone(),
        Evidence {
            text,
            ..evidence.clone()
        },
    ))
}

fn kind_name(kind: InstanceKind) -> &'static str {
    match kind {
        InstanceKind::K3s => "K3s",
        InstanceKind::Rke2 => "RKE2",
        InstanceKind::K0s => "k0s",
        InstanceKind::Microk8s => "MicroK8s",
        _ => "the distribution",
    }
}

fn from_annotation(facts: &NodeFacts<'_>, _: &[Instance], missing: &mut Vec<String>) -> Found {
    if facts.cri_socket.is_none() {
        missing
            .push("the node has no annotation kubeadm.alpha.kubernetes.io/cri-socket".to_owned());
    }
    facts
        .cri_socket
        .map(|evidence| (evidence.text.clone(), evidence.clone()))
}

/// Without any statement: the only containerd that can be meant, or the kubelet's built-in endpoint.
fn only_candidate(
    facts: &NodeFacts<'_>,
    instances: &[Instance],
    mut missing: Vec<String>,
) -> KubeletUse {
    if let Some(other) = facts
        .node_runtime
        .filter(|evidence| !evidence.text.contains("containerd"))
    {
        return KubeletUse::OtherRuntime {
            endpoint: String::new(),
            why: vec![other.clone()],
        };
    }
    let mut candidates: Vec<&Instance> = instances
        .iter()
        .filter(|instance| instance.kind != InstanceKind::Docker)
        .collect();
    if facts.processes_captured && candidates.iter().any(|instance| instance.running()) {
        candidates.retain(|instance| instance.running());
    }
    let kubelet = facts
        .processes
        .iter()
        .find(|process| process.program() == "kubelet");
    if let (Some(kubelet), Some(found)) = (
        kubelet,
        candidates
            .iter()
            .find(|instance| instance.address == DEFAULT_SOCKET),
    ) {
        let text = format!(
            "kubelet pid {} names no endpoint, so its built-in one {DEFAULT_SOCKET} applies",
            kubelet.pid
        );
        let why = vec![Evidence {
            text,
            ..kubelet.evidence()
        }];
        return KubeletUse::Instance {
            id: found.id.clone(),
            endpoint: DEFAULT_SOCKET.to_owned(),
            why,
        };
    }
    match candidates.as_slice() {
        [only] if facts.processes_captured || facts.node_runtime.is_some() => {
            let mut why = only.evidence.clone();
            why.extend(facts.node_runtime.cloned());
            KubeletUse::Instance {
                id: only.id.clone(),
                endpoint: only.address.clone(),
                why,
            }
        }
        _ => {
            missing.push(format!(
                "{} containerd instances could be meant",
                candidates.len()
            ));
            KubeletUse::Unknown { missing }
        }
    }
}
