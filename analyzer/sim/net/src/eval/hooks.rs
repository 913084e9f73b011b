//! A hook: one base chain that a packet passes, in the kernel's order over all
//! rule sets: by stage, then by priority.

use std::collections::BTreeSet;

use super::Rules;
use crate::connection::Connection;
use crate::iptables::{Backend, Chain, NatTo, RuleSet, Table, Target};
use crate::ipvs::IPVS_TITLE;
use crate::nft::NftTable;
use crate::packet::{Direction, Packet};

/// A netfilter hook of the IP stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    Prerouting,
    Input,
    Forward,
    Output,
    Postrouting,
}

impl Stage {
    const ALL: [Stage; 5] = [
        Stage::Prerouting,
        Stage::Input,
        Stage::Forward,
        Stage::Output,
        Stage::Postrouting,
    ];

    /// Where a packet starts.
    pub(super) fn first(packet: &Packet) -> Stage {
        match packet.direction {
            Direction::Output => Stage::Output,
            _ if !packet.past_prerouting => Stage::Prerouting,
            direction => Stage::routed(direction),
        }
    }

    fn routed(direction: Direction) -> Stage {
        match direction {
            Direction::Input => Stage::Input,
            _ => Stage::Forward,
        }
    }

    /// The stage behind this one; `None` behind the last.
    pub(super) fn next(self, direction: Direction) -> Option<Stage> {
        match self {
            Stage::Prerouting => Some(Stage::routed(direction)),
            Stage::Forward | Stage::Output => Some(Stage::Postrouting),
            Stage::Input | Stage::Postrouting => None,
        }
    }

    /// Its name in nft.
    pub(super) fn word(self) -> &'static str {
        match self {
            Stage::Prerouting => "prerouting",
            Stage::Input => "input",
            Stage::Forward => "forward",
            Stage::Output => "output",
            Stage::Postrouting => "postrouting",
        }
    }

    pub(super) fn sees_in(self) -> bool {
        self != Stage::Output
    }

    pub(super) fn sees_out(self) -> bool {
        !matches!(self, Stage::Prerouting | Stage::Input)
    }
}

/// The priority at which connection tracking looks at a packet.
const TRACKING: i32 = -200;

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
    /// Connection tracking has not seen the packet yet.
    pub(super) untracked_yet: bool,
    /// No chain: here a connection's translation is written back in its answers.
    pub(super) undoes: Option<Side>,
    /// The virtual services of IPVS.
    pub(super) ipvs: bool,
    priority: i32,
}

/// The hooks of every stage.
pub(super) struct Path<'a>([Vec<Hook<'a>>; 5]);

/// The priority of iptables' chains that rewrite sources, and at which answers' sources are written back.
const SOURCES: i32 = 100;
/// The same for destinations.
const DESTINATIONS: i32 = -100;

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
                        untracked_yet: false,
                        undoes: None,
                        ipvs: false,
                        priority: SOURCES,
                    }),
            );
        }
        bases(rules, stage, &mut hooks);
        hooks.retain(|hook| hook.nat);
        hooks.sort_by_key(|hook| hook.priority);
        let mut stages: [Vec<Hook<'a>>; 5] = Default::default();
        stages[stage as usize] = hooks;
        Path(stages)
    }

    /// All hooks; for an answer with those that write translations back.
    pub(super) fn new(rules: &Rules<'a>, answer: Option<&Connection>) -> Path<'a> {
        let stages = Stage::ALL.map(|stage| {
            let mut hooks = Vec::new();
            // Of equal priorities the chain that was registered last comes first. The captures do not
            // show that order; legacy tables stay registered from their first use, nft lists its
            // tables as they were made.
            let legacy = |set: &&&RuleSet| set.backend == Backend::Legacy;
            for set in rules.saved.iter().filter(legacy) {
                saved(set, stage, &mut hooks);
            }
            for set in rules.saved.iter().filter(|set| !legacy(set)) {
                saved(set, stage, &mut hooks);
            }
            nft(rules, stage, &mut hooks);
            let served = answer.map(|connection| connection.served.is_some());
            hooks.extend(served.into_iter().flat_map(|ipvs| undoing(stage, ipvs)));
            if let Some(table) = rules.ipvs {
                of_table(table, stage, &mut hooks);
            }
            hooks.reverse();
            hooks.sort_by_key(|hook| hook.priority);
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

/// Whether a chain or one that it calls has a rule that may rewrite destinations. Front ends such as firewalld's keep whole
/// trees of chains there that only call one another.
fn rewrites(table: &Table, start: &Chain) -> bool {
    let mut called: BTreeSet<&str> = BTreeSet::new();
    let mut waiting = vec![start];
    while let Some(chain) = waiting.pop() {
        for rule in &chain.rules {
            let mut targets: Vec<&Target> = rule.effects.iter().chain([&rule.target]).collect();
            while let Some(target) = targets.pop() {
                match target {
                    Target::Nat(nat) if !matches!(nat.to, NatTo::Source(_)) => return true,
                    // A target that is not known may be one that rewrites.
                    Target::Named(_) => return true,
                    Target::Map(map) => targets.extend(&map.verdicts),
                    Target::Jump(name) | Target::Goto(name) if called.insert(name) => {
                        match table.chains.get(name) {
                            Some(next) => waiting.push(next),
                            None => return true,
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    !table.complete
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
        untracked_yet: false,
        undoes: Some(side),
        ipvs: false,
        priority,
    };
    own.into_iter()
        .chain(served.filter(|_| ipvs))
        .map(hook)
        .collect()
}

/// Tables of iptables at a stage with their priorities, and the name of the chain.
fn builtin(stage: Stage) -> (&'static str, &'static [(&'static str, i32)]) {
    match stage {
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
fn saved<'a>(set: &'a RuleSet, stage: Stage, hooks: &mut Vec<Hook<'a>>) {
    let (chain_name, tables) = builtin(stage);
    for (table, priority) in tables {
        let found = set
            .tables
            .get(*table)
            .and_then(|t| t.chains.get(chain_name).map(|chain| (t, chain)));
        let filter = *table == "filter";
        if filter || found.is_some_and(|(_, chain)| matters(chain)) {
            hooks.push(Hook {
                table,
                chain_name,
                found,
                path: &set.path,
                cut: set.cut,
                nat: *table == "nat",
                filter,
                untracked_yet: *priority < TRACKING,
                undoes: None,
                ipvs: false,
                priority: *priority,
            });
        }
    }
}

/// nft's chains at a stage, without those that rewrite sources: they stop nothing.
fn nft<'a>(rules: &Rules<'a>, stage: Stage, hooks: &mut Vec<Hook<'a>>) {
    let own = hooks.len();
    bases(rules, stage, hooks);
    if matches!(stage, Stage::Postrouting | Stage::Input) {
        let mut at = 0;
        hooks.retain(|hook| {
            at += 1;
            at <= own || !hook.nat
        });
    }
}

fn bases<'a>(rules: &Rules<'a>, stage: Stage, hooks: &mut Vec<Hook<'a>>) {
    for table in &rules.nft {
        of_table(table, stage, hooks);
    }
}

fn of_table<'a>(table: &'a NftTable, stage: Stage, hooks: &mut Vec<Hook<'a>>) {
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
                untracked_yet: base.priority < TRACKING,
                undoes: None,
                ipvs: base.kind == IPVS_TITLE,
                priority: base.priority,
            });
        }
    }
}

fn matters(chain: &Chain) -> bool {
    !chain.rules.is_empty() || chain.policy.as_ref().is_some_and(|policy| !policy.accept)
}
