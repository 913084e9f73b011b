//! What evidence weighs: who said it, and whether it still holds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Duration, Utc};

use super::compile::{Rule, RuleSet};
use super::engine::Sighting;
use super::file::Group;
use super::group::shares;
use super::messages::Ending;
use super::settled::Runs;
use crate::dress::Voice;
use crate::facts::Facts;
use crate::facts::kube::{Node, Pod};
use crate::model::{Place, Verdict};
use crate::scan::patterns::Hit;

/// The verdict that a group which holds may give, by the voices of what it rests on.
///
/// What nobody is known to have said is at most a pointer, and two such lines together are none: in a text of some size
/// any two words stand somewhere. Notes go along with what was said, and prove nothing by themselves.
pub(super) fn capped(
    level: Verdict,
    group: &Group,
    shared: Option<&str>,
    seen: &BTreeMap<&str, Vec<Arc<Sighting>>>,
) -> Verdict {
    let voice = |signal: &String| {
        let all = seen.get(signal.as_str())?.iter();
        let own = all.filter(|one| shared.is_none_or(|shared| shares(group.same, one, shared)));
        own.map(|one| one.voice).min()
    };
    if matches!(level, Verdict::Confirmed | Verdict::Likely) && !is_near(group, seen) {
        return Verdict::Possible;
    }
    let mut voices: Vec<Voice> = group.all.iter().filter_map(voice).collect();
    voices.extend(group.any.iter().filter_map(voice).min());
    let spoken = voices.iter().filter(|one| **one == Voice::Spoken).count();
    let is_bare = voices.contains(&Voice::Bare);
    let is_said = voices.iter().all(|one| *one <= Voice::Mended);
    if group.spoken && !is_said && level < Verdict::Possible {
        return Verdict::Possible;
    }
    match level {
        Verdict::Confirmed if spoken == voices.len() => Verdict::Confirmed,
        Verdict::Confirmed if is_bare && voices.len() == 1 => Verdict::Likely,
        Verdict::Confirmed if spoken > 0 && !is_bare => Verdict::Likely,
        Verdict::Confirmed | Verdict::Likely if is_said => Verdict::Likely,
        Verdict::Confirmed | Verdict::Likely => Verdict::Possible,
        other => other,
    }
}

/// Lines that belong to one trouble are said within this time, in seconds.
const NEAR: u32 = 3600;

/// Whether the signals of a group stand near one another, where they stand in a heap of texts that no person put
/// together: in one folder, and within an hour where both say when.
fn is_near(group: &Group, seen: &BTreeMap<&str, Vec<Arc<Sighting>>>) -> bool {
    let all = |signal: &String| {
        let all = seen.get(signal.as_str()).map_or(&[][..], Vec::as_slice);
        all.iter().map(Arc::as_ref)
    };
    let wanted: Vec<Vec<&Sighting>> = group
        .all
        .iter()
        .map(|signal| all(signal).collect())
        .chain((!group.any.is_empty()).then(|| group.any.iter().flat_map(all).collect()))
        .collect();
    let Some((first, others)) = wanted.split_first() else {
        return true;
    };
    let near_all = |one: &&Sighting| {
        let near = |other: &&Sighting| near(one, other);
        others.iter().all(|all| all.iter().any(near))
    };
    first.iter().any(near_all)
}

fn near(one: &Sighting, other: &Sighting) -> bool {
    if one.scattered.is_empty() || other.scattered.is_empty() {
        return true;
    }
    let folder = |path| str::rsplit_once(path, '/').map_or("", |(folder, _)| folder);
    let folders: Vec<&str> = one.scattered.iter().map(|path| folder(path)).collect();
    let same = other
        .scattered
        .iter()
        .any(|path| folders.contains(&folder(path)));
    let clocks = one.clock.zip(other.clock);
    let times = one.last.zip(other.last);
    let apart = clocks.is_some_and(|(a, b)| a.abs_diff(b) > NEAR)
        || times.is_some_and(|(a, b)| (a - b).abs() > Duration::seconds(NEAR.into()));
    same && !apart
}

/// What ended something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Over {
    /// As a clause: "the node is ready since 10:02".
    pub says: String,
    /// Where that stands.
    pub place: Option<Place>,
}

/// A pod that has been well for so long is not between two crashes.
const WELL: Duration = Duration::minutes(10);
/// Families of causes that a machine keeps while its pods run: what was said of them is not over because pods are well.
const MACHINE: [&str; 4] = ["gpu-hardware", "driver", "fabric", "monitoring"];
/// Pods of which all are well that tell of a cluster that it is.
const CLUSTER: usize = 5;
/// What was said so long before the end of a collection is over where nothing is unwell.
const OLD: Duration = Duration::days(3);

/// What is known of the present.
pub(super) struct Present<'a> {
    /// The newest time that anything carries.
    now: Option<DateTime<Utc>>,
    /// Pods that are well: since when.
    pods: BTreeMap<String, (Option<DateTime<Utc>>, Place)>,
    /// Pods of which the last end of a container is over.
    settled: BTreeSet<String>,
    /// Nodes that are ready: since when.
    nodes: BTreeMap<&'a str, (Option<DateTime<Utc>>, Place)>,
    /// Whether pods or nodes are known, and all of them are well.
    calm: bool,
    /// Since when every pod and node of a cluster is well; none where one is not, or where too little is known of it.
    calm_since: Option<DateTime<Utc>>,
    /// Recoveries that were said.
    recoveries: Vec<(Ending, &'a Hit)>,
}

impl<'a> Present<'a> {
    /// Reads the present from what was collected; `at` judges as of that moment.
    pub(super) fn of(
        set: &RuleSet,
        facts: &'a Facts,
        hits: &'a [Hit],
        at: Option<DateTime<Utc>>,
    ) -> Self {
        let pods = facts.table::<Pod>();
        let nodes = facts.table::<Node>();
        let well =
            pods.iter().all(|pod| pod.data.healthy) && nodes.iter().all(|node| node.data.ready);
        let times = hits.iter().filter_map(|hit| hit.last);
        let since = pods.iter().filter_map(|pod| pod.data.since);
        let ready = nodes.iter().filter_map(|node| node.data.ready_since);
        let endings = &set.vocabulary.endings;
        let now = at.or_else(|| times.chain(since).chain(ready).max());
        let runs = Runs::of(facts);
        let settled = pods.iter().filter(|pod| runs.is_over(&pod.data, now));
        Self {
            now,
            settled: settled
                .map(|pod| format!("pod/{}/{}", pod.data.namespace, pod.data.name))
                .collect(),
            calm: well && !(pods.is_empty() && nodes.is_empty()),
            calm_since: Some(pods.iter().filter_map(|pod| pod.data.since))
                .filter(|_| well && pods.len() >= CLUSTER && !nodes.is_empty())
                .and_then(|since| {
                    since
                        .chain(nodes.iter().filter_map(|one| one.data.ready_since))
                        .max()
                }),
            pods: pods
                .iter()
                .filter(|pod| pod.data.healthy)
                .map(|pod| {
                    let key = format!("pod/{}/{}", pod.data.namespace, pod.data.name);
                    (key, (pod.data.since, pod.place.clone()))
                })
                .collect(),
            nodes: nodes
                .iter()
                .filter(|node| node.data.ready)
                .map(|node| {
                    (
                        node.data.name.as_str(),
                        (node.data.ready_since, node.place.clone()),
                    )
                })
                .collect(),
            recoveries: hits
                .iter()
                .filter_map(|hit| Some((*endings.get(&hit.pattern)?, hit)))
                .filter(|(_, hit)| at.zip(hit.at).is_none_or(|(at, said)| said <= at))
                .collect(),
        }
        .at_moment(at)
    }

    /// The newest time that anything carries.
    pub(super) fn now(&self) -> Option<DateTime<Utc>> {
        self.now
    }

    /// Without what came to be only after a moment.
    fn at_moment(mut self, at: Option<DateTime<Utc>>) -> Self {
        let by_then =
            |since: Option<DateTime<Utc>>| at.zip(since).is_none_or(|(at, since)| since <= at);
        self.pods.retain(|_, (since, _)| by_then(*since));
        self.nodes.retain(|_, (since, _)| by_then(*since));
        self.calm &= at.is_none();
        self.calm_since = self.calm_since.filter(|_| at.is_none());
        self
    }

    /// What ended the thing that a line or an event tells of; none where it may last.
    pub(super) fn over(&self, rule: &Rule, one: &Sighting, hit: Option<&Hit>) -> Option<Over> {
        let file = &rule.file;
        if hit.is_some_and(|hit| hit.earlier_boot)
            && let Some(over) = before_the_start(rule)
        {
            return Some(over);
        }
        if let Some((_, place)) = self.pods.get(one.subject.as_str())
            && one.place.path.ends_with("previous.log")
        {
            return Some(Over {
                says: "a container that has exited reported it, and the pod is healthy".into(),
                place: Some(place.clone()),
            });
        }
        if let Some(over) = hit.and_then(|hit| self.recovered(&file.ended_by, one, hit)) {
            return Some(over);
        }
        let last = one.last?;
        if let Some((Some(since), place)) = self.pods.get(one.subject.as_str())
            && last < *since
            && (self.settled.contains(one.subject.as_str())
                || self.now.is_some_and(|now| now - *since >= WELL))
        {
            return Some(since_then("the pod is healthy", *since, place));
        }
        if file.ended_by.contains(&Ending::NodeReady)
            && let Some((Some(since), place)) = self.node(&one.node)
            && last < *since
        {
            return Some(since_then("the node is ready", *since, place));
        }
        let now = self.now?;
        if let Some(since) = self.calm_since
            && !MACHINE.contains(&file.family.as_str())
            && last < since
            && now - since >= WELL
        {
            return Some(Over {
                says: format!(
                    "every collected pod and node is healthy since {}",
                    since.format("%Y-%m-%d %H:%M:%S UTC")
                ),
                place: None,
            });
        }
        (self.calm && now - last > OLD).then(|| Over {
            says: format!(
                "it was said {} days before the newest line, and nothing that was collected is unwell since",
                (now - last).num_days()
            ),
            place: None,
        })
    }

    /// What ended that a container ended: its pod has settled since.
    pub(super) fn outlived(&self, one: &Sighting) -> Option<Over> {
        let (since, place) = self.pods.get(one.subject.as_str())?;
        let since = (*since).filter(|_| self.settled.contains(one.subject.as_str()))?;
        let before = one.last.is_some_and(|last| last < since);
        before.then(|| since_then("the pod is healthy", since, place))
    }

    fn node(&self, name: &str) -> Option<&(Option<DateTime<Utc>>, Place)> {
        match (name, self.nodes.len()) {
            ("", 1) => self.nodes.values().next(),
            _ => self.nodes.get(name),
        }
    }

    /// A recovery that was said after it: later in the same entry, or later in time on the same node.
    fn recovered(&self, endings: &[Ending], one: &Sighting, hit: &Hit) -> Option<Over> {
        let later = |after: &Hit| {
            let same_entry = after.last_place.path == hit.last_place.path
                && after.last.zip(hit.last).is_none()
                && hit.also.is_empty()
                && after.last_place.line > hit.last_place.line;
            let same_node =
                !one.node.is_empty() && one.node == crate::scan::node_of(&after.place.path);
            let same_host = !hit.host.is_empty() && hit.host == after.host;
            let in_time = after
                .last
                .zip(hit.last)
                .is_some_and(|(after, last)| after > last);
            let on_clock = after
                .clock
                .zip(hit.clock)
                .is_some_and(|(after, last)| after >= last);
            same_entry || (same_node && in_time) || (same_host && (in_time || on_clock))
        };
        let found = self
            .recoveries
            .iter()
            .find(|(ends, after)| endings.contains(ends) && later(after));
        found.map(|(_, after)| Over {
            says: format!("it ended with: {}", crate::facts::excerpt(&after.text, 160)),
            place: Some(after.last_place.clone()),
        })
    }
}

/// What ended what was said before the machine's last start; none of what a start does not end.
pub(super) fn before_the_start(rule: &Rule) -> Option<Over> {
    (!rule.file.outlasts_boot).then(|| Over {
        says: "it was said before the machine started anew".into(),
        place: None,
    })
}

/// Where lines stand of which all that is alike was said before the machine's last start.
pub(super) fn said_before(hits: &[Hit]) -> BTreeSet<&Place> {
    let now = hits.iter().filter(|hit| !hit.earlier_boot);
    let now: BTreeSet<&Place> = now.map(|hit| &hit.place).collect();
    let before = hits.iter().filter(|hit| hit.earlier_boot);
    let before = before.map(|hit| &hit.place);
    before.filter(|place| !now.contains(place)).collect()
}

fn since_then(what: &str, since: DateTime<Utc>, place: &Place) -> Over {
    Over {
        says: format!("{what} since {}", since.format("%Y-%m-%d %H:%M:%S UTC")),
        place: Some(place.clone()),
    }
}
