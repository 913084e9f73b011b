//! Affinity to pods and away from pods, of the pod itself and of those that run already.

use std::collections::BTreeMap;

use super::{Predicate, Reason};
use crate::scheduling::api::{Node, Pod, PodAffinityTerm};
use crate::scheduling::cluster::Cluster;
use crate::scheduling::selector::matches;

/// A node label and its value: a place.
type Place<'a> = (&'a str, &'a str);

/// Places where pods stand that matter, each with one such pod.
pub(super) struct State<'a> {
    wants: &'a [PodAffinityTerm],
    avoids: &'a [PodAffinityTerm],
    wanted: BTreeMap<Place<'a>, &'a Pod>,
    avoided: BTreeMap<Place<'a>, &'a Pod>,
    forbidden: BTreeMap<Place<'a>, &'a Pod>,
    /// The pod would be the first of its kind and wants to be beside its own kind.
    first_of_kind: bool,
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
            first_of_kind: false,
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
        let mut all_match = false;
        for (other, node) in cluster.placed() {
            if !wants.is_empty() && wants.iter().all(|term| is_about(term, pod, other, cluster)) {
                all_match = true;
                state.mark(wants, node, other, |state| &mut state.wanted);
            }
            for term in avoids {
                if is_about(term, pod, other, cluster) {
                    state.mark(std::slice::from_ref(term), node, other, |state| {
                        &mut state.avoided
                    });
                }
            }
            for term in terms(&other.spec.affinity.pod_anti_affinity) {
                if is_about(term, other, pod, cluster) {
                    state.mark(std::slice::from_ref(term), node, other, |state| {
                        &mut state.forbidden
                    });
                }
            }
        }
        state.first_of_kind = !all_match
            && !wants.is_empty()
            && wants.iter().all(|term| is_about(term, pod, pod, cluster));
        state
    }

    fn mark(
        &mut self,
        terms: &'a [PodAffinityTerm],
        node: &'a Node,
        other: &'a Pod,
        places: impl Fn(&mut Self) -> &mut BTreeMap<Place<'a>, &'a Pod>,
    ) {
        for term in terms {
            if let Some(value) = node.metadata.labels.get(&term.topology_key) {
                places(self)
                    .entry((term.topology_key.as_str(), value.as_str()))
                    .or_insert(other);
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
                    !self.wanted.contains_key(&(key, value.as_str())) && !self.first_of_kind
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
            Some((term, self.avoided.get(&(key, value.as_str()))?))
        })?;
        let detail = format!("{} runs in the same {}", other.id(), term.topology_key);
        let says = "node(s) didn't match pod anti-affinity rules";
        Some(Reason::new(Predicate::PodAffinity, says, detail).resolvable())
    }

    fn where_forbidden(&self, node: &Node) -> Option<Reason> {
        let labels = &node.metadata.labels;
        let ((key, _), other) = self
            .forbidden
            .iter()
            .find(|((key, value), _)| labels.get(*key).is_some_and(|own| own == value))?;
        let detail = format!(
            "{} runs in the same {key} and keeps such pods away",
            other.id()
        );
        let says = "node(s) didn't satisfy existing pods anti-affinity rules";
        Some(Reason::new(Predicate::PodAffinity, says, detail).resolvable())
    }
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
