//! Columns of custom resources, from their definitions.

use serde_json::Value;

use super::age;
use super::cell::{Cell, Row, txt};
use super::jsonpath::{Path, as_text};
use crate::value::{int, list, text};

/// A column of a custom resource.
#[derive(Debug, Clone)]
pub(crate) struct CustomColumn {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) format: String,
    pub(crate) priority: i64,
    path: Option<Path>,
}

/// The columns that a definition has for a version; the age where it has none.
pub(crate) fn columns(version: &Value) -> Vec<CustomColumn> {
    let own = list(version, "additionalPrinterColumns");
    if own.is_empty() {
        return vec![CustomColumn {
            name: "Age".to_owned(),
            kind: "date".to_owned(),
            format: String::new(),
            priority: 0,
            path: Path::parse(".metadata.creationTimestamp"),
        }];
    }
    own.iter()
        .map(|column| CustomColumn {
            name: text(column, "name").to_owned(),
            kind: text(column, "type").to_owned(),
            format: text(column, "format").to_owned(),
            priority: int(column, "priority"),
            path: Path::parse(text(column, "jsonPath")),
        })
        .collect()
}

/// Cells behind the name.
pub(crate) fn cells(columns: &[CustomColumn], row: &Row<'_>) -> Vec<Cell> {
    columns.iter().map(|column| cell(column, row)).collect()
}

fn cell(column: &CustomColumn, row: &Row<'_>) -> Cell {
    let found = column.path.as_ref().and_then(|path| path.find(row.object));
    let Some(value) = found.and_then(|found| found.first().copied()) else {
        return Cell::Null;
    };
    let known = match column.kind.as_str() {
        "string" => as_text(value).map(txt),
        "integer" => whole(value).map(Cell::Int),
        "number" => value.as_f64().map(Cell::Float),
        "boolean" => value.as_bool().map(Cell::Bool),
        "date" => value.as_str().map(|moment| txt(date(moment, row))),
        _ => None,
    };
    known.unwrap_or(Cell::Null)
}

/// A number without its fraction.
fn whole(value: &Value) -> Option<i64> {
    let cut = || {
        let cut = value.as_f64()?.trunc();
        format!("{cut:.0}").parse().ok()
    };
    value.as_i64().or_else(cut)
}

fn date(moment: &str, row: &Row<'_>) -> String {
    match chrono::DateTime::parse_from_rfc3339(moment) {
        Ok(moment) => age::since(Some(moment.to_utc()), row.now),
        Err(_) if moment.is_empty() => "<unknown>".to_owned(),
        Err(_) => "<invalid>".to_owned(),
    }
}
