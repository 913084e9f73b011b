//! Another version of a package or driver: no replay can show it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::manual::{Manual, given};
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// A package of a node, and the version that it shall have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// Package or driver, as people name it.
    pub name: String,
    /// Version, or what it has to fit.
    pub version: String,
    /// Command that shows the version that is in use.
    pub check: String,
    /// What needs a reboot or a reload after it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub interrupts: String,
}

impl Kind for Package {
    fn apply(&self, _: &mut Captured) -> Result<Applied, Refused> {
        let (name, version) = (&self.name, &self.version);
        given(name, "the change names no package")?;
        let manual = Manual {
            step: format!(
                "Install {name} {version} with the node's package manager or the operator that owns it."
            ),
            run: None,
            expect: format!("'{}' shows it.", self.check),
        };
        let interrupts = match self.interrupts.as_str() {
            "" => "What uses it, until it runs in the other version.",
            known => known,
        };
        let back = format!("Install the version of {name} that was there; the bundle names it.");
        Ok(manual.on_running(&format!("Install {name} {version}"), interrupts, &back))
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    vec![
        serde_json::json!({"package": {"name": trial.bad, "version": trial.bad, "check": trial.bad}}),
    ]
}
