//! What a pod asks for altogether, as the scheduler adds it up.

use super::api::{Container, ContainerResources, Pod, PodSpec};
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

/// Release from which pods with resources of their own are resized in place by default (KEP-5419).
const RESIZE_WHOLE: Release = Release {
    minor: 36,
    patch: 0,
};

/// What a pod that is bound to a node takes of it. While a container is resized that is the most of what is asked, set
/// aside and in force; where the kubelet finds the resize infeasible, what is asked does not count. A container of which
/// the kubelet does not tell what is in force counts as it asks.
/// Source: `k8s.io/component-helpers/resource`, `PodRequests` with `UseStatusResources`.
pub fn pod_takes(pod: &Pod, release: Release) -> Resources {
    if release < RESIZE {
        return pod_requests(&pod.spec);
    }
    let status = &pod.status;
    let containers = &status.container_statuses;
    let mut states = containers.iter().chain(&status.init_container_statuses);
    if status.resources.is_none() && states.all(|one| one.resources.is_none()) {
        return pod_requests(&pod.spec);
    }
    let refused = status.conditions.iter().find(|one| one.is_of_resize());
    let infeasible = refused.is_some_and(|one| one.reason == "Infeasible");
    let mut spec = pod.spec.clone();
    let resize = |container: &mut Container| {
        let mut states = containers.iter().chain(&status.init_container_statuses);
        let Some(state) = states.find(|one| one.name == container.name) else {
            return;
        };
        if let Some(in_force) = &state.resources {
            let asked = (!infeasible).then(|| container_requests(container));
            let most = most(&in_force.requests, &state.allocated_resources, asked);
            container.resources = most;
        }
    };
    spec.containers.iter_mut().for_each(resize);
    let sidecars = spec.init_containers.iter_mut();
    sidecars
        .filter(|one| one.restart_policy == "Always")
        .for_each(resize);
    if release >= RESIZE_WHOLE
        && let Some(in_force) = &status.resources
    {
        resize_whole(&mut spec, in_force, &status.allocated_resources, infeasible);
    }
    pod_requests(&spec)
}

/// The most of what is in force, set aside and, if it counts, asked.
fn most(in_force: &Resources, aside: &Resources, asked: Option<Resources>) -> ContainerResources {
    let mut requests = in_force.clone();
    requests.raise(aside);
    requests.raise(&asked.unwrap_or_default());
    ContainerResources {
        requests,
        limits: Resources::default(),
    }
}

/// The same for what is stated for the pod as a whole; what it does not state stays the containers' sum.
fn resize_whole(
    spec: &mut PodSpec,
    in_force: &ContainerResources,
    aside: &Resources,
    infeasible: bool,
) {
    let mut asked = Resources::default();
    pod_level(spec, &mut asked);
    let counts = (!infeasible).then(|| asked.clone());
    let most = most(&in_force.requests, aside, counts).requests;
    let mut requests = Resources::default();
    for (name, _) in asked.iter() {
        requests.set(name, most.get(name).unwrap_or_default());
    }
    spec.resources = ContainerResources {
        requests,
        limits: Resources::default(),
    };
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
