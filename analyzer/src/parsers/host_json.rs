//! What the collector worked out from the node's files: programs that runtimes name, and certificates.

use casefile_bundle::{ANY, Entry};
use chrono::{DateTime, Utc};
use serde::Deserialize;

use super::node_json::parse_each;
use super::{Document, Parsed, Parser, Read};
use crate::facts::runtime_parts::HostProgram;
use crate::facts::{Fact, FactType, Field, excerpt};

/// Reads `nodes/<node>/host/binaries.json`.
pub(super) static PROGRAMS: Parser = Parser {
    id: "host-programs",
    reads: &[Entry::Host(ANY, "binaries.json")],
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
                text: excerpt(object, 400).into(),
                at: None,
            };
            parsed.facts.push(fact.into());
        },
    )
}

/// Reads `nodes/<node>/host/certificates.json`.
pub(super) static CERTIFICATES: Parser = Parser {
    id: "certificates",
    reads: &[Entry::Host(ANY, "certificates.json")],
    read: Read::Whole(parse_certificates),
};

/// A certificate of the node; whether it is valid depends on the clock of the collection.
#[derive(Debug, Clone, Default, Deserialize, serde::Serialize)]
#[serde(default)]
pub struct CertificateRecord {
    /// Node, from the entry's path.
    pub node: String,
    /// File.
    pub path: String,
    /// The member of a kubeconfig that holds it.
    pub member: Option<String>,
    /// Subject.
    pub subject: String,
    /// Issuer.
    pub issuer: String,
    /// Beginning.
    pub not_before: Option<DateTime<Utc>>,
    /// End.
    pub not_after: Option<DateTime<Utc>>,
    /// Whether it is an authority.
    pub is_ca: bool,
}

impl FactType for CertificateRecord {
    const KIND: &'static str = "certificate-record";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}

fn parse_certificates(document: &Document<'_>) -> Parsed {
    let node = document.node.to_owned();
    parse_each(
        document,
        "certificate record",
        |mut record: CertificateRecord, place, object, parsed| {
            record.node.clone_from(&node);
            let fact = Fact {
                data: record,
                place,
                text: excerpt(object, 400).into(),
                at: None,
            };
            parsed.facts.push(fact.into());
        },
    )
}
