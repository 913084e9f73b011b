//! A limit of a pod that it ran into, raised where the pod comes from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::object::Named;
use super::pod_spec::{amount, plain};
use super::workload;
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

const MIB: f64 = 1_048_576.0;
/// HAMi counts GPU memory in MiB, whatever unit a quantity of the API could have.
const GPU_MEMORY: &str = "nvidia.com/gpumem";

/// A limit of a container, or of one of its pod's volumes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RaisedLimit {
    /// `NAMESPACE/NAME` of the pod, also with `pod/` before it.
    pub pod: String,
    /// Container; the only one with such a limit if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// `memory` or `nvidia.com/gpumem`: the limit is raised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// An emptyDir whose sizeLimit is raised instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<String>,
    /// Bytes that were needed: a tenth more is given. Without it the limit is doubled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needed: Option<String>,
}

impl Kind for RaisedLimit {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let spec = workload::spec(state, &self.pod)?;
        let (delta, title, cost) = match (&self.resource, &self.volume) {
            (Some(resource), None) => self.of_container(state, &spec, resource)?,
            (None, Some(volume)) => of_volume(&spec, volume)?,
            _ => return Err(Refused::new("give one of resource and volume")),
        };
        let mut applied = workload::change(state, &self.pod, &delta, &title)?;
        applied.costs.push(format!("{} {cost}", self.pod));
        Ok(applied.only_there(format!(
            "{} is made anew with the higher limit; only the cluster shows whether that suffices",
            self.pod
        )))
    }
}

impl RaisedLimit {
    fn of_container(
        &self,
        state: &mut Captured,
        spec: &Value,
        resource: &str,
    ) -> Result<(Value, String, String), Refused> {
        if resource != "memory" && resource != GPU_MEMORY {
            return Err(Refused::new(format!(
                "{resource:?} is no limit that a program runs into: give memory or {GPU_MEMORY}"
            )));
        }
        let own = self.container(spec, resource)?;
        let was = &own["resources"]["limits"][resource];
        let now = self.raised(was, resource)?;
        self.fits_node(state, spec, resource, &now)?;
        let mut resources = json!({"limits": {resource: now}});
        // A request that is the limit stays that: an extended resource must, and a guaranteed pod remains one.
        if &own["resources"]["requests"][resource] == was {
            resources["requests"] = json!({resource: now});
        }
        let name = plain(&own["name"]);
        Ok((
            json!({"containers": [{"name": name, "resources": resources}]}),
            format!("Raise the limit of {resource} to {now} for container {name}"),
            format!(
                "may take {now} of {resource} instead of {} from what others on its node share",
                plain(was)
            ),
        ))
    }

    /// The named container, or the only one that has such a limit.
    fn container<'a>(&self, spec: &'a Value, resource: &str) -> Result<&'a Value, Refused> {
        let all = spec["containers"].as_array().into_iter().flatten();
        let limited = all.filter(|one| !one["resources"]["limits"][resource].is_null());
        let own: Vec<&Value> = match &self.container {
            Some(name) => limited.filter(|one| one["name"] == name.as_str()).collect(),
            None => limited.collect(),
        };
        match own.as_slice() {
            [one] => Ok(one),
            [] => Err(Refused::new(format!(
                "{} has no such container with a limit of {resource}",
                self.pod
            ))),
            several => Err(Refused::new(format!(
                "{} has {} containers with a limit of {resource}; name one",
                self.pod,
                several.len()
            ))),
        }
    }

    /// The limit with what was needed and a tenth, or twice what it was.
    fn raised(&self, was: &Value, resource: &str) -> Result<String, Refused> {
        let Some(needed) = &self.needed else {
            return doubled(&plain(was));
        };
        let unit = if resource == GPU_MEMORY { 1.0 } else { MIB };
        let limit = amount(was).map(|amount| amount / unit);
        let needed: Option<f64> = needed.parse().ok().map(|bytes: f64| bytes / MIB * 1.1);
        match (limit, needed) {
            // Counters that ran below zero are no need.
            (Some(limit), Some(needed)) if needed > limit && needed < limit * 16.0 => {
                let suffix = if resource == GPU_MEMORY { "" } else { "Mi" };
                Ok(format!("{:.0}{suffix}", needed.ceil()))
            }
            _ => Err(Refused::new(format!(
                "{} bytes are no amount that the limit {} would be raised to",
                self.needed.as_deref().unwrap_or_default(),
                plain(was)
            ))),
        }
    }

    /// Refuses memory that its node does not have.
    fn fits_node(
        &self,
        state: &mut Captured,
        spec: &Value,
        resource: &str,
        now: &str,
    ) -> Result<(), Refused> {
        let name = spec["nodeName"].as_str().unwrap_or_default();
        let node = Named::new("Node", None, name).read(state);
        let has = node.and_then(|node| amount(&node["status"]["allocatable"][resource]));
        match (has, amount(&now.into())) {
            (Some(has), Some(now)) if resource == "memory" && now > has => {
                Err(Refused::new(format!(
                    "node {name} has {:.0} MiB for pods, less than the limit would be",
                    has / MIB
                )))
            }
            _ => Ok(()),
        }
    }
}

/// An emptyDir; what is written to one in memory counts for the containers that mount it, so their limits grow with it.
fn of_volume(spec: &Value, name: &str) -> Result<(Value, String, String), Refused> {
    let volumes = spec["volumes"].as_array().into_iter().flatten();
    let own = volumes.into_iter().find(|one| one["name"] == name);
    let limit = own.map(|one| &one["emptyDir"]["sizeLimit"]);
    let limit = limit.filter(|limit| !limit.is_null()).ok_or_else(|| {
        Refused::new(format!("the pod has no emptyDir {name:?} with a sizeLimit"))
    })?;
    let now = doubled(&plain(limit))?;
    let mut delta = json!({"volumes": [{"name": name, "emptyDir": {"sizeLimit": now}}]});
    let in_memory = own.is_some_and(|one| one["emptyDir"]["medium"] == "Memory");
    if in_memory {
        let more = amount(limit).unwrap_or_default();
        delta["containers"] = grown(spec, name, more).into();
    }
    let what = if in_memory { "memory" } else { "disk" };
    Ok((
        delta,
        format!("Raise the sizeLimit of volume {name} to {now}"),
        format!(
            "may fill {now} of its node's {what} through volume {name} instead of {}",
            plain(limit)
        ),
    ))
}

/// The containers that mount a volume and have a limit of memory, with as much more.
fn grown(spec: &Value, volume: &str, more: f64) -> Vec<Value> {
    let all = spec["containers"].as_array().into_iter().flatten();
    let mounts = |one: &Value| {
        let mounts = one["volumeMounts"].as_array().into_iter().flatten();
        mounts.into_iter().any(|mount| mount["name"] == volume)
    };
    all.filter(|one| mounts(one))
        .filter_map(|one| {
            let limit = &one["resources"]["limits"]["memory"];
            let now = format!("{:.0}Mi", ((amount(limit)? + more) / MIB).ceil());
            let mut resources = json!({"limits": {"memory": now}});
            if &one["resources"]["requests"]["memory"] == limit {
                resources["requests"] = json!({"memory": now});
            }
            Some(json!({"name": one["name"], "resources": resources}))
        })
        .collect()
}

/// Twice a quantity of the API, in its own unit.
pub(super) fn doubled(text: &str) -> Result<String, Refused> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let is_unit = matches!(unit, "" | "k" | "M" | "G" | "T" | "Ki" | "Mi" | "Gi" | "Ti");
    match number
        .parse::<u64>()
        .ok()
        .and_then(|one| one.checked_mul(2))
    {
        Some(twice @ 1..) if is_unit => Ok(format!("{twice}{unit}")),
        _ => Err(Refused::new(format!(
            "{text:?} is no whole amount that could be doubled; choose the new limit by hand"
        ))),
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<Value> {
    let (pod, volume) = (format!("f/{}", trial.bad), format!("g/{}", trial.bad));
    vec![
        json!({"raised-limit": {"pod": pod, "container": trial.bad, "resource": GPU_MEMORY}}),
        json!({"raised-limit": {"pod": volume, "volume": trial.bad}}),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(needed: Option<&str>) -> RaisedLimit {
        RaisedLimit {
            pod: "a/b".into(),
            container: None,
            resource: None,
            volume: None,
            needed: needed.map(str::to_owned),
        }
    }

    #[test]
    fn a_limit_grows_by_what_was_needed_or_is_doubled() {
        let raised = |needed, was: &str, resource| of(needed).raised(&was.into(), resource).ok();
        assert_eq!(raised(None, "2Gi", "memory").as_deref(), Some("4Gi"));
        assert_eq!(raised(None, "1.5Gi", "memory"), None);
        let asked = Some("8900000000");
        assert_eq!(raised(asked, "8192", GPU_MEMORY).as_deref(), Some("9337"));
        assert_eq!(raised(asked, "10000", GPU_MEMORY), None, "it has more");
        let below_zero = Some("18446744073707737660");
        assert_eq!(raised(below_zero, "8192", GPU_MEMORY), None);
    }

    #[test]
    fn a_volume_in_memory_takes_the_limit_of_its_containers_along() {
        let spec = json!({
            "volumes": [{"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "2Gi"}}],
            "containers": [
                {"name": "train", "resources": {"limits": {"memory": "8Gi"}}, "volumeMounts": [{"name": "dshm"}]},
                {"name": "log", "resources": {"limits": {"memory": "1Gi"}}}],
        });
        let (delta, _, cost) = of_volume(&spec, "dshm").unwrap();
        assert_eq!(delta["volumes"][0]["emptyDir"]["sizeLimit"], "4Gi");
        assert_eq!(
            delta["containers"],
            json!([{"name": "train", "resources": {"limits": {"memory": "10240Mi"}}}])
        );
        assert!(cost.contains("4Gi of its node's memory"), "{cost}");
    }

    #[test]
    fn a_request_that_is_the_limit_stays_that() {
        let spec = json!({"containers": [{"name": "a", "resources": {"limits": {GPU_MEMORY: "10"}, "requests": {GPU_MEMORY: "10"}}}]});
        let own = of(None);
        assert!(own.container(&spec, "memory").is_err());
        assert_eq!(own.container(&spec, GPU_MEMORY).unwrap()["name"], "a");
    }
}
