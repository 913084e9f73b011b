//! Facts about the firewall: packets it dropped, and what it would do with the ones that matter.

use serde::Serialize;

use super::{FactType, Field};

const fn field(name: &'static str, doc: &'static str) -> Field {
    Field { name, doc }
}

/// A group of packets that the kernel logged as dropped, alike in direction, interfaces and port.
#[derive(Debug, Clone, Default, Serialize)]
pub struct BlockedPacket {
    /// Node.
    pub node: String,
    /// Log prefix, e.g. `UFW BLOCK`.
    pub prefix: String,
    /// `forward`, `input` or `output`.
    pub direction: String,
    /// Interface it came in on.
    pub in_iface: String,
    /// Interface it would leave by.
    pub out_iface: String,
    /// Source address.
    pub src: String,
    /// Destination address.
    pub dst: String,
    /// Protocol.
    pub proto: String,
    /// Destination port.
    pub dport: Option<u16>,
    /// Whether it came from a pod: by pod address, pod range or interface name.
    pub from_pod: bool,
    /// How that is known.
    pub from_pod_why: String,
    /// Who sent it, if a pod has that address.
    pub sender: String,
    /// How many such lines.
    pub count: u64,
    /// `accepted`, `dropped`, `rejected`, `undecided` or `not-evaluated` by the captured rules.
    pub verdict: String,
    /// The rule or policy that decides.
    pub decided_by: String,
    /// `ufw`, `iptables` or `firewalld`: whose rule it is.
    pub owner: String,
    /// Where the deciding rule or policy stands, as path:line.
    pub decided_at: String,
}

impl FactType for BlockedPacket {
    const KIND: &'static str = "blocked-packet";
    const FIELDS: &'static [Field] = &[
        field("node", "node"),
        field("prefix", "log prefix"),
        field("direction", "forward, input or output"),
        field("in_iface", "interface in"),
        field("out_iface", "interface out"),
        field("src", "source"),
        field("dst", "destination"),
        field("proto", "protocol"),
        field("dport", "destination port"),
        field("from_pod", "sent by a pod"),
        field("from_pod_why", "how that is known"),
        field("sender", "pod that sent it"),
        field("count", "lines like it"),
        field("verdict", "what the captured rules do with it"),
        field("decided_by", "the deciding rule or policy"),
        field("owner", "ufw, iptables or firewalld"),
        field("decided_at", "where that stands"),
    ];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}

/// What the captured rules do with traffic that pods need.
#[derive(Debug, Clone, Default, Serialize)]
pub struct EgressCheck {
    /// Node.
    pub node: String,
    /// Question, e.g. `pod to upstream DNS`.
    pub question: String,
    /// Packet in words.
    pub packet: String,
    /// Interface in, `lxc+` for all pods' interfaces.
    pub in_iface: String,
    /// Interface out.
    pub out_iface: String,
    /// `accepted`, `dropped`, `rejected` or `undecided`.
    pub verdict: String,
    /// The rule or policy that decides, or why it is undecided.
    pub decided_by: String,
    /// `ufw`, `iptables` or `firewalld`.
    pub owner: String,
}

impl FactType for EgressCheck {
    const KIND: &'static str = "egress-check";
    const FIELDS: &'static [Field] = &[
        field("node", "node"),
        field("question", "question"),
        field("packet", "packet in words"),
        field("in_iface", "interface in"),
        field("out_iface", "interface out"),
        field("verdict", "accepted, dropped, rejected or undecided"),
        field("decided_by", "the deciding rule or policy"),
        field("owner", "ufw, iptables or firewalld"),
    ];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}

/// The state of ufw as it says itself.
#[derive(Debug, Clone, Default, Serialize)]
pub struct FirewallState {
    /// Node.
    pub node: String,
    /// `active`, `inactive` or `unknown`.
    pub ufw: String,
    /// Default for incoming traffic.
    pub incoming: String,
    /// Default for outgoing traffic.
    pub outgoing: String,
    /// Default for routed traffic.
    pub routed: String,
}

impl FactType for FirewallState {
    const KIND: &'static str = "firewall-state";
    const FIELDS: &'static [Field] = &[
        field("node", "node"),
        field("ufw", "active, inactive or unknown"),
        field("incoming", "default for incoming"),
        field("outgoing", "default for outgoing"),
        field("routed", "default for routed"),
    ];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}
