//! Looking into objects: a missing or ill-typed field reads as empty, since captured objects may hold anything.

use chrono::{DateTime, Utc};
use serde_json::Value;

/// The field at a path of names separated by dots.
pub(crate) fn at<'v>(value: &'v Value, path: &str) -> &'v Value {
    path.split('.').fold(value, |inner, name| &inner[name])
}

/// Text at a path; empty where there is none.
pub(crate) fn text<'v>(value: &'v Value, path: &str) -> &'v str {
    at(value, path).as_str().unwrap_or("")
}

/// Text at a path, if it is there.
pub(crate) fn some_text<'v>(value: &'v Value, path: &str) -> Option<&'v str> {
    at(value, path).as_str()
}

/// A number at a path; 0 where there is none.
pub(crate) fn int(value: &Value, path: &str) -> i64 {
    at(value, path).as_i64().unwrap_or(0)
}

/// A switch at a path; off where there is none.
pub(crate) fn flag(value: &Value, path: &str) -> bool {
    at(value, path).as_bool().unwrap_or(false)
}

/// The elements at a path.
pub(crate) fn list<'v>(value: &'v Value, path: &str) -> &'v [Value] {
    at(value, path).as_array().map_or(&[], Vec::as_slice)
}

/// Whether something is at a path.
pub(crate) fn has(value: &Value, path: &str) -> bool {
    !at(value, path).is_null()
}

/// Entries of a map at a path, sorted by name; values that are no text read as empty.
pub(crate) fn map<'v>(value: &'v Value, path: &str) -> Vec<(&'v str, &'v str)> {
    let entries = at(value, path).as_object().into_iter().flatten();
    let mut entries: Vec<_> = entries
        .map(|(name, value)| (name.as_str(), value.as_str().unwrap_or("")))
        .collect();
    entries.sort_unstable();
    entries
}

/// A value of an annotation.
pub(crate) fn annotation<'v>(object: &'v Value, name: &str) -> Option<&'v str> {
    object["metadata"]["annotations"][name].as_str()
}

/// A moment at a path; none also where it is the zero time of Go.
pub(crate) fn time(value: &Value, path: &str) -> Option<DateTime<Utc>> {
    let text = some_text(value, path)?;
    let time = DateTime::parse_from_rfc3339(text).ok()?.to_utc();
    (time.timestamp() != -62_135_596_800).then_some(time)
}

/// Writes text as Go's JSON encoder does: `<`, `>`, `&` and line separators are escaped.
pub(crate) fn write_go_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for c in text.chars() {
        match c {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            '\n' => out.extend_from_slice(b"\\n"),
            '\r' => out.extend_from_slice(b"\\r"),
            '\t' => out.extend_from_slice(b"\\t"),
            '\u{8}' => out.extend_from_slice(b"\\b"),
            '\u{c}' => out.extend_from_slice(b"\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..'\u{20}' => {
                out.extend_from_slice(format!("\\u{:04x}", c as u32).as_bytes());
            }
            c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}

/// A value as Go's JSON encoder writes a map of anything: names sorted.
pub(crate) fn write_go_value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::String(text) => write_go_string(text, out),
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_go_value(item, out);
            }
            out.push(b']');
        }
        Value::Object(entries) => {
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by_key(|(name, _)| *name);
            out.push(b'{');
            for (index, (name, value)) in entries.into_iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write_go_string(name, out);
                out.push(b':');
                write_go_value(value, out);
            }
            out.push(b'}');
        }
        plain => out.extend_from_slice(plain.to_string().as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_as_go_does() {
        let mut out = Vec::new();
        write_go_string("<none> & \"a\"\n\u{1}", &mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            r#""\u003cnone\u003e \u0026 \"a\"\n\u0001""#
        );
    }
}
