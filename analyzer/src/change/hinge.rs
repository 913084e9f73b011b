//! What a cause needs to be so in the captured files: where only logs told it, a replay looks here.

use std::borrow::Cow;

use casefile_bundle::Entry;
use casefile_bundle::entry::OBJECTS;
use globset::Glob;
use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::Refused;
use super::captured::Captured;

/// What a cause needs in the captured state and cannot act without: a line that is there, or one that is
/// missing. Every text may hold `{signal.field}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hinge {
    /// Entries, as a glob; of a list of Kubernetes objects each object is a line, however the list is laid out. Not needed beside `pod`.
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
            let mut lines = lines(&path, &text).into_iter();
            if self.line.is_empty() && self.pod.is_none() {
                return lines.all(|(_, text)| lacking(&text)).then_some(path);
            }
            let held = |text: &str| self.is_of_pod(text) && line.is_match(text) && lacking(text);
            let (at, _) = lines.find(|(_, text)| held(text))?;
            Some(format!("{path}:{at}"))
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

/// The lines of an entry with their numbers. A list of objects that other tools wrote may be one line, or indented over
/// many: each of its objects is a line all the same, with the number of the one that it begins in.
fn lines<'a>(path: &str, text: &'a str) -> Vec<(usize, Cow<'a, str>)> {
    let first = text.trim_start().lines().next().unwrap_or_default();
    let one_a_line = first.trim_end().ends_with("\"items\":[");
    let list = path.starts_with(OBJECTS) && path.ends_with(".json") && !one_a_line;
    let parsed = list.then(|| serde_json::from_str::<List<'_>>(text).ok());
    match parsed.flatten() {
        Some(list) => objects(text, &list),
        None => (1..).zip(text.lines().map(Cow::Borrowed)).collect(),
    }
}

#[derive(Deserialize)]
struct List<'a> {
    #[serde(borrow)]
    items: Vec<&'a RawValue>,
}

/// Each object of a list without the blanks between its parts.
fn objects<'a>(text: &str, list: &List<'a>) -> Vec<(usize, Cow<'a, str>)> {
    let (mut line, mut counted) = (1, 0);
    let of = |item: &&'a RawValue| {
        let item = item.get();
        let offset = (item.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        let offset = offset.clamp(counted, text.len());
        line += memchr::memchr_iter(b'\n', &text.as_bytes()[counted..offset]).count();
        counted = offset;
        let object = serde_json::from_str::<Value>(item);
        let plain = object.map_or(Cow::Borrowed(item), |one| Cow::Owned(one.to_string()));
        (line, plain)
    };
    list.items.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_a_line_however_its_list_is_laid_out() {
        let (path, object) = (
            "cluster-resources/pods/a.json",
            r#"{"metadata":{"name":"b"},"x":1}"#,
        );
        let as_collected =
            format!("{{\"kind\":\"PodList\",\"items\":[\n{object},\n{object}\n]}}\n");
        let on_one_line = format!("{{\"items\":[{object},{object}],\"kind\":\"PodList\"}}");
        let indented = "{\n  \"items\": [\n    {\n      \"metadata\": {\"name\": \"b\"},\n      \"x\": 1\n    }\n  ]\n}\n";
        let held = |text: &str| -> Vec<usize> {
            let all = lines(path, text).into_iter();
            let own = all.filter(|(_, line)| line.trim_end_matches(',') == object);
            own.map(|(at, _)| at).collect()
        };
        assert_eq!(held(&as_collected), [2, 3]);
        assert_eq!(held(&on_one_line), [1, 1]);
        assert_eq!(held(indented), [3]);
        assert_eq!(lines("nodes/n1/rootfs/etc/x.json", indented).len(), 8);
    }
}
