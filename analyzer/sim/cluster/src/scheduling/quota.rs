//! What the API server refuses before a scheduler sees it: quotas of the namespace and limits of single containers.

use std::collections::{BTreeMap, BTreeSet};

use super::api::{Container, LimitRange, PodSpec, Quota};
use super::cluster::Release;
use super::quantity::{Resources, exact_words, words};
use super::quota_scope;
use super::requests::{container_requests, pod_limits, pod_requests};

/// A refusal, in the API server's words, and the object that decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// ResourceQuota or LimitRange.
    pub object: String,
    /// In the API server's words.
    pub says: String,
}

/// A resource of a quota that is used up, or nearly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Resource as the quota names it, e.g. `requests.nvidia.com/gpu`.
    pub resource: String,
    /// Used, in the scheduler's units.
    pub used: i64,
    /// Limit, in the scheduler's units.
    pub hard: i64,
}

/// The rows of a quota.
pub fn rows(quota: &Quota) -> Vec<Row> {
    let hard = if quota.status.hard.is_empty() {
        &quota.spec.hard
    } else {
        &quota.status.hard
    };
    let row = |(resource, hard): (&str, i64)| Row {
        resource: resource.to_owned(),
        used: quota.status.used.of(resource),
        hard,
    };
    hard.iter().map(row).collect()
}

/// The first quota or limit of its namespace that refuses one more such pod. A quota whose scopes do
/// not fit the pod does not count it; one with a scope that is not known here is left out. What a container leaves
/// unstated is looked for in all quotas before any is found exceeded.
pub fn refuses(
    pod: &PodSpec,
    namespace: &str,
    quotas: &[&Quota],
    ranges: &[&LimitRange],
    release: Release,
) -> Option<Refusal> {
    let own = ranges
        .iter()
        .filter(|one| one.metadata.namespace == namespace);
    let ranges: Vec<&LimitRange> = own.copied().collect();
    let limited = pod.containers.iter().chain(&pod.init_containers);
    for container in limited {
        for range in &ranges {
            if let Some(says) = beyond(container, range) {
                let object = format!("limitrange/{namespace}/{}", range.metadata.name);
                return Some(Refusal { object, says });
            }
        }
    }
    let stated = defaulted(pod, &ranges);
    let demand = demand(&stated, release);
    let counting: Vec<&Quota> = quotas
        .iter()
        .copied()
        .filter(|quota| quota.metadata.namespace == namespace)
        .filter(|quota| quota_scope::counts(&quota.spec, pod) == Some(true))
        .collect();
    let refusal = |quota: &Quota, says: Option<String>| {
        let object = format!("resourcequota/{namespace}/{}", quota.metadata.name);
        says.map(|says| Refusal { object, says })
    };
    let mut each = counting.iter();
    each.find_map(|quota| refusal(quota, unstated(quota, &stated, release)))
        .or_else(|| {
            let mut each = counting.iter();
            each.find_map(|quota| refusal(quota, exceeded(quota, &demand)))
        })
}

/// Requests and limits that LimitRanges fill in.
fn defaulted(pod: &PodSpec, ranges: &[&LimitRange]) -> PodSpec {
    let mut pod = pod.clone();
    let items = ranges.iter().flat_map(|range| &range.spec.limits);
    let defaults: Vec<_> = items.filter(|item| item.kind == "Container").collect();
    for container in pod.containers.iter_mut().chain(&mut pod.init_containers) {
        let resources = &mut container.resources;
        for item in &defaults {
            fill(&mut resources.limits, &item.default);
            fill(&mut resources.requests, &item.default_request);
        }
    }
    pod
}

fn fill(own: &mut Resources, from: &Resources) {
    for (name, amount) in from.iter() {
        if own.get(name).is_none() {
            own.set(name, amount);
        }
    }
}

/// Release from which quotas count what the sandbox takes (kubernetes/kubernetes#99600); v1.20 is seen not to.
const OVERHEAD_COUNTED: Release = Release {
    minor: 21,
    patch: 0,
};

/// What a quota counts of a pod, under the names that quotas use.
fn demand(pod: &PodSpec, release: Release) -> Resources {
    let mut pod = pod.clone();
    if release < OVERHEAD_COUNTED {
        pod.overhead = Resources::default();
    }
    let mut demand = Resources::default();
    demand.set("pods", 1);
    demand.set("count/pods", 1);
    for (name, amount) in pod_requests(&pod).iter() {
        demand.set(&format!("requests.{name}"), amount);
        if matches!(name, "cpu" | "memory" | "ephemeral-storage") {
            demand.set(name, amount);
        }
    }
    for (name, amount) in pod_limits(&pod).iter() {
        demand.set(&format!("limits.{name}"), amount);
    }
    demand
}

fn exceeded(quota: &Quota, demand: &Resources) -> Option<String> {
    let over: Vec<(Row, i64)> = rows(quota)
        .into_iter()
        .filter_map(|row| {
            let asked = demand.get(&row.resource).filter(|asked| *asked > 0)?;
            (row.used.saturating_add(asked) > row.hard).then_some((row, asked))
        })
        .collect();
    if over.is_empty() {
        return None;
    }
    let list = |amount: &dyn Fn(&(Row, i64)) -> i64| {
        let parts: Vec<String> = over
            .iter()
            .map(|one| {
                format!(
                    "{}={}",
                    one.0.resource,
                    exact_words(&one.0.resource, amount(one))
                )
            })
            .collect();
        parts.join(",")
    };
    Some(format!(
        "exceeded quota: {}, requested: {}, used: {}, limited: {}",
        quota.metadata.name,
        list(&|one| one.1),
        list(&|one| one.0.used),
        list(&|one| one.0.hard)
    ))
}

/// What a quota demands that every container states if it limits it.
const STATED: [&str; 6] = [
    "cpu",
    "limits.cpu",
    "limits.memory",
    "memory",
    "requests.cpu",
    "requests.memory",
];

/// Release from which the containers are named (kubernetes/kubernetes#107210, merged while v1.24 was made).
const CONTAINERS_NAMED: Release = Release {
    minor: 24,
    patch: 0,
};

/// A quota on processor time or memory demands that every container, init containers as well, states them, unless the
/// pod states its resources as a whole (`Constraints` in `pkg/quota/v1/evaluator/core/pods.go`).
fn unstated(quota: &Quota, pod: &PodSpec, release: Release) -> Option<String> {
    if !pod.resources.requests.is_empty() || !pod.resources.limits.is_empty() {
        return None;
    }
    let rows = rows(quota);
    let limited = STATED
        .into_iter()
        .filter(|name| rows.iter().any(|row| row.resource == *name));
    let mut missing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for resource in limited {
        for container in pod.containers.iter().chain(&pod.init_containers) {
            if !states(container, resource) {
                missing.entry(resource).or_default().insert(&container.name);
            }
        }
    }
    if missing.is_empty() {
        return None;
    }
    let list = if release >= CONTAINERS_NAMED {
        let named = missing.iter().map(|(resource, containers)| {
            let containers: Vec<&str> = containers.iter().copied().collect();
            format!("{resource} for: {}", containers.join(","))
        });
        named.collect::<Vec<_>>().join("; ")
    } else {
        missing.into_keys().collect::<Vec<_>>().join(",")
    };
    Some(format!(
        "failed quota: {}: must specify {list}",
        quota.metadata.name
    ))
}

fn states(container: &Container, resource: &str) -> bool {
    let (all, name) = match resource.strip_prefix("limits.") {
        Some(name) => (container.resources.limits.clone(), name),
        None => (
            container_requests(container),
            resource.strip_prefix("requests.").unwrap_or(resource),
        ),
    };
    all.get(name).is_some() || all.unread.contains_key(name)
}

fn beyond(container: &Container, range: &LimitRange) -> Option<String> {
    let items = range
        .spec
        .limits
        .iter()
        .filter(|item| item.kind == "Container");
    for item in items {
        for (name, most) in item.max.iter() {
            if let Some(limit) = container.resources.limits.get(name)
                && limit > most
            {
                let (most, limit) = (words(name, most), words(name, limit));
                return Some(format!(
                    "maximum {name} usage per Container is {most}, but limit is {limit}"
                ));
            }
        }
        let requests = container_requests(container);
        for (name, least) in item.min.iter() {
            if let Some(asked) = requests.get(name)
                && asked < least
            {
                let (least, asked) = (words(name, least), words(name, asked));
                return Some(format!(
                    "minimum {name} usage per Container is {least}, but request is {asked}"
                ));
            }
        }
    }
    None
}
