//! Derived facts about helm releases: values that the running workloads do not show, upgrades that did not end well, and
//! values that no template reads.

use serde::Serialize;

use super::{FactType, Field};

const fn field(name: &'static str, doc: &'static str) -> Field {
    Field { name, doc }
}

/// A value of a release that does not show.
#[derive(Debug, Clone, Default, Serialize)]
pub struct HelmDrift {
    /// Namespace of the release.
    pub namespace: String,
    /// Release.
    pub release: String,
    /// Chart.
    pub chart: String,
    /// Newest revision.
    pub revision: u64,
    /// `image`, `env`, `arg`, `resource`, `node-selector`, `toleration`, `runtime-class`, `config-map`, `replicas`,
    /// `custom-resource`, `node-label`, `disabled` or `absent`.
    pub kind: String,
    /// Path of the value, e.g. `toolkit.version`.
    pub value: String,
    /// What it says.
    pub expected: String,
    /// What is seen instead.
    pub seen: String,
    /// Workloads and containers that show it.
    pub places: Vec<String>,
    /// `user` or `chart`: who set the value.
    pub set_by: String,
    /// An earlier revision whose values are what is seen: the upgrade did not reach the workload. None where no
    /// captured revision has it.
    pub seen_in_revision: Option<u64>,
    /// What shows that the first of `places` is the release's: `annotation`, `label`, `legacy-label`, `chart-label`,
    /// `owner`; `image` where nothing but its image and namespace do.
    pub joined_by: String,
}

impl FactType for HelmDrift {
    const KIND: &'static str = "helm-drift";
    const FIELDS: &'static [Field] = &[
        field("namespace", "namespace of the release"),
        field("release", "release"),
        field("chart", "chart"),
        field("revision", "newest revision"),
        field(
            "kind",
            "image, env, arg, resource, node-selector, toleration, runtime-class, config-map, replicas, custom-resource, node-label, disabled or absent",
        ),
        field("value", "path of the value"),
        field("expected", "what it says"),
        field("seen", "what is seen instead"),
        field("places", "workloads and containers that show it"),
        field("set_by", "user or chart"),
        field(
            "seen_in_revision",
            "earlier revision whose values are what is seen",
        ),
        field(
            "joined_by",
            "what shows that the workload is the release's: annotation, label, legacy-label, chart-label, owner or image",
        ),
    ];
    fn subject(&self) -> String {
        format!("helmrelease/{}/{}", self.namespace, self.release)
    }
}

/// The object that shows another thing than the value says: the other place of a [`HelmDrift`].
#[derive(Debug, Clone, Default, Serialize)]
pub struct HelmShown {
    /// Namespace of the release.
    pub namespace: String,
    /// Release.
    pub release: String,
    /// Path of the value.
    pub value: String,
    /// What is seen.
    pub seen: String,
    /// Object, e.g. `daemonset/gpu-operator/nvidia-container-toolkit-daemonset`.
    pub object: String,
    /// Who set the value: `user` or `chart`.
    pub set_by: String,
}

impl FactType for HelmShown {
    const KIND: &'static str = "helm-shown";
    const FIELDS: &'static [Field] = &[
        field("namespace", "namespace of the release"),
        field("release", "release"),
        field("value", "path of the value"),
        field("seen", "what is seen"),
        field("object", "object that shows it"),
        field("set_by", "user or chart"),
    ];
    fn subject(&self) -> String {
        format!("helmrelease/{}/{}", self.namespace, self.release)
    }
}

/// A newest revision that is not the one in effect, or that is still under way.
#[derive(Debug, Clone, Default, Serialize)]
pub struct HelmUpgrade {
    /// Namespace of the release.
    pub namespace: String,
    /// Release.
    pub release: String,
    /// Newest revision.
    pub revision: u64,
    /// Its status: `failed`, `pending-install`, `pending-upgrade`, `pending-rollback` or `uninstalling`.
    pub status: String,
    /// Helm's own words.
    pub description: String,
    /// Revision that is deployed; none where no revision is.
    pub deployed: Option<u64>,
    /// What the newest one wanted to change: `toolkit.version: v1.17.8 -> v1.18.0`.
    pub wanted: Vec<String>,
    /// Minutes since it was begun, by the clock of the collection.
    pub minutes: Option<i64>,
}

impl FactType for HelmUpgrade {
    const KIND: &'static str = "helm-upgrade";
    const FIELDS: &'static [Field] = &[
        field("namespace", "namespace of the release"),
        field("release", "release"),
        field("revision", "newest revision"),
        field(
            "status",
            "failed, pending-install, pending-upgrade, pending-rollback or uninstalling",
        ),
        field("description", "helm's own words"),
        field("deployed", "revision that is deployed"),
        field("wanted", "what the newest revision wanted to change"),
        field("minutes", "minutes since it was begun"),
    ];
    fn subject(&self) -> String {
        format!("helmrelease/{}/{}", self.namespace, self.release)
    }
}

/// A value that the user set and no template of the chart reads.
#[derive(Debug, Clone, Default, Serialize)]
pub struct HelmUnread {
    /// Namespace of the release.
    pub namespace: String,
    /// Release.
    pub release: String,
    /// Chart.
    pub chart: String,
    /// Path of the value.
    pub value: String,
    /// A value of the chart that is called alike; empty where none is.
    pub alike: String,
}

impl FactType for HelmUnread {
    const KIND: &'static str = "helm-unread";
    const FIELDS: &'static [Field] = &[
        field("namespace", "namespace of the release"),
        field("release", "release"),
        field("chart", "chart"),
        field("value", "path of the value"),
        field("alike", "value of the chart that is called alike"),
    ];
    fn subject(&self) -> String {
        format!("helmrelease/{}/{}", self.namespace, self.release)
    }
}
