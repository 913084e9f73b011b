//! Values merged into a helm release.

use casefile_bundle::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::sets;
use super::{merge, to_yaml, toolkit_writes, yaml};
use crate::change::captured::Captured;
use crate::change::shell::{Command, Line, Pipe, Program, Script, Test, Word, run};
use crate::change::{Act, Action, Applied, Back, Guard, HandOver, Kind, Refused, RunsOn};

/// Values to merge, and the release that they are for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HelmValues {
    /// Namespace of the release.
    pub namespace: String,
    /// Release.
    pub release: String,
    /// Chart to upgrade with, e.g. `nvidia/gpu-operator`; its version stays the installed one.
    pub chart: String,
    /// YAML of what changes.
    pub values: String,
}

impl Kind for HelmValues {
    fn sets(&self) -> Vec<(String, String)> {
        sets::leaves(
            &self.values,
            &format!("{}/{}: ", self.namespace, self.release),
        )
    }

    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        check_names(&[&self.namespace, &self.release, &self.chart])?;
        let delta = yaml("the values", &self.values)?;
        let Value::Object(sections) = &delta else {
            return Err(Refused::new("the values are no map of sections"));
        };
        let file = |name| Entry::Helm(&self.namespace, &self.release, name).path();
        let (all_path, user_path) = (file("values-all.yaml"), file("values-user.yaml"));
        let Some(all) = state.now(&all_path) else {
            return Err(Refused::new(format!(
                "{all_path} is not in the bundle: release {}/{} was not collected",
                self.namespace, self.release
            )));
        };
        let mut all = yaml(&all_path, &all)?;
        let unknown: Vec<&str> = sections
            .keys()
            .map(String::as_str)
            .filter(|section| all.get(section).is_none())
            .collect();
        if unknown.len() == sections.len() {
            return Err(Refused::new(format!(
                "nothing in {all_path} is called {}; the chart would ignore it",
                unknown.join(" or ")
            )));
        }
        let user = state.now(&user_path).unwrap_or_default();
        let mut user = match yaml(&user_path, &user) {
            Ok(Value::Object(map)) => Value::Object(map),
            _ => Value::Object(serde_json::Map::new()),
        };
        merge(&mut user, &delta);
        merge(&mut all, &delta);
        let whole = to_yaml(&user)?;
        state.set(&user_path, whole.clone());
        state.set(&all_path, to_yaml(&all)?);
        let mut applied = self.told(state, whole, vec![user_path, all_path.clone()]);
        if !unknown.is_empty() {
            applied.assumes.push(format!(
                "{} is not in {all_path}, and the chart may ignore it",
                unknown.join(", ")
            ));
        }
        toolkit_writes::follow(state, &self.namespace, &all, &delta, &mut applied)?;
        Ok(applied)
    }
}

impl HelmValues {
    fn helm(&self, verb: &[&'static str]) -> Command {
        release(&self.namespace, &self.release, verb)
    }

    fn told(&self, state: &mut Captured, whole: String, changed: Vec<String>) -> Applied {
        let history = self.history(state);
        let file = state.fresh_name(&format!("values-{}.yaml", self.release));
        let mut files = vec![HandOver {
            name: file.clone(),
            content: self.values.clone(),
            what: "what changes, and nothing else".into(),
        }];
        // A placeholder in a repository would be the release's next secret.
        if !whole.contains("<redacted:") {
            files.push(HandOver {
                name: state.fresh_name(&format!("values-{}-complete.yaml", self.release)),
                content: whole,
                what:
                    "the release's own values with the change merged in; for the site's repository"
                        .into(),
            });
        }
        Applied {
            title: format!(
                "Merge values into helm release {}/{}",
                self.namespace, self.release
            ),
            changed,
            actions: vec![self.upgraded(history, &file)],
            files,
            assumes: Vec::new(),
            simulated: true,
            ..Applied::default()
        }
    }

    fn upgraded(&self, history: Option<(u64, Option<String>)>, file: &str) -> Action {
        let revision = history.as_ref().map(|(revision, _)| *revision);
        let version = history.and_then(|(_, version)| version);
        let saved = || Word::saved("values-before.yaml");
        let upgrade = |reuses: bool| {
            let command = run(Program::Helm)
                .word("upgrade")
                .text(&self.release)
                .on(Word::Chosen("CHART", self.chart.clone()));
            // Never the newest by accident: helm knows no such version, so a person has to fill it in.
            let unknown = Word::Fixed("INSTALLED_VERSION");
            let command = command.with("--version", version.as_ref().map_or(unknown, Word::text));
            let command = command.with("-n", Word::text(&self.namespace));
            let command = if reuses {
                command.word("--reuse-values")
            } else {
                command.word("--reset-values").with("-f", saved())
            };
            command.with("-f", Word::beside(file))
        };
        // Where a value goes, `--reuse-values` takes it out of the revision before as well, so that no rollback brings it
        // back (helm 4.1).
        let reuses = !yaml("the values", &self.values).is_ok_and(|values| has_null(&values));
        let values = self.helm(&["get", "values"]).words(&["-o", "yaml"]);
        let before = Line::Save(values.into(), saved());
        let is_at = |revision: u64| is_at(&self.namespace, &self.release, revision);
        Action {
            text: "Upgrade the release with the changed values, at the installed chart version. Where the site has no chart repository, name the chart's file with CHART=FILE.".into(),
            place: RunsOn::Cluster,
            guard: revision.map(|revision| Guard {
                test: Test::Succeeds(is_at(revision)),
                says: format!("release {}/{} is still at revision {revision}, or was rolled back to it", self.namespace, self.release),
            }),
            dry_run: upgrade(true).word("--dry-run").into(),
            backup: Vec::new(),
            act: Act::Script(Script::from(before).run(upgrade(reuses))),
            expect: "The dry run and the upgrade change only what the values name.".into(),
            back: match revision {
                Some(revision) => {
                    let back = self.helm(&["rollback"]).text(revision.to_string());
                    let untouched = Line::Say("the release is at its old revision");
                    Back::Script(Line::If(Test::Succeeds(is_at(revision)), untouched.into(), back.into()).into())
                }
                None => Back::Hands(format!(
                    "Roll back to the revision before: 'helm history {} -n {}' lists them.",
                    self.release, self.namespace
                )),
            },
            interrupts: "The pods whose template changes are replaced, one node at a time.".into(),
        }
    }

    /// Revision and chart version of the release, from what the collector wrote of it.
    fn history(&self, state: &mut Captured) -> Option<(u64, Option<String>)> {
        let path = Entry::Helm(&self.namespace, &self.release, "release.json").path();
        let release: Value = serde_json::from_str(&state.before(&path)?).ok()?;
        let of = |names: &[&str]| names.iter().find_map(|name| release.pointer(name));
        let revision = of(&["/revision", "/version"])?.as_u64()?;
        let version = of(&[
            "/chart_version",
            "/chart/version",
            "/chart/metadata/version",
        ]);
        Some((revision, version.and_then(Value::as_str).map(str::to_owned)))
    }
}

/// Whether a value is taken out.
fn has_null(values: &Value) -> bool {
    match values {
        Value::Null => true,
        Value::Object(map) => map.values().any(has_null),
        _ => false,
    }
}

/// Refuses what helm would take for an option, or could be no name.
pub(super) fn check_names(names: &[&String]) -> Result<(), Refused> {
    let odd = |name: &&&String| {
        name.is_empty() || name.starts_with('-') || name.chars().any(char::is_control)
    };
    match names.iter().find(odd) {
        Some(name) => Err(Refused::new(format!(
            "{name:?} can be no name of a release, namespace or chart"
        ))),
        None => Ok(()),
    }
}

/// `helm VERB RELEASE` in the release's namespace.
pub(super) fn release(namespace: &str, name: &str, verb: &[&'static str]) -> Command {
    let command = run(Program::Helm).words(verb).text(name);
    command.with("-n", Word::text(namespace))
}

/// Succeeds where the release is at a revision. What was rolled back to it, by this script or by hand, is as it was.
pub(super) fn is_at(namespace: &str, name: &str, revision: u64) -> Pipe {
    let status = release(namespace, name, &["status"]).words(&["-o", "json"]);
    let number =
        format!("\"version\": *{revision}[,}}]|\"description\": *\"Rollback to {revision}\"");
    status
        .pipe(run(Program::Grep).words(&["-c", "-E"]).text(number))
        .quiet()
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    let values = serde_json::json!({"a": {"b": trial.bad}}).to_string();
    vec![
        serde_json::json!({"helm-values": {"namespace": "a", "release": "r", "chart": trial.bad, "values": values}}),
    ]
}
