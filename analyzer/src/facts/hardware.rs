//! Facts about the machine's parts: PCI devices, memory modules, what a daemon recorded of their errors, and how GPUs reach
//! one another.

use std::collections::BTreeMap;

use serde::Serialize;

use super::fact;

fact! {
    /// A device on the PCI bus with its link and its error status: `lspci -vvv`.
    #[derive(Debug, Clone, Default, Serialize)]
    "pci-device" = pub struct PciDevice {
        /// Node.
        pub node: String,
        /// Address, e.g. `19:00.0`.
        pub address: String,
        /// What it is, e.g. `3D controller: NVIDIA Corporation Device 2330 (rev a1)`.
        pub name: String,
        /// Kernel driver in use; empty if none.
        pub driver: String,
        /// GT/s of the link; none without a link.
        pub speed: Option<f64>,
        /// GT/s that the device can do.
        pub max_speed: Option<f64>,
        /// Lanes of the link.
        pub width: Option<u64>,
        /// Lanes that the device has.
        pub max_width: Option<u64>,
        /// The link has fewer lanes than the device.
        pub narrower: bool,
        /// The link is slower than the device can do; an idle GPU slows its link down by itself.
        pub slower: bool,
        /// Errors that the device remembers, e.g. `uncorrectable CmpltTO`, `correctable BadTLP`.
        pub errors: Vec<String>,
        /// Access control that is on, e.g. `ReqRedir`: on bridges it leads traffic between GPUs over the processor.
        pub acs: Vec<String>,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// Errors that the kernel counted for a PCI device since boot: `aer_dev_*`. Only those above zero.
    #[derive(Debug, Clone, Default, Serialize)]
    "pci-errors" = pub struct PciErrors {
        /// Node.
        pub node: String,
        /// Address with its domain, e.g. `0000:19:00.0`.
        pub address: String,
        /// `correctable`, `nonfatal` or `fatal`.
        pub severity: String,
        /// Counts by name, e.g. `BadTLP`.
        pub errors: BTreeMap<String, u64>,
        /// All of them together.
        pub count: u64,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// The way between two GPUs, or a GPU and a network adapter: `nvidia-smi topo -m`.
    #[derive(Debug, Clone, Default, Serialize)]
    "gpu-path" = pub struct GpuPath {
        /// Node.
        pub node: String,
        /// E.g. `GPU0`.
        pub from: String,
        /// E.g. `GPU1`, or the adapter's name, `mlx5_0`.
        pub to: String,
        /// `NV18` (18 NVLinks), `PIX`, `PXB`, `PHB`, `NODE`, `SYS`: from near to far.
        pub path: String,
        /// Links of NVLink between them; 0 where there is none.
        pub nvlinks: u64,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// Whether a GPU may read another's memory: `nvidia-smi topo -p2p r`.
    #[derive(Debug, Clone, Default, Serialize)]
    "gpu-peer" = pub struct GpuPeer {
        /// Node.
        pub node: String,
        /// E.g. `GPU0`.
        pub from: String,
        /// E.g. `GPU1`.
        pub to: String,
        /// `OK`, `CNS` (chipset), `GNS` (GPU), `TNS` (topology), `NS` (not supported), `U` (unknown).
        pub status: String,
        /// It may.
        pub allowed: bool,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// A module of the main memory that is in its slot: `dmidecode`.
    #[derive(Debug, Clone, Default, Serialize)]
    "memory-module" = pub struct MemoryModule {
        /// Node.
        pub node: String,
        /// Its slot as the board calls it.
        pub locator: String,
        /// Its bank as the board calls it; empty if not said.
        pub bank: String,
        /// MiB.
        pub size: Option<u64>,
        /// MT/s that it can do.
        pub speed: Option<u64>,
        /// MT/s that it runs at.
        pub configured: Option<u64>,
        /// Maker.
        pub maker: String,
        /// Part number.
        pub part: String,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// An error of hardware that rasdaemon recorded: `ras-mc-ctl --errors`.
    #[derive(Debug, Clone, Default, Serialize)]
    "hardware-event" = pub struct HardwareEvent {
        /// Node.
        pub node: String,
        /// Number of the record.
        pub record: u64,
        /// `Memory controller`, `PCIe AER`, `MCE`, `Devlink`, `Disk`, ... as the tool heads its lists.
        pub sort: String,
        /// What it says.
        pub text: String,
        /// It says that the error was corrected.
        pub corrected: bool,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// A part of a network adapter that watches itself: `devlink health`.
    #[derive(Debug, Clone, Default, Serialize)]
    "adapter-health" = pub struct AdapterHealth {
        /// Node.
        pub node: String,
        /// Device, e.g. `pci/0000:82:00.0`.
        pub device: String,
        /// Part, e.g. `fw_fatal`, `tx`.
        pub reporter: String,
        /// `healthy` or `error`.
        pub state: String,
        /// How often it reported an error.
        pub errors: u64,
        /// How often it recovered.
        pub recoveries: u64,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// What DCGM's watches say of a part: `dcgmi health -c`.
    #[derive(Debug, Clone, Default, Serialize)]
    "gpu-health" = pub struct GpuHealth {
        /// Node.
        pub node: String,
        /// `GPU 0`, `NvSwitch 1`; `all` for the verdict on everything together.
        pub part: String,
        /// E.g. `PCIe system`; empty for the part as a whole.
        pub system: String,
        /// `Healthy`, `Warning`, `Failure`.
        pub health: String,
        /// What DCGM says of it.
        pub message: String,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// A member of an IMEX domain, which shares GPU memory between machines: `nvidia-imex-ctl -N`.
    #[derive(Debug, Clone, Default, Serialize)]
    "imex-node" = pub struct ImexNode {
        /// Node whose daemon was asked.
        pub node: String,
        /// `UP`, `DEGRADED` or `DOWN`: the domain as a whole.
        pub domain: String,
        /// Address of the member.
        pub host: String,
        /// Its name; empty if unknown.
        pub name: String,
        /// `READY`, `UNAVAILABLE`, ...
        pub status: String,
        /// Addresses of members that it has no connection to.
        pub unconnected: Vec<String>,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// A switch between GPUs that the kernel drives: `/proc/driver/nvidia-nvswitch/devices`.
    #[derive(Debug, Clone, Default, Serialize)]
    "nvswitch" = pub struct NvSwitch {
        /// Node.
        pub node: String,
        /// PCI address, e.g. `0000:c1:00.0`.
        pub address: String,
        /// Version of its firmware; empty where the driver could not read it.
        pub bios: String,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// What nvidia-smi says of confidential computing; one output says a part of it.
    #[derive(Debug, Clone, Default, Serialize)]
    "confidential-computing" = pub struct ConfidentialComputing {
        /// Node.
        pub node: String,
        /// `on` or `off`; empty where the output does not say.
        pub state: String,
        /// `protected pcie`, `nvle`: how several GPUs of a machine are kept together; empty for none.
        pub several: String,
        /// `ready` or `not ready`: whether the GPUs take work; empty where the output does not say.
        pub work: String,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// A virtual GPU that a machine gives to one of its virtual machines: `nvidia-smi vgpu -q`.
    #[derive(Debug, Clone, Default, Serialize)]
    "virtual-gpu" = pub struct VirtualGpu {
        /// Node that gives it.
        pub node: String,
        /// PCI address of the GPU that it is a part of.
        pub gpu: String,
        /// Its number.
        pub id: String,
        /// Name of the virtual machine.
        pub machine: String,
        /// Kind, e.g. `NVIDIA L40S-8Q`.
        pub name: String,
        /// Version of the driver in the virtual machine; empty while none is loaded there.
        pub driver: String,
        /// `Licensed`, `Unlicensed (Restricted)`, ...; empty while no driver is loaded there.
        pub license: String,
    }
    subject = |fact| format!("node/{}", fact.node);
}
