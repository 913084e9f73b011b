//! A node that has to be started anew: no replay can show it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::manual::{self, Manual};
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// A reboot of a node, which is drained before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reboot {
    /// Node; the only one of the bundle if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// What is done before it comes up again, e.g. `Rebuild the initramfs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// What to see after it.
    pub expect: String,
}

impl Kind for Reboot {
    fn node(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.node)
    }

    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        manual::given(
            &self.expect,
            "the change does not say what to see after the reboot",
        )?;
        let node = manual::which(self.node.as_deref(), state);
        let before = self.before.as_ref();
        let before = before.map_or_else(String::new, |step| format!(" {step}."));
        let manual = Manual {
            step: format!("Drain {node}.{before} Reboot {node}. Then take it back into service."),
            run: None,
            expect: self.expect.clone(),
        };
        let what = format!("Reboot {node}");
        let mut applied = manual.on_running(
            &what,
            "All pods of the node, until it is up again.",
            "None: keep the node drained if it is not well after the reboot.",
        );
        applied.title = what;
        Ok(applied)
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    vec![
        serde_json::json!({"reboot": {"node": trial.bad, "before": trial.bad, "expect": trial.bad}}),
    ]
}
