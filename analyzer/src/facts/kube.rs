//! Facts about Kubernetes objects: only the fields that a diagnosis reads.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::fact;
use crate::scheduling::api::Labels;
use crate::shared::Shared;

fact! {
    /// A pod.
    #[derive(Debug, Clone, Default, Serialize)]
    "pod" = pub struct Pod {
        /// Namespace.
        pub namespace: String,
        /// Name.
        pub name: String,
        /// Node it is bound to; empty while it is not scheduled.
        pub node: String,
        /// `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`.
        pub phase: String,
        /// State as `kubectl get pods` prints it, e.g. `CrashLoopBackOff`.
        pub state: String,
        /// Whether it does its work: running and ready, or ended with success.
        pub healthy: bool,
        /// Restarts over all containers.
        pub restarts: u64,
        /// `spec.runtimeClassName`.
        pub runtime_class: Option<String>,
        /// Pod address.
        pub ip: Option<String>,
        /// Whether it uses the node's network namespace.
        pub host_network: bool,
        /// GPUs it asks for (`nvidia.com/gpu` and MIG resources, limits).
        pub gpus: u64,
        /// Every extended resource it asks for.
        pub extended: Labels,
        /// Owner as `daemonset/<name>`; empty for bare pods.
        pub owner: String,
        /// Part of the GPU stack this pod is, e.g. `toolkit`, `device-plugin`; empty for others.
        pub component: String,
        /// Node selector.
        pub node_selector: Labels,
        /// Created at.
        pub created: Option<DateTime<Utc>>,
        /// Since when it is in its present state.
        pub since: Option<DateTime<Utc>>,
        /// Environment of its containers, as far as a diagnosis reads it (runtime and NVIDIA variables).
        pub env: Labels,
        /// Host paths by the path they are mounted at.
        pub mounts: Labels,
        /// Container images.
        pub images: Vec<String>,
        /// Size of `/dev/shm` in its containers, in words; empty if the pod's spec does not say.
        pub shm: String,
    }
    unseen by rules {
        /// Its uid, which control groups name it by.
        pub uid: String,
        /// Its addresses, one of each family.
        pub ips: Vec<String>,
    }
    subject = |fact| format!("pod/{}/{}", fact.namespace, fact.name);
}

fact! {
    /// A container of a pod and its state.
    #[derive(Debug, Clone, Default, Serialize)]
    "container" = pub struct Container {
        /// Namespace of the pod.
        pub namespace: String,
        /// Pod.
        pub pod: String,
        /// Container.
        pub name: String,
        /// Image.
        pub image: String,
        /// Part of the GPU stack.
        pub component: String,
        /// `waiting`, `running`, `terminated`; empty if the kubelet reported none.
        pub state: String,
        /// Reason of that state, e.g. `CrashLoopBackOff`.
        pub reason: String,
        /// Message of that state.
        pub message: String,
        /// Reason of the last termination.
        pub last_reason: String,
        /// Message of the last termination.
        pub last_message: String,
        /// Exit code of the present or last termination.
        pub exit_code: Option<i64>,
        /// Restarts.
        pub restarts: u64,
        /// Init container.
        pub init: bool,
        /// Most memory that it may use, as the pod states it; empty if nothing does.
        pub memory_limit: String,
    }
    unseen by rules {
        /// Its id in the runtime, which control groups name it by.
        pub id: String,
    }
    subject = |fact| format!("pod/{}/{}", fact.namespace, fact.pod);
}

fact! {
    /// An event of either API.
    #[derive(Debug, Clone, Default, Serialize)]
    "event" = pub struct Event {
        /// Namespace.
        pub namespace: Shared,
        /// `Normal` or `Warning`.
        pub kind: Shared,
        /// Reason, e.g. `FailedCreatePodSandBox`.
        pub reason: Shared,
        /// Message.
        pub message: Shared,
        /// What it is about, e.g. `pod/default/gpu-textgen`.
        pub object: Shared,
        /// How often.
        pub count: u64,
        /// First time.
        pub first: Option<DateTime<Utc>>,
        /// Last time.
        pub last: Option<DateTime<Utc>>,
        /// How long before the table that shows it was printed it was seen last, in seconds, where only that is known.
        pub ago: Option<i64>,
        /// Who reported it.
        pub reporter: Shared,
    }
    subject = |fact| fact.object.to_string();
}

fact! {
    /// A node.
    #[derive(Debug, Clone, Default, Serialize)]
    "node" = pub struct Node {
        /// Name.
        pub name: String,
        /// Ready condition is true.
        pub ready: bool,
        /// Since when it is true; none where it is not, or nothing says so.
        pub ready_since: Option<DateTime<Utc>>,
        /// When its kubelet last reported any condition.
        pub heartbeat: Option<DateTime<Utc>>,
        /// Message of the Ready condition where it is not true; empty where nothing says why.
        pub not_ready: String,
        /// Since when it is not true.
        pub not_ready_since: Option<DateTime<Utc>>,
        /// Conditions: type to status.
        pub conditions: Labels,
        /// `status.nodeInfo.containerRuntimeVersion`.
        pub runtime: String,
        /// Kubelet version.
        pub kubelet: String,
        /// Kernel version.
        pub kernel: String,
        /// OS image.
        pub os: String,
        /// Pods that its description lists, as `<namespace>/<name>`.
        pub listed_pods: Vec<String>,
        /// GPUs by capacity.
        pub gpu_capacity: Option<u64>,
        /// GPUs by allocatable.
        pub gpu_allocatable: Option<u64>,
        /// GPUs that no pod asks for, where its description adds them up.
        pub gpu_free: Option<u64>,
        /// Labels that say it has an NVIDIA GPU, or the GPU resource exists.
        pub has_gpu: bool,
        /// `spec.podCIDRs`.
        pub pod_cidrs: Vec<String>,
        /// Internal addresses.
        pub addresses: Vec<String>,
        /// Unschedulable.
        pub cordoned: bool,
        /// Taints as `key=value:effect`.
        pub taints: Vec<String>,
        /// CRI socket annotation.
        pub cri_socket: Option<String>,
        /// What HAMi's scheduler and plugin say to each other in an annotation, e.g. `Deleted_2026.01.02 03:04:05`.
        pub hami_handshake: String,
        /// Labels that tell of GPUs: NVIDIA's, HAMi's, and PCI devices of feature discovery.
        pub labels: Labels,
    }
    subject = |fact| format!("node/{}", fact.name);
}

fact! {
    /// A RuntimeClass.
    #[derive(Debug, Clone, Default, Serialize)]
    "runtimeclass" = pub struct RuntimeClass {
        /// Name.
        pub name: String,
        /// Handler.
        pub handler: String,
    }
    subject = |fact| format!("runtimeclass/{}", fact.name);
}

/// A port of a Service.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ServicePort {
    /// Its number.
    pub number: u16,
    /// `TCP`, `UDP` or `SCTP`.
    pub protocol: String,
}

fact! {
    /// A Service, with what it is reached at.
    #[derive(Debug, Clone, Default, Serialize)]
    "service" = pub struct Service {
        /// Namespace.
        pub namespace: String,
        /// Name.
        pub name: String,
        /// `ClusterIP`, `NodePort`, `LoadBalancer` or `ExternalName`.
        pub kind: String,
        /// Addresses inside the cluster; none of a headless one.
        pub addresses: Vec<String>,
        /// Addresses of its load balancer, and external ones.
        pub external: Vec<String>,
        /// Its ports.
        pub ports: Vec<ServicePort>,
    }
    subject = |fact| format!("service/{}/{}", fact.namespace, fact.name);
}

fact! {
    /// A daemonset, deployment or statefulset.
    #[derive(Debug, Clone, Default, Serialize)]
    "workload" = pub struct Workload {
        /// `daemonset`, `deployment`, `statefulset`.
        pub kind: String,
        /// Namespace.
        pub namespace: String,
        /// Name.
        pub name: String,
        /// Its status was read: a manifest says what is wanted, and nothing of what runs.
        pub stated: bool,
        /// Replicas wanted.
        pub desired: u64,
        /// Replicas ready.
        pub ready: u64,
        /// Part of the GPU stack.
        pub component: String,
        /// Environment as far as a diagnosis reads it.
        pub env: Labels,
        /// Host paths by the path they are mounted at.
        pub mounts: Labels,
        /// Container images.
        pub images: Vec<String>,
    }
    subject = |fact| format!("{}/{}/{}", fact.kind, fact.namespace, fact.name);
}

fact! {
    /// A helm release, and where its values files lie.
    #[derive(Debug, Clone, Default, Serialize)]
    "helm-release" = pub struct HelmRelease {
        /// Namespace.
        pub namespace: String,
        /// Release name.
        pub name: String,
        /// Chart name.
        pub chart: String,
        /// Chart version.
        pub version: String,
        /// Revision.
        pub revision: u64,
        /// Status, e.g. `deployed`.
        pub status: String,
    }
    subject = |fact| format!("helmrelease/{}/{}", fact.namespace, fact.name);
}
