//! Reading of an object for its row: once over its text, and only what the row shows.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

/// An object as a row needs it.
pub(crate) struct Slim<'a> {
    /// Its metadata as they stand in the text.
    pub(crate) metadata: &'a RawValue,
    /// Its fields, those alone that the row shows, and never the record of who changed what.
    pub(crate) value: Value,
}

/// Reads an object's text; `fields` are the paths below it that the row shows, all where there is no list.
/// None where the text is no object with metadata, or has a name with escapes: the plain way reads that.
pub(crate) fn slim<'a>(raw: &'a [u8], fields: Option<&[&str]>) -> Option<Slim<'a>> {
    let mut reading = serde_json::Deserializer::from_slice(raw);
    Top(fields).deserialize(&mut reading).ok()?
}

/// The paths below a field: `containers.name` below `spec` of `spec.containers.name`.
fn below<'p>(paths: &[&'p str], name: &str) -> Vec<&'p str> {
    let rest = paths.iter().filter_map(|path| {
        let rest = path.strip_prefix(name)?;
        if rest.is_empty() {
            Some("")
        } else {
            rest.strip_prefix('.')
        }
    });
    rest.collect()
}

struct Top<'p>(Option<&'p [&'p str]>);

impl<'de> DeserializeSeed<'de> for Top<'_> {
    type Value = Option<Slim<'de>>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Top<'_> {
    type Value = Option<Slim<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut metadata = None;
        let mut value = Map::new();
        while let Some(name) = map.next_key::<&'de str>()? {
            if name == "metadata" {
                metadata = Some(map.next_value::<&'de RawValue>()?);
                continue;
            }
            let read = match self.0 {
                None => map.next_value()?,
                Some(paths) => match below(paths, name) {
                    paths if paths.is_empty() => {
                        map.next_value::<IgnoredAny>()?;
                        continue;
                    }
                    paths => map.next_value_seed(Picked(paths))?,
                },
            };
            value.insert(name.to_owned(), read);
        }
        Ok(metadata.and_then(|metadata| {
            let own = serde_json::Deserializer::from_str(metadata.get()).deserialize_map(Metadata);
            value.insert("metadata".to_owned(), own.ok()?);
            let value = Value::Object(value);
            Some(Slim { metadata, value })
        }))
    }
}

/// Metadata without the record of who changed what, which is often an object's largest part and is in no column.
struct Metadata;

impl<'de> Visitor<'de> for Metadata {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("metadata")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut value = Map::new();
        while let Some(name) = map.next_key::<&'de str>()? {
            if name == "managedFields" {
                map.next_value::<IgnoredAny>()?;
            } else {
                value.insert(name.to_owned(), map.next_value()?);
            }
        }
        Ok(Value::Object(value))
    }
}

/// What lies at some paths below a value; elements of a list are all there, each with the same fields.
struct Picked<'p>(Vec<&'p str>);

impl<'de> DeserializeSeed<'de> for Picked<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        if self.0.contains(&"") {
            return serde::Deserialize::deserialize(from);
        }
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Picked<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut value = Map::new();
        while let Some(name) = map.next_key::<&'de str>()? {
            let paths = below(&self.0, name);
            if paths.is_empty() {
                map.next_value::<IgnoredAny>()?;
            } else {
                value.insert(name.to_owned(), map.next_value_seed(Picked(paths))?);
            }
        }
        Ok(Value::Object(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(Picked(self.0.clone()))? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_bool<E>(self, on: bool) -> Result<Value, E> {
        Ok(Value::Bool(on))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const POD: &str = r#"{"metadata":{"name":"a","managedFields":[{"manager":"x"}]},"spec":{"nodeName":"n","containers":[{"name":"c","env":[1,2]},{"name":"d"}],"volumes":[{"x":1}]},"status":{"phase":"Running"}}"#;

    #[test]
    fn only_what_the_row_shows_is_read() {
        let fields = ["spec.containers.name", "spec.nodeName", "status"];
        let slim = slim(POD.as_bytes(), Some(&fields)).unwrap();
        assert!(slim.metadata.get().contains("managedFields"));
        let expected = json!({
            "metadata": {"name": "a"},
            "spec": {"nodeName": "n", "containers": [{"name": "c"}, {"name": "d"}]},
            "status": {"phase": "Running"},
        });
        assert_eq!(slim.value, expected);
    }

    #[test]
    fn without_a_list_everything_but_the_record_of_changes_is_read() {
        let slim = slim(POD.as_bytes(), None).unwrap();
        let mut whole: Value = serde_json::from_str(POD).unwrap();
        whole["metadata"]
            .as_object_mut()
            .unwrap()
            .remove("managedFields");
        assert_eq!(slim.value, whole);
    }

    #[test]
    fn what_is_no_object_with_metadata_is_left_to_the_plain_way() {
        for raw in ["[]", "{}", r#"{"metadata":1}"#, r#"{"metadata":{}"#, ""] {
            assert!(slim(raw.as_bytes(), None).is_none(), "{raw}");
        }
    }
}
