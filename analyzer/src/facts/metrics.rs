//! Facts about use and health that agents measure: the kubelet, exporters of GPU metrics, makers' tools, control groups and
//! disks.

use serde::Serialize;

use super::{FactType, Field};

const fn field(name: &'static str, doc: &'static str) -> Field {
    Field { name, doc }
}

/// Room and use of a node, as its kubelet measures them.
#[derive(Debug, Clone, Default, Serialize)]
pub struct NodeUse {
    /// Node.
    pub node: String,
    /// Bytes of memory that are free before pods are evicted.
    pub memory_available: Option<u64>,
    /// Bytes free on the file system of the kubelet.
    pub fs_available: Option<u64>,
    /// Percent of that file system that are free.
    pub fs_free_percent: Option<u64>,
    /// Percent of its inodes that are free.
    pub inodes_free_percent: Option<u64>,
    /// Percent of the file system of images that are free.
    pub image_fs_free_percent: Option<u64>,
    /// Processes and threads.
    pub processes: Option<u64>,
    /// The most there may be.
    pub processes_max: Option<u64>,
}

impl FactType for NodeUse {
    const KIND: &'static str = "node-use";
    const FIELDS: &'static [Field] = &[
        field("node", "node"),
        field("memory_available", "bytes of memory that are free"),
        field(
            "fs_available",
            "bytes free on the file system of the kubelet",
        ),
        field(
            "fs_free_percent",
            "percent of that file system that are free",
        ),
        field("inodes_free_percent", "percent of its inodes that are free"),
        field(
            "image_fs_free_percent",
            "percent of the file system of images that are free",
        ),
        field("processes", "processes and threads"),
        field("processes_max", "the most there may be"),
    ];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}

/// What a pod uses, as the kubelet measures it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PodUse {
    /// Node.
    pub node: String,
    /// Namespace.
    pub namespace: String,
    /// Pod.
    pub pod: String,
    /// Bytes of memory that cannot be taken from it.
    pub memory: Option<u64>,
    /// Bytes of its logs, writable layers and `emptyDir` volumes.
    pub ephemeral: Option<u64>,
    /// Thousandths of a processor.
    pub millicores: Option<u64>,
}

impl FactType for PodUse {
    const KIND: &'static str = "pod-use";
    const FIELDS: &'static [Field] = &[
        field("node", "node"),
        field("namespace", "namespace"),
        field("pod", "pod"),
        field("memory", "bytes of memory that cannot be taken from it"),
        field(
            "ephemeral",
            "bytes of its logs, writable layers and emptyDir volumes",
        ),
        field("millicores", "thousandths of a processor"),
    ];
    fn subject(&self) -> String {
        format!("pod/{}/{}", self.namespace, self.pod)
    }
}

/// A counter of trouble above zero that an exporter gives for a GPU.
#[derive(Debug, Clone, Default, Serialize)]
pub struct GpuMetric {
    /// Node.
    pub node: String,
    /// Index of the GPU.
    pub gpu: String,
    /// UUID of the GPU; empty if not given.
    pub uuid: String,
    /// Name of the metric, e.g. `DCGM_FI_DEV_XID_ERRORS`.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// `namespace/pod` that has the GPU; empty if none or unknown.
    pub pod: String,
}

impl FactType for GpuMetric {
    const KIND: &'static str = "gpu-metric";
    const FIELDS: &'static [Field] = &[
        field("node", "node"),
        field("gpu", "index of the GPU"),
        field("uuid", "UUID of the GPU"),
        field("name", "name of the metric"),
        field("value", "its value"),
        field("pod", "namespace/pod that has the GPU"),
    ];
    fn subject(&self) -> String {
        format!("gpu/{}/{}", self.node, self.gpu)
    }
}

/// A GPU of another maker than NVIDIA, as the maker's tool prints it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct OtherGpu {
    /// Node.
    pub node: String,
    /// `AMD` or `Intel`.
    pub maker: String,
    /// Index in the order of the tool.
    pub index: u64,
    /// Model; empty where the tool was asked for figures only.
    pub model: String,
    /// PCI address; empty if not given.
    pub bus_id: String,
    /// Driver and its version; empty if not given.
    pub driver: String,
    /// MiB.
    pub memory_total: Option<u64>,
    /// MiB.
    pub memory_used: Option<u64>,
    /// Degrees Celsius of its hottest sensor.
    pub temperature: Option<u64>,
    /// Memory errors that were corrected.
    pub ecc_corrected: Option<u64>,
    /// Memory errors that were not.
    pub ecc_uncorrected: Option<u64>,
    /// Replays on its link to the machine.
    pub pcie_replays: Option<u64>,
    /// What the tool says of its state, where it says anything: `Normal`, `UNTHROTTLED`, ...
    pub state: String,
}

impl FactType for OtherGpu {
    const KIND: &'static str = "other-gpu";
    const FIELDS: &'static [Field] = &[
        field("node", "node"),
        field("maker", "AMD or Intel"),
        field("index", "index in the order of the tool"),
        field("model", "model"),
        field("bus_id", "PCI address"),
        field("driver", "driver and its version"),
        field("memory_total", "MiB"),
        field("memory_used", "MiB"),
        field("temperature", "degrees Celsius of its hottest sensor"),
        field("ecc_corrected", "memory errors that were corrected"),
        field("ecc_uncorrected", "memory errors that were not"),
        field("pcie_replays", "replays on its link to the machine"),
        field("state", "what the tool says of its state"),
    ];
    fn subject(&self) -> String {
        format!("gpu/{}/{}", self.node, self.index)
    }
}

/// The control group of a process that holds a GPU: its limits, and how often it was held back.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ControlGroup {
    /// Node.
    pub node: String,
    /// Path below the root of control groups.
    pub path: String,
    /// It is a pod's.
    pub in_pod: bool,
    /// Bytes that it may use; none without a limit.
    pub memory_max: Option<u64>,
    /// Bytes that it uses.
    pub memory: Option<u64>,
    /// Processes in it that were killed for want of memory.
    pub oom_kills: u64,
    /// Percent of its periods in which it was kept from running.
    pub throttled_percent: Option<u64>,
}

impl FactType for ControlGroup {
    const KIND: &'static str = "control-group";
    const FIELDS: &'static [Field] = &[
        field("node", "node"),
        field("path", "path below the root of control groups"),
        field("in_pod", "it is a pod's"),
        field("memory_max", "bytes that it may use"),
        field("memory", "bytes that it uses"),
        field("oom_kills", "processes killed for want of memory"),
        field(
            "throttled_percent",
            "percent of its periods in which it was kept from running",
        ),
    ];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}

/// Devices that the kubelet gave to a container.
#[derive(Debug, Clone, Default, Serialize)]
pub struct DeviceGrant {
    /// Node.
    pub node: String,
    /// Namespace.
    pub namespace: String,
    /// Pod.
    pub pod: String,
    /// Container.
    pub container: String,
    /// E.g. `nvidia.com/gpu`; of a claim the name of the driver.
    pub resource: String,
    /// Ids of the devices; of NVIDIA's their UUIDs.
    pub devices: Vec<String>,
    /// Nodes of memory that they are at.
    pub numa: Vec<i64>,
}

impl FactType for DeviceGrant {
    const KIND: &'static str = "device-grant";
    const FIELDS: &'static [Field] = &[
        field("node", "node"),
        field("namespace", "namespace"),
        field("pod", "pod"),
        field("container", "container"),
        field("resource", "resource, e.g. nvidia.com/gpu"),
        field("devices", "ids of the devices"),
        field("numa", "nodes of memory that they are at"),
    ];
    fn subject(&self) -> String {
        format!("pod/{}/{}", self.namespace, self.pod)
    }
}

/// What a disk says of its own health.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Disk {
    /// Node.
    pub node: String,
    /// Name, e.g. `nvme0n1`.
    pub name: String,
    /// Model.
    pub model: String,
    /// Its own verdict; none where it gives none.
    pub passed: Option<bool>,
    /// Percent of its life that are used.
    pub worn_percent: Option<u64>,
    /// Errors of the medium: of NVMe its count, of others sectors that are lost or wait.
    pub media_errors: Option<u64>,
    /// Degrees Celsius.
    pub temperature: Option<u64>,
}

impl FactType for Disk {
    const KIND: &'static str = "disk";
    const FIELDS: &'static [Field] = &[
        field("node", "node"),
        field("name", "name, e.g. nvme0n1"),
        field("model", "model"),
        field("passed", "its own verdict"),
        field("worn_percent", "percent of its life that are used"),
        field("media_errors", "errors of the medium"),
        field("temperature", "degrees Celsius"),
    ];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}
