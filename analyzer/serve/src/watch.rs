//! Watches: the state as it was captured, a bookmark where one was asked for, and then nothing, since nothing changes.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::answer::{Answer, Body, JSON};
use crate::ask::{Form, Query};
use crate::list::{Render, include_of, pieces, write_partial, write_row, write_table_head};
use crate::pick::{Filter, Page, covered, pick};
use crate::status::Status;
use crate::store::{Kind, Store};
use crate::table::{Include, Tables};

/// How long a watch lasts that does not say it: servers end them after half an hour to an hour.
const LASTS: u64 = 1800;
/// Longest watch that is granted.
const LONGEST: u64 = 24 * 3600;

/// A watch of a kind.
pub(crate) fn watch(
    store: &Arc<Store>,
    index: usize,
    (namespace, name): (Option<&str>, Option<&str>),
    query: &Query,
    form: Form,
) -> Result<Answer, Status> {
    let kind = store.kinds.get(index).ok_or_else(Status::no_such_path)?;
    let filter = match name {
        Some(name) => Filter::named(name),
        None => Filter::parse(query, kind)?,
    };
    let initial = query
        .get("sendInitialEvents")
        .map(|_| query.flag("sendInitialEvents"));
    let matching = query.filled("resourceVersionMatch");
    if initial.is_some() && matching != Some("NotOlderThan") {
        let text =
            "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
        return Err(Status::invalid_option(
            "resourceVersionMatch",
            "FieldValueForbidden",
            text,
        ));
    }
    if initial.is_none() && matching.is_some() {
        let text = "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
        return Err(Status::invalid_option(
            "resourceVersionMatch",
            "FieldValueForbidden",
            text,
        ));
    }
    let seconds = query
        .number("timeoutSeconds")?
        .and_then(|given| u64::try_from(given).ok());
    let lasts = Duration::from_secs(
        seconds
            .filter(|given| *given > 0)
            .unwrap_or(LASTS)
            .min(LONGEST),
    );
    let since = since(query)?;
    let warning = covered(store, kind, namespace)?;
    let include = include_of(form, query)?;
    if since > 0 && since < store.revision && initial != Some(true) {
        return Ok(expired(since, store.revision));
    }
    let whole = match initial {
        Some(initial) => initial,
        None => since == 0,
    };
    let objects = if whole {
        pick(store, kind, namespace, &filter, &Page::ALL).objects
    } else {
        Vec::new()
    };
    let mut tail = Vec::new();
    if initial == Some(true) && query.flag("allowWatchBookmarks") {
        bookmark(store, kind, form, &mut tail);
    }
    let render = event(form, include);
    let pieces = pieces(
        Arc::clone(store),
        index,
        objects,
        (Vec::new(), b"", tail),
        render,
    );
    Ok(Answer::new(JSON, Body::Watch(pieces, lasts)).warn(warning.as_deref()))
}

/// The version from which changes are wanted; 0 for the state.
fn since(query: &Query) -> Result<u64, Status> {
    let Some(text) = query.filled("resourceVersion") else {
        return Ok(0);
    };
    text.parse().map_err(|_| {
        Status::internal(format!(
            "resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax"
        ))
    })
}

/// What happened since then is not in a recording of one moment; the client has to list anew.
fn expired(since: u64, held: u64) -> Answer {
    let status = Status::expired(since, held).json();
    let text = format!("{{\"type\":\"ERROR\",\"object\":{status}}}\n");
    Answer::json(text)
}

fn event(form: Form, include: Include) -> Render {
    let mut first = true;
    Box::new(move |store, kind, object, reader, out| {
        out.extend_from_slice(b"{\"type\":\"ADDED\",\"object\":");
        match form {
            Form::Table(version) => {
                let tables = Tables::new(kind, store.now);
                // Only the first event of a watch has the columns.
                if std::mem::take(&mut first) {
                    write_table_head(object.revision, version, &tables, out);
                } else {
                    write_bare_head(&object.revision.to_string(), version, out);
                }
                write_row(
                    (store, kind, &tables),
                    object,
                    (include, version),
                    reader,
                    out,
                );
                out.extend_from_slice(b"]}");
            }
            Form::Metadata => write_partial(store, kind, object, reader, out),
            _ => out.extend_from_slice(&store.whole(kind, object, reader)),
        }
        out.extend_from_slice(b"}\n");
    })
}

fn write_bare_head(revision: &str, version: &str, out: &mut Vec<u8>) {
    let head = format!(
        r#"{{"kind":"Table","apiVersion":"meta.k8s.io/{version}","metadata":{{"resourceVersion":"{revision}"}},"columnDefinitions":null,"rows":["#
    );
    out.extend_from_slice(head.as_bytes());
}

/// Says that the state is complete.
fn bookmark(store: &Store, kind: &Kind, form: Form, out: &mut Vec<u8>) {
    let revision = store.revision.to_string();
    let metadata = format!(
        r#""metadata":{{"resourceVersion":"{revision}","annotations":{{"k8s.io/initial-events-end":"true"}}}}"#
    );
    out.extend_from_slice(b"{\"type\":\"BOOKMARK\",\"object\":");
    let partial = |version: &str| {
        format!(
            r#"{{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/{version}",{metadata}}}"#
        )
    };
    match form {
        Form::Table(version) => {
            write_bare_head(&revision, version, out);
            let blank: serde_json::Value =
                serde_json::from_str(&format!("{{{metadata}}}")).unwrap_or_default();
            let carried = Bytes::from(partial(version));
            Tables::new(kind, store.now).write_row(&blank, &carried, out);
            out.extend_from_slice(b"]}");
        }
        Form::Metadata => out.extend_from_slice(partial("v1").as_bytes()),
        _ => {
            let text = format!(
                r#"{{"kind":"{}","apiVersion":"{}",{metadata}}}"#,
                kind.kind,
                kind.api_version()
            );
            out.extend_from_slice(text.as_bytes());
        }
    }
    out.extend_from_slice(b"}\n");
}
