//! A helm release whose objects are made again what its newest revision says, where somebody changed them on the cluster.

use casefile_bundle::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::helm_values::{check_names, is_at, release};
use crate::change::captured::Captured;
use crate::change::shell::{Line, Script, Test, Word};
use crate::change::{Act, Action, Applied, Back, Guard, Kind, Refused, RunsOn};

/// A release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HelmAgain {
    /// Namespace of the release.
    pub namespace: String,
    /// Release.
    pub release: String,
}

impl Kind for HelmAgain {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let (namespace, name) = (&self.namespace, &self.release);
        check_names(&[namespace, name])?;
        let path = Entry::Helm(namespace, name, "release.json").path();
        let release_json: Value = state
            .before(&path)
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default();
        let revision = release_json["revision"].as_u64().ok_or_else(|| {
            Refused::new(format!(
                "{path} names no revision of {namespace}/{name}, so which one counts is not known"
            ))
        })?;
        if release_json["status"] != "deployed" {
            return Err(Refused::new(format!(
                "revision {revision} of {namespace}/{name} is {}, so it is no state to return to",
                release_json["status"]
                    .as_str()
                    .unwrap_or("of unknown status")
            )));
        }
        Ok(self.told(revision))
    }
}

impl HelmAgain {
    /// A rollback to the newest revision: helm compares each object with what runs, and needs no chart for it.
    fn told(&self, revision: u64) -> Applied {
        let (namespace, name) = (&self.namespace, &self.release);
        let helm = |verb: &[&'static str]| release(namespace, name, verb);
        let again = || helm(&["rollback"]).text(revision.to_string());
        let manifest = Line::Save(
            helm(&["get", "manifest"]).into(),
            Word::saved("manifest.yaml"),
        );
        let action = Action {
            text: format!(
                "Apply revision {revision} of the release once more, so that its objects are what its values say."
            ),
            place: RunsOn::Cluster,
            guard: Some(Guard {
                test: Test::Succeeds(is_at(namespace, name, revision)),
                says: format!(
                    "release {namespace}/{name} is still at revision {revision}, or was rolled back to it"
                ),
            }),
            dry_run: Script::from(helm(&["history"])).run(again().word("--dry-run")),
            backup: Vec::new(),
            act: Act::Script(Script::from(manifest).run(again())),
            expect: format!("'helm get manifest {name} -n {namespace}' and the objects agree."),
            back: Back::Hands(
                "Make the change on the cluster again; the bundle shows what was there.".into(),
            ),
            interrupts: "The pods whose template changes are replaced.".into(),
        };
        Applied {
            title: format!("Apply helm release {namespace}/{name} once more"),
            actions: vec![action],
            runtime: vec![format!(
                "helm makes the objects of {namespace}/{name} again what revision {revision} says; only the cluster shows whether they then run"
            )],
            costs: vec![format!(
                "what was changed on objects of {namespace}/{name} beside helm is lost"
            )],
            ..Applied::default()
        }
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<Value> {
    let of =
        |release: &str| serde_json::json!({"helm-again": {"namespace": "a", "release": release}});
    vec![of("r"), of(trial.bad)]
}
