//! Secrets as the bundle knows them: names, types, key names and sizes. Values are measured and never copied.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::{Deserialize as DeriveDeserialize, Serialize};

/// The size of a base64 value in bytes; the value itself is not kept.
#[derive(Debug, Clone, Copy)]
struct Size(usize);

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Measure;
        impl Visitor<'_> for Measure {
            type Value = Size;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a base64 string")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Size, E> {
                let padding = text.bytes().rev().take(2).filter(|b| *b == b'=').count();
                Ok(Size((text.len() / 4 * 3).saturating_sub(padding)))
            }
            fn visit_unit<E: Error>(self) -> Result<Size, E> {
                Ok(Size(0))
            }
        }
        deserializer.deserialize_any(Measure)
    }
}

#[derive(DeriveDeserialize)]
struct Secret {
    #[serde(default)]
    metadata: Meta,
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    data: Option<BTreeMap<String, Size>>,
    #[serde(default)]
    immutable: bool,
}

#[derive(Default, DeriveDeserialize, Serialize)]
struct Meta {
    #[serde(default)]
    name: String,
    #[serde(default)]
    namespace: String,
    #[serde(default, rename = "creationTimestamp")]
    created: Option<String>,
}

#[derive(Serialize)]
struct Line {
    metadata: Meta,
    #[serde(rename = "type")]
    kind: String,
    immutable: bool,
    entries: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    name: String,
    bytes: usize,
}

/// The values of a Secret, each with its key, for the leak check: they stay in memory and never reach an entry.
pub fn values(raw: &[u8]) -> Vec<(String, Vec<u8>)> {
    #[derive(DeriveDeserialize)]
    struct Values {
        #[serde(default, rename = "type")]
        kind: String,
        #[serde(default)]
        data: Option<BTreeMap<String, String>>,
    }
    let Ok(secret) = serde_json::from_slice::<Values>(raw) else {
        return Vec::new();
    };
    if secret.kind.starts_with("helm.sh/") {
        return Vec::new();
    }
    let data = secret.data.unwrap_or_default().into_iter();
    data.filter_map(|(name, value)| Some((name, STANDARD.decode(value).ok()?)))
        .collect()
}

/// The line that stands for a Secret. Fails where the object is not one.
pub fn index_line(raw: &[u8]) -> Result<Vec<u8>, serde_json::Error> {
    let secret: Secret = serde_json::from_slice(raw)?;
    let entries = secret.data.unwrap_or_default();
    let entries = entries
        .into_iter()
        .map(|(name, size)| Entry {
            name,
            bytes: size.0,
        })
        .collect();
    serde_json::to_vec(&Line {
        metadata: secret.metadata,
        kind: secret.kind,
        immutable: secret.immutable,
        entries,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_of_a_secret_is_in_its_line() {
        let raw = br#"{"metadata":{"name":"s","namespace":"n","annotations":{"a":"aHVzaA=="}},"type":"Opaque",
            "data":{"password":"aHVzaGh1c2g=","user":"cm9vdA==","empty":""},"stringData":{"x":"y"}}"#;
        let line = String::from_utf8(index_line(raw).unwrap()).unwrap();
        assert!(!line.contains("aHVz"), "{line}");
        assert!(line.contains(r#"{"name":"password","bytes":8}"#), "{line}");
        assert!(line.contains(r#"{"name":"user","bytes":4}"#), "{line}");
        assert!(line.contains(r#"{"name":"empty","bytes":0}"#), "{line}");
    }

    #[test]
    fn an_error_does_not_quote_the_value() {
        let error = index_line(br#"{"data":{"password":["hush"]}}"#).unwrap_err();
        assert!(!error.to_string().contains("hush"), "{error}");
    }
}
