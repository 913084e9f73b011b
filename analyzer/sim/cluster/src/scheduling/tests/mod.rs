//! Tables of clusters and the sentences that the scheduler says over them. Words and order come from
//! `pkg/scheduler/framework` of kubernetes v1.30 to v1.36 and from recorded events.

mod allocation;
mod devices;
mod newer;
mod placement;
mod predicates;
mod properties;
mod quotas;
mod recorded;
mod unknown;

use serde_json::{Value, json};

use super::api::{Claim, Node, Plain, Pod, StorageClass, Volume};
use super::*;

pub(super) fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

/// A node with 8 CPUs, 32Gi, 110 pods and some GPUs.
pub(super) fn node(name: &str, gpus: u32, extra: Value) -> Node {
    let offers =
        json!({"cpu": "8", "memory": "32Gi", "pods": "110", "nvidia.com/gpu": gpus.to_string()});
    let mut object = json!({
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": "a"}},
        "spec": {}, "status": {"capacity": offers, "allocatable": offers},
    });
    merge(&mut object, extra);
    read(object)
}

pub(super) fn merge(into: &mut Value, extra: Value) {
    match (into, extra) {
        (Value::Object(own), Value::Object(more)) => {
            for (key, value) in more {
                merge(own.entry(key).or_insert(Value::Null), value);
            }
        }
        (own, more) => *own = more,
    }
}

pub(super) fn pod(name: &str, requests: Value, extra: Value) -> Pod {
    let mut object = json!({
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {"containers": [{"name": "main", "resources": {"requests": requests}}]},
        "status": {"phase": "Pending"},
    });
    merge(&mut object, extra);
    read(object)
}

pub(super) fn running(name: &str, on: &str, requests: Value, extra: Value) -> Pod {
    let mut pod = pod(name, requests, extra);
    pod.spec.node_name = on.into();
    pod.status.phase = "Running".into();
    pod
}

#[derive(Default)]
pub(super) struct Case {
    pub(super) nodes: Vec<Node>,
    pub(super) pods: Vec<Pod>,
    pub(super) claims: Vec<Claim>,
    pub(super) volumes: Vec<Volume>,
    pub(super) classes: Vec<StorageClass>,
    pub(super) namespaces: Vec<Plain>,
    pub(super) version: &'static str,
}

impl Case {
    pub(super) fn verdict(&self, pod: &Pod) -> Verdict {
        let cluster = Cluster::new(Inputs {
            nodes: self.nodes.iter().collect(),
            pods: self.pods.iter().collect(),
            pods_complete: true,
            nodes_complete: true,
            claims: Some(self.claims.iter().collect()),
            volumes: Some(self.volumes.iter().collect()),
            classes: Some(self.classes.iter().collect()),
            namespaces: Some(self.namespaces.iter().collect()),
            version: if self.version.is_empty() {
                "v1.33.1".into()
            } else {
                self.version.into()
            },
            ..Inputs::default()
        });
        explain(pod, &cluster)
    }

    /// What is said before preemption.
    pub(super) fn says(&self, pod: &Pod) -> String {
        let sentence = self.verdict(pod).sentence;
        let end = sentence.find(" preemption:").unwrap_or(sentence.len());
        sentence[..end]
            .trim_end_matches(" no new claims to deallocate,")
            .to_owned()
    }
}

pub(super) fn gpu(count: u32) -> Value {
    json!({"nvidia.com/gpu": count.to_string()})
}

proptest::proptest! {
    #[test]
    fn no_quantities_or_labels_make_the_verdict_panic(
        amounts in proptest::collection::vec("-?[0-9]{0,25}(\\.[0-9]{0,5})?(m|k|Gi|Ei|E|e9|NaN)?", 8),
        key in "[a-z./]{0,8}", skew in proptest::num::i64::ANY,
    ) {
        let offers = json!({"cpu": amounts[0], "memory": amounts[1], "pods": amounts[2], "nvidia.com/gpu": amounts[3]});
        let node: Node = read(json!({"metadata": {"name": "n", "labels": {key.clone(): "v"}}, "status": {"allocatable": offers, "capacity": offers}}));
        let asks = json!({"cpu": amounts[4], "memory": amounts[5], "nvidia.com/gpu": amounts[6]});
        let extra = json!({"spec": {"priority": skew, "overhead": {"cpu": amounts[7]}, "nodeSelector": {key.clone(): "v"},
            "topologySpreadConstraints": [{"maxSkew": skew, "topologyKey": key, "minDomains": skew, "labelSelector": {}}]}});
        let wants = pod("p", asks.clone(), extra);
        let case = Case { nodes: vec![node], pods: vec![running("q", "n", asks, json!({}))], ..Case::default() };
        let verdict = case.verdict(&wants);
        proptest::prop_assert_eq!(verdict.sentence.is_empty(), matches!(verdict.state, State::Fits | State::Undecided));
    }
}
