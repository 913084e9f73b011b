//! An object as the bundle keeps it: one line of JSON, without the parts that only servers need.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The way to a member that is left out; `[]` stands for every element of an array.
pub type Way = &'static [&'static str];

/// What an object of many does not keep: who set which field, and kubectl's copy of the object inside the object.
pub const ALWAYS: &[Way] = &[
    &["metadata", "managedFields"],
    &[
        "metadata",
        "annotations",
        "kubectl.kubernetes.io/last-applied-configuration",
    ],
];

/// The same of what people and operators set: who changed it and when is kept, which fields is not.
pub const SET: &[Way] = &[
    &["metadata", "managedFields", "[]", "fieldsV1"],
    &["metadata", "managedFields", "[]", "fieldsType"],
    &["metadata", "managedFields", "[]", "apiVersion"],
    &[
        "metadata",
        "annotations",
        "kubectl.kubernetes.io/last-applied-configuration",
    ],
];

/// Schemas: most of a definition's bytes, and nothing that a diagnosis reads.
pub const DEFINITION: &[Way] = &[
    &["metadata", "managedFields"],
    &[
        "metadata",
        "annotations",
        "kubectl.kubernetes.io/last-applied-configuration",
    ],
    &["spec", "versions", "[]", "schema"],
];

/// A helm release in a ConfigMap holds rendered Secrets.
pub const HELM_CONFIGMAP: &[Way] = &[
    &["metadata", "managedFields"],
    &[
        "metadata",
        "annotations",
        "kubectl.kubernetes.io/last-applied-configuration",
    ],
    &["data", "release"],
];

/// Who an object is.
#[derive(Debug, Default, Clone, PartialEq, Eq, serde::Deserialize)]
pub struct Head {
    /// Its metadata.
    #[serde(default)]
    pub metadata: HeadMeta,
}

/// The metadata that says who an object is.
#[derive(Debug, Default, Clone, PartialEq, Eq, serde::Deserialize)]
pub struct HeadMeta {
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// Its namespace; empty for one of the whole cluster.
    #[serde(default)]
    pub namespace: String,
    /// The label by which helm marks its own.
    #[serde(default)]
    pub labels: Option<HeadLabels>,
}

/// The one label that decides how an object is kept.
#[derive(Debug, Default, Clone, PartialEq, Eq, serde::Deserialize)]
pub struct HeadLabels {
    /// `helm` on a release's ConfigMap or Secret.
    #[serde(default)]
    pub owner: Option<String>,
}

impl Head {
    /// Whether helm keeps a release in it.
    pub fn is_helm(&self) -> bool {
        let labels = self.metadata.labels.as_ref();
        labels.and_then(|labels| labels.owner.as_deref()) == Some("helm")
    }
}

/// Members of an object in the order they came.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Take;
        impl<'de> Visitor<'de> for Take {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Take)
    }
}

/// An object whose members were read, and nothing within them but who it is.
pub struct Object<'a> {
    /// Who it is.
    pub head: Head,
    members: Members<'a>,
}

impl<'a> Object<'a> {
    /// Reads it; fails where it is not the JSON of an object.
    pub fn read(raw: &'a [u8]) -> Result<Self, serde_json::Error> {
        let members: Members<'a> = serde_json::from_slice(raw)?;
        let mut of_metadata = members.0.iter().filter(|(key, _)| key == "metadata");
        let metadata = match (of_metadata.next(), of_metadata.next()) {
            (Some((_, value)), None) => serde_json::from_str(value.get())?,
            (None, _) => HeadMeta::default(),
            _ => return Err(serde_json::Error::duplicate_field("metadata")),
        };
        Ok(Self {
            head: Head { metadata },
            members,
        })
    }

    /// It as one line (without the line end), less what the `ways` name.
    pub fn slim(&self, ways: &[Way]) -> Result<Vec<u8>, serde_json::Error> {
        let length = |value: &RawValue| value.get().len();
        let most = self
            .members
            .0
            .iter()
            .map(|(key, value)| key.len() + length(value) + 8);
        let mut line = Vec::with_capacity(most.sum());
        prune_members(&self.members, ways, &mut line)?;
        // Many lines wait to be sorted; what was left out is a third of an object.
        line.shrink_to_fit();
        Ok(line)
    }
}

/// Recurses along the ways only, so its depth is theirs and not the object's.
fn prune(raw: &str, ways: &[Way], line: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    let begins = raw.trim_start().as_bytes().first().copied();
    match begins {
        Some(b'{') if !ways.is_empty() => {
            prune_members(&serde_json::from_str(raw)?, ways, line)?;
        }
        Some(b'[') if ways.iter().any(|way| way.first() == Some(&"[]")) => {
            let ahead: Vec<Way> = step(ways, "[]");
            let elements: Vec<&RawValue> = serde_json::from_str(raw)?;
            line.push(b'[');
            for (index, element) in elements.into_iter().enumerate() {
                if index > 0 {
                    line.push(b',');
                }
                prune(element.get(), &ahead, line)?;
            }
            line.push(b']');
        }
        _ => compact(raw, line),
    }
    Ok(())
}

fn prune_members(
    members: &Members<'_>,
    ways: &[Way],
    line: &mut Vec<u8>,
) -> Result<(), serde_json::Error> {
    line.push(b'{');
    let mut first = true;
    for (key, value) in &members.0 {
        let ahead: Vec<Way> = step(ways, key);
        if ahead.iter().any(|way| way.is_empty()) {
            continue;
        }
        if !std::mem::take(&mut first) {
            line.push(b',');
        }
        serde_json::to_writer(&mut *line, key)?;
        line.push(b':');
        prune(value.get(), &ahead, line)?;
    }
    line.push(b'}');
    Ok(())
}

fn step(ways: &[Way], key: &str) -> Vec<Way> {
    let matching = ways
        .iter()
        .filter(|way| way.first().is_some_and(|head| *head == key));
    matching.filter_map(|way| way.get(1..)).collect()
}

/// Copies JSON without the white space between its tokens.
fn compact(raw: &str, line: &mut Vec<u8>) {
    let bytes = raw.as_bytes();
    let blank = |byte: &u8| byte.is_ascii_whitespace();
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = bytes[at..].iter().position(|b| *b == b'"' || blank(b)) {
        at += found;
        if bytes[at] == b'"' {
            at += string_length(&bytes[at..]);
            continue;
        }
        line.extend_from_slice(&bytes[copied..at]);
        at += bytes[at..].iter().take_while(|byte| blank(byte)).count();
        copied = at;
    }
    line.extend_from_slice(&bytes[copied..]);
}

/// The length of the string that begins here, quotes included.
fn string_length(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(found) = text
        .get(at..)
        .and_then(|rest| memchr::memchr2(b'"', b'\\', rest))
    {
        at += found + 1;
        if text[at - 1] == b'"' {
            return at;
        }
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn slim(raw: &[u8], ways: &[Way]) -> Result<Vec<u8>, serde_json::Error> {
        Object::read(raw)?.slim(ways)
    }

    #[test]
    fn server_side_parts_are_dropped_and_the_rest_keeps_its_order() {
        let raw = br#"{ "metadata": {"name":"a","managedFields":[{"x":1}],"annotations":{
            "kubectl.kubernetes.io/last-applied-configuration":"{}","keep \"me":"x y"}},
            "spec":{"z":1,"a":[1, 2]}}"#;
        let line = slim(raw, ALWAYS).unwrap();
        let expected = r#"{"metadata":{"name":"a","annotations":{"keep \"me":"x y"}},"spec":{"z":1,"a":[1,2]}}"#;
        assert_eq!(String::from_utf8(line).unwrap(), expected);
    }

    #[test]
    fn who_changed_an_object_and_when_is_kept_without_the_fields() {
        let raw = br#"{"metadata":{"managedFields":[{"manager":"kubectl-edit","operation":"Update",
            "apiVersion":"nvidia.com/v1","time":"2026-11-20T10:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]}}"#;
        let line = slim(raw, SET).unwrap();
        let expected = r#"{"metadata":{"managedFields":[{"manager":"kubectl-edit","operation":"Update","time":"2026-11-20T10:00:00Z"}]}}"#;
        assert_eq!(String::from_utf8(line).unwrap(), expected);
    }

    #[test]
    fn a_definition_loses_its_schemas_only() {
        let raw = br#"{"spec":{"versions":[{"name":"v1","schema":{"a":{}},"served":true},{"name":"v2"}]}}"#;
        let line = slim(raw, DEFINITION).unwrap();
        let expected = r#"{"spec":{"versions":[{"name":"v1","served":true},{"name":"v2"}]}}"#;
        assert_eq!(String::from_utf8(line).unwrap(), expected);
    }

    #[test]
    fn what_is_no_object_with_one_metadata_is_an_error() {
        let whole = br#"{"metadata":{"name":"a","namespace":"b","labels":{"owner":"helm"}}}"#;
        let head = Object::read(whole).unwrap().head;
        assert!(head.is_helm() && head.metadata.name == "a" && head.metadata.namespace == "b");
        for raw in [
            "{\"metadata\":\"x\"}",
            "{\"metadata\":null}",
            "{\"metadata\":{},\"metadata\":{}}",
            "[]",
            "3",
            "{\"a\":",
            "{\"a\":{]}",
            "{} x",
        ] {
            assert!(slim(raw.as_bytes(), ALWAYS).is_err(), "{raw}");
        }
        assert!(slim(b"{\"a\":\"\xff\"}", ALWAYS).is_err());
    }

    proptest! {
        #[test]
        fn an_object_is_always_one_line(text in "\\PC{0,30}", pretty in any::<bool>()) {
            let value = serde_json::json!({"metadata": {"name": text}, "data": {"t": text, "n": [1, "\n"]}});
            let raw = if pretty { serde_json::to_vec_pretty(&value) } else { serde_json::to_vec(&value) }.unwrap();
            let line = slim(&raw, ALWAYS).unwrap();
            prop_assert!(!line.contains(&b'\n'));
            let read: serde_json::Value = serde_json::from_slice(&line).unwrap();
            prop_assert_eq!(read, value);
        }
    }
}
