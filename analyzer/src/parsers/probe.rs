//! `host/probe.json`: what the collector resolved and reached from the node, where it was asked to (`--probe`).

use casefile_bundle::{ANY, Entry};
use serde::Deserialize;

use super::node_json::parse_each;
use super::{Document, Parsed, Parser, Read};
use crate::facts::probe::Probe;
use crate::facts::{Fact, excerpt};

/// Reads the rows of a probe.
pub(super) static PARSER: Parser = Parser {
    id: "probe",
    reads: &[Entry::Host(ANY, "probe.json")],
    read: Read::Whole(parse),
};

/// A row is quoted up to here, in bytes.
const QUOTED: usize = 600;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Row {
    protocol: String,
    to: String,
    name: String,
    purpose: String,
    named_by: String,
    result: String,
    milliseconds: u64,
    certificate: Option<Certificate>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Certificate {
    not_after: String,
}

fn parse(document: &Document<'_>) -> Parsed {
    parse_each(document, "probe", |row: Row, place, object, parsed| {
        let fact = Fact {
            data: Probe {
                node: document.node.to_owned(),
                answered: answered(&row.protocol, &row.result),
                not_after: row.certificate.unwrap_or_default().not_after,
                protocol: row.protocol,
                to: row.to,
                name: row.name,
                purpose: row.purpose,
                named_by: row.named_by,
                result: row.result,
                milliseconds: row.milliseconds,
            },
            place,
            text: excerpt(object, QUOTED).into(),
            at: None,
        };
        parsed.facts.push(fact.into());
    })
}

/// Every other result is the reason why there is none.
fn answered(protocol: &str, result: &str) -> bool {
    match protocol {
        "dns" => {
            matches!(result, "NOERROR" | "NXDOMAIN" | "SERVFAIL" | "REFUSED")
                || result.starts_with("RCODE ")
        }
        "tcp" => result == "connected",
        "tls" => result == "connected" || result.starts_with("TLSv"),
        "http" => result.starts_with("HTTP "),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_answered_is_told_from_what_did_not() {
        assert!(
            answered("dns", "NXDOMAIN")
                && answered("http", "HTTP 401")
                && answered("tls", "TLSv1_3")
        );
        assert!(
            !answered("dns", "no answer within 4 s")
                && !answered("tcp", "Connection refused (os error 111)")
        );
        assert!(!answered("tls", "received fatal alert: HandshakeFailure"));
    }
}
