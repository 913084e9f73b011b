//! A key of Docker's daemon.json that keeps dockerd from starting: one that the command line sets as well, or that this
//! release does not know.

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::docker_daemon::DockerDaemon;
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// A node, and what dockerd or the check of its file says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DockerDirective {
    /// Node; the only one of the bundle if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// `hosts is specified both as a flag ...` or `KEY doesn't match any configuration option`, also in dockerd's words.
    pub sentence: String,
}

impl Kind for DockerDirective {
    fn node(&mut self) -> Option<&mut Option<String>> {
        Some(&mut self.node)
    }

    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let (keys, twice) = named(&self.sentence).ok_or_else(|| {
            Refused::new("only a key that stands twice, or that dockerd does not know, can go without another value; which value was meant is known to the file's author")
        })?;
        let gone: Map<String, Value> = keys.iter().map(|key| (key.clone(), Value::Null)).collect();
        let change = DockerDaemon {
            node: self.node.clone(),
            set: Value::Object(gone).to_string(),
        };
        let mut applied = change.apply(state)?;
        let keys = keys.join(" and ");
        applied.title = format!("Take {keys} out of Docker's daemon.json");
        applied.costs.push(if twice {
            format!(
                "what the command line sets for {keys} counts, and what the file has is given up"
            )
        } else {
            format!("what {keys} was meant to do is not done; Docker did not know it")
        });
        Ok(applied)
    }
}

/// The keys that a sentence names, and whether the command line sets them as well.
fn named(sentence: &str) -> Option<(Vec<String>, bool)> {
    let one = Regex::new(
        r"^([\w-]+) (?:is (specified both) as a flag|doesn't match any configuration option)",
    )
    .ok()?;
    if let Some(found) = one.captures(sentence.trim()) {
        return Some((vec![found[1].to_owned()], found.get(2).is_some()));
    }
    let all = |expression: &str, text: &str| -> Option<Vec<String>> {
        let each = Regex::new(expression).ok()?;
        let keys = each.captures_iter(text).map(|found| found[1].to_owned());
        let keys: Vec<String> = keys.collect();
        (!keys.is_empty()).then_some(keys)
    };
    if let Some((_, rest)) =
        sentence.split_once("specified both as a flag and in the configuration file: ")
    {
        return Some((all(r"(?:^|, )([\w-]+): \(from flag", rest)?, true));
    }
    let (_, rest) = sentence.split_once("directives don't match any configuration option: ")?;
    Some((all(r"(?:^|, )([\w-]+)", rest)?, false))
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<Value> {
    let sentence =
        "a is specified both as a flag (from flag: 1) and in the configuration file (from file: 2)";
    vec![
        serde_json::json!({"docker-directive": {"sentence": sentence}}),
        serde_json::json!({"docker-directive": {"sentence": trial.bad}}),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_are_read_in_the_words_of_dockerd_and_of_the_check() {
        for (sentence, keys, twice) in [
            (
                "hosts is specified both as a flag (from flag: fd://) and in the configuration file (from file: [unix:///a])",
                vec!["hosts"],
                true,
            ),
            (
                "the following directives are specified both as a flag and in the configuration file: hosts: (from flag: [fd://], from file: [unix:///a, tcp://b]), log-driver: (from flag: a, from file: b)",
                vec!["hosts", "log-driver"],
                true,
            ),
            (
                "the following directives don't match any configuration option: a-b, c",
                vec!["a-b", "c"],
                false,
            ),
            (
                "graph doesn't match any configuration option of this release",
                vec!["graph"],
                false,
            ),
        ] {
            let keys: Vec<String> = keys.into_iter().map(str::to_owned).collect();
            assert_eq!(named(sentence), Some((keys, twice)), "{sentence}");
        }
        assert_eq!(named("invalid character '}' looking for a key"), None);
    }
}
