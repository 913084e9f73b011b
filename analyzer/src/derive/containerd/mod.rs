//! Container runtimes: which containerd the kubelet uses, which handlers each instance would resolve,
//! what is wrong with its configuration, and which one the NVIDIA toolkit was told to configure.

pub(crate) mod ask;
pub(super) mod cgroup;
pub(super) mod checks;
mod layers;
mod pasted;
pub(super) mod programs;
mod registry;
mod said;
mod toolkit;
pub(super) mod tree;

use std::collections::{BTreeMap, BTreeSet};

use super::{Deriver, Known, line_at};
use crate::containerd::config::RootFile;
use crate::containerd::handlers::{Cri, cri_view};
use crate::containerd::instances::{
    Evidence, Instance, NodeFacts, Process as Seen, find_instances,
};
use crate::containerd::kubelet::{KubeletUse, kubelet_uses};
use crate::containerd::{EffectiveConfig, MapTree, resolve, staleness};
use crate::facts::kube::{Node, RuntimeClass};
use crate::facts::node::Process;
use crate::facts::runtime::ContainerdInstance;
use crate::facts::{AnyFact, Fact};
use crate::model::Place;
use crate::parsers::{CapturedFile, InstanceRecord};
use casefile_bundle::Entry;
use checks::{fault_fact, handler_fact, word};

/// Joins processes, host files, Node objects, RuntimeClasses and helm values.
pub(super) static DERIVER: Deriver = Deriver {
    id: "containerd",
    derive,
};

/// Everything resolved about one node.
pub(super) struct Resolved {
    pub(super) node: String,
    pub(super) instances: Vec<Instance>,
    pub(super) kubelet: KubeletUse,
    pub(super) cgroups: cgroup::Setting,
    configs: BTreeMap<String, EffectiveConfig>,
    cris: BTreeMap<String, Cri>,
}

impl Resolved {
    /// The effective configuration of an instance, and what the CRI makes of it.
    pub(super) fn of(&self, instance: &Instance) -> Option<(&EffectiveConfig, &Cri)> {
        Some((
            self.configs.get(&instance.id)?,
            self.cris.get(&instance.id)?,
        ))
    }

    pub(super) fn used(&self, id: &str) -> &'static str {
        match &self.kubelet {
            KubeletUse::Instance { id: used, .. } if used == id => "yes",
            KubeletUse::Unknown { .. } => "unknown",
            _ => "no",
        }
    }
}

fn derive(known: &Known<'_>) -> Vec<AnyFact> {
    let mut facts = Vec::new();
    for node in known.nodes() {
        let tree = tree::captured(known, &node);
        let resolved = resolve_node(known, &node, &tree);
        for instance in &resolved.instances {
            facts.extend(instance_facts(known, &resolved, instance));
            facts.extend(cgroup::facts(known, &resolved, instance));
            facts.extend(programs::facts(known, &resolved, instance));
            facts.extend(registry::facts(known, &resolved, instance, &tree));
        }
        facts.extend(programs::toolkit(known, &node));
        facts.extend(toolkit::targets(known, &resolved));
        facts.extend(pasted::facts(known, &node));
    }
    facts
}

pub(super) fn resolve_node(known: &Known<'_>, node: &str, tree: &MapTree) -> Resolved {
    let processes = processes(known, node);
    let runtime = node_text(known, node, |node| Some(node.runtime.clone()));
    let socket = node_text(known, node, |node| node.cri_socket.clone());
    let versions = versions(known, node);
    let facts = NodeFacts {
        tree,
        processes: &processes,
        processes_captured: known
            .paths
            .contains(Entry::Node(node, "processes.json").path().as_str()),
        versions: &versions,
        node_runtime: runtime.as_ref(),
        cri_socket: socket.as_ref(),
    };
    let instances = find_instances(&facts);
    let kubelet = kubelet_uses(&facts, &instances);
    let version = node_text(known, node, |node| Some(node.kubelet.clone()));
    let cgroups = cgroup::setting(&facts, version.as_ref().map_or("", |one| one.text.as_str()));
    let mut configs = BTreeMap::new();
    let mut cris = BTreeMap::new();
    for instance in &instances {
        let root = RootFile {
            path: &instance.config_path,
            explicit: instance.config_explicit,
        };
        let config = resolve(tree, root, instance.version.as_deref());
        cris.insert(instance.id.clone(), cri_view(&config));
        configs.insert(instance.id.clone(), config);
    }
    Resolved {
        node: node.to_owned(),
        instances,
        kubelet,
        cgroups,
        configs,
        cris,
    }
}

fn processes(known: &Known<'_>, node: &str) -> Vec<Seen> {
    let of_node = known
        .facts
        .table::<Process>()
        .iter()
        .filter(|process| process.data.node == node);
    of_node
        .map(|process| Seen {
            pid: u32::try_from(process.data.pid).unwrap_or(0),
            comm: process.data.comm.clone(),
            exe: Some(process.data.exe.clone()).filter(|exe| !exe.is_empty()),
            cmdline: process.data.cmdline.clone(),
            started: process.data.started.map(|at| at.to_rfc3339()),
            cgroup: Some(process.data.cgroup.clone()).filter(|cgroup| !cgroup.is_empty()),
            unit: None,
            source: Some(evidence(&process.place, &process.text)),
        })
        .collect()
}

fn evidence(place: &Place, text: &str) -> Evidence {
    Evidence {
        path: place.path.to_string(),
        line: place.line.unwrap_or(0),
        text: text.to_owned(),
    }
}

/// A text of the Node object; of the only Node where names differ, since a bundle is of one node.
fn node_text(
    known: &Known<'_>,
    name: &str,
    pick: impl Fn(&Node) -> Option<String>,
) -> Option<Evidence> {
    let nodes = known.facts.table::<Node>();
    let own = nodes.iter().find(|node| node.data.name == name);
    let node = own.or(nodes.first().filter(|_| nodes.len() == 1))?;
    let text = pick(&node.data).filter(|text| !text.is_empty())?;
    Some(evidence(&node.place, &text))
}

fn versions(known: &Known<'_>, node: &str) -> BTreeMap<String, String> {
    let records = known.facts.table::<InstanceRecord>().iter();
    records
        .filter(|record| record.data.node == node)
        .filter_map(|record| Some((record.data.binary.clone()?, record.data.version.clone()?)))
        .collect()
}

fn instance_facts(known: &Known<'_>, resolved: &Resolved, instance: &Instance) -> Vec<AnyFact> {
    let Some((config, cri)) = resolved.of(instance) else {
        return Vec::new();
    };
    let mut facts = vec![
        instance_fact(known, resolved, instance, config, cri),
        layers::fact(resolved, instance, config, cri),
    ];
    for problem in config.problems.iter().chain(&cri.problems) {
        facts.push(fault_fact(known, resolved, instance, problem));
    }
    facts.extend(handler_facts(known, resolved, instance));
    facts
}

/// What the instance makes of every handler that a RuntimeClass names.
fn handler_facts(known: &Known<'_>, resolved: &Resolved, instance: &Instance) -> Vec<AnyFact> {
    let Some((config, cri)) = resolved.of(instance) else {
        return Vec::new();
    };
    let wanted: BTreeSet<&str> = known
        .facts
        .table::<RuntimeClass>()
        .iter()
        .map(|class| class.data.handler.as_str())
        .filter(|handler| !handler.is_empty())
        .collect();
    let said = said::said(known, resolved, instance, config);
    let checks = wanted.into_iter();
    checks
        .flat_map(|handler| {
            let check = cri.check(config, handler);
            handler_fact(
                known,
                resolved,
                instance,
                config,
                handler,
                check,
                said.as_ref(),
            )
        })
        .collect()
}

fn instance_fact(
    known: &Known<'_>,
    resolved: &Resolved,
    instance: &Instance,
    config: &EffectiveConfig,
    cri: &Cri,
) -> AnyFact {
    let data = ContainerdInstance {
        node: resolved.node.clone(),
        id: instance.id.clone(),
        config: instance.config_path.clone(),
        socket: instance.address.clone(),
        version: instance.version.clone().unwrap_or_default(),
        pid: instance.pid.map(u64::from),
        used_by_kubelet: resolved.used(&instance.id).to_owned(),
        handlers: cri.handlers.keys().cloned().collect(),
        default_runtime: cri.default_runtime_name.value.clone(),
        has_nvidia: !cri.nvidia_handlers().is_empty(),
        complete: !config.uncertain()
            && said::said(known, resolved, instance, config)
                .is_none_or(|said| said.agrees_on_nvidia(cri)),
        stale: stale(known, resolved, instance, config).to_owned(),
    };
    // The strongest line about an instance: what shows the kubelet's choice, where it is the chosen
    // one; the NVIDIA runtime's table where it has one; else what shows that it exists.
    let chosen = match &resolved.kubelet {
        KubeletUse::Instance { id, why, .. } if *id == instance.id => why.first(),
        _ => None,
    };
    let nvidia = cri
        .nvidia_handlers()
        .into_iter()
        .find_map(|handler| handler.place.as_ref());
    let (place, text) = match (chosen, nvidia) {
        (Some(line), _) => of_evidence(known, line),
        (None, Some(place)) => of_place(known, place),
        (None, None) => instance.evidence.first().map_or_else(
            || (Place::default(), String::new()),
            |line| of_evidence(known, line),
        ),
    };
    Fact {
        data,
        place,
        text: text.into(),
        at: None,
    }
    .into()
}

/// A line of the bundle with its own text where that is kept, else the text that was read from it.
fn of_evidence(known: &Known<'_>, line: &Evidence) -> (Place, String) {
    let place = Place {
        path: line.path.as_str().into(),
        line: (line.line > 0).then_some(line.line),
    };
    let text = text_at(known, &place).unwrap_or_else(|| focus(&line.text));
    (place, text)
}

pub(super) fn of_place(known: &Known<'_>, place: &crate::containerd::FileLine) -> (Place, String) {
    let place = Place {
        path: place.bundle_path.as_str().into(),
        line: Some(place.line),
    };
    let text = text_at(known, &place).unwrap_or_default();
    (place, text)
}

fn text_at(known: &Known<'_>, place: &Place) -> Option<String> {
    let text = line_at(known.documents, &place.path, place.line?)?;
    Some(focus(text.trim()))
}

/// Of a long line (a process with all its arguments) the part from the argument that matters on.
fn focus(text: &str) -> String {
    const LONGEST: usize = 300;
    let telling = ["--container-runtime-endpoint", "\"--config", "\"--address"];
    let at = telling.iter().find_map(|needle| text.find(needle));
    match at.filter(|_| text.len() > LONGEST) {
        Some(at) => crate::facts::excerpt(&text[at..], LONGEST),
        None => crate::facts::excerpt(text, 600),
    }
}

/// Whether a file that the instance reads was changed after its process had started.
fn stale(
    known: &Known<'_>,
    resolved: &Resolved,
    instance: &Instance,
    config: &EffectiveConfig,
) -> &'static str {
    let files = known.facts.table::<CapturedFile>().iter();
    let of_node = files.filter(|file| file.data.node == resolved.node);
    let written = of_node
        .filter_map(|file| Some((file.data.path.clone(), file.data.mtime?.to_rfc3339())))
        .collect();
    word(staleness(instance, config, &written).stale)
}
