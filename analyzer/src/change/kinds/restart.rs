//! A unit that is restarted, so that it reads its files again.

use casefile_bundle::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::change::captured::Captured;
use crate::change::shell::{Program, Script, Test, run};
use crate::change::{Act, Action, Applied, Back, Guard, Kind, Place, Refused};

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
        let call = |verb: &'static str| run(Program::Systemctl).word(verb);
        let restart = || Script::from(call("restart").text(unit));
        Ok(Applied {
            title: format!("Restart {unit} on {node}"),
            changed: Vec::new(),
            files: Vec::new(),
            actions: vec![Action {
                text: format!("Restart {unit}, so that it reads its files again."),
                place: Place::Node(node.clone()),
                guard: Some(Guard {
                    test: Test::Succeeds(call("is-active").word("--quiet").text(unit).into()),
                    says: format!("{unit} runs"),
                }),
                dry_run: call("status").word("--no-pager").text(unit).into(),
                backup: Vec::new(),
                act: Act::Script(restart()),
                expect: format!("'systemctl is-active {unit}' says active."),
                // After the files are what they were.
                back: Back::Script(restart()),
                interrupts: interrupts(&self.unit),
            }],
            assumes: vec![format!("{unit} comes up again")],
            simulated: true,
            ..Applied::default()
        })
    }
}

/// What a restart of a unit does to what runs on the node.
pub(super) fn interrupts(unit: &str) -> String {
    if unit.contains("containerd") || unit.contains("crio") {
        "Running containers go on; for some seconds the node starts no new ones, and 'kubectl exec' and 'logs' on it fail.".into()
    } else if unit.contains("kubelet") {
        "Running containers go on; the node starts none and reports nothing until the kubelet is back.".into()
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
