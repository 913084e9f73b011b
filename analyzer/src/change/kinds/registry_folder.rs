//! The settings of a registry that lie in a folder of another name than the one containerd looks into, put there.

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::host_file::HostFile;
use super::{copies, entry};
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

const FOLDER: &str = "/etc/containerd/certs.d/";
const FILE: &str = "/hosts.toml";

/// A node, and the words of a pull that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegistryFolder {
    /// Node; the only one of the bundle if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// A text with the address that was asked, `https://REGISTRY:PORT/v2/`.
    pub sentence: String,
}

impl Kind for RegistryFolder {
    fn node(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.node)
    }

    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let node = super::node(self.node.as_deref(), state)?;
        let registry = asked(&self.sentence)
            .ok_or_else(|| Refused::new("the message names no address of a registry"))?;
        let wanted = format!("{FOLDER}{registry}{FILE}");
        if state.now(&entry(&node, &wanted)).is_some() {
            return Err(Refused::new(format!(
                "{wanted} is there on {node}, so containerd reads it; what it lacks is known at the site only"
            )));
        }
        let host = registry.split(':').next().unwrap_or_default();
        let prefix = copies(&node);
        let others: Vec<String> = state
            .paths()
            .filter_map(|path| {
                path.strip_prefix(prefix.as_str())?
                    .strip_prefix(FOLDER)?
                    .strip_suffix(FILE)
            })
            .filter(|name| name.split(':').next() == Some(host))
            .map(str::to_owned)
            .collect();
        let [other] = others.as_slice() else {
            return Err(Refused::new(format!(
                "{} folders of {node} have settings of {host} under another name, so which one was meant for {registry} is not known",
                others.len()
            )));
        };
        let path = format!("{FOLDER}{other}{FILE}");
        let captured = entry(&node, &path);
        if let Some(why) = state.altered(&captured) {
            return Err(Refused::new(format!(
                "{path} on {node} is not copied by a script: {why}. A person copies it on the node"
            )));
        }
        let file = HostFile {
            node: node.clone(),
            path: wanted,
            content: Some(state.now(&captured).unwrap_or_default()),
            ..HostFile::default()
        };
        let mut applied = file.apply(state)?;
        applied.title = format!("Give {registry} on {node} the settings that {path} has");
        Ok(applied.only_there(format!(
            "containerd on {node} reads {FOLDER}{registry} at the next pull, where config_path names {FOLDER}; only the node shows whether the certificate then fits"
        )))
    }
}

/// The registry, with its port where one was asked for.
fn asked(sentence: &str) -> Option<String> {
    let address = Regex::new(r"https?://([A-Za-z0-9][A-Za-z0-9.-]*(?::\d{1,5})?)/v2/").ok()?;
    Some(address.captures(sentence)?[1].to_owned())
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    let of = |sentence: String| serde_json::json!({"registry-folder": {"node": trial.node, "sentence": sentence}});
    vec![
        of("Head \"https://r.example:5000/v2/a\": x509".to_owned()),
        of(trial.bad.to_owned()),
    ]
}
