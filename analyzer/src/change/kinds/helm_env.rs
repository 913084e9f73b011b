//! A variable that the values of a helm release set for a program, taken out of their list.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::helm_values::HelmValues;
use super::{to_yaml, values_of};
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// A release, and variables that its values shall set no more. Helm replaces lists as a whole, so the rest is kept here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HelmEnv {
    /// Namespace of the release.
    pub namespace: String,
    /// Release.
    pub release: String,
    /// Chart to upgrade with.
    pub chart: String,
    /// Section whose `env` has the variables, e.g. `toolkit`.
    pub section: String,
    /// Names of the variables.
    pub remove: Vec<String>,
}

impl Kind for HelmEnv {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let (path, all) = values_of(
            state,
            (&self.namespace, &self.release, "values-all.yaml"),
            &format!("the variables of {} are", self.section),
        )?;
        if state.is_redacted(&path) && all.to_string().contains("<redacted:") {
            return Err(Refused::new(format!(
                "secrets were taken out of {path}, so its list of variables cannot be written again"
            )));
        }
        let env = all[&self.section]["env"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let goes = |one: &Value| {
            let name = one["name"].as_str().unwrap_or_default();
            self.remove.iter().any(|own| own == name)
        };
        let kept: Vec<&Value> = env.iter().filter(|one| !goes(one)).collect();
        if kept.len() == env.len() {
            return Err(Refused::new(format!(
                "{path}: {}.env sets no {}",
                self.section,
                self.remove.join(" and no ")
            )));
        }
        let values = HelmValues {
            namespace: self.namespace.clone(),
            release: self.release.clone(),
            chart: self.chart.clone(),
            values: to_yaml(&json!({&self.section: {"env": kept}}))?,
        };
        let mut applied = values.apply(state)?;
        applied.title = format!(
            "Take {} out of {}.env of helm release {}/{}",
            self.remove.join(" and "),
            self.section,
            self.namespace,
            self.release
        );
        Ok(applied)
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<Value> {
    let of = |chart: &str, remove: &str| json!({"helm-env": {"namespace": "a", "release": "r", "chart": chart, "section": "a", "remove": [remove]}});
    vec![of(trial.bad, "E"), of("c", trial.bad)]
}
