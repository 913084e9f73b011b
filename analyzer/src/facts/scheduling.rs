//! Facts about scheduling: where a pending pod would fit and why not elsewhere, and what is taken of each node.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{FactType, Field, fact};
use crate::scheduling::api;

/// Objects as the scheduler reads them; facts for derivers, not for rules.
macro_rules! objects {
    ($($kind:ty = $name:literal, $prefix:literal;)*) => {
        $(impl FactType for $kind {
            const KIND: &'static str = $name;
            const FIELDS: &'static [Field] = &[];
            fn subject(&self) -> String {
                let meta = &self.metadata;
                if meta.namespace.is_empty() {
                    format!(concat!($prefix, "/{}"), meta.name)
                } else {
                    format!(concat!($prefix, "/{}/{}"), meta.namespace, meta.name)
                }
            }
        })*
    };
}

objects! {
    api::Pod = "scheduling-pod", "pod";
    api::Node = "scheduling-node", "node";
    api::Claim = "scheduling-claim", "persistentvolumeclaim";
    api::Volume = "scheduling-volume", "persistentvolume";
    api::StorageClass = "scheduling-storageclass", "storageclass";
    api::CsiNode = "scheduling-csinode", "csinode";
    api::DeviceClaim = "scheduling-deviceclaim", "resourceclaim";
    api::Slice = "scheduling-resourceslice", "resourceslice";
    api::DeviceClass = "scheduling-deviceclass", "deviceclass";
    api::Quota = "scheduling-quota", "resourcequota";
    api::LimitRange = "scheduling-limitrange", "limitrange";
    api::Workload = "scheduling-workload", "workload";
}

/// A namespace.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Namespace(pub api::Plain);

impl FactType for Namespace {
    const KIND: &'static str = "scheduling-namespace";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        format!("namespace/{}", self.0.metadata.name)
    }
}

/// A lease; controllers and schedulers that work hold one.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Lease(pub api::Plain);

impl FactType for Lease {
    const KIND: &'static str = "lease";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        format!(
            "lease/{}/{}",
            self.0.metadata.namespace, self.0.metadata.name
        )
    }
}

/// What came of listing a kind of object.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ListOutcome {
    /// Resource with its group, e.g. `pods`, `storageclasses.storage.k8s.io`.
    pub name: String,
    /// `collected`, `partial`, `absent`, `failed`.
    pub outcome: String,
    /// Request path; names a namespace if only some were asked for.
    pub path: String,
}

impl FactType for ListOutcome {
    const KIND: &'static str = "list-outcome";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        format!("list/{}", self.name)
    }
}

fact! {
    /// Version of the control plane.
    #[derive(Debug, Clone, Default, Serialize)]
    "cluster-version" = pub struct ClusterVersion {
        /// E.g. `v1.36.2`.
        pub version: String,
    }
    subject = |_fact| "cluster".into();
}

fact! {
    /// Where a pending pod would fit, and if nowhere, why.
    #[derive(Debug, Clone, Default, Serialize)]
    "pod-fit" = pub struct PodFit {
        /// Namespace.
        pub namespace: String,
        /// Pod.
        pub name: String,
        /// `unschedulable`, `fits`, `undecided`, `gated`, `no-nodes`; `undecided` where the scheduler itself says otherwise.
        pub state: String,
        /// Whether what the scheduler said last names the same reasons: `yes`, `no`, `unknown`.
        pub agrees: String,
        /// What the scheduler would say, worked out from the objects.
        pub sentence: String,
        /// What the scheduler said last, from the pod's status; empty if nothing.
        pub said: String,
        /// Scheduler asked for.
        pub scheduler: String,
        /// Whether there is a sign of that scheduler: `yes`, `no`, `unknown`.
        pub scheduler_seen: String,
        /// Extended resource that it asks for, the GPU first; empty if none.
        pub resource: String,
        /// How much of it.
        pub asked: i64,
        /// The same as people say it: `8 GPUs`.
        pub request: String,
        /// The most that any one node offers of it.
        pub largest: i64,
        /// Nodes.
        pub nodes: usize,
        /// Nodes that offer enough of what it asks for, taken or not.
        pub candidates: usize,
        /// What keeps it from every candidate: `resource-taken`, `resource-exceeds-node`, `resource-not-offered`,
        /// `resource-unhealthy`, `taint`, `state-taint`, `node-affinity`, `unschedulable`, `max-pods`, `device`, `host-port`,
        /// `volume`, `spread`, `pod-affinity`, `hami`, or `mixed`; `resource-exceeds-shown` if it is more than the nodes that are known
        /// have, and not all are known; empty if it fits.
        pub decides: String,
        /// Pods that hold some of it on the candidates, up to eight.
        pub holders: Vec<String>,
        /// Resource that is short on every candidate; empty for other reasons.
        pub short: String,
        /// The reasons with names and numbers, one node each, up to three nodes.
        pub detail: String,
        /// Nodes left out by reason, in the scheduler's words.
        pub reasons: BTreeMap<String, usize>,
        /// Nodes that take it, up to eight.
        pub fitting: Vec<String>,
        /// Nodes where displacing pods of lower priority would make room, up to eight.
        pub preemptable: Vec<String>,
        /// What could not be decided.
        pub open: Vec<String>,
    }
    subject = |fact| format!("pod/{}/{}", fact.namespace, fact.name);
}

fact! {
    /// Why a node does not take a pending pod.
    #[derive(Debug, Clone, Default, Serialize)]
    "node-fit" = pub struct NodeFit {
        /// Namespace of the pod.
        pub namespace: String,
        /// Pod.
        pub pod: String,
        /// Node.
        pub node: String,
        /// Predicate, as in [`PodFit::decides`].
        pub predicate: String,
        /// In the scheduler's words.
        pub says: String,
        /// With names and numbers.
        pub detail: String,
        /// Resource that is short, key of the taint; empty for other reasons.
        pub about: String,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// What a node has of an extended resource, and what pods hold of it.
    #[derive(Debug, Clone, Default, Serialize)]
    "node-resource" = pub struct NodeResource {
        /// Node.
        pub node: String,
        /// Resource, e.g. `nvidia.com/gpu`.
        pub resource: String,
        /// Capacity: devices that the plugin reported.
        pub capacity: i64,
        /// Allocatable: devices that the plugin reported as healthy.
        pub allocatable: i64,
        /// What pods that have not ended ask for.
        pub allocated: i64,
        /// Allocatable less allocated; below zero if devices became unhealthy under running pods.
        pub free: i64,
        /// Capacity less allocatable.
        pub unhealthy: i64,
        /// Pods that hold it, as `namespace/name amount`.
        pub holders: Vec<String>,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// A card in HAMi's accounting.
    #[derive(Debug, Clone, Default, Serialize)]
    "hami-card" = pub struct HamiCard {
        /// Node.
        pub node: String,
        /// UUID.
        pub uuid: String,
        /// Type.
        pub kind: String,
        /// Sharing mode.
        pub mode: String,
        /// Registered as healthy.
        pub healthy: bool,
        /// Containers that may share it.
        pub slots: i64,
        /// Containers that do.
        pub slots_held: i64,
        /// Memory in MiB.
        pub memory: i64,
        /// Memory held in MiB.
        pub memory_held: i64,
        /// Cores in percent.
        pub cores: i64,
        /// Cores held in percent.
        pub cores_held: i64,
        /// Containers that it still takes.
        pub slots_free: i64,
        /// Memory in MiB that is not held.
        pub memory_free: i64,
        /// Cores in percent that are not held.
        pub cores_free: i64,
        /// Pods that hold a share.
        pub holders: Vec<String>,
        /// It takes another container, and no other card that does has more memory left.
        pub roomiest: bool,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// A quota or limit that keeps a workload's missing pods from being made.
    #[derive(Debug, Clone, Default, Serialize)]
    "quota-refusal" = pub struct QuotaRefusal {
        /// Namespace.
        pub namespace: String,
        /// Workload, e.g. `replicaset/train-5d9`.
        pub workload: String,
        /// Pods that are missing.
        pub missing: i64,
        /// Quota or LimitRange, e.g. `resourcequota/ml/gpu`.
        pub object: String,
        /// What the API server says.
        pub sentence: String,
    }
    subject = |fact| fact.object.clone();
}
