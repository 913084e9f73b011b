//! Settings of Docker's daemon.json.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{entry, may_be_rewritten, merge, unchanged, write_over, yaml};
use crate::fix::captured::Captured;
use crate::fix::change::{Action, Applied, HandOver, Kind, Place, Refused, quoted};
use crate::fix::write::beside;

const FILE: &str = "/etc/docker/daemon.json";

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
        may_be_rewritten(state, &node, FILE)?;
        let guard = unchanged(state, &node, FILE);
        state.set(&path, text.clone());
        let lives = all["live-restore"] == true;
        let there = quoted(FILE);
        let back = if before.is_some() {
            format!("cp -a \"$backup\"{there} {there}")
        } else {
            format!("rm {there}")
        };
        Ok(Applied {
            title: format!("Change {FILE} on {node}"),
            changed: vec![path],
            files: vec![HandOver {
                name: "daemon.json".into(),
                content: text,
                what: format!("the whole new {FILE}"),
            }],
            actions: vec![Action {
                text: format!("Write {FILE} and restart Docker."),
                place: Place::Node(node),
                guard,
                dry_run: Some(format!(
                    "diff -u {there} {0} || true\nif dockerd --help | grep -q -e --validate; then dockerd --validate --config-file {0}; else echo 'this Docker cannot check the file before it reads it; 23.0 and newer can'; fi",
                    beside("daemon.json")
                )),
                backup: vec![FILE.into()],
                command: Some(format!(
                    "{}\nsystemctl restart docker.service",
                    write_over(&beside("daemon.json"), &there)
                )),
                expect:
                    "The check, where there is one, says \"configuration OK\"; 'docker info' shows the settings."
                        .into(),
                roll_back: format!("{back} && systemctl restart docker.service"),
                interrupts: if lives {
                    "Docker answers nothing for some seconds; its containers go on (live-restore)."
                        .into()
                } else {
                    "All containers that Docker itself runs stop; pods of a containerd of their own do not.".into()
                },
            }],
            simulated: true,
            ..Applied::default()
        })
    }
}
