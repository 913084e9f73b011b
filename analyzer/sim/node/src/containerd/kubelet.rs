//! Which containerd the kubelet talks to, and what shows it.

use serde::Serialize;

use super::instances::{DEFAULT_SOCKET, Evidence, Instance, InstanceKind, NodeFacts};
use super::kubelet_settings;
use super::paths;

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
    let found = kubelet_settings::in_process(facts, ENDPOINT);
    if found.is_none() {
        missing.push(match kubelet_settings::kubelets(facts).next() {
            Some(kubelet) => format!(
                "no --{ENDPOINT} on the command line of kubelet pid {}",
                kubelet.pid
            ),
            None if facts.processes_captured => "no kubelet process was running".to_owned(),
            None => "processes were not captured".to_owned(),
        });
    }
    found
}

fn from_arg_files(facts: &NodeFacts<'_>, _: &[Instance], missing: &mut Vec<String>) -> Found {
    let found = kubelet_settings::in_arg_files(facts, ENDPOINT);
    if found.is_none() {
        missing.push(format!(
            "no captured file of kubelet arguments sets --{ENDPOINT}"
        ));
    }
    found
}

fn from_config(facts: &NodeFacts<'_>, _: &[Instance], missing: &mut Vec<String>) -> Found {
    let found = kubelet_settings::in_config(facts, "containerRuntimeEndpoint");
    if found.is_none() {
        missing.push("no captured KubeletConfiguration sets containerRuntimeEndpoint".to_owned());
    }
    found
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
