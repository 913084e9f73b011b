//! A helm release that goes back to an earlier revision, where its newest one failed or was never finished.

use casefile_bundle::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::helm_values::{check_names, is_at, release};
use crate::change::captured::Captured;
use crate::change::shell::{Line, Script, Test, Word};
use crate::change::{Act, Action, Applied, Back, Guard, Kind, Refused, RunsOn};

/// A release, and the revision whose values and templates it shall have again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HelmRollback {
    /// Namespace of the release.
    pub namespace: String,
    /// Release.
    pub release: String,
    /// Revision, e.g. the last one that was deployed.
    pub revision: String,
}

impl Kind for HelmRollback {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        check_names(&[&self.namespace, &self.release])?;
        let path = Entry::Helm(&self.namespace, &self.release, "history.json").path();
        let text = state.now(&path).ok_or_else(|| {
            Refused::new(format!(
                "{path} is not in the bundle, so the revisions of {}/{} are not known",
                self.namespace, self.release
            ))
        })?;
        let (newest, edited) = self
            .rolled_back(&text)
            .map_err(|why| Refused::new(format!("{path}: {why}")))?;
        state.set(&path, edited);
        Ok(self.told(path, newest))
    }
}

impl HelmRollback {
    /// The newest revision, and the history with one more that is a copy of the wanted one, as helm writes it.
    fn rolled_back(&self, text: &str) -> Result<(u64, String), String> {
        let mut all: Vec<Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let number = |one: &Value| one["revision"].as_u64();
        let newest = all.iter().filter_map(number).max();
        let newest = newest.ok_or("it names no revision")?;
        let wanted: u64 = self
            .revision
            .parse()
            .map_err(|_| format!("{:?} is no revision", self.revision))?;
        let own = all.iter().find(|one| number(one) == Some(wanted)).cloned();
        let mut copy = own.ok_or_else(|| format!("it has no revision {wanted}"))?;
        if wanted == newest {
            return Err(format!("revision {wanted} is the newest already"));
        }
        for one in all.iter_mut().filter(|one| one["status"] == "deployed") {
            one["status"] = "superseded".into();
        }
        copy["revision"] = (newest + 1).into();
        copy["status"] = "deployed".into();
        copy["description"] = format!("Rollback to {wanted}").into();
        all.push(copy);
        let lines: Vec<String> = all.iter().map(Value::to_string).collect();
        Ok((newest, format!("[\n{}\n]\n", lines.join(",\n"))))
    }

    fn told(&self, path: String, newest: u64) -> Applied {
        let (namespace, name, revision) = (&self.namespace, &self.release, &self.revision);
        let helm = |verb: &[&'static str]| release(namespace, name, verb);
        let to = |revision: &str| helm(&["rollback"]).text(revision);
        let history = Line::Save(helm(&["history"]).into(), Word::saved("history.txt"));
        let untouched = Line::Say("the release is at the revision that was collected");
        let old = newest.to_string();
        Applied {
            title: format!("Roll helm release {namespace}/{name} back to revision {revision}"),
            changed: vec![path],
            actions: vec![Action {
                text: format!(
                    "Roll the release back from revision {newest} to revision {revision}."
                ),
                place: RunsOn::Cluster,
                guard: Some(Guard {
                    test: Test::Succeeds(is_at(namespace, name, newest)),
                    says: format!(
                        "release {namespace}/{name} is still at revision {newest}, or was rolled back to it"
                    ),
                }),
                dry_run: Script::from(helm(&["history"])).run(to(revision).word("--dry-run")),
                backup: Vec::new(),
                act: Act::Script(Script::from(history).run(to(revision))),
                expect: format!("'helm status {name} -n {namespace}' says deployed."),
                back: Back::Script(
                    Line::If(
                        Test::Succeeds(is_at(namespace, name, newest)),
                        untouched.into(),
                        to(&old).into(),
                    )
                    .into(),
                ),
                interrupts: "The pods whose template changes are replaced.".into(),
            }],
            runtime: vec![format!(
                "helm makes the objects of {namespace}/{name} again what revision {revision} says; only the cluster shows whether they then run"
            )],
            costs: vec![format!(
                "what revisions after {revision} of {namespace}/{name} were meant to change is given up"
            )],
            simulated: true,
            ..Applied::default()
        }
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    let of = |release: &str, revision: &str| serde_json::json!({"helm-rollback": {"namespace": "a", "release": release, "revision": revision}});
    vec![of("r", "1"), of(trial.bad, "1"), of("r", trial.bad)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(revision: &str, history: &str) -> Result<(u64, String), String> {
        let change = HelmRollback {
            namespace: "a".into(),
            release: "r".into(),
            revision: revision.into(),
        };
        change.rolled_back(history)
    }

    #[test]
    fn a_rollback_is_a_new_revision_and_nothing_else_is_deployed() {
        let history = r#"[{"revision":1,"status":"deployed","chart":"c-1"},{"revision":2,"status":"failed"}]"#;
        let (newest, text) = to("1", history).unwrap();
        assert_eq!(newest, 2);
        let all: Vec<Value> = serde_json::from_str(&text).unwrap();
        let statuses: Vec<&str> = all
            .iter()
            .map(|one| one["status"].as_str().unwrap())
            .collect();
        assert_eq!(statuses, ["superseded", "failed", "deployed"]);
        assert_eq!(
            (&all[2]["revision"], &all[2]["chart"]),
            (&3.into(), &"c-1".into())
        );
    }

    #[test]
    fn a_revision_that_is_none_or_the_newest_is_refused() {
        let history = r#"[{"revision":1,"status":"deployed"}]"#;
        for (revision, why) in [
            ("1", "newest already"),
            ("7", "no revision 7"),
            ("x", "is no revision"),
        ] {
            assert!(
                to(revision, history).unwrap_err().contains(why),
                "{revision}"
            );
        }
    }
}
