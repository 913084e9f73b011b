//! Values against what GPU feature discovery says of nodes in labels.

use serde_json::Value;

use super::Drift;
use super::expected::scalar;
use super::settings::at;
use crate::scheduling::api::Labels;

/// What nodes show of a value of the GPU Operator's chart: a label, and when it counts.
struct Shown {
    value: &'static str,
    label: &'static str,
    /// A label that the operator sets where it is in charge of this.
    in_charge: (&'static str, &'static str),
}

static SHOWN: [Shown; 2] = [
    Shown {
        value: "mig.strategy",
        label: "nvidia.com/mig.strategy",
        in_charge: ("nvidia.com/gpu.deploy.gpu-feature-discovery", "true"),
    },
    // Where a driver is installed on the host, the label says so and the value is of no use.
    Shown {
        value: "driver.version",
        label: "nvidia.com/cuda.driver-version.full",
        in_charge: ("nvidia.com/gpu.deploy.driver", "true"),
    },
];

/// Values that nodes show differently. `nodes` are names with their labels.
#[must_use]
pub fn drifts<'a>(
    chart: &str,
    values: &Value,
    nodes: impl Iterator<Item = (&'a str, &'a Labels)> + Clone,
) -> Vec<Drift> {
    if chart != "gpu-operator" {
        return Vec::new();
    }
    let found = SHOWN.iter().filter_map(|one| {
        let wanted = at(values, one.value).and_then(scalar)?;
        let seen = nodes.clone().filter_map(|(name, labels)| {
            let (key, value) = one.in_charge;
            let ours = labels.get(key).is_some_and(|has| has == value);
            let seen = labels
                .get(one.label)
                .filter(|seen| ours && **seen != wanted)?;
            Some((name, seen.clone()))
        });
        let seen: Vec<(&str, String)> = seen.collect();
        let (_, first) = seen.first()?;
        (!wanted.is_empty()).then(|| Drift {
            kind: "node-label",
            value: one.value.to_owned(),
            expected: wanted.clone(),
            seen: first.clone(),
            places: seen
                .iter()
                .filter(|(_, seen)| seen == first)
                .map(|(name, _)| format!("node/{name}"))
                .take(super::MOST_PLACES)
                .collect(),
        })
    });
    found.collect()
}
