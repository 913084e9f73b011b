//! The objects that decide where a pod can run, as the API server gives them; only what the decision reads.

use serde::de::Deserializer;
use serde::{Deserialize, Serialize};

use super::quantity::Resources;
use crate::flat::Flat;

pub use devices::*;
pub use others::*;

/// Labels, annotations and node selectors.
pub type Labels = Flat<String, String>;

/// `null` where a list or map may stand means none.
fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Keeps the annotations that HAMi reads and writes; others may be large and decide nothing.
fn hami_annotations<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Labels, D::Error> {
    let mut all = Option::<Labels>::deserialize(deserializer)?.unwrap_or_default();
    all.retain(|key, _| key.starts_with("hami.io/") || key.starts_with("nvidia.com/"));
    Ok(all)
}

/// Whether anything but `null` stands there.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Option::<serde::de::IgnoredAny>::deserialize(deserializer).map(|value| value.is_some())
}

macro_rules! objects {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $kind:ty,)* })*) => {
        $($(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default, rename_all = "camelCase")]
        pub struct $name { $(
            $(#[$field_doc])*
            #[serde(deserialize_with = "or_default")]
            pub $field: $kind,
        )* })*
    };
}

mod devices;
mod others;
mod slim;

/// Name, namespace, labels and the annotations that matter.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Meta {
    /// Name.
    pub name: String,
    /// Namespace; empty for objects of the cluster.
    #[serde(deserialize_with = "or_default")]
    pub namespace: String,
    /// Labels.
    #[serde(deserialize_with = "or_default")]
    pub labels: Labels,
    /// Annotations of HAMi and NVIDIA.
    #[serde(deserialize_with = "hami_annotations")]
    pub annotations: Labels,
    /// Set while the object is being deleted.
    pub deletion_timestamp: Option<String>,
}

/// A volume of a pod.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PodVolume {
    /// Name.
    pub name: String,
    /// The claim that it uses.
    pub persistent_volume_claim: Option<ClaimRef>,
    /// A claim made for the pod, named `<pod>-<volume>`.
    #[serde(deserialize_with = "present")]
    pub ephemeral: bool,
    /// A disk of GCE.
    pub gce_persistent_disk: Option<Box<Disk>>,
    /// A volume of EBS.
    pub aws_elastic_block_store: Option<Box<Disk>>,
    /// A target of iSCSI.
    pub iscsi: Option<Box<Disk>>,
    /// An image of Ceph.
    pub rbd: Option<Box<Disk>>,
}

/// A requirement on labels or, for topology terms, on node labels.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Requirement {
    /// Label key.
    pub key: String,
    /// `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt`.
    pub operator: String,
    /// Values.
    #[serde(deserialize_with = "or_default")]
    pub values: Vec<String>,
}

objects! {
    /// A reference to a claim.
    ClaimRef {
        /// Claim.
        claim_name: String,
        /// Claim, where a volume names it.
        name: String,
        /// Its namespace.
        namespace: String,
    }
    /// A disk that a pod names itself, of any of four kinds.
    Disk {
        /// Name of a GCE disk.
        pd_name: String,
        /// Name of an EBS volume.
        #[serde(rename = "volumeID")]
        volume_id: String,
        /// Name of an iSCSI target.
        iqn: String,
        /// Monitors of Ceph.
        monitors: Vec<String>,
        /// Pool of Ceph; empty means `rbd`.
        pool: String,
        /// Image of Ceph.
        image: String,
        /// Mounted for reading only.
        read_only: bool,
    }
    /// A toleration.
    Toleration {
        /// Taint key; empty with `Exists` tolerates all.
        key: String,
        /// `Equal` (also if empty) or `Exists`.
        operator: String,
        /// Taint value.
        value: String,
        /// Taint effect; empty tolerates all.
        effect: String,
    }
    /// A taint.
    Taint {
        /// Key.
        key: String,
        /// Value.
        value: String,
        /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
        effect: String,
    }
    /// Requirements that must all hold.
    NodeSelectorTerm {
        /// On labels.
        match_expressions: Vec<Requirement>,
        /// On fields; only `metadata.name` exists.
        match_fields: Vec<Requirement>,
    }
    /// Terms of which one must hold.
    NodeSelector {
        /// Terms.
        node_selector_terms: Vec<NodeSelectorTerm>,
    }
    /// Node affinity.
    NodeAffinity {
        /// Must hold when scheduled.
        required_during_scheduling_ignored_during_execution: Option<NodeSelector>,
    }
    /// A selector of objects by label.
    LabelSelector {
        /// Labels with these values.
        match_labels: Labels,
        /// Requirements.
        match_expressions: Vec<Requirement>,
    }
    /// A term of pod affinity or anti-affinity.
    PodAffinityTerm {
        /// Pods that it is about; none if absent.
        label_selector: Option<LabelSelector>,
        /// Their namespaces.
        namespaces: Vec<String>,
        /// Their namespaces by label.
        namespace_selector: Option<LabelSelector>,
        /// Node label that makes a place.
        topology_key: String,
    }
    /// Pod affinity or anti-affinity.
    PodAffinity {
        /// Must hold when scheduled.
        required_during_scheduling_ignored_during_execution: Vec<PodAffinityTerm>,
    }
    /// Affinities of a pod.
    Affinity {
        /// To nodes.
        node_affinity: NodeAffinity,
        /// To pods.
        pod_affinity: PodAffinity,
        /// Away from pods.
        pod_anti_affinity: PodAffinity,
    }
    /// A topology spread constraint.
    SpreadConstraint {
        /// Largest difference allowed.
        max_skew: i64,
        /// Node label that makes a place.
        topology_key: String,
        /// `DoNotSchedule` or `ScheduleAnyway`.
        when_unsatisfiable: String,
        /// Pods that are counted.
        label_selector: Option<LabelSelector>,
        /// Places that there must be at least.
        min_domains: Option<i64>,
        /// `Honor` (also if empty) or `Ignore`.
        node_affinity_policy: String,
        /// `Honor` or `Ignore` (also if empty).
        node_taints_policy: String,
        /// Labels of the pod that are added to the selector.
        match_label_keys: Vec<String>,
    }
    /// What a container asks for.
    ContainerResources {
        /// Requests.
        requests: Resources,
        /// Limits.
        limits: Resources,
    }
    /// A port of a container.
    Port {
        /// Port of the node; 0 if none.
        host_port: i64,
        /// Address of the node; empty for all.
        #[serde(rename = "hostIP")]
        host_ip: String,
        /// `TCP` (also if empty), `UDP` or `SCTP`.
        protocol: String,
        /// Port of the container.
        container_port: i64,
    }
    /// A container.
    Container {
        /// Name.
        name: String,
        /// What it asks for.
        resources: ContainerResources,
        /// Ports.
        ports: Vec<Port>,
        /// `Always` makes an init container a sidecar.
        restart_policy: String,
    }
    /// Anything with a name.
    Named {
        /// Name.
        name: String,
    }
    /// What a pod asks for.
    PodSpec {
        /// Node that it is bound to.
        node_name: String,
        /// Scheduler; empty means `default-scheduler`.
        scheduler_name: String,
        /// Node labels asked for.
        node_selector: Labels,
        /// Affinities.
        affinity: Affinity,
        /// Tolerations.
        tolerations: Vec<Toleration>,
        /// Topology spread.
        topology_spread_constraints: Vec<SpreadConstraint>,
        /// Containers.
        containers: Vec<Container>,
        /// Init containers and sidecars.
        init_containers: Vec<Container>,
        /// What the sandbox itself takes, from the RuntimeClass.
        overhead: Resources,
        /// What the pod as a whole asks for.
        resources: ContainerResources,
        /// Priority.
        priority: Option<i64>,
        /// `Never` keeps it from displacing others.
        preemption_policy: String,
        /// What must be lifted before it is scheduled.
        scheduling_gates: Vec<Named>,
        /// Volumes.
        volumes: Vec<PodVolume>,
        /// Uses the node's network.
        host_network: bool,
        /// Device claims (dynamic resource allocation).
        resource_claims: Vec<PodClaim>,
        /// RuntimeClass.
        runtime_class_name: String,
        /// Seconds after which the pod is ended.
        active_deadline_seconds: Option<i64>,
        /// PriorityClass.
        priority_class_name: String,
    }
    /// A condition.
    Condition {
        /// Type.
        #[serde(rename = "type")]
        kind: String,
        /// `True`, `False` or `Unknown`.
        status: String,
        /// Reason.
        reason: String,
        /// Message.
        message: String,
    }
    /// What a container has now.
    ContainerStatus {
        /// Name.
        name: String,
        /// What the kubelet has set aside for it.
        allocated_resources: Resources,
        /// What is in force; none where the kubelet does not tell.
        resources: Option<ContainerResources>,
    }
    /// State of a pod.
    PodStatus {
        /// What the kubelet has set aside for the pod as a whole.
        allocated_resources: Resources,
        /// What is in force for the pod as a whole; none where the kubelet does not tell.
        resources: Option<ContainerResources>,
        /// Phase.
        phase: String,
        /// Node for which others were displaced.
        nominated_node_name: String,
        /// Claims that were made for it.
        resource_claim_statuses: Vec<PodClaim>,
        /// What its containers have now, while a resize is under way.
        container_statuses: Vec<ContainerStatus>,
        /// The same of init containers and sidecars.
        init_container_statuses: Vec<ContainerStatus>,
        /// Conditions.
        conditions: Vec<Condition>,
    }
    /// A pod.
    Pod {
        /// Metadata.
        metadata: Meta,
        /// Spec.
        spec: PodSpec,
        /// Status.
        status: PodStatus,
    }
    /// Spec of a node.
    NodeSpec {
        /// Taints.
        taints: Vec<Taint>,
        /// Cordoned.
        unschedulable: bool,
    }
    /// Status of a node.
    NodeStatus {
        /// What the machine has.
        capacity: Resources,
        /// What pods may ask for together.
        allocatable: Resources,
    }
    /// A node.
    Node {
        /// Metadata.
        metadata: Meta,
        /// Spec.
        spec: NodeSpec,
        /// Status.
        status: NodeStatus,
    }
}

impl Pod {
    /// `namespace/name`.
    pub fn id(&self) -> String {
        format!("{}/{}", self.metadata.namespace, self.metadata.name)
    }

    /// Whether it holds resources of its node: bound and not ended.
    pub fn occupies(&self) -> bool {
        !self.spec.node_name.is_empty() && !self.ended()
    }

    /// Whether it ran to its end.
    pub fn ended(&self) -> bool {
        matches!(self.status.phase.as_str(), "Succeeded" | "Failed")
    }

    /// Whether a scheduler still has to find a node for it.
    pub fn waits(&self) -> bool {
        self.spec.node_name.is_empty()
            && !self.ended()
            && self.metadata.deletion_timestamp.is_none()
    }

    /// Priority; pods without one count as 0.
    pub fn priority(&self) -> i64 {
        self.spec.priority.unwrap_or(0)
    }

    /// Scheduler that serves it.
    pub fn scheduler(&self) -> &str {
        if self.spec.scheduler_name.is_empty() {
            "default-scheduler"
        } else {
            &self.spec.scheduler_name
        }
    }

    /// Names of the claims that it uses.
    pub fn claims(&self) -> impl Iterator<Item = String> {
        self.spec.volumes.iter().filter_map(|volume| {
            let named = volume.persistent_volume_claim.as_ref();
            named.map(|claim| claim.claim_name.clone()).or_else(|| {
                volume
                    .ephemeral
                    .then(|| format!("{}-{}", self.metadata.name, volume.name))
            })
        })
    }
}
