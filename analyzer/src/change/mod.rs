//! Changes that a rule's remedy or a person proposes, typed so that they can be tried on the captured state.

pub mod captured;
mod harmless;
pub mod hinge;
pub mod kinds;
pub(crate) mod looks;
pub(crate) mod risk;
pub mod shell;

use std::collections::BTreeSet;

use serde_json::Value;

use captured::Captured;
pub use kinds::Change;
use shell::{Program, Script, Test, Unfit};

/// What can be done to one kind of state.
pub trait Kind {
    /// Applies it to the captured state and says what a person has to do for it on the real one.
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused>;

    /// Smaller changes that may do as well, each to be tried in its place.
    fn narrower(&self) -> Vec<Change> {
        Vec::new()
    }

    /// What it sets, as names and values: another change that wants another value of one is refused. None where changes
    /// of the kind add up.
    fn sets(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// The node that it is for, where a change without one would take the only one of the bundle.
    fn node(&mut self) -> Option<&mut Option<String>> {
        None
    }
}

impl Change {
    /// Applies it to the captured state; refused where a command of it could not be what it is meant to be.
    pub fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let applied = self.kind().apply(state)?;
        match applied.actions.iter().find_map(Action::unfit) {
            Some(unfit) => Err(Refused::new(unfit.to_string())),
            None => Ok(applied),
        }
    }

    /// All texts filled by `fill`, or the first that it cannot fill.
    pub fn filled(&self, fill: &dyn Fn(&str) -> Option<String>) -> Result<Change, Refused> {
        let mut value =
            serde_json::to_value(self).map_err(|error| Refused::new(error.to_string()))?;
        fill_texts(&mut value, fill)?;
        serde_json::from_value(value).map_err(|error| Refused::new(error.to_string()))
    }

    /// The same for this node, where it names none and would take the only one of the bundle.
    pub fn on(mut self, node: &str) -> Change {
        if let Some(own) = self.kind_mut().node() {
            own.get_or_insert_with(|| node.to_owned());
        }
        self
    }

    /// Every text of it, for the checker of rules.
    pub fn texts(&self) -> Vec<String> {
        fn collect(value: &Value, texts: &mut Vec<String>) {
            match value {
                Value::String(text) => texts.push(text.clone()),
                Value::Array(items) => items.iter().for_each(|one| collect(one, texts)),
                Value::Object(map) => map.values().for_each(|one| collect(one, texts)),
                _ => {}
            }
        }
        let mut texts = Vec::new();
        collect(
            &serde_json::to_value(self).unwrap_or(Value::Null),
            &mut texts,
        );
        texts
    }
}

fn fill_texts(value: &mut Value, fill: &dyn Fn(&str) -> Option<String>) -> Result<(), Refused> {
    match value {
        Value::String(text) => match fill(text) {
            Some(filled) => *text = filled,
            None => {
                return Err(Refused::new(format!(
                    "the bundle does not say everything that this change needs: {}",
                    missing(text)
                )));
            }
        },
        Value::Array(items) => {
            for item in items {
                fill_texts(item, fill)?;
            }
        }
        Value::Object(map) => {
            for item in map.values_mut() {
                fill_texts(item, fill)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// What the first `{signal.field}` of a text asks for, in words of whoever reads the report.
fn missing(text: &str) -> String {
    let asks = text.replace("{{", "");
    let field = asks
        .split_once('{')
        .and_then(|(_, rest)| rest.split_once('}'));
    let field = field.and_then(|(names, _)| names.split('|').next()?.rsplit('.').next());
    match field {
        Some("subject") => "the pod or node that it is for".to_owned(),
        Some(field) => format!("its {}", field.replace('_', " ")),
        None => text.to_owned(),
    }
}

/// Why a change cannot be tried on this input.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Refused {
    /// The reason, as a sentence, with the file and line where there is one.
    pub why: String,
}

impl Refused {
    /// With this reason.
    pub fn new(why: impl Into<String>) -> Self {
        Self { why: why.into() }
    }
}

/// A change that was applied to the captured state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    /// What it does, as a sentence without a full stop.
    pub title: String,
    /// Entries that it changed, for the diffs.
    pub changed: Vec<String>,
    /// Files to carry to the site.
    pub files: Vec<HandOver>,
    /// What a person does, in order.
    pub actions: Vec<Action>,
    /// What the replay takes for granted beyond the change itself.
    pub assumes: Vec<String>,
    /// Whether a replay can show its effect.
    pub simulated: bool,
    /// What has to happen on the running node or cluster beside it, which no file shows, as sentences.
    pub runtime: Vec<String>,
    /// What it takes from somebody, as clauses: a person has to choose it.
    pub costs: Vec<String>,
}

impl Applied {
    /// Adds what another change of the same remedy does; a title and costs are said once, of the whole.
    pub(crate) fn absorb(&mut self, one: Applied) {
        self.changed.extend(one.changed);
        self.files.extend(one.files);
        self.actions.extend(one.actions);
        self.assumes.extend(one.assumes);
        self.runtime.extend(one.runtime);
        self.simulated &= one.simulated;
    }

    /// The same where no replay shows what follows, since only the running system does: `follows` says what.
    pub(crate) fn only_there(mut self, follows: String) -> Self {
        self.changed.clear();
        self.simulated = false;
        self.runtime = vec![follows];
        self
    }

    /// Whether it changes nothing of what was captured: all that it does is a step on the running system.
    pub fn is_step(&self) -> bool {
        self.changed.is_empty() && !self.runtime.is_empty()
    }
}

/// A file for the site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandOver {
    /// File name inside the output folder.
    pub name: String,
    /// Content.
    pub content: String,
    /// What it is, as a sentence.
    pub what: String,
}

/// Where a command has to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunsOn {
    /// As root on this node.
    Node(String),
    /// Wherever helm and kubectl reach the cluster.
    Cluster,
    /// By a person, not by a script.
    Hands,
}

/// What has to be so before a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    /// The question.
    pub test: Test,
    /// What it asks, as a clause.
    pub says: String,
}

/// What makes the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// A script.
    Script(Script),
    /// A person, with a command line where there is one; the script runs nothing of it.
    Hands(Option<String>),
}

/// What takes a change back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Back {
    /// A script, which may run where the change was made by half or not at all.
    Script(Script),
    /// A person, as a sentence.
    Hands(String),
}

/// One step on the real system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// What it does and why.
    pub text: String,
    /// Where it runs.
    pub place: RunsOn,
    /// Refuses to go on where the state is not the captured one.
    pub guard: Option<Guard>,
    /// Shows what would change, without changing it.
    pub dry_run: Script,
    /// Files of the node that it changes; saved before.
    pub backup: Vec<String>,
    /// The change itself.
    pub act: Act,
    /// What to see after it.
    pub expect: String,
    /// What takes it back.
    pub back: Back,
    /// What it interrupts, as a sentence.
    pub interrupts: String,
}

impl Action {
    /// The change itself, where a script makes it.
    pub fn script(&self) -> Option<&Script> {
        match &self.act {
            Act::Script(script) if self.place != RunsOn::Hands => Some(script),
            _ => None,
        }
    }

    /// Programs that any part of it starts.
    pub fn programs(&self) -> BTreeSet<Program> {
        let mut all = self.dry_run.programs();
        all.extend(self.script().map(Script::programs).unwrap_or_default());
        if let Back::Script(back) = &self.back {
            all.extend(back.programs());
        }
        all.extend(
            self.guard
                .as_ref()
                .map(|guard| guard.test.programs())
                .unwrap_or_default(),
        );
        all
    }

    /// Why no script is made of it.
    fn unfit(&self) -> Option<Unfit> {
        let back = match &self.back {
            Back::Script(back) => back.unfit(),
            Back::Hands(_) => None,
        };
        let guard = self.guard.as_ref().and_then(|guard| guard.test.unfit());
        let act = self.script().and_then(Script::unfit);
        guard.or_else(|| self.dry_run.unfit()).or(act).or(back)
    }
}
