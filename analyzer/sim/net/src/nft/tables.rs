//! What a table is, beside its rules: whose it is, whom it sees, what it could stop.

use super::NftTable;
use crate::condition::Test;
use crate::condition::field::Field;
use crate::iptables::{Chain, Rule, Target};
use crate::packet::{Direction, Family};

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
        self.rules.chains.keys().map(String::as_str)
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
            && !self
                .bases
                .iter()
                .any(|base| matches!(base.hook.as_str(), "ingress" | "egress"))
    }

    /// True when a base chain at a hook on the packet's path can stop it: by
    /// policy, or by a rule of the chain or of a chain it calls.
    pub fn may_drop(&self, direction: Direction) -> bool {
        let hooks: &[&str] = match direction {
            Direction::Forward => &["ingress", "prerouting", "forward", "postrouting", "egress"],
            Direction::Input => &["ingress", "prerouting", "input"],
            Direction::Output => &["output", "postrouting", "egress"],
        };
        let on_path = self
            .bases
            .iter()
            .filter(|base| hooks.contains(&base.hook.as_str()))
            .filter_map(|base| self.rules.chains.get_key_value(&base.chain));
        on_path.into_iter().any(|(name, chain)| {
            chain.policy.as_ref().is_some_and(|policy| !policy.accept) || self.reaches_drop(name)
        })
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
