//! A pod that asks for shares of a GPU where HAMi is not there to give them: it gets whole GPUs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::pod_spec::PodSpec;
use super::workload;
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

const GPU: &str = "nvidia.com/gpu";
/// Of these HAMi makes shares; no other plugin offers them.
const SHARES: [&str; 5] = [
    "nvidia.com/gpumem",
    "nvidia.com/gpumem-percentage",
    "nvidia.com/gpucores",
    "nvidia.com/vgpu",
    "nvidia.com/priority",
];

/// A pod that shall do without HAMi.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HamiWhole {
    /// `NAMESPACE/NAME` of the pod.
    pub pod: String,
}

impl Kind for HamiWhole {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let spec = workload::spec(state, &self.pod)?;
        let all = spec["containers"].as_array();
        let containers: Vec<Value> = all.into_iter().flatten().filter_map(whole).collect();
        if containers.is_empty() {
            return Err(Refused::new(format!(
                "no container of {} asks for a share of a GPU",
                self.pod
            )));
        }
        let mut fields = json!({"containers": containers});
        let scheduler = spec["schedulerName"].as_str().unwrap_or_default();
        if scheduler.contains("hami") || scheduler.contains("vgpu") {
            fields["schedulerName"] = "default-scheduler".into();
        }
        let change = PodSpec {
            pod: self.pod.clone(),
            spec: fields.to_string(),
            metadata: None,
            container: None,
        };
        let mut applied = change.apply(state)?;
        applied.costs = vec![format!(
            "{} gets whole GPUs, of which others then get no share",
            self.pod
        )];
        Ok(applied)
    }
}

/// The container without its shares; none where it asks for none.
fn whole(container: &Value) -> Option<Value> {
    let mut resources = Map::new();
    for side in ["limits", "requests"] {
        let asked = container["resources"][side].as_object();
        let shares: Vec<&&str> = SHARES
            .iter()
            .filter(|name| asked.is_some_and(|asked| asked.contains_key(**name)))
            .collect();
        if shares.is_empty() {
            continue;
        }
        let mut now: Map<String, Value> = shares
            .into_iter()
            .map(|name| ((*name).to_owned(), Value::Null))
            .collect();
        if asked.is_none_or(|asked| !asked.contains_key(GPU)) {
            // HAMi gives one where no number is asked for.
            now.insert(GPU.to_owned(), "1".into());
        }
        resources.insert(side.to_owned(), Value::Object(now));
    }
    (!resources.is_empty()).then(|| json!({"name": container["name"], "resources": resources}))
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<Value> {
    vec![json!({"hami-whole": {"pod": format!("f/{}", trial.bad)}})]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_go_and_the_number_of_gpus_stays_or_is_the_one_that_hami_gives() {
        let of = |limits: Value| whole(&json!({"name": "m", "resources": {"limits": limits}}));
        assert_eq!(
            of(json!({"nvidia.com/gpumem": "3000", "cpu": "1"})).unwrap()["resources"],
            json!({"limits": {"nvidia.com/gpumem": null, "nvidia.com/gpu": "1"}})
        );
        assert_eq!(
            of(json!({"nvidia.com/gpucores": "30", "nvidia.com/gpu": "2"})).unwrap()["resources"],
            json!({"limits": {"nvidia.com/gpucores": null}})
        );
        assert_eq!(of(json!({"nvidia.com/gpu": "2"})), None);
    }
}
