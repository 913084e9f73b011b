//! Metadata of objects as typed servers write it, whatever order the capture has it in.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::value::{write_go_string, write_go_value};

const ORDER: [&str; 15] = [
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
];
const OF_OWNERS: [&str; 6] = [
    "apiVersion",
    "kind",
    "name",
    "uid",
    "controller",
    "blockOwnerDeletion",
];
const OF_MANAGERS: [&str; 7] = [
    "manager",
    "operation",
    "apiVersion",
    "time",
    "fieldsType",
    "fieldsV1",
    "subresource",
];

/// `{"kind":"PartialObjectMetadata",...}` of an object.
pub(crate) fn partial(raw: &[u8], object: &Value, in_order: bool, version: &str) -> Vec<u8> {
    match raw_metadata(raw).filter(|_| in_order) {
        Some(metadata) => framed(version, |out| {
            out.extend_from_slice(metadata.get().as_bytes())
        }),
        None => framed(version, |out| write(&object["metadata"], out)),
    }
}

/// The same of metadata as they stand.
pub(crate) fn partial_of(metadata: &RawValue, version: &str) -> Vec<u8> {
    framed(version, |out| {
        out.extend_from_slice(metadata.get().as_bytes())
    })
}

fn framed(version: &str, metadata: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let head = format!(
        r#"{{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/{version}","metadata":"#
    );
    let mut out = head.into_bytes();
    metadata(&mut out);
    out.push(b'}');
    out
}

/// Whether an object's metadata are in the order of typed servers, which write the name first.
pub(crate) fn is_in_order(raw: &[u8]) -> bool {
    raw_metadata(raw).is_some_and(starts_with_name)
}

/// The same of metadata alone.
pub(crate) fn starts_with_name(metadata: &RawValue) -> bool {
    metadata.get().starts_with("{\"name\":")
}

fn raw_metadata(raw: &[u8]) -> Option<&RawValue> {
    #[derive(serde::Deserialize)]
    struct Only<'a> {
        #[serde(borrow)]
        metadata: &'a RawValue,
    }
    serde_json::from_slice::<Only<'_>>(raw)
        .ok()
        .map(|only| only.metadata)
}

fn write(metadata: &Value, out: &mut Vec<u8>) {
    fields(metadata, &ORDER, out, |name, value, out| {
        match (name, value) {
            ("ownerReferences", Value::Array(owners)) => all(owners, &OF_OWNERS, out),
            ("managedFields", Value::Array(managers)) => all(managers, &OF_MANAGERS, out),
            (_, value) => write_go_value(value, out),
        }
    });
}

fn all(items: &[Value], order: &[&str], out: &mut Vec<u8>) {
    out.push(b'[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        fields(item, order, out, |_, value, out| write_go_value(value, out));
    }
    out.push(b']');
}

fn fields(
    of: &Value,
    order: &[&str],
    out: &mut Vec<u8>,
    each: impl Fn(&str, &Value, &mut Vec<u8>),
) {
    out.push(b'{');
    let mut first = true;
    for name in order {
        let Some(value) = of.get(*name).filter(|value| !value.is_null()) else {
            continue;
        };
        if !std::mem::take(&mut first) {
            out.push(b',');
        }
        write_go_string(name, out);
        out.push(b':');
        each(name, value, out);
    }
    out.push(b'}');
}
