//! What an analysis found: the one model that every report, `diagnose` and the tests read.
//!
//! It holds conclusions with their evidence and no raw facts; nothing in it depends on the wall
//! clock, the environment or hash order, so the same bundle gives the same model.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::Serialize;

mod clock;
pub mod fix;
mod remedy;
pub mod state;
mod unexplained;
mod verdict;

pub use clock::{Clock, ClockLine, Clocks, Dated, MachineClock, Own, Started};
use fix::Fix;
pub use remedy::{FixFile, Remedy, Step};
use state::{GpuMap, PacketPath, Packing, RuntimeLayers, State};
pub use unexplained::{About, Candidate, Unexplained};
pub use verdict::{Role, Severity, Verdict};

use crate::shared::Shared;

/// A place in the bundle. `line` is 1-based; none means the entry as a whole. The default is the input as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// Entry path inside the bundle.
    pub path: Shared,
    /// Line in that entry, from 1.
    pub line: Option<u32>,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.path),
            None => write!(f, "{}", self.path),
        }
    }
}

/// One line that carries a statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// Where it stands.
    pub place: Place,
    /// The text that stands there, or an excerpt of it (literally contained in that line).
    pub text: String,
    /// What the line means, as a sentence.
    pub says: String,
    /// For or against.
    pub role: Role,
    /// When it happened, if the line says.
    pub at: Option<DateTime<Utc>>,
    /// How often the like of it was seen in the bundle (at least 1).
    pub count: u64,
}

/// A consequence of the cause that people notice first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Symptom {
    /// Stable id of the signal, e.g. `no-runtime-for-nvidia`.
    pub id: String,
    /// What was noticed, as a sentence.
    pub text: String,
    /// The lines that show it.
    pub evidence: Vec<Evidence>,
}

/// One arrow of the causal picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChainLink {
    /// What led to it.
    pub from: String,
    /// What followed.
    pub to: String,
}

/// A question of the investigation, as a person would have asked it on the node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Observation {
    /// The question, e.g. "Which containerd does the kubelet use?".
    pub question: String,
    /// The command a person would have run on the node.
    pub command: String,
    /// The lines of the bundle that answer it.
    pub lines: Vec<Evidence>,
    /// What follows from them, as a sentence.
    pub conclusion: String,
}

/// A small table that explains a cause, e.g. the two containerd instances side by side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Table {
    /// Heading of the table.
    pub title: String,
    /// Column headings.
    pub columns: Vec<String>,
    /// Rows, each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
}

/// A cell: text, and where it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// The text.
    pub text: String,
    /// Where it was read, if it was read from one place.
    pub place: Option<Place>,
}

/// A drawing that explains a cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Figure {
    /// The way of a packet through the captured firewall.
    PacketPath(PacketPath),
    /// Which file of a containerd's configuration set what.
    RuntimeLayers(RuntimeLayers),
    /// A node's GPUs, and the processes and pods on them.
    GpuMap(GpuMap),
    /// Where a pod that waits would have to fit.
    Packing(Packing),
}

/// A cause that is in play, with everything that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Incident {
    /// Stable id: the cause id and the first subject.
    pub id: String,
    /// Cause id of the catalogue.
    pub cause: String,
    /// Title with the facts filled in, e.g. "The NVIDIA toolkit configured the wrong containerd on gpu-1".
    pub title: String,
    /// How sure.
    pub verdict: Verdict,
    /// How bad.
    pub severity: Severity,
    /// `node/<name>`, `pod/<ns>/<name>`, `daemonset/<ns>/<name>`, ... sorted, the root's first.
    pub subjects: Vec<String>,
    /// First time that a symptom or the cause shows in the bundle.
    pub since: Option<DateTime<Utc>>,
    /// Last time that lines which decide it were said; none where how things are decides.
    pub last: Option<DateTime<Utc>>,
    /// What was found at the collection, where the fault comes and goes.
    pub meanwhile: Option<String>,
    /// What happened, in one paragraph with the facts filled in.
    pub summary: String,
    /// Why this cause produces these symptoms, from the rule.
    pub explanation: String,
    /// How to tell it from its look-alikes, from the rule.
    pub look_alikes: String,
    /// Lines for and against, the strongest first.
    pub evidence: Vec<Evidence>,
    /// What would have spoken against it, had it been there.
    pub would_refute: Vec<String>,
    /// What is missing to be sure (empty when confirmed).
    pub would_settle: Vec<String>,
    /// What people notice.
    pub symptoms: Vec<Symptom>,
    /// Root to symptom, in order.
    pub chain: Vec<ChainLink>,
    /// How the investigation went.
    pub observations: Vec<Observation>,
    /// Tables that explain it.
    pub tables: Vec<Table>,
    /// Drawings that explain it.
    pub figures: Vec<Figure>,
    /// What to do.
    pub remedy: Remedy,
    /// The remedy as typed changes, tried on the captured state; none where the rule names none, where the
    /// cause is not confirmed or likely, or where it was not asked for.
    pub fix: Option<Fix>,
    /// Further reading, from the rule.
    pub references: Vec<String>,
    /// A time that stands beside its lines, where none of them has one.
    #[serde(skip)]
    pub beside: Option<Beside>,
}

/// A line of loose text that dates what stands near it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beside {
    /// The line.
    pub text: String,
    /// Where it stands.
    pub place: Place,
    /// How near it is.
    pub near: Near,
}

/// How a line that tells a time belongs to one that does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Near {
    /// It is the line itself, of which a message is a part.
    Same,
    /// It is a row of the pod that the other is about.
    OfPod,
    /// It stands some lines above.
    Above,
}

/// One cause of the catalogue and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Considered {
    /// Cause id.
    pub cause: String,
    /// Family of the rule, e.g. `runtime`.
    #[serde(skip)]
    pub family: String,
    /// Title from the rule.
    pub title: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Why, as a sentence: the evidence, or what was not collected.
    pub why: String,
    /// Where the deciding line stands.
    pub place: Option<Place>,
    /// Cause id of the incident that explains it, if another cause does.
    pub explained_by: Option<String>,
}

/// Something that looks like a fault and is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Benign {
    /// Rule id.
    pub id: String,
    /// Why it is harmless.
    pub text: String,
    /// Where it stands.
    pub evidence: Vec<Evidence>,
}

/// One moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Moment {
    /// When.
    pub at: DateTime<Utc>,
    /// What it concerns, e.g. `pod/default/gpu-textgen`.
    pub subject: String,
    /// What happened.
    pub text: String,
    /// Where it stands.
    pub place: Place,
    /// How often (at least 1).
    pub count: u64,
    /// Whether it belongs to an incident (its cause id).
    pub incident: Option<String>,
}

/// What became of one source of the bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Source id, e.g. `journal`.
    pub source: String,
    /// Title, e.g. "System journal".
    pub title: String,
    /// `collected`, `partial`, `skipped`, `failed`; without a manifest `unknown`, `absent`, or `excerpt`
    /// where a text holds pieces of it.
    pub outcome: String,
    /// Why it is not complete.
    pub why: Option<String>,
    /// Every part that is missing, with its reason.
    pub missing: Vec<String>,
    /// What cannot be said because of it (causes that were not checked), as sentences.
    pub so_we_cannot_say: Vec<String>,
}

/// Something in the bundle that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// What is wrong with it, as a sentence.
    pub text: String,
}

/// Who is hit, counted from the bundle.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Impact {
    /// `gpu_nodes`, `gpu_nodes_affected`, `gpus`, `gpus_allocatable`, `pods`, `pods_affected`...: only what was counted.
    pub counts: BTreeMap<String, u64>,
    /// Workloads that do not run, each as a sentence with its state.
    pub workloads: Vec<ImpactedWorkload>,
}

/// A workload that does not do its work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImpactedWorkload {
    /// `pod/<ns>/<name>`.
    pub subject: String,
    /// The state as `kubectl get pods` would print it, e.g. `ContainerCreating`.
    pub state: String,
    /// Restarts over all containers.
    pub restarts: u64,
    /// Since when it has been in that state, if the bundle says.
    pub since: Option<DateTime<Utc>>,
    /// GPUs it asks for.
    pub gpus: u64,
    /// Node that it is bound to, empty if none.
    #[serde(skip)]
    pub node: String,
    /// Where it stands.
    pub place: Place,
}

/// What the bundle is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Input {
    /// File or folder name, without its directory.
    pub name: String,
    /// `bundle`, `tar` or `folder`.
    pub form: String,
    /// Node that it was taken on.
    pub node: Option<String>,
    /// Tool that wrote it.
    pub tool: Option<String>,
    /// Start of collection.
    pub started: Option<DateTime<Utc>>,
    /// End of collection: the analysis' "now".
    pub finished: Option<DateTime<Utc>>,
    /// Why the collection ended early, if it did.
    pub interrupted: Option<String>,
    /// No manifest at the end: the file is cut.
    pub cut_short: bool,
    /// Entries read.
    pub entries: u64,
    /// Bytes read, inflated.
    pub bytes: u64,
    /// The bundles of a joined analysis, by node; empty for one input. Paths that start with `<node>:` lie in
    /// that node's bundle.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bundles: Vec<JoinedBundle>,
}

/// One of several bundles of a cluster that were analysed as one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct JoinedBundle {
    /// Node that it was taken on.
    pub node: String,
    /// File or folder name, without its directory.
    pub name: String,
    /// End of collection.
    pub finished: Option<DateTime<Utc>>,
    /// No manifest at the end: the file is cut.
    pub cut_short: bool,
}

/// A fact about the environment, for the report's environment table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EnvironmentItem {
    /// E.g. "Kubernetes", "Node image", "Kernel", "containerd (kubelet's)", "NVIDIA driver", "GPUs", "GPU Operator".
    pub label: String,
    /// The value.
    pub value: String,
    /// Where it was read.
    pub place: Option<Place>,
}

/// What the manifest says of an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Digest {
    /// SHA-256 of the content, in hexadecimal.
    pub sha256: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Why part of the content is missing.
    pub truncated: Option<String>,
    /// How many secrets were taken out of it.
    pub redacted: u64,
}

/// Which rules judged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RulesUsed {
    /// How many.
    pub count: u64,
    /// SHA-256 over their names and texts, in hexadecimal.
    pub digest: String,
}

/// What an input shows, counted: zero means none seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// Whose layout it has: `casefile`, another tool's id such as `sos`, `loose`, or `nothing` where nothing was understood; several joined by `+`.
    pub format: String,
    /// Nodes that the cluster lists, else nodes whose files are there.
    pub nodes: u64,
    /// Pods that objects, descriptions and logs name.
    pub pods: u64,
    /// Events, each once.
    pub events: u64,
    /// GPUs on the bus, in the driver or offered by nodes.
    pub gpus: u64,
    /// Version of the NVIDIA kernel module that is loaded.
    pub driver_version: Option<String>,
    /// Kernel that runs; of several nodes the commonest.
    pub kernel: Option<String>,
    /// Version of Kubernetes; of several nodes the commonest.
    pub kubernetes_version: Option<String>,
    /// Boots of which there are lines.
    pub boots: Option<u64>,
    /// `<namespace>/<pod> <state>` of pods that do not do their work.
    pub unhealthy_pods: Vec<String>,
    /// The one machine that it is of, by its own files or, of a text, by prompts and log lines.
    #[serde(skip)]
    pub machine: Option<String>,
    /// Whether it is of OpenShift, whose program is `oc`.
    #[serde(skip)]
    pub openshift: bool,
    /// The one pod that it tells of, as `<namespace>/<pod>`.
    #[serde(skip)]
    pub pod: Option<String>,
    /// What logs are there, where they are most of what it holds.
    #[serde(skip)]
    pub logs: Logs,
}

/// The logs of an input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Logs {
    /// Nodes whose journal, kernel's log or log files are there.
    pub nodes: Vec<String>,
    /// Those of them whose kubelet said that the node became ready, and never that it became not ready.
    pub ready: usize,
    /// Pods of which a container's log is there.
    pub pods: usize,
}

impl Seen {
    /// The format of an input in which nothing was understood.
    pub const NOTHING: &'static str = "nothing";
}

/// Everything that an analysis found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Analysis {
    /// What was read.
    pub input: Input,
    /// The answer about the one thing that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<About>,
    /// "Now": the end of collection, or the newest time seen in the evidence.
    pub reference_time: Option<DateTime<Utc>>,
    /// Causes in play that no other cause explains, best first.
    pub incidents: Vec<Incident>,
    /// Every cause with any evidence or that could not be checked, best first.
    pub differential: Vec<Considered>,
    /// What fails and no confirmed or likely cause explains.
    pub unexplained: Vec<Unexplained>,
    /// Known noise.
    pub benign: Vec<Benign>,
    /// What happened, in order.
    pub timeline: Vec<Moment>,
    /// What was and was not seen.
    pub coverage: Vec<Coverage>,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// Who is hit.
    pub impact: Impact,
    /// Lines that date others; they are no finding.
    #[serde(skip)]
    pub clocks: Clocks,
    /// Versions and machines.
    pub environment: Vec<EnvironmentItem>,
    /// What nodes, GPUs and runtimes looked like.
    pub state: State,
    /// What the input shows, counted.
    pub seen: Seen,
    /// What the manifest says of each entry that is named in this analysis, by path.
    pub digests: BTreeMap<String, Digest>,
    /// The rules that judged.
    pub rules: RulesUsed,
}
