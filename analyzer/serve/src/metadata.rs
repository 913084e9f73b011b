//! Metadata of objects as typed servers write it, whatever order the capture has it in.

use std::collections::BTreeMap;

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
        Some(metadata) => partial_of(metadata, true, version),
        None => framed(version, |out| write(&object["metadata"], &ORDER, out)),
    }
}

/// The same of metadata alone, as they stand in the capture.
pub(crate) fn partial_of(metadata: &RawValue, in_order: bool, version: &str) -> Vec<u8> {
    if !in_order {
        return partial_written(metadata, &ORDER, version);
    }
    framed(version, |out| {
        out.extend_from_slice(metadata.get().as_bytes())
    })
}

/// The same without the record of who changed what.
pub(crate) fn partial_without_managers(metadata: &RawValue, version: &str) -> Vec<u8> {
    let rest = ORDER.split_last().map_or(&ORDER[..], |(_, rest)| rest);
    partial_written(metadata, rest, version)
}

fn partial_written(metadata: &RawValue, fields: &[&str], version: &str) -> Vec<u8> {
    framed(version, |out| {
        let start = out.len();
        if write_raw(metadata, fields, out).is_none() {
            out.truncate(start);
            let value = serde_json::from_str(metadata.get()).unwrap_or_default();
            write(&value, fields, out);
        }
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

/// Metadata in order from their text. The record of who changed what, often the largest part of an object, is copied as
/// it stands, as servers do, who keep it as text. None where a name has escapes or a list is none.
fn write_raw(metadata: &RawValue, fields: &[&str], out: &mut Vec<u8>) -> Option<()> {
    let own = split(metadata)?;
    let mut first = true;
    out.push(b'{');
    for name in fields {
        let Some(raw) = own.get(name).filter(|raw| raw.get() != "null") else {
            continue;
        };
        name_of(name, std::mem::take(&mut first), out);
        match *name {
            "ownerReferences" => write_list(raw, &OF_OWNERS, out)?,
            "managedFields" => write_list(raw, &OF_MANAGERS, out)?,
            _ => write_text(raw, out)?,
        }
    }
    out.push(b'}');
    Some(())
}

fn split(raw: &RawValue) -> Option<BTreeMap<&str, &RawValue>> {
    serde_json::from_str(raw.get()).ok()
}

fn name_of(name: &str, is_first: bool, out: &mut Vec<u8>) {
    if !is_first {
        out.push(b',');
    }
    write_go_string(name, out);
    out.push(b':');
}

fn write_list(raw: &RawValue, order: &[&str], out: &mut Vec<u8>) -> Option<()> {
    let items: Vec<&RawValue> = serde_json::from_str(raw.get()).ok()?;
    out.push(b'[');
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let own = split(item)?;
        let mut first = true;
        out.push(b'{');
        for name in order {
            if let Some(raw) = own.get(name).filter(|raw| raw.get() != "null") {
                name_of(name, std::mem::take(&mut first), out);
                write_text(raw, out)?;
            }
        }
        out.push(b'}');
    }
    out.push(b']');
    Some(())
}

/// A value as Go writes it: a text without blanks or characters that Go escapes is what it writes already, but for the
/// order of names, which matters to nobody within the record of changes only.
fn write_text(raw: &RawValue, out: &mut Vec<u8>) -> Option<()> {
    const RECORD: &str = "{\"f:";
    let text = raw.get();
    let plain = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'<' | b'>' | b'&');
    let as_it_is = text.starts_with(RECORD) || !text.starts_with(['{', '[', '"']);
    if as_it_is && text.as_bytes().iter().all(plain) {
        out.extend_from_slice(text.as_bytes());
    } else {
        write_go_value(&serde_json::from_str(text).ok()?, out);
    }
    Some(())
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

fn write(metadata: &Value, order: &[&str], out: &mut Vec<u8>) {
    fields(metadata, order, out, |name, value, out| {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_are_written_in_the_order_of_servers_with_or_without_their_managers() {
        let own = r#"{"creationTimestamp":null,"labels":{"b":"1","a":"<"},"managedFields":[{"fieldsV1":{"f:spec":{}},"manager":"kubelet"}],"name":"p","namespace":"n","ownerReferences":[{"uid":"u","kind":"Job"}]}"#;
        let own: Box<RawValue> = serde_json::from_str(own).expect("an object");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        let head = r#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":"#;
        let rest = r#"{"name":"p","namespace":"n","labels":{"a":"\u003c","b":"1"},"ownerReferences":[{"kind":"Job","uid":"u"}]"#;
        let managers = r#","managedFields":[{"manager":"kubelet","fieldsV1":{"f:spec":{}}}]"#;
        let whole = text(partial_of(&own, false, "v1"));
        let short = text(partial_without_managers(&own, "v1"));
        assert!(whole.starts_with(head), "{whole}");
        assert!(whole.contains(managers), "{whole}");
        assert!(!short.contains("managedFields"), "{short}");
        assert!(short.starts_with(&format!("{head}{rest}")), "{short}");
        assert_eq!(whole.replace(managers, ""), short);
    }
}
