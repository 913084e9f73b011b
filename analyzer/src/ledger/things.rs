//! What fails beside pods: nodes, claims, workloads without pods, units, releases; and what only events tell of.

use std::cell::LazyCell;
use std::collections::BTreeSet;

use casefile_bundle::Entry;
use chrono::TimeDelta;

use super::{MOST, Sources, messages};
use crate::facts::Fact;
use crate::facts::failing::{Failing, LogEnd};
use crate::facts::kube::{Event, HelmRelease, Node, Pod, Workload};
use crate::ledger::grade::Grade;
use crate::scheduling::api::Claim;

/// Who fails says so again within this time, in minutes; an older event says nothing about now.
const RECENT: i64 = 30;
/// Of what was said so often, each further time is told within five minutes (`EventSourceObjectSpamFilter` of client-go),
/// so that less silence tells that it has passed.
const OFTEN: u64 = 5;
/// So much, in minutes.
const REPEATED: i64 = 15;

/// An entry whose place is its last warning event, or the object where no event tells.
fn entry<T>(data: Failing, object: &Fact<T>, events: &[&Fact<Event>]) -> Fact<Failing> {
    let (place, text, at) = match events.first() {
        Some(event) => (event.place.clone(), event.text.clone(), event.at),
        None => (object.place.clone(), object.text.clone(), object.at),
    };
    Fact {
        data: Failing {
            warnings: messages(events),
            seen: true,
            lines: vec![text.to_string()],
            ..data
        },
        place,
        text,
        at,
    }
}

/// A member of an object, as `kubectl get -o json` prints it.
pub(super) fn member(key: &str, value: &str) -> Option<String> {
    let quoted = serde_json::to_string(value).ok()?;
    (!value.is_empty()).then(|| format!("\"{key}\": {quoted}"))
}

/// Nodes that are not ready, under pressure, or offer fewer GPUs than they have.
pub(super) fn nodes(sources: &Sources<'_>) -> Vec<Fact<Failing>> {
    let mut found: Vec<Fact<Failing>> = Vec::new();
    let mut told: BTreeSet<&str> = BTreeSet::new();
    for node in sources.facts.table::<Node>() {
        let data = &node.data;
        let Some(state) = node_state(data) else {
            continue;
        };
        if !told.insert(&data.name) {
            continue;
        }
        let events = sources.warnings("node", "", &data.name);
        let failing = Failing {
            what: "node".into(),
            subject: format!("node/{}", data.name),
            name: data.name.clone(),
            node: data.name.clone(),
            state,
            ..Failing::default()
        };
        let mut entry = entry(failing, node, &events);
        entry.data.message.clone_from(&data.not_ready);
        entry.data.lines.extend(member("message", &data.not_ready));
        entry.data.since = entry.data.since.or(data.not_ready_since);
        if !data.ready
            && let Some(log) = kubelet_end(sources, &data.name)
        {
            log.text.as_str().clone_into(&mut entry.data.words);
            entry.data.lines.push(log.data.line.clone());
            (entry.place, entry.text, entry.at) = (log.place.clone(), log.text.clone(), log.at);
        }
        found.push(entry);
    }
    found
}

/// Whether the name of a condition says what a node is, as `EtcdIsVoter` of K3s and RKE2 does: troubles are named by nouns.
fn states_a_role(condition: &str) -> bool {
    let mut verbs = condition.match_indices("Is");
    verbs.any(|(at, verb)| {
        let next = condition[at + verb.len()..].chars().next();
        next.is_some_and(char::is_uppercase)
    })
}

/// What is wrong with a node, in a few words; none where it is well or its conditions are not known.
fn node_state(node: &Node) -> Option<String> {
    if node.conditions.contains_key("Ready") && !node.ready {
        return Some("NotReady".into());
    }
    let bad = node.conditions.iter().filter(|(name, status)| {
        let wanted = [
            "Ready",
            "Healthy",
            "Available",
            "Succeeded",
            "Upgradeable",
            "Synced",
        ];
        let good_when_true = wanted.iter().any(|word| name.ends_with(word)) || states_a_role(name);
        !good_when_true && *status == "True"
    });
    let bad: Vec<&str> = bad.map(|(name, _)| name.as_str()).collect();
    if !bad.is_empty() {
        return Some(bad.join(", "));
    }
    match (node.gpu_capacity, node.gpu_allocatable) {
        (Some(all), Some(some)) if some < all => {
            Some(format!("{} of {all} GPUs are not allocatable", all - some))
        }
        _ => None,
    }
}

fn kubelet_end<'a>(sources: &Sources<'a>, node: &str) -> Option<&'a Fact<LogEnd>> {
    let prefix = Entry::Journal(node, "").path();
    let logs = sources.facts.table::<LogEnd>().iter();
    let mut own = logs.filter(|log| {
        let name = log.place.path.strip_prefix(&prefix);
        name.is_some_and(|name| name.contains("kubelet")) && log.data.grade >= Grade::Error
    });
    own.next()
}

/// Claims that are not bound although something tries to bind them.
pub(super) fn claims(sources: &Sources<'_>) -> Vec<Fact<Failing>> {
    let claims = sources.facts.table::<Claim>().iter();
    let mut found = Vec::new();
    for claim in claims.filter(|one| matches!(one.data.status.phase.as_str(), "Pending" | "Lost")) {
        let meta = &claim.data.metadata;
        let events = sources.warnings("persistentvolumeclaim", &meta.namespace, &meta.name);
        // A claim that waits for its first pod has no such event.
        if events.is_empty() && claim.data.status.phase != "Lost" {
            continue;
        }
        let failing = Failing {
            what: "claim".into(),
            subject: format!("persistentvolumeclaim/{}/{}", meta.namespace, meta.name),
            namespace: meta.namespace.clone(),
            name: meta.name.clone(),
            state: claim.data.status.phase.clone(),
            ..Failing::default()
        };
        found.push(entry(failing, claim, &events));
    }
    found
}

/// Workloads that lack pods where no failing pod of theirs tells why.
pub(super) fn workloads(sources: &Sources<'_>, pods: &[Fact<Failing>]) -> Vec<Fact<Failing>> {
    let mut found: Vec<Fact<Failing>> = Vec::new();
    for workload in sources.facts.table::<Workload>() {
        let data = &workload.data;
        if !data.stated || data.ready >= data.desired {
            continue;
        }
        let begins = format!("{}-", data.name);
        let has_pod = sources.facts.table::<Pod>().iter().any(|pod| {
            pod.data.namespace == data.namespace
                && pod.data.name.starts_with(&begins)
                && !pod.data.healthy
        });
        let subject = format!("{}/{}/{}", data.kind, data.namespace, data.name);
        let known = found
            .iter()
            .chain(pods)
            .any(|one| one.data.subject == subject);
        if has_pod || known {
            continue;
        }
        let mut events = sources.warnings(&data.kind, &data.namespace, &data.name);
        for (object, more) in &sources.warnings {
            let replica = object.strip_prefix("replicaset/").unwrap_or("");
            let named = replica
                .strip_prefix(&format!("{}/", data.namespace))
                .unwrap_or(replica);
            if named.starts_with(&begins) {
                events.extend(more);
            }
        }
        // Fewer ready pods than wanted, and no word why: pods that are starting.
        if events.is_empty() && sources.now.is_some() {
            continue;
        }
        let failing = Failing {
            what: "workload".into(),
            subject,
            namespace: data.namespace.clone(),
            name: data.name.clone(),
            state: format!("{} of {} ready", data.ready, data.desired),
            gpu: !data.component.is_empty(),
            ..Failing::default()
        };
        found.push(entry(failing, workload, &events));
    }
    found
}

/// Helm releases whose newest revision failed or was never finished.
pub(super) fn releases(sources: &Sources<'_>) -> Vec<Fact<Failing>> {
    let releases = sources.facts.table::<HelmRelease>().iter();
    let bad = releases.filter(|release| {
        release.data.status == "failed" || release.data.status.starts_with("pending")
    });
    let mut found: Vec<Fact<Failing>> = Vec::new();
    for release in bad {
        let data = &release.data;
        let failing = Failing {
            what: "release".into(),
            subject: format!("helmrelease/{}/{}", data.namespace, data.name),
            namespace: data.namespace.clone(),
            name: data.name.clone(),
            state: data.status.clone(),
            ..Failing::default()
        };
        if !found
            .iter()
            .any(|known| known.data.subject == failing.subject)
        {
            found.push(entry(failing, release, &[]));
        }
    }
    found
}

/// Things of which only warning events tell: their state was not captured, or their kind is not listed.
pub(super) fn told_by_events(sources: &Sources<'_>, known: &[Fact<Failing>]) -> Vec<Fact<Failing>> {
    let listed = LazyCell::new(|| listed(sources));
    let subjects = known
        .iter()
        .filter_map(|one| one.data.subject.rsplit_once('/'));
    let names: BTreeSet<&str> = subjects.map(|(_, name)| name).collect();
    let mut found = Vec::new();
    for (object, events) in &sources.warnings {
        let Some(last) = events.first() else { continue };
        let parts: Vec<&str> = object.split('/').collect();
        let (kind, namespace, name) = match parts.as_slice() {
            [kind, namespace, name] => (*kind, *namespace, *name),
            [kind, name] => (*kind, "", *name),
            _ => continue,
        };
        let owned = || known.iter().any(|one| owns(&one.data, name));
        let stands_known = names.contains(name) || (kind == "replicaset" && owned());
        let recent = match last.data.count {
            OFTEN.. => REPEATED,
            _ => RECENT,
        };
        let old = match (sources.now, last.data.last, last.data.ago) {
            (Some(now), Some(at), _) => now - at > TimeDelta::minutes(recent),
            (_, None, Some(ago)) => ago - sources.newest(&last.place.path) > recent * 60,
            _ => false,
        };
        if stands_known || old || !can_fail(kind, sources) || listed.contains(*object) {
            continue;
        }
        let what = match kind {
            "pod" | "node" => kind,
            "persistentvolumeclaim" => "claim",
            _ => "workload",
        };
        let data = Failing {
            what: what.into(),
            subject: (*object).replace("//", "/"),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            since: last.data.first,
            ..Failing::default()
        };
        let mut one = entry(data, last, events);
        one.data.seen = false;
        found.push(one);
        // Of very many, those that come first are kept at last.
        if found.len() >= 2 * MOST {
            keep_first(&mut found);
        }
    }
    found
}

/// Pods and nodes whose state was captured, as events name them.
fn listed(sources: &Sources<'_>) -> BTreeSet<String> {
    let pods = sources.facts.table::<Pod>().iter().flat_map(|pod| {
        let (namespace, name) = (&pod.data.namespace, &pod.data.name);
        [format!("pod/{namespace}/{name}"), format!("pod/{name}")]
    });
    let nodes = sources.facts.table::<Node>().iter();
    let nodes = nodes.map(|node| format!("node/{}", node.data.name));
    pods.chain(nodes).collect()
}

fn keep_first(found: &mut Vec<Fact<Failing>>) {
    found.sort_by(super::order);
    found.truncate(MOST);
}

/// Whether a pod stands in a list of pods; a description tells of one pod and nothing of others.
fn is_of_a_list(pod: &Fact<Pod>) -> bool {
    !pod.text.starts_with("Name:")
}

/// Whether a replica set belongs to a failing workload or pod.
fn owns(failing: &Failing, replica_set: &str) -> bool {
    failing.owner == format!("replicaset/{replica_set}")
        || (failing.what == "workload" && replica_set.starts_with(&format!("{}-", failing.name)))
}

/// Whether warnings about this kind are worth an entry: pods that are not listed are gone where pods were listed, and
/// deployments that are listed and ready have what they want.
fn can_fail(kind: &str, sources: &Sources<'_>) -> bool {
    match kind {
        "pod" => !sources.facts.table::<Pod>().iter().any(is_of_a_list),
        "node" => sources.facts.table::<Node>().is_empty(),
        "persistentvolumeclaim" => sources.facts.table::<Claim>().is_empty(),
        "replicaset" | "deployment" | "statefulset" | "daemonset" => {
            sources.facts.table::<Workload>().is_empty()
        }
        "job" | "ingress" => true,
        _ => false,
    }
}
