//! Facts about what services say of themselves: etcd, the kubelet's checks, a cloud's first boot; and who changed an object.

use serde::Serialize;

use super::fact;

fact! {
    /// A member of etcd, as etcdctl has it.
    #[derive(Debug, Clone, Default, Serialize)]
    "etcd-member" = pub struct EtcdMember {
        /// Node where it was asked.
        pub node: String,
        /// Address of the member.
        pub endpoint: String,
        /// Whether it answered a proposal; none where only its status was asked.
        pub healthy: Option<bool>,
        /// How long that took, as etcdctl prints it.
        pub took: String,
        /// Why it is not healthy, or alarms that are raised.
        pub errors: Vec<String>,
        /// Version; empty where only health was asked.
        pub version: String,
        /// Bytes of its database.
        pub size: Option<u64>,
        /// Bytes of them that are in use.
        pub in_use: Option<u64>,
        /// It leads; none where only health was asked.
        pub leads: Option<bool>,
        /// Entries of the log that it has not applied yet.
        pub behind: Option<u64>,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// One of the kubelet's checks of itself: `/healthz?verbose`.
    #[derive(Debug, Clone, Default, Serialize)]
    "kubelet-check" = pub struct KubeletCheck {
        /// Node.
        pub node: String,
        /// Name, e.g. `syncloop`.
        pub name: String,
        /// It passed.
        pub passed: bool,
        /// What is said where it did not.
        pub why: String,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// What cloud-init made of the machine's first boot: its `status.json`.
    #[derive(Debug, Clone, Default, Serialize)]
    "first-boot" = pub struct FirstBoot {
        /// Node.
        pub node: String,
        /// Where the cloud's data come from.
        pub datasource: String,
        /// The stage that runs; empty when it is done.
        pub stage: String,
        /// All stages came to their end.
        pub finished: bool,
        /// Errors of all stages.
        pub errors: Vec<String>,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// A container of Docker itself, not of a kubelet: `docker inspect`.
    #[derive(Debug, Clone, Default, Serialize)]
    "docker-container" = pub struct DockerContainer {
        /// Node.
        pub node: String,
        /// Name.
        pub name: String,
        /// Image.
        pub image: String,
        /// `running`, `exited`, `restarting`, `created`, `dead`, `paused`.
        pub state: String,
        /// Exit code of the last run; 0 while it runs.
        pub exit_code: i64,
        /// It was killed for want of memory.
        pub oom_killed: bool,
        /// Why it could not be started; empty if it could.
        pub error: String,
        /// How often Docker restarted it.
        pub restarts: u64,
        /// What its own check says: `healthy`, `unhealthy`, `starting`; empty without one.
        pub health: String,
        /// Runtime, e.g. `nvidia`, `runc`.
        pub runtime: String,
        /// It asks for GPUs (`--gpus`).
        pub wants_gpus: bool,
    }
    subject = |fact| format!("container/{}", fact.name);
}

fact! {
    /// Who changed an object last, its status aside, and when: the newest of its `managedFields`.
    #[derive(Debug, Clone, Default, Serialize)]
    "last-change" = pub struct LastChange {
        /// Kind as the list is called, e.g. `clusterpolicies.nvidia.com`, `configmaps`.
        pub kind: String,
        /// Namespace; empty for objects of the whole cluster.
        pub namespace: String,
        /// Name.
        pub name: String,
        /// Program that wrote, e.g. `kubectl-edit`, `helm`, `gpu-operator`.
        pub manager: String,
        /// `Update` or `Apply`.
        pub operation: String,
    }
    subject = |fact| format!("{}/{}/{}", fact.kind, fact.namespace, fact.name);
}
