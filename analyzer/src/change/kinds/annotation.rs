//! An annotation of an object.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::label::{Meta, MetaKey};
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// An annotation that an object shall have or lose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Annotation(pub MetaKey);

impl Kind for Annotation {
    fn sets(&self) -> Vec<(String, String)> {
        vec![self.0.sets("annotation")]
    }

    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        self.0.set(state, Meta::Annotations)
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    let value = format!("{}2", trial.bad);
    vec![
        serde_json::json!({"annotation": {"kind": "Node", "name": trial.bad, "key": trial.bad, "value": value}}),
    ]
}
