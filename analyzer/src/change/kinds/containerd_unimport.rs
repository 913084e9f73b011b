//! Folders of another program that a containerd's root file imports, and shall not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::entry;
use super::host_file::HostFile;
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// A root file, and the folder below which nothing of its own lies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContainerdUnimport {
    /// Node.
    pub node: String,
    /// Root file of the containerd.
    pub path: String,
    /// The other's folder.
    pub folder: String,
    /// Unit to restart after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<String>,
}

impl Kind for ContainerdUnimport {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        if below(&self.path, &self.folder) {
            return Err(Refused::new(format!(
                "{} lies in {} itself, so what it imports there is its own",
                self.path, self.folder
            )));
        }
        let Some(root) = state.now(&entry(&self.node, &self.path)) else {
            return Err(Refused::new(format!("{} is not in the bundle", self.path)));
        };
        let (line, gone) = without(&root, &self.folder).ok_or_else(|| {
            Refused::new(format!("{} imports nothing of {}", self.path, self.folder))
        })?;
        let file = HostFile {
            node: self.node.clone(),
            path: self.path.clone(),
            merge_toml: Some(line),
            restart: self.restart.clone(),
            ..HostFile::default()
        };
        let mut applied = file.apply(state)?;
        let gone = gone.join(", ");
        applied.costs.push(format!(
            "the containerd of {} on {} no longer reads {gone}: what it needs of there goes into its own folder",
            self.path, self.node
        ));
        Ok(applied)
    }
}

/// Whether a path or pattern lies below a folder.
fn below(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.starts_with('/'))
}

/// The imports of a root file without those below a folder, and those; none where there are none.
fn without(root: &str, folder: &str) -> Option<(String, Vec<String>)> {
    let document: toml::Table = toml::from_str(root).ok()?;
    let all = document.get("imports")?.as_array()?.iter();
    let (gone, kept): (Vec<_>, Vec<_>) = all
        .cloned()
        .partition(|one| one.as_str().is_some_and(|one| below(one, folder)));
    let gone: Vec<String> = gone
        .iter()
        .filter_map(|one| one.as_str().map(str::to_owned))
        .collect();
    (!gone.is_empty()).then(|| (format!("imports = {}\n", toml::Value::Array(kept)), gone))
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    let path = format!("/etc/containerd/{}", trial.segment);
    vec![
        serde_json::json!({"containerd-unimport": {"node": trial.node, "path": path, "folder": format!("/opt/{}", trial.segment)}}),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_in_the_others_folder_goes() {
        let root =
            "imports = [\"/etc/containerd/conf.d/*.toml\", \"/etc/containerd-own/*.toml\"]\n";
        let (line, gone) = without(root, "/etc/containerd").unwrap();
        assert_eq!(line, "imports = [\"/etc/containerd-own/*.toml\"]\n");
        assert_eq!(gone, ["/etc/containerd/conf.d/*.toml"]);
        assert!(without(root, "/etc/other").is_none());
        assert!(without("version = 2\n", "/etc/containerd").is_none());
    }
}
