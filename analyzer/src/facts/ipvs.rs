//! Facts about the virtual services of IPVS.

use serde::Serialize;

use super::{FactType, Field};

const fn field(name: &'static str, doc: &'static str) -> Field {
    Field { name, doc }
}

/// A virtual service of a node's kernel, as `/proc/net/ip_vs` lists it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct VirtualServiceFact {
    /// Node.
    pub node: String,
    /// `tcp`, `udp`, `sctp`, or `fwmark` for a service that is reached by a mark.
    pub protocol: String,
    /// Its address; empty for one that is reached by a mark.
    pub address: String,
    /// Its port; 0 stands for every port.
    pub port: u16,
    /// The mark, for one that is reached so.
    pub mark: Option<u32>,
    /// Who chooses a server: `rr`, `wrr`, `lc`, `sh`, ...
    pub scheduler: String,
    /// Words behind the scheduler: `ops`, `persistent 360 FFFFFFFF`.
    pub flags: String,
    /// Its first real servers, in words.
    pub servers: Vec<String>,
    /// How many real servers it has.
    pub server_count: u64,
    /// How many of them take new connections: those with a weight.
    pub usable: u64,
}

impl FactType for VirtualServiceFact {
    const KIND: &'static str = "virtual-service";
    const FIELDS: &'static [Field] = &[
        field("node", "node"),
        field("protocol", "tcp, udp, sctp, or fwmark"),
        field("address", "address of the service"),
        field("port", "port of the service, 0 for every port"),
        field("mark", "mark that leads to it"),
        field("scheduler", "who chooses a server: rr, wrr, lc, sh"),
        field("flags", "ops, persistent TIMEOUT MASK"),
        field("servers", "its first real servers, in words"),
        field("server_count", "how many real servers it has"),
        field("usable", "how many of them take new connections"),
    ];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}
