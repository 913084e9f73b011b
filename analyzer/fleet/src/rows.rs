//! Rows, and what a bundle's rows are held in until they are written.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanBuilder, Int64Builder, RecordBatch, StringBuilder, TimestampMicrosecondBuilder,
};
use arrow::error::ArrowError;
use chrono::{DateTime, Utc};

use crate::schema::{Kind, Table};

/// Longest text of a cell, in bytes.
const LONGEST: usize = 4096;

/// One value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    /// Not known.
    Null,
    /// Text.
    Text(String),
    /// Number.
    Int(i64),
    /// True or false.
    Bool(bool),
    /// Microseconds since 1970.
    Time(i64),
}

impl Cell {
    /// A text, cut where it is too long for a cell; an empty one is not known.
    pub fn text(text: &str) -> Self {
        if text.is_empty() {
            return Cell::Null;
        }
        let mut end = text.len().min(LONGEST);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        Cell::Text(text[..end].to_owned())
    }

    /// A moment as RFC 3339 writes it; anything else is not known.
    pub fn moment(text: &str) -> Self {
        DateTime::parse_from_rfc3339(text)
            .map_or(Cell::Null, |at| Cell::Time(at.timestamp_micros()))
    }

    /// A moment.
    pub fn at(at: Option<DateTime<Utc>>) -> Self {
        at.map_or(Cell::Null, |at| Cell::Time(at.timestamp_micros()))
    }
}

impl From<Option<&str>> for Cell {
    fn from(text: Option<&str>) -> Self {
        text.map_or(Cell::Null, Cell::text)
    }
}

impl From<Option<i64>> for Cell {
    fn from(number: Option<i64>) -> Self {
        number.map_or(Cell::Null, Cell::Int)
    }
}

impl From<Option<bool>> for Cell {
    fn from(flag: Option<bool>) -> Self {
        flag.map_or(Cell::Null, Cell::Bool)
    }
}

/// A row: as many cells as its table has columns.
pub type Row = Vec<Cell>;

/// Rows by table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows(BTreeMap<&'static str, Vec<Row>>);

impl Rows {
    /// Adds a row. It has a cell for each column of the table.
    pub fn push(&mut self, table: &'static Table, row: Row) {
        debug_assert_eq!(row.len(), table.columns.len(), "table {}", table.name);
        self.0.entry(table.name).or_default().push(row);
    }

    /// Takes in the rows of another bundle.
    pub fn append(&mut self, other: Rows) {
        for (table, rows) in other.0 {
            self.0.entry(table).or_default().extend(rows);
        }
    }

    /// The rows of a table.
    pub fn of(&self, table: &Table) -> &[Row] {
        self.0.get(table.name).map_or(&[], Vec::as_slice)
    }

    /// How many rows there are in all tables.
    pub fn len(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts the rows into the one order that files have: by bundle, then by number.
    pub fn sort(&mut self) {
        for rows in self.0.values_mut() {
            rows.sort();
        }
    }

    /// The rows of a table as Arrow holds them.
    ///
    /// # Errors
    /// A cell that is of another kind than its column, which is a bug of the caller.
    pub fn batch(&self, table: &Table) -> Result<RecordBatch, ArrowError> {
        let rows = self.of(table);
        let columns = table
            .columns
            .iter()
            .enumerate()
            .map(|(at, column)| array(column.kind, rows, at))
            .collect::<Result<Vec<_>, _>>()?;
        RecordBatch::try_new(table.schema(), columns)
    }
}

fn array(kind: Kind, rows: &[Row], at: usize) -> Result<ArrayRef, ArrowError> {
    let wrong = |cell: &Cell| {
        Err(ArrowError::SchemaError(format!(
            "column {at}: {cell:?} is no {kind:?}"
        )))
    };
    let cells = rows.iter().map(|row| &row[at]);
    Ok(match kind {
        Kind::Text => {
            let mut builder = StringBuilder::new();
            for cell in cells {
                match cell {
                    Cell::Null => builder.append_null(),
                    Cell::Text(text) => builder.append_value(text),
                    other => return wrong(other),
                }
            }
            Arc::new(builder.finish())
        }
        Kind::Int => {
            let mut builder = Int64Builder::new();
            for cell in cells {
                match cell {
                    Cell::Null => builder.append_null(),
                    Cell::Int(number) => builder.append_value(*number),
                    other => return wrong(other),
                }
            }
            Arc::new(builder.finish())
        }
        Kind::Bool => {
            let mut builder = BooleanBuilder::new();
            for cell in cells {
                match cell {
                    Cell::Null => builder.append_null(),
                    Cell::Bool(flag) => builder.append_value(*flag),
                    other => return wrong(other),
                }
            }
            Arc::new(builder.finish())
        }
        Kind::Time => {
            let mut builder = TimestampMicrosecondBuilder::new().with_timezone("UTC");
            for cell in cells {
                match cell {
                    Cell::Null => builder.append_null(),
                    Cell::Time(at) => builder.append_value(*at),
                    other => return wrong(other),
                }
            }
            Arc::new(builder.finish())
        }
    })
}
