//! A file of the node that is written, edited or removed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{check_path, entry, may_be_rewritten, restart, unchanged, write_over};
use crate::fix::captured::Captured;
use crate::fix::change::{Action, Applied, HandOver, Kind, Place, Refused, quoted};
use crate::fix::write::beside;

/// A file and what it shall hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostFile {
    /// Node.
    pub node: String,
    /// Absolute path.
    pub path: String,
    /// The whole content; for a file that is ours alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// TOML to merge into the file, keeping its comments and order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merge_toml: Option<String>,
    /// Tables or keys to take out of a TOML file, as dotted keys; its comments and order stay.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remove_toml: Vec<String>,
    /// Remove the file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub remove: bool,
    /// Unit to restart after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart: Option<String>,
}

impl Kind for HostFile {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        check_path(&self.path)?;
        let captured = entry(&self.node, &self.path);
        if !state
            .paths()
            .any(|path| crate::scan::node_of(path) == self.node)
        {
            return Err(Refused::new(format!(
                "the bundle holds no files of node {:?}",
                self.node
            )));
        }
        let before = state.now(&captured);
        let after = self.content_after(before.as_deref())?;
        if !self.remove {
            may_be_rewritten(state, &self.node, &self.path)?;
        }
        let guard = unchanged(state, &self.node, &self.path);
        state.set(&captured, after.clone());
        let mut simulated = true;
        let mut assumes = Vec::new();
        if state.is_pasted(&captured) {
            assumes.push(format!(
                "{} was pasted as a whole: what was not pasted is missing from the new file",
                self.path
            ));
        }
        let mut actions = vec![self.write(guard)];
        let name = file_name(&self.path);
        if let Some(unit) = &self.restart {
            let restarted = restart::Restart {
                node: self.node.clone(),
                unit: unit.clone(),
            };
            match restarted.apply(state) {
                Ok(restarted) => {
                    actions.extend(restarted.actions);
                    assumes.extend(restarted.assumes);
                }
                Err(refused) => {
                    simulated &= !self.path.contains("systemd");
                    assumes.push(format!(
                        "{unit} is restarted and reads the file ({refused})"
                    ));
                }
            }
        }
        Ok(Applied {
            title: format!(
                "{} {} on {}",
                self.verb(before.is_some()),
                self.path,
                self.node
            ),
            changed: vec![captured],
            files: if self.remove {
                Vec::new()
            } else {
                vec![HandOver {
                    name,
                    content: after,
                    what: format!("the whole new {}", self.path),
                }]
            },
            actions,
            assumes,
            simulated,
        })
    }
}

impl HostFile {
    fn verb(&self, exists: bool) -> &'static str {
        match (self.remove, exists) {
            (true, _) => "Empty or remove",
            (false, true) => "Change",
            (false, false) => "Add",
        }
    }

    /// What the file holds afterwards; a removed file holds nothing.
    fn content_after(&self, before: Option<&str>) -> Result<String, Refused> {
        let edits = self.merge_toml.is_some() || !self.remove_toml.is_empty();
        match (&self.content, edits, self.remove) {
            (Some(content), false, false) => Ok(content.clone()),
            (None, true, false) => {
                let kept = remove_toml(&self.path, before.unwrap_or(""), &self.remove_toml)?;
                merge_toml(&self.path, &kept, self.merge_toml.as_deref().unwrap_or(""))
            }
            (None, false, true) if before.is_some() => Ok(String::new()),
            (None, false, true) => Err(Refused::new(format!(
                "{} is not in the bundle, so there is nothing to remove",
                self.path
            ))),
            _ => Err(Refused::new(format!(
                "{}: give one of content, merge_toml with remove_toml, or remove",
                self.path
            ))),
        }
    }

    fn write(&self, guard: Option<(String, String)>) -> Action {
        let path = quoted(&self.path);
        let name = beside(&file_name(&self.path));
        let copy = write_over(&name, &path);
        // Only the file that containerd reads by default can be checked without naming it.
        let check = if self.path == "/etc/containerd/config.toml" {
            "\n# The root file's effective configuration, read by containerd itself:\ncontainerd config dump >/dev/null"
        } else {
            ""
        };
        Action {
            text: if self.remove {
                format!("Remove {}.", self.path)
            } else {
                format!("Write {}.", self.path)
            },
            place: Place::Node(self.node.clone()),
            guard,
            dry_run: Some(if self.remove {
                format!("cat {path}")
            } else {
                format!("diff -u {path} {name} || true")
            }),
            backup: vec![self.path.clone()],
            command: Some(if self.remove {
                format!("rm -f {path}")
            } else {
                copy + check
            }),
            expect: format!("'cat {}' shows the new content.", self.path),
            roll_back: format!(
                "if [ -e \"$backup\"{path} ]; then cp -a \"$backup\"{path} {path}; else rm -f {path}; fi"
            ),
            interrupts: "Nothing until the program that reads it is restarted.".into(),
        }
    }
}

/// The last part of a path; a hosts.toml keeps its folder, since there is one for each registry.
fn file_name(path: &str) -> String {
    let mut parts = path.rsplit('/');
    match (parts.next(), parts.next()) {
        (Some("hosts.toml"), Some(folder)) => format!("{folder}-hosts.toml"),
        (Some(name), _) => name.to_owned(),
        _ => "file".to_owned(),
    }
}

/// Merges tables key by key into a TOML text; what is not named stays as it was written.
pub(super) fn merge_toml(path: &str, before: &str, delta: &str) -> Result<String, Refused> {
    let wrong = |what: &str, error: toml_edit::TomlError| {
        Refused::new(format!("{what} does not parse as TOML: {error}"))
    };
    let mut document: toml_edit::DocumentMut =
        before.parse().map_err(|error| wrong(path, error))?;
    let delta: toml_edit::DocumentMut =
        delta.parse().map_err(|error| wrong("the change", error))?;
    merge_table(document.as_table_mut(), delta.as_table());
    Ok(document.to_string())
}

/// Adds what a TOML text lacks; what it says stays as it was written.
pub(super) fn fill_toml(path: &str, before: &str, defaults: &str) -> Result<String, Refused> {
    let parse = |text: &str| {
        text.parse::<toml_edit::DocumentMut>()
            .map_err(|error| Refused::new(format!("{path} does not parse as TOML: {error}")))
    };
    let (mut document, defaults) = (parse(before)?, parse(defaults)?);
    fill_table(document.as_table_mut(), defaults.as_table());
    Ok(document.to_string())
}

fn fill_table(into: &mut dyn toml_edit::TableLike, defaults: &dyn toml_edit::TableLike) {
    for (key, value) in defaults.iter() {
        match into.get_mut(key) {
            Some(own) => {
                if let (Some(own), Some(value)) = (own.as_table_like_mut(), value.as_table_like()) {
                    fill_table(own, value);
                }
            }
            None => drop(into.insert(key, value.clone())),
        }
    }
}

/// Takes tables and keys out of a TOML text; what is not named stays as it was written.
fn remove_toml(path: &str, before: &str, keys: &[String]) -> Result<String, Refused> {
    if keys.is_empty() {
        return Ok(before.to_owned());
    }
    let mut document: toml_edit::DocumentMut = before
        .parse()
        .map_err(|error| Refused::new(format!("{path} does not parse as TOML: {error}")))?;
    for key in keys {
        let parts = toml_edit::Key::parse(key)
            .map_err(|error| Refused::new(format!("{key:?} is no dotted key: {error}")))?;
        let missing = || Refused::new(format!("{path} holds no {key}"));
        let (last, parents) = parts.split_last().ok_or_else(missing)?;
        let mut table: &mut dyn toml_edit::TableLike = document.as_table_mut();
        for part in parents {
            let next = table
                .get_mut(part.get())
                .and_then(toml_edit::Item::as_table_like_mut);
            table = next.ok_or_else(missing)?;
        }
        table.remove(last.get()).ok_or_else(missing)?;
    }
    Ok(document.to_string())
}

fn merge_table(into: &mut dyn toml_edit::TableLike, delta: &dyn toml_edit::TableLike) {
    for (key, value) in delta.iter() {
        let both_tables = value.is_table_like();
        match into.get_mut(key) {
            Some(old) if both_tables && old.is_table_like() => {
                if let (Some(old), Some(new)) = (old.as_table_like_mut(), value.as_table_like()) {
                    merge_table(old, new);
                }
            }
            Some(old) => *old = value.clone(),
            None => {
                into.insert(key, value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_keeps_comments_and_order_and_adds_only_what_is_named() {
        let before = "# the site's own\nversion = 2\n\n[plugins.cri] # keep\n  a = 1\n";
        let after = merge_toml(
            "/f",
            before,
            "[plugins.cri]\na = 2\n[plugins.cri.x]\nb = true\n",
        );
        let after = after.unwrap();
        assert!(
            after.starts_with("# the site's own\nversion = 2\n"),
            "{after}"
        );
        assert!(after.contains("[plugins.cri] # keep\n"), "{after}");
        let value: toml::Table = toml::from_str(&after).unwrap();
        assert_eq!(value["plugins"]["cri"]["a"].as_integer(), Some(2));
        assert_eq!(value["plugins"]["cri"]["x"]["b"].as_bool(), Some(true));
    }

    #[test]
    fn removing_a_table_keeps_the_rest_as_it_was_written() {
        let before = "# ours\nversion = 3\n[plugins.'a.b'.registry]\n  config_path = \"/x\" # dir\n[plugins.'a.b'.registry.mirrors.\"m\"]\nendpoint = []\n";
        let after = remove_toml("/f", before, &["plugins.\"a.b\".registry.mirrors".into()]);
        assert_eq!(
            after.unwrap(),
            "# ours\nversion = 3\n[plugins.'a.b'.registry]\n  config_path = \"/x\" # dir\n"
        );
        let error = remove_toml("/f", before, &["plugins.none".into()]).unwrap_err();
        assert!(error.why.contains("/f holds no plugins.none"), "{error}");
    }

    #[test]
    fn a_change_that_does_not_parse_is_named() {
        let error = merge_toml("/f", "a = 1", "b = = 2").unwrap_err();
        assert!(error.why.contains("the change does not parse"), "{error}");
    }
}
