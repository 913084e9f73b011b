//! Kubernetes objects in YAML, item by item: a list of ten thousand events is never held as one tree.

use std::borrow::Cow;
use std::iter::{Peekable, Zip};
use std::ops::RangeFrom;
use std::str::Lines;

use serde_json::Value;

/// Items one after the other, each with the line at which it starts, from 1, or what is wrong with it.
type Each<'t, T> = Box<dyn Iterator<Item = (u32, Result<T, String>)> + 't>;

/// The items of a list, or the one object, each with the line at which it starts, from 1; an item that does
/// not parse comes as its error.
pub(crate) fn items(text: &str) -> Each<'_, Value> {
    match Items::of(text) {
        Some(items) => Box::new(items.map(|(line, item)| (line, parse(&item)))),
        None => Box::new(single(text).into_iter()),
    }
}

/// The same as JSON, for parsers, which have no use for who manages which field.
pub(crate) fn items_as_json(text: &str) -> Each<'_, Vec<u8>> {
    let json = |item: String| super::yaml_json::json(&unmanaged(&item));
    let written = |item: Value| serde_json::to_vec(&item).map_err(|error| error.to_string());
    match Items::of(text) {
        Some(items) => Box::new(items.map(move |(line, item)| (line, json(item)))),
        None => {
            let single = single(text).into_iter();
            Box::new(single.map(move |(line, item)| (line, item.and_then(written))))
        }
    }
}

/// An item without `metadata.managedFields`, which is half of many.
fn unmanaged(item: &str) -> Cow<'_, str> {
    if !item.contains("  managedFields:\n") {
        return Cow::Borrowed(item);
    }
    let mut kept = String::with_capacity(item.len());
    let (mut of_metadata, mut skips) = (false, false);
    for line in item.split_inclusive('\n') {
        if !line.starts_with([' ', '-', '\n']) {
            of_metadata = line.starts_with("metadata:");
        }
        let inside = line.starts_with("   ") || line.starts_with("  -");
        skips = (skips && inside) || (of_metadata && line == "  managedFields:\n");
        if !skips {
            kept.push_str(line);
        }
    }
    Cow::Owned(kept)
}

/// The texts of a list's items, each with the line at which it starts.
struct Items<'t> {
    /// The lines that are not read yet, each with its number.
    lines: Peekable<Zip<Lines<'t>, RangeFrom<u32>>>,
    /// The column of the dash before each item.
    indent: usize,
}

impl<'t> Items<'t> {
    /// Those of a text; none of one that is no list.
    fn of(text: &'t str) -> Option<Self> {
        let mut lines = text.lines().zip(1..).peekable();
        lines.find(|(line, _)| line.starts_with("items:"))?;
        // Where no dash follows there are none.
        let first = lines.peek().and_then(|(line, _)| line.find("- "));
        Some(Self {
            lines,
            indent: first.unwrap_or(usize::MAX),
        })
    }

    /// What a line says behind the dash, or behind where it stands; none of one that begins no item.
    fn begun(&self, line: &'t str) -> Option<&'t str> {
        let (blanks, rest) = line.split_at_checked(self.indent)?;
        let is_first = blanks.bytes().all(|byte| byte == b' ');
        rest.strip_prefix("- ").filter(|_| is_first)
    }
}

impl Iterator for Items<'_> {
    type Item = (u32, String);

    fn next(&mut self) -> Option<Self::Item> {
        let belongs = |line: &str| line.is_empty() || line.starts_with([' ', '#']);
        let mut item: Option<(u32, String)> = None;
        while let Some((line, number)) = self.lines.peek().copied() {
            match (self.begun(line), &mut item) {
                (Some(_), Some(_)) => break,
                (Some(first), None) => item = Some((number, format!("{first}\n"))),
                (None, _) if !belongs(line) => break,
                (None, Some((_, text))) => {
                    // The dash of the item stands where its keys are indented to.
                    text.push_str(line.get(self.indent + 2..).unwrap_or(""));
                    text.push('\n');
                }
                (None, None) => {}
            }
            self.lines.next();
        }
        item
    }
}

fn single(text: &str) -> Option<(u32, Result<Value, String>)> {
    match parse(text) {
        Ok(Value::Object(object)) if object.contains_key("metadata") => {
            let list = object
                .get("kind")
                .and_then(Value::as_str)
                .is_some_and(|kind| kind.ends_with("List"));
            (!list).then_some((1, Ok(Value::Object(object))))
        }
        Ok(_) => None,
        Err(error) => Some((1, Err(error))),
    }
}

/// A document; the error is its first line. As kubectl writes it, it is read many times faster.
pub(crate) fn parse(text: &str) -> Result<Value, String> {
    let plain = super::yaml_plain::json(text);
    if let Some(value) = plain.and_then(|json| serde_json::from_slice(&json).ok()) {
        return Ok(value);
    }
    serde_saphyr::from_str::<Value>(text).map_err(|error| {
        let text = error.to_string();
        text.lines().next().unwrap_or("not YAML").to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_without_a_kind_are_read_with_their_lines() {
        let text = "apiVersion: v1\nitems:\n- metadata:\n    name: a\n  count: 2\n- metadata:\n    name: b\n    note: |-\n      - x\nkind: EventList\nmetadata:\n  x: y\n";
        let found = items(text);
        let names: Vec<(u32, String)> = found
            .map(|(line, item)| (line, item.unwrap()["metadata"]["name"].to_string()))
            .collect();
        assert_eq!(names, [(3, "\"a\"".to_owned()), (6, "\"b\"".to_owned())]);
    }

    #[test]
    fn items_as_json_are_the_same_values_without_who_manages_them() {
        let text = "apiVersion: v1\nitems:\n- apiVersion: v1\n  data:\n    a: 'x: y'\n    n: \"1\"\n    note: |-\n      two\n      lines\n  metadata:\n    managedFields:\n    - manager: kubectl\n      fieldsV1:\n        f:data: {}\n    name: a\n    labels: {}\n  spec:\n    list: []\n    no: null\n    on: true\n    half: 0.5\n    80: port\n    items: [1, -2]\nkind: List\n";
        let plain: Vec<(u32, Value)> = items(text)
            .map(|(line, item)| {
                let mut item = item.unwrap();
                item["metadata"]
                    .as_object_mut()
                    .unwrap()
                    .remove("managedFields");
                (line, item)
            })
            .collect();
        let json: Vec<(u32, Value)> = items_as_json(text)
            .map(|(line, item)| (line, serde_json::from_slice(&item.unwrap()).unwrap()))
            .collect();
        assert_eq!(json, plain);
        assert_eq!(
            json[0].1["metadata"],
            serde_json::json!({ "name": "a", "labels": {} })
        );
        let broken: Vec<_> = items_as_json("items:\n- a: [\n- b: 1\n").collect();
        assert!(broken[0].1.is_err() && broken[1].1.is_ok());
    }

    #[test]
    fn an_empty_list_and_a_list_without_items_hold_nothing() {
        assert_eq!(
            items("apiVersion: v1\nitems: []\nkind: PodList\n").count(),
            0
        );
        assert_eq!(
            items("apiVersion: v1\nkind: PodList\nmetadata:\n  resourceVersion: \"1\"\n").count(),
            0
        );
        assert_eq!(items("kind: Pod\nmetadata:\n  name: a\n").count(), 1);
    }
}
