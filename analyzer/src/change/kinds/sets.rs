//! What kinds of changes set, as names and values.

use serde_json::Value;

/// What becomes of one value: itself, or that it is taken away.
pub(super) fn word(value: Option<&str>) -> String {
    value.map_or_else(|| "removed".to_owned(), str::to_owned)
}

/// The scalars of a YAML text by their dotted keys.
pub(super) fn leaves(text: &str, prefix: &str) -> Vec<(String, String)> {
    fn walk(key: &str, value: &Value, into: &mut Vec<(String, String)>) {
        match value {
            Value::Object(map) => {
                for (name, value) in map {
                    walk(&format!("{key}.{name}"), value, into);
                }
            }
            // Lists of named things are set name by name.
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let name = item.get("name").and_then(Value::as_str);
                    walk(
                        &format!(
                            "{key}.{}",
                            name.map_or_else(|| index.to_string(), str::to_owned)
                        ),
                        item,
                        into,
                    );
                }
            }
            other => into.push((key.to_owned(), other.to_string())),
        }
    }
    let mut all = Vec::new();
    if let Ok(Value::Object(map)) = serde_saphyr::from_str::<Value>(text) {
        for (name, value) in &map {
            walk(&format!("{prefix}{name}"), value, &mut all);
        }
    }
    all
}
