//! Schemas for `kubectl explain`: those of custom resources whose definitions were collected. Of the other kinds they say
//! that there is none: an API server's schemas are in no capture.

use serde_json::{Map, Value, json};

use crate::answer::Answer;
use crate::discovery::line;
use crate::status::Status;
use crate::store::{Kind, Store};

/// `/openapi/v3`: one document for each version of a group that has schemas.
pub(crate) fn index(store: &Store) -> Answer {
    let mut paths = Map::new();
    for kind in &store.kinds {
        let root = if kind.group.is_empty() { "api" } else { "apis" };
        let name = format!("{root}/{}", kind.api_version());
        let url = format!("/openapi/v3/{name}");
        paths.insert(name, json!({"serverRelativeURL": url}));
    }
    Answer::json(line(&json!({"paths": paths})))
}

/// One document.
///
/// Errors: there is no such version.
pub(crate) fn document(store: &Store, group: &str, version: &str) -> Result<Answer, Status> {
    let (mut schemas, mut paths) = (Map::new(), Map::new());
    let of_version = |kind: &&Kind| kind.group == group && kind.version == version;
    for kind in store.kinds.iter().filter(of_version) {
        let gvk = json!({"group": group, "version": version, "kind": kind.kind});
        let name = schema_name(kind);
        schemas.insert(name.clone(), schema_of(kind, &gvk));
        let namespaced = if kind.namespaced {
            "namespaces/{namespace}/"
        } else {
            ""
        };
        let root = if group.is_empty() { "api" } else { "apis" };
        let url = format!("/{root}/{}/{namespaced}{}", kind.api_version(), kind.plural);
        let reference = json!({"$ref": format!("#/components/schemas/{name}")});
        for (url, action) in [(format!("{url}/{{name}}"), "get"), (url, "list")] {
            paths.insert(url, json!({"get": {
                "x-kubernetes-action": action,
                "x-kubernetes-group-version-kind": gvk,
                "responses": {"200": {"description": "OK", "content": {"application/json": {"schema": reference}}}},
            }}));
        }
    }
    if schemas.is_empty() {
        return Err(Status::no_such_path());
    }
    Ok(Answer::json(line(&json!({
        "openapi": "3.0.0",
        "info": {"title": store.title, "version": "recording"},
        "paths": paths,
        "components": {"schemas": schemas},
    }))))
}

/// `com.example.demo.v1.Widget` for the group `demo.example.com`.
pub(crate) fn schema_name(kind: &Kind) -> String {
    let group = if kind.group.is_empty() {
        "core"
    } else {
        &kind.group
    };
    let mut parts: Vec<&str> = group.split('.').rev().collect();
    parts.extend([kind.version.as_str(), kind.kind.as_str()]);
    parts.join(".")
}

/// The schema with the fields that every object has, which definitions leave out; or that there is none.
pub(crate) fn schema_of(kind: &Kind, gvk: &Value) -> Value {
    let Some(mut schema) = kind.schema.clone() else {
        let description = format!(
            "No schema of {} was collected. `kubectl get {} -o yaml` shows the fields that its objects have.",
            kind.kind,
            kind.resource()
        );
        return json!({"type": "object", "description": description, "x-kubernetes-group-version-kind": [gvk]});
    };
    schema["x-kubernetes-group-version-kind"] = json!([gvk]);
    let common = [
        (
            "apiVersion",
            "The version of the schema that the object is written in, with its group.",
            "string",
        ),
        ("kind", "What the object is.", "string"),
        (
            "metadata",
            "Name, namespace, labels and whatever else every object has.",
            "object",
        ),
    ];
    for (name, description, of) in common {
        let known = schema["properties"][name]["description"].is_string();
        if !known {
            schema["properties"][name] = json!({"type": of, "description": description});
        }
    }
    schema
}
