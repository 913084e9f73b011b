//! Affinity to pods and away from pods, of the pod itself and of those that run already.

use std::collections::BTreeMap;

use super::{Predicate, Reason};
use crate::scheduling::api::{Node, Pod, PodAffinityTerm};
use crate::scheduling::cluster::Cluster;
use crate::scheduling::selector::matches;

/// A node label and its value: a place.
type Place<'a> = (&'a str, &'a str);

/// Pods that matter in a place: how many, and one of them.
struct Standing<'a> {
    count: i64,
    one: &'a Pod,
}

type Places<'a> = BTreeMap<Place<'a>, Standing<'a>>;

/// Places where pods stand that matter.
pub(super) struct State<'a> {
    wants: &'a [PodAffinityTerm],
    avoids: &'a [PodAffinityTerm],
    wanted: Places<'a>,
    avoided: Places<'a>,
    forbidden: Places<'a>,
    /// Pods in all wanted places together.
    kind: i64,
    /// The pod wants to be beside its own kind, and may start where there is none.
    of_kind: bool,
}

impl<'a> State<'a> {
    pub(super) fn of(pod: &'a Pod, cluster: &Cluster<'a>, open: &mut Vec<String>) -> Self {
        let affinity = &pod.spec.affinity;
        let wants = terms(&affinity.pod_affinity);
        let avoids = terms(&affinity.pod_anti_affinity);
        let mut state = Self {
            wants,
            avoids,
            wanted: BTreeMap::new(),
            avoided: BTreeMap::new(),
            forbidden: BTreeMap::new(),
            kind: 0,
            of_kind: !wants.is_empty()
                && wants.iter().all(|term| is_about(term, pod, pod, cluster)),
        };
        let by_namespace = wants
            .iter()
            .chain(avoids)
            .any(|t| t.namespace_selector.is_some());
        if by_namespace && cluster.inputs.namespaces.is_none() {
            open.push(
                "its affinity selects namespaces by label, and namespaces were not collected"
                    .into(),
            );
        }
        for (other, node) in cluster.placed() {
            state.count(pod, other, node, cluster, 1);
        }
        state
    }

    /// Counts a pod of a node in (1) or out (-1).
    pub(super) fn count(
        &mut self,
        pod: &'a Pod,
        other: &'a Pod,
        node: &'a Node,
        cluster: &Cluster<'a>,
        by: i64,
    ) {
        let (wants, avoids) = (self.wants, self.avoids);
        if !wants.is_empty() && wants.iter().all(|term| is_about(term, pod, other, cluster)) {
            for term in wants {
                self.kind += mark(&mut self.wanted, term, node, other, by);
            }
        }
        for term in avoids {
            if is_about(term, pod, other, cluster) {
                mark(&mut self.avoided, term, node, other, by);
            }
        }
        for term in terms(&other.spec.affinity.pod_anti_affinity) {
            if is_about(term, other, pod, cluster) {
                mark(&mut self.forbidden, term, node, other, by);
            }
        }
    }

    pub(super) fn filter(&self, node: &Node) -> Option<Reason> {
        self.without_wanted(node)
            .or_else(|| self.beside_avoided(node))
            .or_else(|| self.where_forbidden(node))
    }

    fn without_wanted(&self, node: &Node) -> Option<Reason> {
        let missing = self.wants.iter().find(|term| {
            let key = term.topology_key.as_str();
            match node.metadata.labels.get(key) {
                None => true,
                Some(value) => {
                    let first_of_kind = self.of_kind && self.kind == 0;
                    standing(&self.wanted, key, value).is_none() && !first_of_kind
                }
            }
        })?;
        let key = &missing.topology_key;
        let detail = match node.metadata.labels.get(key) {
            None => format!("the node has no label {key}"),
            Some(value) => format!("no pod that the affinity asks for runs in {key}={value}"),
        };
        let says = "node(s) didn't match pod affinity rules";
        Some(Reason::new(Predicate::PodAffinity, says, detail))
    }

    fn beside_avoided(&self, node: &Node) -> Option<Reason> {
        let (term, other) = self.avoids.iter().find_map(|term| {
            let key = term.topology_key.as_str();
            let value = node.metadata.labels.get(key)?;
            Some((term, standing(&self.avoided, key, value)?))
        })?;
        let detail = format!("{} runs in the same {}", other.id(), term.topology_key);
        let says = "node(s) didn't match pod anti-affinity rules";
        Some(Reason::new(Predicate::PodAffinity, says, detail).resolvable())
    }

    fn where_forbidden(&self, node: &Node) -> Option<Reason> {
        let labels = &node.metadata.labels;
        let mut places = self.forbidden.iter();
        let ((key, _), Standing { one: other, .. }) = places.find(|((key, value), standing)| {
            standing.count > 0 && labels.get(*key).is_some_and(|own| own == value)
        })?;
        let detail = format!(
            "{} runs in the same {key} and keeps such pods away",
            other.id()
        );
        let says = "node(s) didn't satisfy existing pods anti-affinity rules";
        Some(Reason::new(Predicate::PodAffinity, says, detail).resolvable())
    }
}

/// Counts a pod in or out of the place that a term names on its node; 0 where the node is in no such place.
fn mark<'a>(
    places: &mut Places<'a>,
    term: &'a PodAffinityTerm,
    node: &'a Node,
    pod: &'a Pod,
    by: i64,
) -> i64 {
    let Some(value) = node.metadata.labels.get(&term.topology_key) else {
        return 0;
    };
    let place = (term.topology_key.as_str(), value.as_str());
    let start = Standing { count: 0, one: pod };
    places.entry(place).or_insert(start).count += by;
    by
}

/// A pod that stands in a place.
fn standing<'a>(places: &Places<'a>, key: &'a str, value: &'a str) -> Option<&'a Pod> {
    let standing = places.get(&(key, value))?;
    (standing.count > 0).then_some(standing.one)
}

fn terms(affinity: &crate::scheduling::api::PodAffinity) -> &[PodAffinityTerm] {
    &affinity.required_during_scheduling_ignored_during_execution
}

/// Whether a term of `owner` is about the pod `other`.
fn is_about(term: &PodAffinityTerm, owner: &Pod, other: &Pod, cluster: &Cluster<'_>) -> bool {
    let namespace = &other.metadata.namespace;
    let by_label = term.namespace_selector.as_ref().is_some_and(|selector| {
        let everything = selector.match_labels.is_empty() && selector.match_expressions.is_empty();
        let labels = cluster.namespace_labels(namespace);
        everything || labels.is_some_and(|labels| matches(Some(selector), labels))
    });
    let own = term.namespaces.is_empty()
        && term.namespace_selector.is_none()
        && *namespace == owner.metadata.namespace;
    let here = own || by_label || term.namespaces.contains(namespace);
    here && matches(term.label_selector.as_ref(), &other.metadata.labels)
}
