//! Attachments of a volume to nodes that are no more.

use casefile_bundle::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::kube_object::KubeObject;
use super::to_yaml;
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

const LIST: Entry = Entry::List("volumeattachments");
const NODES: Entry = Entry::List("nodes");

/// A volume whose stale attachment goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VolumeAttachment {
    /// Persistent volume.
    pub volume: String,
}

impl Kind for VolumeAttachment {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let nodes = items(state, &NODES.path())?;
        let there: Vec<&str> = nodes
            .iter()
            .filter_map(|node| node["metadata"]["name"].as_str())
            .collect();
        let attachments = items(state, &LIST.path())?;
        let of_volume = attachments
            .iter()
            .filter(|one| one["spec"]["source"]["persistentVolumeName"] == self.volume.as_str());
        let stale = of_volume
            .filter_map(|one| {
                Some((
                    one["metadata"]["name"].as_str()?,
                    one["spec"]["nodeName"].as_str()?,
                ))
            })
            .find(|(_, node)| !there.contains(node));
        let Some((name, node)) = stale else {
            return Err(Refused::new(format!(
                "{LIST} attaches {} to no node that is missing from {NODES}",
                self.volume
            )));
        };
        let manifest = to_yaml(
            &serde_json::json!({"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": name}}),
        )?;
        let mut applied = KubeObject {
            manifest,
            patch: false,
            remove: true,
        }
        .apply(state)?;
        applied.assumes.push(format!("node {node} is switched off and does not write to {} any more: a volume that two nodes write to is corrupted", self.volume));
        applied.costs.push(format!(
            "if {node} still writes to {}, the volume is corrupted",
            self.volume
        ));
        if let Some(action) = applied.actions.first_mut() {
            action.text = format!(
                "Make sure that {node} is switched off or wiped, then delete VolumeAttachment {name}."
            );
            action.interrupts = format!(
                "The volume is corrupted if {node} still writes to it; nothing is interrupted if {node} is switched off."
            );
        }
        Ok(applied)
    }
}

fn items(state: &mut Captured, path: &str) -> Result<Vec<Value>, Refused> {
    let text = state
        .now(path)
        .ok_or_else(|| Refused::new(format!("{path} is not in the bundle")))?;
    let list: Value =
        serde_json::from_str(&text).map_err(|error| Refused::new(format!("{path}: {error}")))?;
    Ok(list["items"].as_array().cloned().unwrap_or_default())
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    vec![serde_json::json!({"volume-attachment": {"volume": trial.bad}})]
}
