//! More time for a probe whose failures end a container.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::workload;
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// A container, and the probe that ends it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProbeTime {
    /// `NAMESPACE/NAME` of the pod.
    pub pod: String,
    /// Container.
    pub container: String,
    /// `liveness-probe` or `startup-probe`.
    pub probe: String,
}

impl Kind for ProbeTime {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let spec = workload::spec(state, &self.pod)?;
        let field = match self.probe.as_str() {
            "liveness-probe" => "livenessProbe",
            "startup-probe" => "startupProbe",
            other => return Err(Refused::new(format!("{other:?} ends no container"))),
        };
        let containers = spec["containers"].as_array().into_iter().flatten();
        let own = containers
            .into_iter()
            .find(|one| one["name"] == self.container.as_str());
        let probe = own.map(|one| &one[field]).filter(|one| one.is_object());
        let probe = probe.ok_or_else(|| {
            Refused::new(format!(
                "{} has no {field} in a container {:?}",
                self.pod, self.container
            ))
        })?;
        let time = time(probe);
        let (allowed, twice) = (
            time.allowed(),
            Time {
                failures: time.failures * 2,
                ..time
            }
            .allowed(),
        );
        let delta = json!({"containers": [{"name": self.container, field: {"failureThreshold": time.failures * 2}}]});
        let title = format!(
            "Allow the {field} of container {} {} failures instead of {}",
            self.container,
            time.failures * 2,
            time.failures
        );
        let mut applied = workload::change(state, &self.pod, &delta, &title)?;
        applied.costs.push(format!(
            "container {} of {} is restarted about {twice} s after it stops answering, and not after {allowed} s",
            self.container, self.pod
        ));
        Ok(applied.only_there(format!(
            "{} is made anew with the longer time; only the cluster shows whether it answers within it",
            self.pod
        )))
    }
}

/// How often a probe may fail, and how long each try takes at least.
struct Time {
    failures: u64,
    period: u64,
}

impl Time {
    fn allowed(&self) -> u64 {
        self.failures * self.period
    }
}

/// The times of a probe, with the API's defaults; bounded, for a bundle may hold any number.
fn time(probe: &Value) -> Time {
    let of = |field: &str, default| match probe[field].as_u64() {
        Some(number @ 1..=1_000_000) => number,
        _ => default,
    };
    Time {
        failures: of("failureThreshold", 3),
        period: of("periodSeconds", 10),
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<Value> {
    vec![
        json!({"probe-time": {"pod": format!("g/{}", trial.bad), "container": trial.bad, "probe": "liveness-probe"}}),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_probe_or_the_apis_defaults() {
        assert_eq!(time(&json!({"httpGet": {}})).allowed(), 30);
        let own = time(&json!({"failureThreshold": 5, "periodSeconds": 20}));
        assert_eq!(own.allowed(), 100);
        assert_eq!(time(&json!({"failureThreshold": u64::MAX})).failures, 3);
    }
}
