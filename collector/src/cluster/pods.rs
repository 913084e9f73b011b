//! Which pods' logs are worth having, and in which order.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::listing::{Flow, Items};
use crate::out::OutError;

/// Containers of all pods together, the most telling ones.
const MAX_CONTAINERS: usize = 4_000;

/// How much a pod's logs matter; the smaller, the sooner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// Something is wrong with it.
    Unhealthy,
    /// It uses GPUs.
    Gpu,
    /// It is a part of what GPUs, networks or the cluster itself run on.
    System,
    /// Its namespace is one that the user names.
    Asked,
}

/// One log to fetch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wanted {
    /// Why.
    pub reason: Reason,
    /// False for pods of the node that the collector runs on: they come first.
    pub elsewhere: bool,
    /// Namespace.
    pub namespace: String,
    /// Pod.
    pub pod: String,
    /// Container.
    pub container: String,
    /// Whether an earlier run of the container has a log too.
    pub previous: bool,
    /// When that run ended, as the server writes times.
    pub ended: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Pod {
    metadata: Meta,
    spec: Spec,
    status: Status,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Meta {
    name: String,
    namespace: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Spec {
    node_name: Option<String>,
    runtime_class_name: Option<String>,
    containers: Option<Vec<Container>>,
    init_containers: Option<Vec<Container>>,
    ephemeral_containers: Option<Vec<Container>>,
    resource_claims: Option<Vec<serde::de::IgnoredAny>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Container {
    name: String,
    resources: Option<Resources>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Resources {
    limits: Option<BTreeMap<String, serde::de::IgnoredAny>>,
    requests: Option<BTreeMap<String, serde::de::IgnoredAny>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    phase: Option<String>,
    conditions: Option<Vec<Condition>>,
    container_statuses: Option<Vec<ContainerStatus>>,
    init_container_statuses: Option<Vec<ContainerStatus>>,
    ephemeral_container_statuses: Option<Vec<ContainerStatus>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Condition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ContainerStatus {
    name: String,
    restart_count: u64,
    state: Option<State>,
    last_state: Option<State>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct State {
    waiting: Option<serde::de::IgnoredAny>,
    terminated: Option<Terminated>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Terminated {
    exit_code: i64,
    finished_at: Option<String>,
}

impl Status {
    fn containers(&self) -> impl Iterator<Item = &ContainerStatus> {
        let lists = [
            &self.container_statuses,
            &self.init_container_statuses,
            &self.ephemeral_container_statuses,
        ];
        lists.into_iter().flatten().flatten()
    }

    /// Completed is not failed, and a pod that is done need not be ready.
    fn is_unhealthy(&self) -> bool {
        let phase = self.phase.as_deref().unwrap_or_default();
        let conditions = self.conditions.as_deref().unwrap_or_default();
        let not_ready = conditions
            .iter()
            .any(|one| one.kind == "Ready" && one.status != "True");
        let trouble = self.containers().any(|one| {
            let state = one.state.as_ref();
            let ended = [state, one.last_state.as_ref()]
                .into_iter()
                .flatten()
                .filter_map(|state| state.terminated.as_ref());
            one.restart_count > 0
                || state.is_some_and(|state| state.waiting.is_some())
                || ended.into_iter().any(|ended| ended.exit_code != 0)
        });
        trouble || (phase != "Succeeded" && (phase != "Running" || not_ready))
    }
}

impl Spec {
    fn containers(&self) -> impl Iterator<Item = &Container> {
        [
            &self.containers,
            &self.init_containers,
            &self.ephemeral_containers,
        ]
        .into_iter()
        .flatten()
        .flatten()
    }

    fn uses_gpu(&self) -> bool {
        let asks = |resources: &Resources| {
            let names = [&resources.limits, &resources.requests]
                .into_iter()
                .flatten()
                .flat_map(|map| map.keys());
            names
                .into_iter()
                .any(|name| name.starts_with("nvidia.com/") || name.contains("gpu"))
        };
        self.runtime_class_name
            .as_deref()
            .is_some_and(|name| name.contains("nvidia"))
            || self
                .resource_claims
                .as_ref()
                .is_some_and(|claims| !claims.is_empty())
            || self
                .containers()
                .filter_map(|one| one.resources.as_ref())
                .any(asks)
    }
}

fn ended(status: &ContainerStatus) -> Option<String> {
    let last = status.last_state.as_ref()?.terminated.as_ref()?;
    last.finished_at.clone()
}

/// Namespaces of what GPUs, networks and clusters run on.
pub fn is_system(namespace: &str) -> bool {
    const STARTS: &[&str] = &[
        "gpu-operator",
        "nvidia",
        "hami",
        "kube-system",
        "kube-flannel",
        "cilium",
        "calico",
        "tigera",
        "weave",
        "antrea",
        "kube-ovn",
        "kube-router",
        "metallb",
        "volcano",
        "kueue",
        "node-feature-discovery",
        "network-operator",
        "openshift-sdn",
        "openshift-ovn",
        "run-ai",
        "runai",
    ];
    STARTS.iter().any(|start| namespace.starts_with(start))
}

/// Picks logs out of a list of pods.
#[derive(Debug)]
pub struct Picker {
    node: String,
    asked: BTreeSet<String>,
    wanted: Vec<Wanted>,
    seen: u64,
    left_out: u64,
}

impl Picker {
    /// `node` is the name of the node that the collector runs on; of the namespaces in `asked` every pod is wanted.
    pub fn new(node: &str, asked: &BTreeSet<String>) -> Self {
        Self {
            node: node.to_owned(),
            asked: asked.clone(),
            wanted: Vec::new(),
            seen: 0,
            left_out: 0,
        }
    }

    /// The logs, the most telling first; how many pods there are; how many containers are over the limit.
    pub fn finish(mut self) -> (Vec<Wanted>, u64, u64) {
        self.keep_the_most_telling();
        (self.wanted, self.seen, self.left_out)
    }

    /// Ranks before it cuts: the list comes in the order of names, which says nothing.
    fn keep_the_most_telling(&mut self) {
        self.wanted.sort();
        self.wanted.dedup();
        self.left_out += self.wanted.len().saturating_sub(MAX_CONTAINERS) as u64;
        self.wanted.truncate(MAX_CONTAINERS);
    }

    /// Nodes are named by host name or by the whole domain name.
    fn is_here(&self, node: &str) -> bool {
        let first = |name: &str| {
            name.split('.')
                .next()
                .unwrap_or_default()
                .to_ascii_lowercase()
        };
        node == self.node || first(node) == first(&self.node)
    }

    fn pick(&mut self, pod: &Pod) {
        let unhealthy = pod.status.is_unhealthy();
        let reason = if unhealthy {
            Reason::Unhealthy
        } else if pod.spec.uses_gpu() {
            Reason::Gpu
        } else if is_system(&pod.metadata.namespace) {
            Reason::System
        } else if self.asked.contains(&pod.metadata.namespace) {
            Reason::Asked
        } else {
            return;
        };
        for container in pod.spec.containers() {
            if self.wanted.len() >= 2 * MAX_CONTAINERS {
                self.keep_the_most_telling();
            }
            let status = pod
                .status
                .containers()
                .find(|status| status.name == container.name);
            let ran_before = |status: &ContainerStatus| {
                status.restart_count > 0
                    || status
                        .last_state
                        .as_ref()
                        .is_some_and(|state| state.terminated.is_some())
            };
            self.wanted.push(Wanted {
                reason,
                elsewhere: !pod
                    .spec
                    .node_name
                    .as_deref()
                    .is_some_and(|node| self.is_here(node)),
                namespace: pod.metadata.namespace.clone(),
                pod: pod.metadata.name.clone(),
                container: container.name.clone(),
                previous: status.is_some_and(ran_before),
                ended: status.and_then(ended),
            });
        }
    }
}

impl Items for Picker {
    async fn item(&mut self, raw: &[u8]) -> Result<Flow, OutError> {
        self.seen += 1;
        if let Ok(pod) = serde_json::from_slice::<Pod>(raw) {
            self.pick(&pod);
        }
        Ok(Flow::More)
    }

    fn restart(&mut self) {
        self.wanted.clear();
        (self.seen, self.left_out) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picked(pod: &serde_json::Value) -> Vec<(Reason, bool)> {
        let mut picker = Picker::new("here", &BTreeSet::new());
        picker.pick(&serde_json::from_value(pod.clone()).unwrap());
        picker
            .finish()
            .0
            .into_iter()
            .map(|wanted| (wanted.reason, wanted.previous))
            .collect()
    }

    #[test]
    fn a_crashed_container_is_wanted_with_its_previous_run() {
        let pod = serde_json::json!({"metadata": {"name": "p", "namespace": "default"},
            "spec": {"containers": [{"name": "c"}]},
            "status": {"phase": "Running", "containerStatuses": [{"name": "c", "restartCount": 2, "state": {"running": {}}}]}});
        assert_eq!(picked(&pod), [(Reason::Unhealthy, true)]);
    }

    #[test]
    fn over_the_limit_the_healthy_are_left_out_and_this_node_s_crashing_pods_come_first() {
        let mut picker = Picker::new("here", &BTreeSet::new());
        let pod = |name: String, node: &str, restarts: u64| {
            serde_json::from_value(serde_json::json!({
                "metadata": {"name": name, "namespace": "kube-system"},
                "spec": {"nodeName": node, "containers": [{"name": "c"}]},
                "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
                    "containerStatuses": [{"name": "c", "restartCount": restarts, "state": {"running": {}}}]}}))
            .unwrap()
        };
        for at in 0..9_000 {
            picker.pick(&pod(format!("a-{at}"), "there", 0));
        }
        for at in 0..95 {
            picker.pick(&pod(format!("y-{at}"), "there", 3));
        }
        picker.pick(&pod("z".to_owned(), "here.example.com", 3));
        let (wanted, _, left_out) = picker.finish();
        assert_eq!(wanted.first().unwrap().pod, "z");
        assert_eq!(
            wanted
                .iter()
                .filter(|one| one.reason == Reason::Unhealthy)
                .count(),
            96
        );
        assert_eq!((wanted.len(), left_out), (4_000, 5_096));
    }

    #[test]
    fn a_completed_job_is_no_trouble_but_a_completed_gpu_job_is_of_interest() {
        let mut pod = serde_json::json!({"metadata": {"name": "p", "namespace": "default"},
            "spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": "1"}}}]},
            "status": {"phase": "Succeeded", "conditions": [{"type": "Ready", "status": "False"}],
                "containerStatuses": [{"name": "c", "restartCount": 0, "state": {"terminated": {"exitCode": 0}}}]}});
        assert_eq!(picked(&pod), []);
        pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = "1".into();
        assert_eq!(picked(&pod), [(Reason::Gpu, false)]);
    }

    #[test]
    fn a_healthy_pod_of_a_system_namespace_is_wanted_last_and_any_other_is_not() {
        let mut pod = serde_json::json!({"metadata": {"name": "p", "namespace": "kube-system"},
            "spec": {"containers": [{"name": "c"}], "initContainers": null},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
        assert_eq!(picked(&pod), [(Reason::System, false)]);
        pod["metadata"]["namespace"] = "shop".into();
        assert_eq!(picked(&pod), []);
    }
}
