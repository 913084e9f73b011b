//! What a cause needs to be so in the captured files: where only logs told it, a replay looks here.

use casefile_bundle::Entry;
use globset::Glob;
use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Refused;
use super::captured::Captured;

/// What a cause needs in the captured state and cannot act without: a line that is there, or one that is
/// missing. Every text may hold `{signal.field}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hinge {
    /// Entries, as a glob; lists of Kubernetes objects hold one object a line. Not needed beside `pod`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub entry: String,
    /// `NAMESPACE/NAME` of a pod whose line of its list is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod: Option<String>,
    /// Expression that the line matches; without it no line of the entry may match `lacks`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub line: String,
    /// Expression that it does not match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacks: Option<String>,
    /// What that means, as a sentence without a full stop.
    pub says: String,
}

impl Hinge {
    /// Whether the expressions can be used.
    pub fn check(&self) -> Result<(), Refused> {
        self.compiled().map(drop)
    }

    /// Where it holds in the state as it was collected, or as it stands after the changes. Of the nodes of a
    /// joined input only those that show the cause are looked at.
    pub(crate) fn holds(
        &self,
        state: &mut Captured,
        nodes: &[String],
        changed: bool,
    ) -> Option<String> {
        let (glob, line, lacks) = self.compiled().ok()?;
        let of_others = |path: &str| {
            let node = crate::scan::node_of(path);
            !nodes.is_empty() && !node.is_empty() && !nodes.iter().any(|own| own == node)
        };
        let paths: Vec<String> = state
            .paths()
            .filter(|path| glob.is_match(path) && !of_others(path))
            .map(str::to_owned)
            .collect();
        let lacking = |text: &str| !lacks.as_ref().is_some_and(|lacks| lacks.is_match(text));
        paths.into_iter().find_map(|path| {
            let text = if changed {
                state.now(&path)
            } else {
                state.before(&path)
            }?;
            if self.line.is_empty() && self.pod.is_none() {
                return text.lines().all(lacking).then_some(path);
            }
            let at = text
                .lines()
                .position(|text| self.is_of_pod(text) && line.is_match(text) && lacking(text))?;
            Some(format!("{path}:{}", at + 1))
        })
    }

    fn is_of_pod(&self, line: &str) -> bool {
        let Some(pod) = &self.pod else { return true };
        let name = pod.rsplit('/').next().unwrap_or_default();
        let object: Option<Value> = serde_json::from_str(line.trim().trim_end_matches(',')).ok();
        object.is_some_and(|object| object["metadata"]["name"] == name)
    }

    /// The entries: those named, or the list of the pod's namespace.
    fn entries(&self) -> String {
        let pod = self
            .pod
            .as_deref()
            .map(|pod| pod.strip_prefix("pod/").unwrap_or(pod));
        match pod.and_then(|pod| pod.split_once('/')) {
            Some((namespace, _)) => Entry::ListIn("pods", &globset::escape(namespace)).path(),
            None => self.entry.clone(),
        }
    }

    fn compiled(&self) -> Result<(globset::GlobMatcher, Regex, Option<Regex>), Refused> {
        let wrong = |what: &str, error: String| Refused::new(format!("{what:?}: {error}"));
        let glob =
            Glob::new(&self.entries()).map_err(|error| wrong(&self.entry, error.to_string()))?;
        let expression =
            |text: &str| Regex::new(text).map_err(|error| wrong(text, error.to_string()));
        let lacks = self.lacks.as_deref().map(expression).transpose()?;
        Ok((glob.compile_matcher(), expression(&self.line)?, lacks))
    }
}
