//! A unit that is restarted, so that it reads its files again.

use casefile_bundle::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::change::captured::Captured;
use crate::change::shell::{Command, Line, Program, Script, Test, Word, run};
use crate::change::{Act, Action, Applied, Back, Guard, Kind, Refused, RunsOn};

/// A unit of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Restart {
    /// Node.
    pub node: String,
    /// Unit, e.g. `containerd.service`.
    pub unit: String,
}

impl Kind for Restart {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        match self.seen(state) {
            Ok(applied) => Ok(applied),
            Err(refused) => {
                let step = self.is_known(state).then(|| self.unseen()).flatten();
                let applied = step.map(|step| self.told(step, "started"));
                applied.ok_or(refused)
            }
        }
    }
}

impl Restart {
    /// A unit of which the bundle shows a process.
    pub(super) fn seen(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let (node, unit) = (&self.node, &self.unit);
        if unit.starts_with('-') || unit.chars().any(char::is_control) {
            return Err(Refused::new(format!("{unit:?} is no name of a unit")));
        }
        let path = Entry::Node(node, "processes.json").path();
        let text = state
            .now(&path)
            .ok_or_else(|| Refused::new(format!("{path} is not in the bundle")))?;
        let edited = started_anew(&text, unit, &collected(state, node))
            .ok_or_else(|| Refused::new(format!("{path} shows no process of {unit}")))?;
        state.set(&path, edited);
        let step = self.step(Guard {
            test: Test::Succeeds(call("is-active").word("--quiet").text(unit).into()),
            says: format!("{unit} runs"),
        });
        Ok(Applied {
            assumes: vec![format!("{unit} comes up again")],
            simulated: true,
            ..self.told(step, "restarted")
        })
    }

    /// Whether anything of the node's own part of the bundle names the unit: its file, its journal, a command about it.
    pub(super) fn is_known(&self, state: &mut Captured) -> bool {
        let (unit, dashed) = (&self.unit, self.unit.replace('.', "-"));
        let own = |path: &&str| crate::scan::node_of(path) == self.node;
        let paths: Vec<String> = state.paths().filter(own).map(str::to_owned).collect();
        let named = |path: &String| path.contains(unit) || path.contains(&dashed);
        let lists =
            |path: &&String| path.contains("systemctl") || path.ends_with("/processes.json");
        paths.iter().any(named)
            || paths.iter().filter(lists).any(|path| {
                let text = state.now(path);
                text.is_some_and(|text| text.contains(unit.as_str()))
            })
    }

    /// A step that no replay can show; where the bundle shows a process, its new start is simulated beside it.
    fn told(&self, step: Action, what: &str) -> Applied {
        let (node, unit) = (&self.node, &self.unit);
        Applied {
            title: format!("Restart {unit} on {node}"),
            actions: vec![step],
            runtime: vec![format!(
                "{unit} has to be {what} on {node}; only the node shows whether it then stays up"
            )],
            ..Applied::default()
        }
    }

    /// The step for a unit of which the bundle shows no process; none for what is no name of a unit.
    pub(super) fn unseen(&self) -> Option<Action> {
        let unit = &self.unit;
        is_unit(unit).then(|| {
            let guard = Guard {
                test: Test::Succeeds(call("cat").text(unit).quiet()),
                says: format!("{unit} is a unit of {}", self.node),
            };
            Action {
                text: format!("Start {unit}, or restart it where it runs."),
                ..self.step(guard)
            }
        })
    }

    fn step(&self, guard: Guard) -> Action {
        let unit = &self.unit;
        let status = call("status").word("--no-pager").text(unit);
        let rests = run(Program::Printf).words(&["%s\\n", "it does not run"]);
        Action {
            text: format!("Restart {unit}, so that it reads its files again."),
            place: RunsOn::Node(self.node.clone()),
            guard: Some(guard),
            dry_run: Line::Either(status.into(), rests.into()).into(),
            backup: Vec::new(),
            act: Act::Script(restart(unit)),
            expect: format!("'systemctl is-active {unit}' says active."),
            // After the files are what they were.
            back: Back::Script(restarted_back(unit)),
            interrupts: interrupts(unit),
        }
    }
}

fn call(verb: &'static str) -> Command {
    run(Program::Systemctl).word(verb)
}

fn was_at_rest() -> Word {
    Word::saved("was-inactive")
}

/// Restarts a unit, or starts it where it does not run, which is noted down for the way back.
pub(super) fn restart(unit: &str) -> Script {
    let rests = Test::Fails(call("is-active").word("--quiet").text(unit).into());
    let note = run(Program::Printf).words(&["%s", "inactive"]);
    let noted = Line::Save(note.into(), was_at_rest());
    Script::from(Line::If(rests, noted.into(), Script::default())).run(call("restart").text(unit))
}

/// Takes a restart back: with the old files a unit that did not run might not start at all.
pub(super) fn restarted_back(unit: &str) -> Script {
    let (stop, again) = (call("stop").text(unit), call("restart").text(unit));
    Line::If(Test::IsSaved(was_at_rest()), stop.into(), again.into()).into()
}

/// Whether a text can be the name of a service.
fn is_unit(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"@._-:\\".contains(&byte);
    let name = text.strip_suffix(".service").unwrap_or_default();
    !name.is_empty() && !name.starts_with(['-', '.']) && name.bytes().all(plain)
}

/// What a restart of a unit does to what runs on the node.
pub(crate) fn interrupts(unit: &str) -> String {
    if unit.contains("containerd") || unit.contains("crio") {
        "Running containers continue; for a few seconds the node starts no new ones, and 'kubectl exec' and 'kubectl logs' fail there.".into()
    } else if unit.contains("k3s") || unit.contains("rke2") {
        "Running containers go on; the kubelet, containerd and on a server the API server of this node are back after a minute.".into()
    } else if unit.starts_with("docker") {
        "Containers that Docker runs, unless its live-restore is on; for a few seconds the node starts no new ones.".into()
    } else if unit.contains("kubelet") {
        "Running containers go on; the node starts none and reports nothing until the kubelet is back.".into()
    } else if unit.contains("fabricmanager") {
        "All GPU pods of the node: multi-GPU work has to be started again.".into()
    } else {
        format!("Whatever {unit} serves, until it is back.")
    }
}

/// The end of collection; without a manifest the last change of any file that was copied.
fn collected(state: &mut Captured, node: &str) -> Option<String> {
    let read = |state: &mut Captured, path: &str| -> Option<Value> {
        serde_json::from_str(&state.before(path)?).ok()
    };
    if let Some(manifest) = read(state, casefile_bundle::MANIFEST_PATH) {
        return Some(manifest.get("finished")?.as_str()?.to_owned());
    }
    let files = read(state, &Entry::Node(node, "files.json").path())?;
    let files = files.get("files")?.as_array()?.iter();
    let times = files.filter_map(|file| file.get("mtime")?.as_str());
    times.max().map(str::to_owned)
}

fn started_anew(text: &str, unit: &str, at: &Option<String>) -> Option<String> {
    let at = at.as_ref()?;
    let mut value: Value = serde_json::from_str(text).ok()?;
    let processes = value.get_mut("processes")?.as_array_mut()?;
    let of_unit = |process: &Value| {
        process
            .get("cgroup")
            .and_then(Value::as_str)
            .is_some_and(|cgroup| cgroup.split('/').any(|part| part == unit))
    };
    let mut found = false;
    for process in processes.iter_mut().filter(|process| of_unit(process)) {
        process["start"] = Value::String(at.clone());
        found = true;
    }
    let lines: Vec<String> = processes.iter().map(Value::to_string).collect();
    found.then(|| format!("{{\"processes\":[\n{}\n]}}\n", lines.join(",\n")))
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    vec![serde_json::json!({"restart": {"node": trial.node, "unit": trial.bad}})]
}
