//! What pods depend on beside nodes: claims and volumes, quotas and limits, workloads.

use super::*;

objects! {
    /// Spec of a claim.
    ClaimSpec {
        /// Bound volume.
        volume_name: String,
        /// Storage class.
        storage_class_name: Option<String>,
        /// Access modes.
        access_modes: Vec<String>,
        /// Size asked for.
        resources: ContainerResources,
        /// Volumes by label.
        selector: Option<LabelSelector>,
    }
    /// Phase of a claim or volume.
    PhaseStatus {
        /// `Bound`, `Pending`, `Lost`, `Available`, `Released`.
        phase: String,
    }
    /// A PersistentVolumeClaim.
    Claim {
        /// Metadata.
        metadata: Meta,
        /// Spec.
        spec: ClaimSpec,
        /// Status.
        status: PhaseStatus,
    }
    /// Node affinity of a volume.
    VolumeAffinity {
        /// Must hold.
        required: Option<NodeSelector>,
    }
    /// A volume of a CSI driver.
    CsiVolume {
        /// Driver.
        driver: String,
        /// The driver's name for it.
        volume_handle: String,
    }
    /// Spec of a volume.
    VolumeSpec {
        /// Of which CSI driver it is.
        csi: Option<CsiVolume>,
        /// Size.
        capacity: Resources,
        /// Access modes.
        access_modes: Vec<String>,
        /// Claim that holds it.
        claim_ref: Option<ClaimRef>,
        /// Nodes that can mount it.
        node_affinity: VolumeAffinity,
        /// Storage class.
        storage_class_name: String,
    }
    /// A PersistentVolume.
    Volume {
        /// Metadata.
        metadata: Meta,
        /// Spec.
        spec: VolumeSpec,
        /// Status.
        status: PhaseStatus,
    }
    /// How many volumes a driver attaches to a node.
    DriverLimit {
        /// Most volumes; none where the driver states no limit.
        count: Option<i64>,
    }
    /// A CSI driver of a node.
    NodeDriver {
        /// Name.
        name: String,
        /// Its limit.
        allocatable: Option<DriverLimit>,
    }
    /// Spec of a CSINode.
    CsiNodeSpec {
        /// Drivers.
        drivers: Vec<NodeDriver>,
    }
    /// A CSINode.
    CsiNode {
        /// Metadata; it has the node's name.
        metadata: Meta,
        /// Spec.
        spec: CsiNodeSpec,
    }
    /// Places where a storage class can make volumes.
    TopologyTerm {
        /// Node labels with their values.
        match_label_expressions: Vec<Requirement>,
    }
    /// A StorageClass.
    StorageClass {
        /// Metadata.
        metadata: Meta,
        /// Provisioner.
        provisioner: String,
        /// `Immediate` (also if empty) or `WaitForFirstConsumer`.
        volume_binding_mode: String,
        /// Where volumes can be made; everywhere if empty.
        allowed_topologies: Vec<TopologyTerm>,
    }
    /// Limits of a quota.
    QuotaSpec {
        /// Limits.
        hard: Resources,
        /// Which pods it counts: `Terminating`, `NotTerminating`, `BestEffort`, `NotBestEffort`, ...
        scopes: Vec<String>,
        /// Which pods it counts, by selector.
        scope_selector: Option<serde_json::Value>,
    }
    /// State of a quota.
    QuotaStatus {
        /// Limits in force.
        hard: Resources,
        /// Used.
        used: Resources,
    }
    /// A ResourceQuota.
    Quota {
        /// Metadata.
        metadata: Meta,
        /// Spec.
        spec: QuotaSpec,
        /// Status.
        status: QuotaStatus,
    }
    /// A limit on one pod or container.
    LimitItem {
        /// `Container`, `Pod` or `PersistentVolumeClaim`.
        #[serde(rename = "type")]
        kind: String,
        /// Largest.
        max: Resources,
        /// Smallest.
        min: Resources,
        /// Limit where none is given.
        default: Resources,
        /// Request where none is given.
        default_request: Resources,
    }
    /// Spec of a LimitRange.
    LimitSpec {
        /// Limits.
        limits: Vec<LimitItem>,
    }
    /// A LimitRange.
    LimitRange {
        /// Metadata.
        metadata: Meta,
        /// Spec.
        spec: LimitSpec,
    }
    /// A namespace, lease or other object of which only the metadata matters.
    Plain {
        /// Metadata.
        metadata: Meta,
    }
    /// A pod template.
    Template {
        /// Metadata.
        metadata: Meta,
        /// Spec.
        spec: PodSpec,
    }
    /// Spec of a workload.
    WorkloadSpec {
        /// Pods wanted.
        replicas: Option<i64>,
        /// Template.
        template: Template,
    }
    /// State of a workload.
    WorkloadStatus {
        /// Pods that exist.
        replicas: Option<i64>,
        /// Nodes that should run it (daemonset).
        desired_number_scheduled: Option<i64>,
        /// Nodes that run it (daemonset).
        current_number_scheduled: Option<i64>,
    }
    /// A workload with a pod template.
    Workload {
        /// Kind, if the object names it.
        kind: String,
        /// Metadata.
        metadata: Meta,
        /// Spec.
        spec: WorkloadSpec,
        /// Status.
        status: WorkloadStatus,
    }
}
