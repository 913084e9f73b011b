//! Derived facts about what a runtime depends on: programs, cgroup drivers, registries, device specifications, and
//! the configuration of Docker and CRI-O.

use serde::Serialize;

use super::{FactType, Field};

const fn field(name: &'static str, doc: &'static str) -> Field {
    Field { name, doc }
}

/// A kind of fact that is about a node.
macro_rules! of_node {
    ($type:ty, $kind:literal, [$($name:literal: $doc:literal),* $(,)?]) => {
        impl FactType for $type {
            const KIND: &'static str = $kind;
            const FIELDS: &'static [Field] = &[$(field($name, $doc)),*];
            fn subject(&self) -> String {
                format!("node/{}", self.node)
            }
        }
    };
}

/// A program of the host that runtimes name or the NVIDIA toolkit brings.
#[derive(Debug, Clone, Default, Serialize)]
pub struct HostProgram {
    /// Node.
    pub node: String,
    /// Path on the host.
    pub path: String,
    /// Whether it is there.
    pub exists: bool,
    /// Whether anyone may execute it.
    pub executable: Option<bool>,
    /// The loader or interpreter that it names.
    pub interpreter: Option<String>,
    /// Whether that is there.
    pub interpreter_exists: Option<bool>,
    /// The newest glibc that it needs, e.g. `2.34`.
    pub needs_glibc: Option<String>,
    /// Of a C library: the glibc that it is.
    pub provides_glibc: Option<String>,
    /// Files and lines that name it.
    pub named_by: Vec<String>,
}

of_node!(HostProgram, "host-program", [
    "node": "node",
    "path": "path on the host",
    "exists": "is there",
    "executable": "may be executed",
    "interpreter": "loader or interpreter that it names",
    "interpreter_exists": "that is there",
    "needs_glibc": "newest glibc that it needs",
    "provides_glibc": "of a C library, its version",
    "named_by": "files and lines that name it",
]);

/// Whether the program behind a handler, or one of the toolkit's, can be started.
#[derive(Debug, Clone, Default, Serialize)]
pub struct HandlerProgram {
    /// Node.
    pub node: String,
    /// Instance or runtime that has the handler; empty for the toolkit's other programs.
    pub instance: String,
    /// `yes`, `no` or `unknown`.
    pub used_by_kubelet: String,
    /// Handler; empty for the toolkit's other programs.
    pub handler: String,
    /// Program.
    pub program: String,
    /// `yes`, `no` or `unknown`.
    pub starts: String,
    /// `absent`, `not-executable`, `interpreter-missing`, `glibc-too-old` or empty.
    pub fault: String,
    /// Why, as a sentence.
    pub because: String,
}

of_node!(HandlerProgram, "handler-program", [
    "node": "node",
    "instance": "instance that has the handler",
    "used_by_kubelet": "yes, no or unknown",
    "handler": "handler",
    "program": "program that it starts",
    "starts": "yes, no or unknown",
    "fault": "absent, not-executable, interpreter-missing, glibc-too-old",
    "because": "why",
]);

/// A handler's cgroup driver beside the kubelet's.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CgroupDriver {
    /// Node.
    pub node: String,
    /// Instance or runtime.
    pub instance: String,
    /// `yes`, `no` or `unknown`.
    pub used_by_kubelet: String,
    /// Handler; empty where the driver is the whole runtime's.
    pub handler: String,
    /// Whether it is the default handler.
    pub default: bool,
    /// `systemd`, `cgroupfs` or empty where it is not known.
    pub runtime: String,
    /// The kubelet's; empty where it is not known.
    pub kubelet: String,
    /// `set`, `built in`, `asked of the runtime` or `not captured`.
    pub kubelet_from: String,
    /// Whether both are the same: `yes`, `no` or `unknown`.
    pub matches: String,
}

of_node!(CgroupDriver, "cgroup-driver", [
    "node": "node",
    "instance": "instance or runtime",
    "used_by_kubelet": "yes, no or unknown",
    "handler": "handler; empty for the whole runtime",
    "default": "is the default handler",
    "runtime": "the handler's driver",
    "kubelet": "the kubelet's driver",
    "kubelet_from": "where the kubelet's comes from",
    "matches": "yes, no or unknown",
]);

/// Where an instance asks for images of a registry.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RegistryHost {
    /// Node.
    pub node: String,
    /// Instance.
    pub instance: String,
    /// `yes`, `no` or `unknown`.
    pub used_by_kubelet: String,
    /// Registry of the image's name.
    pub host: String,
    /// URLs in the order they are asked.
    pub endpoints: Vec<String>,
    /// File or table that decides; empty where nothing is configured.
    pub decided_by: String,
    /// What makes pulls fail; empty where nothing does.
    pub fault: String,
    /// Whether all that could decide was captured.
    pub complete: bool,
}

of_node!(RegistryHost, "registry-host", [
    "node": "node",
    "instance": "instance",
    "used_by_kubelet": "yes, no or unknown",
    "host": "registry",
    "endpoints": "URLs in the order they are asked",
    "decided_by": "file or table that decides",
    "fault": "what makes pulls fail",
    "complete": "all that could decide was captured",
]);

/// A device that a specification on the node defines.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CdiDevice {
    /// Node.
    pub node: String,
    /// `vendor/class=name`.
    pub device: String,
    /// File.
    pub spec: String,
    /// Version of the specification.
    pub version: String,
}

of_node!(CdiDevice, "cdi-device", [
    "node": "node",
    "device": "vendor/class=name",
    "spec": "file that defines it",
    "version": "version of the specification",
]);

/// Something wrong with a device specification.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CdiFault {
    /// Node.
    pub node: String,
    /// File.
    pub spec: String,
    /// Kind, e.g. `hook-missing`.
    pub fault: String,
    /// What is wrong, as a sentence.
    pub detail: String,
}

of_node!(CdiFault, "cdi-fault", [
    "node": "node",
    "spec": "file",
    "fault": "not-parsed, not-read, unknown-version, bad-kind, invalid, no-devices, conflict, hook-missing, hook-not-executable",
    "detail": "what is wrong",
]);

/// Something wrong with Docker's or CRI-O's configuration.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RuntimeFault {
    /// Node.
    pub node: String,
    /// `docker` or `crio`.
    pub runtime: String,
    /// `yes`, `no` or `unknown`.
    pub used_by_kubelet: String,
    /// Kind, e.g. `refuses-to-start`.
    pub fault: String,
    /// What is wrong, as a sentence.
    pub detail: String,
}

of_node!(RuntimeFault, "runtime-config-fault", [
    "node": "node",
    "runtime": "docker or crio",
    "used_by_kubelet": "yes, no or unknown",
    "fault": "kind of fault",
    "detail": "what is wrong",
]);
