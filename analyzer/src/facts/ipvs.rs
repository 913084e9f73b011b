//! Facts about the virtual services of IPVS.

use serde::Serialize;

use super::fact;

fact! {
    /// A virtual service of a node's kernel, as `/proc/net/ip_vs` lists it.
    #[derive(Debug, Clone, Default, Serialize)]
    "virtual-service" = pub struct VirtualServiceFact {
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
    subject = |fact| format!("node/{}", fact.node);
}
