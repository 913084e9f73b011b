//! A step that only people can take, and that no replay can show.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::captured::Captured;
use crate::change::shell::Script;
use crate::change::{Act, Action, Applied, Back, Kind, Refused, RunsOn, looks, risk};

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
        given(&self.step, "the change names no step")?;
        Ok(self.told())
    }
}

impl Manual {
    /// What a person does.
    pub(crate) fn told(&self) -> Applied {
        let looks = self.run.as_deref().is_some_and(looks::only);
        Applied {
            title: self.step.trim_end_matches('.').to_owned(),
            actions: vec![Action {
                text: self.step.clone(),
                place: RunsOn::Hands,
                guard: None,
                dry_run: Script::default(),
                backup: Vec::new(),
                act: Act::Hands(self.run.clone()),
                expect: self.expect.clone(),
                back: Back::Hands(if looks {
                    "Nothing to take back.".into()
                } else {
                    "Note the state before the step, and set it back to that.".into()
                }),
                interrupts: if looks {
                    "Nothing: it only looks.".into()
                } else {
                    interrupts(self.run.as_deref().unwrap_or_default())
                },
            }],
            ..Applied::default()
        }
    }

    /// The same as a step on the running system, such as a reset: `what` is done, and only the node shows its effect.
    pub(super) fn on_running(&self, what: &str, interrupts: &str, back: &str) -> Applied {
        let mut applied = self.told();
        for action in &mut applied.actions {
            action.interrupts = interrupts.to_owned();
            action.back = Back::Hands(back.to_owned());
        }
        applied.runtime = vec![format!("{what}; only the node shows whether it helps")];
        applied
    }
}

/// Refuses a text that says nothing, since a person could do nothing by it.
pub(super) fn given(text: &str, why: &str) -> Result<(), Refused> {
    if text.trim().is_empty() {
        return Err(Refused::new(why));
    }
    Ok(())
}

/// The node as a step names it. A kernel's log that was pasted names none, and its reader knows which one it is.
pub(super) fn which(named: Option<&str>, state: &Captured) -> String {
    let known = super::node(named, state).ok();
    let known = known.filter(|node| node != crate::lines::UNNAMED_NODE);
    known.unwrap_or_else(|| "the node".to_owned())
}

/// What a command interrupts; where that is not known, a person judges it.
fn interrupts(command: &str) -> String {
    let known = risk::of_step(command);
    known.unwrap_or_else(|| "Not known here: judge it before the step.".to_owned())
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    vec![serde_json::json!({"manual": {"step": trial.bad, "run": trial.bad, "expect": trial.bad}})]
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_a_step_interrupts_is_what_reports_say_of_its_command() {
        let of = super::interrupts;
        assert!(of("kubectl drain n1; systemctl reboot").contains("up again"));
        assert!(of("kubectl cordon n1 && kubectl drain n1").contains("is stopped"));
        assert!(of("kubectl cordon n1").starts_with("Nothing that runs"));
        assert!(of("make install").starts_with("Not known"));
    }
}
