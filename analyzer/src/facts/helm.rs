//! Derived facts about helm releases: values that the running workloads do not show.

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
    /// `image`, `env`, `arg`, `resource`, `node-selector`, `replicas` or `disabled`.
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
            "image, env, arg, resource, node-selector, replicas or disabled",
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
    ];
    fn subject(&self) -> String {
        format!("helmrelease/{}/{}", self.namespace, self.release)
    }
}
