//! Predicates that look at the node alone: cordon, taints, selector and affinity, ports.

use std::collections::BTreeSet;

use super::{Predicate, Reason, words};
use crate::scheduling::api::{Node, Pod, Port, Taint};
use crate::scheduling::cluster::{Load, Release};
use crate::scheduling::selector::{
    required_node, requirement_words, tolerates, unmet, untolerated,
};

pub(super) fn unschedulable(pod: &Pod, node: &Node) -> Option<Reason> {
    let taint = Taint {
        key: "node.kubernetes.io/unschedulable".into(),
        value: String::new(),
        effect: "NoSchedule".into(),
    };
    let tolerated = pod
        .spec
        .tolerations
        .iter()
        .any(|one| tolerates(one, &taint));
    (node.spec.unschedulable && !tolerated).then(|| {
        let detail = "the node is cordoned (spec.unschedulable)";
        Reason::new(
            Predicate::Unschedulable,
            "node(s) were unschedulable",
            detail,
        )
    })
}

pub(super) fn taint(pod: &Pod, node: &Node, release: Release) -> Option<Reason> {
    let Taint { key, value, effect } = untolerated(&node.spec.taints, &pod.spec.tolerations)?;
    let says = words::taint(release, key, value);
    let shown = if value.is_empty() {
        format!("{key}:{effect}")
    } else {
        format!("{key}={value}:{effect}")
    };
    let detail = format!("the node has the taint {shown}, and no toleration of the pod covers it");
    Some(Reason {
        about: key.clone(),
        ..Reason::new(Predicate::Taint, says, detail)
    })
}

pub(super) fn affinity(pod: &Pod, node: &Node, release: Release) -> Option<Reason> {
    if required_node(pod, node) {
        return None;
    }
    let labels = &node.metadata.labels;
    let selector = pod.spec.node_selector.iter();
    let mut missing: Vec<String> = selector
        .filter(|(key, value)| labels.get(*key) != Some(value))
        .map(|(key, value)| match labels.get(key) {
            Some(other) => format!("{key}={value} (it has {key}={other})"),
            None => format!("{key}={value} (it has no label {key})"),
        })
        .collect();
    let required = &pod
        .spec
        .affinity
        .node_affinity
        .required_during_scheduling_ignored_during_execution;
    if let Some(required) = required
        && missing.is_empty()
    {
        let terms = required.node_selector_terms.iter().map(|term| {
            let words: Vec<String> = unmet(term, node).map(requirement_words).collect();
            words.join(" and ")
        });
        missing.push(terms.collect::<Vec<_>>().join(", or "));
    }
    let detail = format!("the node lacks {}", missing.join(", "));
    let says = words::node_affinity(release);
    Some(Reason::new(Predicate::NodeAffinity, says, detail))
}

/// The nodes that a pod names by `metadata.name`, as pods of DaemonSets do; none if one of its terms names none.
pub(super) fn named(pod: &Pod) -> Option<BTreeSet<&str>> {
    let required = &pod.spec.affinity.node_affinity;
    let required = required
        .required_during_scheduling_ignored_during_execution
        .as_ref()?;
    let mut all = BTreeSet::new();
    for term in &required.node_selector_terms {
        let fields = term.match_fields.iter();
        let mut names = fields
            .filter(|one| one.key == "metadata.name" && one.operator == "In")
            .map(|one| {
                one.values
                    .iter()
                    .map(String::as_str)
                    .collect::<BTreeSet<&str>>()
            });
        let first = names.next()?;
        all.extend(names.fold(first, |a, b| a.intersection(&b).copied().collect()));
    }
    (!required.node_selector_terms.is_empty()).then_some(all)
}

/// A port of the node that a pod binds: address, protocol, number.
fn host_ports(pod: &Pod) -> impl Iterator<Item = (&str, &str, i64)> {
    let sidecars = pod
        .spec
        .init_containers
        .iter()
        .filter(|one| one.restart_policy == "Always");
    let ports = pod.spec.containers.iter().chain(sidecars);
    ports.flat_map(|one| &one.ports).filter_map(|port| {
        let number = number(pod, port);
        (number > 0).then(|| {
            let address = if port.host_ip.is_empty() {
                "0.0.0.0"
            } else {
                &port.host_ip
            };
            let protocol = if port.protocol.is_empty() {
                "TCP"
            } else {
                &port.protocol
            };
            (address, protocol, number)
        })
    })
}

/// Pods on the node's network bind their container ports.
fn number(pod: &Pod, port: &Port) -> i64 {
    if port.host_port == 0 && pod.spec.host_network {
        port.container_port
    } else {
        port.host_port
    }
}

pub(super) fn ports(pod: &Pod, load: &Load<'_>) -> Option<Reason> {
    let wanted: Vec<_> = host_ports(pod).collect();
    if wanted.is_empty() {
        return None;
    }
    for holder in &load.pods {
        for (address, protocol, port) in host_ports(holder) {
            let taken = wanted.iter().any(|(own, kind, number)| {
                *number == port
                    && *kind == protocol
                    && (*own == address || *own == "0.0.0.0" || address == "0.0.0.0")
            });
            if taken {
                let detail = format!(
                    "port {port}/{protocol} of the node is held by {}",
                    holder.id()
                );
                let says = "node(s) didn't have free ports for the requested pod ports";
                return Some(Reason::new(Predicate::HostPort, says, detail).resolvable());
            }
        }
    }
    None
}
