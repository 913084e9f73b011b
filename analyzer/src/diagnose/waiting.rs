//! Pods that wait for what a cause took away: a node that is down, or the GPUs of a node whose GPU stack is broken. No line
//! of theirs names the cause, and they are affected by it all the same.

use std::collections::BTreeSet;

use crate::facts::Facts;
use crate::facts::kube::{Node, Pod};
use crate::model::Incident;
use crate::rules::engine::Assessment;

use super::unexplained::Explained;
use crate::facts::failing::Failing;

/// Parts without which a node offers no GPU.
const GPU_STACK: [&str; 4] = ["device-plugin", "toolkit", "driver", "hami-device-plugin"];

/// Subjects of unscheduled pods that wait for what a cause with these subjects and nodes took away.
pub(super) fn waiting(
    facts: &Facts,
    subjects: &BTreeSet<&str>,
    nodes: &BTreeSet<&str>,
) -> BTreeSet<String> {
    let pods = facts.table::<Pod>();
    let broken = pods.iter().any(|pod| {
        let id = subject(&pod.data);
        !pod.data.healthy
            && GPU_STACK.contains(&pod.data.component.as_str())
            && subjects.contains(id.as_str())
    });
    let unscheduled = pods
        .iter()
        .map(|pod| &pod.data)
        .filter(|pod| !pod.healthy && pod.node.is_empty() && pod.phase == "Pending");
    unscheduled
        .filter(|pod| (broken && pod.gpus > 0) || selects_only(facts, pod, nodes))
        .map(subject)
        .collect()
}

/// Whether the pod selects nodes, and each of those is down and one of these.
fn selects_only(facts: &Facts, pod: &Pod, nodes: &BTreeSet<&str>) -> bool {
    let all = facts.table::<Node>().iter().map(|node| &node.data);
    let fits = |node: &&Node| {
        let mut wanted = pod.node_selector.iter();
        wanted.all(|(label, value)| node.labels.get(label) == Some(value))
    };
    let selected: Vec<&Node> = all.filter(fits).collect();
    !pod.node_selector.is_empty()
        && !selected.is_empty()
        && selected
            .iter()
            .all(|node| !node.ready && nodes.contains(node.name.as_str()))
}

fn subject(pod: &Pod) -> String {
    format!("pod/{}/{}", pod.namespace, pod.name)
}

/// Adds the failing pods that an incident explains to its subjects, where no incident names them.
pub(super) fn attribute(facts: &Facts, ranked: &[&Assessment<'_>], incidents: &mut [Incident]) {
    for at in 0..incidents.len() {
        let cause = incidents[at].cause.clone();
        let Some(one) = ranked.iter().find(|one| one.rule.file.id == cause) else {
            continue;
        };
        let alone = [*one];
        let explained = Explained::by(facts, &alone);
        let failing = facts.table::<Failing>().iter();
        let own: Vec<String> = failing
            .filter(|one| one.data.what == "pod" && explained.covers(one))
            .map(|one| one.data.subject.clone())
            .filter(|subject| incidents.iter().all(|one| !one.subjects.contains(subject)))
            .collect();
        incidents[at].subjects.extend(own);
    }
}
