//! A number or a truth value that stands in quotes in a containerd's configuration, without them.

use std::fmt::Write as _;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::containerd_registry::containerd_files;
use super::entry;
use super::host_file::HostFile;
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// A node, and what is said of the value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TomlType {
    /// Node.
    pub node: String,
    /// A sentence with `KEY is a string, containerd expects a boolean`, or an integer.
    pub sentence: String,
    /// Unit to start after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<String>,
}

impl Kind for TomlType {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let (key, is_bool) = wanted(&self.sentence).ok_or_else(|| {
            Refused::new("only a number or a truth value in quotes has one right value; what else was meant is known to whoever wrote it")
        })?;
        let mut found = Vec::new();
        for path in containerd_files(state, &self.node) {
            let text = state.now(&entry(&self.node, &path)).unwrap_or_default();
            found.extend(addition(&text, &key, is_bool).map(|text| (path, text)));
        }
        let [(path, addition)] = found.as_slice() else {
            return Err(Refused::new(format!(
                "{} collected files of node {} have {} as a quoted {}, so which one to change is not known",
                found.len(),
                self.node,
                key.join("."),
                if is_bool { "truth value" } else { "number" },
            )));
        };
        let file = HostFile {
            node: self.node.clone(),
            path: path.clone(),
            merge_toml: Some(addition.clone()),
            restart: self.restart.clone(),
            ..HostFile::default()
        };
        file.apply(state)
    }
}

/// The key, and whether it is to be a truth value.
fn wanted(sentence: &str) -> Option<(Vec<String>, bool)> {
    let typed = Regex::new(r"(\S+) is a string, containerd expects an? (boolean|integer)").ok()?;
    let found = typed.captures(sentence)?;
    let parts = toml_edit::Key::parse(&found[1]).ok()?;
    let parts = parts.iter().map(|part| part.get().to_owned()).collect();
    Some((parts, &found[2] == "boolean"))
}

/// What to merge into a file that has the key as a quoted value which is one without its quotes.
fn addition(text: &str, key: &[String], is_bool: bool) -> Option<String> {
    let document: toml::Value = toml::from_str(text).ok()?;
    let value = key
        .iter()
        .try_fold(&document, |table, part| table.get(part))?;
    let value = value.as_str()?.trim();
    let plain = if is_bool {
        value.parse::<bool>().ok()?.to_string()
    } else {
        value.parse::<i64>().ok()?.to_string()
    };
    let (last, tables) = key.split_last()?;
    let quoted = |part: &String| toml::Value::String(part.clone()).to_string();
    let mut addition = String::new();
    if !tables.is_empty() {
        let tables: Vec<String> = tables.iter().map(quoted).collect();
        let _ = writeln!(addition, "[{}]", tables.join("."));
    }
    let _ = writeln!(addition, "{} = {plain}", quoted(last));
    Some(addition)
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    let sentence = "version is a string, containerd expects an integer";
    vec![
        serde_json::json!({"toml-type": {"node": trial.node, "sentence": sentence, "restart": trial.bad}}),
        serde_json::json!({"toml-type": {"node": trial.bad, "sentence": trial.bad}}),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_go_where_what_they_hold_is_of_the_wanted_type() {
        let (key, is_bool) = wanted("plugins.\"io.containerd.grpc.v1.cri\".enable_cdi is a string, containerd expects a boolean").unwrap();
        assert!(is_bool);
        let text = "[plugins.'io.containerd.grpc.v1.cri']\nenable_cdi = \"true\"\n";
        assert_eq!(
            addition(text, &key, true).as_deref(),
            Some("[\"plugins\".\"io.containerd.grpc.v1.cri\"]\n\"enable_cdi\" = true\n")
        );
        assert_eq!(
            addition(&text.replace("\"true\"", "\"maybe\""), &key, true),
            None
        );
        assert_eq!(
            addition("version = \"2\"\n", &["version".to_owned()], false).as_deref(),
            Some("\"version\" = 2\n")
        );
        assert!(wanted("imports is a string, containerd expects an array of strings").is_none());
    }
}
