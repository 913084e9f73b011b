//! Facts about addresses, routes and links: what overlaps, what does not fit, what is missing.

use serde::Serialize;

use super::fact;

fact! {
    /// Two address ranges that share addresses and have different owners.
    #[derive(Debug, Clone, Default, Serialize)]
    "address-overlap" = pub struct AddressOverlap {
        /// Node on which it was seen; empty for ranges of the whole cluster.
        pub node: String,
        /// First range.
        pub first: String,
        /// What it is, e.g. `services`.
        pub first_is: String,
        /// Second range.
        pub second: String,
        /// What it is, e.g. `route of device eth0`.
        pub second_is: String,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// An interface that takes larger packets than the next link on their way.
    #[derive(Debug, Clone, Default, Serialize)]
    "mtu-mismatch" = pub struct MtuMismatch {
        /// Node.
        pub node: String,
        /// Interface.
        pub device: String,
        /// Its MTU in bytes.
        pub mtu: u64,
        /// The link that its packets leave by.
        pub over: String,
        /// MTU of that in bytes.
        pub over_mtu: u64,
        /// Bytes that the tunnel's header takes; 0 without a tunnel.
        pub overhead: u64,
        /// The largest MTU that would fit.
        pub fits: u64,
        /// What lies on what: `tunnel` (over the link below it), `pod-link` (over the tunnel), `veth` (its other side),
        /// `cni-config` (what the CNI is to give pods, over the tunnel) or `other-node` (another node's card).
        pub kind: String,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// Something that a node has to reach and has no route to.
    #[derive(Debug, Clone, Default, Serialize)]
    "route-missing" = pub struct RouteMissing {
        /// Node.
        pub node: String,
        /// Destination: a range, or `default`.
        pub to: String,
        /// What lies there, e.g. `pods of node gpu-2`.
        pub what: String,
        /// What the captured routes do with it: `no route`, `a blackhole route`.
        pub found: String,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// A resolver configuration of a node.
    #[derive(Debug, Clone, Default, Serialize)]
    "resolv" = pub struct Resolv {
        /// Node.
        pub node: String,
        /// Path on the node.
        pub path: String,
        /// Name servers in order.
        pub nameservers: Vec<String>,
        /// Search domains.
        pub search: Vec<String>,
        /// Every name server is a loopback address, which in a pod means the pod itself.
        pub only_loopback: bool,
        /// `yes` where the kubelet hands this file to pods, `no`, or `unknown`.
        pub given_to_pods: String,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// Whether traffic that the cluster needs gets through a node, by its routes and its rules.
    #[derive(Debug, Clone, Default, Serialize)]
    "reach-check" = pub struct ReachCheck {
        /// Node.
        pub node: String,
        /// Question, e.g. `pod to pod on another node`.
        pub question: String,
        /// Packet in words.
        pub packet: String,
        /// How it is routed: `by eno1`, `to the host itself`, `no route`, `unknown`.
        pub route: String,
        /// `accepted`, `dropped`, `rejected`, `no-route`, `not-forwarded`, `reverse-path`, `undecided` or
        /// `not-evaluated`.
        pub verdict: String,
        /// The rule, policy, route or setting that decides.
        pub decided_by: String,
        /// Whose rule it is: `ufw`, `firewalld`, `docker`, `nft`, `iptables`, `ipvs`; empty where no rule decides.
        pub owner: String,
        /// firewalld's zone of the deciding rule, if it is one of firewalld.
        pub zone: String,
        /// The kernel setting that decides, e.g. `net.ipv4.conf.eth1.rp_filter`; empty where none does.
        pub setting: String,
        /// Whether the kernel takes its source for genuine: `taken`, `refused: WHY` or `not-checked: WHY`.
        pub reverse_path: String,
        /// What it leaves with as its source: `kept`, `masqueraded by RULE (PLACE)`, or `unknown: WHY`; empty
        /// for what does not leave.
        pub source: String,
        /// What becomes of the answer to an accepted packet: `arrives`, `comes from ADDRESS, which nobody asked: WHY`,
        /// `dropped`, `rejected`, `lost: WHY` or `not-checked: WHY`; empty for a packet that is not accepted.
        pub reply: String,
        /// The rule, policy, route or setting that decides over the answer.
        pub reply_by: String,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// A counter of the node's network stack that is not zero, since the boot.
    #[derive(Debug, Clone, Default, Serialize)]
    "net-counter" = pub struct NetCounter {
        /// Node.
        pub node: String,
        /// Name as the kernel has it, e.g. `IPReversePathFilter`.
        pub name: String,
        /// Packets counted.
        pub value: u64,
    }
    subject = |fact| format!("node/{}", fact.node);
}

fact! {
    /// The largest packet that gets from a pod to where it sends, by the sizes along its way.
    #[derive(Debug, Clone, Default, Serialize)]
    "path-mtu" = pub struct PathMtu {
        /// Node that the pod is on.
        pub node: String,
        /// Question, e.g. `pod to pod on another node`.
        pub question: String,
        /// Packet in words.
        pub packet: String,
        /// The largest packet that the pod sends, by its link on the node, in bytes.
        pub offered: u64,
        /// The largest that gets through without being taken apart, in bytes; none where no size was found.
        pub largest: Option<u64>,
        /// The size that TCP starts with, which a rule may have made smaller, in bytes.
        pub starts_with: u64,
        /// `fits`, `fits-as-far-as-known`, `clamped` (a rule makes TCP fit), `fragmented` (a tunnel's packets are), `told`
        /// (too large, and the pod hears of it), `black-hole` (too large, and it does not) or `not-checked`.
        pub verdict: String,
        /// The step that sets the size, or that drops the answer, as a sentence fragment.
        pub because: String,
        /// The rule that makes TCP's segments smaller; empty without one.
        pub clamp: String,
        /// What this node does with "fragmentation needed" of routers beyond it: `passes`, `dropped: WHY` or
        /// `not-checked: WHY`.
        pub answers: String,
        /// The sizes in order, each with its place.
        pub walk: Vec<String>,
        /// What was not collected.
        pub open: Vec<String>,
    }
    subject = |fact| format!("node/{}", fact.node);
}
