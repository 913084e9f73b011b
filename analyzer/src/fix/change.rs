//! Changes that a rule's remedy or a person proposes, typed so that they can be tried on the captured state.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::captured::Captured;
use super::kinds::{
    annotation::Annotation, configmap::ConfigMap, containerd_import::ContainerdImport,
    containerd_registry::ContainerdRegistry, containerd_runtime::ContainerdRuntime,
    containerd_section::ContainerdSection, docker_daemon::DockerDaemon, hardware::Hardware,
    helm_values::HelmValues, host_file::HostFile, iptables::Iptables, kube_object::KubeObject,
    kubelet_config::KubeletConfig, kubelet_flag::KubeletFlag, label::Label, manual::Manual,
    package::Package, pod_spec::PodSpec, quota::Quota, restart::Restart, sysctl::Sysctl,
    taint::Taint, toleration::Toleration, ufw_route::UfwRoute, unit::Unit,
    volume_attachment::VolumeAttachment,
};
use super::shell::{Program, Script, Test, Unfit};

/// What can be done to one kind of state.
pub trait Kind {
    /// Applies it to the captured state and says what a person has to do for it on the real one.
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused>;

    /// Smaller changes that may do as well, each to be tried in its place.
    fn narrower(&self) -> Vec<Change> {
        Vec::new()
    }
}

/// One change. In a rule every text may hold `{signal.field}`.
///
/// To add a kind, write a file under `kinds/` and add it here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Merge values into a helm release.
    HelmValues(HelmValues),
    /// Add routed-traffic rules to ufw.
    UfwRoute(UfwRoute),
    /// Write or remove a file of the node.
    HostFile(HostFile),
    /// Define a runtime handler in a containerd's configuration.
    ContainerdRuntime(ContainerdRuntime),
    /// Let a containerd import a folder of drop-ins.
    ContainerdImport(ContainerdImport),
    /// Repeat a containerd's CRI section in the drop-in that replaces it.
    ContainerdSection(ContainerdSection),
    /// Move a containerd's registry mirrors to the hosts directory.
    ContainerdRegistry(ContainerdRegistry),
    /// Delete the attachment of a volume to a node that is gone.
    VolumeAttachment(VolumeAttachment),
    /// Set a kernel parameter.
    Sysctl(Sysctl),
    /// Restart a unit, so that it reads its files again.
    Restart(Restart),
    /// Create or patch a Kubernetes object.
    KubeObject(KubeObject),
    /// Add or remove rules of iptables.
    Iptables(Iptables),
    /// Change the kubelet's configuration file.
    KubeletConfig(KubeletConfig),
    /// Change a flag of the kubelet.
    KubeletFlag(KubeletFlag),
    /// Change a systemd unit, by a drop-in where one suffices.
    Unit(Unit),
    /// Change Docker's daemon.json.
    DockerDaemon(DockerDaemon),
    /// Change a pod's spec where the pod comes from.
    PodSpec(PodSpec),
    /// Let a pod tolerate a taint.
    Toleration(Toleration),
    /// Set or remove a label.
    Label(Label),
    /// Set or remove an annotation.
    Annotation(Annotation),
    /// Set or remove a taint of a node.
    Taint(Taint),
    /// Change a key of a configmap.
    #[serde(rename = "configmap")]
    ConfigMap(ConfigMap),
    /// Raise a quota that refuses pods.
    Quota(Quota),
    /// Install another version of a package or driver; no replay can show it.
    Package(Package),
    /// Reset or replace a part; no replay can show it.
    Hardware(Hardware),
    /// Anything else that no replay can show.
    Manual(Manual),
}

impl Change {
    /// Applies it to the captured state; refused where a command of it could not be what it is meant to be.
    pub fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let applied = self.kind().apply(state)?;
        match applied.actions.iter().find_map(Action::unfit) {
            Some(unfit) => Err(Refused::new(unfit.to_string())),
            None => Ok(applied),
        }
    }

    /// The change as its kind.
    pub fn kind(&self) -> &dyn Kind {
        match self {
            Change::HelmValues(change) => change,
            Change::UfwRoute(change) => change,
            Change::HostFile(change) => change,
            Change::ContainerdRuntime(change) => change,
            Change::ContainerdImport(change) => change,
            Change::ContainerdSection(change) => change,
            Change::ContainerdRegistry(change) => change,
            Change::VolumeAttachment(change) => change,
            Change::Sysctl(change) => change,
            Change::Restart(change) => change,
            Change::KubeObject(change) => change,
            Change::Iptables(change) => change,
            Change::KubeletConfig(change) => change,
            Change::KubeletFlag(change) => change,
            Change::Unit(change) => change,
            Change::DockerDaemon(change) => change,
            Change::PodSpec(change) => change,
            Change::Toleration(change) => change,
            Change::Label(change) => change,
            Change::Annotation(change) => change,
            Change::Taint(change) => change,
            Change::ConfigMap(change) => change,
            Change::Quota(change) => change,
            Change::Package(change) => change,
            Change::Hardware(change) => change,
            Change::Manual(change) => change,
        }
    }

    /// All texts filled by `fill`, or the first that it cannot fill.
    pub fn filled(&self, fill: &dyn Fn(&str) -> Option<String>) -> Result<Change, Refused> {
        let mut value =
            serde_json::to_value(self).map_err(|error| Refused::new(error.to_string()))?;
        fill_texts(&mut value, fill)?;
        serde_json::from_value(value).map_err(|error| Refused::new(error.to_string()))
    }

    /// The same for this node, where it names none and would take the only one of the bundle.
    pub fn on(mut self, node: &str) -> Change {
        let own = match &mut self {
            Change::ContainerdRegistry(one) => &mut one.node,
            Change::Iptables(one) => &mut one.node,
            Change::KubeletConfig(one) => &mut one.node,
            Change::KubeletFlag(one) => &mut one.node,
            Change::Unit(one) => &mut one.node,
            Change::DockerDaemon(one) => &mut one.node,
            _ => return self,
        };
        own.get_or_insert_with(|| node.to_owned());
        self
    }

    /// Every text of it, for the checker of rules.
    pub fn texts(&self) -> Vec<String> {
        fn collect(value: &Value, texts: &mut Vec<String>) {
            match value {
                Value::String(text) => texts.push(text.clone()),
                Value::Array(items) => items.iter().for_each(|one| collect(one, texts)),
                Value::Object(map) => map.values().for_each(|one| collect(one, texts)),
                _ => {}
            }
        }
        let mut texts = Vec::new();
        collect(
            &serde_json::to_value(self).unwrap_or(Value::Null),
            &mut texts,
        );
        texts
    }
}

fn fill_texts(value: &mut Value, fill: &dyn Fn(&str) -> Option<String>) -> Result<(), Refused> {
    match value {
        Value::String(text) => match fill(text) {
            Some(filled) => *text = filled,
            None => {
                return Err(Refused::new(format!(
                    "the bundle does not say everything that this change needs: {text}"
                )));
            }
        },
        Value::Array(items) => {
            for item in items {
                fill_texts(item, fill)?;
            }
        }
        Value::Object(map) => {
            for item in map.values_mut() {
                fill_texts(item, fill)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Why a change cannot be tried on this input.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Refused {
    /// The reason, as a sentence, with the file and line where there is one.
    pub why: String,
}

impl Refused {
    /// With this reason.
    pub fn new(why: impl Into<String>) -> Self {
        Self { why: why.into() }
    }
}

/// A change that was applied to the captured state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    /// What it does, as a sentence without a full stop.
    pub title: String,
    /// Entries that it changed, for the diffs.
    pub changed: Vec<String>,
    /// Files to carry to the site.
    pub files: Vec<HandOver>,
    /// What a person does, in order.
    pub actions: Vec<Action>,
    /// What the replay takes for granted beyond the change itself.
    pub assumes: Vec<String>,
    /// Whether a replay can show its effect.
    pub simulated: bool,
    /// What has to happen on the running node or cluster beside it, which no file shows, as sentences.
    pub runtime: Vec<String>,
    /// What it takes from somebody, as clauses: a person has to choose it.
    pub costs: Vec<String>,
}

/// A file for the site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandOver {
    /// File name inside the output folder.
    pub name: String,
    /// Content.
    pub content: String,
    /// What it is, as a sentence.
    pub what: String,
}

/// Where a command has to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// As root on this node.
    Node(String),
    /// Wherever helm and kubectl reach the cluster.
    Cluster,
    /// By a person, not by a script.
    Hands,
}

/// What has to be so before a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    /// The question.
    pub test: Test,
    /// What it asks, as a clause.
    pub says: String,
}

/// What makes the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// A script.
    Script(Script),
    /// A person, with a command line where there is one; the script runs nothing of it.
    Hands(Option<String>),
}

/// What takes a change back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Back {
    /// A script, which may run where the change was made by half or not at all.
    Script(Script),
    /// A person, as a sentence.
    Hands(String),
}

/// One step on the real system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// What it does and why.
    pub text: String,
    /// Where it runs.
    pub place: Place,
    /// Refuses to go on where the state is not the captured one.
    pub guard: Option<Guard>,
    /// Shows what would change, without changing it.
    pub dry_run: Script,
    /// Files of the node that it changes; saved before.
    pub backup: Vec<String>,
    /// The change itself.
    pub act: Act,
    /// What to see after it.
    pub expect: String,
    /// What takes it back.
    pub back: Back,
    /// What it interrupts, as a sentence.
    pub interrupts: String,
}

impl Action {
    /// The change itself, where a script makes it.
    pub fn script(&self) -> Option<&Script> {
        match &self.act {
            Act::Script(script) if self.place != Place::Hands => Some(script),
            _ => None,
        }
    }

    /// Programs that any part of it starts.
    pub fn programs(&self) -> BTreeSet<Program> {
        let mut all = self.dry_run.programs();
        all.extend(self.script().map(Script::programs).unwrap_or_default());
        if let Back::Script(back) = &self.back {
            all.extend(back.programs());
        }
        all.extend(
            self.guard
                .as_ref()
                .map(|guard| guard.test.programs())
                .unwrap_or_default(),
        );
        all
    }

    /// Why no script is made of it.
    fn unfit(&self) -> Option<Unfit> {
        let back = match &self.back {
            Back::Script(back) => back.unfit(),
            Back::Hands(_) => None,
        };
        let guard = self.guard.as_ref().and_then(|guard| guard.test.unfit());
        let act = self.script().and_then(Script::unfit);
        guard.or_else(|| self.dry_run.unfit()).or(act).or(back)
    }
}
