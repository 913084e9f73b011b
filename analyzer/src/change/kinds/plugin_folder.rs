//! The folder of the node that a device plugin mounts, made the one in which the kubelet keeps its sockets.

use casefile_bundle::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::object::Named;
use super::object_patch::ObjectPatch;
use super::objects;
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// Where the kubelet keeps everything, unless it is told otherwise; no file can say it.
const ROOT: &str = "/var/lib/kubelet";
const FOLDER: &str = "/device-plugins";

/// A node whose kubelet and plugin use two folders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PluginFolder {
    /// Node; the only one of the bundle if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}

impl Kind for PluginFolder {
    fn node(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.node)
    }

    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let node = super::node(self.node.as_deref(), state)?;
        let wanted = root_of_kubelet(state, &node)? + FOLDER;
        let mut found = mounts(state);
        found.retain(|(_, _, path)| *path != wanted);
        let [(named, volume, path)] = found.as_slice() else {
            return Err(Refused::new(format!(
                "{} collected DaemonSets mount a folder device-plugins other than {wanted} of {node}, so which one to change is not known",
                found.len()
            )));
        };
        let volumes = json!([{"name": volume, "hostPath": {"path": wanted}}]);
        let patch = ObjectPatch {
            named: named.clone(),
            how: "strategic",
            fields: json!({"spec": {"template": {"spec": {"volumes": volumes}}}}),
            title: format!("Let {named} mount {wanted} instead of {path}"),
            follows: format!("the pods of {named} find the kubelet's socket in {wanted}"),
            interrupts: format!(
                "The pods of {named} are replaced one node after another; containers that have a GPU keep it."
            ),
        };
        let mut applied = patch.applied(state)?;
        applied.costs.push(format!(
            "nodes whose kubelet keeps its sockets in {path} lose the plugin of {named}"
        ));
        Ok(applied)
    }
}

/// The kubelet's own folder, by the command line that it was started with.
fn root_of_kubelet(state: &mut Captured, node: &str) -> Result<String, Refused> {
    let path = Entry::Node(node, "processes.json").path();
    let list: Value = state
        .now(&path)
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    let mut processes = list["processes"].as_array().into_iter().flatten();
    let kubelet = processes.find(|process| process["comm"] == "kubelet");
    let kubelet = kubelet.ok_or_else(|| {
        Refused::new(format!(
            "{path} shows no kubelet, so where it keeps its sockets is not known"
        ))
    })?;
    // One in a container sees its folders at other places than the node has them.
    if kubelet["root"].as_str().is_some_and(|root| root != "/") {
        return Err(Refused::new(format!(
            "the kubelet of {node} runs in a container, whose mounts decide where its folder lies on the node"
        )));
    }
    let words = kubelet["cmdline"].as_array().into_iter().flatten();
    let words: Vec<&str> = words.filter_map(Value::as_str).collect();
    let at = words.iter().position(|word| *word == "--root-dir");
    let given = words
        .iter()
        .find_map(|word| word.strip_prefix("--root-dir="));
    let given = given.or_else(|| words.get(at? + 1).copied());
    Ok(given.unwrap_or(ROOT).trim_end_matches('/').to_owned())
}

/// DaemonSets that mount a folder `device-plugins` of the node: the object, the volume and the folder.
fn mounts(state: &mut Captured) -> Vec<(Named, String, String)> {
    let mut all = Vec::new();
    for set in objects(state, "daemonsets") {
        let text = |pointer: &str| set.pointer(pointer).and_then(Value::as_str);
        let (Some(namespace), Some(name)) = (text("/metadata/namespace"), text("/metadata/name"))
        else {
            continue;
        };
        let volumes = set
            .pointer("/spec/template/spec/volumes")
            .and_then(Value::as_array);
        for volume in volumes.into_iter().flatten() {
            let mounted = volume["hostPath"]["path"].as_str();
            let mounted = mounted.map(|path| path.trim_end_matches('/'));
            if let (Some(path), Some(own)) = (
                mounted.filter(|path| path.ends_with(FOLDER)),
                volume["name"].as_str(),
            ) {
                all.push((
                    Named::new("DaemonSet", Some(namespace), name),
                    own.to_owned(),
                    path.to_owned(),
                ));
            }
        }
    }
    all
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<Value> {
    vec![json!({"plugin-folder": {"node": trial.node}})]
}
