//! The ledger of what is unhealthy: pods, nodes, workloads, claims, units and releases, each with its last words.
//!
//! A cause of the catalogue explains entries of the ledger; what no cause explains is told by its own evidence
//! ([`crate::diagnose`]). Healthy and expected states (completed jobs, pods that are starting, dead pods that were
//! replaced) are no entries.

mod again;
mod check;
mod disks;
pub mod flow;
pub mod joined;
mod kernel;
mod kubelet;
mod logs;
mod machine;
mod operators;
mod own_node;
mod pods;
mod span;
pub mod tail;
#[cfg(test)]
mod tests;
mod things;
mod units;
pub mod unsettled;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};

use crate::facts::failing::{Failing, LogEnd};
use crate::facts::kube::{Event, Pod};
use crate::facts::{Fact, Facts};
pub use crate::grade;
use crate::lines::Documents;
pub use machine::running;

/// What the ledger is made of.
pub struct Sources<'a> {
    /// What was read.
    pub facts: &'a Facts,
    /// Texts of entries.
    pub documents: &'a Documents,
    /// End of the collection, if the input says.
    pub now: Option<DateTime<Utc>>,
    warnings: BTreeMap<&'a str, Vec<&'a Fact<Event>>>,
}

impl<'a> Sources<'a> {
    /// Joins warning events to what they are about, the last one first.
    pub fn new(facts: &'a Facts, documents: &'a Documents, now: Option<DateTime<Utc>>) -> Self {
        let mut warnings: BTreeMap<&str, Vec<&Fact<Event>>> = BTreeMap::new();
        for event in facts.table::<Event>() {
            let told = event.data.kind == "Warning" || event.data.reason == "FailedBinding";
            if told && !event.data.message.is_empty() {
                warnings.entry(&event.data.object).or_default().push(event);
            }
        }
        for events in warnings.values_mut() {
            last_first(events);
        }
        // Input that does not say when it was collected is at least as young as its last event.
        let last = facts
            .table::<Event>()
            .iter()
            .filter_map(|event| event.data.last)
            .max();
        Self {
            facts,
            documents,
            now: now.or(last),
            warnings,
        }
    }

    /// Warning events about an object, the last one first; a pasted table may not tell the namespace.
    fn warnings(&self, kind: &str, namespace: &str, name: &str) -> Vec<&'a Fact<Event>> {
        let full = format!("{kind}/{namespace}/{name}");
        let bare = format!("{kind}/{name}");
        let of = |key: &str| self.warnings.get(key).map_or(&[][..], Vec::as_slice);
        match (of(&full), of(&bare)) {
            (own, []) | ([], own) => own.to_vec(),
            (own, more) => {
                let mut events = [own, more].concat();
                last_first(&mut events);
                events
            }
        }
    }

    /// How long ago the newest event of a text was seen, in seconds before it was printed.
    fn newest(&self, path: &str) -> i64 {
        let events = self.facts.table::<Event>().iter();
        let of_text = events.filter(|event| event.place.path == path);
        of_text
            .filter_map(|event| event.data.ago)
            .min()
            .unwrap_or(0)
    }

    /// Whether something is so young that its state is progress and no fault.
    fn is_young(&self, since: Option<DateTime<Utc>>, most: TimeDelta) -> bool {
        matches!((self.now, since), (Some(now), Some(since)) if now - since < most)
    }
}

fn last_first(events: &mut [&Fact<Event>]) {
    // Of two ages the smaller is the later.
    let key = |event: &Fact<Event>| (event.data.last, event.data.ago.map(std::cmp::Reverse));
    events.sort_by(|a, b| (key(b), &b.place).cmp(&(key(a), &a.place)));
}

/// Messages kept of one failing thing.
const MOST_WARNINGS: usize = 8;
/// How the kubelet sums up what it waits for, and tells nothing of why (`pkg/volume/util`, `WaitForAttachAndMount` in
/// `pkg/kubelet/volumemanager/volume_manager.go`, and its back-off).
const SUMMED_UP: [&str; 4] = [
    "unmounted volumes=",
    "unattached/unmounted volumes=",
    "Back-off ",
    "Error syncing pod",
];

/// What events say, each once: those that tell a reason before those that only sum up.
fn messages(events: &[&Fact<Event>]) -> Vec<String> {
    let (mut telling, mut summing) = (Vec::new(), Vec::new());
    for event in events {
        let message = &event.data.message;
        let sums_up = SUMMED_UP.iter().any(|words| message.contains(words));
        let messages: &mut Vec<String> = if sums_up { &mut summing } else { &mut telling };
        if messages.len() < MOST_WARNINGS && !messages.iter().any(|one| *message == *one) {
            messages.push(message.to_string());
        }
    }
    telling.append(&mut summing);
    telling.truncate(MOST_WARNINGS);
    telling
}

/// Words of the GPU stack; what such a thing says is judged by the rules of that stack.
const GPU_WORDS: [&str; 9] = [
    "nvidia",
    "cuda",
    "nvml",
    "nccl",
    "gpu",
    "hami",
    "dcgm",
    "mofed",
    "infiniband",
];

/// Whether a text speaks of GPUs.
fn speaks_of_gpus(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    GPU_WORDS.iter().any(|word| lower.contains(word))
}

/// Entries kept; a cluster in which more fails is told by the first.
const MOST: usize = 400;

/// The ledger, in the order of subjects.
pub fn entries(sources: &Sources<'_>) -> Vec<Fact<Failing>> {
    let mut found = pods::failing(sources);
    found.extend(things::nodes(sources));
    found.extend(own_node::nodes(sources));
    found.extend(disks::full(sources));
    found.extend(things::claims(sources));
    found.extend(things::workloads(sources, &found));
    found.extend(units::failing(sources));
    found.extend(machine::containers(sources, &found));
    found.extend(machine::gpus(sources));
    found.extend(machine::suspects(sources));
    found.extend(kernel::machines(sources));
    found.extend(things::releases(sources));
    found.extend(operators::failing(sources));
    found.extend(things::told_by_events(sources, &found));
    found.extend(kubelet::pods(sources, &found));
    logs::attach(sources, &mut found);
    for entry in &mut found {
        let data = &mut entry.data;
        let texts = [&data.words, &data.message, &data.image, &data.name];
        data.gpu |= texts.iter().any(|text| speaks_of_gpus(text))
            || data.warnings.iter().any(|text| speaks_of_gpus(text));
    }
    found.sort_by(order);
    found.truncate(MOST);
    found
}

/// By subject and place.
fn order(a: &Fact<Failing>, b: &Fact<Failing>) -> Ordering {
    (&a.data.subject, &a.place).cmp(&(&b.data.subject, &b.place))
}

/// The last words of a container: of the run that ended if the container runs again, else of the present log.
fn log_of<'a>(
    facts: &'a Facts,
    pod: &Pod,
    container: &str,
    runs_again: bool,
) -> Option<&'a Fact<LogEnd>> {
    let mut logs: Vec<&Fact<LogEnd>> = facts
        .table::<LogEnd>()
        .iter()
        .filter(|log| {
            let data = &log.data;
            let named =
                container.is_empty() || data.container.is_empty() || data.container == container;
            data.pod_log && data.namespace == pod.namespace && data.pod == pod.name && named
        })
        .collect();
    logs.sort_by_key(|log| {
        (
            log.data.previous != runs_again,
            std::cmp::Reverse(log.data.grade),
        )
    });
    logs.first().copied()
}
