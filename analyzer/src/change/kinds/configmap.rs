//! A key of a configmap.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::kube_object::put_back;
use super::object::Named;
use super::to_yaml;
use crate::change::captured::Captured;
use crate::change::shell::{Line, Program, Script, Test, Word, run};
use crate::change::{Act, Action, Applied, Back, Guard, HandOver, Kind, Refused, RunsOn};

/// A configmap, and what one of its keys shall hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigMap {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Key under `data`.
    pub key: String,
    /// Text to look for; the whole value is replaced if it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub find: Option<String>,
    /// What stands there instead.
    pub replace: String,
    /// Workload to restart after it, e.g. `deployment/coredns`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<String>,
}

impl Kind for ConfigMap {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let named = Named::new("ConfigMap", Some(&self.namespace), &self.name);
        if let Some(one) = self.restart.as_ref().filter(|one| one.starts_with('-')) {
            return Err(Refused::new(format!("{one:?} is no workload to restart")));
        }
        if state.is_redacted(&named.entry())
            && state.before(casefile_bundle::MANIFEST_PATH).is_some()
        {
            return Err(Refused::new(format!(
                "secrets were taken out of {}, so the changed text would not be the cluster's own",
                named.entry()
            )));
        }
        let (mut after, mut version) = (String::new(), None);
        named.edit(state, |item| {
            version = item
                .pointer("/metadata/resourceVersion")
                .and_then(Value::as_str)
                .map(str::to_owned);
            let before = item["data"][&self.key].as_str().unwrap_or_default();
            after = match &self.find {
                None => self.replace.clone(),
                Some(find) if !find.is_empty() && before.contains(find.as_str()) => {
                    before.replace(find.as_str(), &self.replace)
                }
                Some(find) => {
                    return Err(Refused::new(format!(
                        "key {} of {named} does not hold {find:?}",
                        self.key
                    )));
                }
            };
            // Without a manifest nothing but the text tells that a secret was taken out of it.
            if ["<redacted:", "<not collected>"].iter().any(|mark| after.contains(mark)) {
                return Err(Refused::new(format!(
                    "secrets were taken out of key {} of {named}, so the changed text would not be the cluster's own",
                    self.key
                )));
            }
            item["data"][&self.key] = after.clone().into();
            Ok(())
        })?;
        self.told(state, &named, &after, version)
    }
}

impl ConfigMap {
    fn told(
        &self,
        state: &mut Captured,
        named: &Named,
        after: &str,
        version: Option<String>,
    ) -> Result<Applied, Refused> {
        let file = state.fresh_name(&format!("{}.yaml", named.file()));
        let patch = || {
            named
                .kubectl(&["patch"])
                .words(&["--type", "merge"])
                .with("--patch-file", Word::beside(&file))
        };
        let restarted = |script: Script| match &self.restart {
            Some(one) => {
                let restart = || {
                    let restart = run(Program::Kubectl).words(&["rollout", "restart"]);
                    restart.text(one).with("-n", Word::text(&self.namespace))
                };
                // kubectl refuses a second one within a second of the first, as on the way back right after a run.
                let again = Script::from(run(Program::Sleep).word("2")).run(restart());
                let refused = Test::Fails(restart().into());
                script.then(Line::If(refused, again, Script::default()))
            }
            None => script,
        };
        let (dry_run, act) = (
            named.differs(patch()),
            Script::from(named.save(&file)).run(patch()),
        );
        let (act, back) = (restarted(act), restarted(put_back(&file)));
        Ok(Applied {
            title: format!("Change key {} of {named}", self.key),
            changed: vec![named.entry()],
            files: vec![HandOver {
                name: file.clone(),
                content: to_yaml(&json!({"data": {&self.key: after}}))?,
                what: "the key as it shall be".into(),
            }],
            actions: vec![Action {
                text: format!("Change key {} of {named}.", self.key),
                place: RunsOn::Cluster,
                guard: version.map(|version| Guard {
                    test: Test::Prints(
                        named.field("{.metadata.resourceVersion}").into(),
                        Word::text(version),
                    ),
                    says: format!("{named} is as it was when the bundle was collected"),
                }),
                dry_run,
                backup: Vec::new(),
                act: Act::Script(act),
                expect: format!(
                    "'kubectl get {} -o yaml' shows it; mounted copies follow within a minute or two.",
                    named.target()
                ),
                back: Back::Script(back),
                interrupts: self.restart.as_ref().map_or_else(
                    || "Nothing; programs that read it once have to be restarted.".into(),
                    |one| format!("The pods of {one} are replaced one after another."),
                ),
            }],
            simulated: true,
            ..Applied::default()
        })
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    let replace = format!("{}2", trial.bad);
    vec![
        json!({"configmap": {"namespace": "a", "name": trial.bad, "key": trial.bad, "replace": replace, "restart": trial.bad}}),
    ]
}
