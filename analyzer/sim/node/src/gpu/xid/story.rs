//! The messages of each GPU in order: which came first, what followed from it, and whether the program or the
//! hardware is at fault.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};

use super::catalogue::{Action, Class, lookup};
use super::detail::Detail;
use super::health::Health;
use super::judge::{self, Judged};

/// One or more alike messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// PCI address as [`super::bus`] gives it.
    pub bus: String,
    /// Code.
    pub code: u32,
    /// Time of the first.
    pub at: Option<DateTime<Utc>>,
    /// Order of the first among messages without a time.
    pub order: u64,
    /// How many.
    pub count: u64,
    /// Processes named.
    pub processes: BTreeSet<String>,
    /// What they say besides.
    pub details: BTreeSet<Detail>,
}

/// What messages of a GPU that belong together tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Story {
    /// PCI address.
    pub bus: String,
    /// Code that came first.
    pub first: u32,
    /// Code that the others follow from: the first that is no consequence.
    pub cause: u32,
    /// Class of the cause, with what the others and `nvidia-smi` say taken in.
    pub class: Class,
    /// What to do first.
    pub action: Action,
    /// What to do first, and then.
    pub advice: String,
    /// Codes that follow from it, in order.
    pub follows: Vec<u32>,
    /// In words.
    pub says: String,
}

/// A message later than so many seconds after the one before it begins another story.
const TOGETHER_SECONDS: i64 = 600;

/// Tells each GPU's stories, ordered by address and time. Health is by the same address.
pub fn stories(events: &[Event], health: &BTreeMap<String, Health>) -> Vec<Story> {
    let mut by_gpu: BTreeMap<&str, Vec<&Event>> = BTreeMap::new();
    for event in events {
        by_gpu.entry(&event.bus).or_default().push(event);
    }
    let mut told = Vec::new();
    for list in by_gpu.values_mut() {
        list.sort_by_key(|event| (event.at.is_none(), event.at, event.order, event.code));
    }
    for (bus, list) in &by_gpu {
        let peers: Vec<&Event> = by_gpu
            .iter()
            .filter(|(other, _)| *other != bus)
            .flat_map(|(_, list)| list.iter().copied())
            .collect();
        for episode in list.chunk_by(|before, after| close(before, after)) {
            told.extend(story(bus, episode, &peers, health.get(*bus)));
        }
    }
    told
}

fn story(bus: &str, list: &[&Event], peers: &[&Event], health: Option<&Health>) -> Option<Story> {
    let first = list.first()?;
    let independent = |event: &&&Event| {
        !lookup(event.code)
            .is_some_and(|xid| matches!(xid.class, Class::Consequence | Class::Information))
    };
    let cause = list.iter().find(independent).unwrap_or(first);
    let others: Vec<&Event> = list
        .iter()
        .copied()
        .filter(|event| event.code != cause.code)
        .collect();
    let judged = judge::judge(cause, &others, peers, health);
    let follows: Vec<u32> = others.iter().map(|event| event.code).collect();
    Some(Story {
        bus: bus.to_owned(),
        first: first.code,
        cause: cause.code,
        class: judged.class,
        action: judged.action,
        advice: judged.advice(),
        says: words(cause, &follows, &judged),
        follows,
    })
}

/// Whether two messages lie so close that one may follow from the other; those without a time may.
pub(super) fn close(a: &Event, b: &Event) -> bool {
    match (a.at, b.at) {
        (Some(a), Some(b)) => (b - a).abs() <= TimeDelta::seconds(TOGETHER_SECONDS),
        _ => true,
    }
}

fn words(cause: &Event, follows: &[u32], judged: &Judged) -> String {
    let code = cause.code;
    let mut says = match lookup(code) {
        Some(xid) => format!("Xid {code}: {}", xid.meaning),
        None => format!("Xid {code}"),
    };
    for detail in &cause.details {
        match detail {
            Detail::Instance(number) => says = format!("{says} (MIG GPU instance {number})"),
            Detail::Nvlink5 { unit, fatal, .. } => {
                let grade = if *fatal { "fatal" } else { "not fatal" };
                says = format!("{says} ({unit}, {grade})");
            }
            Detail::After(_) | Detail::Recovery(_) => {}
        }
    }
    if cause.count > 1 {
        says = format!("{says}, {} times", cause.count);
    }
    if !follows.is_empty() {
        let list: Vec<String> = follows.iter().map(u32::to_string).collect();
        says = format!("{says}; also Xid {}", list.join(", "));
    }
    for why in &judged.why {
        says = format!("{says}; {why}");
    }
    says
}
