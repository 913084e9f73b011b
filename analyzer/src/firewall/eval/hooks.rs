//! A hook: one base chain that a packet passes, in the kernel's order.

use crate::firewall::iptables::{Chain, RuleSet, Table};
use crate::firewall::packet::{Direction, Packet};

/// One base chain on the packet's path.
pub(super) struct Hook<'a> {
    /// Table name.
    pub(super) table: &'static str,
    /// Base chain name.
    pub(super) chain_name: &'static str,
    /// The chain and its table, where the rule set has them.
    pub(super) found: Option<(&'a Table, &'a Chain)>,
    /// The hook knows the incoming interface.
    pub(super) sees_in: bool,
    /// The hook knows the outgoing interface.
    pub(super) sees_out: bool,
}

/// Hooks whose chains can drop the packet. The filter hook is always listed,
/// others only when they hold rules or a policy other than ACCEPT.
pub(super) fn filtering<'a>(set: &'a RuleSet, packet: &Packet) -> Vec<Hook<'a>> {
    let path: &[(&'static str, &'static str)] = match packet.direction {
        Direction::Forward => &[
            ("raw", "PREROUTING"),
            ("mangle", "PREROUTING"),
            ("mangle", "FORWARD"),
            ("filter", "FORWARD"),
            ("security", "FORWARD"),
            ("mangle", "POSTROUTING"),
        ],
        Direction::Input => &[
            ("raw", "PREROUTING"),
            ("mangle", "PREROUTING"),
            ("mangle", "INPUT"),
            ("filter", "INPUT"),
            ("security", "INPUT"),
        ],
        Direction::Output => &[
            ("raw", "OUTPUT"),
            ("mangle", "OUTPUT"),
            ("filter", "OUTPUT"),
            ("security", "OUTPUT"),
            ("mangle", "POSTROUTING"),
        ],
    };
    path.iter()
        .filter(|(_, chain)| !(packet.past_prerouting && *chain == "PREROUTING"))
        .map(|(table, chain)| hook(set, table, chain))
        .filter(|hook| {
            hook.table == "filter" || hook.found.is_some_and(|(_, chain)| matters(chain))
        })
        .collect()
}

/// The hook of the nat table that may rewrite the destination, if it has rules.
pub(super) fn destination_nat<'a>(set: &'a RuleSet, packet: &Packet) -> Vec<Hook<'a>> {
    let chain = if packet.direction == Direction::Output {
        "OUTPUT"
    } else {
        "PREROUTING"
    };
    let hook = hook(set, "nat", chain);
    let has_rules = hook.found.is_some_and(|(_, chain)| !chain.rules.is_empty());
    if has_rules { vec![hook] } else { Vec::new() }
}

fn matters(chain: &Chain) -> bool {
    !chain.rules.is_empty() || chain.policy.as_ref().is_some_and(|policy| !policy.accept)
}

fn hook<'a>(set: &'a RuleSet, table: &'static str, chain_name: &'static str) -> Hook<'a> {
    let found = set
        .tables
        .get(table)
        .and_then(|t| t.chains.get(chain_name).map(|c| (t, c)));
    Hook {
        table,
        chain_name,
        found,
        sees_in: !matches!(chain_name, "OUTPUT" | "POSTROUTING"),
        sees_out: !matches!(chain_name, "PREROUTING" | "INPUT"),
    }
}
