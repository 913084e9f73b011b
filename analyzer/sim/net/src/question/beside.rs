//! Rule sets beside one another: which show the same rules, and what none of them shows.

use super::Firewall;
use crate::condition::Test;
use crate::eval::{Evaluation, Verdict};
use crate::iptables::{Backend, Rule, RuleSet};
use crate::nft::NftTable;
use crate::packet::{Family, Packet};

/// Where kube-proxy in IPVS mode keeps the addresses of services.
const IPVS_DEVICE: &str = "kube-ipvs0";

impl Firewall {
    /// Lists tables that were not evaluated; takes an acceptance back where one
    /// of them could still stop the packet.
    pub(super) fn degrade(&self, packet: &Packet, evaluation: &mut Evaluation) -> Vec<String> {
        let family = packet.family();
        let of_family = |set: &&RuleSet| set.family == family;
        let mut not_evaluated = Vec::new();
        let mut doubts = Vec::new();
        for table in self.tables().filter(|table| table.sees(family)) {
            let shown = self
                .sets
                .iter()
                .filter(of_family)
                .any(|set| shows(set, table));
            let beside = table.family == "bridge" && crosses_no_bridge(packet);
            let devices = table.bases.iter().any(|base| !base.devices.is_empty());
            let asked = table.is_routed() || table.family == "netdev";
            if shown || (asked && !devices) || beside {
                continue;
            }
            let unasked = table.may_drop_unasked(packet);
            if unasked || !asked {
                not_evaluated.push(match table.is_routed() {
                    true => format!("the chains of devices in {}", table.title()),
                    false => table.title(),
                });
            }
            if unasked {
                doubts.push(format!(
                    "{} ({}:{}) can drop packets on this path and was not evaluated",
                    table.title(),
                    table.path,
                    table.line
                ));
            }
        }
        for set in self.sets.iter().filter(of_family) {
            let unseen = |name: &&String| {
                !self
                    .tables()
                    .any(|table| table.sees(family) && table.name == **name)
            };
            if let Some(name) = set.incompatible.iter().find(unseen) {
                doubts.push(format!(
                    "{} leaves out table {name}, which only nft can print and which was not captured",
                    set.path
                ));
            }
        }
        if let Some(ruleset) = self.nft.as_ref().filter(|ruleset| ruleset.cut) {
            doubts.push(format!(
                "{} is cut off: tables may be missing",
                ruleset.path
            ));
        }
        let legacy_shown = self
            .sets
            .iter()
            .filter(of_family)
            .any(|set| set.backend == Backend::Legacy);
        if !legacy_shown
            && let Some(set) = self
                .sets
                .iter()
                .filter(of_family)
                .find(|set| set.warns_of_legacy)
        {
            not_evaluated.push(format!("{family} tables of the legacy backend"));
            doubts.push(format!(
                "{} warns of tables of the legacy backend, which were not captured",
                set.path
            ));
        }
        doubts.extend(self.missing_ufw_chains(family));
        if evaluation.verdict == Verdict::Accepted && !doubts.is_empty() {
            evaluation.verdict = Verdict::Undecided {
                why: doubts.join("; "),
            };
        } else {
            evaluation.notes.extend(doubts);
        }
        not_evaluated
    }

    /// Takes an acceptance back where IPVS decides: kube-proxy in that mode gives every service's address to
    /// [`IPVS_DEVICE`], and the kernel sends on what the rules let in there. Its table is not evaluated.
    pub(super) fn leave_to_ipvs(&self, evaluation: &mut Evaluation) -> Option<String> {
        if self.ipvs.is_some() {
            return None;
        }
        let leaves = evaluation.leaves.as_ref()?;
        let (device, origin) = self.routes.as_ref()?.holder(leaves)?;
        if device != IPVS_DEVICE {
            return None;
        }
        let why = format!(
            "{} is an address of {IPVS_DEVICE} ({origin}), so IPVS sends the packet on, which is not evaluated",
            leaves.dst
        );
        if evaluation.verdict == Verdict::Accepted {
            evaluation.verdict = Verdict::Undecided { why };
        } else {
            evaluation.notes.push(why);
        }
        Some("the virtual services of IPVS".to_owned())
    }

    /// The contradiction of an active ufw and captured rules without its chains.
    fn missing_ufw_chains(&self, family: Family) -> Option<String> {
        let status = self
            .ufw
            .status
            .as_ref()
            .filter(|status| status.active == Some(true))?;
        let origin = status.active_origin.as_ref()?;
        let has_ufw = |set: &RuleSet| {
            let filter = set.tables.get("filter");
            filter.is_some_and(|table| table.chains.keys().any(|name| name.starts_with("ufw")))
        };
        let mut sets = self
            .sets
            .iter()
            .filter(|set| set.family == family)
            .peekable();
        sets.peek()?;
        let missing = !sets.any(has_ufw);
        missing.then(|| {
            format!(
                "ufw is active ({origin}), but the captured {family} rules hold none of its chains"
            )
        })
    }
}

/// No port of a bridge is on the packet's way.
fn crosses_no_bridge(packet: &Packet) -> bool {
    let ports = packet.bridge_ports.as_ref();
    ports.is_some_and(|ports| ports.input.is_none() && ports.output.is_none())
}

/// True when two rule sets hold the same rules in the same chains, with the same policies: a policy alone can drop.
pub(super) fn same_rules(a: &RuleSet, b: &RuleSet) -> bool {
    let rows = |set: &RuleSet| -> Vec<(String, String, String)> {
        let mut found = Vec::new();
        for (table, held) in &set.tables {
            for (name, chain) in &held.chains {
                let policy = chain.policy.as_ref();
                found.extend(
                    policy.map(|one| (table.clone(), name.clone(), one.accept.to_string())),
                );
                let rules = chain.rules.iter();
                found.extend(rules.map(|rule| (table.clone(), name.clone(), rule.text.clone())));
            }
        }
        found
    };
    a.rule_count() == b.rule_count() && a.tables.keys().eq(b.tables.keys()) && rows(a) == rows(b)
}

/// True when the rule set is what iptables-nft shows of this nft table. The
/// outputs are not taken at the same instant, so some chains may be missing.
pub(super) fn shows(set: &RuleSet, table: &NftTable) -> bool {
    if !table.looks_like_iptables()
        || !table.sees(set.family)
        || set.incompatible.contains(&table.name)
    {
        return false;
    }
    let chains = set.tables.get(&table.name).map(|t| &t.chains);
    let (mut known, mut all) = (0usize, 0usize);
    for name in table.chain_names() {
        all += 1;
        known += usize::from(chains.is_some_and(|chains| chains.contains_key(name)));
    }
    match set.backend {
        Backend::Nft => true,
        Backend::Unstated => known * 2 >= all,
        _ => false,
    }
}

/// True when the nft table asks for packet marks and the rule set never does:
/// an iptables-save older than the program that wrote the rules prints rules
/// without the conditions it cannot read.
pub(super) fn lost_marks(set: &RuleSet, table: &NftTable) -> bool {
    let asks = |rule: &Rule| {
        rule.conditions
            .iter()
            .any(|c| matches!(c.test, Test::Mark { .. }))
    };
    let chains = set
        .tables
        .get(&table.name)
        .into_iter()
        .flat_map(|t| t.chains.values());
    table.mark_matches() > 0 && !chains.flat_map(|chain| &chain.rules).any(asks)
}
