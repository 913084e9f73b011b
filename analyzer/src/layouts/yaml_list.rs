//! Kubernetes objects in YAML, item by item: a list of ten thousand events is never held as one tree.

use std::borrow::Cow;

use serde_json::Value;

/// The items of a list, or the one object, each with the line at which it starts, from 1; an item that does
/// not parse comes as its error.
pub(crate) fn items(text: &str) -> Vec<(u32, Result<Value, String>)> {
    match split(text) {
        Some(items) => items
            .into_iter()
            .map(|(line, item)| (line, parse(&item)))
            .collect(),
        None => single(text).into_iter().collect(),
    }
}

/// The same as JSON, for parsers, which have no use for who manages which field.
pub(crate) fn items_as_json(text: &str) -> Vec<(u32, Result<Vec<u8>, String>)> {
    let written = |item: Value| serde_json::to_vec(&item).map_err(|error| error.to_string());
    match split(text) {
        Some(items) => items
            .into_iter()
            .map(|(line, item)| (line, super::yaml_json::json(&unmanaged(&item))))
            .collect(),
        None => single(text)
            .into_iter()
            .map(|(line, item)| (line, item.and_then(written)))
            .collect(),
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

/// The texts of a list's items, each with the line at which it starts; none of a text that is no list.
fn split(text: &str) -> Option<Vec<(u32, String)>> {
    let lines: Vec<&str> = text.lines().collect();
    let head = lines.iter().position(|line| line.starts_with("items:"))?;
    let Some(indent) = lines.get(head + 1).and_then(|line| line.find("- ")) else {
        return Some(Vec::new());
    };
    let begins = |line: &str| {
        line.len() > indent + 1
            && line.is_char_boundary(indent)
            && line[..indent].bytes().all(|byte| byte == b' ')
            && line[indent..].starts_with("- ")
    };
    let belongs = |line: &&&str| {
        line.is_empty() || line.starts_with(' ') || line.starts_with('#') || begins(line)
    };
    let body: Vec<&str> = lines[head + 1..]
        .iter()
        .take_while(belongs)
        .copied()
        .collect();
    let starts: Vec<usize> = (0..body.len()).filter(|at| begins(body[*at])).collect();
    let ends = starts.iter().skip(1).copied().chain([body.len()]);
    let each = starts.iter().copied().zip(ends).map(|(from, to)| {
        let mut item = String::new();
        for (at, line) in body[from..to].iter().enumerate() {
            let rest = line.get(indent + 2..).unwrap_or("");
            // The dash of the item stands where its keys are indented to.
            item.push_str(if at == 0 { &line[indent + 2..] } else { rest });
            item.push('\n');
        }
        let line = u32::try_from(head + 2 + from).unwrap_or(u32::MAX);
        (line, item)
    });
    Some(each.collect())
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

fn parse(text: &str) -> Result<Value, String> {
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
            .into_iter()
            .map(|(line, item)| (line, item.unwrap()["metadata"]["name"].to_string()))
            .collect();
        assert_eq!(names, [(3, "\"a\"".to_owned()), (6, "\"b\"".to_owned())]);
    }

    #[test]
    fn items_as_json_are_the_same_values_without_who_manages_them() {
        let text = "apiVersion: v1\nitems:\n- apiVersion: v1\n  data:\n    a: 'x: y'\n    n: \"1\"\n    note: |-\n      two\n      lines\n  metadata:\n    managedFields:\n    - manager: kubectl\n      fieldsV1:\n        f:data: {}\n    name: a\n    labels: {}\n  spec:\n    list: []\n    no: null\n    on: true\n    half: 0.5\n    80: port\n    items: [1, -2]\nkind: List\n";
        let plain: Vec<(u32, Value)> = items(text)
            .into_iter()
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
            .into_iter()
            .map(|(line, item)| (line, serde_json::from_slice(&item.unwrap()).unwrap()))
            .collect();
        assert_eq!(json, plain);
        assert_eq!(
            json[0].1["metadata"],
            serde_json::json!({ "name": "a", "labels": {} })
        );
        let broken = items_as_json("items:\n- a: [\n- b: 1\n");
        assert!(broken[0].1.is_err() && broken[1].1.is_ok());
    }

    #[test]
    fn an_empty_list_and_a_list_without_items_hold_nothing() {
        assert!(items("apiVersion: v1\nitems: []\nkind: PodList\n").is_empty());
        assert!(
            items("apiVersion: v1\nkind: PodList\nmetadata:\n  resourceVersion: \"1\"\n")
                .is_empty()
        );
        assert_eq!(items("kind: Pod\nmetadata:\n  name: a\n").len(), 1);
    }
}
