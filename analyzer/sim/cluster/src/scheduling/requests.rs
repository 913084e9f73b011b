//! What a pod asks for altogether, as the scheduler adds it up.

use super::api::{Container, ContainerStatus, Labels, Pod, PodSpec};
use super::cluster::Release;
use super::quantity::Resources;

/// Resources that a pod asks for: containers and sidecars together, or an init container if one needs more, plus the
/// sandbox. A container without a request asks for its limit. Source: `k8s.io/component-helpers/resource`, `PodRequests`.
pub fn pod_requests(spec: &PodSpec) -> Resources {
    let mut running = Resources::default();
    for container in &spec.containers {
        running.add(&container_requests(container));
    }
    let mut sidecars = Resources::default();
    let mut starting = Resources::default();
    for container in &spec.init_containers {
        let mut own = container_requests(container);
        if container.restart_policy == "Always" {
            running.add(&own);
            sidecars.add(&own);
            own = sidecars.clone();
        } else {
            own.add(&sidecars);
        }
        starting.raise(&own);
    }
    running.raise(&starting);
    pod_level(spec, &mut running);
    running.add(&spec.overhead);
    running
}

/// Release from which containers are resized in place by default (KEP-1287).
const RESIZE: Release = Release {
    minor: 33,
    patch: 0,
};

/// What a pod that is bound to a node takes of it. While a container is resized that is the most of what is asked, set
/// aside and in force; where the kubelet finds the resize infeasible, what is asked does not count.
/// Source: `k8s.io/component-helpers/resource`, `PodRequests` with `UseStatusResources`.
pub fn pod_takes(pod: &Pod, release: Release) -> Resources {
    let status = &pod.status;
    let containers = &status.container_statuses;
    let states = || containers.iter().chain(&status.init_container_statuses);
    let tells = |one: &ContainerStatus| {
        let has = |all: &Resources| all.iter().next().is_some();
        has(&one.allocated_resources) || has(&one.resources.requests)
    };
    if release < RESIZE || !states().any(tells) {
        return pod_requests(&pod.spec);
    }
    let infeasible = status.resize == "Infeasible"
        || status.conditions.iter().any(|one| {
            one.kind == "PodResizePending" && one.status == "True" && one.reason == "Infeasible"
        });
    let mut spec = pod.spec.clone();
    let raise = |container: &mut Container| {
        let found = states().find(|one| one.name == container.name);
        let Some(state) = found.filter(|one| tells(one)) else {
            return;
        };
        let mut most = state.allocated_resources.clone();
        most.raise(&state.resources.requests);
        if !infeasible {
            most.raise(&container_requests(container));
        }
        container.resources.requests = most;
    };
    spec.containers.iter_mut().for_each(raise);
    let sidecars = spec.init_containers.iter_mut();
    sidecars
        .filter(|one| one.restart_policy == "Always")
        .for_each(raise);
    pod_requests(&spec)
}

/// What is stated for the pod as a whole stands instead of its containers' sum.
fn pod_level(spec: &PodSpec, sum: &mut Resources) {
    for (name, amount) in spec.resources.limits.iter() {
        if pod_level_resource(name) && spec.resources.requests.get(name).is_none() {
            sum.set(name, amount);
        }
    }
    for (name, amount) in spec.resources.requests.iter() {
        if pod_level_resource(name) {
            sum.set(name, amount);
        }
    }
}

fn pod_level_resource(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || name.starts_with("hugepages-")
}

/// What one container asks for.
pub fn container_requests(container: &Container) -> Resources {
    let mut requests = container.resources.limits.clone();
    let stated = &container.resources.requests;
    for (name, amount) in stated.iter() {
        requests.set(name, amount);
    }
    requests.unread.extend(stated.unread.clone());
    requests
}

/// Limits of a pod's containers and sidecars together, as quotas count them.
pub fn pod_limits(spec: &PodSpec) -> Resources {
    let mut sum = Resources::default();
    for container in &spec.containers {
        sum.add(&container.resources.limits);
    }
    let mut starting = Resources::default();
    for container in &spec.init_containers {
        if container.restart_policy == "Always" {
            sum.add(&container.resources.limits);
        }
        starting.raise(&container.resources.limits);
    }
    sum.raise(&starting);
    sum
}

/// Whether HAMi's extender accounts for this pod's GPUs, so that kube-scheduler leaves them out: it goes through a HAMi
/// scheduler.
pub fn hami_accounts(pod: &Pod) -> bool {
    pod.scheduler().contains("hami")
}

/// Resources that HAMi's chart tells kube-scheduler to leave to the extender.
pub fn hami_resource(name: &str) -> bool {
    matches!(
        name,
        "nvidia.com/gpu"
            | "nvidia.com/gpumem"
            | "nvidia.com/gpumem-percentage"
            | "nvidia.com/gpucores"
            | "nvidia.com/priority"
    ) || hami_other_vendor(name)
}

/// Devices of other vendors that HAMi accounts for as well (`pkg/device`); their cards are not worked out here.
pub fn hami_other_vendor(name: &str) -> bool {
    const VENDORS: [&str; 10] = [
        "aws.amazon.com/neuron",
        "cambricon.com/",
        "enflame.com/",
        "huawei.com/Ascend",
        "hygon.com/",
        "iluvatar.ai/",
        "kunlunxin.com/",
        "metax-tech.com/",
        "mthreads.com/",
        "vastaitech.com/",
    ];
    VENDORS.iter().any(|vendor| name.starts_with(vendor))
}

/// Labels in words.
pub fn label_words(labels: &Labels) -> String {
    let pairs: Vec<String> = labels.iter().map(|(k, v)| format!("{k}={v}")).collect();
    pairs.join(", ")
}
