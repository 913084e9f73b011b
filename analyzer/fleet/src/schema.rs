//! The tables and their columns: what every analysis becomes.
//!
//! Columns are only ever added, never renamed, retyped or taken away; `since` says with which version of the schema a
//! column came. So files of several releases are read side by side: what an older file lacks is null.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};

/// Version of all tables together; it is written into every file as `casefile.schema`.
pub const VERSION: u32 = 2;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8 text.
    Text,
    /// Whole number, 64 bits, signed.
    Int,
    /// True or false.
    Bool,
    /// A moment in UTC, in microseconds.
    Time,
}

/// A column. All but `bundle` may be null: null is "not known", never zero or empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Name in files and SQL.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Version of the schema that it came with.
    pub since: u32,
    /// What it means, with its unit.
    pub doc: &'static str,
}

/// A table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// Name in files and SQL.
    pub name: &'static str,
    /// What a row is.
    pub doc: &'static str,
    /// Its columns, in order; the first is always `bundle`.
    pub columns: &'static [Column],
}

const fn text(name: &'static str, doc: &'static str) -> Column {
    column(name, Kind::Text, doc)
}

const fn int(name: &'static str, doc: &'static str) -> Column {
    column(name, Kind::Int, doc)
}

const fn flag(name: &'static str, doc: &'static str) -> Column {
    column(name, Kind::Bool, doc)
}

const fn time(name: &'static str, doc: &'static str) -> Column {
    column(name, Kind::Time, doc)
}

const fn column(name: &'static str, kind: Kind, doc: &'static str) -> Column {
    Column {
        name,
        kind,
        since: 1,
        doc,
    }
}

const fn since_2(column: Column) -> Column {
    Column { since: 2, ..column }
}

const BUNDLE: Column = text("bundle", "SHA-256 of the bundle's bytes, in hexadecimal");
const ROW: Column = int("n", "number of the row within its bundle, from 0");
const NODE: Column = text("node", "node that the bundle was taken on");
const CLUSTER: Column = text("cluster", "uid of the namespace kube-system");

/// Every table.
pub const TABLES: &[Table] = &[
    Table {
        name: "bundles",
        doc: "one bundle; also one that could not be read",
        columns: &[
            BUNDLE,
            ROW,
            NODE,
            CLUSTER,
            text("input", "path below the input folder or prefix"),
            text("error", "why it could not be analysed; null if it was"),
            text("title", "first line of its report"),
            text(
                "verdict",
                "verdict of its first cause; `none` if it has none",
            ),
            text("severity", "severity of its first cause"),
            text("cause", "id of its first cause"),
            int("causes", "causes in play"),
            time("started", "start of collection"),
            time("finished", "end of collection"),
            text("interrupted", "why the collection ended early"),
            flag("cut_short", "the file ends before its manifest"),
            int("file_bytes", "size of the file"),
            int("entries", "entries read"),
            int("bytes", "bytes read, inflated"),
            text("tool", "tool that wrote it"),
            text("format", "whose layout it has"),
            text("kernel", "kernel that runs"),
            text("driver", "version of the loaded NVIDIA kernel module"),
            text("kubernetes", "version of Kubernetes"),
            int("gpus", "GPUs seen"),
            text("rules", "SHA-256 of the rules that judged"),
            text("analyzer", "release of the analyzer"),
            since_2(text(
                "problem",
                "first thing in it that could not be read as it should, e.g. bytes lost; null if all could",
            )),
        ],
    },
    Table {
        name: "nodes",
        doc: "one node that a bundle shows",
        columns: &[
            BUNDLE,
            ROW,
            NODE,
            CLUSTER,
            text("name", "name of the node"),
            flag("ready", "Ready condition"),
            flag("cordoned", "takes no new pods"),
            text("pressures", "other conditions that are true, by comma"),
            flag("gpu", "is a GPU node"),
            int("capacity", "GPUs of status.capacity"),
            int("allocatable", "GPUs of status.allocatable"),
            int("taken", "GPUs that its pods ask for"),
        ],
    },
    Table {
        name: "gpus",
        doc: "one GPU as nvidia-smi listed it",
        columns: &[
            BUNDLE,
            ROW,
            NODE,
            CLUSTER,
            text("name", "node that holds it"),
            text("bus_id", "PCI bus id"),
            text("product", "product name"),
            int("temperature", "degrees Celsius"),
            text("trouble", "what nvidia-smi reports as wrong, by semicolon"),
        ],
    },
    Table {
        name: "incidents",
        doc: "one cause in play in one bundle",
        columns: &[
            BUNDLE,
            ROW,
            NODE,
            CLUSTER,
            text("cause", "id of the catalogue"),
            text("title", "with the facts filled in"),
            text("verdict", "confirmed, likely, possible or past"),
            text("severity", "critical, high, medium or low"),
            time("since", "first sign of it"),
            text("subject", "what is at fault first, e.g. node/gpu-1"),
            text("subjects", "all of them, by comma"),
            text("summary", "what happened"),
            text(
                "fingerprint",
                "same cause and same evidence, whatever node and day",
            ),
        ],
    },
    Table {
        name: "evidence",
        doc: "one line for or against a cause",
        columns: &[
            BUNDLE,
            ROW,
            NODE,
            CLUSTER,
            text("cause", "id of the catalogue"),
            text("path", "entry of the bundle"),
            int("line", "line in it, from 1"),
            text("role", "for or against"),
            text("says", "what the line means"),
            text("text", "the line"),
            time("at", "when, if the line says"),
            int("count", "how often the like of it was seen"),
        ],
    },
    Table {
        name: "symptoms",
        doc: "what people notice of a cause",
        columns: &[
            BUNDLE,
            ROW,
            NODE,
            CLUSTER,
            text("cause", "id of the catalogue"),
            text("text", "as a sentence"),
        ],
    },
    Table {
        name: "said",
        doc: "one kind of warning or error that one speaker wrote",
        columns: &[
            BUNDLE,
            ROW,
            NODE,
            CLUSTER,
            text("speaker", "unit or container, without what differs by pod"),
            text(
                "subject",
                "pod/NAMESPACE/NAME or node/NAME that it comes from",
            ),
            text("level", "error or warning"),
            text("template", "the message without numbers and names"),
            text("example", "the first one as it was written"),
            text("path", "entry of the first one"),
            int("line", "its line, from 1"),
            time("first", "first time"),
            time("last", "last time"),
            int("count", "how often"),
            flag(
                "known",
                "cited as evidence of a cause, or part of the analyzer's vocabulary",
            ),
        ],
    },
    Table {
        name: "coverage",
        doc: "what became of one source of a bundle",
        columns: &[
            BUNDLE,
            ROW,
            NODE,
            CLUSTER,
            text("source", "id, e.g. journal"),
            text("outcome", "collected, partial, skipped, failed, ..."),
            text("why", "why it is not complete"),
            int("missing", "parts that are missing"),
        ],
    },
    Table {
        name: "timeline",
        doc: "one moment",
        columns: &[
            BUNDLE,
            ROW,
            NODE,
            CLUSTER,
            time("at", "when"),
            text("subject", "what it concerns"),
            text("text", "what happened"),
            text("path", "entry of the bundle"),
            int("line", "line in it, from 1"),
            int("count", "how often"),
            text("cause", "cause that it belongs to"),
        ],
    },
    Table {
        name: "settings",
        doc: "one setting or version in effect where the bundle was taken",
        columns: &[
            BUNDLE,
            ROW,
            NODE,
            CLUSTER,
            text("scope", "node or cluster"),
            text("kind", "sysctl, bios, driver, kernel, chart, file, ..."),
            text("name", "name of the setting"),
            text("value", "its value"),
        ],
    },
];

/// The table of this name.
pub fn table(name: &str) -> Option<&'static Table> {
    TABLES.iter().find(|table| table.name == name)
}

impl Table {
    /// The columns as Arrow names them.
    pub fn schema(&self) -> SchemaRef {
        let fields = self.columns.iter().map(|column| {
            let kind = match column.kind {
                Kind::Text => DataType::Utf8,
                Kind::Int => DataType::Int64,
                Kind::Bool => DataType::Boolean,
                Kind::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            };
            Field::new(column.name, kind, column.name != "bundle")
        });
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }
}

/// The schemas as a page of documentation.
pub fn documentation() -> String {
    let pages: Vec<String> = TABLES.iter().map(page).collect();
    format!("Schema version {VERSION}.\n{}", pages.concat())
}

fn page(table: &Table) -> String {
    let rows = table.columns.iter().map(|column| {
        let kind = match column.kind {
            Kind::Text => "text",
            Kind::Int => "integer",
            Kind::Bool => "boolean",
            Kind::Time => "timestamp (UTC, µs)",
        };
        format!("| `{}` | {kind} | {} |\n", column.name, column.doc)
    });
    let rows: String = rows.collect();
    let head = "| column | type | meaning |\n|---|---|---|\n";
    format!(
        "\n## {}\nA row is {}.\n\n{head}{rows}",
        table.name, table.doc
    )
}
