//! The folder in which a containerd looks for the network's programs, where they lie in another one.

use std::collections::{BTreeMap, BTreeSet};

use casefile_bundle::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::entry;
use super::host_file::HostFile;
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// A program of the network that a containerd did not find.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CniFolder {
    /// Node.
    pub node: String,
    /// Root file of the containerd.
    pub path: String,
    /// Program, e.g. `portmap`.
    pub plugin: String,
    /// Folders in which it was looked for, as the message names them.
    pub searched: String,
    /// Unit to restart after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<String>,
}

impl Kind for CniFolder {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let Some(root) = state.now(&entry(&self.node, &self.path)) else {
            return Err(Refused::new(format!("{} is not in the bundle", self.path)));
        };
        let programs = programs(state, &self.node)?;
        let folder = self.folder(&programs)?;
        let file = HostFile {
            node: self.node.clone(),
            path: self.path.clone(),
            merge_toml: Some(self.setting(&root, &folder)?),
            restart: self.restart.clone(),
            ..HostFile::default()
        };
        let mut applied = file.apply(state)?;
        applied.costs.push(format!(
            "the containerd of {} takes the network's programs from {folder}; whoever installs others into {} has to use that folder",
            self.node, self.searched
        ));
        Ok(applied.only_there(format!(
            "containerd on {} sets up pods with the programs of {folder}; only the node shows whether it does",
            self.node
        )))
    }
}

impl CniFolder {
    /// The one folder that has the program, and all that the folder before had.
    fn folder(&self, programs: &BTreeMap<String, BTreeSet<String>>) -> Result<String, Refused> {
        let searched: Vec<&str> = self.searched.split([' ', ',', ':']).collect();
        let has: Vec<&String> = programs
            .iter()
            .filter(|(_, own)| own.contains(&self.plugin))
            .map(|(folder, _)| folder)
            .collect();
        if let Some(folder) = has.iter().find(|one| searched.contains(&one.as_str())) {
            return Err(Refused::new(format!(
                "{} lies in {folder} by now, where it was looked for",
                self.plugin
            )));
        }
        let [folder] = has.as_slice() else {
            return Err(Refused::new(format!(
                "{} lies in {} of the folders that were looked at on {}, so which one is meant is not known",
                self.plugin,
                has.len(),
                self.node
            )));
        };
        let lost = searched.iter().filter_map(|one| programs.get(*one));
        let lost = lost.flatten().find(|one| !programs[*folder].contains(*one));
        match lost {
            Some(one) => Err(Refused::new(format!(
                "{folder} has {} and lacks {one}, which lies in {}: neither folder has all of them",
                self.plugin, self.searched
            ))),
            None => Ok((*folder).clone()),
        }
    }

    /// The setting in the schema of the file; a list where the file has one.
    fn setting(&self, root: &str, folder: &str) -> Result<String, Refused> {
        let document: toml::Table = toml::from_str(root).map_err(|error| {
            Refused::new(format!("{} does not parse as TOML: {error}", self.path))
        })?;
        let plugin = match document.get("version").and_then(toml::Value::as_integer) {
            Some(3..) => "io.containerd.cri.v1.runtime",
            Some(2) => "io.containerd.grpc.v1.cri",
            _ => {
                return Err(Refused::new(format!(
                    "{} names no version of its schema, so where the setting belongs is not known",
                    self.path
                )));
            }
        };
        let cni = document
            .get("plugins")
            .and_then(|all| all.get(plugin)?.get("cni"));
        let folder = toml::Value::String(folder.to_owned());
        let line = match cni.and_then(|cni| cni.get("bin_dirs")) {
            Some(_) => format!("bin_dirs = [{folder}]"),
            None => format!("bin_dir = {folder}"),
        };
        Ok(format!("[plugins.\"{plugin}\".cni]\n{line}\n"))
    }
}

/// The network's programs that were found on a node, by folder.
fn programs(
    state: &mut Captured,
    node: &str,
) -> Result<BTreeMap<String, BTreeSet<String>>, Refused> {
    let path = Entry::Node(node, "host/binaries.json").path();
    let list: Option<Value> = state
        .now(&path)
        .and_then(|text| serde_json::from_str(&text).ok());
    let list = list.ok_or_else(|| {
        Refused::new(format!(
            "{path} is not in the bundle, so where the network's programs lie is not known"
        ))
    })?;
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for one in list["binaries"].as_array().into_iter().flatten() {
        let found = one["exists"] == true && one["executable"] != false;
        let path = one["path"].as_str().filter(|_| found);
        if let Some((folder, name)) = path.and_then(|path| path.rsplit_once('/'))
            && folder.split('/').any(|part| part == "cni")
        {
            all.entry(folder.to_owned())
                .or_default()
                .insert(name.to_owned());
        }
    }
    Ok(all)
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<Value> {
    vec![
        serde_json::json!({"cni-folder": {"node": trial.node, "path": "/etc/containerd/config.toml", "plugin": trial.segment, "searched": trial.bad}}),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(searched: &str) -> CniFolder {
        CniFolder {
            node: "n1".into(),
            path: "/etc/containerd/config.toml".into(),
            plugin: "portmap".into(),
            searched: searched.into(),
            restart: None,
        }
    }

    fn there(all: &[(&str, &[&str])]) -> BTreeMap<String, BTreeSet<String>> {
        let of = |(folder, own): &(&str, &[&str])| {
            let own = own.iter().map(|one| (*one).to_owned()).collect();
            ((*folder).to_owned(), own)
        };
        all.iter().map(of).collect()
    }

    #[test]
    fn the_one_folder_with_all_programs_is_taken() {
        let (old, new) = ("/opt/cni/bin", "/usr/lib/cni");
        let own = of(old);
        let folder = |all: &[(&str, &[&str])]| own.folder(&there(all)).map_err(|one| one.why);
        assert_eq!(
            folder(&[(new, &["portmap", "bridge"]), (old, &["bridge"])]).as_deref(),
            Ok(new)
        );
        let calico = folder(&[(new, &["portmap"]), (old, &["calico"])]);
        assert!(calico.unwrap_err().contains("lacks calico"));
        assert!(
            folder(&[(old, &["portmap"])])
                .unwrap_err()
                .contains("by now")
        );
        assert!(folder(&[]).unwrap_err().contains("0 of the folders"));
    }

    #[test]
    fn the_setting_is_the_one_of_the_files_schema() {
        let own = of("/opt/cni/bin");
        let of = |root: &str| own.setting(root, "/a").unwrap();
        assert!(of("version = 2\n").contains("grpc.v1.cri\".cni]\nbin_dir = \"/a\""));
        let three =
            "version = 3\n[plugins.\"io.containerd.cri.v1.runtime\".cni]\nbin_dirs = [\"/b\"]\n";
        assert!(of(three).contains("bin_dirs = [\"/a\"]"));
        assert!(own.setting("a = 1\n", "/a").is_err());
    }
}
