//! A claim that a pod has filled, enlarged where its class allows it.

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::object::Named;
use super::object_patch::ObjectPatch;
use super::pod_spec::plain;
use super::raised_limit::doubled;
use super::workload::{pod_of, spec};
use crate::change::captured::Captured;
use crate::change::shell::{Line, Test, Word};
use crate::change::{Applied, Back, Kind, Refused};

/// A container, and what it said when there was no room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimSize {
    /// `NAMESPACE/NAME` of the pod, also with `pod/` before it.
    pub pod: String,
    /// Container.
    pub container: String,
    /// Its last words, which may name the path.
    pub words: String,
}

impl Kind for ClaimSize {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let pod = pod_of(&self.pod)?;
        let spec = spec(state, &self.pod)?;
        let claim = self.claim(&spec)?;
        let named = Named::new("PersistentVolumeClaim", pod.namespace.as_deref(), &claim);
        let object = named
            .read(state)
            .ok_or_else(|| Refused::new(format!("{} holds no {named}", named.entry())))?;
        expandable(state, &object).map_err(|why| Refused::new(format!("{named} {why}")))?;
        let was = plain(&object["spec"]["resources"]["requests"]["storage"]);
        let now = doubled(&was)?;
        let patch = ObjectPatch {
            how: "merge",
            fields: json!({"spec": {"resources": {"requests": {"storage": now}}}}),
            title: format!("Enlarge {named} from {was} to {now}"),
            follows: format!(
                "the storage behind {named} grows, and {} starts with room",
                self.pod
            ),
            interrupts: "Nothing, where the storage grows while it is in use; else the pod is made anew by hand.".into(),
            named: named.clone(),
        };
        let mut applied = patch.applied(state)?;
        // The API server refuses a smaller size, so the saved object cannot be put back.
        let asks = || named.field("{.spec.resources.requests.storage}");
        for action in &mut applied.actions {
            let is_as_before = Test::Prints(asks().into(), Word::text(&was));
            let stays = "it stays as large as it is: a claim cannot shrink, and its data would have to move to a smaller one";
            action.back = Back::Script(
                Line::If(
                    is_as_before,
                    Line::Say("nothing was changed").into(),
                    Line::Say(stays).into(),
                )
                .into(),
            );
        }
        applied.costs.push(format!(
            "{named} takes {now} of its storage instead of {was} for good, since a claim cannot shrink"
        ));
        Ok(applied)
    }
}

impl ClaimSize {
    /// The claim that the container mounts above the path of its words, or its only one.
    fn claim(&self, spec: &Value) -> Result<String, Refused> {
        let containers = spec["containers"].as_array().into_iter().flatten();
        let own = containers
            .into_iter()
            .find(|one| one["name"] == self.container.as_str());
        let mounts = own.map(|one| &one["volumeMounts"]);
        let mounts = mounts.and_then(Value::as_array).into_iter().flatten();
        let mut all: Vec<(&str, &str)> = mounts
            .filter_map(|mount| {
                let path = mount["mountPath"].as_str()?;
                Some((path, claim_of(spec, mount["name"].as_str()?).unwrap_or("")))
            })
            .collect();
        // The longest folder is the one that holds a path.
        all.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        let named = paths(&self.words);
        let held = named.iter().find_map(|path| {
            let below = |mount: &&(&str, &str)| is_below(path, mount.0);
            all.iter().find(below).map(|(_, claim)| *claim)
        });
        let all: Vec<&str> = all
            .iter()
            .map(|(_, claim)| *claim)
            .filter(|one| !one.is_empty())
            .collect();
        match (held, named.is_empty(), all.as_slice()) {
            (Some(""), ..) => Err(Refused::new(format!(
                "what is full is no claim of {}, but a volume on its node's disk or in memory",
                self.pod
            ))),
            (Some(claim), ..) => Ok(claim.to_owned()),
            (None, true, [claim]) => Ok((*claim).to_owned()),
            (None, false, _) => Err(Refused::new(format!(
                "what is full lies in no volume of {}, so it is the node's disk",
                self.pod
            ))),
            (None, true, all) => Err(Refused::new(format!(
                "container {:?} of {} mounts {} claims and its words name no path, so which one is full is not known",
                self.container,
                self.pod,
                all.len()
            ))),
        }
    }
}

fn claim_of<'a>(spec: &'a Value, volume: &str) -> Option<&'a str> {
    let volumes = spec["volumes"].as_array()?;
    let own = volumes.iter().find(|one| one["name"] == volume)?;
    own["persistentVolumeClaim"]["claimName"].as_str()
}

fn is_below(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The absolute paths that a text names.
fn paths(words: &str) -> Vec<String> {
    let Ok(path) = Regex::new(r#"(?:^|[\s'"`(=:])(/[A-Za-z0-9._@+-]+(?:/[A-Za-z0-9._@+-]+)*)"#)
    else {
        return Vec::new();
    };
    path.captures_iter(words)
        .map(|found| found[1].to_owned())
        .collect()
}

/// Why the claim cannot grow.
fn expandable(state: &mut Captured, claim: &Value) -> Result<(), String> {
    let class = claim["spec"]["storageClassName"]
        .as_str()
        .unwrap_or_default();
    let object = Named::new("StorageClass", None, class).read(state);
    match object.map(|class| class["allowVolumeExpansion"] == true) {
        Some(true) => Ok(()),
        Some(false) => Err(format!(
            "has the class {class:?}, which lets no claim grow (allowVolumeExpansion)"
        )),
        None => Err(format!(
            "has the class {class:?}, which was not collected, so whether it can grow is not known"
        )),
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<Value> {
    vec![
        json!({"claim-size": {"pod": format!("g/{}", trial.bad), "container": trial.bad, "words": format!("No space: /data/{}", trial.segment)}}),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(words: &str) -> Result<String, String> {
        let spec = json!({
            "volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}},
                {"name": "t", "emptyDir": {}}, {"name": "w", "persistentVolumeClaim": {"claimName": "wal"}}],
            "containers": [{"name": "db", "volumeMounts": [
                {"name": "d", "mountPath": "/data"}, {"name": "w", "mountPath": "/data/wal/"}, {"name": "t", "mountPath": "/tmp"}]}],
        });
        let own = ClaimSize {
            pod: "a/b".into(),
            container: "db".into(),
            words: words.into(),
        };
        own.claim(&spec).map_err(|refused| refused.why)
    }

    #[test]
    fn the_full_claim_is_the_one_that_holds_the_path() {
        assert_eq!(claim("write /data/base/1: No space").as_deref(), Ok("data"));
        assert_eq!(claim("write '/data/wal/7': No space").as_deref(), Ok("wal"));
        assert!(
            claim("write /tmp/x: No space")
                .unwrap_err()
                .contains("no claim")
        );
        assert!(
            claim("write /var/x: No space")
                .unwrap_err()
                .contains("node's disk")
        );
        assert!(claim("No space left").unwrap_err().contains("2 claims"));
    }
}
