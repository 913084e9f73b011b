//! Facts about use and health that agents measure: the kubelet, exporters of GPU metrics, makers' tools, control groups and
//! disks.

use serde::Serialize;

use super::fact;

fact! {
    /// Room and use of a node, as its kubelet measures them.
    #[derive(Debug, Clone, Default, Serialize)]
    "node-use" = pub struct NodeUse {
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
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// What a pod uses, as the kubelet measures it.
    #[derive(Debug, Clone, Default, Serialize)]
    "pod-use" = pub struct PodUse {
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
    subject = |fact| format!("pod/{}/{}", fact.namespace, fact.pod);
}

fact! {
    /// A counter of trouble above zero that an exporter gives for a GPU.
    #[derive(Debug, Clone, Default, Serialize)]
    "gpu-metric" = pub struct GpuMetric {
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
    subject = |fact| format!("gpu/{}/{}", fact.node, fact.gpu);
}

fact! {
    /// A GPU of another maker than NVIDIA, as the maker's tool prints it.
    #[derive(Debug, Clone, Default, Serialize)]
    "other-gpu" = pub struct OtherGpu {
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
    subject = |fact| format!("gpu/{}/{}", fact.node, fact.index);
}

fact! {
    /// The control group of a process that holds a GPU: its limits, and how often it was held back.
    #[derive(Debug, Clone, Default, Serialize)]
    "control-group" = pub struct ControlGroup {
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
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// Devices that the kubelet gave to a container.
    #[derive(Debug, Clone, Default, Serialize)]
    "device-grant" = pub struct DeviceGrant {
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
    subject = |fact| format!("pod/{}/{}", fact.namespace, fact.pod);
}

fact! {
    /// What a disk says of its own health.
    #[derive(Debug, Clone, Default, Serialize)]
    "disk" = pub struct Disk {
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
    subject = |fact| format!("node/{}", fact.node);
}
