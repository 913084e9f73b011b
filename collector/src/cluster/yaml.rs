//! YAML as helm prints values: block style, keys in the order of Go's encoder, text quoted where a reader could take
//! it for something else.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// The document, with a line end. JSON's own depth limit bounds the recursion.
pub fn to_yaml(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::Object(table) if !table.is_empty() => write_table(table, 0, false, &mut text),
        Value::Array(list) if !list.is_empty() => write_list(list, 0, &mut text),
        scalar => {
            write_scalar(scalar, 0, &mut text);
            text.push('\n');
        }
    }
    text
}

fn indent(depth: usize, text: &mut String) {
    for _ in 0..depth {
        text.push_str("  ");
    }
}

/// `inline` says that the first key stands on the line of a list's dash.
fn write_table(table: &Map<String, Value>, depth: usize, inline: bool, text: &mut String) {
    let mut members: Vec<(&String, &Value)> = table.iter().collect();
    members.sort_by_cached_key(|(key, _)| key_rank(key));
    for (index, (key, value)) in members.into_iter().enumerate() {
        if index > 0 || !inline {
            indent(depth, text);
        }
        write_string(key, 0, false, text);
        text.push(':');
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                text.push('\n');
                write_table(inner, depth + 1, false, text);
            }
            Value::Array(inner) if !inner.is_empty() => {
                text.push('\n');
                write_list(inner, depth, text);
            }
            scalar => {
                text.push(' ');
                write_scalar(scalar, depth + 1, text);
                text.push('\n');
            }
        }
    }
}

fn write_list(list: &[Value], depth: usize, text: &mut String) {
    for value in list {
        indent(depth, text);
        text.push_str("- ");
        match value {
            Value::Object(inner) if !inner.is_empty() => write_table(inner, depth + 1, true, text),
            Value::Array(inner) if !inner.is_empty() => {
                // A list in a list begins on its own line: the dash alone stands for it.
                text.truncate(text.len() - 1);
                text.push('\n');
                write_list(inner, depth + 1, text);
            }
            scalar => {
                write_scalar(scalar, depth + 1, text);
                text.push('\n');
            }
        }
    }
}

fn write_scalar(value: &Value, depth: usize, text: &mut String) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(bool) => text.push_str(if *bool { "true" } else { "false" }),
        Value::Number(number) => text.push_str(&number.to_string()),
        Value::String(string) => write_string(string, depth, true, text),
        Value::Array(_) => text.push_str("[]"),
        Value::Object(_) => text.push_str("{}"),
    }
}

/// `block` allows the form with `|` for text of several lines, indented to `depth`.
fn write_string(string: &str, depth: usize, block: bool, text: &mut String) {
    if block && depth > 0 && fits_block(string) {
        let mark = if !string.ends_with('\n') {
            "|-"
        } else if string.ends_with("\n\n") {
            "|+"
        } else {
            "|"
        };
        text.push_str(mark);
        for line in string.strip_suffix('\n').unwrap_or(string).split('\n') {
            text.push('\n');
            if !line.is_empty() {
                indent(depth, text);
                text.push_str(line);
            }
        }
    } else if is_plain(string) {
        text.push_str(string);
    } else {
        write_quoted(string, text);
    }
}

fn write_quoted(string: &str, text: &mut String) {
    text.push('"');
    for c in string.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            c if is_printable(c) => text.push(c),
            // Writing to a string cannot fail.
            c if u32::from(c) < 0x1_0000 => drop(write!(text, "\\u{:04X}", u32::from(c))),
            c => drop(write!(text, "\\U{:08X}", u32::from(c))),
        }
    }
    text.push('"');
}

fn is_printable(c: char) -> bool {
    !(c.is_control()
        || matches!(
            c,
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        ))
}

fn fits_block(string: &str) -> bool {
    let first = string.chars().next();
    string.contains('\n')
        && first.is_some_and(|c| !c.is_whitespace())
        && string.chars().all(|c| c == '\n' || c == '\t' || is_printable(c))
        // A line of nothing but white space would be taken for indentation.
        && string.split('\n').all(|line| line.is_empty() || !line.trim().is_empty())
}

/// Whether a reader takes the bare text for a string, by YAML 1.1 (Go's) and 1.2 alike.
fn is_plain(string: &str) -> bool {
    let Some(first) = string.chars().next() else {
        return false;
    };
    let starts = first.is_ascii_alphabetic()
        || first == '/'
        || first == '_'
        || (!first.is_ascii() && is_printable(first));
    let starts = starts || (first.is_ascii_digit() && has_no_number(string));
    let word = string.to_ascii_lowercase();
    let resolves = matches!(
        word.as_str(),
        "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n" | "nan" | "inf"
    );
    starts
        && !resolves
        && string.chars().all(is_printable)
        && !string.contains(": ")
        && !string.contains(" #")
        && !string.ends_with([' ', ':'])
        && !string.contains('\u{a0}')
}

/// Text that begins with a digit and is neither a number, a time, a date nor a base-60 number.
fn has_no_number(string: &str) -> bool {
    let number_like = string.chars().all(|c| {
        c.is_ascii_hexdigit()
            || matches!(
                c,
                'x' | 'o' | '_' | '.' | ':' | '-' | '+' | 'T' | 't' | 'Z' | 'z' | ' ' | ','
            )
    });
    !number_like
}

/// What keys are ordered by, nearly as Go's YAML encoder does: letters after other signs, runs of digits by their
/// number. Go's own comparison is no order (it can go round in circles), this is one.
fn key_rank(key: &str) -> Vec<(u8, u64, u32)> {
    let mut rank: Vec<(u8, u64, u32)> = Vec::new();
    for c in key.chars() {
        match (c.to_digit(10), rank.last_mut()) {
            (Some(digit), Some((1, value, length))) if *length < 18 => {
                *value = *value * 10 + u64::from(digit);
                *length += 1;
            }
            (Some(digit), _) => rank.push((1, u64::from(digit), 1)),
            (None, _) => rank.push((
                if c.is_alphabetic() { 2 } else { 0 },
                u64::from(u32::from(c)),
                0,
            )),
        }
    }
    rank
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn values_look_as_helm_prints_them() {
        let value = json!({"toolkit": {"env": [{"name": "CONTAINERD_SOCKET", "value": "/run/x.sock"}, {"value": "true", "name": "B"}], "none": []},
            "a": {}, "on": "on", "version": "26.7", "text": "one\ntwo\n", "image": "nvcr.io/nvidia/x:v1", "n": null, "x10": 1, "x9": 0.5});
        let expected = r#"a: {}
image: nvcr.io/nvidia/x:v1
"n": null
"on": "on"
text: |
  one
  two
toolkit:
  env:
  - name: CONTAINERD_SOCKET
    value: /run/x.sock
  - name: B
    value: "true"
  none: []
version: "26.7"
x9: 0.5
x10: 1
"#;
        assert_eq!(to_yaml(&value), expected);
        assert_eq!(to_yaml(&json!({})), "{}\n");
    }

    fn json() -> impl Strategy<Value = Value> {
        let text = prop_oneof![
            "\\PC{0,8}",
            "[-0-9a-f:.#?&*!|>'\"%@` \n\t{}\\[\\],xoe+_TZ]{0,8}",
            "(true|No|~|null|0x1f|1e3|12:30|2026-01-01|=|<<|-|\\.inf)"
        ];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            text.clone().prop_map(Value::from)
        ];
        leaf.prop_recursive(4, 32, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(text.clone(), inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_yaml_reader_gets_back_what_was_written(value in json()) {
            let text = to_yaml(&value);
            let read: Value = serde_saphyr::from_str(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
            prop_assert_eq!(&read, &value, "{}", text);
        }

        #[test]
        fn only_equal_keys_rank_the_same(a in "[a-c0-2_.-]{0,5}", b in "[a-c0-2_.-]{0,5}") {
            prop_assert_eq!(key_rank(&a) == key_rank(&b), a == b);
        }
    }
}
