//! Sharing fields of a device plugin's configuration that stand where the plugin does not read them, moved to where it does.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::configmap::ConfigMap;
use super::{objects, to_yaml, yaml};
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// Fields that belong directly below `timeSlicing` or `mps`.
const FIELDS: [&str; 2] = ["renameByDefault", "failRequestsGreaterThanOne"];
const SECTIONS: [&str; 2] = ["timeSlicing", "mps"];

/// The configuration of a device plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharingConfig {
    /// `timeSlicing` or `mps`; the only one that the configuration has if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
}

impl Kind for SharingConfig {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let mut found = Vec::new();
        for (namespace, name, key, text) in configurations(state) {
            let document = yaml(&format!("key {key} of {namespace}/{name}"), &text)?;
            if let Some(moved) = self.moved(document)? {
                found.push((namespace, name, key, moved));
            }
        }
        if found.is_empty() {
            return Err(Refused::new(
                "no collected ConfigMap has a sharing field outside the section that the plugin reads",
            ));
        }
        let mut all = Applied::default();
        for (namespace, name, key, moved) in found {
            let change = ConfigMap {
                namespace,
                name,
                key,
                find: None,
                replace: to_yaml(&moved)?,
                restart: None,
            };
            let one = change.apply(state)?;
            all.title = one.title;
            all.changed.extend(one.changed);
            all.files.extend(one.files);
            all.actions.extend(one.actions);
        }
        all.simulated = true;
        all.runtime = vec![
            "the plugin reads its configuration again when its config manager sees the change, or when it is restarted; only the node shows how many GPUs it then offers".into(),
        ];
        Ok(all)
    }
}

impl SharingConfig {
    /// The configuration with the fields in place; none where there is nothing to move.
    fn moved(&self, mut document: Value) -> Result<Option<Value>, Refused> {
        let mut taken = Map::new();
        for place in ["", "/flags", "/sharing"] {
            let map = document.pointer_mut(place).and_then(Value::as_object_mut);
            let Some(map) = map else { continue };
            for field in FIELDS {
                taken.extend(map.remove(field).map(|value| (field.to_owned(), value)));
            }
        }
        // A whole section may stand one level too high or too low.
        for place in ["", "/flags"] {
            let map = document.pointer_mut(place).and_then(Value::as_object_mut);
            let Some(map) = map else { continue };
            let sections: Vec<_> = SECTIONS
                .iter()
                .filter_map(|name| Some((*name, map.remove(*name)?)))
                .collect();
            for (name, section) in sections {
                if document["sharing"]
                    .get(name)
                    .is_some_and(|own| *own != json!({}))
                {
                    return Err(Refused::new(format!(
                        "the configuration has {name} twice; a person decides which counts"
                    )));
                }
                document["sharing"][name] = section;
                taken.entry(String::new()).or_insert(Value::Null);
            }
        }
        if taken.is_empty() {
            return Ok(None);
        }
        taken.remove("");
        if !taken.is_empty() {
            let section = self.section(&document)?;
            for (field, value) in taken {
                let own = &mut document["sharing"][&section][&field];
                if own.is_null() {
                    *own = value;
                }
            }
        }
        Ok(Some(document))
    }

    /// Where the fields go.
    fn section(&self, document: &Value) -> Result<String, Refused> {
        let there: Vec<&str> = SECTIONS
            .iter()
            .copied()
            .filter(|name| document["sharing"].get(*name).is_some())
            .collect();
        match (&self.section, there.as_slice()) {
            (Some(wanted), _) if SECTIONS.contains(&wanted.as_str()) => Ok(wanted.clone()),
            (None, [only]) => Ok((*only).to_owned()),
            (Some(other), _) => Err(Refused::new(format!(
                "{other:?} is neither timeSlicing nor mps"
            ))),
            (None, _) => Err(Refused::new(
                "the configuration has neither timeSlicing nor mps, or both, so a person chooses which of them the field is for",
            )),
        }
    }
}

/// Keys of collected ConfigMaps that hold a device plugin's configuration: `version: v1` with `flags` or `sharing`.
fn configurations(state: &mut Captured) -> Vec<(String, String, String, String)> {
    let mut all = Vec::new();
    for item in objects(state, "configmaps") {
        let meta = |name: &str| {
            item["metadata"][name]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        for (key, text) in item["data"].as_object().into_iter().flatten() {
            let Some(text) = text.as_str().filter(|text| text.contains("version")) else {
                continue;
            };
            let own = yaml(key, text).is_ok_and(|one| {
                one["version"] == "v1"
                    && (one.get("flags").is_some() || one.get("sharing").is_some())
            });
            if own {
                all.push((
                    meta("namespace"),
                    meta("name"),
                    key.clone(),
                    text.to_owned(),
                ));
            }
        }
    }
    all
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<Value> {
    vec![
        json!({"sharing-config": {}}),
        json!({"sharing-config": {"section": trial.bad}}),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(section: Option<&str>, text: &str) -> Result<Option<Value>, Refused> {
        let kind = SharingConfig {
            section: section.map(str::to_owned),
        };
        kind.moved(yaml("it", text).unwrap())
    }

    #[test]
    fn fields_go_to_the_only_section_and_to_none_of_two() {
        let flags = "version: v1\nflags: {migStrategy: none, failRequestsGreaterThanOne: true}\n";
        let one = format!("{flags}sharing: {{timeSlicing: {{resources: []}}}}\n");
        let now = moved(None, &one).unwrap().unwrap();
        assert_eq!(
            now["sharing"]["timeSlicing"]["failRequestsGreaterThanOne"],
            true
        );
        assert_eq!(now["flags"], json!({"migStrategy": "none"}));
        assert!(
            moved(None, flags)
                .unwrap_err()
                .why
                .contains("a person chooses")
        );
        assert_eq!(
            moved(Some("mps"), flags).unwrap().unwrap()["sharing"]["mps"]["failRequestsGreaterThanOne"],
            true
        );
        assert_eq!(
            moved(
                None,
                "version: v1\nsharing: {mps: {renameByDefault: true}}\n"
            ),
            Ok(None)
        );
    }

    #[test]
    fn a_section_outside_sharing_moves_as_a_whole() {
        let now = moved(None, "version: v1\ntimeSlicing: {renameByDefault: true}\n")
            .unwrap()
            .unwrap();
        assert_eq!(
            now,
            json!({"version": "v1", "sharing": {"timeSlicing": {"renameByDefault": true}}})
        );
        let twice = "version: v1\nmps: {a: 1}\nsharing: {mps: {a: 2}}\n";
        assert!(moved(None, twice).unwrap_err().why.contains("twice"));
    }
}
