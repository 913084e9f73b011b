//! The exploration: every way the packet may take through the hooks, given
//! what cannot be decided. Without doubtful rules that is exactly one way.
//!
//! Where a rule may or may not match, both ways are followed; ways that meet
//! again in the same state are followed once, so the work grows with the number
//! of rules, not with the number of combinations.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::hooks::{Hook, Path};
use super::stage::Stage;
use super::take::harmless;
use super::way::{Does, End, Entry, Fate, Frame, Key, Met, Way};
use super::{Rules, forwarding};

use crate::condition::Tri;
use crate::condition::lookup::Lookup;
use crate::iptables::{NatTo, Rule, Target};
use crate::packet::{CtState, Interface, Packet};
use crate::route::Routing;

/// Rules looked at in one evaluation before giving up.
pub(super) const MAX_RULES: usize = 4_000_000;
/// Walk entries kept for all ways together.
const MAX_ENTRIES: usize = 200_000;
/// Ways that may wait to be followed.
const MAX_WAYS: usize = 20_000;
/// Nested chains; the kernel allows fewer.
pub(super) const MAX_DEPTH: usize = 128;

pub(super) struct Explorer<'a> {
    pub(super) rules: &'a Rules<'a>,
    pub(super) states: &'a BTreeSet<CtState>,
    pub(super) untracked: BTreeSet<CtState>,
    /// What rules see before connection tracking has looked.
    pub(super) not_yet: BTreeSet<CtState>,
    /// What they see where it is not known whether tracking has looked.
    pub(super) perhaps: BTreeSet<CtState>,
    /// The interface that the host's output chains see, also where one of them sends the packet elsewhere.
    pub(super) leaves_by: Option<Interface>,
    /// The packet belongs to no connection in any state that it may have.
    pub(super) loose: bool,
    pub(super) path: Path<'a>,
    pub(super) entries: Vec<Entry<'a>>,
    pub(super) waiting: Vec<Way<'a>>,
    pub(super) seen: BTreeSet<Key<'a>>,
    pub(super) ends: Vec<End>,
    pub(super) budget: usize,
    pub(super) assumptions: BTreeSet<String>,
}

impl<'a> Explorer<'a> {
    pub(super) fn hook(&self, stage: Stage, at: usize) -> Option<&Hook<'a>> {
        self.path.hooks(stage).get(at)
    }

    pub(super) fn run(&mut self) {
        while let Some(mut way) = self.waiting.pop() {
            if way.frames.is_empty() {
                self.enter_hook(&mut way);
            } else {
                // A way that waited stands behind a doubtful rule it takes.
                let fate = self.take(&mut way);
                self.finish_if(&mut way, fate);
            }
            while !way.frames.is_empty() {
                self.step(&mut way);
            }
        }
    }

    /// Enters the way's hook, or ends the way behind the last one.
    pub(super) fn enter_hook(&mut self, way: &mut Way<'a>) {
        loop {
            let Some(hook) = self.path.hooks(way.stage).get(way.hook) else {
                if let Err(why) = self.routed_by_mark(way) {
                    return self.end(way, Fate::Unknown(why));
                }
                let Some(next) = way.stage.next(way.packet.direction) else {
                    return self.end(way, Fate::Accepted);
                };
                if (way.stage, next) == (Stage::Prerouting, Stage::Forward) {
                    forwarding::age(&mut way.packet);
                }
                (way.stage, way.hook, way.natted) = (next, 0, false);
                continue;
            };
            if hook.ipvs && (way.served || !self.states.contains(&CtState::New)) {
                way.hook += 1;
                continue;
            }
            if let Some(side) = hook.undoes {
                if let Err(why) = self.undo(way, side) {
                    return self.end(way, Fate::Unknown(why));
                }
                way.hook += 1;
                continue;
            }
            if hook.nat && (way.natted || !self.translates(way)) {
                way.hook += 1;
                continue;
            }
            if let Some((_, chain)) = hook.found {
                let name = hook.chain_name;
                if hook.behind_sources(way.stage) && way.resourced.is_none() {
                    way.resourced = Some(self.resourced(way));
                }
                if hook.nat && way.stage == Stage::Postrouting {
                    way.asked_with.get_or_insert(way.mark);
                }
                way.frames.push((Frame { name, next: 0 }, chain));
                return;
            }
            if hook.cut {
                let why = format!("{} is cut off", hook.path);
                return self.end(way, Fate::Unknown(why));
            }
            let name = hook.chain_name;
            self.meet(way, name, Met::Nothing, None);
            way.decider = way.decider.or(way.last);
            way.hook += 1;
        }
    }

    /// Address translation looks at first packets only, and a logged packet has been there.
    fn translates(&self, way: &Way<'a>) -> bool {
        self.states.contains(&CtState::New) && !way.untracked && !way.packet.past_prerouting
    }

    pub(super) fn end(&mut self, way: &mut Way<'a>, fate: Fate) {
        way.frames.clear();
        let decider = if fate == Fate::Accepted {
            way.decider.or(way.last)
        } else {
            way.last
        };
        self.ends.push(End {
            fate,
            decider,
            last: way.last,
            doubts: way.doubts,
            doubt: way.doubt,
            source: way.source,
            mark: way.asked_with.unwrap_or(way.mark),
            connmark: way.connmark,
            untracked: way.untracked,
            packet: Arc::clone(&way.packet),
        });
    }

    fn finish_if(&mut self, way: &mut Way<'a>, fate: Option<Fate>) {
        if let Some(fate) = fate {
            self.end(way, fate);
        }
    }

    pub(super) fn meet(
        &mut self,
        way: &mut Way<'a>,
        chain: &'a str,
        what: Met<'a>,
        doubt: Option<String>,
    ) {
        self.entries.push(Entry {
            before: way.last,
            stage: way.stage,
            hook: way.hook,
            chain,
            what,
            doubt,
        });
        way.last = Some(self.entries.len() - 1);
    }

    /// Looks at the next rule of the way.
    fn step(&mut self, way: &mut Way<'a>) {
        let Some((frame, chain)) = way.frames.last_mut() else {
            return;
        };
        let chain = *chain;
        let Some(rule) = chain.rules.get(frame.next) else {
            return self.leave_chain(way);
        };
        frame.next += 1;
        let name = way.chain();
        if self.budget == 0 || self.entries.len() >= MAX_ENTRIES {
            return self.end(
                way,
                Fate::Unknown("the rules are too many to follow".to_owned()),
            );
        }
        self.budget -= 1;
        let (answer, doubt) = self.answer(way, rule);
        if answer == Tri::No {
            return;
        }
        if let Some((lookup, does)) = mapped(&rule.target) {
            return self.choose(way, (name, rule), lookup, does, doubt);
        }
        match (answer, &rule.target) {
            (Tri::No, _) => {}
            (Tri::Yes, target) => {
                self.meet(way, name, Met::Rule(rule, Does::Target(target)), None);
                let fate = self.take(way);
                self.finish_if(way, fate);
            }
            (Tri::Maybe, target) if harmless(target) && rule.effects.iter().all(harmless) => {
                self.meet(way, name, Met::Rule(rule, Does::Target(target)), doubt);
            }
            (Tri::Maybe, target) => {
                self.fork(way, (name, rule), Does::Target(target), doubt.clone());
                let passes = Met::Rule(rule, Does::Target(&Target::None));
                self.meet(way, name, passes, doubt);
                self.seen.insert(way.key());
            }
        }
    }

    /// Takes what a map holds for the packet; where that is doubtful, every possible one.
    fn choose(
        &mut self,
        way: &mut Way<'a>,
        (name, rule): (&'a str, &'a Rule),
        lookup: &'a Lookup,
        does: Vec<Does<'a>>,
        doubt: Option<String>,
    ) {
        let view = self.view(way);
        let Some(found) = lookup.find(&view) else {
            return;
        };
        if lookup.filled(&view) {
            let why = format!("a rule before has changed what {} holds", lookup.name);
            self.meet(
                way,
                name,
                Met::Rule(rule, Does::Target(&Target::None)),
                Some(why.clone()),
            );
            return self.end(way, Fate::Unknown(why));
        }
        let certain = doubt.is_none() && found.answer == Tri::Yes;
        let held: Vec<Does<'a>> = found
            .elements
            .iter()
            .filter_map(|at| does.get(*at).copied())
            .collect();
        if let (true, [one]) = (certain, held.as_slice()) {
            self.meet(way, name, Met::Rule(rule, *one), None);
            let fate = self.take(way);
            return self.finish_if(way, fate);
        }
        let why = doubt.unwrap_or_else(|| lookup.doubt());
        for one in held {
            self.fork(way, (name, rule), one, Some(why.clone()));
        }
        if found.answer == Tri::Maybe && lookup.set.doubt.is_some() {
            let why = format!("the verdict may be one that was not captured: {why}");
            self.meet(
                way,
                name,
                Met::Rule(rule, Does::Target(&Target::None)),
                Some(why.clone()),
            );
            self.end(way, Fate::Unknown(why));
        } else if certain {
            way.frames.clear();
        } else {
            self.seen.insert(way.key());
        }
    }

    /// Lets a way that takes the rule wait; the current one goes on without.
    fn fork(
        &mut self,
        way: &mut Way<'a>,
        (name, rule): (&'a str, &'a Rule),
        does: Does<'a>,
        doubt: Option<String>,
    ) {
        if self.waiting.len() >= MAX_WAYS {
            return self.end(
                way,
                Fate::Unknown("too many rules cannot be decided".to_owned()),
            );
        }
        let mut taken = way.clone();
        self.meet(&mut taken, name, Met::Rule(rule, does), doubt);
        taken.doubts += 1;
        taken.doubt = taken.doubt.or(taken.last);
        self.waiting.push(taken);
    }

    pub(super) fn rules(&self) -> &'a Rules<'a> {
        self.rules
    }

    pub(super) fn assume(&mut self, sentence: &str) {
        self.assumptions.insert(sentence.to_owned());
    }

    /// Routes a packet whose destination was rewritten.
    pub(super) fn route(&mut self, packet: &mut Packet) -> Result<(), String> {
        let assumed = forwarding::route(self.rules.routes, packet)?;
        self.assumptions.extend(assumed);
        Ok(())
    }

    /// A mark that rules gave the packet may lead to another route, where policy rules ask for marks.
    fn routed_by_mark(&mut self, way: &mut Way<'a>) -> Result<(), String> {
        let asks = self.rules.routes.is_some_and(Routing::asks_marks);
        let routes = matches!(way.stage, Stage::Prerouting | Stage::Output);
        if !asks || !routes || way.mark == way.packet.mark || way.packet.past_prerouting {
            return Ok(());
        }
        let mut packet = (*way.packet).clone();
        packet.mark = way.mark;
        self.route(&mut packet)?;
        packet.mark = way.packet.mark;
        way.packet = Arc::new(packet);
        Ok(())
    }

    /// Sends a redirected packet to the address that this host has where it came in.
    /// Whether the address is known.
    pub(super) fn redirect(&mut self, packet: &mut Packet) -> bool {
        let assumed = forwarding::to_own_address(self.rules.routes, packet);
        let known = assumed.is_none();
        self.assumptions.extend(assumed);
        known
    }

    /// The hook lets the packet pass.
    pub(super) fn pass_hook(&mut self, way: &mut Way<'a>) {
        let filter = self
            .hook(way.stage, way.hook)
            .is_some_and(|hook| hook.filter);
        let entry = way.last.map(|at| &self.entries[at].what);
        let by_rule = matches!(entry, Some(Met::Rule(..)));
        if filter && (by_rule || way.decider.is_none()) {
            way.decider = way.last;
        }
        way.frames.clear();
        way.hook += 1;
        self.enter_hook(way);
    }

    /// Returns to the calling chain, or applies the policy of the base chain.
    pub(super) fn leave_chain(&mut self, way: &mut Way<'a>) {
        if let Some((name, table)) = self.table(way)
            && !table.complete
        {
            let path = self.hook(way.stage, way.hook).map_or("", |hook| hook.path);
            let why = format!("table {name} in {path} is cut off or partly unreadable");
            return self.end(way, Fate::Unknown(why));
        }
        let left = way.frames.pop();
        if !way.frames.is_empty() {
            if !self.seen.is_empty() && self.seen.contains(&way.key()) {
                // Another way has been here in the same state: same outcomes.
                way.frames.clear();
            }
            return;
        }
        let Some((frame, chain)) = left else { return };
        self.meet(way, frame.name, Met::Policy, None);
        match &chain.policy {
            Some(policy) if policy.accept => self.pass_hook(way),
            Some(_) => self.end(way, Fate::Dropped),
            None => self.end(
                way,
                Fate::Unknown(format!(
                    "the policy of chain {} was not captured",
                    frame.name
                )),
            ),
        }
    }
}

/// The keys of a rule's map and what each of them does, where the rule has one.
fn mapped(target: &Target) -> Option<(&Lookup, Vec<Does<'_>>)> {
    match target {
        Target::Map(map) => Some((&map.lookup, map.verdicts.iter().map(Does::Target).collect())),
        Target::Nat(nat) => match &nat.to {
            NatTo::Map(lookup, to) => Some((lookup, to.iter().map(Does::Nat).collect())),
            _ => None,
        },
        _ => None,
    }
}
