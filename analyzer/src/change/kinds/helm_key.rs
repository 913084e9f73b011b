//! A value of a helm release that stands under a key which no template reads, moved to the key that one does.

use casefile_bundle::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::helm_values::HelmValues;
use super::{to_yaml, values_of};
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// A release, and the two keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HelmKey {
    /// Namespace of the release.
    pub namespace: String,
    /// Release.
    pub release: String,
    /// Chart to upgrade with.
    pub chart: String,
    /// The key that holds the value, with dots, e.g. `toolkit.verison`.
    pub from: String,
    /// The key that is read.
    pub to: String,
}

impl Kind for HelmKey {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let (path, user) = values_of(
            state,
            (&self.namespace, &self.release, "values-user.yaml"),
            &format!("the value of {} is", self.from),
        )?;
        let value = user.pointer(&pointer(&self.from)).cloned();
        let value = value
            .filter(|value| !value.is_null())
            .ok_or_else(|| Refused::new(format!("{path} sets no {}", self.from)))?;
        let mut delta = nested(&self.from, Value::Null);
        super::add(&mut delta, &nested(&self.to, value));
        let values = HelmValues {
            namespace: self.namespace.clone(),
            release: self.release.clone(),
            chart: self.chart.clone(),
            values: to_yaml(&delta)?,
        };
        let mut applied = values.apply(state)?;
        self.read_now(state);
        applied.title = format!(
            "Move {} of helm release {}/{} to {}",
            self.from, self.namespace, self.release, self.to
        );
        applied.costs.push(format!(
            "{} of the chart gets the value that {} was given",
            self.to, self.from
        ));
        Ok(applied)
    }
}

impl HelmKey {
    /// Takes the old key out of what the collector noted as read by no template.
    fn read_now(&self, state: &mut Captured) {
        let path = Entry::Helm(&self.namespace, &self.release, "release.json").path();
        let Some(text) = state.now(&path) else { return };
        let Ok(mut release) = serde_json::from_str::<Value>(&text) else {
            return;
        };
        if let Some(unread) = release
            .get_mut("unread_values")
            .and_then(Value::as_array_mut)
        {
            unread.retain(|key| key.as_str() != Some(self.from.as_str()));
            state.set(&path, release.to_string() + "\n");
        }
    }
}

fn pointer(key: &str) -> String {
    key.split('.').map(|part| format!("/{part}")).collect()
}

fn nested(key: &str, value: Value) -> Value {
    key.rsplit('.')
        .fold(value, |inner, part| json!({part: inner}))
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    let of = |chart: &str, to: &str| json!({"helm-key": {"namespace": "a", "release": "r", "chart": chart, "from": "a.c", "to": to}});
    vec![of(trial.bad, "a.b"), of("c", trial.bad)]
}
