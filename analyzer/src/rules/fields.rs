//! Tests of a fact's fields.

use std::borrow::Cow;

use serde_json::Value;

use super::compile::Test;

/// A value as a sentence holds it.
pub(super) fn plain(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => text.into(),
        Value::Null => "".into(),
        Value::Array(items) => items
            .iter()
            .map(plain)
            .collect::<Vec<_>>()
            .join(", ")
            .into(),
        other => other.to_string().into(),
    }
}

/// Whether a value passes a test.
pub(super) fn passes(test: &Test, value: &Value) -> bool {
    match test {
        Test::Equals(wanted) => value == wanted,
        Test::In(wanted) => wanted.contains(value),
        // The items of a list are statements of their own: no expression runs from one into the next.
        Test::Matches(regex) => match value {
            Value::Array(items) if !items.is_empty() => {
                items.iter().any(|item| regex.is_match(&plain(item)))
            }
            other => regex.is_match(&plain(other)),
        },
        Test::Greater(limit) => number(value).is_some_and(|number| number > *limit),
        Test::Less(limit) => number(value).is_some_and(|number| number < *limit),
        Test::Missing(wanted) => is_missing(value) == *wanted,
        Test::Has(wanted) => match value {
            Value::Array(items) => items.contains(wanted),
            Value::Object(map) => wanted.as_str().is_some_and(|key| map.contains_key(key)),
            _ => false,
        },
        Test::Not(inner) => !passes(inner, value),
    }
}

/// A field, or with a dot in its name the entry of a field that is a map. Keys may hold dots themselves.
pub(super) fn entry<'v>(fields: &'v Value, name: &str) -> &'v Value {
    match name.split_once('.') {
        Some((field, key)) => &fields[field][key],
        None => &fields[name],
    }
}

/// The field that holds what a name names.
pub(super) fn top(name: &str) -> &str {
    name.split_once('.').map_or(name, |(field, _)| field)
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

fn is_missing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::scan::patterns::Expression;

    #[test]
    fn two_messages_of_one_thing_do_not_make_one_statement() {
        let test = Test::Matches(Expression::new("pull.{0,99}refused"));
        let apart = json!([
            "Unable to retrieve pull secrets",
            "dial tcp: connection refused"
        ]);
        assert!(!passes(&test, &apart));
        assert!(passes(&test, &json!(["x", "pull: connection refused"])));
        assert!(passes(&test, &json!(["pull: connection refused"])));
    }
}
