//! What the collector itself noted about a node: processes, containerd instances, files copied or absent.

use casefile_bundle::{ANY, Entry};
use chrono::{DateTime, Utc};
use serde::Deserialize;

use super::{Document, Parsed, Parser, Read};
use crate::facts::node::Process;
use crate::facts::{Fact, FactType, Field, excerpt};
use crate::model::Place;

/// Reads `nodes/<node>/processes.json`.
pub(super) static PROCESSES: Parser = Parser {
    id: "processes",
    reads: &[Entry::Node(ANY, "processes.json")],
    read: Read::Whole(parse_processes),
};

/// Reads `nodes/<node>/containerd.json`.
pub(super) static CONTAINERD: Parser = Parser {
    id: "containerd-instances",
    reads: &[Entry::Node(ANY, "containerd.json")],
    read: Read::Whole(parse_instances),
};

/// Reads `nodes/<node>/files.json`.
pub(super) static FILES: Parser = Parser {
    id: "files",
    reads: &[Entry::Node(ANY, "files.json")],
    read: Read::Whole(parse_files),
};

/// Yields each object that stands alone on a line, with its line number; the collector writes lists so.
fn objects<'a>(document: &'a Document<'_>) -> impl Iterator<Item = (Place, &'a str)> {
    document
        .text
        .lines()
        .zip(1u32..)
        .filter_map(|(line, number)| {
            let object = line.trim().trim_end_matches(',');
            let whole = object.starts_with('{') && object.ends_with('}');
            whole.then(|| (document.line(number), object))
        })
}

/// Reads each record of a list into facts; one that does not parse is a problem.
pub(super) fn parse_each<T: serde::de::DeserializeOwned>(
    document: &Document<'_>,
    what: &str,
    mut add: impl FnMut(T, Place, &str, &mut Parsed),
) -> Parsed {
    let mut parsed = Parsed::default();
    for (place, object) in objects(document) {
        match serde_json::from_str::<T>(object) {
            Ok(record) => add(record, place, object, &mut parsed),
            Err(error) => {
                parsed
                    .problems
                    .extend(Parsed::problem(place, format!("{what} not read: {error}")).problems);
            }
        }
    }
    parsed
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ProcessRecord {
    pid: u64,
    comm: String,
    exe: Option<String>,
    cmdline: Vec<String>,
    cgroup: Option<String>,
    start: Option<DateTime<Utc>>,
}

fn parse_processes(document: &Document<'_>) -> Parsed {
    let node = document.node.to_owned();
    parse_each(
        document,
        "process",
        |record: ProcessRecord, place, object, parsed| {
            let process = Process {
                node: node.clone(),
                pid: record.pid,
                comm: record.comm,
                exe: record.exe.unwrap_or_default(),
                cmdline: record.cmdline,
                cgroup: record.cgroup.unwrap_or_default(),
                started: record.start,
            };
            let fact = Fact {
                at: process.started,
                data: process,
                place,
                text: excerpt(object, 600).into(),
            };
            parsed.facts.push(fact.into());
        },
    )
}

/// An instance as the collector found it, before its configuration is resolved.
#[derive(Debug, Clone, Default, Deserialize, serde::Serialize)]
#[serde(default)]
pub struct InstanceRecord {
    /// Node, from the path.
    pub node: String,
    /// Unit or config path.
    pub id: String,
    /// Process id.
    pub pid: Option<u64>,
    /// Started at.
    pub started: Option<DateTime<Utc>>,
    /// Binary.
    pub binary: Option<String>,
    /// Version as the binary prints it.
    pub version: Option<String>,
    /// Config file.
    pub config_path: Option<String>,
    /// Whether that file exists.
    pub config_exists: Option<bool>,
    /// Socket.
    pub socket: Option<String>,
    /// Unit.
    pub unit: Option<String>,
}

impl FactType for InstanceRecord {
    const KIND: &'static str = "containerd-record";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}

fn parse_instances(document: &Document<'_>) -> Parsed {
    let node = document.node.to_owned();
    parse_each(
        document,
        "containerd instance",
        |mut record: InstanceRecord, place, object, parsed| {
            record.node.clone_from(&node);
            let fact = Fact {
                at: None,
                data: record,
                place,
                text: excerpt(object, 600).into(),
            };
            parsed.facts.push(fact.into());
        },
    )
}

/// A host file that the collector copied, or looked for and did not find.
#[derive(Debug, Clone, Default, Deserialize, serde::Serialize)]
#[serde(default)]
pub struct CapturedFile {
    /// Node, from the entry's path.
    pub node: String,
    /// Host path.
    pub path: String,
    /// `copied`, `absent`, `directory`, ...
    pub outcome: String,
    /// Target, if it is a symbolic link.
    pub link: Option<String>,
    /// Last change of the content.
    pub mtime: Option<DateTime<Utc>>,
}

impl FactType for CapturedFile {
    const KIND: &'static str = "captured-file";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}

fn parse_files(document: &Document<'_>) -> Parsed {
    let node = document.node.to_owned();
    parse_each(
        document,
        "file record",
        |mut record: CapturedFile, place, object, parsed| {
            record.node.clone_from(&node);
            let fact = Fact {
                at: None,
                data: record,
                place,
                text: excerpt(object, 400).into(),
            };
            parsed.facts.push(fact.into());
        },
    )
}
