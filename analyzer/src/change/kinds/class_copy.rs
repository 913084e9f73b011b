//! A StorageClass that claims name and the cluster lacks: one with that name that gives what the default gives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::kube_object::KubeObject;
use super::listed;
use super::object::Named;
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

const DEFAULT: &str = "storageclass.kubernetes.io/is-default-class";
/// What makes a class what it is; its name and its marks are its own.
const FIELDS: [&str; 7] = [
    "provisioner",
    "parameters",
    "reclaimPolicy",
    "mountOptions",
    "allowVolumeExpansion",
    "volumeBindingMode",
    "allowedTopologies",
];

/// A class to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassCopy {
    /// The name that claims give.
    pub name: String,
    /// The class whose storage it gives; the default, or the only one, if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
}

impl Kind for ClassCopy {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let named = Named::new("StorageClass", None, &self.name);
        let path = named.entry();
        let classes = listed(state, &path, "the cluster's classes")?;
        let copied = self
            .copied(&classes)
            .map_err(|why| Refused::new(format!("{path}: {why}")))?;
        let like = copied.1;
        let made = KubeObject {
            manifest: copied.0.to_string(),
            patch: false,
            remove: false,
        };
        let mut applied = made.apply(state)?;
        applied.title = format!(
            "Create StorageClass {} with the storage of {like}",
            self.name
        );
        applied.costs.push(format!(
            "claims that name {} get their data from the storage of {like}",
            self.name
        ));
        Ok(applied)
    }
}

impl ClassCopy {
    /// The manifest, and the class that it is like.
    fn copied(&self, items: &[Value]) -> Result<(Value, String), String> {
        let name = |item: &Value| {
            item["metadata"]["name"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        if items.iter().any(|item| name(item) == self.name) {
            return Err(format!("{} is there already", self.name));
        }
        let is_default = |item: &&Value| item["metadata"]["annotations"][DEFAULT] == "true";
        let chosen = match &self.of {
            Some(of) => items.iter().find(|item| name(item) == *of),
            None => items.iter().find(is_default).or(match items {
                [only] => Some(only),
                _ => None,
            }),
        };
        let names: Vec<String> = items.iter().map(name).collect();
        let chosen = chosen.ok_or_else(|| match names.len() {
            0 => "it holds no class whose storage could be given".to_owned(),
            number => format!(
                "none of {number} classes is the default, so a person has to choose: {}",
                names.join(", ")
            ),
        })?;
        let mut manifest = json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": self.name}});
        for field in FIELDS {
            if let Some(value) = chosen.get(field) {
                manifest[field] = value.clone();
            }
        }
        Ok((manifest, name(chosen)))
    }
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<Value> {
    vec![json!({"class-copy": {"name": format!("{}2", trial.bad)}})]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_copied_and_one_of_several_is_a_persons_choice() {
        let class = |name: &str, default: &str| json!({"metadata": {"name": name, "uid": "u", "annotations": {DEFAULT: default}}, "provisioner": format!("{name}.csi"), "parameters": {"pool": name}});
        let copy = |of: Option<&str>, items: Value| {
            let kind = ClassCopy {
                name: "fast".into(),
                of: of.map(str::to_owned),
            };
            kind.copied(items.as_array().unwrap())
        };
        let (made, like) = copy(None, json!([class("a", "false"), class("b", "true")])).unwrap();
        assert_eq!(like, "b");
        assert_eq!(
            made,
            json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "fast"}, "provisioner": "b.csi", "parameters": {"pool": "b"}})
        );
        let two = json!([class("a", "false"), class("b", "false")]);
        assert!(
            copy(None, two.clone())
                .unwrap_err()
                .contains("a person has to choose: a, b")
        );
        assert_eq!(copy(Some("a"), two).unwrap().1, "a");
        assert!(
            copy(None, json!([class("fast", "true")]))
                .unwrap_err()
                .contains("there already")
        );
    }
}
