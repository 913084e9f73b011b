//! Schemas as older clients want them: OpenAPI v2, in JSON or in the protobuf of its published messages
//! (github.com/google/gnostic, `openapiv2/OpenAPIv2.proto`, whose field numbers these are).

use serde_json::{Value, json};

use crate::answer::{Answer, Body, JSON};
use crate::openapi::{schema_name, schema_of};
use crate::store::{Kind, Store};

/// What they get. They ask for it with an `@`, which no media type can hold.
const PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/// `/openapi/v2`: one document with a definition of every kind.
pub(crate) fn document(store: &Store, accept: &str) -> Answer {
    let named = store
        .kinds
        .iter()
        .map(|kind| (schema_name(kind), schema_of(kind, &gvk(kind))));
    if accept.contains("proto-openapi") {
        let mut definitions = Vec::new();
        for (name, schema) in named {
            put(
                &mut definitions,
                1,
                &named_message(&name, &encoded(&schema)),
            );
        }
        let mut document = Vec::new();
        put(&mut document, 1, b"2.0");
        let mut info = Vec::new();
        put(&mut info, 1, store.title.as_bytes());
        put(&mut info, 2, b"recording");
        put(&mut document, 2, &info);
        let mut paths = Vec::new();
        for kind in &store.kinds {
            put(
                &mut paths,
                2,
                &named_message(&schema_name(kind), &patched(kind)),
            );
        }
        put(&mut document, 8, &paths);
        put(&mut document, 9, &definitions);
        return Answer::new(PROTOBUF, Body::Whole(document.into()));
    }
    let definitions: serde_json::Map<String, Value> = named.collect();
    let document = json!({
        "swagger": "2.0",
        "info": {"title": store.title, "version": "recording"},
        "paths": {},
        "definitions": definitions,
    });
    Answer::new(JSON, Body::Whole(document.to_string().into()))
}

fn gvk(kind: &Kind) -> Value {
    json!({"group": kind.group, "version": kind.version, "kind": kind.kind})
}

/// A path that can be patched as a dry run. Clients of this version send a dry run only where they find that, and the answer
/// to it says more than that it is not supported: that this is a recording.
fn patched(kind: &Kind) -> Vec<u8> {
    let (mut query, mut of_query, mut parameter) = (Vec::new(), Vec::new(), Vec::new());
    put(&mut query, 2, b"query");
    put(&mut query, 4, b"dryRun");
    put(&mut of_query, 3, &query);
    put(&mut parameter, 2, &of_query);
    let (mut item, mut any, mut operation) = (Vec::new(), Vec::new(), Vec::new());
    put(&mut item, 1, &parameter);
    put(&mut any, 2, gvk(kind).to_string().as_bytes());
    put(&mut operation, 8, &item);
    put(&mut operation, 13, &named_message(GVK, &any));
    let mut path = Vec::new();
    put(&mut path, 8, &operation);
    path
}

/// A schema as a message. What no client of this version reads is left out, and so is a type that it would stumble over: one
/// such schema would cost all the others.
fn encoded(schema: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    let text = |name: &str| schema[name].as_str();
    if let Some(format) = text("format") {
        put(&mut out, 2, format.as_bytes());
    }
    if let Some(description) = text("description") {
        put(&mut out, 4, description.as_bytes());
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        put(&mut out, 19, name.as_str().unwrap_or_default().as_bytes());
    }
    let (properties, items) = (schema["properties"].as_object(), &schema["items"]);
    let known = match text("type") {
        Some("array") => items.is_object(),
        Some(name) => matches!(name, "object" | "string" | "number" | "integer" | "boolean"),
        None => false,
    };
    if let Some(name) = text("type").filter(|_| known) {
        let mut item = Vec::new();
        put(&mut item, 1, name.as_bytes());
        // Of `object` the properties say enough, and a map has to say of what.
        if schema["additionalProperties"].is_object() && properties.is_none() {
            let mut of = Vec::new();
            put(&mut of, 1, &encoded(&schema["additionalProperties"]));
            put(&mut out, 21, &of);
        }
        put(&mut out, 22, &item);
        if name == "array" {
            let mut of = Vec::new();
            put(&mut of, 1, &encoded(items));
            put(&mut out, 23, &of);
        }
    }
    if let Some(properties) = properties.filter(|properties| !properties.is_empty()) {
        let mut all = Vec::new();
        for (name, property) in properties {
            put(&mut all, 1, &named_message(name, &encoded(property)));
        }
        put(&mut out, 25, &all);
    }
    let gvk = &schema[GVK];
    if gvk.is_array() {
        let mut any = Vec::new();
        // JSON is YAML.
        put(&mut any, 2, gvk.to_string().as_bytes());
        put(&mut out, 31, &named_message(GVK, &any));
    }
    out
}

/// By which clients find the definition of a kind.
const GVK: &str = "x-kubernetes-group-version-kind";

/// A name and a message.
fn named_message(name: &str, message: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, 1, name.as_bytes());
    put(&mut out, 2, message);
    out
}

/// A field that holds bytes: text or a message.
fn put(out: &mut Vec<u8>, field: u32, bytes: &[u8]) {
    push_number(out, u64::from((field << 3) | 2));
    push_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn push_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(((number & 0x7f) as u8) | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_as_protobuf_writes_them() {
        let mut out = Vec::new();
        put(&mut out, 25, &[7; 200]);
        // Field 25 of bytes is 25 * 8 + 2 = 202 in two bytes, and so is the length 200.
        assert_eq!(out[..4], [0xca, 0x01, 0xc8, 0x01]);
        assert_eq!(out.len(), 204);
    }

    #[test]
    fn a_schema_that_no_client_could_read_loses_its_type_only() {
        let odd = json!({"type": "array", "description": "d"});
        assert_eq!(encoded(&odd), encoded(&json!({"description": "d"})));
        let strings = encoded(&json!({"type": "array", "items": {"type": "string"}}));
        assert!(strings.ends_with(b"\x0a\x06string"), "{strings:?}");
    }
}
