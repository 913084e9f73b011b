//! A Deployment that stops its old pod before it starts the new one, so that both never need one volume at a time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::object_patch::ObjectPatch;
use super::workload::{owner, pod_of};
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// A pod of the Deployment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recreate {
    /// `NAMESPACE/NAME`, also with `pod/` before it.
    pub pod: String,
}

impl Kind for Recreate {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let pod = pod_of(&self.pod)?;
        let owner = owner(state, &pod)
            .filter(|owner| owner.named.kind == "Deployment")
            .ok_or_else(|| Refused::new(format!("{pod} was not collected as a pod of a Deployment, so no rolling update makes two pods of it")))?;
        let named = owner.named;
        let object = named.read(state).ok_or_else(|| {
            Refused::new(format!(
                "{} holds no {named}, so how it replaces its pods is not known",
                named.entry()
            ))
        })?;
        check(&object).map_err(|why| Refused::new(format!("{named} {why}")))?;
        let patch = ObjectPatch {
            how: "merge",
            fields: json!({"spec": {"strategy": {"type": "Recreate", "rollingUpdate": null}}}),
            title: format!("Let {named} stop its old pod before it starts a new one"),
            follows: format!("{named} ends the pod that has the volume, and the new one gets it"),
            interrupts: format!(
                "What {named} serves, from the end of its old pod until the new one is ready."
            ),
            named: named.clone(),
        };
        let mut applied = patch.applied(state)?;
        applied.costs.push(format!(
            "{named} serves nothing while a new version replaces the old one, at each update"
        ));
        if !owner.above.is_empty() {
            applied.assumes.push(format!(
                "{} is changed in the same way, since it sets {named} back",
                owner.above.join(" and ")
            ));
        }
        Ok(applied)
    }
}

/// Why it is not an update that makes the two pods.
fn check(deployment: &Value) -> Result<(), String> {
    let spec = &deployment["spec"];
    if spec["strategy"]["type"] == "Recreate" {
        return Err("stops its old pods first already".to_owned());
    }
    match spec["replicas"].as_u64() {
        None | Some(0 | 1) => Ok(()),
        Some(replicas) => Err(format!(
            "has {replicas} replicas, which need one volume each or one that several nodes can mount"
        )),
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<Value> {
    vec![json!({"recreate": {"pod": format!("e/{}", trial.bad)}})]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_pod_that_is_updated_by_a_second_one_can_wait_for_itself() {
        assert!(check(&json!({"spec": {"replicas": 1}})).is_ok());
        for (spec, why) in [
            (json!({"replicas": 3}), "3 replicas"),
            (json!({"strategy": {"type": "Recreate"}}), "already"),
        ] {
            assert!(check(&json!({"spec": spec})).unwrap_err().contains(why));
        }
    }
}
