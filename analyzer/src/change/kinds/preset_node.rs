//! A workload whose template names its node, so that no scheduler places its pods: it selects the node by its label.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::object::Named;
use super::object_patch::ObjectPatch;
use super::objects;
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

const HOST: &str = "kubernetes.io/hostname";
/// Folders of the objects that have a template which can be changed.
const FOLDERS: [(&str, &str); 3] = [
    ("deployments", "Deployment"),
    ("statefulsets", "StatefulSet"),
    ("daemonsets", "DaemonSet"),
];

/// The only captured workload that names its node and asks for a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PresetNode {
    /// What the name of a resource that it asks for begins with, e.g. `nvidia.com/`.
    pub resource: String,
}

impl Kind for PresetNode {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let found = self.workloads(state);
        let [(named, node)] = found.as_slice() else {
            return Err(Refused::new(format!(
                "{} collected workloads name their node and ask for {}, so which one to change is not known",
                found.len(),
                self.resource
            )));
        };
        let object = Named::new("Node", None, node)
            .read(state)
            .unwrap_or_default();
        let label = object["metadata"]["labels"][HOST].as_str().unwrap_or(node);
        let patch = ObjectPatch {
            named: named.clone(),
            how: "merge",
            fields: json!({"spec": {"template": {"spec": {"nodeName": null, "nodeSelector": {HOST: label}}}}}),
            title: format!("Let {named} select node {node} by its label"),
            follows: format!(
                "the scheduler that accounts for {} places the pods of {named}",
                self.resource
            ),
            interrupts: format!("The pods of {named} are replaced."),
        };
        patch.applied(state)
    }
}

impl PresetNode {
    fn workloads(&self, state: &mut Captured) -> Vec<(Named, String)> {
        let mut all = Vec::new();
        for (folder, kind) in FOLDERS {
            let items = objects(state, folder).into_iter();
            all.extend(items.filter_map(|item| self.preset(kind, &item)));
        }
        all
    }

    /// The workload and its node, where it names one and asks for the resource.
    fn preset(&self, kind: &str, item: &Value) -> Option<(Named, String)> {
        let spec = item.pointer("/spec/template/spec")?;
        let node = spec["nodeName"].as_str().filter(|node| !node.is_empty())?;
        let containers = spec["containers"].as_array()?;
        let asks = containers.iter().any(|one| {
            let limits = one["resources"]["limits"].as_object();
            limits.is_some_and(|limits| limits.keys().any(|name| name.starts_with(&self.resource)))
        });
        let named = Named::new(
            kind,
            item["metadata"]["namespace"].as_str(),
            item["metadata"]["name"].as_str()?,
        );
        asks.then(|| (named, node.to_owned()))
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<Value> {
    let of = |resource: &str| json!({"preset-node": {"resource": resource}});
    vec![of("nvidia.com/"), of(trial.bad)]
}
