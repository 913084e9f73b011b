//! Certificates on a node, as the collector lists them: of each the file, the subject and when it is valid.

use chrono::{DateTime, Utc};
use serde::Deserialize;

use super::node_json::parse_each;
use super::{Document, Parsed, Parser, Read};
use crate::facts::cluster::Certificate;
use crate::facts::{Fact, excerpt};

/// Reads `nodes/<node>/host/certificates.json`.
pub(super) static PARSER: Parser = Parser {
    id: "certificates",
    reads: &["nodes/*/host/certificates.json"],
    read: Read::Whole(parse),
};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Row {
    path: String,
    subject: String,
    not_before: Option<DateTime<Utc>>,
    not_after: Option<DateTime<Utc>>,
}

fn parse(document: &Document<'_>) -> Parsed {
    let node = document.node.to_owned();
    parse_each(
        document,
        "certificate",
        |row: Row, place, object, parsed| {
            let certificate = Certificate {
                node: node.clone(),
                path: row.path,
                subject: row.subject,
                not_before: row.not_before,
                not_after: row.not_after,
            };
            let fact = Fact {
                data: certificate,
                place,
                text: excerpt(object, 400),
                at: None,
            };
            parsed.facts.push(fact.into());
        },
    )
}
