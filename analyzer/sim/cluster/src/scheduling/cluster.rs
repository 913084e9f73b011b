//! The cluster as the scheduler would see it at the end of collection.

use std::collections::BTreeMap;

use super::api::{
    Claim, CsiNode, DeviceClaim, DeviceClass, Labels, LimitRange, Node, Plain, Pod, Quota, Slice,
    StorageClass, Volume,
};
use super::quantity::Resources;
use super::requests::pod_takes;

/// Everything that was collected of what decides. `None` means that a list was not collected, which is not empty.
#[derive(Debug, Clone, Default)]
pub struct Inputs<'a> {
    /// Nodes.
    pub nodes: Vec<&'a Node>,
    /// Whether the nodes are all there are; if not, nothing can be said of the cluster as a whole.
    pub nodes_complete: bool,
    /// Pods of all namespaces.
    pub pods: Vec<&'a Pod>,
    /// Whether the pods are all there are; if not, what is allocated is a lower bound.
    pub pods_complete: bool,
    /// PersistentVolumeClaims.
    pub claims: Option<Vec<&'a Claim>>,
    /// PersistentVolumes.
    pub volumes: Option<Vec<&'a Volume>>,
    /// StorageClasses.
    pub classes: Option<Vec<&'a StorageClass>>,
    /// CSINodes.
    pub csi_nodes: Option<Vec<&'a CsiNode>>,
    /// ResourceClaims.
    pub device_claims: Option<Vec<&'a DeviceClaim>>,
    /// ResourceSlices.
    pub slices: Option<Vec<&'a Slice>>,
    /// DeviceClasses.
    pub device_classes: Option<Vec<&'a DeviceClass>>,
    /// Namespaces, for selectors of namespaces.
    pub namespaces: Option<Vec<&'a Plain>>,
    /// ResourceQuotas.
    pub quotas: Vec<&'a Quota>,
    /// LimitRanges.
    pub limit_ranges: Vec<&'a LimitRange>,
    /// HAMi's defaults.
    pub hami: super::hami::Defaults,
    /// Version of the control plane, e.g. `v1.36.2`; empty if unknown.
    pub version: String,
}

/// Version of the control plane; its scheduler's words depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    /// Minor version.
    pub minor: u32,
    /// Patch version.
    pub patch: u32,
}

impl Release {
    /// The newest whose words are known; stands in for an unknown version.
    pub const NEWEST: Self = Self {
        minor: 36,
        patch: 0,
    };

    /// Reads `v1.34.3+rke2r1`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim_start_matches('v').split(['.', '+', '-']);
        let major: u32 = parts.next()?.parse().ok()?;
        let minor = parts.next()?.parse().ok()?;
        let patch = parts.next().and_then(|patch| patch.parse().ok());
        (major == 1).then_some(Self {
            minor,
            patch: patch.unwrap_or(0),
        })
    }
}

/// What a node's pods take of it.
#[derive(Debug, Clone, Default)]
pub struct Load<'a> {
    /// Pods bound to it that have not ended.
    pub pods: Vec<&'a Pod>,
    /// What they ask for together.
    pub allocated: Resources,
}

/// The cluster with what pods take of each node added up.
#[derive(Debug)]
pub struct Cluster<'a> {
    /// What was collected.
    pub inputs: Inputs<'a>,
    /// Words of the scheduler to use.
    pub release: Release,
    loads: BTreeMap<&'a str, Load<'a>>,
    namespaces: BTreeMap<&'a str, &'a Labels>,
    empty: Load<'a>,
}

impl<'a> Load<'a> {
    /// Adds up what pods take.
    pub fn of(pods: impl IntoIterator<Item = &'a Pod>, release: Release) -> Self {
        let mut load = Self::default();
        for pod in pods {
            load.take(pod, release);
        }
        load
    }

    fn take(&mut self, pod: &'a Pod, release: Release) {
        self.pods.push(pod);
        self.allocated.add(&pod_takes(pod, release));
    }
}

impl<'a> Cluster<'a> {
    /// Adds up what pods take.
    pub fn new(inputs: Inputs<'a>) -> Self {
        let release = Release::parse(&inputs.version).unwrap_or(Release::NEWEST);
        let mut loads: BTreeMap<&str, Load<'_>> = BTreeMap::new();
        for pod in inputs.pods.iter().filter(|pod| pod.occupies()) {
            let load = loads.entry(&pod.spec.node_name).or_default();
            load.take(pod, release);
        }
        let namespaces = inputs.namespaces.iter().flatten();
        Self {
            release,
            namespaces: namespaces
                .map(|one| (one.metadata.name.as_str(), &one.metadata.labels))
                .collect(),
            loads,
            empty: Load::default(),
            inputs,
        }
    }

    /// What the pods of a node take.
    pub fn load(&self, node: &str) -> &Load<'a> {
        self.loads.get(node).unwrap_or(&self.empty)
    }

    /// Labels of a namespace; none if it was not collected.
    pub fn namespace_labels(&self, namespace: &str) -> Option<&'a Labels> {
        self.namespaces.get(namespace).copied()
    }

    /// A node by name.
    pub fn node(&self, name: &str) -> Option<&'a Node> {
        let mut nodes = self.inputs.nodes.iter();
        nodes.find(|node| node.metadata.name == name).copied()
    }

    /// Pods that are bound to a node and have not ended, with their nodes.
    pub fn placed(&self) -> impl Iterator<Item = (&'a Pod, &'a Node)> {
        let nodes = self.inputs.nodes.iter();
        nodes.flat_map(|node| {
            let pods = self.load(&node.metadata.name).pods.iter();
            pods.map(|pod| (*pod, *node))
        })
    }

    /// Pods of at least this priority for which others on the node were displaced; they count as if they ran there.
    pub fn nominated(&self, node: &str, beside: &Pod) -> impl Iterator<Item = &'a Pod> {
        let wanted = beside.priority();
        let own = beside.id();
        self.inputs.pods.iter().copied().filter(move |pod| {
            pod.waits()
                && pod.status.nominated_node_name == node
                && pod.priority() >= wanted
                && pod.id() != own
        })
    }
}
