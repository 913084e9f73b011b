//! A toleration for the taints of the nodes that could serve a pod.

use std::collections::BTreeSet;

use casefile_bundle::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::workload;
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

const NODES: Entry = Entry::List("nodes");

/// A pod, and the taint that it shall tolerate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Toleration {
    /// `NAMESPACE/NAME` of the pod.
    pub pod: String,
    /// Key of the taint; if not given, those that people set on the nodes which have what the pod asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl Kind for Toleration {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let spec = workload::spec(state, &self.pod)?;
        let taints = self.taints(state, &spec)?;
        if taints.is_empty() {
            return Err(Refused::new(format!(
                "no node of {NODES} that has what {} asks for carries a taint that people set{}",
                self.pod,
                self.key
                    .as_ref()
                    .map_or_else(String::new, |key| format!(" with the key {key}"))
            )));
        }
        let tolerations: Vec<Value> = taints
            .iter()
            .map(|(key, value, effect)| match value.as_str() {
                "" => json!({"key": key, "operator": "Exists", "effect": effect}),
                value => json!({"key": key, "operator": "Equal", "value": value, "effect": effect}),
            })
            .collect();
        let keys: Vec<&str> = taints.iter().map(|(key, _, _)| key.as_str()).collect();
        let title = format!("Tolerate {}", keys.join(", "));
        // A strategic merge patch replaces this list, so the old ones stay in it.
        let mut all = spec["tolerations"].as_array().cloned().unwrap_or_default();
        all.extend(tolerations);
        let mut applied =
            workload::change(state, &self.pod, &json!({ "tolerations": all }), &title)?;
        let kept = keys.join(", ");
        applied.costs.push(format!(
            "nodes that people keep free with {kept} take {} as well",
            self.pod
        ));
        Ok(applied)
    }
}

impl Toleration {
    /// Taints by key, value and effect. Those of Kubernetes stand for a state of the node and are not to be tolerated.
    fn taints(
        &self,
        state: &mut Captured,
        spec: &Value,
    ) -> Result<BTreeSet<(String, String, String)>, Refused> {
        let text = state
            .now(&NODES.path())
            .ok_or_else(|| Refused::new(format!("{NODES} is not in the bundle")))?;
        let list: Value = serde_json::from_str(&text)
            .map_err(|error| Refused::new(format!("{NODES}: {error}")))?;
        let asked = extended(spec);
        let mut taints = BTreeSet::new();
        for node in list["items"].as_array().into_iter().flatten() {
            let has = |resource: &&str| node["status"]["capacity"].get(*resource).is_some();
            if !asked.iter().all(has) {
                continue;
            }
            for taint in node["spec"]["taints"].as_array().into_iter().flatten() {
                let field = |name: &str| taint[name].as_str().unwrap_or_default().to_owned();
                let key = field("key");
                let own = [
                    "node.kubernetes.io/",
                    "node-role.kubernetes.io/",
                    "node.cloudprovider.kubernetes.io/",
                ];
                let by_people = !own.iter().any(|prefix| key.starts_with(prefix));
                let wanted = self.key.as_ref().map_or(by_people, |one| *one == key);
                if wanted && field("effect") != "PreferNoSchedule" {
                    taints.insert((key, field("value"), field("effect")));
                }
            }
        }
        Ok(taints)
    }
}

/// Extended resources that a pod asks for: those with a domain.
fn extended(spec: &Value) -> Vec<&str> {
    let containers = spec["containers"].as_array().into_iter().flatten();
    containers
        .filter_map(|one| one["resources"]["limits"].as_object())
        .flat_map(|limits| limits.keys())
        .map(String::as_str)
        .filter(|name| {
            name.contains('/')
                && !name.starts_with("nvidia.com/gpum")
                && !name.starts_with("nvidia.com/gpuc")
        })
        .collect()
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    vec![json!({"toleration": {"pod": format!("a/{}", trial.bad)}})]
}
