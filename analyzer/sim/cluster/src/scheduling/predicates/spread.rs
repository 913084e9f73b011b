//! Topology spread constraints that forbid scheduling.

use std::collections::{BTreeMap, BTreeSet};

use super::{Predicate, Reason};
use crate::scheduling::api::{LabelSelector, Labels, Node, Pod, Requirement, SpreadConstraint};
use crate::scheduling::cluster::Cluster;
use crate::scheduling::selector::{matches, required_node, untolerated};

/// A constraint with the pods counted in each place.
struct Counted<'a> {
    constraint: &'a SpreadConstraint,
    selector: Option<LabelSelector>,
    places: BTreeMap<&'a str, i64>,
}

pub(super) struct State<'a> {
    counted: Vec<Counted<'a>>,
}

impl<'a> State<'a> {
    pub(super) fn of(pod: &'a Pod, cluster: &Cluster<'a>) -> Self {
        let hard: Vec<&SpreadConstraint> = pod
            .spec
            .topology_spread_constraints
            .iter()
            .filter(|one| one.when_unsatisfiable != "ScheduleAnyway")
            .collect();
        let keys: BTreeSet<&str> = hard.iter().map(|one| one.topology_key.as_str()).collect();
        let counted = hard.iter().map(|constraint| {
            let selector = selector(constraint, &pod.metadata.labels);
            let places = count(pod, constraint, selector.as_ref(), &keys, cluster);
            Counted {
                constraint,
                selector,
                places,
            }
        });
        Self {
            counted: counted.collect(),
        }
    }

    /// Counts a pod of a node in (1) or out (-1).
    pub(super) fn shift(&mut self, pod: &Pod, other: &Pod, node: &Node, by: i64) {
        for counted in &mut self.counted {
            let key = &counted.constraint.topology_key;
            let place = node.metadata.labels.get(key);
            let Some(sum) = place.and_then(|place| counted.places.get_mut(place.as_str())) else {
                continue;
            };
            if counts(pod, other, counted.selector.as_ref()) {
                *sum = sum.saturating_add(by);
            }
        }
    }

    pub(super) fn filter(&self, pod: &Pod, node: &Node) -> Option<Reason> {
        const SAYS: &str = "node(s) didn't match pod topology spread constraints";
        self.counted.iter().find_map(|counted| {
            let key = &counted.constraint.topology_key;
            let Some(place) = node.metadata.labels.get(key) else {
                let says = format!("{SAYS} (missing required label)");
                let detail = format!("the node has no label {key}");
                return Some(Reason::new(Predicate::Spread, says, detail));
            };
            let own = i64::from(matches(counted.selector.as_ref(), &pod.metadata.labels));
            let fewest = counted.fewest();
            let here = counted.places.get(place.as_str()).copied().unwrap_or(0);
            let skew = here.saturating_add(own).saturating_sub(fewest);
            (skew > counted.constraint.max_skew).then(|| {
                let detail = format!(
                    "{key}={place} has {here} matching pods, the emptiest place {fewest}; one more would be a skew of {skew}, allowed is {}",
                    counted.constraint.max_skew
                );
                Reason::new(Predicate::Spread, SAYS, detail).resolvable()
            })
        })
    }
}

impl Counted<'_> {
    /// Pods of the emptiest place; 0 where there are fewer places than asked for.
    fn fewest(&self) -> i64 {
        let domains = i64::try_from(self.places.len()).unwrap_or(i64::MAX);
        if domains < self.constraint.min_domains.unwrap_or(1) {
            return 0;
        }
        self.places.values().min().copied().unwrap_or(0)
    }
}

/// The constraint's selector together with the pod's own values of `matchLabelKeys`.
fn selector(constraint: &SpreadConstraint, labels: &Labels) -> Option<LabelSelector> {
    let mut selector = constraint.label_selector.clone()?;
    for key in &constraint.match_label_keys {
        if let Some(value) = labels.get(key) {
            selector.match_expressions.push(Requirement {
                key: key.clone(),
                operator: "In".into(),
                values: vec![value.clone()],
            });
        }
    }
    Some(selector)
}

fn count<'a>(
    pod: &Pod,
    constraint: &SpreadConstraint,
    selector: Option<&LabelSelector>,
    keys: &BTreeSet<&str>,
    cluster: &Cluster<'a>,
) -> BTreeMap<&'a str, i64> {
    let mut places: BTreeMap<&str, i64> = BTreeMap::new();
    for node in &cluster.inputs.nodes {
        let labels = &node.metadata.labels;
        let tainted = constraint.node_taints_policy == "Honor"
            && untolerated(&node.spec.taints, &pod.spec.tolerations).is_some();
        let other = constraint.node_affinity_policy != "Ignore" && !required_node(pod, node);
        let Some(place) = labels.get(&constraint.topology_key) else {
            continue;
        };
        if tainted || other || !keys.iter().all(|key| labels.contains_key(*key)) {
            continue;
        }
        let pods = cluster.load(&node.metadata.name).pods.iter();
        let here = pods.filter(|other| counts(pod, other, selector)).count();
        let sum = places.entry(place).or_default();
        *sum = sum.saturating_add(i64::try_from(here).unwrap_or(i64::MAX));
    }
    places
}

/// Whether a constraint of `pod` counts another pod.
fn counts(pod: &Pod, other: &Pod, selector: Option<&LabelSelector>) -> bool {
    other.metadata.namespace == pod.metadata.namespace
        && other.metadata.deletion_timestamp.is_none()
        && matches(selector, &other.metadata.labels)
}
