//! The exploration: every way the packet may take through the hooks, given
//! what cannot be decided. Without doubtful rules that is exactly one way.
//!
//! Where a rule may or may not match, both ways are followed; ways that meet
//! again in the same state are followed once, so the work grows with the number
//! of rules, not with the number of combinations.

use std::collections::BTreeSet;

use super::hooks::Hook;

use crate::firewall::condition::{Slot, Test, Tri, View};
use crate::firewall::iptables::{Chain, Rule, RuleSet, Table, Target};
use crate::firewall::packet::{CtState, Direction, Interface, Packet};

/// Rules looked at in one evaluation before giving up.
const MAX_RULES: usize = 4_000_000;
/// Walk entries kept for all ways together.
const MAX_ENTRIES: usize = 400_000;
/// Ways that may wait to be followed.
const MAX_WAYS: usize = 50_000;
/// Nested chains; the kernel allows fewer.
const MAX_DEPTH: usize = 128;

/// How a way ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fate {
    Accepted,
    Dropped,
    Rejected,
    /// Address translation, in the nat table only.
    Nat,
    Unknown(String),
}

/// The end of one way.
#[derive(Debug, Clone)]
pub(super) struct End {
    pub(super) fate: Fate,
    /// Walk entry that decided.
    pub(super) decider: Option<usize>,
    /// Last walk entry.
    pub(super) last: Option<usize>,
    /// Doubtful rules that were taken as matching: how many, and the first one.
    pub(super) doubts: usize,
    pub(super) doubt: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Frame<'a> {
    name: &'a str,
    next: usize,
}

#[derive(Clone)]
struct Way<'a> {
    hook: usize,
    /// Chains entered, with their rules; the last is the current one.
    frames: Vec<(Frame<'a>, &'a Chain)>,
    mark: Option<u32>,
    connmark: Option<u32>,
    untracked: bool,
    decider: Option<usize>,
    last: Option<usize>,
    doubts: usize,
    doubt: Option<usize>,
}

type Key<'a> = (
    usize,
    Vec<Frame<'a>>,
    Option<u32>,
    Option<u32>,
    bool,
    Option<usize>,
);

/// A walk entry: what was met, and the entry before it.
pub(super) struct Entry<'a> {
    pub(super) before: Option<usize>,
    pub(super) hook: usize,
    pub(super) chain: &'a str,
    pub(super) what: Met<'a>,
    /// Why it is not certain that the rule matches.
    pub(super) doubt: Option<String>,
}

#[derive(Clone, Copy)]
pub(super) enum Met<'a> {
    Rule(&'a Rule),
    Policy,
    Nothing,
}

pub(super) struct Explorer<'a> {
    pub(super) set: &'a RuleSet,
    packet: &'a Packet,
    states: &'a BTreeSet<CtState>,
    untracked: BTreeSet<CtState>,
    pub(super) hooks: &'a [Hook<'a>],
    pub(super) entries: Vec<Entry<'a>>,
    waiting: Vec<Way<'a>>,
    seen: BTreeSet<Key<'a>>,
    pub(super) ends: Vec<End>,
    budget: usize,
    pub(super) assumptions: BTreeSet<String>,
}

impl<'a> Explorer<'a> {
    pub(super) fn new(
        set: &'a RuleSet,
        packet: &'a Packet,
        states: &'a BTreeSet<CtState>,
        hooks: &'a [Hook<'a>],
    ) -> Explorer<'a> {
        // The first packet of a connection carries no connection mark yet.
        let fresh = states.iter().all(|state| *state == CtState::New);
        let start = Way {
            hook: 0,
            frames: Vec::new(),
            mark: packet.mark,
            connmark: fresh.then_some(0),
            untracked: false,
            decider: None,
            last: None,
            doubts: 0,
            doubt: None,
        };
        Explorer {
            set,
            packet,
            states,
            untracked: BTreeSet::from([CtState::Untracked]),
            hooks,
            entries: Vec::new(),
            waiting: vec![start],
            seen: BTreeSet::new(),
            ends: Vec::new(),
            budget: MAX_RULES,
            assumptions: BTreeSet::new(),
        }
    }

    pub(super) fn ends(&self) -> &[End] {
        &self.ends
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
    fn enter_hook(&mut self, way: &mut Way<'a>) {
        loop {
            let Some(hook) = self.hooks.get(way.hook) else {
                return self.end(way, Fate::Accepted);
            };
            if let Some((_, chain)) = hook.found {
                way.frames.push((
                    Frame {
                        name: hook.chain_name,
                        next: 0,
                    },
                    chain,
                ));
                return;
            }
            if self.set.cut {
                return self.end(way, Fate::Unknown(format!("{} is cut off", self.set.path)));
            }
            self.meet(way, hook.chain_name, Met::Nothing, None);
            way.decider = way.last;
            way.hook += 1;
        }
    }

    fn end(&mut self, way: &mut Way<'a>, fate: Fate) {
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
        });
    }

    fn finish_if(&mut self, way: &mut Way<'a>, fate: Option<Fate>) {
        if let Some(fate) = fate {
            self.end(way, fate);
        }
    }

    fn meet(&mut self, way: &mut Way<'a>, chain: &'a str, what: Met<'a>, doubt: Option<String>) {
        self.entries.push(Entry {
            before: way.last,
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
        let (name, chain) = (frame.name, *chain);
        let Some(rule) = chain.rules.get(frame.next) else {
            return self.leave_chain(way);
        };
        frame.next += 1;
        if self.budget == 0 || self.entries.len() >= MAX_ENTRIES {
            return self.end(
                way,
                Fate::Unknown("the rules are too many to follow".to_owned()),
            );
        }
        self.budget -= 1;
        let (answer, doubt) = self.answer(way, rule);
        match answer {
            Tri::No => {}
            Tri::Yes => {
                self.meet(way, name, Met::Rule(rule), None);
                let fate = self.take(way);
                self.finish_if(way, fate);
            }
            Tri::Maybe
                if matches!(rule.target, Target::None | Target::Log(_) | Target::Pass(_)) =>
            {
                self.meet(way, name, Met::Rule(rule), doubt);
            }
            Tri::Maybe => self.branch(way, name, rule, doubt),
        }
    }

    /// Follows the way on which the rule does not match now, the other one later.
    fn branch(&mut self, way: &mut Way<'a>, name: &'a str, rule: &'a Rule, doubt: Option<String>) {
        if self.waiting.len() >= MAX_WAYS {
            return self.end(
                way,
                Fate::Unknown("too many rules cannot be decided".to_owned()),
            );
        }
        let mut taken = way.clone();
        self.meet(&mut taken, name, Met::Rule(rule), doubt);
        taken.doubts += 1;
        taken.doubt = taken.doubt.or(taken.last);
        self.waiting.push(taken);
        self.seen.insert(key(way));
    }

    fn answer(&mut self, way: &Way<'a>, rule: &'a Rule) -> (Tri, Option<String>) {
        let view = self.view(way);
        let mut answer = Tri::Yes;
        let mut doubtful = None;
        for condition in &rule.conditions {
            match condition.answer(&view) {
                Tri::No => return (Tri::No, None),
                Tri::Maybe if answer == Tri::Yes => {
                    answer = Tri::Maybe;
                    doubtful = Some(condition);
                }
                _ => {}
            }
        }
        for condition in &rule.conditions {
            if let Test::Assumed { assumption, .. } = &condition.test
                && !self.assumptions.contains(assumption)
            {
                self.assumptions.insert(assumption.clone());
            }
        }
        (answer, doubtful.map(|condition| condition.doubt()))
    }

    fn view(&self, way: &Way<'a>) -> View<'_> {
        let hook = &self.hooks[way.hook];
        let packet = self.packet;
        View {
            packet,
            in_iface: slot(
                hook.sees_in && packet.direction != Direction::Output,
                packet.in_iface.as_ref(),
            ),
            out_iface: slot(
                hook.sees_out && packet.direction != Direction::Input,
                packet.out_iface.as_ref(),
            ),
            mark: way.mark,
            connmark: way.connmark,
            states: if way.untracked {
                &self.untracked
            } else {
                self.states
            },
        }
    }

    /// Applies the target of the rule the way met last.
    fn take(&mut self, way: &mut Way<'a>) -> Option<Fate> {
        let Met::Rule(rule) = self.entries[way.last?].what else {
            return None;
        };
        match &rule.target {
            Target::None | Target::Log(_) | Target::Pass(_) => {}
            Target::Accept => self.pass_hook(way),
            Target::Drop => return Some(Fate::Dropped),
            Target::Reject(_) => return Some(Fate::Rejected),
            Target::Nat(_) => return Some(Fate::Nat),
            Target::Return => self.leave_chain(way),
            Target::Jump(name) | Target::Goto(name) | Target::Named(name) => {
                let goto = matches!(rule.target, Target::Goto(_));
                return self.enter_chain(way, name, goto);
            }
            Target::SetMark { value, mask } => way.mark = marked(way.mark, *value, *mask),
            Target::RestoreMark { nfmask, ctmask } => {
                way.mark = way
                    .connmark
                    .and_then(|c| marked(way.mark, c & ctmask, *nfmask));
            }
            Target::ChangeConnMark => way.connmark = None,
            Target::Untrack => way.untracked = true,
        }
        None
    }

    /// The hook lets the packet pass.
    fn pass_hook(&mut self, way: &mut Way<'a>) {
        if self.hooks[way.hook].table == "filter" {
            way.decider = way.last;
        }
        way.frames.clear();
        way.hook += 1;
        self.enter_hook(way);
    }

    fn enter_chain(&mut self, way: &mut Way<'a>, name: &'a str, goto: bool) -> Option<Fate> {
        let (table_name, table) = self.table(way)?;
        let Some((name, chain)) = table.chains.get_key_value(name) else {
            return Some(Fate::Unknown(format!(
                "`{name}` is neither a captured chain of table {table_name} nor a target that is understood"
            )));
        };
        if way.frames.len() >= MAX_DEPTH {
            return Some(Fate::Unknown(format!(
                "chains of table {table_name} call each other in a loop"
            )));
        }
        if goto {
            // The chain that is left is not returned to.
            let base = way.frames.len() == 1;
            if let Some((frame, chain)) = way.frames.last_mut() {
                frame.next = chain.rules.len();
            }
            if !base {
                way.frames.pop();
            }
        }
        way.frames.push((Frame { name, next: 0 }, chain));
        None
    }

    fn table(&self, way: &Way<'a>) -> Option<(&'static str, &'a Table)> {
        let hook = &self.hooks[way.hook];
        hook.found.map(|(table, _)| (hook.table, table))
    }

    /// Returns to the calling chain, or applies the policy of the base chain.
    fn leave_chain(&mut self, way: &mut Way<'a>) {
        if let Some((name, table)) = self.table(way)
            && !table.complete
        {
            let why = format!(
                "table {name} in {} is cut off or partly unreadable",
                self.set.path
            );
            return self.end(way, Fate::Unknown(why));
        }
        let left = way.frames.pop();
        if !way.frames.is_empty() {
            if !self.seen.is_empty() && self.seen.contains(&key(way)) {
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

fn slot(exists: bool, interface: Option<&Interface>) -> Slot<'_> {
    match (exists, interface) {
        (false, _) => Slot::Absent,
        (true, None) => Slot::Unknown,
        (true, Some(interface)) => Slot::Known(interface),
    }
}

fn marked(mark: Option<u32>, value: u32, mask: u32) -> Option<u32> {
    if mask == u32::MAX {
        Some(value)
    } else {
        mark.map(|m| (m & !mask) ^ value)
    }
}

fn key<'a>(way: &Way<'a>) -> Key<'a> {
    let frames = way.frames.iter().map(|(frame, _)| *frame).collect();
    (
        way.hook,
        frames,
        way.mark,
        way.connmark,
        way.untracked,
        way.decider,
    )
}
