//! Facts about GPUs and their driver.

use serde::Serialize;

use super::{FactType, Field, fact};
use crate::gpu::smi::Card;

const fn field(name: &'static str, doc: &'static str) -> Field {
    Field { name, doc }
}

/// A GPU as nvidia-smi reports it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Gpu {
    /// Node.
    pub node: String,
    /// What is reported.
    #[serde(flatten)]
    pub card: Card,
}

impl FactType for Gpu {
    const KIND: &'static str = "gpu";
    const FIELDS: &'static [Field] = &[
        field("node", "node"),
        field("index", "index in the order of nvidia-smi"),
        field("bus_id", "PCI bus id"),
        field("name", "product name"),
        field("uuid", "UUID"),
        field("architecture", "architecture"),
        field("mig", "MIG mode"),
        field("mig_pending", "MIG mode after the next reset"),
        field("mig_devices", "MIG instances"),
        field("temperature", "degrees Celsius"),
        field(
            "temperature_slowdown",
            "degrees Celsius at which clocks are lowered",
        ),
        field("memory_temperature", "degrees Celsius of the memory"),
        field("power", "watts drawn"),
        field("power_limit", "watts allowed"),
        field("performance_state", "performance state"),
        field("slowdowns", "why clocks are lowered"),
        field("ecc_mode", "ECC mode"),
        field("ecc_uncorrectable", "volatile uncorrectable ECC errors"),
        field("ecc_corrected", "volatile corrected ECC errors"),
        field(
            "ecc_uncorrectable_total",
            "uncorrectable ECC errors of its life",
        ),
        field("retired_pages", "retired pages"),
        field("retirement_pending", "page retirement pending"),
        field(
            "remapped_uncorrectable",
            "rows remapped after uncorrectable errors",
        ),
        field("remapped_corrected", "rows remapped after corrected errors"),
        field("remap_pending", "row remapping pending"),
        field("remap_failed", "row remapping failed"),
        field("recovery_action", "recovery action asked for"),
        field("reset_required", "a reset is required"),
        field("fabric_state", "state of the NVLink fabric"),
        field("fabric_status", "status of the NVLink fabric"),
        field("gsp_firmware", "GSP firmware version"),
        field(
            "virtualization",
            "VGPU in a virtual machine that has a part of a GPU",
        ),
        field("license", "licence of a virtual GPU"),
        field("link_width", "PCIe lanes in use"),
        field("link_width_max", "PCIe lanes at most"),
        field("memory", "memory in MiB"),
        field("memory_used", "memory used in MiB"),
        field(
            "trouble",
            "what the driver says where the GPU does not answer",
        ),
    ];
    fn subject(&self) -> String {
        format!("gpu/{}/{}", self.node, self.card.bus_id)
    }
}

fact! {
    /// The NVIDIA driver of a node.
    #[derive(Debug, Clone, Default, Serialize)]
    "driver" = pub struct Driver {
        /// Node.
        pub node: String,
        /// Version of user space as nvidia-smi reports it; empty if unknown.
        pub version: String,
        /// CUDA version.
        pub cuda: String,
        /// Version of the loaded kernel module; empty if unknown.
        pub module: String,
        /// Flavour of the loaded kernel module, `open` or `proprietary`; empty if unknown.
        pub flavour: String,
        /// GPUs attached.
        pub gpus: Option<u64>,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// How many GPUs a node has, and how many of them nvidia-smi lists without trouble.
    #[derive(Debug, Clone, Default, Serialize)]
    "gpu-inventory" = pub struct GpuInventory {
        /// Node.
        pub node: String,
        /// NVIDIA display controllers on the PCI bus; none where the bus was not listed.
        pub on_bus: Option<u64>,
        /// GPUs that nvidia-smi lists.
        pub listed: u64,
        /// Those of them with which nothing is wrong.
        pub well: u64,
        /// All of the bus are listed, and well.
        pub all_well: bool,
        /// Version of the driver that answered; empty if unknown.
        pub driver: String,
        /// What nvidia-smi says instead of a list; empty where it lists GPUs or was not asked.
        pub refusal: String,
        /// The nvidia kernel module: `loaded`, `on-disk`, `absent`; empty if unknown.
        pub module: String,
        /// Kernel driver that holds a GPU, as lspci has it; empty if none or unknown.
        pub holder: String,
        /// In words.
        pub says: String,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// A library of the driver whose file is there and is no library: empty, or cut short.
    #[derive(Debug, Clone, Default, Serialize)]
    "damaged-library" = pub struct DamagedLibrary {
        /// Node.
        pub node: String,
        /// Its name for the loader, e.g. `libcuda.so.1`.
        pub library: String,
        /// The file.
        pub path: String,
        /// Its size.
        pub bytes: u64,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// Two parts of the driver stack that do not fit.
    #[derive(Debug, Clone, Default, Serialize)]
    "driver-mismatch" = pub struct DriverMismatch {
        /// Node.
        pub node: String,
        /// Which: `module-library`, `module-on-disk`, `module-fabric-manager`, `module-firmware`, `generation-flavour`,
        /// `generation-driver`, `image-driver`, `gpu-holder`, `kernel-module`, `secure-boot`.
        pub pair: String,
        /// One part.
        pub left: String,
        /// Its version or state.
        pub left_value: String,
        /// Where that was read.
        pub left_at: String,
        /// The other part.
        pub right: String,
        /// Its version or state.
        pub right_value: String,
        /// Where that was read.
        pub right_at: String,
        /// In words.
        pub sentence: String,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// The process that holds most of a GPU's memory.
    #[derive(Debug, Clone, Default, Serialize)]
    "gpu-tenant" = pub struct GpuTenant {
        /// Node.
        pub node: String,
        /// PCI address.
        pub bus_id: String,
        /// Process id, as the host counts.
        pub pid: u64,
        /// Which program it is, what it holds, and whose it is, in words.
        pub sentence: String,
    }
    subject = |_fact| String::new();
}

fact! {
    /// What the Xid messages of a GPU tell together.
    #[derive(Debug, Clone, Default, Serialize)]
    "xid-story" = pub struct XidStory {
        /// Node.
        pub node: String,
        /// PCI address.
        pub bus_id: String,
        /// Product name; empty if unknown.
        pub name: String,
        /// Code that came first.
        pub first: u32,
        /// Code that the others follow from.
        pub cause: u32,
        /// `application`, `driver`, `memory`, `link`, `bus`, `power`, `hardware`, `consequence`, `information`,
        /// `unknown`.
        pub class: String,
        /// What NVIDIA says to do first, and then; the recovery action that the driver asks for goes before.
        pub action: String,
        /// Codes that follow from it.
        pub follows: Vec<u32>,
        /// How many messages of the cause.
        pub count: u64,
        /// The cause was logged at moments that are apart, so the GPU answered in between.
        pub again: bool,
        /// The cause was logged before the machine's last start, and not after it.
        pub earlier_boot: bool,
        /// In words.
        pub sentence: String,
    }
    subject = |fact| format!("gpu/{}/{}", fact.node, fact.bus_id);
}
