//! Selectors of labels, node selectors, taints and tolerations, as the API defines them.

use super::api::{
    LabelSelector, Labels, Node, NodeSelector, NodeSelectorTerm, Pod, Requirement, Taint,
    Toleration,
};

/// Whether labels meet a requirement. `NotIn` and `DoesNotExist` hold where the label is missing; an unknown
/// operator never holds.
pub fn meets(labels: &Labels, requirement: &Requirement) -> bool {
    let value = labels.get(&requirement.key);
    let listed = |value: &String| requirement.values.contains(value);
    match requirement.operator.as_str() {
        "In" => value.is_some_and(listed),
        "NotIn" => !value.is_some_and(listed),
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        "Gt" => compare(value, requirement).is_some_and(|(have, want)| have > want),
        "Lt" => compare(value, requirement).is_some_and(|(have, want)| have < want),
        _ => false,
    }
}

fn compare(value: Option<&String>, requirement: &Requirement) -> Option<(i64, i64)> {
    match requirement.values.as_slice() {
        [want] => Some((value?.parse().ok()?, want.parse().ok()?)),
        _ => None,
    }
}

/// Whether labels match a selector. No selector matches nothing, an empty one everything.
pub fn matches(selector: Option<&LabelSelector>, labels: &Labels) -> bool {
    selector.is_some_and(|selector| {
        let all = selector.match_labels.iter();
        all.clone()
            .all(|(key, value)| labels.get(key) == Some(value))
            && selector
                .match_expressions
                .iter()
                .all(|requirement| meets(labels, requirement))
    })
}

/// Whether a node matches one of the terms. A term without requirements matches nothing.
pub fn node_matches(selector: &NodeSelector, node: &Node) -> bool {
    selector
        .node_selector_terms
        .iter()
        .any(|term| term_matches(term, node))
}

fn term_matches(term: &NodeSelectorTerm, node: &Node) -> bool {
    if term.match_expressions.is_empty() && term.match_fields.is_empty() {
        return false;
    }
    unmet(term, node).next().is_none()
}

/// The requirements of a term that a node does not meet.
pub fn unmet<'a>(
    term: &'a NodeSelectorTerm,
    node: &'a Node,
) -> impl Iterator<Item = &'a Requirement> {
    let labels = term
        .match_expressions
        .iter()
        .filter(|requirement| !meets(&node.metadata.labels, requirement));
    let fields = term
        .match_fields
        .iter()
        .filter(|requirement| !field_meets(node, requirement));
    labels.chain(fields)
}

fn field_meets(node: &Node, requirement: &Requirement) -> bool {
    let named = requirement.values.contains(&node.metadata.name);
    requirement.key == "metadata.name"
        && match requirement.operator.as_str() {
            "In" => named,
            "NotIn" => !named,
            _ => false,
        }
}

/// Whether a node meets the pod's selector and required node affinity.
pub fn required_node(pod: &Pod, node: &Node) -> bool {
    let labels = &node.metadata.labels;
    let affinity = &pod.spec.affinity.node_affinity;
    pod.spec
        .node_selector
        .iter()
        .all(|(key, value)| labels.get(key) == Some(value))
        && affinity
            .required_during_scheduling_ignored_during_execution
            .as_ref()
            .is_none_or(|selector| node_matches(selector, node))
}

/// A requirement as a person would write it.
pub fn requirement_words(requirement: &Requirement) -> String {
    let Requirement {
        key,
        operator,
        values,
    } = requirement;
    let list = values.join(", ");
    match operator.as_str() {
        "In" if values.len() == 1 => format!("{key}={list}"),
        "In" => format!("{key} in ({list})"),
        "NotIn" => format!("{key} not in ({list})"),
        "Exists" => format!("label {key}"),
        "DoesNotExist" => format!("no label {key}"),
        "Gt" => format!("{key} > {list}"),
        "Lt" => format!("{key} < {list}"),
        other => format!("{key} {other} ({list})"),
    }
}

/// Whether a toleration covers a taint.
pub fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    if !toleration.effect.is_empty() && toleration.effect != taint.effect {
        return false;
    }
    if !toleration.key.is_empty() && toleration.key != taint.key {
        return false;
    }
    match toleration.operator.as_str() {
        "Exists" => true,
        "" | "Equal" => !toleration.key.is_empty() && toleration.value == taint.value,
        "Gt" => numbers(toleration, taint).is_some_and(|(have, limit)| have > limit),
        "Lt" => numbers(toleration, taint).is_some_and(|(have, limit)| have < limit),
        _ => false,
    }
}

/// The taint's number and the toleration's.
fn numbers(toleration: &Toleration, taint: &Taint) -> Option<(i64, i64)> {
    Some((taint.value.parse().ok()?, toleration.value.parse().ok()?))
}

/// The first taint that keeps pods away and that none of these tolerations covers.
pub fn untolerated<'a>(taints: &'a [Taint], tolerations: &[Toleration]) -> Option<&'a Taint> {
    taints
        .iter()
        .filter(|taint| matches!(taint.effect.as_str(), "NoSchedule" | "NoExecute"))
        .find(|taint| !tolerations.iter().any(|one| tolerates(one, taint)))
}
