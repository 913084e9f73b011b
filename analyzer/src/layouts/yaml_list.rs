//! Kubernetes objects in YAML, item by item: a list of ten thousand events is never held as one tree.

use serde_json::Value;

/// The items of a list, or the one object, each with the line at which it starts, from 1; an item that does
/// not parse comes as its error.
pub(crate) fn items(text: &str) -> Vec<(u32, Result<Value, String>)> {
    let lines: Vec<&str> = text.lines().collect();
    let Some(head) = lines.iter().position(|line| line.starts_with("items:")) else {
        return single(text).into_iter().collect();
    };
    let Some(indent) = lines.get(head + 1).and_then(|line| line.find("- ")) else {
        return Vec::new();
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
        (line, parse(&item))
    });
    each.collect()
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
    fn an_empty_list_and_a_list_without_items_hold_nothing() {
        assert!(items("apiVersion: v1\nitems: []\nkind: PodList\n").is_empty());
        assert!(
            items("apiVersion: v1\nkind: PodList\nmetadata:\n  resourceVersion: \"1\"\n")
                .is_empty()
        );
        assert_eq!(items("kind: Pod\nmetadata:\n  name: a\n").len(), 1);
    }
}
