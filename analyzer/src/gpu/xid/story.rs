//! The messages of each GPU in order: which came first, what followed from it, and whether the program or the
//! hardware is at fault.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};

use super::catalogue::{Action, Class, Xid, lookup};

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
}

/// What `nvidia-smi` says of a GPU; what is `None` was not reported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Health {
    /// Uncorrectable ECC errors since the driver was loaded.
    pub ecc_uncorrectable: Option<u64>,
    /// A row remap or page retirement waits for a reset.
    pub remap_pending: bool,
    /// Remapping failed.
    pub remap_failed: bool,
    /// Action that the driver asks for.
    pub recovery_action: String,
}

/// What a GPU's messages tell together.
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
    /// Codes that follow from it, in order.
    pub follows: Vec<u32>,
    /// In words.
    pub says: String,
}

/// Messages within so many seconds of one another belong together.
const TOGETHER_SECONDS: i64 = 600;

/// Tells each GPU's story, ordered by address. Health is by the same address.
pub fn stories(events: &[Event], health: &BTreeMap<String, Health>) -> Vec<Story> {
    let mut by_gpu: BTreeMap<&str, Vec<&Event>> = BTreeMap::new();
    for event in events {
        by_gpu.entry(&event.bus).or_default().push(event);
    }
    for list in by_gpu.values_mut() {
        list.sort_by_key(|event| (event.at.is_none(), event.at, event.order, event.code));
    }
    let stories = by_gpu.iter().filter_map(|(bus, list)| {
        let peers: Vec<&Event> = by_gpu
            .iter()
            .filter(|(other, _)| *other != bus)
            .flat_map(|(_, list)| list.iter().copied())
            .collect();
        story(bus, list, &peers, health.get(*bus))
    });
    stories.collect()
}

fn story(bus: &str, list: &[&Event], peers: &[&Event], health: Option<&Health>) -> Option<Story> {
    let first = list.first()?;
    let independent = |event: &&&Event| {
        !lookup(event.code)
            .is_some_and(|xid| matches!(xid.class, Class::Consequence | Class::Information))
    };
    let cause = list.iter().find(independent).unwrap_or(first);
    let known = lookup(cause.code);
    let follows: BTreeMap<usize, u32> = list
        .iter()
        .enumerate()
        .filter(|(_, event)| event.code != cause.code && together(cause, event))
        .map(|(at, event)| (at, event.code))
        .collect();
    let follows: Vec<u32> = follows.into_values().collect();
    let judged = judge(cause, known, &follows, peers, health);
    Some(Story {
        bus: bus.to_owned(),
        first: first.code,
        cause: cause.code,
        class: judged.0,
        action: judged.1,
        says: words(cause, known, &follows, &judged.2),
        follows,
    })
}

fn together(a: &Event, b: &Event) -> bool {
    match (a.at, b.at) {
        (Some(a), Some(b)) => (b - a).abs() <= TimeDelta::seconds(TOGETHER_SECONDS),
        _ => true,
    }
}

/// Class and action of the cause in the light of everything else, and why.
fn judge(
    cause: &Event,
    known: Option<Xid>,
    follows: &[u32],
    peers: &[&Event],
    health: Option<&Health>,
) -> (Class, Action, String) {
    let Some(xid) = known else {
        return (
            Class::Information,
            Action::None,
            "the code is not in NVIDIA's catalogue".into(),
        );
    };
    let same: BTreeSet<&str> = peers
        .iter()
        .filter(|peer| peer.code == cause.code && together(cause, peer))
        .map(|peer| peer.bus.as_str())
        .collect();
    let lost = peers
        .iter()
        .find(|peer| matches!(peer.code, 79 | 119 | 167) && before(peer, cause));
    match (cause.code, lost) {
        (74 | 144..=150, Some(peer)) => {
            let why = format!(
                "GPU {} failed first with Xid {}, and its links went down with it",
                peer.bus, peer.code
            );
            return (Class::Consequence, Action::None, why);
        }
        (48, _) if follows.iter().any(|code| matches!(code, 63 | 64)) => {
            let why = "the error was recorded for remapping, which takes effect at the next reset"
                .to_owned();
            return (Class::Memory, Action::ResetGpu, why);
        }
        _ => {}
    }
    if let Some(health) = health
        && matches!(xid.class, Class::Application | Class::Consequence)
        && (health.ecc_uncorrectable.unwrap_or(0) > 0
            || health.remap_pending
            || health.remap_failed)
    {
        let why = "nvidia-smi reports uncorrectable memory errors on this GPU".to_owned();
        return (Class::Memory, Action::ResetGpu, why);
    }
    let why = match (xid.class, cause.code) {
        (Class::Application, _) if !same.is_empty() => {
            format!(
                "{} other GPUs show the same code, so the program they share is at fault",
                same.len()
            )
        }
        (Class::Application, 13 | 31) if cause.processes.len() > 1 => {
            let count = cause.processes.len();
            let why = format!(
                "{count} different processes failed on this one GPU, so the GPU itself is suspect"
            );
            return (Class::Hardware, Action::Procedure, why);
        }
        (Class::Consequence, 45) => {
            "it stands alone; on NVSwitch systems a stop of Fabric Manager looks so".into()
        }
        _ => String::new(),
    };
    (xid.class, xid.action, why)
}

fn before(a: &Event, b: &Event) -> bool {
    match (a.at, b.at) {
        (Some(a), Some(b)) => a <= b,
        _ => a.order <= b.order,
    }
}

fn words(cause: &Event, known: Option<Xid>, follows: &[u32], why: &str) -> String {
    let code = cause.code;
    let mut says = match known {
        Some(xid) => format!("Xid {code}: {}", xid.meaning),
        None => format!("Xid {code}"),
    };
    if cause.count > 1 {
        says = format!("{says}, {} times", cause.count);
    }
    if !follows.is_empty() {
        let list: Vec<String> = follows.iter().map(u32::to_string).collect();
        says = format!("{says}; with it Xid {}", list.join(", "));
    }
    if why.is_empty() {
        says
    } else {
        format!("{says}; {why}")
    }
}
