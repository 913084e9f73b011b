//! Some fields of a fact as JSON. A large input has very many facts of which few pass a test, and making a tree of all
//! fields of each would cost more than reading it did.

use serde::Serialize;
use serde::ser::{Error as _, Impossible, SerializeStruct, Serializer};
use serde_json::{Error, Map, Value};

/// The named fields of what is written as a struct; all that there is of anything else.
pub(super) fn picked<T: Serialize>(data: &T, names: &[&str]) -> Value {
    data.serialize(Picker(names))
        .or_else(|_| serde_json::to_value(data))
        .unwrap_or(Value::Null)
}

/// Writes structs with these fields only, and refuses whatever is none.
struct Picker<'n>(&'n [&'n str]);

/// A struct as far as it is written.
struct Picked<'n> {
    names: &'n [&'n str],
    fields: Map<String, Value>,
}

impl SerializeStruct for Picked<'_> {
    type Ok = Value;
    type Error = Error;

    fn serialize_field<T: ?Sized + Serialize>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        if self.names.contains(&name) {
            self.fields
                .insert(name.to_owned(), serde_json::to_value(value)?);
        }
        Ok(())
    }

    fn end(self) -> Result<Value, Error> {
        Ok(Value::Object(self.fields))
    }
}

fn refused<T>() -> Result<T, Error> {
    Err(Error::custom("not a struct"))
}

/// Methods for values that are no struct.
macro_rules! refuse {
    ($($method:ident: $type:ty,)+) => {
        $(fn $method(self, _: $type) -> Result<Value, Error> {
            refused()
        })+
    };
}

impl<'n> Serializer for Picker<'n> {
    type Ok = Value;
    type Error = Error;
    type SerializeSeq = Impossible<Value, Error>;
    type SerializeTuple = Impossible<Value, Error>;
    type SerializeTupleStruct = Impossible<Value, Error>;
    type SerializeTupleVariant = Impossible<Value, Error>;
    type SerializeMap = Impossible<Value, Error>;
    type SerializeStruct = Picked<'n>;
    type SerializeStructVariant = Impossible<Value, Error>;

    refuse! {
        serialize_bool: bool,
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_f32: f32,
        serialize_f64: f64,
        serialize_char: char,
        serialize_str: &str,
        serialize_bytes: &[u8],
        serialize_unit_struct: &'static str,
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Picked<'n>, Error> {
        Ok(Picked {
            names: self.0,
            fields: Map::new(),
        })
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Value, Error> {
        value.serialize(self)
    }

    fn serialize_none(self) -> Result<Value, Error> {
        refused()
    }

    fn serialize_some<T: ?Sized + Serialize>(self, _: &T) -> Result<Value, Error> {
        refused()
    }

    fn serialize_unit(self) -> Result<Value, Error> {
        refused()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
    ) -> Result<Value, Error> {
        refused()
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<Value, Error> {
        refused()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Error> {
        refused()
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Error> {
        refused()
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, Error> {
        refused()
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Error> {
        refused()
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Error> {
        refused()
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Error> {
        refused()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Serialize)]
    struct Inner {
        a: u8,
        b: Vec<u8>,
        #[serde(rename = "type")]
        kind: String,
    }

    #[derive(Serialize)]
    struct Outer(Inner);

    #[derive(Serialize)]
    struct Flat {
        #[serde(flatten)]
        inner: Inner,
    }

    fn inner() -> Inner {
        Inner {
            a: 1,
            b: vec![2],
            kind: "c".into(),
        }
    }

    #[test]
    fn only_named_fields_are_written_where_the_value_is_a_struct() {
        let names = ["b", "type", "absent"];
        assert_eq!(
            picked(&Outer(inner()), &names),
            json!({ "b": [2], "type": "c" })
        );
        let flat = Flat { inner: inner() };
        assert_eq!(picked(&flat, &names), serde_json::to_value(&flat).unwrap());
        assert_eq!(picked(&"text", &names), json!("text"));
    }
}
