//! The program that keeps a node's clock, started anew: it then sets the clock at once instead of turning it slowly.

use casefile_bundle::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::restart::Restart;
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// Programs that keep the time, and the units that distributions start them by.
const SERVICES: [(&str, &[&str]); 4] = [
    ("chronyd", &["chronyd.service", "chrony.service"]),
    ("systemd-timesyncd", &["systemd-timesyncd.service"]),
    ("systemd-timesyn", &["systemd-timesyncd.service"]),
    ("ntpd", &["ntpsec.service", "ntpd.service", "ntp.service"]),
];

/// A node whose clock is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimeService {
    /// Node.
    pub node: String,
}

impl Kind for TimeService {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let unit = self.unit(state)?;
        let restart = Restart {
            node: self.node.clone(),
            unit: unit.clone(),
        };
        let mut applied = restart.apply(state)?;
        applied.costs.push(format!(
            "the clock of {} jumps to the time of the servers that {unit} is set to, and what waits for a time there may act early or twice",
            self.node
        ));
        Ok(applied.only_there(format!(
            "{unit} on {} sets the clock when it starts; only the node shows whether its servers answer",
            self.node
        )))
    }
}

impl TimeService {
    /// The unit whose process the bundle shows, or the only usual one that the node's part of it names.
    fn unit(&self, state: &mut Captured) -> Result<String, Refused> {
        let path = Entry::Node(&self.node, "processes.json").path();
        let text = state.now(&path).unwrap_or_default();
        let list: Value = serde_json::from_str(&text).unwrap_or_default();
        let mut processes = list["processes"].as_array().into_iter().flatten();
        let runs = processes.find_map(|process| {
            let comm = process["comm"].as_str()?;
            SERVICES.iter().find(|(program, _)| *program == comm)?;
            let group = process["cgroup"].as_str()?;
            let unit = group.rsplit('/').next()?;
            unit.ends_with(".service").then(|| unit.to_owned())
        });
        let known = |unit: &&&str| {
            let own = Restart {
                node: self.node.clone(),
                unit: (**unit).to_owned(),
            };
            own.is_known(state)
        };
        let usual: Vec<&str> = SERVICES
            .iter()
            .flat_map(|(_, units)| *units)
            .copied()
            .collect();
        let mut usual = usual;
        usual.dedup();
        let named: Vec<&&str> = usual.iter().filter(known).collect();
        match (runs, named.as_slice()) {
            (Some(unit), _) => Ok(unit),
            (None, [only]) => Ok((**only).to_owned()),
            (None, []) => Err(Refused::new(format!(
                "the bundle shows no time service of {}, so a person installs or chooses one",
                self.node
            ))),
            (None, several) => Err(Refused::new(format!(
                "the bundle names several time services of {}, and none runs: {}",
                self.node,
                several
                    .iter()
                    .map(|one| **one)
                    .collect::<Vec<_>>()
                    .join(", ")
            ))),
        }
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<Value> {
    vec![
        serde_json::json!({"time-service": {"node": trial.node}}),
        serde_json::json!({"time-service": {"node": trial.bad}}),
    ]
}
