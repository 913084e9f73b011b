//! One bundle's analysis as it comes from the analyzer, and the rows that it becomes.
//!
//! The analysis is `report.json` (`casefile.report/1`), read field by field: a report of an older or newer release that
//! lacks a field has a null there. So reports of several releases make rows side by side.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::fingerprint::fingerprint;
use crate::rows::{Cell, Row, Rows};
use crate::schema::{Table, table};

/// Most rows that one bundle may give to one table; a hostile bundle must not fill the others' disk.
const MOST_ROWS: usize = 5_000;

/// What an analyzer found in one bundle.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Analysed {
    /// The report, as `report.json` holds it.
    pub report: Value,
    /// uid of the cluster, where the bundle says.
    pub cluster: Option<String>,
    /// Warnings and errors of its texts, by kind.
    pub said: Vec<Said>,
    /// Settings in effect.
    pub settings: Vec<Setting>,
}

/// One kind of message of one speaker.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Unit or container.
    pub speaker: String,
    /// `pod/NAMESPACE/NAME` or `node/NAME`.
    pub subject: String,
    /// `error` or `warning`.
    pub level: String,
    /// The message without numbers and names.
    pub template: String,
    /// The first one, as it was written.
    pub example: String,
    /// Entry that holds the first one.
    pub path: String,
    /// Its line there, from 1.
    pub line: u64,
    /// First time, RFC 3339.
    pub first: Option<String>,
    /// Last time, RFC 3339.
    pub last: Option<String>,
    /// How often.
    pub count: u64,
    /// Whether the analyzer has a rule or a word for it.
    pub known: bool,
}

/// One setting in effect.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Setting {
    /// `node` or `cluster`.
    pub scope: String,
    /// What it is a setting of, e.g. `sysctl`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// The file that a bundle came from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// SHA-256 of its bytes, in hexadecimal.
    pub digest: String,
    /// Path below the input folder or prefix.
    pub input: String,
    /// Size in bytes.
    pub bytes: u64,
}

/// The row of a bundle that could not be analysed.
pub fn refused(origin: &Origin, error: &str, analyzer: &str) -> Rows {
    let mut rows = Rows::default();
    if let Some(bundles) = table("bundles") {
        let cells = |name: &str| match name {
            "bundle" => Cell::text(&origin.digest),
            "n" => Cell::Int(0),
            "input" => Cell::text(&origin.input),
            "error" => Cell::text(error),
            "verdict" => Cell::text("unreadable"),
            "file_bytes" => number(origin.bytes),
            "analyzer" => Cell::text(analyzer),
            _ => Cell::Null,
        };
        rows.push(bundles, named(bundles, cells));
    }
    rows
}

impl Analysed {
    /// All rows of the bundle.
    pub fn rows(&self, origin: &Origin) -> Rows {
        let mut maker = Maker {
            origin,
            report: &self.report,
            node: text(&self.report, "/input/node").into(),
            cluster: self.cluster.as_deref().into(),
            rows: Rows::default(),
        };
        maker.bundle();
        maker.state();
        maker.incidents();
        maker.rest();
        maker.said(&self.said);
        maker.settings(&self.settings);
        maker.rows
    }
}

fn named(table: &Table, cell: impl Fn(&str) -> Cell) -> Row {
    table
        .columns
        .iter()
        .map(|column| cell(column.name))
        .collect()
}

fn text<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer).and_then(Value::as_str)
}

fn int(value: &Value, pointer: &str) -> Cell {
    value.pointer(pointer).and_then(Value::as_i64).into()
}

fn flag(value: &Value, pointer: &str) -> Cell {
    value.pointer(pointer).and_then(Value::as_bool).into()
}

/// The first problem of a report, with where it is.
fn problem(report: &Value) -> Cell {
    let Some(first) = list(report, "/problems").first() else {
        return Cell::Null;
    };
    let said = text(first, "/text").unwrap_or_default();
    match text(first, "/path").filter(|path| !path.is_empty()) {
        Some(path) => Cell::text(&format!("{path}: {said}")),
        None => Cell::text(said),
    }
}

fn moment(value: &Value, pointer: &str) -> Cell {
    text(value, pointer).map_or(Cell::Null, Cell::moment)
}

fn list<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    value
        .pointer(pointer)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn number(count: u64) -> Cell {
    Cell::Int(i64::try_from(count).unwrap_or(i64::MAX))
}

fn joined(value: &Value, pointer: &str, with: &str) -> Cell {
    let all: Vec<&str> = list(value, pointer)
        .iter()
        .filter_map(Value::as_str)
        .collect();
    Cell::text(&all.join(with))
}

/// Makes the rows of one bundle.
struct Maker<'a> {
    origin: &'a Origin,
    report: &'a Value,
    node: Cell,
    cluster: Cell,
    rows: Rows,
}

impl Maker<'_> {
    fn push(&mut self, name: &str, own: impl Fn(&str) -> Cell) {
        let Some(table) = table(name) else { return };
        let at = self.rows.of(table).len();
        if at >= MOST_ROWS {
            return;
        }
        let row = named(table, |column| match column {
            "bundle" => Cell::text(&self.origin.digest),
            "n" => number(at as u64),
            "node" => self.node.clone(),
            "cluster" => self.cluster.clone(),
            other => own(other),
        });
        self.rows.push(table, row);
    }

    fn bundle(&mut self) {
        let (report, origin) = (self.report, self.origin);
        let first = list(report, "/incidents").first();
        let of_first = |pointer: &str| Cell::from(first.and_then(|first| text(first, pointer)));
        self.push("bundles", |column| match column {
            "input" => Cell::text(&origin.input),
            "title" => text(report, "/title").into(),
            "verdict" if first.is_none() => Cell::text("none"),
            "verdict" => of_first("/verdict"),
            "severity" => of_first("/severity"),
            "cause" => of_first("/cause/id"),
            "causes" => number(list(report, "/incidents").len() as u64),
            "started" => moment(report, "/input/started"),
            "finished" => moment(report, "/input/finished"),
            "interrupted" => text(report, "/input/interrupted").into(),
            "cut_short" => flag(report, "/input/cut_short"),
            "file_bytes" => number(origin.bytes),
            "entries" => int(report, "/input/entries"),
            "bytes" => int(report, "/input/bytes"),
            "tool" => text(report, "/input/tool").into(),
            "format" => text(report, "/seen/format").into(),
            "kernel" => text(report, "/seen/kernel").into(),
            "driver" => text(report, "/seen/driver_version").into(),
            "kubernetes" => text(report, "/seen/kubernetes_version").into(),
            "gpus" => int(report, "/seen/gpus"),
            "rules" => text(report, "/rules/digest").into(),
            "analyzer" => text(report, "/tool").into(),
            "problem" => problem(report),
            _ => Cell::Null,
        });
    }

    fn state(&mut self) {
        let report = self.report;
        for node in list(report, "/state/nodes") {
            self.push("nodes", |column| match column {
                "name" => text(node, "/name").into(),
                "ready" => flag(node, "/ready"),
                "cordoned" => flag(node, "/cordoned"),
                "pressures" => joined(node, "/pressures", ","),
                "gpu" => flag(node, "/gpu"),
                "capacity" => int(node, "/capacity"),
                "allocatable" => int(node, "/allocatable"),
                "taken" => int(node, "/taken"),
                _ => Cell::Null,
            });
            for card in list(node, "/cards") {
                self.push("gpus", |column| match column {
                    "name" => text(node, "/name").into(),
                    "bus_id" => text(card, "/bus_id").into(),
                    "product" => text(card, "/name").into(),
                    "temperature" => int(card, "/temperature"),
                    "trouble" => joined(card, "/trouble", "; "),
                    _ => Cell::Null,
                });
            }
        }
    }

    fn incidents(&mut self) {
        let report = self.report;
        for incident in list(report, "/incidents") {
            let mark = fingerprint(incident, text(report, "/input/node").unwrap_or(""));
            self.push("incidents", |column| match column {
                "cause" => text(incident, "/cause/id").into(),
                "title" => text(incident, "/cause/title").into(),
                "verdict" => text(incident, "/verdict").into(),
                "severity" => text(incident, "/severity").into(),
                "since" => moment(incident, "/since"),
                "subject" => text(incident, "/subjects/0").into(),
                "subjects" => joined(incident, "/subjects", ","),
                "summary" => text(incident, "/summary").into(),
                "fingerprint" => Cell::text(&mark),
                _ => Cell::Null,
            });
            for line in list(incident, "/evidence") {
                self.push("evidence", |column| match column {
                    "cause" => text(incident, "/cause/id").into(),
                    "path" => text(line, "/path").into(),
                    "line" => int(line, "/line"),
                    "role" => text(line, "/role").into(),
                    "says" => text(line, "/says").into(),
                    "text" => text(line, "/text").into(),
                    "at" => moment(line, "/at"),
                    "count" => int(line, "/count"),
                    _ => Cell::Null,
                });
            }
            for symptom in list(incident, "/symptoms") {
                self.push("symptoms", |column| match column {
                    "cause" => text(incident, "/cause/id").into(),
                    "text" => symptom.as_str().into(),
                    _ => Cell::Null,
                });
            }
        }
    }

    fn rest(&mut self) {
        let report = self.report;
        for source in list(report, "/coverage") {
            self.push("coverage", |column| match column {
                "source" => text(source, "/source").into(),
                "outcome" => text(source, "/outcome").into(),
                "why" => text(source, "/why").into(),
                "missing" => number(list(source, "/missing").len() as u64),
                _ => Cell::Null,
            });
        }
        for one in list(report, "/timeline") {
            self.push("timeline", |column| match column {
                "at" => moment(one, "/at"),
                "subject" => text(one, "/subject").into(),
                "text" => text(one, "/text").into(),
                "path" => text(one, "/path").into(),
                "line" => int(one, "/line"),
                "count" => int(one, "/count"),
                "cause" => text(one, "/incident").into(),
                _ => Cell::Null,
            });
        }
    }

    fn said(&mut self, said: &[Said]) {
        let time = |at: &Option<String>| at.as_deref().map_or(Cell::Null, Cell::moment);
        for one in said {
            self.push("said", |column| match column {
                "speaker" => Cell::text(&one.speaker),
                "subject" => Cell::text(&one.subject),
                "level" => Cell::text(&one.level),
                "template" => Cell::text(&one.template),
                "example" => Cell::text(&one.example),
                "path" => Cell::text(&one.path),
                "line" => number(one.line),
                "first" => time(&one.first),
                "last" => time(&one.last),
                "count" => number(one.count),
                "known" => Cell::Bool(one.known),
                _ => Cell::Null,
            });
        }
    }

    fn settings(&mut self, settings: &[Setting]) {
        for one in settings {
            self.push("settings", |column| match column {
                "scope" => Cell::text(&one.scope),
                "kind" => Cell::text(&one.kind),
                "name" => Cell::text(&one.name),
                "value" => Cell::text(&one.value),
                _ => Cell::Null,
            });
        }
    }
}
