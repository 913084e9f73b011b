//! What is unwell now, and whether a cause explains any of it.
//!
//! A cause is told because something does not work. Where a whole cluster was collected and nothing of it fails, a
//! line in a log is no cause of a failure, whatever it says: it is at most possible. Where something fails, a cause
//! that was seen on other things than those explains none of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Duration, Utc};

use super::compile::Rule;
use super::engine::Sighting;
use super::file::{Group, State};
use super::group::shares;
use super::settled::Runs;
use crate::facts::Facts;
use crate::facts::failing::{ContainerRow, Failing};
use crate::facts::gpu::GpuInventory;
use crate::facts::kube::{Node, Pod};
use crate::model::Place;

/// Pods of which all are well that tell of a cluster that it is.
const CLUSTER: usize = 5;
/// What the kernel said so long ago or less may still be so.
const RECENT: Duration = Duration::hours(1);
/// A speaker that goes on for so long without saying it again has no such trouble any more.
const SILENT: Duration = Duration::minutes(30);
/// So long suffices where all that restarted is ready again.
const RECOVERED: Duration = Duration::minutes(5);
/// Families of causes that a machine has whether pods are well or not.
const MACHINE: [&str; 4] = ["gpu-hardware", "driver", "fabric", "monitoring"];
/// Families of causes that are told by the pod that has them.
const OF_THE_POD: [&str; 3] = ["image", "workload", "storage"];
/// Namespaces that the components of a cluster live in begin so: `kube-system`, `openshift-etcd`.
const SYSTEM: [&str; 2] = ["kube-", "openshift-"];
/// Families of causes that things on the same node suffer from.
const OF_THE_NODE: [&str; 2] = ["node", "runtime"];
/// Families of which a component that has the trouble says so again and again.
const REPEATED: [&str; 5] = ["dns", "image", "network", "scheduling", "storage"];

/// What was seen where a state was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Look {
    /// It is so, which speaks against the cause.
    Found(String, Option<Place>),
    /// It is not so.
    Otherwise(String, Option<Place>),
    /// Nothing of it was collected.
    NotCollected(&'static str),
}

/// The present, as far as causes have to explain it.
pub(super) struct Unwell<'a> {
    now: Option<DateTime<Utc>>,
    /// Pods and nodes were collected, enough of them to speak of a cluster.
    surveyed: bool,
    /// Containers that a runtime lists as running.
    running: usize,
    pods: BTreeMap<String, (bool, &'a str, Place)>,
    /// Pods that have a node, and whose kubelet did not refuse them.
    placed: BTreeSet<String>,
    nodes: BTreeMap<&'a str, (bool, Place)>,
    subjects: BTreeSet<String>,
    /// Nodes of what fails; empty text for what is on none.
    on: BTreeSet<&'a str>,
    /// Nothing fails; what restarted a short while ago is ready.
    recovered: bool,
    /// Something fails that did not start yet.
    unstarted: bool,
    /// A node, a unit or a component of the cluster fails.
    system: bool,
    gpus: Vec<(&'a GpuInventory, &'a Place)>,
}

impl<'a> Unwell<'a> {
    pub(super) fn of(facts: &'a Facts, now: Option<DateTime<Utc>>) -> Self {
        let pods = facts.table::<Pod>();
        let nodes = facts.table::<Node>();
        let runs = Runs::of(facts);
        let settled = |pod: &Pod| runs.settled(pod, now);
        let failing = facts.table::<Failing>().iter().map(|one| &one.data);
        let failing: Vec<&Failing> = failing
            .filter(|one| !matches!(one.what.as_str(), "log" | "kernel" | "gpu" | "operator"))
            .collect();
        let flapping = pods
            .iter()
            .filter(|one| one.data.healthy && !settled(&one.data));
        let rows = facts.table::<ContainerRow>().iter();
        let running = rows.filter(|row| row.data.state == "Running").count();
        let named = |pod: &Pod| format!("pod/{}/{}", pod.namespace, pod.name);
        let mut subjects: BTreeSet<String> =
            failing.iter().map(|one| one.subject.clone()).collect();
        let mut on: BTreeSet<&str> = failing.iter().map(|one| one.node.as_str()).collect();
        let of_system = |namespace: &str| SYSTEM.iter().any(|begin| namespace.starts_with(begin));
        let mut system = failing
            .iter()
            .any(|one| matches!(one.what.as_str(), "node" | "unit") || of_system(&one.namespace));
        for pod in flapping {
            subjects.insert(named(&pod.data));
            on.insert(&pod.data.node);
            system |= of_system(&pod.data.namespace);
        }
        Self {
            now,
            recovered: failing.is_empty() && !subjects.is_empty(),
            unstarted: failing.iter().any(|one| !one.ended),
            system,
            surveyed: pods.len().max(running) >= CLUSTER && !nodes.is_empty(),
            running,
            pods: pods
                .iter()
                .map(|pod| {
                    let told = (
                        settled(&pod.data),
                        pod.data.state.as_str(),
                        pod.place.clone(),
                    );
                    (named(&pod.data), told)
                })
                .collect(),
            placed: pods
                .iter()
                .filter(|one| !one.data.node.is_empty() && one.data.phase != "Failed")
                .map(|one| named(&one.data))
                .collect(),
            nodes: nodes
                .iter()
                .map(|node| {
                    (
                        node.data.name.as_str(),
                        (node.data.ready, node.place.clone()),
                    )
                })
                .collect(),
            subjects,
            on,
            gpus: facts
                .table::<GpuInventory>()
                .iter()
                .map(|one| (&one.data, &one.place))
                .collect(),
        }
    }

    /// Whether a cause that keeps pods from a node was seen on pods alone that have one by now.
    pub(super) fn is_behind(
        &self,
        rule: &Rule,
        group: &Group,
        shared: Option<&str>,
        seen: &BTreeMap<&str, Vec<Arc<Sighting>>>,
    ) -> bool {
        let keeps = rule.file.before_start && rule.file.family == "scheduling";
        let decisive = deciding(group, shared, seen);
        let mut all = decisive.iter().flatten();
        let is_placed = |one: &&Sighting| self.placed.contains(one.subject.as_str()) && !one.state;
        keeps && !decisive.is_empty() && all.all(is_placed)
    }

    /// Why a group that holds is no cause of what is unwell now; none where it may be.
    pub(super) fn explains_nothing(
        &self,
        rule: &Rule,
        group: &Group,
        shared: Option<&str>,
        seen: &BTreeMap<&str, Vec<Arc<Sighting>>>,
    ) -> Option<String> {
        let decisive = deciding(group, shared, seen);
        let family = rule.file.family.as_str();
        if is_state(&decisive) {
            return None;
        }
        let repeats = rule.file.repeats || REPEATED.contains(&family);
        let silent = |one: &Sighting| {
            let of_an_event = one.event && !MACHINE.contains(&family);
            let fails = !self.recovered && self.subjects.contains(one.subject.as_str());
            (repeats || of_an_event) && self.fell_silent(one) && !fails
        };
        if decisive.iter().any(|all| all.iter().all(|one| silent(one))) {
            return Some("its speaker went on for long and did not say it again".to_owned());
        }
        if !self.surveyed || MACHINE.contains(&family) {
            return None;
        }
        let lasting = |one: &&Sighting| self.of_the_kernel(one);
        if decisive.iter().flatten().any(lasting) {
            return None;
        }
        if self.subjects.is_empty() {
            return Some(format!(
                "nothing that it would explain is failing: {} and {} are healthy",
                match self.pods.len() {
                    0 => count(self.running, "container"),
                    pods => count(pods, "pod"),
                },
                count(self.nodes.len(), "node"),
            ));
        }
        if rule.file.control_plane && !self.system {
            return Some(
                "no node and no component of the cluster fails, so it explains nothing that is failing"
                    .to_owned(),
            );
        }
        let restarted = |one: &&Sighting| self.subjects.contains(one.subject.as_str());
        let on_ready = || decisive.iter().any(|all| !all.iter().any(restarted));
        if rule.file.control_plane && self.recovered && on_ready() {
            return Some(
                "nothing fails, and what it was seen on did not restart with what restarted"
                    .to_owned(),
            );
        }
        if rule.file.before_start && !self.unstarted {
            return Some("what fails had been started, so it explains none of it".to_owned());
        }
        let explains = |one: &Sighting| one.state || self.touches(family, one);
        let all = decisive
            .iter()
            .all(|all| all.iter().any(|one| explains(one)));
        (!all).then(|| {
            "what it was seen on is healthy, so it explains nothing that is failing".to_owned()
        })
    }

    /// Whether who said it went on without saying it again.
    fn fell_silent(&self, one: &Sighting) -> bool {
        let enough = match self.recovered {
            true => RECOVERED,
            false => SILENT,
        };
        let ends = one.log_ends.zip(one.last);
        !one.state && (one.silent || ends.is_some_and(|(ends, last)| ends - last > enough))
    }

    /// Whether the kernel said it a short while ago.
    fn of_the_kernel(&self, one: &Sighting) -> bool {
        let recent = match (self.now, one.last) {
            (Some(now), Some(last)) => now - last < RECENT,
            _ => true,
        };
        one.kernel && one.over.is_none() && recent
    }

    /// Whether something that fails may be so because of what was seen here.
    fn touches(&self, family: &str, one: &Sighting) -> bool {
        if self.subjects.contains(one.subject.as_str()) {
            return true;
        }
        let of_a_well_pod = self
            .pods
            .get(one.subject.as_str())
            .is_some_and(|(well, ..)| *well);
        if of_a_well_pod && OF_THE_POD.contains(&family) {
            return false;
        }
        let anywhere = one.node.is_empty() || self.on.contains("");
        anywhere || !OF_THE_NODE.contains(&family) || self.on.contains(one.node.as_str())
    }

    /// Looks whether a state speaks against what was seen.
    pub(super) fn look(&self, state: State, decisive: &[Vec<&Sighting>]) -> Look {
        match state {
            State::GpusListed => self.gpus_listed(decisive),
            State::PodWell => self.pods_well(decisive),
            State::NodeReady => self.node_ready(decisive),
            State::AllWell if is_state(decisive) => {
                Look::NotCollected("the fault is in what is configured, whatever pods do")
            }
            State::AllWell => self.all_well(),
            State::NothingFails => self.nothing_fails(),
        }
    }

    fn nothing_fails(&self) -> Look {
        match (self.pods.values().next(), self.subjects.iter().next()) {
            (None, _) => Look::NotCollected("no pods were collected"),
            (_, Some(first)) => Look::Otherwise(format!("{first} fails"), None),
            (Some((_, _, place)), None) => Look::Found(
                format!("{}, all healthy", count(self.pods.len(), "pod")),
                Some(place.clone()),
            ),
        }
    }

    fn gpus_listed(&self, decisive: &[Vec<&Sighting>]) -> Look {
        let node = |one: &&&Sighting| !one.node.is_empty();
        let node = decisive.iter().flatten().find(node);
        let node = node.map_or("", |one| one.node.as_str());
        let own = |known: &&(&GpuInventory, &Place)| {
            known.0.node == node || node.is_empty() || known.0.node.is_empty()
        };
        let Some((gpus, place)) = self.gpus.iter().find(own) else {
            return Look::NotCollected("no list of GPUs by nvidia-smi was collected");
        };
        if gpus.all_well {
            Look::Found(gpus.says.clone(), Some((*place).clone()))
        } else {
            let says = format!("{}, {} of them well", gpus.says, gpus.well);
            Look::Otherwise(says, Some((*place).clone()))
        }
    }

    fn pods_well(&self, decisive: &[Vec<&Sighting>]) -> Look {
        let subjects = decisive.iter().flatten().map(|one| one.subject.as_str());
        let named: BTreeSet<&str> = subjects.filter(|one| one.starts_with("pod/")).collect();
        let known: Vec<_> = named
            .iter()
            .filter_map(|one| Some((one, self.pods.get(*one)?)))
            .collect();
        let unwell = known.iter().find(|(_, (well, ..))| !well);
        match (unwell, known.first()) {
            (Some((name, (_, state, place))), _) => {
                Look::Otherwise(format!("{name} is {state}"), Some(place.clone()))
            }
            (None, Some((name, (_, _, place)))) => {
                Look::Found(format!("{name} runs and is ready"), Some(place.clone()))
            }
            (None, None) => Look::NotCollected("the state of the pod was not collected"),
        }
    }

    fn node_ready(&self, decisive: &[Vec<&Sighting>]) -> Look {
        let named = decisive.iter().flatten().map(|one| one.node.as_str());
        let named: BTreeSet<&str> = named.filter(|node| !node.is_empty()).collect();
        let only = self.nodes.iter().next().filter(|_| self.nodes.len() == 1);
        let mut known = named
            .iter()
            .filter_map(|node| Some((*node, self.nodes.get(node)?)))
            .chain(
                only.filter(|_| named.is_empty())
                    .map(|(name, told)| (*name, told)),
            );
        match known.next() {
            Some((name, (true, place))) => {
                Look::Found(format!("node {name} is ready"), Some(place.clone()))
            }
            Some((name, (false, place))) => {
                Look::Otherwise(format!("node {name} is not ready"), Some(place.clone()))
            }
            None => Look::NotCollected("the state of the node was not collected"),
        }
    }

    fn all_well(&self) -> Look {
        if !self.surveyed {
            return Look::NotCollected("the pods and nodes of the cluster were not collected");
        }
        match self.subjects.iter().next() {
            Some(first) => Look::Otherwise(format!("{first} fails"), None),
            None => Look::Found("every pod and node is healthy".to_owned(), None),
        }
    }
}

/// What a group that holds rests on: the sightings of each signal that it asks for, and of the best of those of
/// which one is enough.
pub(super) fn deciding<'s>(
    group: &Group,
    shared: Option<&str>,
    seen: &'s BTreeMap<&str, Vec<Arc<Sighting>>>,
) -> Vec<Vec<&'s Sighting>> {
    let of = |signal: &String| -> Vec<&'s Sighting> {
        let all = seen.get(signal.as_str()).map_or(&[][..], Vec::as_slice);
        let own = all
            .iter()
            .map(Arc::as_ref)
            .filter(|one| shared.is_none_or(|shared| shares(group.same, one, shared)));
        own.collect()
    };
    let any: Vec<&Sighting> = group.any.iter().flat_map(of).collect();
    let all = group.all.iter().map(of).chain([any]);
    all.filter(|sightings| !sightings.is_empty()).collect()
}

/// Whether how things are decides, and not what somebody said.
fn is_state(decisive: &[Vec<&Sighting>]) -> bool {
    decisive.iter().all(|all| all.iter().any(|one| one.state))
}

fn count(number: usize, noun: &str) -> String {
    crate::words::count(u64::try_from(number).unwrap_or(u64::MAX), noun)
}
