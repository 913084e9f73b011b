//! What the collector worked out from the node's files: programs that runtimes name.

use serde::Deserialize;

use super::node_json::parse_each;
use super::{Document, Parsed, Parser, Read};
use crate::facts::runtime_parts::HostProgram;
use crate::facts::{Fact, excerpt};

/// Reads `nodes/<node>/host/binaries.json`.
pub(super) static PROGRAMS: Parser = Parser {
    id: "host-programs",
    reads: &["nodes/*/host/binaries.json"],
    read: Read::Whole(parse_programs),
};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Record {
    path: String,
    named_by: Vec<String>,
    exists: bool,
    executable: Option<bool>,
    interpreter: Option<String>,
    interpreter_exists: Option<bool>,
    needs_glibc: Option<String>,
    provides_glibc: Option<String>,
}

fn parse_programs(document: &Document<'_>) -> Parsed {
    let node = document.node.to_owned();
    parse_each(
        document,
        "program record",
        |record: Record, place, object, parsed| {
            let data = HostProgram {
                node: node.clone(),
                path: record.path,
                exists: record.exists,
                executable: record.executable,
                interpreter: record.interpreter,
                interpreter_exists: record.interpreter_exists,
                needs_glibc: record.needs_glibc,
                provides_glibc: record.provides_glibc,
                named_by: record.named_by,
            };
            let fact = Fact {
                data,
                place,
                text: excerpt(object, 400),
                at: None,
            };
            parsed.facts.push(fact.into());
        },
    )
}
