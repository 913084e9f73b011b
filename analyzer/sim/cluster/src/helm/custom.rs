//! Values against a custom resource that the chart fills with them, such as the GPU Operator's ClusterPolicy: the
//! operator acts on the resource, so a value that did not get there has no effect.

use serde_json::Value;

use super::Drift;
use super::expected::scalar;

/// Depth that resources are compared to; the GPU Operator's nest five levels.
const DEEPEST: usize = 12;
/// Variables compared of one list.
const MOST: usize = 500;

/// The table of the values that a kind of resource is filled with; empty for all of them.
#[must_use]
pub fn root_of(kind: &str) -> &'static str {
    if kind == "nvidiadriver" { "driver" } else { "" }
}

/// Values below `root` that the resource's `spec` holds at the same path with another content. What only one side has is the
/// chart's business, which renames some and leaves out what is empty.
#[must_use]
pub fn drifts(values: &Value, spec: &Value, root: &str, place: &str) -> Vec<Drift> {
    let mut out = Vec::new();
    let (values, mut path) = match root {
        "" => (Some(values), Vec::new()),
        root => (values.get(root), vec![root.to_owned()]),
    };
    if let Some(values) = values {
        compare(values, spec, &mut path, place, &mut out);
    }
    out
}

fn compare(
    values: &Value,
    spec: &Value,
    path: &mut Vec<String>,
    place: &str,
    out: &mut Vec<Drift>,
) {
    if path.len() > DEEPEST {
        return;
    }
    match (values, spec) {
        (Value::Object(set), Value::Object(has)) => {
            for (key, set) in set {
                if let Some(has) = has.get(key) {
                    path.push(key.clone());
                    compare(set, has, path, place, out);
                    path.pop();
                }
            }
        }
        (Value::Array(set), Value::Array(has)) => variables(set, has, path, place, out),
        _ => {
            let both = scalar(values).zip(scalar(spec));
            let differs = both.filter(|(set, has)| set != has && !set.is_empty());
            out.extend(differs.map(|(set, has)| drift(path.join("."), set, has, place)));
        }
    }
}

/// Lists of variables by their names; of other lists nothing tells which elements belong together.
fn variables(set: &[Value], has: &[Value], path: &[String], place: &str, out: &mut Vec<Drift>) {
    let name = |one: &Value| Some(one.get("name")?.as_str()?.to_owned());
    let value = |one: &Value| one.get("value").and_then(scalar);
    if has.len() > MOST || set.len() > MOST {
        return;
    }
    let set = set.iter().filter_map(|one| name(one).zip(value(one)));
    for (called, value_set) in set {
        let found = has.iter().find(|one| name(one).as_ref() == Some(&called));
        // A value that was not collected, or comes from elsewhere, is not known.
        let seen = match found.map(value) {
            Some(None) => continue,
            Some(Some(seen)) if seen == value_set => continue,
            Some(Some(seen)) => seen,
            None => "not set".to_owned(),
        };
        let (name, value) = (called, value_set);
        out.push(drift(
            format!("{}[{name}]", path.join(".")),
            value,
            seen,
            place,
        ));
    }
}

fn drift(value: String, expected: String, seen: String, place: &str) -> Drift {
    Drift {
        kind: "custom-resource",
        value,
        expected,
        seen,
        places: vec![place.to_owned()],
    }
}
