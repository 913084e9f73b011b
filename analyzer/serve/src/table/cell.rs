//! Cells and columns of a table.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::age;
use crate::value;

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    /// Text.
    Text(String),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// A switch.
    Bool(bool),
    /// Nothing.
    Null,
}

impl Cell {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Cell::Text(text) => value::write_go_string(text, out),
            Cell::Int(number) => out.extend_from_slice(number.to_string().as_bytes()),
            Cell::Float(number) => out.extend_from_slice(go_float(*number).as_bytes()),
            Cell::Bool(on) => out.extend_from_slice(if *on { b"true" } else { b"false" }),
            Cell::Null => out.extend_from_slice(b"null"),
        }
    }
}

/// A number as Go's JSON encoder writes it: without a fraction where there is none.
fn go_float(number: f64) -> String {
    if number != 0.0 && !(1e-6..1e21).contains(&number.abs()) {
        let text = format!("{number:e}");
        return match text.split_once("e-") {
            Some((digits, power)) => format!("{digits}e-{power:0>2}"),
            None => text.replacen('e', "e+", 1),
        };
    }
    format!("{number}")
}

/// Text as a cell.
pub(crate) fn txt(text: impl Into<String>) -> Cell {
    Cell::Text(text.into())
}

/// A column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) format: &'static str,
    /// Shown with `-o wide` only.
    pub(crate) wide: bool,
}

/// A column of text.
pub(crate) const fn col(name: &'static str) -> Column {
    typed(name, "string")
}

/// A column of another type.
pub(crate) const fn typed(name: &'static str, kind: &'static str) -> Column {
    Column {
        name,
        kind,
        format: "",
        wide: false,
    }
}

/// A column of whole numbers.
pub(crate) const fn number(name: &'static str) -> Column {
    typed(name, "integer")
}

/// A column of text that `-o wide` shows.
pub(crate) const fn wide(name: &'static str) -> Column {
    Column {
        wide: true,
        ..col(name)
    }
}

/// The column of names.
pub(crate) const NAME: Column = named("Name", false);
/// The column of ages.
pub(crate) const AGE: Column = col("Age");

/// A column whose cells name the object.
pub(crate) const fn named(name: &'static str, wide: bool) -> Column {
    Column {
        format: "name",
        wide,
        ..col(name)
    }
}

/// An object on its way into a row.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    pub(crate) object: &'a Value,
    pub(crate) now: DateTime<Utc>,
}

impl<'a> Row<'a> {
    pub(crate) fn name(&self) -> Cell {
        self.copy("metadata.name")
    }

    pub(crate) fn age(&self) -> Cell {
        self.since("metadata.creationTimestamp")
    }

    /// Text as it is in the object; empty where it is missing.
    pub(crate) fn copy(&self, path: &str) -> Cell {
        txt(self.text(path))
    }

    pub(crate) fn text(&self, path: &str) -> &'a str {
        value::text(self.object, path)
    }

    /// Text, or what is shown in its place.
    pub(crate) fn or(&self, path: &str, instead: &str) -> Cell {
        txt(value::some_text(self.object, path).unwrap_or(instead))
    }

    /// Text, or what is shown where it is missing or empty.
    pub(crate) fn filled(&self, path: &str, instead: &str) -> Cell {
        let text = self.text(path);
        txt(if text.is_empty() { instead } else { text })
    }

    pub(crate) fn number(&self, path: &str) -> Cell {
        Cell::Int(self.int(path))
    }

    pub(crate) fn int(&self, path: &str) -> i64 {
        value::int(self.object, path)
    }

    pub(crate) fn switch(&self, path: &str, unset: bool) -> Cell {
        Cell::Bool(value::at(self.object, path).as_bool().unwrap_or(unset))
    }

    pub(crate) fn count(&self, path: &str) -> Cell {
        Cell::Int(self.list(path).len().try_into().unwrap_or(i64::MAX))
    }

    pub(crate) fn list(&self, path: &str) -> &'a [Value] {
        value::list(self.object, path)
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        value::has(self.object, path)
    }

    pub(crate) fn since(&self, path: &str) -> Cell {
        txt(self.ago(path))
    }

    pub(crate) fn ago(&self, path: &str) -> String {
        age::since(value::time(self.object, path), self.now)
    }

    pub(crate) fn is_deleted(&self) -> bool {
        self.has("metadata.deletionTimestamp")
    }
}

#[cfg(test)]
mod tests {
    use super::go_float;

    #[test]
    fn numbers_are_written_as_go_writes_them() {
        assert_eq!(go_float(2.0), "2");
        assert_eq!(go_float(0.25), "0.25");
        assert_eq!(go_float(1e21), "1e+21");
        assert_eq!(go_float(2.5e-7), "2.5e-07");
    }
}
