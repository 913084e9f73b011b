//! The fields of a device specification: the reference library refuses a file with a field that it does not know, or with a
//! value of another type.

use serde_json::Value;

use super::Library;
use What::{Flag, Many, Map, Number, Numbers, One, Text, Texts};

/// What a field holds.
#[derive(Clone, Copy)]
enum What {
    Text,
    Number,
    Flag,
    Texts,
    Numbers,
    Map,
    One(Fields),
    Many(Fields),
}

/// Name, content, and the library that has it first.
type Fields = &'static [(&'static str, What, Library)];

use Library::{V0_5, V0_8, V1_1};

const SPEC: Fields = &[
    ("cdiVersion", Text, V0_5),
    ("kind", Text, V0_5),
    ("annotations", Map, V0_8),
    ("devices", Many(DEVICE), V0_5),
    ("containerEdits", One(EDITS), V0_5),
];
const DEVICE: Fields = &[
    ("name", Text, V0_5),
    ("annotations", Map, V0_8),
    ("containerEdits", One(EDITS), V0_5),
];
const EDITS: Fields = &[
    ("env", Texts, V0_5),
    ("deviceNodes", Many(NODE), V0_5),
    ("hooks", Many(HOOK), V0_5),
    ("mounts", Many(MOUNT), V0_5),
    ("intelRdt", One(RDT), V0_8),
    ("additionalGids", Numbers, V0_8),
    ("netDevices", Many(NET), V1_1),
];
const NODE: Fields = &[
    ("path", Text, V0_5),
    ("hostPath", Text, V0_5),
    ("type", Text, V0_5),
    ("major", Number, V0_5),
    ("minor", Number, V0_5),
    ("fileMode", Number, V0_5),
    ("permissions", Text, V0_5),
    ("uid", Number, V0_5),
    ("gid", Number, V0_5),
];
const HOOK: Fields = &[
    ("hookName", Text, V0_5),
    ("path", Text, V0_5),
    ("args", Texts, V0_5),
    ("env", Texts, V0_5),
    ("timeout", Number, V0_5),
];
const MOUNT: Fields = &[
    ("hostPath", Text, V0_5),
    ("containerPath", Text, V0_5),
    ("options", Texts, V0_5),
    ("type", Text, V0_5),
];
const RDT: Fields = &[
    ("closID", Text, V0_8),
    ("l3CacheSchema", Text, V0_8),
    ("memBwSchema", Text, V0_8),
    ("enableCMT", Flag, V0_8),
    ("enableMBM", Flag, V0_8),
    ("schemata", Texts, V1_1),
    ("enableMonitoring", Flag, V1_1),
];
const NET: Fields = &[("hostInterfaceName", Text, V1_1), ("name", Text, V1_1)];

/// What is wrong with the fields of a whole specification.
pub(super) fn wrong(spec: &Value, library: Library) -> Option<String> {
    check("the specification", spec, One(SPEC), library)
}

fn check(name: &str, value: &Value, what: What, library: Library) -> Option<String> {
    let wants = |wanted: &str| Some(format!("{name} is not {wanted}"));
    let list = |each: What, wanted: &str| match value {
        Value::Array(items) => items.iter().find_map(|one| check(name, one, each, library)),
        _ => wants(wanted),
    };
    match (what, value) {
        (_, Value::Null) => None,
        (Text, Value::Array(_) | Value::Object(_)) => wants("a string"),
        // A number or a boolean where a string is wanted is taken as it is written.
        (Text, _) => None,
        (Number, Value::Number(number)) if number.is_i64() => None,
        (Number, _) => wants("a whole number"),
        (Flag, Value::Bool(_)) => None,
        (Flag, _) => wants("a boolean"),
        (Texts, _) => list(Text, "a list of strings"),
        (Numbers, _) => list(Number, "a list of numbers"),
        (Map, Value::Object(items)) => items
            .values()
            .find_map(|one| check(name, one, Text, library)),
        (Map, _) => wants("a table"),
        (Many(fields), _) => list(One(fields), "a list"),
        (One(fields), Value::Object(items)) => items.iter().find_map(|(key, value)| {
            // Go takes a field's name in any case.
            let known = fields
                .iter()
                .find(|(field, ..)| field.eq_ignore_ascii_case(key));
            match known.filter(|(.., first)| *first <= library) {
                Some((field, what, _)) => check(field, value, *what, library),
                None => Some(format!("unknown field {key:?} in {name}")),
            }
        }),
        (One(_), _) => wants("a table"),
    }
}

/// A field, whatever the case of its name.
pub(super) fn field<'a>(of: &'a Value, name: &str) -> &'a Value {
    static NONE: Value = Value::Null;
    let items = of.as_object().into_iter().flatten();
    let mut hits = items.filter(|(key, _)| key.eq_ignore_ascii_case(name));
    hits.next_back().map_or(&NONE, |(_, value)| value)
}

/// A field as text; a number or a boolean as it is written.
pub(super) fn text(of: &Value, name: &str) -> String {
    match field(of, name) {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// A field as a list.
pub(super) fn items<'a>(of: &'a Value, name: &str) -> &'a [Value] {
    field(of, name).as_array().map_or(&[], Vec::as_slice)
}
