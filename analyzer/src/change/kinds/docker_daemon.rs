//! Settings of Docker's daemon.json.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::node_file::{self, Edit};
use super::restart::{restart, restarted_back};
use super::sets;
use super::{entry, merge, yaml};
use crate::change::captured::Captured;
use crate::change::shell::{Line, Program, Reader, Script, Test, Word, run};
use crate::change::{Act, Action, Applied, Back, Kind, Refused, RunsOn};

const FILE: &str = "/etc/docker/daemon.json";
const UNIT: &str = "docker.service";

/// Settings to merge into daemon.json.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DockerDaemon {
    /// Node; the only one of the bundle if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// YAML or JSON of the settings; null removes one.
    pub set: String,
}

impl Kind for DockerDaemon {
    fn sets(&self) -> Vec<(String, String)> {
        sets::leaves(&self.set, "daemon.json's ")
    }

    fn node(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.node)
    }

    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let delta = yaml("the settings", &self.set)?;
        if !delta.is_object() {
            return Err(Refused::new("the settings are no map"));
        }
        let node = super::node(self.node.as_deref(), state)?;
        let path = entry(&node, FILE);
        let before = state.now(&path);
        let mut all: Value = match before.as_deref().map(str::trim) {
            None | Some("") => serde_json::json!({}),
            Some(text) => serde_json::from_str(text)
                .map_err(|error| Refused::new(format!("{path} does not parse as JSON: {error}")))?,
        };
        merge(&mut all, &delta);
        let text = serde_json::to_string_pretty(&all)
            .map_err(|error| Refused::new(error.to_string()))?
            + "\n";
        let lives = all["live-restore"] == true;
        let edit = node_file::edit(state, &node, FILE, &text, "daemon.json")?;
        Ok(told(node, path, edit, lives))
    }
}

fn told(node: String, path: String, edit: Edit, lives: bool) -> Applied {
    let validate = || run(Program::Dockerd).word("--validate");
    let knows = || {
        let help = run(Program::Dockerd).word("--help");
        let counts = run(Program::Grep).words(&["-c", "-e", "--validate"]);
        Test::Succeeds(help.pipe(counts).quiet())
    };
    let mut dry_run = edit.dry_run;
    if let Some(file) = edit.whole {
        dry_run = dry_run.then(Line::If(
            knows(),
            validate().with("--config-file", file).into(),
            Line::Say("this Docker cannot check the file before it reads it; 23.0 and newer can")
                .into(),
        ));
    }
    // The node's own file may hold what the bundle does not, so that only there the whole text can be read.
    let reader = Reader::of_file(validate().with("--config-file", Word::New));
    let write = Line::If(knows(), edit.write.clone().read_by(&reader), edit.write);
    Applied {
        title: format!("Change {FILE} on {node}"),
        changed: vec![path],
        files: edit.files,
        actions: vec![Action {
            text: format!("Write {FILE} and restart Docker."),
            place: RunsOn::Node(node),
            guard: Some(edit.guard),
            dry_run,
            backup: vec![FILE.into()],
            act: Act::Script(Script::from(write).and(restart(UNIT))),
            expect: "The check, where there is one, says \"configuration OK\"; 'docker info' shows the settings.".into(),
            back: Back::Script(edit.back.and(restarted_back(UNIT))),
            interrupts: if lives {
                "Docker is unavailable for a few seconds; its containers continue (live-restore).".into()
            } else {
                "All containers that Docker itself runs stop; pods of a containerd of their own do not.".into()
            },
        }],
        simulated: true,
        ..Applied::default()
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    vec![
        serde_json::json!({"docker-daemon": {"set": serde_json::json!({"x": trial.bad}).to_string()}}),
    ]
}
