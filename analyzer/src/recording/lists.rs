//! Lists of objects, item by item: one a line as our collector writes them, or in any other layout.

use casefile_serve::{Declared, Hint};
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::layouts::yaml_items;

/// A list in another layout may be this long, in bytes.
const WHOLE_LIMIT: usize = 256 << 20;

/// Takes an object and what is known of it.
pub(super) type Take<'t> = &'t mut dyn FnMut(&[u8], Hint<'_>);

/// What a list was of.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Taken {
    /// `v1` and `Pod`.
    pub(super) of: Option<(String, String)>,
    pub(super) items: usize,
    /// It ends before its end.
    pub(super) cut: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct List<'a> {
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    api_version: Option<String>,
    #[serde(borrow, default)]
    items: Option<Vec<&'a RawValue>>,
}

/// A list that comes in pieces.
#[derive(Default)]
pub(super) struct Lists {
    rest: Vec<u8>,
    /// Whether it has one item a line; not known before its first line.
    lines: Option<bool>,
    of: Option<(String, String)>,
    items: usize,
    ended: bool,
}

impl Lists {
    /// Takes a piece, and gives the objects that are whole.
    pub(super) fn take(&mut self, bytes: &[u8], resource: Option<&str>, each: Take<'_>) {
        if self.rest.len() > WHOLE_LIMIT {
            return;
        }
        self.rest.extend_from_slice(bytes);
        if self.lines.is_none()
            && let Some(end) = self.rest.iter().position(|byte| *byte == b'\n')
        {
            let first = self.rest[..end].trim_ascii_end();
            let framed = first.starts_with(b"{") && first.ends_with(b"[") && first.len() > 2;
            self.of = framed.then(|| frame(first)).flatten();
            self.lines = Some(framed);
            if framed {
                self.rest.drain(..=end);
            }
        }
        if self.lines == Some(true) {
            let end = self
                .rest
                .iter()
                .rposition(|byte| *byte == b'\n')
                .map_or(0, |at| at + 1);
            let whole: Vec<u8> = self.rest.drain(..end).collect();
            for line in whole.split(|byte| *byte == b'\n') {
                self.line(line, resource, each);
            }
        }
    }

    fn line(&mut self, line: &[u8], resource: Option<&str>, each: Take<'_>) {
        let line = line.trim_ascii();
        let line = line.strip_suffix(b",").unwrap_or(line);
        if line.starts_with(b"]") {
            self.ended = true;
        } else if !line.is_empty() {
            self.items += 1;
            each(line, hint(self.of.as_ref(), resource));
        }
    }

    /// The rest of the list.
    pub(super) fn end(mut self, resource: Option<&str>, each: Take<'_>) -> Taken {
        let rest = std::mem::take(&mut self.rest);
        if self.lines == Some(true) {
            // A line without an end is what a cut leaves, or the last of the list.
            let cut =
                !rest.is_empty() && serde_json::from_slice::<&RawValue>(rest.trim_ascii()).is_err();
            if !cut || rest.trim_ascii().starts_with(b"]") {
                self.line(&rest, resource, each);
            }
            return Taken {
                of: self.of,
                items: self.items,
                cut: !self.ended,
            };
        }
        whole(&rest, resource, each)
    }
}

/// Kind and version of a list, from its first line.
fn frame(first: &[u8]) -> Option<(String, String)> {
    let closed = [first, b"]}"].concat();
    let list: List<'_> = serde_json::from_slice(&closed).ok()?;
    of(&list)
}

fn of(list: &List<'_>) -> Option<(String, String)> {
    let kind = list.kind.as_deref()?.strip_suffix("List")?;
    (!kind.is_empty()).then(|| {
        (
            list.api_version.clone().unwrap_or_default(),
            kind.to_owned(),
        )
    })
}

fn hint<'h>(of: Option<&'h (String, String)>, resource: Option<&'h str>) -> Hint<'h> {
    Hint {
        api_version: of
            .map(|of| of.0.as_str())
            .filter(|version| !version.is_empty()),
        kind: of.map(|of| of.1.as_str()),
        resource,
    }
}

/// A list, a bare array or one object, in any layout.
fn whole(bytes: &[u8], resource: Option<&str>, each: Take<'_>) -> Taken {
    let bytes = bytes.trim_ascii();
    if let Ok(items) = serde_json::from_slice::<Vec<&RawValue>>(bytes) {
        items
            .iter()
            .for_each(|item| each(item.get().as_bytes(), hint(None, resource)));
        return Taken {
            items: items.len(),
            ..Taken::default()
        };
    }
    match serde_json::from_slice::<List<'_>>(bytes) {
        Ok(list) => {
            let of = of(&list);
            let is_list = list
                .kind
                .as_deref()
                .is_some_and(|kind| kind.ends_with("List"));
            match list.items {
                Some(items) => {
                    let hint = hint(of.as_ref(), resource);
                    items
                        .iter()
                        .for_each(|item| each(item.get().as_bytes(), hint));
                    Taken {
                        of,
                        items: items.len(),
                        cut: false,
                    }
                }
                None if is_list => Taken {
                    of,
                    ..Taken::default()
                },
                None => {
                    each(bytes, hint(None, resource));
                    Taken {
                        items: 1,
                        ..Taken::default()
                    }
                }
            }
        }
        Err(_) if bytes.is_empty() || bytes == b"null" => Taken::default(),
        Err(_) => cut(bytes, resource, each).unwrap_or_else(|| {
            each(bytes, hint(None, resource));
            Taken::default()
        }),
    }
}

/// The whole objects of a list whose text ends before its end; none where it is no list.
fn cut(bytes: &[u8], resource: Option<&str>, each: Take<'_>) -> Option<Taken> {
    const ITEMS: &[u8] = b"\"items\"";
    let at = memchr::memmem::find(bytes, ITEMS)?;
    let head = [bytes.get(..at)?.trim_ascii_end(), b"\"items\":[]}"].concat();
    let list: List<'_> = serde_json::from_slice(&head).ok()?;
    let rest = bytes.get(at + ITEMS.len()..)?.trim_ascii_start();
    let mut rest = rest
        .strip_prefix(b":")?
        .trim_ascii_start()
        .strip_prefix(b"[")?;
    let mut taken = Taken {
        of: of(&list),
        cut: true,
        ..Taken::default()
    };
    loop {
        let mut items = serde_json::Deserializer::from_slice(rest).into_iter::<&RawValue>();
        let Some(Ok(item)) = items.next() else {
            return Some(taken);
        };
        taken.items += 1;
        taken.of = taken.of.or_else(|| own_kind(item.get().as_bytes()));
        each(item.get().as_bytes(), hint(of(&list).as_ref(), resource));
        rest = rest.get(items.byte_offset()..)?.trim_ascii_start();
        rest = rest.strip_prefix(b",").unwrap_or(rest);
    }
}

/// Version and kind that an object states.
fn own_kind(raw: &[u8]) -> Option<(String, String)> {
    let own: List<'_> = serde_json::from_slice(raw).ok()?;
    own.api_version.zip(own.kind)
}

/// A list or an object in YAML.
pub(super) fn yaml(text: &str, resource: Option<&str>, each: Take<'_>) -> Taken {
    let top = |name: &str| {
        let mut lines = text
            .lines()
            .filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        lines
            .next()
            .map(|value| value.trim().trim_matches('"').to_owned())
    };
    let kind = top("kind").and_then(|kind| Some(kind.strip_suffix("List")?.to_owned()));
    let kind = kind.filter(|kind| !kind.is_empty());
    let of = kind
        .zip(top("apiVersion"))
        .map(|(kind, version)| (version, kind));
    let mut items = 0;
    for (_, item) in yaml_items(text) {
        if let Ok(item) = item {
            items += 1;
            each(item.to_string().as_bytes(), hint(of.as_ref(), resource));
        }
    }
    Taken {
        of,
        items,
        cut: false,
    }
}

/// Objects in a text of unknown origin, which say their kind themselves, and the lists that it holds.
pub(super) fn loose(text: &str, each: Take<'_>) -> Vec<Taken> {
    let trimmed = text.trim_start();
    if trimmed.starts_with('{') || trimmed.starts_with('[') {
        let typed = |raw: &[u8]| memchr::memmem::find(raw, b"\"apiVersion\"").is_some();
        let taken = whole(text.as_bytes(), None, &mut |raw, hint| {
            if hint.kind.is_some() || typed(raw) {
                each(raw, hint);
            }
        });
        return vec![taken];
    }
    let documents = text.split("\n---").filter(|document| {
        let says = |name: &str| document.lines().any(|line| line.starts_with(name));
        says("apiVersion:") && says("kind:")
    });
    documents
        .map(|document| yaml(document.trim_start_matches('-'), None, each))
        .collect()
}

/// Kinds as `cluster-info/resources.json` tells of them.
pub(super) fn declared(text: &str) -> Vec<Declared> {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    let lines = value["resources"].as_array().cloned().unwrap_or_default();
    let text = |line: &Value, name: &str| line[name].as_str().unwrap_or("").to_owned();
    lines
        .iter()
        .filter(|line| line["outcome"] != "absent")
        .map(|line| {
            let outcome = text(line, "outcome");
            Declared {
                resource: text(line, "name"),
                api_version: text(line, "api_version"),
                kind: text(line, "kind"),
                namespaced: line["namespaced"].as_bool().unwrap_or(true),
                whole: outcome == "collected",
                why: line["why"]
                    .as_str()
                    .map_or_else(|| Some(outcome.clone()), |why| Some(why.to_owned()))
                    .filter(|_| outcome != "collected"),
            }
        })
        .collect()
}

/// The newest moment at which an object says that something happened.
pub(super) fn newest(raw: &[u8]) -> Option<DateTime<Utc>> {
    const MARKS: [&str; 5] = [
        "\"creationTimestamp\":",
        "\"lastHeartbeatTime\":",
        "\"lastTimestamp\":",
        "\"lastTransitionTime\":",
        "\"renewTime\":",
    ];
    let times = MARKS.iter().flat_map(|mark| {
        memchr::memmem::find_iter(raw, mark.as_bytes()).filter_map(|at| {
            let text = raw
                .get(at + mark.len()..)?
                .trim_ascii_start()
                .strip_prefix(b"\"")?;
            let end = text.iter().take(40).position(|byte| *byte == b'"')?;
            let text = std::str::from_utf8(&text[..end]).ok()?;
            Some(DateTime::parse_from_rfc3339(text).ok()?.to_utc())
        })
    });
    times.max()
}

/// An object's name.
pub(super) fn name(raw: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(raw).ok()?;
    Some(value["metadata"]["name"].as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(pieces: &[&str]) -> (Taken, Vec<(String, Option<String>)>) {
        let mut found = Vec::new();
        let mut lists = Lists::default();
        let mut each = |raw: &[u8], hint: Hint<'_>| {
            let name = name(raw).unwrap_or_default();
            found.push((name, hint.kind.map(str::to_owned)));
        };
        for piece in pieces {
            lists.take(piece.as_bytes(), Some("pods"), &mut each);
        }
        let taken = lists.end(Some("pods"), &mut each);
        (taken, found)
    }

    const HEAD: &str = "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":[\n";

    #[test]
    fn a_list_comes_in_pieces_and_may_be_cut() {
        let (whole, found) = taken(&[
            HEAD,
            "{\"metadata\":{\"name\":\"a\"}},\n{\"meta",
            "data\":{\"name\":\"b\"}}\n]}\n",
        ]);
        assert_eq!((whole.items, whole.cut), (2, false));
        assert_eq!(found[1], ("b".to_owned(), Some("Pod".to_owned())));
        let (cut, found) = taken(&[
            HEAD,
            "{\"metadata\":{\"name\":\"a\"}},\n{\"metadata\":{\"na",
        ]);
        assert_eq!((cut.items, cut.cut, found.len()), (1, true, 1));
    }

    #[test]
    fn the_newest_moment_is_found_in_any_layout() {
        let text = br#"{"creationTimestamp": "2026-01-01T00:00:00Z", "renewTime":"2026-01-02T00:00:00.5Z", "notAfter":"2099-01-01T00:00:00Z"}"#;
        assert_eq!(
            newest(text).map(|at| at.to_rfc3339()),
            Some("2026-01-02T00:00:00.500+00:00".to_owned())
        );
    }

    #[test]
    fn other_layouts_are_read_as_a_whole() {
        let pretty = "{\n \"kind\": \"PodList\",\n \"apiVersion\": \"v1\",\n \"items\": [\n  {\"metadata\": {\"name\": \"a\"}}\n ]\n}";
        assert_eq!(
            taken(&[pretty]).1,
            [("a".to_owned(), Some("Pod".to_owned()))]
        );
        assert_eq!(
            taken(&["[{\"metadata\":{\"name\":\"a\"}}]"]).1,
            [("a".to_owned(), None)]
        );
    }
}
