//! Tables as the API server makes them for `kubectl get`: the columns and cells of Kubernetes' own printers
//! (pkg/printers/internalversion, read as of v1.36), and of custom resources by their definitions.

pub(crate) mod age;
mod cell;
mod cluster;
pub(crate) mod custom;
mod devices;
mod hpa;
mod jsonpath;
mod network;
mod pods;
mod policy;
mod printers;
mod selector;
mod storage;
mod workloads;

use chrono::{DateTime, Utc};
use serde_json::Value;

pub(crate) use selector::selector as selector_text;

use crate::store::Kind;
use crate::value::write_go_string;
use cell::Row;
use printers::{CREATED, PRINTERS, Printer};

/// What a row carries of its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Include {
    /// Its metadata.
    Metadata,
    /// All of it.
    Object,
    /// Nothing.
    None,
}

/// Makes the table of a kind.
pub(crate) struct Tables<'k> {
    kind: &'k Kind,
    printer: &'static Printer,
    /// Ages are as of this moment.
    now: DateTime<Utc>,
}

impl<'k> Tables<'k> {
    pub(crate) fn new(kind: &'k Kind, now: DateTime<Utc>) -> Self {
        let is = |one: &&Printer| one.group == kind.group && one.plural == kind.plural;
        let printer = PRINTERS.iter().find(is).unwrap_or(&CREATED);
        Self { kind, printer, now }
    }

    /// The table of the `scale` subresource.
    pub(crate) fn of_scales(kind: &'k Kind, now: DateTime<Utc>) -> Self {
        let is = |one: &&Printer| one.plural == "scales";
        let printer = PRINTERS.iter().find(is).unwrap_or(&CREATED);
        Self { kind, printer, now }
    }

    /// Whether the server has no printer for the kind.
    pub(crate) fn are_bare(&self) -> bool {
        self.printer.plural.is_empty() && self.kind.columns.is_none()
    }

    /// Paths that a row shows besides the metadata; none where all may be shown. Only pods are so many and so large
    /// that reading less of them is noticed.
    pub(crate) fn fields(&self) -> Option<&'static [&'static str]> {
        (self.printer.plural == "pods").then_some(pods::FIELDS)
    }

    /// `"columnDefinitions":[...]`.
    pub(crate) fn write_columns(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\"columnDefinitions\":[");
        if let Some(custom) = &self.kind.columns {
            write_column(("Name", "string", "name", 0), out);
            for column in custom {
                out.push(b',');
                write_column(
                    (&column.name, &column.kind, &column.format, column.priority),
                    out,
                );
            }
        } else {
            for (index, column) in self.printer.columns.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                let priority = i64::from(column.wide);
                write_column((column.name, column.kind, column.format, priority), out);
            }
        }
        out.push(b']');
    }

    /// One row; `object` is what it carries, as JSON.
    pub(crate) fn write_row(&self, object: &Value, carried: &[u8], out: &mut Vec<u8>) {
        let row = Row {
            object,
            now: self.now,
        };
        let cells = match &self.kind.columns {
            Some(custom) => {
                let mut cells = vec![row.name()];
                cells.extend(custom::cells(custom, &row));
                cells
            }
            None => (self.printer.row)(&row),
        };
        out.extend_from_slice(b"{\"cells\":[");
        for (index, cell) in cells.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            cell.write(out);
        }
        out.push(b']');
        if self.printer.plural == "pods"
            && let Some((reason, message)) = pods::completed(object)
        {
            let text = format!(
                r#","conditions":[{{"type":"Completed","status":"True","reason":"{reason}","message":"{message}"}}]"#
            );
            out.extend_from_slice(text.as_bytes());
        }
        out.extend_from_slice(b",\"object\":");
        out.extend_from_slice(carried);
        out.push(b'}');
    }
}

fn write_column((name, kind, format, priority): (&str, &str, &str, i64), out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"name\":");
    write_go_string(name, out);
    out.extend_from_slice(b",\"type\":");
    write_go_string(kind, out);
    out.extend_from_slice(b",\"format\":");
    write_go_string(format, out);
    out.extend_from_slice(format!(",\"description\":\"\",\"priority\":{priority}}}").as_bytes());
}
