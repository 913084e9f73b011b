//! A folder of drop-ins that a containerd's root file shall import.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::entry;
use super::host_file::HostFile;
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// A root file, and a drop-in that it does not import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContainerdImport {
    /// Node.
    pub node: String,
    /// Root file of the containerd.
    pub path: String,
    /// Drop-in whose folder shall be imported.
    pub drop_in: String,
    /// Unit to restart after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<String>,
}

impl Kind for ContainerdImport {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let folder = self
            .drop_in
            .rsplit_once('/')
            .map_or("", |(folder, _)| folder);
        if !folder.starts_with('/') {
            return Err(Refused::new(format!(
                "{:?} is no absolute path",
                self.drop_in
            )));
        }
        let Some(root) = state.now(&entry(&self.node, &self.path)) else {
            return Err(Refused::new(format!("{} is not in the bundle", self.path)));
        };
        let file = HostFile {
            node: self.node.clone(),
            path: self.path.clone(),
            merge_toml: Some(line(&root, &format!("{folder}/*.toml"))),
            restart: self.restart.clone(),
            ..HostFile::default()
        };
        file.apply(state)
    }
}

/// The line that adds a pattern to the imports of a root file.
pub(super) fn line(root: &str, pattern: &str) -> String {
    let document: toml::Table = toml::from_str(root).unwrap_or_default();
    let known = document.get("imports").and_then(toml::Value::as_array);
    let mut all: Vec<toml::Value> = known.cloned().unwrap_or_default();
    let pattern = toml::Value::String(pattern.to_owned());
    if !all.contains(&pattern) {
        all.push(pattern);
    }
    format!("imports = {}\n", toml::Value::Array(all))
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    let drop_in = format!("/etc/containerd/{}/x.toml", trial.segment);
    vec![
        serde_json::json!({"containerd-import": {"node": trial.node, "path": "/etc/containerd/config.toml", "drop_in": drop_in}}),
    ]
}
