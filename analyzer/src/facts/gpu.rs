//! Facts about GPUs and their driver.

use serde::Serialize;

use super::{FactType, Field};

const fn field(name: &'static str, doc: &'static str) -> Field {
    Field { name, doc }
}

/// A GPU as nvidia-smi reports it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Gpu {
    /// Node.
    pub node: String,
    /// PCI bus id, e.g. `00000000:17:00.0`.
    pub bus_id: String,
    /// Product name.
    pub name: String,
    /// UUID.
    pub uuid: String,
    /// MIG mode, e.g. `Enabled`; empty if not reported.
    pub mig: String,
    /// Temperature in degrees Celsius.
    pub temperature: Option<i64>,
    /// Volatile uncorrectable ECC errors.
    pub ecc_uncorrectable: Option<u64>,
    /// Row remapping waits for a reset.
    pub remap_pending: bool,
    /// Recovery action that the driver asks for; empty if none or not reported.
    pub recovery_action: String,
}

impl FactType for Gpu {
    const KIND: &'static str = "gpu";
    const FIELDS: &'static [Field] = &[
        field("node", "node"),
        field("bus_id", "PCI bus id"),
        field("name", "product name"),
        field("uuid", "UUID"),
        field("mig", "MIG mode"),
        field("temperature", "degrees Celsius"),
        field("ecc_uncorrectable", "volatile uncorrectable ECC errors"),
        field("remap_pending", "row remapping pending"),
        field("recovery_action", "recovery action asked for"),
    ];
    fn subject(&self) -> String {
        format!("gpu/{}/{}", self.node, self.bus_id)
    }
}

/// The NVIDIA driver of a node.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Driver {
    /// Node.
    pub node: String,
    /// Version of user space as nvidia-smi reports it; empty if unknown.
    pub version: String,
    /// CUDA version.
    pub cuda: String,
    /// Version of the loaded kernel module; empty if unknown.
    pub module: String,
    /// GPUs attached.
    pub gpus: Option<u64>,
}

impl FactType for Driver {
    const KIND: &'static str = "driver";
    const FIELDS: &'static [Field] = &[
        field("node", "node"),
        field("version", "user-space version"),
        field("cuda", "CUDA version"),
        field("module", "kernel module version"),
        field("gpus", "GPUs attached"),
    ];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}
