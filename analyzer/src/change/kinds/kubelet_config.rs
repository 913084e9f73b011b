//! A setting of the kubelet's configuration file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::host_file::HostFile;
use super::object::Named;
use super::sets;
use super::{entry, first_collected, yaml, yaml_edit};
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// The unit that reads them, where a change names no other.
pub(super) const UNIT: &str = "kubelet.service";
const FILES: [&str; 3] = [
    "/var/lib/kubelet/config.yaml",
    "/etc/kubernetes/kubelet-config.yaml",
    "/etc/kubernetes/kubelet/kubelet-config.json",
];

/// Settings of a node's kubelet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KubeletConfig {
    /// Node; the only one of the bundle if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The file; the first usual one that was collected if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// YAML of the settings, named as in KubeletConfiguration.
    pub set: String,
    /// Unit to restart after it; `kubelet.service` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

impl Kind for KubeletConfig {
    fn sets(&self) -> Vec<(String, String)> {
        sets::leaves(&self.set, "the kubelet's ")
    }

    fn node(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.node)
    }

    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let delta = yaml("the settings", &self.set)?;
        let Value::Object(settings) = &delta else {
            return Err(Refused::new("the settings are no map"));
        };
        let node = super::node(self.node.as_deref(), state)?;
        let path = first_collected(state, &node, self.path.as_deref(), &FILES)?;
        let before = state.now(&entry(&node, &path)).unwrap_or_default();
        let edited = yaml_edit::set(&path, &before, &delta)?;
        let file = HostFile {
            node: node.clone(),
            path: path.clone(),
            content: Some(edited.text),
            restart: self.unit.clone().or(Some(UNIT.to_owned())),
            ..HostFile::default()
        };
        let mut applied = file.apply(state)?;
        if !edited.kept_comments {
            applied.assumes.push(format!("the comments of {path} are not needed: a nested setting is changed, and the file is written anew"));
        }
        if let Some(file) = settings.get("resolvConf").and_then(Value::as_str) {
            follow_resolver(state, &node, file, &mut applied);
        }
        if let Some(pods) = settings.get("maxPods").and_then(Value::as_u64) {
            follow_pods(state, &node, pods, &mut applied)?;
        }
        Ok(applied)
    }
}

/// Pods get the servers of that file. Where it was not collected, the stub's is known all the same: it names
/// systemd-resolved itself (systemd-resolved.service(8)). Of any other nothing is known.
pub(super) fn follow_resolver(state: &mut Captured, node: &str, file: &str, applied: &mut Applied) {
    const STUB: &str = "/run/systemd/resolve/stub-resolv.conf";
    let captured = entry(node, file);
    if state.now(&captured).is_some() {
        return;
    }
    if file == STUB {
        state.set(&captured, "nameserver 127.0.0.53\n".into());
    } else {
        applied.assumes.push(format!(
            "{file} is there on {node} and names servers that pods can reach; the bundle does not hold it"
        ));
    }
}

/// The kubelet reports its limit as the node's capacity. A bundle of the node alone does not hold that.
fn follow_pods(
    state: &mut Captured,
    node: &str,
    pods: u64,
    applied: &mut Applied,
) -> Result<(), Refused> {
    let named = Named::new("Node", None, node);
    if state.now(&named.entry()).is_none() {
        applied.assumes.push(format!(
            "the kubelet of {node} then reports a capacity of {pods} pods; the bundle does not hold its Node"
        ));
        return Ok(());
    }
    named.edit(state, |item| {
        for list in ["capacity", "allocatable"] {
            item["status"][list]["pods"] = pods.to_string().into();
        }
        Ok(())
    })?;
    applied.changed.push(named.entry());
    Ok(())
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    vec![
        serde_json::json!({"kubelet-config": {"set": serde_json::json!({"clusterDomain": trial.bad}).to_string()}}),
    ]
}
