//! A pod that is deleted, so that its controller makes a new one: no replay can show what that one does.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::object::Named;
use super::workload::pod_of;
use crate::change::captured::Captured;
use crate::change::shell::{Script, Test, Word};
use crate::change::{Act, Action, Applied, Back, Guard, Kind, Refused, RunsOn};

/// Controllers that make another pod for one that is gone; a Job does not for each that ended.
const MAKERS: [&str; 4] = [
    "DaemonSet",
    "ReplicaSet",
    "ReplicationController",
    "StatefulSet",
];

/// A pod that shall be made anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PodRestart {
    /// `NAMESPACE/NAME`, also with `pod/` before it.
    pub pod: String,
}

impl Kind for PodRestart {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let named = pod_of(&self.pod)?;
        named.check()?;
        let object = named.read(state).ok_or_else(|| {
            let list = named.entry();
            Refused::new(format!(
                "{named} is not in {list}, so nobody knows what would make it anew"
            ))
        })?;
        let maker = maker(&object).ok_or_else(|| {
            Refused::new(format!("{named} has no controller that would make it anew"))
        })?;
        let uid = object["metadata"]["uid"].as_str();
        let uid =
            uid.ok_or_else(|| Refused::new(format!("{named} was collected without its uid")))?;
        let action = Action {
            guard: Some(Guard {
                test: Test::Prints(named.field("{.metadata.uid}").into(), Word::text(uid)),
                says: format!("{named} is still the pod that was captured"),
            }),
            ..action(&named, &maker)
        };
        Ok(Applied {
            title: format!("Restart {named}"),
            actions: vec![action],
            runtime: vec![format!(
                "{named} is made anew; only the cluster shows whether the new one works"
            )],
            ..Applied::default()
        })
    }
}

/// The step that deletes a pod which something makes anew, whichever pod of that name there is.
pub(super) fn action(named: &Named, maker: &str) -> Action {
    let delete = || named.kubectl(&["delete"]);
    Action {
        text: format!("Delete {named}; {maker} makes a new one."),
        place: RunsOn::Cluster,
        guard: None,
        dry_run: delete().word("--dry-run=server").into(),
        backup: Vec::new(),
        act: Act::Script(delete().into()),
        expect: format!("The pod that {maker} makes is Running."),
        // The new pod is what the old one was to be.
        back: Back::Script(Script::default()),
        interrupts: format!("What {named} serves, until the new pod runs."),
    }
}

/// What makes the pod, as people call it.
fn maker(pod: &Value) -> Option<String> {
    let owners = pod["metadata"]["ownerReferences"].as_array()?;
    let own = owners.iter().find(|one| one["controller"] == true)?;
    let kind = own["kind"].as_str().filter(|kind| MAKERS.contains(kind))?;
    Some(format!("{kind} {}", own["name"].as_str()?))
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    vec![serde_json::json!({"pod-restart": {"pod": format!("a/{}", trial.bad)}})]
}
