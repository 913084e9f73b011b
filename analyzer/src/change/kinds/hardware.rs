//! A part that people replace or reset: no replay can show it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::manual::Manual;
use crate::change::captured::Captured;
use crate::change::{Applied, Back, Kind, Refused};

/// A part of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hardware {
    /// The part, e.g. `GPU 0000:17:00.0`.
    pub part: String,
    /// What is done to it, e.g. `Reset` or `Replace`.
    pub act: String,
    /// What to see after it.
    pub expect: String,
}

impl Kind for Hardware {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let manual = Manual {
            step: format!(
                "Drain the node. {} {}. Then take the node back into service.",
                self.act, self.part
            ),
            run: None,
            expect: self.expect.clone(),
        };
        let mut applied = manual.apply(state)?;
        for action in &mut applied.actions {
            action.interrupts = "All pods of the node, while it is drained.".into();
            action.back =
                Back::Hands("None: keep the node drained if the part is not well after it.".into());
        }
        Ok(applied)
    }
}
