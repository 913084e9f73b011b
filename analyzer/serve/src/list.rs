//! Lists and single objects, in every form.

use std::sync::Arc;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::answer::{Answer, Body, JSON, Pieces};
use crate::ask::{Form, Query};
use crate::chunks::Reader;
use crate::metadata;
use crate::pick::{Filter, Page, Picked, covered, pick};
use crate::slim::{Slim, slim};
use crate::status::Status;
use crate::store::{Kind, Object, Store};
use crate::table::{Include, Tables};
use crate::value;

/// A piece of a body is sent when it holds this much.
const PIECE: usize = 64 << 10;
/// So many objects of a kind are more than kubectl asks for at once.
const MANY: usize = 500;

/// What the rows of a table carry.
pub(crate) fn include(query: &Query) -> Result<Include, Status> {
    match query.get("includeObject").unwrap_or("") {
        "" | "Metadata" => Ok(Include::Metadata),
        "Object" => Ok(Include::Object),
        "None" => Ok(Include::None),
        other => Err(Status::bad_request(format!(
            "unable to convert to Table as requested: includeObject: Invalid value: {other:?}: must be 'Metadata', 'Object', 'None', or empty"
        ))),
    }
}

/// Writes one object of a list or watch into the body.
pub(crate) type Render = Box<dyn FnMut(&Store, &Kind, &Object, &mut Reader, &mut Vec<u8>) + Send>;

/// An object in the form of a table's row.
pub(crate) fn write_row(
    (store, kind, tables): (&Store, &Kind, &Tables<'_>),
    object: &Object,
    (include, version): (Include, &str),
    reader: &mut Reader,
    out: &mut Vec<u8>,
) {
    let raw = reader.read(&store.chunks, object.spot);
    let (value, slim) = match slimmed(kind, &raw, tables) {
        Some(slim) => (slim.value, Some(slim.metadata)),
        None => (parsed(object, &raw), None),
    };
    let carried: Bytes = match (include, slim) {
        (Include::None, _) => Bytes::from_static(b"null"),
        (Include::Object, _) => store.whole(kind, object, reader),
        (Include::Metadata, Some(slim)) => row_metadata(kind, object, slim, version).into(),
        (Include::Metadata, None) => partial(kind, object, (&raw, &value), version).into(),
    };
    tables.write_row(&value, &carried, out);
}

/// What a row carries of its object. Where a kind has many objects the record of who changed what stays away: it is most of a
/// table's bytes and of the time kubectl takes to read them, in no column, and `-o yaml --show-managed-fields` has it.
fn row_metadata(kind: &Kind, object: &Object, metadata: &RawValue, version: &str) -> Vec<u8> {
    if kind.within(None).len() > MANY {
        return metadata::partial_without_managers(metadata, version);
    }
    let in_order = !object.typed || metadata::starts_with_name(metadata);
    metadata::partial_of(metadata, in_order, version)
}

/// An object read for its row alone, where no field of it hides in an annotation.
fn slimmed<'r>(kind: &Kind, raw: &'r [u8], tables: &Tables<'_>) -> Option<Slim<'r>> {
    let plain = !kind.is_custom() && hidden(kind).is_empty();
    plain.then(|| slim(raw, tables.fields())).flatten()
}

/// Metadata of an object alone.
pub(crate) fn write_partial(
    store: &Store,
    kind: &Kind,
    object: &Object,
    reader: &mut Reader,
    out: &mut Vec<u8>,
) {
    let raw = reader.read(&store.chunks, object.spot);
    let value = parsed(object, &raw);
    out.extend_from_slice(&partial(kind, object, (&raw, &value), "v1"));
}

/// An object as a value. One that is nested too deeply for that still has its name.
fn parsed(object: &Object, raw: &[u8]) -> Value {
    let read: Value = serde_json::from_slice(raw).unwrap_or_default();
    if read.is_object() {
        return read;
    }
    let namespace = &object.key[..usize::from(object.namespace)];
    serde_json::json!({"metadata": {"name": object.name(), "namespace": namespace}})
}

/// Annotations in which a version keeps fields of another one: inside the server, where metadata are cut off, they are
/// fields again.
fn hidden(kind: &Kind) -> &'static str {
    match (kind.plural.as_str(), kind.version.as_str()) {
        ("daemonsets", _) => "deprecated.daemonset.template.generation",
        ("horizontalpodautoscalers", "v1") => "autoscaling.alpha.kubernetes.io/",
        _ => "",
    }
}

fn is_in_order(kind: &Kind, object: &Object, raw: &[u8]) -> bool {
    !kind.is_custom() && (!object.typed || metadata::is_in_order(raw))
}

fn partial(kind: &Kind, object: &Object, (raw, value): (&[u8], &Value), version: &str) -> Vec<u8> {
    let fields = hidden(kind);
    let held = fields.is_empty() || !value::at(value, "metadata.annotations").is_object();
    if held {
        return metadata::partial(raw, value, is_in_order(kind, object, raw), version);
    }
    let mut value = value.clone();
    if let Some(annotations) = value["metadata"]["annotations"].as_object_mut() {
        annotations.retain(|name, _| !name.starts_with(fields));
        if annotations.is_empty() {
            value["metadata"]["annotations"] = Value::Null;
        }
    }
    metadata::partial(raw, &value, false, version)
}

/// Objects one after another, between a head and a tail.
pub(crate) fn pieces(
    store: Arc<Store>,
    kind: usize,
    objects: Vec<Object>,
    (head, between, tail): (Vec<u8>, &'static [u8], Vec<u8>),
    mut render: Render,
) -> Pieces {
    let mut objects = objects.into_iter();
    let mut reader = Reader::default();
    let (mut open, mut tail, mut first) = (head, Some(tail), true);
    Box::new(std::iter::from_fn(move || {
        while open.len() < PIECE
            && let Some(object) = objects.next()
            && let Some(kind) = store.kinds.get(kind)
        {
            if !std::mem::take(&mut first) {
                open.extend_from_slice(between);
            }
            render(&store, kind, &object, &mut reader, &mut open);
        }
        if open.len() < PIECE
            && let Some(tail) = tail.take()
        {
            open.extend_from_slice(&tail);
        }
        (!open.is_empty()).then(|| Bytes::from(std::mem::take(&mut open)))
    }))
}

/// `"resourceVersion":"1","continue":"...","remainingItemCount":1`, or as custom resources have it.
fn list_metadata(store: &Store, kind: &Kind, picked: &Picked, sorted: bool) -> String {
    if kind.plural == "componentstatuses" && kind.group.is_empty() {
        return "{}".to_owned();
    }
    let revision = store.revision;
    let (token, left) = match &picked.more {
        Some((token, left)) => (token.as_str(), *left),
        None => ("", None),
    };
    let left = left.map_or_else(String::new, |left| {
        format!(r#","remainingItemCount":{left}"#)
    });
    if sorted {
        return format!(r#"{{"continue":"{token}"{left},"resourceVersion":"{revision}"}}"#);
    }
    let token = if token.is_empty() {
        String::new()
    } else {
        format!(r#","continue":"{token}""#)
    };
    format!(r#"{{"resourceVersion":"{revision}"{token}{left}}}"#)
}

/// A list.
pub(crate) fn list(
    store: &Arc<Store>,
    index: usize,
    namespace: Option<&str>,
    query: &Query,
    form: Form,
) -> Result<Answer, Status> {
    let kind = store.kinds.get(index).ok_or_else(Status::no_such_path)?;
    let page = Page::parse(query, store)?;
    let filter = Filter::parse(query, kind)?;
    let warning = covered(store, kind, namespace)?;
    let include = include_of(form, query)?;
    let mut picked = pick(store, kind, namespace, &filter, &page);
    let frame = match form {
        Form::Table(version) => {
            order_rows(store, kind, &mut picked.objects);
            table_frame(store, kind, &picked, version)
        }
        Form::Metadata => {
            let metadata = list_metadata(store, kind, &picked, false);
            let head = format!(
                r#"{{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{metadata},"items":"#
            );
            array(head.into_bytes(), picked.objects.is_empty())
        }
        _ => plain_frame(store, kind, &picked),
    };
    let render = render(form, include, store.now);
    let pieces = pieces(Arc::clone(store), index, picked.objects, frame, render);
    Ok(Answer::new(JSON, Body::Pieces(pieces)).warn(warning.as_deref()))
}

pub(crate) fn include_of(form: Form, query: &Query) -> Result<Include, Status> {
    match form {
        Form::Table(_) => include(query),
        _ => Ok(Include::Metadata),
    }
}

/// How objects of a list are written.
fn render(form: Form, include: Include, now: DateTime<Utc>) -> Render {
    match form {
        Form::Table(version) => Box::new(move |store, kind, object, reader, out| {
            let tables = Tables::new(kind, now);
            write_row(
                (store, kind, &tables),
                object,
                (include, version),
                reader,
                out,
            );
        }),
        Form::Metadata => Box::new(write_partial),
        _ => Box::new(|store, _, object, reader, out| {
            out.extend_from_slice(&reader.read(&store.chunks, object.spot));
        }),
    }
}

type Frame = (Vec<u8>, &'static [u8], Vec<u8>);

fn plain_frame(store: &Store, kind: &Kind, picked: &Picked) -> Frame {
    let (name, version) = (&kind.kind, kind.api_version());
    if kind.is_custom() {
        let metadata = list_metadata(store, kind, picked, true);
        let head = format!(r#"{{"apiVersion":"{version}","items":["#);
        let tail = format!("],\"kind\":\"{name}List\",\"metadata\":{metadata}}}\n");
        return (head.into_bytes(), b",", tail.into_bytes());
    }
    let metadata = list_metadata(store, kind, picked, false);
    let head = format!(
        r#"{{"kind":"{name}List","apiVersion":"{version}","metadata":{metadata},"items":["#
    );
    (head.into_bytes(), b",", b"]}\n".to_vec())
}

fn table_frame(store: &Store, kind: &Kind, picked: &Picked, version: &str) -> Frame {
    let metadata = list_metadata(store, kind, picked, false);
    let head =
        format!(r#"{{"kind":"Table","apiVersion":"meta.k8s.io/{version}","metadata":{metadata},"#);
    let mut head = head.into_bytes();
    let tables = Tables::new(kind, store.now);
    tables.write_columns(&mut head);
    head.extend_from_slice(b",\"rows\":");
    array(head, picked.objects.is_empty() && tables.are_bare())
}

/// The frame of an array at the end of an object; `null` where Go has no array.
fn array(mut head: Vec<u8>, null: bool) -> Frame {
    if null {
        head.extend_from_slice(b"null");
        return (head, b"", b"}\n".to_vec());
    }
    head.push(b'[');
    (head, b",", b"]}\n".to_vec())
}

/// The server sorts flow schemas by what they match first.
fn order_rows(store: &Store, kind: &Kind, objects: &mut [Object]) {
    if kind.plural != "flowschemas" || kind.is_custom() {
        return;
    }
    let mut reader = Reader::default();
    objects.sort_by_cached_key(|object| {
        let raw = reader.read(&store.chunks, object.spot);
        let schema: Value = serde_json::from_slice(&raw).unwrap_or_default();
        (
            value::int(&schema, "spec.matchingPrecedence"),
            object.key.clone(),
        )
    });
}

/// One object.
pub(crate) fn one(
    store: &Arc<Store>,
    kind: &Kind,
    object: &Object,
    query: &Query,
    form: Form,
) -> Result<Answer, Status> {
    if let Some(text) = query.filled("resourceVersion") {
        let asked: u64 = text.parse().unwrap_or(0);
        if asked > store.revision {
            return Err(Status::from_the_future(asked, store.revision));
        }
    }
    let include = include_of(form, query)?;
    let mut reader = Reader::default();
    let mut out = Vec::new();
    match form {
        Form::Table(version) => {
            let tables = Tables::new(kind, store.now);
            write_table_head(object.revision, version, &tables, &mut out);
            write_row(
                (store, kind, &tables),
                object,
                (include, version),
                &mut reader,
                &mut out,
            );
            out.extend_from_slice(b"]}");
        }
        Form::Metadata => write_partial(store, kind, object, &mut reader, &mut out),
        _ => out.extend_from_slice(&store.whole(kind, object, &mut reader)),
    }
    out.push(b'\n');
    Ok(Answer::json(out).warn(store.deprecation(kind)))
}

/// A table of one object up to its rows.
pub(crate) fn write_table_head(
    revision: u64,
    version: &str,
    tables: &Tables<'_>,
    out: &mut Vec<u8>,
) {
    let metadata = match revision {
        0 => "{}".to_owned(),
        revision => format!(r#"{{"resourceVersion":"{revision}"}}"#),
    };
    let head =
        format!(r#"{{"kind":"Table","apiVersion":"meta.k8s.io/{version}","metadata":{metadata},"#);
    out.extend_from_slice(head.as_bytes());
    tables.write_columns(out);
    out.extend_from_slice(b",\"rows\":[");
}
