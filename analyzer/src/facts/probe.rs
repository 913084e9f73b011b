//! What the node itself could resolve and reach, as the collector's probe saw it.

use serde::Serialize;

use super::fact;

fact! {
    /// One question to a resolver, or one step of a connection, sent from the node and not from a pod.
    #[derive(Debug, Clone, Default, Serialize)]
    "probe" = pub struct Probe {
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
    subject = |fact| format!("node/{}", fact.node);
}
