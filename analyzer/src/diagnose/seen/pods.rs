//! Pods: which an input names, which of them are there at one moment, and which do not do their work.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::failing::Failing;
use crate::facts::kube::{Node, Pod};
use crate::facts::{Fact, Facts, Rows};
use crate::scan::Scanned;

/// A pod as (namespace, name).
type Name<'a> = (&'a str, &'a str);

/// Pods that objects, descriptions of nodes and names of logs tell of. A table without namespaces names those of another list.
/// Where nothing but texts lie about, printed at several moments, a list of all namespaces tells how many there are at once.
pub(in crate::diagnose) fn named(scanned: &Scanned) -> BTreeSet<(&str, &str)> {
    let facts = &scanned.facts;
    let objects = facts.table::<Pod>().iter();
    let objects = objects.map(|pod| (pod.data.namespace.as_str(), pod.data.name.as_str()));
    let described = facts
        .table::<Node>()
        .iter()
        .flat_map(|node| &node.data.listed_pods);
    let described = described.filter_map(|name| name.split_once('/'));
    let mut all: BTreeSet<(&str, &str)> = objects.chain(described).collect();
    all.extend(scanned.plan.pods());
    if all.is_empty() {
        all.extend(scanned.paths.iter().filter_map(|path| of_log(path)));
    }
    let placed: BTreeSet<&str> = all
        .iter()
        .filter(|(namespace, _)| !namespace.is_empty())
        .map(|(_, name)| *name)
        .collect();
    all.retain(|(namespace, name)| {
        !name.is_empty() && (!namespace.is_empty() || !placed.contains(name))
    });
    if scanned.plan.captures.is_empty() && scanned.summary.header.is_none() {
        at_one_moment(&mut all, facts.table::<Pod>());
    }
    all
}

/// The one pod that an input tells of.
pub(super) fn only(scanned: &Scanned) -> Option<String> {
    let named = named(scanned);
    let (namespace, name) = named.first()?;
    let known = match namespace.is_empty() {
        true => (*name).to_owned(),
        false => format!("{namespace}/{name}"),
    };
    (named.len() == 1).then_some(known)
}

/// The pod that a log is kept by, where nothing but logs tells of pods.
pub(super) fn of_log(path: &str) -> Option<Name<'_>> {
    let below = path.strip_prefix("cluster-resources/pods/logs/")?;
    let (namespace, rest) = below.split_once('/')?;
    let (pod, _) = rest.split_once('/')?;
    Some((namespace, pod))
}

/// Leaves out pods of other moments: a list of several namespaces holds all that each of them has at its moment, so that what
/// another text names beside it in the same namespace came before or after. Lists that share no pod are of two clusters.
fn at_one_moment<'a>(all: &mut BTreeSet<Name<'a>>, pods: impl IntoIterator<Item = &'a Fact<Pod>>) {
    let mut lists: BTreeMap<&str, BTreeSet<Name<'a>>> = BTreeMap::new();
    for pod in pods {
        let list = lists.entry(pod.place.path.as_str()).or_default();
        list.insert((pod.data.namespace.as_str(), pod.data.name.as_str()));
    }
    let mut full: Vec<BTreeSet<Name<'_>>> = lists
        .into_values()
        .filter(|list| namespaces(list).len() > 1)
        .collect();
    full.sort_by_key(|list| std::cmp::Reverse(list.len()));
    let mut largest: Vec<BTreeSet<Name<'_>>> = Vec::new();
    for list in full {
        if largest.iter().all(|known| known.is_disjoint(&list)) {
            largest.push(list);
        }
    }
    let covered: BTreeSet<&str> = largest.iter().flat_map(namespaces).collect();
    // A table without namespaces is of one that is not known: of a covered one, if there is any.
    let is_covered = |namespace: &str| {
        covered.contains(namespace) || (namespace.is_empty() && !covered.is_empty())
    };
    all.retain(|pod| !is_covered(pod.0) || largest.iter().any(|list| list.contains(pod)));
}

fn namespaces<'a>(list: &BTreeSet<Name<'a>>) -> BTreeSet<&'a str> {
    let named = list.iter().map(|(namespace, _)| *namespace);
    named.filter(|namespace| !namespace.is_empty()).collect()
}

/// Nodes that static pods of the control plane are named after: `etcd-<node>` beside `kube-scheduler-<node>`.
pub(super) fn nodes_in_names<'a>(
    pods: impl IntoIterator<Item = &'a Fact<Pod>>,
) -> BTreeSet<&'a str> {
    const STATIC: [&str; 4] = [
        "etcd-",
        "kube-apiserver-",
        "kube-controller-manager-",
        "kube-scheduler-",
    ];
    let system = pods
        .into_iter()
        .filter(|pod| pod.data.namespace == "kube-system");
    let mut parts: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for pod in system {
        for part in STATIC {
            if let Some(node) = pod.data.name.strip_prefix(part) {
                parts.entry(node).or_default().insert(part);
            }
        }
    }
    // One alone may be called anything, as `etcd-manager-main-<node>` is.
    let nodes = parts.into_iter().filter(|(_, parts)| parts.len() > 1);
    nodes.map(|(node, _)| node).collect()
}

/// Those that do not do their work, each with its state: by the lists of pods, and those of other pods whose containers the
/// runtime lists as ended.
pub(super) fn unhealthy(facts: &Facts) -> Vec<String> {
    let pods: Vec<&Pod> = said_best(facts.table::<Pod>())
        .into_iter()
        .map(|pod| &pod.data)
        .collect();
    let failing = facts.table::<Failing>().iter().map(|one| &one.data);
    let by_runtime = failing.filter(|one| {
        let listed = || pods.iter().any(|pod| pod.name == one.name);
        one.what == "pod" && one.seen && !one.namespace.is_empty() && !listed()
    });
    let by_runtime = by_runtime.map(|one| (&one.namespace, &one.name, &one.state));
    let bad = pods.iter().filter(|pod| !pod.healthy);
    let bad = bad.map(|pod| (&pod.namespace, &pod.name, &pod.state));
    let all: BTreeSet<String> = bad
        .chain(by_runtime)
        .map(|(namespace, name, state)| format!("{namespace}/{name} {state}"))
        .collect();
    all.into_iter().collect()
}

/// Each pod as the longest list says it: a description of one pod was printed at another moment than the list of all. Of
/// lists that are equally long the one that is read last.
pub(in crate::diagnose) fn said_best(pods: Rows<'_, Pod>) -> Vec<&Fact<Pod>> {
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for pod in pods {
        *sizes.entry(pod.place.path.as_str()).or_default() += 1;
    }
    let size = |pod: &Fact<Pod>| sizes.get(pod.place.path.as_str()).copied();
    let placed: BTreeSet<&str> = pods
        .iter()
        .filter(|pod| !pod.data.namespace.is_empty())
        .map(|pod| pod.data.name.as_str())
        .collect();
    let mut best: BTreeMap<(&str, &str), &Fact<Pod>> = BTreeMap::new();
    for pod in pods {
        let (namespace, name) = (pod.data.namespace.as_str(), pod.data.name.as_str());
        // A table without namespaces names a pod of another list.
        if namespace.is_empty() && placed.contains(name) {
            continue;
        }
        let known = best.entry((namespace, name)).or_insert(pod);
        if size(pod) >= size(known) {
            *known = pod;
        }
    }
    best.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Place;

    fn pod(path: &str, namespace: &str, name: &str) -> Fact<Pod> {
        let data = Pod {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            ..Pod::default()
        };
        let place = Place {
            path: path.into(),
            line: Some(1),
        };
        Fact {
            data,
            place,
            text: crate::shared::Shared::default(),
            at: None,
        }
    }

    fn counted(pods: &[Fact<Pod>]) -> usize {
        let names = pods.iter();
        let names = names.map(|pod| (pod.data.namespace.as_str(), pod.data.name.as_str()));
        let mut all: BTreeSet<Name<'_>> = names.collect();
        at_one_moment(&mut all, pods);
        all.len()
    }

    #[test]
    fn a_list_of_all_namespaces_tells_how_many_pods_there_are_at_once() {
        let mut pods = vec![
            pod("before.txt", "kube-system", "dns"),
            pod("before.txt", "default", "web-1"),
            pod("after.txt", "kube-system", "dns"),
            pod("after.txt", "default", "web-2"),
            pod("later.txt", "default", "web-3"),
            pod("nameless.txt", "", "web-4"),
        ];
        assert_eq!(counted(&pods), 2);
        // Of a namespace that no such list names nothing is left out.
        pods.push(pod("shop.txt", "shop", "cart"));
        assert_eq!(counted(&pods), 3);
        // Another cluster's list shares no pod.
        pods.push(pod("other.txt", "kube-system", "dns-b"));
        pods.push(pod("other.txt", "default", "web-b"));
        assert_eq!(counted(&pods), 5);
    }

    #[test]
    fn without_such_a_list_all_are_counted() {
        let pods = [
            pod("web.txt", "default", "web-1"),
            pod("cart.txt", "default", "cart-1"),
            pod("nameless.txt", "", "web-4"),
        ];
        assert_eq!(counted(&pods), 3);
    }

    #[test]
    fn static_pods_are_named_after_their_node() {
        let pods = [
            pod("x", "kube-system", "etcd-kind-control-plane"),
            pod("x", "kube-system", "kube-scheduler-kind-control-plane"),
            pod("x", "kube-system", "etcd-manager-main-i-0a"),
            pod("x", "shop", "etcd-0"),
            pod("x", "shop", "kube-scheduler-0"),
        ];
        assert_eq!(
            nodes_in_names(&pods),
            BTreeSet::from(["kind-control-plane"])
        );
    }
}
