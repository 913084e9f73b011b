//! What a table is, beside its rules: whose it is, whom it sees, what it could stop.

use super::{Base, NftTable};
use crate::condition::Test;
use crate::condition::field::Field;
use crate::iptables::{Chain, Rule, Target};
use crate::packet::{Direction, Family, Interface, Packet};

/// Table names that iptables-nft uses.
const IPTABLES_TABLES: [&str; 5] = ["filter", "nat", "mangle", "raw", "security"];
/// Base chain names that iptables-nft uses.
const IPTABLES_CHAINS: [&str; 5] = ["PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"];

impl NftTable {
    /// How the table is named in sentences: `table inet firewalld`.
    pub fn title(&self) -> String {
        format!("table {}", self.title)
    }

    /// Names of the table's chains.
    pub fn chain_names(&self) -> impl Iterator<Item = &str> {
        let names = self.rules.chains.keys().map(String::as_str);
        names.filter(|name| !name.starts_with('{'))
    }

    /// Number of rules that ask for the packet mark.
    pub fn mark_matches(&self) -> usize {
        self.all_rules().filter(|rule| asks_mark(rule)).count()
    }

    fn all_rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.chains.values().flat_map(|chain| &chain.rules)
    }

    /// True for a table that iptables-nft keeps its rules in.
    pub fn looks_like_iptables(&self) -> bool {
        matches!(self.family.as_str(), "ip" | "ip6")
            && IPTABLES_TABLES.contains(&self.name.as_str())
            && self
                .bases
                .iter()
                .all(|base| IPTABLES_CHAINS.contains(&base.chain.as_str()))
    }

    /// True when a packet of this family passes the table's hooks at all.
    pub fn sees(&self, family: Family) -> bool {
        match self.family.as_str() {
            "ip" => family == Family::V4,
            "ip6" => family == Family::V6,
            "arp" => false,
            _ => true,
        }
    }

    /// True when routed packets pass its base chains; those of bridges and of
    /// single devices are not evaluated.
    pub fn is_routed(&self) -> bool {
        matches!(self.family.as_str(), "ip" | "ip6" | "inet")
    }

    /// True when a chain that is not evaluated can stop the packet: all of a table of bridges, of any other those of devices
    /// that it may pass and that its way does not show.
    pub(crate) fn may_drop_unasked(&self, packet: &Packet) -> bool {
        if !self.is_routed() && self.family != "netdev" {
            return self.may_drop(packet.direction);
        }
        let unasked = |base: &&Base| match base.hook.as_str() {
            "ingress" if packet.direction != Direction::Output => {
                below(packet, packet.in_iface.as_ref(), base) == Some(Below::Perhaps)
            }
            "egress" if packet.direction != Direction::Input => {
                below(packet, packet.out_iface.as_ref(), base).is_some()
            }
            _ => false,
        };
        self.bases
            .iter()
            .filter(unasked)
            .any(|base| self.stops(base))
    }

    fn stops(&self, base: &Base) -> bool {
        let chain = self.rules.chains.get_key_value(&base.chain);
        chain.is_some_and(|(name, chain)| {
            chain.policy.as_ref().is_some_and(|policy| !policy.accept) || self.reaches_drop(name)
        })
    }

    /// True when a base chain at a hook on the packet's path can stop it: by
    /// policy, or by a rule of the chain or of a chain it calls.
    pub fn may_drop(&self, direction: Direction) -> bool {
        let hooks: &[&str] = match direction {
            Direction::Forward => &["ingress", "prerouting", "forward", "postrouting", "egress"],
            Direction::Input => &["ingress", "prerouting", "input"],
            Direction::Output => &["output", "postrouting", "egress"],
        };
        let mut bases = self.bases.iter();
        bases.any(|base| hooks.contains(&base.hook.as_str()) && self.stops(base))
    }

    fn reaches_drop(&self, start: &str) -> bool {
        let mut seen = vec![start];
        let mut at = 0;
        while let Some(chain) = seen.get(at).and_then(|name| self.rules.chains.get(*name)) {
            at += 1;
            let mut calls = Vec::new();
            if chain_drops(chain, &mut calls) {
                return true;
            }
            for called in calls {
                if !seen.contains(&called) && self.rules.chains.contains_key(called) {
                    seen.push(called);
                }
            }
        }
        false
    }
}

/// How a device of a chain stands to the packet's interface.
#[derive(PartialEq, Eq)]
enum Below {
    Same,
    Perhaps,
}

/// Whether the packet passes a device of the chain; `None` where its interface is another one, and no bridge, bond or VLAN
/// that has others below it.
fn below(packet: &Packet, interface: Option<&Interface>, base: &Base) -> Option<Below> {
    const UPPER: [&str; 6] = ["bond", "br", "team", "vlan", "macvlan", "ipvlan"];
    let Some(Interface::Name(name)) = interface else {
        return Some(Below::Perhaps);
    };
    if base.devices.contains(name) {
        return Some(Below::Same);
    }
    let ports = packet.bridge_ports.as_ref();
    let bridged = ports.is_none_or(|ports| ports.input.is_some() || ports.output.is_some());
    let upper = name.contains('.') || UPPER.iter().any(|kind| name.starts_with(kind));
    (bridged || upper || base.devices.is_empty()).then_some(Below::Perhaps)
}

fn chain_drops<'a>(chain: &'a Chain, calls: &mut Vec<&'a str>) -> bool {
    let mut targets: Vec<&Target> = chain.rules.iter().map(|rule| &rule.target).collect();
    while let Some(target) = targets.pop() {
        match target {
            Target::Drop
            | Target::Reject(_)
            | Target::Queue(_)
            | Target::Proxy(_)
            | Target::Named(_) => return true,
            Target::Jump(name) | Target::Goto(name) => calls.push(name),
            Target::Map(map) => targets.extend(&map.verdicts),
            _ => {}
        }
    }
    false
}

fn asks_mark(rule: &Rule) -> bool {
    rule.conditions
        .iter()
        .any(|condition| match &condition.test {
            Test::Lookup(lookup) => lookup.fields.iter().any(|one| one.field == Field::Mark),
            _ => false,
        })
}
