//! What the node itself could resolve and reach, as the collector's probe saw it.

use serde::Serialize;

use super::{FactType, Field};

/// One question to a resolver, or one step of a connection, sent from the node and not from a pod.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Probe {
    /// Node that it was sent from.
    pub node: String,
    /// `dns`, `tcp`, `tls` or `http`.
    pub protocol: String,
    /// The resolver, or the address and port.
    pub to: String,
    /// The name that was asked for or is behind the address.
    pub name: String,
    /// `api-server`, `api-service`, `registry` or `helm-repository`; empty for a resolver.
    pub purpose: String,
    /// The file, object or setting that names the target.
    pub named_by: String,
    /// `NOERROR`, `connected`, `TLSv1_3`, `HTTP 401`, or why there was no answer.
    pub result: String,
    /// Whether the other side answered at all. A resolver that says NXDOMAIN has answered.
    pub answered: bool,
    /// How long it took.
    pub milliseconds: u64,
    /// Until when the certificate is valid that was shown; empty for other steps.
    pub not_after: String,
}

impl FactType for Probe {
    const KIND: &'static str = "probe";
    const FIELDS: &'static [Field] = &[
        Field {
            name: "node",
            doc: "node that it was sent from",
        },
        Field {
            name: "protocol",
            doc: "dns, tcp, tls or http",
        },
        Field {
            name: "to",
            doc: "the resolver, or the address and port",
        },
        Field {
            name: "name",
            doc: "the name that was asked for or is behind the address",
        },
        Field {
            name: "purpose",
            doc: "api-server, api-service, registry or helm-repository; empty for a resolver",
        },
        Field {
            name: "named_by",
            doc: "the file, object or setting that names the target",
        },
        Field {
            name: "result",
            doc: "NOERROR, connected, TLSv1_3, HTTP 401, ..., or why there was no answer",
        },
        Field {
            name: "answered",
            doc: "whether the other side answered at all",
        },
        Field {
            name: "milliseconds",
            doc: "how long it took",
        },
        Field {
            name: "not_after",
            doc: "until when the certificate is valid that was shown",
        },
    ];

    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}
