//! A part that people replace or reset: no replay can show it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::manual::{self, Manual};
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// A part of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hardware {
    /// Node; the only one of the bundle if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The part, e.g. `GPU 0000:17:00.0`.
    pub part: String,
    /// What is done to it, e.g. `Reset` or `Replace`.
    pub act: String,
    /// What is done where that does not help, e.g. `replace it`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_not: Option<String>,
    /// What to see after it.
    pub expect: String,
}

impl Kind for Hardware {
    fn node(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.node)
    }

    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        manual::given(&self.part, "the change names no part")?;
        let node = manual::which(self.node.as_deref(), state);
        let mut step = format!("Drain {node}. {} {}.", self.act, self.part);
        if let Some(then) = &self.if_not {
            step = format!("{step} If that does not help: {then}.");
        }
        let manual = Manual {
            step: format!("{step} Then take {node} back into service."),
            run: None,
            expect: self.expect.clone(),
        };
        Ok(manual.on_running(
            &format!("{} {}", self.act, self.part),
            "All pods of the node, while it is drained.",
            "None: keep the node drained if the part is not well after it.",
        ))
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    vec![
        serde_json::json!({"hardware": {"part": trial.bad, "act": trial.bad, "if_not": trial.bad, "expect": trial.bad}}),
    ]
}
