//! A step that only people can take, and that no replay can show.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fix::captured::Captured;
use crate::fix::change::{Action, Applied, Kind, Place, Refused};

/// What a person has to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Manual {
    /// The step, as a sentence.
    pub step: String,
    /// Command for it, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// What to see after it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub expect: String,
}

impl Kind for Manual {
    fn apply(&self, _: &mut Captured) -> Result<Applied, Refused> {
        Ok(self.told())
    }
}

impl Manual {
    /// What a person does.
    pub(in crate::fix) fn told(&self) -> Applied {
        Applied {
            title: self.step.trim_end_matches('.').to_owned(),
            actions: vec![Action {
                text: self.step.clone(),
                place: Place::Hands,
                guard: None,
                dry_run: None,
                backup: Vec::new(),
                command: self.run.clone(),
                expect: self.expect.clone(),
                roll_back: "By hand: note the state before the step.".into(),
                interrupts: "Not known here: judge it before the step.".into(),
            }],
            ..Applied::default()
        }
    }
}
