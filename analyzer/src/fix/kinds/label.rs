//! A label of an object.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::object::Named;
use crate::fix::captured::Captured;
use crate::fix::change::{Action, Applied, Kind, Place, Refused, quoted};

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

impl MetaKey {
    /// Sets or removes the key, and says how a person does.
    pub(super) fn set(&self, state: &mut Captured, meta: Meta) -> Result<Applied, Refused> {
        let named = &Named::new(&self.kind, self.namespace.as_deref(), &self.name);
        let (key, value) = (self.key.as_str(), self.value.as_deref());
        let (map, verb, what) = match meta {
            Meta::Labels => ("labels", "label", "label"),
            Meta::Annotations => ("annotations", "annotate", "annotation"),
        };
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
        let target = named.target();
        let word = |value: Option<&str>| {
            value.map_or_else(
                || quoted(&format!("{key}-")),
                |value| quoted(&format!("{key}={value}")),
            )
        };
        let command =
            |value: Option<&str>| format!("kubectl {verb} {target} --overwrite {}", word(value));
        let path = format!("{{.metadata.{map}.{}}}", key.replace('.', "\\."));
        Ok(Applied {
            title: match value {
                Some(value) => format!("Set the {what} {key} of {named} to {value}"),
                None => format!("Remove the {what} {key} of {named}"),
            },
            changed: vec![named.entry()],
            actions: vec![Action {
                text: format!("Change the {what} {key} of {named}."),
                place: Place::Cluster,
                guard: Some((
                    format!(
                        "[ \"$(kubectl get {target} -o jsonpath={})\" = {} ]",
                        quoted(&path),
                        quoted(before.as_deref().unwrap_or(""))
                    ),
                    before.as_ref().map_or_else(
                        || format!("{named} has no {what} {key}"),
                        |before| format!("the {what} {key} is still {before}"),
                    ),
                )),
                dry_run: Some(format!("{} --dry-run=server", command(value))),
                backup: Vec::new(),
                command: Some(command(value)),
                expect: format!("'kubectl get {target} -o yaml' shows it."),
                roll_back: command(before.as_deref()),
                interrupts: "Nothing by itself; what selects by it follows.".into(),
            }],
            simulated: true,
            ..Applied::default()
        })
    }
}
