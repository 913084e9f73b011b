//! Facts about the firewall: packets it dropped, and what it would do with the ones that matter.

use serde::Serialize;

use super::fact;

fact! {
    /// A group of packets that the kernel logged as dropped, alike in direction, interfaces and port.
    #[derive(Debug, Clone, Default, Serialize)]
    "blocked-packet" = pub struct BlockedPacket {
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
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// What the captured rules do with traffic that pods need.
    #[derive(Debug, Clone, Default, Serialize)]
    "egress-check" = pub struct EgressCheck {
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
        /// Family and table, chain and text of the deciding rule where it is one of nft's own; empty otherwise.
        pub nft_table: String,
        /// Its chain.
        pub nft_chain: String,
        /// What it says.
        pub nft_rule: String,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// The state of ufw as it says itself.
    #[derive(Debug, Clone, Default, Serialize)]
    "firewall-state" = pub struct FirewallState {
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
    subject = |fact| format!("node/{}", fact.node);
}
