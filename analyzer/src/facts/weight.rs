//! About how much a fact says: the bytes that it would take as JSON, counted without writing them.

use std::fmt::{self, Display};

use serde::Serialize;
use serde::ser::{
    SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

/// What a number or a truth value counts.
const PLAIN: usize = 6;
/// What counts that writes itself: times and addresses, most often.
const WRITTEN: usize = 24;
/// Signs around a text or a list, and the one behind it.
const SIGNS: usize = 3;

/// The bytes of a value.
pub(super) fn of(value: &impl Serialize) -> usize {
    let mut counted = Counted(0);
    value.serialize(&mut counted).map_or(0, |()| counted.0)
}

struct Counted(usize);

impl Counted {
    fn add(&mut self, bytes: usize) -> fmt::Result {
        self.0 = self.0.saturating_add(bytes);
        Ok(())
    }

    fn begin(&mut self) -> Result<&mut Self, fmt::Error> {
        self.add(SIGNS)?;
        Ok(self)
    }

    fn begin_named(&mut self, name: &str) -> Result<&mut Self, fmt::Error> {
        self.add(name.len() + SIGNS)?;
        self.begin()
    }

    fn named<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> fmt::Result {
        self.add(name.len() + SIGNS)?;
        value.serialize(self)
    }
}

macro_rules! plain {
    ($($method:ident: $kind:ty),*) => {
        $(fn $method(self, _: $kind) -> fmt::Result {
            self.add(PLAIN)
        })*
    };
}

impl Serializer for &mut Counted {
    type Ok = ();
    type Error = fmt::Error;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    plain!(
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
        serialize_unit_struct: &'static str
    );

    fn serialize_str(self, text: &str) -> fmt::Result {
        self.add(text.len() + SIGNS)
    }

    fn serialize_bytes(self, bytes: &[u8]) -> fmt::Result {
        self.add(bytes.len() + SIGNS)
    }

    fn serialize_none(self) -> fmt::Result {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> fmt::Result {
        value.serialize(self)
    }

    fn serialize_unit(self) -> fmt::Result {
        self.add("null,".len())
    }

    fn serialize_unit_variant(self, _: &str, _: u32, variant: &str) -> fmt::Result {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &str, value: &T) -> fmt::Result {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &str,
        _: u32,
        variant: &str,
        value: &T,
    ) -> fmt::Result {
        self.named(variant, value)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, fmt::Error> {
        self.begin()
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, fmt::Error> {
        self.begin()
    }

    fn serialize_tuple_struct(self, _: &str, _: usize) -> Result<Self, fmt::Error> {
        self.begin()
    }

    fn serialize_tuple_variant(
        self,
        _: &str,
        _: u32,
        variant: &str,
        _: usize,
    ) -> Result<Self, fmt::Error> {
        self.begin_named(variant)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, fmt::Error> {
        self.begin()
    }

    fn serialize_struct(self, _: &str, _: usize) -> Result<Self, fmt::Error> {
        self.begin()
    }

    fn serialize_struct_variant(
        self,
        _: &str,
        _: u32,
        variant: &str,
        _: usize,
    ) -> Result<Self, fmt::Error> {
        self.begin_named(variant)
    }

    fn collect_str<T: Display + ?Sized>(self, _: &T) -> fmt::Result {
        self.add(WRITTEN)
    }
}

/// Lists: each item counts what it says.
macro_rules! items {
    ($($kind:ident $method:ident),*) => {
        $(impl $kind for &mut Counted {
            type Ok = ();
            type Error = fmt::Error;

            fn $method<T: Serialize + ?Sized>(&mut self, item: &T) -> fmt::Result {
                item.serialize(&mut **self)
            }

            fn end(self) -> fmt::Result {
                Ok(())
            }
        })*
    };
}

items!(
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field
);

/// Structures: each field counts its name as well.
macro_rules! fields {
    ($($kind:ident),*) => {
        $(impl $kind for &mut Counted {
            type Ok = ();
            type Error = fmt::Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> fmt::Result {
                self.named(name, value)
            }

            fn end(self) -> fmt::Result {
                Ok(())
            }
        })*
    };
}

fields!(SerializeStruct, SerializeStructVariant);

impl SerializeMap for &mut Counted {
    type Ok = ();
    type Error = fmt::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> fmt::Result {
        key.serialize(&mut **self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> fmt::Result {
        value.serialize(&mut **self)
    }

    fn end(self) -> fmt::Result {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    proptest::proptest! {
        #[test]
        fn what_is_counted_is_about_what_would_be_written(
            texts in proptest::collection::vec("[a-z ./-]{0,60}", 0..8),
            number: u64,
            depth in 0..6u32,
        ) {
            let mut value = json!({ "texts": texts, "number": number, "none": null });
            for _ in 0..depth {
                value = json!({ "inner": [value], "is": true });
            }
            let written = value.to_string().len();
            let counted = of(&value);
            proptest::prop_assert!(2 * counted >= written, "{counted} of {written}");
            proptest::prop_assert!(counted <= 2 * written, "{counted} of {written}");
        }
    }

    #[test]
    fn a_list_counts_all_of_its_items() {
        let items = |count: usize| of(&Value::from(vec!["a text of some bytes"; count]));
        assert_eq!(items(1001) - items(1), 1000 * (items(2) - items(1)));
        assert!(items(2) - items(1) > 20);
    }
}
