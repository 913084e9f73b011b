//! A drop-in that replaces containerd's whole CRI section, filled up with what it takes away.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::host_file::HostFile;
use super::toml_text::fill_toml;
use super::toolkit_writes::copied_section;
use super::{copies, entry};
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// A drop-in of a containerd 1.x, and the root file that imports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContainerdSection {
    /// Node.
    pub node: String,
    /// Drop-in.
    pub path: String,
    /// Unit to restart after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<String>,
}

impl Kind for ContainerdSection {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let (path, text) = self.root(state)?;
        let section = copied_section(&text);
        if section.is_empty() {
            return Err(Refused::new(format!("{path} has no CRI section to copy")));
        }
        let before = state
            .now(&entry(&self.node, &self.path))
            .unwrap_or_default();
        let file = HostFile {
            node: self.node.clone(),
            path: self.path.clone(),
            content: Some(fill_toml(&self.path, &before, &section)?),
            restart: self.restart.clone(),
            ..HostFile::default()
        };
        let mut applied = file.apply(state)?;
        applied.title = format!("Repeat the CRI section of {path} in {}", self.path);
        applied.assumes.push(format!(
            "what wrote {} does not write it again without the section; where that is the NVIDIA toolkit, a release that copies it is needed", self.path
        ));
        Ok(applied)
    }
}

impl ContainerdSection {
    /// The root file whose imports match the drop-in, with its text.
    fn root(&self, state: &mut Captured) -> Result<(String, String), Refused> {
        let prefix = copies(&self.node);
        let files: Vec<String> = state
            .paths()
            .filter_map(|path| path.strip_prefix(prefix.as_str()))
            .filter(|path| path.ends_with(".toml") && *path != self.path)
            .map(str::to_owned)
            .collect();
        for path in files {
            let text = state.now(&entry(&self.node, &path)).unwrap_or_default();
            if imports(&text).iter().any(|glob| glob.is_match(&self.path)) {
                return Ok((path, text));
            }
        }
        Err(Refused::new(format!(
            "no collected file of node {} imports {}",
            self.node, self.path
        )))
    }
}

fn imports(text: &str) -> Vec<globset::GlobMatcher> {
    let document: toml::Table = toml::from_str(text).unwrap_or_default();
    let patterns = document.get("imports").and_then(toml::Value::as_array);
    patterns
        .into_iter()
        .flatten()
        .filter_map(|one| Some(globset::Glob::new(one.as_str()?).ok()?.compile_matcher()))
        .collect()
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    let path = format!("/etc/containerd/{}", trial.segment);
    vec![serde_json::json!({"containerd-section": {"node": trial.node, "path": path}})]
}
