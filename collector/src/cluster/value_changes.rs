//! What changed between two sets of values: the paths, and both sides with nothing but what differs, keys kept in
//! place so that redaction sees them.

use serde::Serialize;
use serde_json::{Map, Value};

/// Paths named; the values themselves are complete.
const MAX_PATHS: usize = 1_000;

/// The difference of two tables.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Changes {
    /// Where they differ: `toolkit.env`. A list counts as one value.
    pub paths: Vec<String>,
    /// The first table, pruned to what differs.
    pub before: Value,
    /// The second table, pruned to what differs.
    pub after: Value,
}

/// Compares two sets of values.
pub fn changes(before: &Value, after: &Value) -> Changes {
    let mut paths = Vec::new();
    let (before, after) = differ(before, after, "", &mut paths);
    paths.sort_unstable();
    paths.truncate(MAX_PATHS);
    Changes {
        paths,
        before,
        after,
    }
}

/// JSON's own depth limit bounds the recursion.
fn differ(before: &Value, after: &Value, at: &str, paths: &mut Vec<String>) -> (Value, Value) {
    let (Value::Object(old), Value::Object(new)) = (before, after) else {
        if before == after {
            return (Value::Null, Value::Null);
        }
        paths.push(at.to_owned());
        return (before.clone(), after.clone());
    };
    let mut sides = (Map::new(), Map::new());
    let only_new = new.keys().filter(|key| !old.contains_key(*key));
    for key in old.keys().chain(only_new) {
        let path = if at.is_empty() {
            key.clone()
        } else {
            format!("{at}.{key}")
        };
        match (old.get(key), new.get(key)) {
            (Some(a), Some(b)) if a == b => {}
            (Some(a), Some(b)) => {
                let (a, b) = differ(a, b, &path, paths);
                sides.0.insert(key.clone(), a);
                sides.1.insert(key.clone(), b);
            }
            (Some(a), None) => {
                paths.push(path);
                sides.0.insert(key.clone(), a.clone());
            }
            (None, Some(b)) => {
                paths.push(path);
                sides.1.insert(key.clone(), b.clone());
            }
            (None, None) => {}
        }
    }
    (Value::Object(sides.0), Value::Object(sides.1))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_differs_is_shown_under_its_keys() {
        let before = json!({"same": 1, "t": {"env": [], "v": 1}, "gone": true});
        let after = json!({"same": 1, "t": {"env": [{"name": "A"}], "v": 1}, "new": null});
        let changes = changes(&before, &after);
        assert_eq!(changes.paths, ["gone", "new", "t.env"]);
        assert_eq!(changes.before, json!({"t": {"env": []}, "gone": true}));
        assert_eq!(
            changes.after,
            json!({"t": {"env": [{"name": "A"}]}, "new": null})
        );
    }
}
