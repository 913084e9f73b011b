//! Lists of objects as `kubectl get -A -o json` and `-o yaml` print them, in files of any name. A short one is read by its
//! content, as any text is; one that is too long for that is told by its beginning.

use std::borrow::Cow;

use casefile_bundle::Entry as Ours;

use super::{Capture, Entry, Identity, Layout, Survey, Target};
use crate::parsers::{PRINTED, plural, reader};

/// A shorter text is read by its content, in bytes.
const LONG: u64 = 4 << 20;
/// A longer list that is not indented JSON cannot be read object by object, in bytes.
const WHOLE: u64 = 64 << 20;

pub(super) static LAYOUT: Layout = Layout {
    id: "object-list",
    title: "objects as kubectl prints them",
    recognise: |survey| {
        survey.files(|entry| entry.size.is_some_and(|size| size > LONG) && target(entry).is_some())
    },
    identity: |_: &Survey, _| Identity::default(),
    map: |survey: &Survey, capture: &Capture, _| {
        let target = survey.get(&capture.root).and_then(target);
        target.unwrap_or(Target::Loose)
    },
};

/// What a list is read as; none where its objects are of no kind that is read, or where another text follows.
fn target(entry: &Entry) -> Option<Target> {
    let text = entry.text();
    let end = String::from_utf8_lossy(&entry.tail);
    let (kind, is_json) = match indent(&text) {
        Some(_) if !end.trim_end().ends_with("\n}") => return None,
        Some(indent) => (kind_in_json(&text, indent), true),
        None if !end.lines().any(ends_in_yaml) => return None,
        None if entry.size.is_some_and(|size| size > WHOLE) => return None,
        None => (kind_in_yaml(&text), false),
    };
    let plural = plural(&kind?);
    reader(&plural)?;
    let name = entry.path.replace('/', "-");
    let path = Ours::ListIn(&plural, &format!("{name}{PRINTED}")).path();
    Some(match is_json {
        true => Target::As(path),
        false => Target::Yaml(path),
    })
}

/// A list's own kind, which kubectl prints behind its items.
fn ends_in_yaml(line: &str) -> bool {
    line.starts_with("kind: ") && line.trim_end().ends_with("List")
}

/// By how many blanks the objects of a list in JSON are indented, as far as its beginning tells.
pub(super) fn indent(head: &str) -> Option<usize> {
    let mut lines = head.lines().map(str::trim_end);
    if lines.next() != Some("{") {
        return None;
    }
    let items = lines.find(|line| line.trim_start() == "\"items\": [")?;
    let first = lines.next()?;
    let indent = first.strip_suffix('{')?;
    let is_inside = indent.len() > items.len() - items.trim_start().len();
    (is_inside && indent.bytes().all(|byte| byte == b' ')).then_some(indent.len())
}

/// The kind of the first object: a member of it, and not of what it holds.
fn kind_in_json(head: &str, indent: usize) -> Option<Cow<'_, str>> {
    let mut lines = head.lines().skip_while(|line| {
        let is_first = line.trim_start() == "{" && line.trim_end().len() == indent + 1;
        !is_first
    });
    lines.next()?;
    let mut lines = lines.peekable();
    let first = lines.peek()?;
    let member = &first[..first.len() - first.trim_start().len()];
    let named = lines.find_map(|line| {
        let value = line.strip_prefix(member)?.strip_prefix("\"kind\": \"")?;
        value.split_once('"')
    });
    named.map(|(kind, _)| Cow::Borrowed(kind))
}

/// The same of a list in YAML.
fn kind_in_yaml(head: &str) -> Option<Cow<'_, str>> {
    let mut lines = head.lines();
    if lines.next() != Some("apiVersion: v1") || lines.next() != Some("items:") {
        return None;
    }
    let named = lines.find_map(|line| {
        let member = line
            .strip_prefix("- ")
            .or_else(|| line.strip_prefix("  "))?;
        member.strip_prefix("kind: ")
    });
    named.map(|kind| Cow::Borrowed(kind.trim().trim_matches('"')))
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = "{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n        {\n            \"apiVersion\": \"v1\",\n            \"involvedObject\": {\n                \"kind\": \"Pod\"\n            },\n            \"kind\": \"Event\",\n";

    fn ours((text, end): (&str, &str), size: u64) -> Option<Target> {
        let entry = Entry {
            path: "dump/all.txt".to_owned(),
            head: text.as_bytes().to_vec(),
            tail: end.as_bytes().to_vec(),
            size: Some(size),
        };
        let survey = Survey::new(vec![entry]);
        let root = (LAYOUT.recognise)(&survey).pop()?;
        target(survey.get(&root)?)
    }

    const JSON_END: &str = "    ],\n    \"kind\": \"List\"\n}\n";
    const YAML: &str = "apiVersion: v1\nitems:\n- apiVersion: v1\n  involvedObject:\n    kind: Pod\n  kind: Event\n";
    const YAML_END: &str = "  type: Normal\nkind: List\nmetadata:\n  resourceVersion: \"\"\n";

    #[test]
    fn a_long_list_is_told_by_the_kind_of_its_first_object() {
        let path = "cluster-resources/events/dump-all.txt.printed.json";
        let json = ours((JSON, JSON_END), LONG + 1);
        assert!(matches!(json, Some(Target::As(ours)) if ours == path));
        let yaml = ours((YAML, YAML_END), LONG + 1);
        assert!(matches!(yaml, Some(Target::Yaml(ours)) if ours == path));
    }

    #[test]
    fn short_lists_and_objects_that_nobody_reads_are_left_to_their_content() {
        assert!(ours((JSON, JSON_END), LONG).is_none());
        let gadgets = JSON.replace("Event", "Gadget");
        assert!(ours((&gadgets, JSON_END), LONG + 1).is_none());
        let empty = "{\n    \"items\": [\n    ]\n}\n";
        assert!(ours((empty, JSON_END), LONG + 1).is_none());
        let pod = "apiVersion: v1\nkind: Pod\n";
        assert!(ours((pod, YAML_END), LONG + 1).is_none());
    }

    #[test]
    fn a_text_that_goes_on_behind_a_list_is_left_to_its_content() {
        for log in [
            "}\nroot@n1:~# journalctl\nNov 20 10:00:00 n1 kubelet[1]: x\n",
            "",
        ] {
            assert!(ours((JSON, log), LONG + 1).is_none());
            assert!(ours((YAML, log), LONG + 1).is_none());
        }
    }

    #[test]
    fn objects_stand_further_inside_than_the_list() {
        assert_eq!(indent(JSON), Some(8));
        assert_eq!(
            indent("{\n  \"kind\": \"PodList\",\n  \"items\": [\n    {\n"),
            Some(4)
        );
        assert_eq!(indent("{\"items\": [\n {"), None);
        assert_eq!(indent("{\n  \"items\": [\n {\n"), None);
    }
}
