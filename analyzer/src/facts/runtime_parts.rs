//! Derived facts about what a runtime depends on: programs, cgroup drivers, registries, device specifications, and
//! the configuration of Docker and CRI-O.

use serde::Serialize;

use super::fact;

fact! {
    /// A program of the host that runtimes name or the NVIDIA toolkit brings.
    #[derive(Debug, Clone, Default, Serialize)]
    "host-program" = pub struct HostProgram {
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
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// Whether the program behind a handler, or one of the toolkit's, can be started.
    #[derive(Debug, Clone, Default, Serialize)]
    "handler-program" = pub struct HandlerProgram {
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
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// A handler's cgroup driver beside the kubelet's.
    #[derive(Debug, Clone, Default, Serialize)]
    "cgroup-driver" = pub struct CgroupDriver {
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
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// Where an instance asks for images of a registry.
    #[derive(Debug, Clone, Default, Serialize)]
    "registry-host" = pub struct RegistryHost {
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
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// A device that a specification on the node defines.
    #[derive(Debug, Clone, Default, Serialize)]
    "cdi-device" = pub struct CdiDevice {
        /// Node.
        pub node: String,
        /// `vendor/class=name`.
        pub device: String,
        /// File.
        pub spec: String,
        /// Version of the specification.
        pub version: String,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// Something wrong with a device specification.
    #[derive(Debug, Clone, Default, Serialize)]
    "cdi-fault" = pub struct CdiFault {
        /// Node.
        pub node: String,
        /// File.
        pub spec: String,
        /// Kind, e.g. `hook-missing`.
        pub fault: String,
        /// What is wrong, as a sentence.
        pub detail: String,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// Something wrong with Docker's or CRI-O's configuration.
    #[derive(Debug, Clone, Default, Serialize)]
    "runtime-config-fault" = pub struct RuntimeFault {
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
    subject = |fact| format!("node/{}", fact.node);
}
