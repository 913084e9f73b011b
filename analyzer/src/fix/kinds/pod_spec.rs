//! Fields of a pod's spec, changed where the pod comes from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{workload, yaml};
use crate::fix::captured::Captured;
use crate::fix::change::{Applied, Kind, Refused};

/// Fields to merge into a pod's spec.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PodSpec {
    /// `NAMESPACE/NAME` of a pod that shows the fault; its owner's template is changed.
    pub pod: String,
    /// YAML of the fields; null removes one. Lists merge by name, as in a strategic merge patch.
    pub spec: String,
    /// Container that a list `containers` with one nameless item is for; the first if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
}

impl Kind for PodSpec {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let mut delta = yaml("the spec", &self.spec)?;
        let Value::Object(fields) = &mut delta else {
            return Err(Refused::new("the spec is no map of fields"));
        };
        if let Some(containers) = fields.get_mut("containers") {
            let spec = workload::spec(state, &self.pod)?;
            name_container(containers, &spec, self.container.as_deref())?;
        }
        let names: Vec<String> = fields.keys().cloned().collect();
        if names.is_empty() {
            return Err(Refused::new("the spec names no field to change"));
        }
        workload::change(
            state,
            &self.pod,
            &delta,
            &format!("Change {}", names.join(", ")),
        )
    }
}

/// Gives a nameless item the name of the container that it is for.
fn name_container(items: &mut Value, spec: &Value, wanted: Option<&str>) -> Result<(), Refused> {
    let there: Vec<&str> = spec["containers"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|one| one["name"].as_str())
        .collect();
    let name = wanted.or(there.first().copied()).unwrap_or_default();
    if !there.contains(&name) {
        return Err(Refused::new(format!(
            "the pod has no container {name:?}; it has {}",
            there.join(", ")
        )));
    }
    for item in items.as_array_mut().into_iter().flatten() {
        match item.get("name").and_then(Value::as_str) {
            None => item["name"] = name.into(),
            Some(own) if !there.contains(&own) => {
                return Err(Refused::new(format!("the pod has no container {own:?}")));
            }
            Some(_) => {}
        }
    }
    Ok(())
}
