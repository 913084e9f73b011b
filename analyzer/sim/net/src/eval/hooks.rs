//! A hook: one base chain that a packet passes, in the kernel's order over all
//! rule sets: by stage, then by priority.

use super::Rules;
use super::reaches::{reaches, rewrites, stops};
use super::stage::{DESTINATIONS, SOURCES, Stage, Tracking, translates_at};
use crate::iptables::{Backend, Chain, RuleSet, Table, Target};
use crate::ipvs::IPVS_TITLE;
use crate::nft::NftTable;
use crate::packet::{Interface, Packet};

/// One base chain on the packet's path.
pub(super) struct Hook<'a> {
    /// Table, with its family where nft's rules name it.
    pub(super) table: &'a str,
    /// Base chain name.
    pub(super) chain_name: &'a str,
    /// The chain and its table, where the rule set has them.
    pub(super) found: Option<(&'a Table, &'a Chain)>,
    /// Path of the captured text.
    pub(super) path: &'a str,
    /// The text is cut off, so that the chain may be missing only here.
    pub(super) cut: bool,
    /// An address translation chain, which only first packets pass.
    pub(super) nat: bool,
    /// Its accept is an answer to the question who lets the packet through.
    pub(super) filter: bool,
    /// Whether connection tracking has seen the packet.
    pub(super) tracking: Tracking,
    /// No chain: here a connection's translation is written back in its answers.
    pub(super) undoes: Option<Side>,
    /// The virtual services of IPVS.
    pub(super) ipvs: bool,
    priority: i32,
    /// Its place among the chains of one priority that translate.
    within: i32,
    /// When it was registered among others, as far as that is known.
    registered: usize,
    /// The devices that it is attached to.
    devices: Option<&'a [String]>,
}

impl Hook<'_> {
    /// Sources are rewritten before it is asked.
    pub(super) fn behind_sources(&self, stage: Stage) -> bool {
        let leaves = matches!(stage, Stage::Input | Stage::Postrouting);
        leaves && !self.nat && self.undoes.is_none() && self.priority >= SOURCES
    }
}

/// The hooks of every stage.
pub(super) struct Path<'a>([Vec<Hook<'a>>; 6]);

impl<'a> Path<'a> {
    /// The chains that may rewrite the source of a packet that leaves, and no others.
    pub(super) fn of_sources(rules: &Rules<'a>) -> Path<'a> {
        let mut hooks = Vec::new();
        let stage = Stage::Postrouting;
        for set in &rules.saved {
            let found = set.tables.get("nat").and_then(|table| {
                let chain = table.chains.get("POSTROUTING")?;
                Some((table, chain))
            });
            hooks.extend(
                found
                    .is_some_and(|(_, chain)| matters(chain))
                    .then(|| Hook {
                        table: "nat",
                        chain_name: "POSTROUTING",
                        found,
                        path: &set.path,
                        cut: set.cut,
                        nat: true,
                        filter: false,
                        tracking: Tracking::Behind,
                        undoes: None,
                        ipvs: false,
                        priority: SOURCES,
                        within: SOURCES,
                        registered: 0,
                        devices: None,
                    }),
            );
        }
        bases(rules, stage, &mut hooks);
        hooks.retain(|hook| hook.nat);
        hooks.reverse();
        in_order(&mut hooks);
        let mut stages: [Vec<Hook<'a>>; 6] = Default::default();
        stages[stage as usize] = hooks;
        Path(stages)
    }

    /// All hooks; for an answer with those that write translations back.
    pub(super) fn new(rules: &Rules<'a>, packet: &Packet) -> Path<'a> {
        let answer = packet.connection.as_deref().filter(|one| one.reply);
        let stages = Stage::ALL.map(|stage| {
            let mut hooks = Vec::new();
            // Of equal priorities the chain that was registered last comes first. Legacy tables stay registered
            // from their first use, nft lists its tables as they were made.
            let legacy = |set: &&&RuleSet| set.backend == Backend::Legacy;
            for set in rules.saved.iter().filter(legacy) {
                saved(rules, set, stage, &mut hooks);
            }
            for set in rules.saved.iter().filter(|set| !legacy(set)) {
                saved(rules, set, stage, &mut hooks);
            }
            nft(rules, stage, &mut hooks);
            let served = answer.map(|connection| connection.served.is_some());
            hooks.extend(served.into_iter().flat_map(|ipvs| undoing(stage, ipvs)));
            if let Some(table) = rules.ipvs {
                of_table(rules, table, stage, &mut hooks);
            }
            // Chains of devices are asked for what comes in by theirs.
            let of_device = |hook: &Hook<'_>| hook.devices.is_none_or(|all| came_by(packet, all));
            hooks.retain(of_device);
            hooks.sort_by_key(|hook| hook.registered);
            hooks.reverse();
            in_order(&mut hooks);
            hooks
        });
        Path(stages)
    }

    pub(super) fn hooks(&self, stage: Stage) -> &[Hook<'a>] {
        &self.0[stage as usize]
    }

    /// True when no rule anywhere rewrites destinations.
    pub(super) fn keeps_destinations(&self) -> bool {
        let before = [Stage::Prerouting, Stage::Output];
        !before
            .iter()
            .flat_map(|stage| self.hooks(*stage))
            .any(|hook| {
                hook.nat
                    && hook
                        .found
                        .is_some_and(|(table, chain)| rewrites(table, chain))
            })
    }
}

/// The place of a table in nft's listing.
fn listed(rules: &Rules<'_>, wanted: impl Fn(&NftTable) -> bool) -> Option<usize> {
    rules.listed.iter().position(|table| wanted(table))
}

/// The place of a table that iptables-save shows; before all others where the listing does not tell.
fn registered(rules: &Rules<'_>, set: &RuleSet, name: &str) -> usize {
    let same = |table: &NftTable| {
        table.name == name && table.looks_like_iptables() && table.sees(set.family)
    };
    let found = listed(rules, same).filter(|_| set.backend != Backend::Legacy);
    found.unwrap_or(0)
}

/// The packet comes in by one of these devices.
fn came_by(packet: &Packet, devices: &[String]) -> bool {
    let Some(Interface::Name(name)) = &packet.in_iface else {
        return false;
    };
    devices.contains(name)
}

/// Whether a rule may rewrite the source of what the host itself takes.
pub(super) fn rewrites_local_sources(rules: &Rules<'_>) -> bool {
    let mut hooks = Vec::new();
    bases(rules, Stage::Input, &mut hooks);
    let of_nft = hooks
        .iter()
        .filter(|hook| hook.nat)
        .filter_map(|hook| hook.found);
    let of_saved = rules.saved.iter().filter_map(|set| {
        let table = set.tables.get("nat")?;
        Some((table, table.chains.get("INPUT")?))
    });
    let rewrites = |target: &Target| matches!(target, Target::Nat(_) | Target::Named(_));
    of_nft
        .chain(of_saved)
        .any(|(table, chain)| reaches(table, chain, rewrites))
}

/// Sorts hooks, which stand with the last registered first. Those that translate are asked together, where the first of
/// them was registered.
fn in_order(hooks: &mut Vec<Hook<'_>>) {
    hooks.sort_by_key(|hook| hook.priority);
    let Some(last) = hooks.iter().rposition(|hook| hook.nat) else {
        return;
    };
    let behind = hooks.split_off(last + 1);
    let (mut nat, rest): (Vec<_>, Vec<_>) =
        std::mem::take(hooks).into_iter().partition(|hook| hook.nat);
    nat.sort_by_key(|hook| hook.within);
    hooks.extend(rest);
    hooks.extend(nat);
    hooks.extend(behind);
}

/// Which address of an answer is written back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Source,
    Destination,
}

/// Where answers are written back at a stage. IPVS does it for their sources itself, and elsewhere.
fn undoing(stage: Stage, ipvs: bool) -> Vec<Hook<'static>> {
    let own = match stage {
        Stage::Prerouting | Stage::Output => Some((Side::Destination, DESTINATIONS)),
        Stage::Input | Stage::Postrouting if !ipvs => Some((Side::Source, SOURCES)),
        _ => None,
    };
    let served = match stage {
        Stage::Input => Some((Side::Source, SOURCES - 2)),
        Stage::Forward => Some((Side::Source, SOURCES)),
        Stage::Output => Some((Side::Source, DESTINATIONS + 1)),
        _ => None,
    };
    let hook = |(side, priority)| Hook {
        table: "conntrack",
        chain_name: "",
        found: None,
        path: "",
        cut: false,
        nat: false,
        filter: false,
        tracking: Tracking::Behind,
        undoes: Some(side),
        ipvs: false,
        priority,
        within: 0,
        registered: usize::MAX,
        devices: None,
    };
    own.into_iter()
        .chain(served.filter(|_| ipvs))
        .map(hook)
        .collect()
}

/// Tables of iptables at a stage with their priorities, and the name of the chain.
fn builtin(stage: Stage) -> (&'static str, &'static [(&'static str, i32)]) {
    match stage {
        Stage::Ingress => ("", &[]),
        Stage::Prerouting => (
            "PREROUTING",
            &[("raw", -300), ("mangle", -150), ("nat", -100)],
        ),
        Stage::Input => (
            "INPUT",
            &[("mangle", -150), ("filter", 0), ("security", 50)],
        ),
        Stage::Forward => (
            "FORWARD",
            &[("mangle", -150), ("filter", 0), ("security", 50)],
        ),
        Stage::Output => (
            "OUTPUT",
            &[
                ("raw", -300),
                ("mangle", -150),
                ("nat", -100),
                ("filter", 0),
                ("security", 50),
            ],
        ),
        Stage::Postrouting => ("POSTROUTING", &[("mangle", -150)]),
    }
}

/// The chains of a rule set at a stage. The filter table is always listed,
/// others only when they hold rules or a policy other than ACCEPT.
fn saved<'a>(rules: &Rules<'a>, set: &'a RuleSet, stage: Stage, hooks: &mut Vec<Hook<'a>>) {
    let (chain_name, tables) = builtin(stage);
    let sources = matches!(stage, Stage::Input | Stage::Postrouting).then_some(&("nat", SOURCES));
    for (table, priority) in tables.iter().chain(sources) {
        let found = set
            .tables
            .get(*table)
            .and_then(|t| t.chains.get(chain_name).map(|chain| (t, chain)));
        let filter = *table == "filter";
        // Chains that rewrite sources are asked elsewhere, unless they stop packets.
        let asked = |(table, chain): (&Table, &Chain)| {
            matters(chain) && (*priority != SOURCES || stops(table, chain))
        };
        if filter || found.is_some_and(asked) {
            hooks.push(Hook {
                table,
                chain_name,
                found,
                path: &set.path,
                cut: set.cut,
                nat: *table == "nat",
                filter,
                tracking: Tracking::at(stage, *priority),
                undoes: None,
                ipvs: false,
                priority: *priority,
                within: *priority,
                registered: registered(rules, set, table),
                devices: None,
            });
        }
    }
}

/// nft's chains at a stage, without those that rewrite sources and stop nothing.
fn nft<'a>(rules: &Rules<'a>, stage: Stage, hooks: &mut Vec<Hook<'a>>) {
    let own = hooks.len();
    bases(rules, stage, hooks);
    if matches!(stage, Stage::Postrouting | Stage::Input) {
        let stops = |hook: &Hook<'_>| {
            let chain = hook.found;
            hook.nat && chain.is_some_and(|(table, chain)| stops(table, chain))
        };
        // Where one of them may stop a packet, the others may translate it before.
        let asked = hooks.iter().any(stops);
        let mut at = 0;
        hooks.retain(|hook| {
            at += 1;
            at <= own || !hook.nat || asked
        });
    }
}

fn bases<'a>(rules: &Rules<'a>, stage: Stage, hooks: &mut Vec<Hook<'a>>) {
    for table in &rules.nft {
        of_table(rules, table, stage, hooks);
    }
}

fn of_table<'a>(rules: &Rules<'a>, table: &'a NftTable, stage: Stage, hooks: &mut Vec<Hook<'a>>) {
    {
        for base in table.bases.iter().filter(|base| base.hook == stage.word()) {
            let Some((name, chain)) = table.rules.chains.get_key_value(&base.chain) else {
                continue;
            };
            let nat = base.kind == "nat";
            hooks.push(Hook {
                table: &table.title,
                chain_name: name,
                found: Some((&table.rules, chain)),
                path: &table.path,
                cut: false,
                nat,
                filter: base.kind == "filter" && matters(chain),
                tracking: Tracking::at(stage, base.priority),
                undoes: None,
                ipvs: base.kind == IPVS_TITLE,
                priority: if nat {
                    translates_at(stage)
                } else {
                    base.priority
                },
                within: base.priority,
                registered: listed(rules, |one| std::ptr::eq(one, table)).unwrap_or(usize::MAX),
                devices: (stage == Stage::Ingress).then_some(base.devices.as_slice()),
            });
        }
    }
}

fn matters(chain: &Chain) -> bool {
    !chain.rules.is_empty() || chain.policy.as_ref().is_some_and(|policy| !policy.accept)
}
