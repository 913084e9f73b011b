//! What a table of values asks of the containers that run its image.

use serde_json::{Map, Value};

/// Depth that values are searched to; charts nest a handful of levels.
const DEEPEST: usize = 12;
/// Tables that describe an image, of one release; the GPU Operator's chart has thirty.
const MOST: usize = 2000;

/// A table that describes an image, and what stands beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// Path of the table that owns the settings, e.g. `toolkit`; empty for the values' top.
    pub path: String,
    /// Repository with name, without tag.
    pub image: String,
    /// Tag or digest; empty where the chart chooses it.
    pub tag: String,
    /// Path of the tag's value.
    pub tag_path: String,
    /// `enabled` beside it.
    pub enabled: Option<bool>,
    /// Settings beside it.
    pub expectations: Vec<Expectation>,
}

/// A setting that has to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// `env`, `arg`, `resource`, `node-selector`, `toleration`, `runtime-class`, `config-map` or `replicas`.
    pub kind: &'static str,
    /// Path below the component.
    pub path: String,
    /// Variable, argument, resource or label.
    pub key: String,
    /// Its value.
    pub value: String,
}

/// An image's name and its tag or digest.
#[must_use]
pub fn image_parts(image: &str) -> (&str, &str) {
    if let Some((name, digest)) = image.split_once('@') {
        // A tag before a digest is a comment.
        return (image_parts(name).0, digest);
    }
    match image.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, tag),
        _ => (image, ""),
    }
}

/// An image's name without tag, as runtimes complete it: without the registry that is meant where none is named.
#[must_use]
pub fn image_name(image: &str) -> &str {
    let name = image_parts(image).0;
    let name = name.strip_prefix("index.").unwrap_or(name);
    let name = name.strip_prefix("docker.io/").unwrap_or(name);
    name.strip_prefix("library/").unwrap_or(name)
}

/// A toleration in one spelling: defaults written out, members in order.
#[must_use]
pub fn toleration(one: &Value) -> Option<String> {
    let text = |key: &str| one.get(key).and_then(scalar).unwrap_or_default();
    let operator = match text("operator") {
        none if none.is_empty() => "Equal".to_owned(),
        operator => operator,
    };
    let value = match text("value") {
        none if none.is_empty() || operator == "Exists" => String::new(),
        value => format!("={value}"),
    };
    let effect = match text("effect") {
        none if none.is_empty() => "any effect".to_owned(),
        effect => effect,
    };
    one.is_object()
        .then(|| format!("{}{value}:{effect} ({operator})", text("key")))
}

/// All tables that describe an image, in the order of their paths.
#[must_use]
pub fn components(values: &Value) -> Vec<Component> {
    let mut out = Vec::new();
    if let Value::Object(top) = values {
        walk(top, "", 0, &mut out);
    }
    out
}

fn walk(table: &Map<String, Value>, path: &str, depth: usize, out: &mut Vec<Component>) {
    if depth > DEEPEST || out.len() >= MOST {
        return;
    }
    out.extend(component(table, path));
    for (key, value) in table {
        if let Value::Object(inner) = value {
            // `image: {repository, tag}` is read with the table that it stands in.
            if key == "image" && described(inner).is_some() {
                continue;
            }
            walk(inner, &dotted(path, key), depth + 1, out);
        }
    }
}

fn dotted(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

fn text<'a>(table: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    table.get(key)?.as_str().filter(|text| !text.is_empty())
}

/// Image, tag and the tag's key of a table that describes one.
fn described(table: &Map<String, Value>) -> Option<(String, String, &'static str)> {
    let Some(repository) = text(table, "repository") else {
        return whole_image(table);
    };
    let repository = repository.trim_end_matches('/');
    let mut image = match text(table, "image") {
        Some(name) => format!("{repository}/{name}"),
        None => repository.to_owned(),
    };
    if let Some(registry) = text(table, "registry") {
        image = format!("{}/{image}", registry.trim_end_matches('/'));
    }
    // Without either key, as with an empty one, the chart chooses the tag; `repository` alone may be anything.
    let key = if table.contains_key("tag") {
        "tag"
    } else {
        "version"
    };
    if !table.contains_key(key) && !table.contains_key("image") {
        return None;
    }
    let tag = match table.get(key) {
        Some(Value::String(tag)) => tag.clone(),
        Some(Value::Number(tag)) => tag.to_string(),
        _ => String::new(),
    };
    Some((image, tag, key))
}

/// `image: registry/name` with the tag beside it, as HAMi's chart has it. A name without a slash may be anything.
fn whole_image(table: &Map<String, Value>) -> Option<(String, String, &'static str)> {
    let image = text(table, "image").filter(|image| image.contains('/'))?;
    let (name, tag) = image_parts(image);
    let key = ["imageTag", "tag", "version"];
    let key = key.into_iter().find(|key| table.contains_key(*key));
    let tag = match key.and_then(|key| table.get(key)) {
        Some(Value::String(tag)) => tag.clone(),
        Some(Value::Number(tag)) => tag.to_string(),
        _ => tag.to_owned(),
    };
    Some((name.to_owned(), tag, key.unwrap_or("image")))
}

fn component(table: &Map<String, Value>, path: &str) -> Option<Component> {
    let inner = table.get("image").and_then(Value::as_object);
    let (image, tag, tag_path) = match inner.and_then(described) {
        Some((image, tag, key)) => (image, tag, dotted(path, &format!("image.{key}"))),
        None => {
            let (image, tag, key) = described(table)?;
            (image, tag, dotted(path, key))
        }
    };
    Some(Component {
        path: path.to_owned(),
        image: image_name(&image).to_owned(),
        tag,
        tag_path,
        enabled: table.get("enabled").and_then(Value::as_bool),
        expectations: expectations(table),
    })
}

fn expectations(table: &Map<String, Value>) -> Vec<Expectation> {
    let mut out = Vec::new();
    env(table, &mut out);
    for arg in table
        .get("args")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        if let Some(arg) = arg.as_str() {
            out.push(of("arg", "args".to_owned(), arg, arg.to_owned()));
        }
    }
    for part in ["limits", "requests"] {
        let resources = table.get("resources").and_then(|one| one.get(part));
        for (name, amount) in resources.and_then(Value::as_object).into_iter().flatten() {
            if let Some(amount) = scalar(amount) {
                let key = format!("{part}.{name}");
                out.push(of("resource", format!("resources.{key}"), &key, amount));
            }
        }
    }
    let selector = table.get("nodeSelector").and_then(Value::as_object);
    for (label, value) in selector.into_iter().flatten() {
        if let Some(value) = scalar(value) {
            out.push(of(
                "node-selector",
                format!("nodeSelector.{label}"),
                label,
                value,
            ));
        }
    }
    tolerations(table, "tolerations", &mut out);
    if let Some(class) = text(table, "runtimeClassName") {
        out.push(of(
            "runtime-class",
            "runtimeClassName".to_owned(),
            class,
            class.to_owned(),
        ));
    }
    for key in ["replicas", "replicaCount"] {
        if let Some(count) = table.get(key).and_then(Value::as_u64) {
            out.push(of("replicas", key.to_owned(), key, count.to_string()));
        }
    }
    out
}

/// Each toleration of a list.
pub(super) fn tolerations(table: &Map<String, Value>, key: &str, out: &mut Vec<Expectation>) {
    let list = table.get(key).and_then(Value::as_array);
    for one in list.into_iter().flatten().filter_map(toleration) {
        out.push(of("toleration", key.to_owned(), &one.clone(), one));
    }
}

/// `env` as a list of name and value, or as a table.
fn env(table: &Map<String, Value>, out: &mut Vec<Expectation>) {
    match table.get("env") {
        Some(Value::Array(list)) => {
            for one in list {
                let name = one.get("name").and_then(Value::as_str);
                let value = one.get("value").and_then(scalar);
                if let Some((name, value)) = name.zip(value) {
                    out.push(of("env", format!("env[{name}]"), name, value));
                }
            }
        }
        Some(Value::Object(table)) => {
            for (name, value) in table {
                if let Some(value) = scalar(value) {
                    out.push(of("env", format!("env.{name}"), name, value));
                }
            }
        }
        _ => {}
    }
}

pub(super) fn of(kind: &'static str, path: String, key: &str, value: String) -> Expectation {
    Expectation {
        kind,
        path,
        key: key.to_owned(),
        value,
    }
}

pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        // A template or a marker of what was not collected is no value.
        Value::String(text) if text.contains("{{") || text.starts_with('<') => None,
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(set) => Some(set.to_string()),
        _ => None,
    }
}
