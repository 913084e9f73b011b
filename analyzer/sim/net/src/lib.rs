//! The firewall of a node, evaluated offline: what its captured rules would do
//! with a packet, which rule or policy decides, and the walk that leads there.
//!
//! Pure: captured texts in, explained verdicts out. What the captures cannot
//! tell (sets that were not listed, rate limits, syntax nobody reads) makes a verdict
//! [`eval::Verdict::Undecided`] instead of a guess.

pub mod condition;
pub mod connection;
pub mod dissect;
pub mod eval;
pub mod header;
pub mod ipset;
pub mod iptables;
pub mod ipvs;
pub mod link;
pub mod log_line;
pub mod mtu;
pub mod nft;
pub mod packet;
pub mod question;
pub mod queue;
pub mod reply;
pub mod route;
pub mod sockets;
pub mod ufw;
