//! YAML as JSON text, written while it is read: parsers of objects take JSON, and a tree between the two costs more than both.

use std::fmt;
use std::io::Write as _;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// A document as JSON; the error is its first line.
pub(super) fn json(text: &str) -> Result<Vec<u8>, String> {
    if let Some(plain) = super::yaml_plain::json(text) {
        return Ok(plain);
    }
    let mut out = Vec::with_capacity(text.len());
    let written = serde_saphyr::with_deserializer_from_str(text, |document| {
        Writer(&mut out).deserialize(document)
    });
    match written {
        Ok(()) => Ok(out),
        Err(error) => {
            let text = error.to_string();
            Err(text.lines().next().unwrap_or("not YAML").to_owned())
        }
    }
}

/// Writes what comes behind what is there.
struct Writer<'a>(&'a mut Vec<u8>);

/// Writes a key: JSON has none but texts.
struct Key<'a>(&'a mut Vec<u8>);

fn value<E: Error>(out: &mut Vec<u8>, value: &Value) -> Result<(), E> {
    serde_json::to_writer(out, value).map_err(E::custom)
}

fn string<E: Error>(out: &mut Vec<u8>, text: &str) -> Result<(), E> {
    serde_json::to_writer(out, text).map_err(E::custom)
}

impl<'de> DeserializeSeed<'de> for Writer<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Writer<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E: Error>(self, is: bool) -> Result<(), E> {
        value(self.0, &is.into())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        value(self.0, &number.into())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        value(self.0, &number.into())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        // Some encoders write whole numbers from a million on as `1.5e+06`; Kubernetes has no others. As far as the form is exact.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if number.fract() == 0.0 && number.abs() < EXACT {
            return write!(self.0, "{number:.0}").map_err(E::custom);
        }
        value(self.0, &number.into())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        string(self.0, text)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        value(self.0, &Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.0.push(b'[');
        let empty = self.0.len();
        while items.next_element_seed(Writer(self.0))?.is_some() {
            self.0.push(b',');
        }
        close(self.0, empty, b']');
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        self.0.push(b'{');
        let empty = self.0.len();
        while entries.next_key_seed(Key(self.0))?.is_some() {
            self.0.push(b':');
            entries.next_value_seed(Writer(self.0))?;
            self.0.push(b',');
        }
        close(self.0, empty, b'}');
        Ok(())
    }
}

/// Ends a list or an object: in the place of the last comma, if there is any.
fn close(out: &mut Vec<u8>, empty: usize, bracket: u8) {
    if out.len() > empty {
        out.pop();
    }
    out.push(bracket);
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        string(self.0, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_stay_whole_however_they_are_written() {
        let found = json("a: 1.000650000e+09\nb: 0.5\nc: 3\nd: -2.5e+06\n").unwrap();
        let found: Value = serde_json::from_slice(&found).unwrap();
        assert_eq!(
            found,
            serde_json::json!({ "a": 1_000_650_000, "b": 0.5, "c": 3, "d": -2_500_000 })
        );
    }
}
