//! Fields of a pod's spec, changed where the pod comes from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::sets;
use super::{workload, yaml};
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};
use crate::words;

/// Fields to merge into a pod's spec.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PodSpec {
    /// `NAMESPACE/NAME` of a pod that shows the fault; its owner's template is changed.
    pub pod: String,
    /// YAML of the fields; null removes one. Lists merge by name, as in a strategic merge patch.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub spec: String,
    /// YAML of labels and annotations, as `labels: {KEY: VALUE}`; null removes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<String>,
    /// Container that a list `containers` with one nameless item is for; the first if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
}

impl Kind for PodSpec {
    fn sets(&self) -> Vec<(String, String)> {
        sets::leaves(&self.spec, &format!("pod {}: ", self.pod))
    }

    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let mut delta = match yaml("the spec", &self.spec)? {
            Value::Null => Value::Object(serde_json::Map::new()),
            other => other,
        };
        let before = workload::spec(state, &self.pod)?;
        let Value::Object(fields) = &mut delta else {
            return Err(Refused::new("the spec is no map of fields"));
        };
        if let Some(containers) = fields.get_mut("containers") {
            let spec = workload::spec(state, &self.pod)?;
            name_container(containers, &spec, self.container.as_deref())?;
        }
        let mut names: Vec<String> = fields.keys().cloned().collect();
        let mut all = serde_json::json!({"spec": delta});
        if let Some(metadata) = &self.metadata {
            let metadata = self.metadata(state, metadata)?;
            names.extend(
                metadata
                    .as_object()
                    .into_iter()
                    .flat_map(|map| map.keys().cloned()),
            );
            all["metadata"] = metadata;
        }
        if names.is_empty() {
            return Err(Refused::new("the spec names no field to change"));
        }
        let title = format!("Change {}", names.join(", "));
        let mut applied = workload::change_all(state, &self.pod, &all, &title)?;
        applied.costs = taken(&self.pod, &before, &delta);
        Ok(applied)
    }
}

impl PodSpec {
    /// Labels and annotations. Of those that go only the ones that the pod has: one of the namespace is none of its own.
    fn metadata(&self, state: &mut Captured, text: &str) -> Result<Value, Refused> {
        let mut metadata = yaml("the metadata", text)?;
        let pod = workload::pod_of(&self.pod)?;
        let now = pod.read(state).unwrap_or_default();
        let Some(maps) = metadata.as_object_mut() else {
            return Err(Refused::new(
                "the metadata is no map of labels and annotations",
            ));
        };
        let mut missing = Vec::new();
        for (name, map) in maps.iter_mut() {
            if name != "labels" && name != "annotations" {
                return Err(Refused::new(format!(
                    "{name} is neither labels nor annotations"
                )));
            }
            if let Some(map) = map.as_object_mut() {
                map.retain(|key, value| {
                    let stays = !value.is_null() || now["metadata"][name].get(key).is_some();
                    if !stays {
                        missing.push(key.clone());
                    }
                    stays
                });
            }
        }
        maps.retain(|_, map| map.as_object().is_some_and(|map| !map.is_empty()));
        if maps.is_empty() {
            return Err(Refused::new(format!(
                "{pod} has no {}",
                missing.join(" and no ")
            )));
        }
        Ok(metadata)
    }
}

/// What the containers of a pod are given less of, as clauses.
fn taken(pod: &str, before: &Value, delta: &Value) -> Vec<String> {
    let mut all = Vec::new();
    for container in delta["containers"].as_array().into_iter().flatten() {
        let mut own = before["containers"].as_array().into_iter().flatten();
        let Some(old) = own.find(|one| one["name"] == container["name"]) else {
            continue;
        };
        let limits = container["resources"]["limits"].as_object();
        for (resource, now) in limits.into_iter().flatten() {
            let was = &old["resources"]["limits"][resource];
            if let (Some(less), Some(more)) = (amount(now), amount(was))
                && less < more
            {
                let now = plain(now);
                let unit = match (resource.as_str(), now.parse()) {
                    ("nvidia.com/gpu", Ok(number)) => words::count(number, "GPU"),
                    ("nvidia.com/gpumem", Ok(_)) => format!("{now} MiB of GPU memory"),
                    _ => format!("{now} of {resource}"),
                };
                all.push(format!(
                    "container {} of {pod} gets {unit} instead of {}",
                    plain(&container["name"]),
                    plain(was)
                ));
            }
        }
    }
    all
}

pub(super) fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// A quantity of the API, in its base unit.
pub(super) fn amount(value: &Value) -> Option<f64> {
    let text = plain(value);
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    let unit = match &text[end..] {
        "" => 1.0,
        "m" => 1e-3,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "Ki" => 1024.0,
        "Mi" => 1_048_576.0,
        "Gi" => 1_073_741_824.0,
        "Ti" => 1_099_511_627_776.0,
        _ => return None,
    };
    Some(number * unit)
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

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    let spec =
        serde_json::json!({"containers": [{"image": trial.bad}], "nodeSelector": {trial.bad: trial.bad}})
            .to_string();
    let metadata = serde_json::json!({"annotations": {trial.bad: trial.bad}}).to_string();
    let of = |namespace| serde_json::json!({"pod-spec": {"pod": format!("{namespace}/{}", trial.bad), "spec": spec, "metadata": metadata}});
    ["a", "b", "c", "d"].map(of).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_container_gets_less_of_is_a_cost_and_more_is_none() {
        let of = |gpus: &str, memory: &str| json!({"containers": [{"name": "train", "resources": {"limits": {"nvidia.com/gpu": gpus, "memory": memory}}}]});
        let costs = taken("ml/job", &of("8", "4Gi"), &of("4", "8192Mi"));
        assert_eq!(
            costs,
            ["container train of ml/job gets 4 GPUs instead of 8"]
        );
        assert_eq!(
            taken("ml/job", &of("8", "4Gi"), &of("8", "4096Mi")),
            Vec::<String>::new()
        );
    }
}
