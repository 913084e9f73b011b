//! The links of a node, from `ip -d link` or `ip addr`, as JSON or as text: what each takes and what it lies on.

mod parse;
#[cfg(test)]
mod tests;

use std::net::IpAddr;

pub use parse::links;

use super::iptables::Origin;

/// One link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Name.
    pub name: String,
    /// The largest IP packet that it takes, in bytes.
    pub mtu: u64,
    /// `vxlan`, `wireguard`, `ipip`, `veth`, `bridge`, ...; empty where it is not shown.
    pub kind: String,
    /// The link below it; of a veth its other side, where that is in the same namespace.
    pub parent: Option<String>,
    /// The bridge or bond that it is a port of.
    pub master: Option<String>,
    /// Addresses of its own.
    pub addresses: Vec<IpAddr>,
    /// What a tunnel's packets look like from outside; nothing for other links.
    pub tunnel: Tunnel,
    /// Where it stands.
    pub origin: Origin,
    /// As written, shortened.
    pub text: String,
}

/// What is known of a tunnel's outer packets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tunnel {
    /// Their source, where it is fixed.
    pub local: Option<IpAddr>,
    /// Their destination, where there is only one.
    pub remote: Option<IpAddr>,
    /// Whether they may be fragmented on their way; `None` where that is not shown.
    pub df: Option<Df>,
    /// Network identifier of VXLAN or Geneve, or key of GRE.
    pub id: Option<u64>,
    /// Optional fields of the header (keys, checksums, sequence numbers of GRE), in bytes.
    pub options: u64,
    /// A program or route decides for each packet where it goes.
    pub external: bool,
}

/// The "do not fragment" bit of a tunnel's outer packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Df {
    /// Never set: routers may fragment them.
    Unset,
    /// Always set.
    Set,
    /// As the inner packet has it.
    Inherit,
}
