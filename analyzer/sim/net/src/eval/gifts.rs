//! What rules give a packet or its connection: what none of them gives, it does not have.

use super::Rules;

/// Something that a packet or its connection has from a rule only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gift {
    /// A label (`connlabel --set`, `ct label set`).
    Label,
    /// A zone (`CT --zone`, `ct zone set`).
    Zone,
    /// A priority in queues (`CLASSIFY`, `meta priority set`).
    Priority,
    /// A link-layer type (`meta pkttype set`).
    PacketType,
}

impl Rules<'_> {
    /// Whether a rule of any table gives it.
    pub(crate) fn gives(&self, gift: Gift) -> bool {
        let saved = self.saved.iter().flat_map(|set| set.tables.values());
        let tables = saved.chain(self.nft.iter().map(|table| &table.rules));
        let mut rules =
            tables.flat_map(|table| table.chains.values().flat_map(|chain| &chain.rules));
        rules.any(|rule| {
            let text = rule.text.as_str();
            match gift {
                Gift::Label => {
                    text.contains("ct label set")
                        || (text.contains("connlabel") && text.contains("--set"))
                }
                Gift::Priority => text.contains("priority set") || text.contains("CLASSIFY"),
                Gift::PacketType => text.contains("pkttype set"),
                Gift::Zone => text.contains("zone set") || text.contains("--zone"),
            }
        })
    }
}
