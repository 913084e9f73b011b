//! A label of an object.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::object::Named;
use super::sets;
use crate::change::captured::Captured;
use crate::change::shell::{Script, Test, Word};
use crate::change::{Act, Action, Applied, Back, Guard, Kind, Refused, RunsOn};

/// An object, and a key of its metadata that it shall have or lose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MetaKey {
    /// Kind as in a manifest, e.g. `Node`.
    pub kind: String,
    /// Namespace; none for nodes and namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Name.
    pub name: String,
    /// Key.
    pub key: String,
    /// Value; none removes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// A label that an object shall have or lose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Label(pub MetaKey);

impl Kind for Label {
    fn sets(&self) -> Vec<(String, String)> {
        vec![self.0.sets("label")]
    }

    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        self.0.set(state, Meta::Labels)
    }
}

/// The map of the metadata that is changed.
#[derive(Clone, Copy)]
pub(super) enum Meta {
    /// `kubectl label`.
    Labels,
    /// `kubectl annotate`.
    Annotations,
}

impl Meta {
    /// The map, kubectl's verb, and what one of it is called.
    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Labels => ("labels", "label", "label"),
            Self::Annotations => ("annotations", "annotate", "annotation"),
        }
    }
}

impl MetaKey {
    /// The key of this object, and its value.
    pub(super) fn sets(&self, what: &str) -> (String, String) {
        let namespace = self.namespace.as_deref().map(|name| format!("{name}/"));
        let namespace = namespace.unwrap_or_default();
        (
            format!(
                "{what} {} of {} {namespace}{}",
                self.key, self.kind, self.name
            ),
            sets::word(self.value.as_deref()),
        )
    }

    /// Sets or removes the key, and says how a person does.
    pub(super) fn set(&self, state: &mut Captured, meta: Meta) -> Result<Applied, Refused> {
        let named = &Named::new(&self.kind, self.namespace.as_deref(), &self.name);
        let (key, value) = (self.key.as_str(), self.value.as_deref());
        let (map, _, what) = meta.words();
        let odd = |c: char| c.is_control() || c.is_whitespace() || c == '=';
        if !key.starts_with(|c: char| c.is_alphanumeric()) || key.contains(odd) {
            return Err(Refused::new(format!("{key:?} is no key of a {what}")));
        }
        let mut before = None;
        named.edit(state, |item| {
            let metadata = item.get_mut("metadata").and_then(Value::as_object_mut);
            let metadata =
                metadata.ok_or_else(|| Refused::new(format!("{named} has no metadata")))?;
            let entry = metadata.entry(map).or_insert_with(|| serde_json::json!({}));
            before = entry.get(key).and_then(Value::as_str).map(str::to_owned);
            match (entry.as_object_mut(), value) {
                (Some(map), Some(value)) => drop(map.insert(key.to_owned(), value.into())),
                (Some(map), None) => drop(map.remove(key)),
                (None, _) => return Err(Refused::new(format!("{named}: {map} is no map"))),
            }
            Ok(())
        })?;
        if before.as_deref() == value {
            let now = value.map_or_else(
                || "is not there".to_owned(),
                |value| format!("is {value} already"),
            );
            return Err(Refused::new(format!("{what} {key} of {named} {now}")));
        }
        Ok(self.told(named, meta, before.as_deref()))
    }

    fn told(&self, named: &Named, meta: Meta, before: Option<&str>) -> Applied {
        let (key, value, (map, verb, what)) = (&self.key, self.value.as_deref(), meta.words());
        let command = |value: Option<&str>| {
            let word = value.map_or_else(|| format!("{key}-"), |value| format!("{key}={value}"));
            named.kubectl(&[verb]).word("--overwrite").text(word)
        };
        let path = format!("{{.metadata.{map}.{}}}", key.replace('.', "\\."));
        Applied {
            title: match value {
                Some(value) => format!("Set the {what} {key} of {named} to {value}"),
                None => format!("Remove the {what} {key} of {named}"),
            },
            changed: vec![named.entry()],
            actions: vec![Action {
                text: format!("Change the {what} {key} of {named}."),
                place: RunsOn::Cluster,
                guard: Some(Guard {
                    test: Test::Prints(named.field(&path).into(), Word::text(before.unwrap_or(""))),
                    says: before.map_or_else(
                        || format!("{named} has no {what} {key}"),
                        |before| format!("the {what} {key} is still {before}"),
                    ),
                }),
                dry_run: command(value).word("--dry-run=server").into(),
                backup: Vec::new(),
                act: Act::Script(command(value).into()),
                expect: format!("'kubectl get {} -o yaml' shows it.", named.target()),
                back: Back::Script(Script::from(command(before))),
                interrupts: "Nothing by itself; selectors that use it re-evaluate.".into(),
            }],
            simulated: true,
            ..Applied::default()
        }
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    let value = format!("{}2", trial.bad);
    vec![
        serde_json::json!({"label": {"kind": "Node", "name": trial.bad, "key": trial.bad, "value": value}}),
    ]
}
