//! Facts about the machine under the GPUs: tasks that hang, who holds devices, links, memory, power, units.

use std::collections::BTreeMap;

use serde::Serialize;

use super::fact;

fact! {
    /// A task that was in uninterruptible sleep when the collector looked.
    #[derive(Debug, Clone, Default, Serialize)]
    "waiting-task" = pub struct WaitingTask {
        /// Node.
        pub node: String,
        /// Process id.
        pub pid: u64,
        /// Name of the task.
        pub comm: String,
        /// Kernel function it waits in; empty if unknown.
        pub wchan: String,
        /// It was in the same place a second later.
        pub still: bool,
        /// Innermost kernel function of its stack; empty where the stack may not be read.
        pub innermost: String,
        /// Kernel modules on its stack, e.g. `nvidia`, `nfs`.
        pub modules: Vec<String>,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// A process that has devices of GPUs or of InfiniBand open.
    #[derive(Debug, Clone, Default, Serialize)]
    "device-holder" = pub struct DeviceHolder {
        /// Node.
        pub node: String,
        /// Process id.
        pub pid: u64,
        /// Name of the process.
        pub comm: String,
        /// Control group; empty if unknown.
        pub cgroup: String,
        /// It runs in a pod of Kubernetes.
        pub in_pod: bool,
        /// Devices, e.g. `/dev/nvidia0`.
        pub devices: Vec<String>,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// One NVLink of a GPU, from `nvidia-smi nvlink`.
    #[derive(Debug, Clone, Default, Serialize)]
    "nvlink" = pub struct NvLink {
        /// Node.
        pub node: String,
        /// Index of the GPU in the order of nvidia-smi.
        pub gpu: u64,
        /// UUID of the GPU; empty if not printed.
        pub uuid: String,
        /// Number of the link.
        pub link: u64,
        /// `active`, `inactive`, or empty where errors were listed and states were not.
        pub state: String,
        /// GB/s.
        pub speed: Option<f64>,
        /// Counters of errors above zero, by name, e.g. `Replay Errors`.
        pub errors: BTreeMap<String, u64>,
        /// All of them together.
        pub error_count: u64,
    }
    subject = |fact| format!("gpu/{}/{}", fact.node, fact.gpu);
}

fact! {
    /// An event of the board's own controller: `ipmitool sel elist`.
    #[derive(Debug, Clone, Default, Serialize)]
    "board-event" = pub struct BoardEvent {
        /// Node.
        pub node: String,
        /// Number of the record, hexadecimal.
        pub record: String,
        /// Sensor, e.g. `Power Supply PS1 Status`, `Memory #0x53`.
        pub sensor: String,
        /// What happened, e.g. `Power Supply AC lost`.
        pub event: String,
        /// False where the record says that it ended.
        pub asserted: bool,
        /// Reading, threshold or part, where the record has one.
        pub detail: String,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// A sensor of the board's own controller: `ipmitool sdr elist`.
    #[derive(Debug, Clone, Default, Serialize)]
    "board-sensor" = pub struct BoardSensor {
        /// Node.
        pub node: String,
        /// Name.
        pub name: String,
        /// `ok`, `nc` (not critical), `cr` (critical), `nr` (not recoverable), `ns` (no reading).
        pub status: String,
        /// What it shows.
        pub reading: String,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// A count of memory errors that the kernel keeps for a controller or a module (EDAC).
    #[derive(Debug, Clone, Default, Serialize)]
    "memory-errors" = pub struct MemoryErrors {
        /// Node.
        pub node: String,
        /// Controller, e.g. `mc0`.
        pub controller: String,
        /// Module, e.g. `dimm3`; empty for the controller as a whole.
        pub module: String,
        /// `corrected` or `uncorrected`.
        pub sort: String,
        /// How many since the driver was loaded.
        pub count: u64,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// How much of the time tasks waited for a resource: `/proc/pressure`.
    #[derive(Debug, Clone, Default, Serialize)]
    "pressure" = pub struct Pressure {
        /// Node.
        pub node: String,
        /// `cpu`, `memory` or `io`.
        pub resource: String,
        /// `some` task waited, or all at once (`full`).
        pub scope: String,
        /// Percent of the last 10 seconds.
        pub avg10: f64,
        /// Percent of the last minute.
        pub avg60: f64,
        /// Percent of the last five minutes.
        pub avg300: f64,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// A unit of systemd that matters to containers and GPUs: `systemctl show`, and `systemctl status` of any unit.
    #[derive(Debug, Clone, Default, Serialize)]
    "unit" = pub struct Unit {
        /// Node.
        pub node: String,
        /// Name, e.g. `kubelet.service`.
        pub name: String,
        /// `loaded`, `not-found`, `masked`, ...
        pub load: String,
        /// `active`, `failed`, `activating`, ...
        pub active: String,
        /// `running`, `dead`, `auto-restart`, ...
        pub sub: String,
        /// `success`, `exit-code`, `oom-kill`, `watchdog`, ...
        pub result: String,
        /// How often systemd restarted it since it was last started by hand.
        pub restarts: u64,
        /// How its main process ended: `exited`, `killed`, `dumped`; empty while it runs.
        pub ended: String,
        /// Its exit status, or the number of the signal.
        pub status: u64,
        /// Since when it is active, as systemd prints it.
        pub since: String,
        /// Whether it is started with the machine: `enabled`, `disabled`, `static`, ...; empty where nothing says.
        pub enabled: String,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// A link of the node's network, with its adapter: `/sys/class/net` and `ethtool`.
    #[derive(Debug, Clone, Default, Serialize)]
    "net-link" = pub struct NetLink {
        /// Node.
        pub node: String,
        /// Name.
        pub name: String,
        /// `up`, `down`, `unknown`.
        pub state: String,
        /// Bytes; none if unknown.
        pub mtu: Option<u64>,
        /// Mb/s; none if unknown or down.
        pub speed: Option<u64>,
        /// Kernel driver; empty for virtual links.
        pub driver: String,
        /// Firmware of the adapter; empty if unknown.
        pub firmware: String,
        /// How often the carrier came or went.
        pub carrier_changes: u64,
        /// Counters of errors and drops above zero, the kernel's and the adapter's.
        pub errors: BTreeMap<String, u64>,
        /// Alarms and warnings of the optical module that are on.
        pub alarms: Vec<String>,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// A port of an InfiniBand or RoCE adapter.
    #[derive(Debug, Clone, Default, Serialize)]
    "fabric-port" = pub struct FabricPort {
        /// Node.
        pub node: String,
        /// Adapter, e.g. `mlx5_0`.
        pub adapter: String,
        /// Port.
        pub port: String,
        /// `ACTIVE`, `DOWN`, `INIT`, `ARMED`.
        pub state: String,
        /// `LinkUp`, `Polling`, `Disabled`, ...
        pub physical: String,
        /// E.g. `400 Gb/sec (4X NDR)`.
        pub rate: String,
        /// `InfiniBand` or `Ethernet`.
        pub layer: String,
        /// Firmware of the adapter.
        pub firmware: String,
        /// Counters of errors above zero.
        pub errors: BTreeMap<String, u64>,
    }
    subject = |fact| format!("node/{}", fact.node);
}
