//! Resources asked for against what the node has left.

use super::{Predicate, Prepared, Reason, words};
use crate::scheduling::api::{Node, Pod};
use crate::scheduling::cluster::{Cluster, Load};
use crate::scheduling::quantity::{Resources, words};
use crate::scheduling::requests::{
    hami_accounts, hami_other_vendor, hami_resource, pod_requests, pod_takes,
};

/// Holders of a resource that are named.
const HOLDERS: usize = 6;

/// What the pod asks for; quantities that could not be read are left open.
pub(super) fn asked(pod: &Pod, cluster: &Cluster<'_>, open: &mut Vec<String>) -> Resources {
    let requests = pod_requests(&pod.spec);
    for (resource, text) in &requests.unread {
        open.push(format!("its request {resource}: {text} could not be read"));
    }
    let others = requests.iter().map(|(name, _)| name);
    for resource in others.filter(|name| hami_accounts(pod) && hami_other_vendor(name)) {
        open.push(format!(
            "what HAMi accounts of {resource} is not worked out"
        ));
    }
    for class in cluster.inputs.device_classes.iter().flatten() {
        let resource = &class.spec.extended_resource_name;
        if requests.of(resource) > 0 {
            open.push(format!(
                "whether devices of the class {} stand in for {resource} is not worked out",
                class.metadata.name
            ));
        }
    }
    requests
}

/// Whether devices that are claimed may stand in for a resource that a node's kubelet does not offer.
fn stood_in_for(resource: &str, node: &Node, cluster: &Cluster<'_>) -> bool {
    let mut classes = cluster.inputs.device_classes.iter().flatten();
    node.status.allocatable.of(resource) == 0
        && classes.any(|class| class.spec.extended_resource_name == resource)
}

/// Every resource of which the node has too little left. HAMi's resources are left to its extender.
pub(super) fn fit(
    prepared: &Prepared<'_>,
    node: &Node,
    load: &Load<'_>,
    cluster: &Cluster<'_>,
) -> Vec<Reason> {
    let nominated: Vec<&Pod> = cluster
        .nominated(&node.metadata.name, prepared.pod)
        .collect();
    let mut allocated = load.allocated.clone();
    for pod in &nominated {
        allocated.add(&pod_takes(pod, cluster.release));
    }
    let mut reasons = Vec::new();
    let pods = load.pods.len() + nominated.len();
    reasons.extend(too_many(pods, node));
    let hami = hami_accounts(prepared.pod);
    let by_kind = |name: &str| match name {
        "cpu" => 0,
        "memory" => 1,
        "ephemeral-storage" => 2,
        _ => 3,
    };
    let mut requests: Vec<(&str, i64)> = prepared.requests.iter().collect();
    let asks = requests
        .iter()
        .any(|(name, amount)| *amount > 0 || by_kind(name) == 3);
    let zeros = asks && words::looks_at_zero(cluster.release);
    if zeros {
        let basic = ["cpu", "memory", "ephemeral-storage"].into_iter();
        let missing = basic.filter(|name| prepared.requests.get(name).is_none());
        requests.extend(missing.map(|name| (name, 0)));
    }
    requests.sort_by_key(|(name, _)| (by_kind(name), *name));
    for (resource, amount) in requests {
        if (amount == 0 && !zeros) || (hami && hami_resource(resource)) {
            continue;
        }
        let unread = node.status.allocatable.unread.contains_key(resource);
        if unread || stood_in_for(resource, node, cluster) {
            continue;
        }
        let allocatable = node.status.allocatable.of(resource);
        let used = allocated.of(resource);
        if amount > allocatable.saturating_sub(used) {
            let reason = short(resource, amount, node, used, &load.pods);
            reasons.push(match words::resource_lost(cluster.release) {
                true => reason,
                false => reason.resolvable(),
            });
        }
    }
    reasons
}

fn too_many(pods: usize, node: &Node) -> Option<Reason> {
    let most = node.status.allocatable.get("pods").unwrap_or(0);
    let count = i64::try_from(pods).unwrap_or(i64::MAX);
    (count >= most).then(|| {
        let detail = format!("the node runs {count} pods and allows {most}");
        Reason::new(Predicate::MaxPods, "Too many pods", detail).resolvable()
    })
}

fn short(resource: &str, asked: i64, node: &Node, used: i64, pods: &[&Pod]) -> Reason {
    let allocatable = node.status.allocatable.get(resource);
    let have = allocatable.unwrap_or(0);
    let show = |amount| words(resource, amount);
    let asks = format!("it asks for {} {resource}", show(asked));
    let detail = match allocatable {
        None => format!("{asks}; the node offers no {resource}"),
        Some(0) => format!("{asks}; the node offers 0 of {}", capacity(node, resource)),
        Some(_) => format!(
            "{asks}; the node offers {}, of which {} are taken{}",
            show(have),
            show(used),
            holders(resource, pods)
        ),
    };
    Reason {
        about: resource.to_owned(),
        unresolvable: asked > have,
        ..Reason::new(
            Predicate::Resource,
            format!("Insufficient {resource}"),
            detail,
        )
    }
}

fn capacity(node: &Node, resource: &str) -> String {
    match node.status.capacity.get(resource) {
        Some(amount) => format!("a capacity of {}", words(resource, amount)),
        None => "an unknown capacity".into(),
    }
}

/// Who holds a resource, the largest first. Only for resources of which a pod holds whole pieces.
fn holders(resource: &str, pods: &[&Pod]) -> String {
    if !resource.contains('/') {
        return String::new();
    }
    let mut held: Vec<(i64, String)> = pods
        .iter()
        .map(|pod| (pod_requests(&pod.spec).of(resource), pod.id()))
        .filter(|(amount, _)| *amount > 0)
        .collect();
    held.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let more = held.len().saturating_sub(HOLDERS);
    let mut named: Vec<String> = held
        .iter()
        .take(HOLDERS)
        .map(|(amount, pod)| format!("{pod} {}", words(resource, *amount)))
        .collect();
    if more > 0 {
        named.push(format!("and {more} more pods"));
    }
    if named.is_empty() {
        String::new()
    } else {
        format!(" ({})", named.join(", "))
    }
}
