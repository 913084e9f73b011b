//! Why a condition cannot be decided, and what would decide it.

use super::{Condition, Test};

impl Condition {
    /// Why the condition cannot be decided, as a sentence fragment.
    pub fn doubt(&self) -> String {
        match &self.test {
            Test::Opaque { module, text } if **module == *"set" => {
                format!("the contents of the ipset in `{text}` were not captured")
            }
            Test::Opaque { module, text }
                if matches!(
                    module.as_ref(),
                    "limit" | "hashlimit" | "recent" | "connlimit" | "quota" | "statistic"
                ) =>
            {
                format!("`{text}` depends on earlier packets")
            }
            Test::Opaque { module, text } if **module == *crate::ipvs::IPVS_TITLE => {
                text.to_string()
            }
            Test::Opaque { module, text } if **module == *"listener" => {
                format!("whether a process listens for `{text}` was not captured")
            }
            Test::Opaque { module, .. } if **module == *"connlabel" => {
                "the connection's labels, which `conntrack -L -o labels` shows, were not captured"
                    .to_owned()
            }
            Test::Opaque { text, .. } if text.starts_with("--ctexpire") => {
                "when the connection expires, which `conntrack -L` shows, was not captured"
                    .to_owned()
            }
            Test::Opaque { module, .. } if **module == *"socket" => {
                "whether a socket of the host takes the packet, `ss -tuan` would tell".to_owned()
            }
            Test::Opaque { module, .. } if **module == *"osf" => {
                "what system the sender is, its first packet of TCP would tell".to_owned()
            }
            Test::ConnMark { .. } => {
                "the connection's mark, which `conntrack -L` shows, was not captured".to_owned()
            }
            Test::Lookup(lookup) => lookup.doubt(),
            Test::AnyOf(lookups) => {
                let doubtful = lookups.iter().find(|lookup| lookup.set.doubt.is_some());
                match doubtful.or(lookups.first()) {
                    Some(lookup) => format!("{} ({})", lookup.doubt(), lookup.name),
                    None => String::new(),
                }
            }
            Test::Time(_) => "when the packet comes is not known".to_owned(),
            Test::Bytes { text, .. } => {
                format!("`{text}` reads bytes of the packet that are not known")
            }
            Test::Opaque { text, .. } => format!("`{text}` is not evaluated"),
            other => format!("the packet's {} is not known", other.subject()),
        }
    }
}

impl Test {
    fn subject(&self) -> &'static str {
        match self {
            Test::InInterface(_) => "incoming interface",
            Test::OutInterface(_) => "outgoing interface",
            Test::Protocol(_) => "protocol",
            Test::SourcePort(_) => "source port",
            Test::DestinationPort(_) => "destination port",
            Test::EitherPort(_) => "port",
            Test::TcpFlags { .. } => "TCP flags",
            Test::Icmp { .. } => "ICMP type",
            Test::Mark { .. } => "mark",
            Test::ConnMark { .. } => "connection mark",
            Test::States { .. } | Test::Rewritten => "connection state",
            Test::Direction { .. }
            | Test::TupleAddress(..)
            | Test::TuplePort(..)
            | Test::StatusBits(_)
            | Test::Helped(_)
            | Test::TupleProtocol(_) => "connection",
            Test::Sender { .. } => "sender",
            Test::AddressType { .. } => "address type",
            Test::PacketType(_) => "link-layer type",
            Test::MacSource(_) => "hardware address",
            Test::Ttl(..) => "time to live",
            Test::Length(..) => "length",
            Test::Fragment => "fragmentation",
            Test::BridgeIn(_) | Test::BridgeOut(_) | Test::Bridged => "bridge port",
            _ => "content",
        }
    }
}
