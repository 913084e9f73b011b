//! The StorageClass that claims get which name none.

use casefile_bundle::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::label::{Meta, MetaKey};
use super::listed;
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

const KEY: &str = "storageclass.kubernetes.io/is-default-class";

/// A class that shall be the default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DefaultClass {
    /// Its name; the only class of the cluster if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Kind for DefaultClass {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let path = Entry::List("storageclasses").path();
        let classes = listed(state, &path, "the cluster's classes")?;
        let name = self
            .chosen(&classes)
            .map_err(|why| Refused::new(format!("{path}: {why}")))?;
        let key = MetaKey {
            kind: "StorageClass".into(),
            namespace: None,
            name,
            key: KEY.into(),
            value: Some("true".into()),
        };
        let mut applied = key.set(state, Meta::Annotations)?;
        applied.costs.push(format!(
            "claims of all namespaces that name no class get their data from {}",
            key.name
        ));
        // Which volume a claim then gets is the work of controllers, of which a bundle holds none.
        Ok(applied.only_there(format!(
            "claims that wait get the class {}; only the cluster shows whether its provisioner makes their volumes",
            key.name
        )))
    }
}

impl DefaultClass {
    fn chosen(&self, items: &[Value]) -> Result<String, String> {
        let name = |item: &Value| item["metadata"]["name"].as_str().map(str::to_owned);
        let own = items
            .iter()
            .find(|item| item["metadata"]["annotations"][KEY] == "true");
        if let Some(own) = own.and_then(name) {
            return Err(format!("{own} is the default already"));
        }
        let names: Vec<String> = items.iter().filter_map(name).collect();
        match (&self.name, names.as_slice()) {
            (Some(wanted), _) => Ok(wanted.clone()),
            (None, [only]) => Ok(only.clone()),
            (None, []) => Err("it holds no class that could be the default".to_owned()),
            (None, several) => Err(format!(
                "a person has to choose one of {} classes: {}",
                several.len(),
                several.join(", ")
            )),
        }
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    vec![
        serde_json::json!({"default-class": {}}),
        serde_json::json!({"default-class": {"name": trial.bad}}),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_only_class_is_taken_and_one_of_several_is_not() {
        let chosen = |items: Value| DefaultClass { name: None }.chosen(items.as_array().unwrap());
        let class = |name: &str, default: &str| json!({"metadata": {"name": name, "annotations": {KEY: default}}});
        assert_eq!(chosen(json!([class("a", "false")])), Ok("a".to_owned()));
        for (items, why) in [
            (json!([]), "no class"),
            (
                json!([class("a", "false"), class("b", "false")]),
                "one of 2 classes: a, b",
            ),
            (
                json!([class("a", "true"), class("b", "false")]),
                "a is the default already",
            ),
        ] {
            assert!(chosen(items).unwrap_err().contains(why));
        }
    }
}
