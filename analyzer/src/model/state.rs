//! The state at the end of collection, as pictures and overviews show it: counted and resolved, never judged.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::Place;

/// What nodes, GPUs, the GPU stack, the firewall and the container runtimes looked like.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct State {
    /// Nodes by name.
    pub nodes: Vec<NodeState>,
    /// Parts of the GPU stack, in the order in which each needs the one before.
    pub components: Vec<ComponentState>,
    /// GPU pods by namespace.
    pub allocation: Vec<Allocation>,
    /// What was repeated, the most often repeated first.
    pub activity: Vec<Activity>,
    /// Packets followed through the captured firewall.
    pub packet_paths: Vec<PacketPath>,
    /// Each containerd's configuration, file by file.
    pub runtime_layers: Vec<RuntimeLayers>,
    /// HAMi's settings, where it is installed.
    pub hami: Option<Hami>,
}

/// A node and its GPUs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct NodeState {
    /// Name.
    pub name: String,
    /// Whether its Ready condition is true; none if there is no Node object.
    pub ready: Option<bool>,
    /// Whether it takes no new pods.
    pub cordoned: bool,
    /// Conditions other than Ready that are true, e.g. `DiskPressure`.
    pub pressures: Vec<String>,
    /// Whether it is a GPU node: its labels say so, or it has the GPU resource.
    pub gpu: bool,
    /// GPUs of `status.capacity`.
    pub capacity: Option<u64>,
    /// GPUs of `status.allocatable`: what the scheduler may hand out.
    pub allocatable: Option<u64>,
    /// GPUs that pods bound to the node and not ended ask for.
    pub taken: u64,
    /// Cards that nvidia-smi listed.
    pub cards: Vec<Card>,
    /// Where the Node object stands.
    pub place: Option<Place>,
}

/// A GPU as nvidia-smi listed it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Card {
    /// PCI bus id.
    pub bus_id: String,
    /// Product name.
    pub name: String,
    /// Degrees Celsius.
    pub temperature: Option<i64>,
    /// What nvidia-smi reports as wrong with it, as short phrases; empty means nothing was reported.
    pub trouble: Vec<String>,
    /// Memory in MiB.
    pub memory_mib: Option<i64>,
    /// Memory used, in MiB.
    pub memory_used_mib: Option<i64>,
    /// Slices of a GPU with MIG.
    pub slices: Vec<CardSlice>,
    /// Processes on it.
    pub clients: Vec<CardClient>,
    /// Where it stands.
    pub place: Option<Place>,
}

/// A slice of a GPU with MIG.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CardSlice {
    /// GPU instance.
    pub instance: u64,
    /// Memory in MiB.
    pub memory_mib: Option<i64>,
}

/// A process on a GPU, and whose it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CardClient {
    /// Process id on the host.
    pub pid: u64,
    /// Name.
    pub name: String,
    /// Memory held, in MiB.
    pub memory_mib: Option<i64>,
    /// GPU instance that it runs in; none without MIG.
    pub instance: Option<u64>,
    /// Container, where its control group and the pod's status name it.
    pub container: String,
    /// `<namespace>/<name>` of its pod; empty if not known.
    pub pod: String,
    /// Owner of that pod, e.g. `replicaset/llm-6d9c5b7f8`.
    pub owner: String,
}

/// The GPUs of a node with what runs on them, and the pods there that ask for GPUs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct GpuMap {
    /// Node.
    pub node: String,
    /// GPUs that the scheduler may hand out there, shares counted one by one.
    pub allocatable: Option<u64>,
    /// Its cards.
    pub cards: Vec<Card>,
    /// Pods that hold GPUs by their request, as `<namespace>/<name>`, with how many and their owner.
    pub holders: Vec<GpuHolder>,
}

/// A pod that asks for GPUs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct GpuHolder {
    /// `<namespace>/<name>`.
    pub pod: String,
    /// GPUs, slices or shares that it asks for.
    pub gpus: u64,
    /// Owner, e.g. `replicaset/llm-6d9c5b7f8`; empty for a bare pod.
    pub owner: String,
    /// State as kubectl prints it.
    pub state: String,
    /// Where it stands.
    pub place: Option<Place>,
}

/// A pod that waits, and what each node has of what it asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Packing {
    /// `<namespace>/<name>` of the pod.
    pub pod: String,
    /// Resource, e.g. `nvidia.com/gpu`.
    pub resource: String,
    /// How much it asks for.
    pub asked: i64,
    /// The same as people say it, e.g. `8 GPUs`.
    pub request: String,
    /// Nodes, those with most of the resource first.
    pub nodes: Vec<PackedNode>,
    /// Nodes that have none of it.
    pub without: u64,
}

/// A node as the scheduler counts it for one resource.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PackedNode {
    /// Node.
    pub node: String,
    /// What may be handed out.
    pub allocatable: i64,
    /// What pods hold.
    pub held: i64,
    /// Pods that hold it, as `namespace/name amount`.
    pub holders: Vec<String>,
    /// Why the pod does not go there; empty if it fits or is not known.
    pub refused: String,
    /// Where it stands.
    pub place: Option<Place>,
}

/// A part of the GPU stack: a workload, or pods without one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ComponentState {
    /// Which part, e.g. `device-plugin`.
    pub component: String,
    /// `daemonset/<ns>/<name>` or the like.
    pub subject: String,
    /// Replicas wanted.
    pub desired: u64,
    /// Replicas ready.
    pub ready: u64,
    /// Tag of its image; empty if the image has none.
    pub version: String,
    /// States of its pods that do not do their work, e.g. `CrashLoopBackOff`.
    pub troubled: Vec<String>,
    /// Where it stands.
    pub place: Option<Place>,
}

/// GPU pods of a namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Allocation {
    /// Namespace.
    pub namespace: String,
    /// Pods that ask for GPUs and have not started to run.
    pub pending: u64,
    /// Pods that ask for GPUs and do their work.
    pub running: u64,
    /// Pods that ask for GPUs, run and do not do their work.
    pub failing: u64,
    /// GPUs that all of them ask for.
    pub gpus: u64,
    /// GPU memory that running pods ask for (`nvidia.com/gpumem`), in MiB; none if none says so.
    pub memory_mib: Option<u64>,
}

/// Something that was repeated over a span of time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Activity {
    /// `event` or `restarts`.
    pub kind: String,
    /// What it concerns.
    pub subject: String,
    /// Reason of the event, or the state of the pod.
    pub what: String,
    /// First time.
    pub first: DateTime<Utc>,
    /// Last time.
    pub last: DateTime<Utc>,
    /// How often.
    pub count: u64,
    /// Where it stands.
    pub place: Place,
}

/// A packet's way through the captured rules.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PacketPath {
    /// Node.
    pub node: String,
    /// Question, e.g. `pod to upstream DNS`.
    pub question: String,
    /// Packet in words.
    pub packet: String,
    /// `accepted`, `dropped`, `rejected`, `undecided` or `not-evaluated`; of a packet followed by its size
    /// `clamped`, `fragmented`, `told` or `black-hole`.
    pub verdict: String,
    /// Rules met, in order, or sizes; of rules the last one decides.
    pub steps: Vec<PathStep>,
    /// Steps that are not in `steps`: the middle of a long way.
    pub left_out: u64,
    /// What decides, as a sentence.
    pub decided_by: String,
}

/// A rule or policy that a packet met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PathStep {
    /// Table and chain, e.g. `filter FORWARD`.
    pub chain: String,
    /// The rule as written.
    pub rule: String,
    /// What happens there.
    pub does: String,
    /// Where it stands; none for what a program adds by itself.
    pub place: Option<Place>,
}

/// A containerd's configuration as layers: each file lies on the one before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RuntimeLayers {
    /// Node.
    pub node: String,
    /// Instance, e.g. `snap.k8s.containerd.service`.
    pub instance: String,
    /// `yes`, `no` or `unknown`.
    pub used_by_kubelet: String,
    /// Whether every file that decides was captured.
    pub complete: bool,
    /// Layers, the lowest first: what is built in, then files in the order of reading.
    pub layers: Vec<Layer>,
}

/// One file, or what is built in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Layer {
    /// Path on the host, or `built into containerd`.
    pub file: String,
    /// Why it is read, e.g. `imported by /etc/containerd/config.toml:3`.
    pub because: String,
    /// Settings of it that matter to pods.
    pub settings: Vec<LayerSetting>,
}

/// A setting of a layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LayerSetting {
    /// Short name, e.g. `handler nvidia` or `default runtime`.
    pub name: String,
    /// Its value.
    pub value: String,
    /// False if a later layer sets it anew.
    pub in_effect: bool,
    /// Where it stands; none for what is built in.
    pub place: Option<Place>,
}

/// HAMi as it is set up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Hami {
    /// Settings that were read, e.g. `deviceMemoryScaling`.
    pub settings: Vec<HamiSetting>,
    /// Cards as HAMi registered them, with what pods hold of each, by node.
    pub cards: Vec<HamiCard>,
    /// Its Helm releases.
    pub releases: Vec<HamiRelease>,
    /// Its webhooks.
    pub webhooks: Vec<HamiWebhook>,
    /// Whether any webhook configuration was read, so that one that is not among them is not there.
    pub webhooks_listed: bool,
    /// Containers of its monitor that run, and all of them.
    pub monitors: (u64, u64),
    /// Pods that were read; none of HAMi among many says that none is there.
    pub pods_listed: u64,
    /// Pods that ask for what only HAMi serves.
    pub asked_for: u64,
}

/// A Helm release of HAMi.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HamiRelease {
    /// `<namespace>/<name>`.
    pub name: String,
    /// Version of the chart.
    pub version: String,
    /// Status, e.g. `deployed` or `failed`.
    pub status: String,
    /// Where it stands.
    pub place: Place,
}

/// A webhook of HAMi, as it is registered with the API server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HamiWebhook {
    /// Name, e.g. `vgpu.hami.io`.
    pub name: String,
    /// `Fail` or `Ignore`.
    pub failure_policy: String,
    /// Where it stands.
    pub place: Place,
}

/// A card as HAMi's scheduler accounts for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct HamiCard {
    /// Node.
    pub node: String,
    /// UUID.
    pub uuid: String,
    /// Type.
    pub kind: String,
    /// Registered as healthy.
    pub healthy: bool,
    /// Containers that may share it.
    pub slots: i64,
    /// Containers that do.
    pub slots_held: i64,
    /// Memory that may be handed out, in MiB: the card's times `deviceMemoryScaling`.
    pub memory_mib: i64,
    /// Memory held, in MiB.
    pub memory_held_mib: i64,
    /// Compute that may be handed out, in percent.
    pub cores: i64,
    /// Compute held, in percent.
    pub cores_held: i64,
    /// Pods that hold a share.
    pub holders: Vec<String>,
    /// Where the node registers it.
    pub place: Option<Place>,
}

/// A setting of HAMi.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HamiSetting {
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
    /// Where it stands.
    pub place: Place,
}
