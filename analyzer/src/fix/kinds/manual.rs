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
        Ok(Applied {
            title: self.step.trim_end_matches('.').to_owned(),
            actions: vec![Action {
                text: self.step.clone(),
                place: Place::Hands,
                guard: None,
                dry_run: None,
                backup: Vec::new(),
                command: self.run.clone(),
                expect: self.expect.clone(),
                roll_back: "Undo the step by hand; nothing here can do it.".into(),
                interrupts: "Everything on the parts that are changed.".into(),
            }],
            ..Applied::default()
        })
    }
}
