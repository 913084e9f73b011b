//! A signal that was seen: where, on what, how loudly, and whether that still holds.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::fields::plain;
use super::template;
use super::values::Values;
use super::weigh::Over;
use crate::dress::Voice;
use crate::facts::kube::Pod;
use crate::facts::{FactView, Facts};
use crate::model::Place;
use crate::scan::patterns::Hit;
use crate::shared::Shared;

/// A signal that was seen, once for each thing it was seen on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// What it is about.
    pub subject: Shared,
    /// Node that it is about; empty if nothing says.
    pub node: Shared,
    /// Where it stands.
    pub place: Place,
    /// The text that stands there.
    pub text: Shared,
    /// What it means.
    pub says: String,
    /// Fields or captures, for the rule's sentences.
    pub(super) values: Arc<Values>,
    /// It is a line, and no fact.
    pub(super) is_line: bool,
    /// First time.
    pub at: Option<DateTime<Utc>>,
    /// Last time.
    pub last: Option<DateTime<Utc>>,
    /// How often.
    pub count: u64,
    /// How much weight it carries.
    pub voice: Voice,
    /// Entries that hold it, where it stands in texts of unknown origin that no person put together; else empty.
    pub scattered: Vec<Shared>,
    /// Clock of the last one, without a year.
    pub clock: Option<u32>,
    /// What ended it; none where it may last.
    pub over: Option<Over>,
    /// It was said before the machine's last start.
    pub earlier_boot: bool,
    /// It is how things were at the collection, and not what somebody said of them.
    pub state: bool,
    /// It is an event of the cluster.
    pub event: bool,
    /// The kernel said it.
    pub kernel: bool,
    /// Newest time of a line that the same speaker said in the same entry.
    pub log_ends: Option<DateTime<Utc>>,
    /// Its speaker went on for long and did not say it again, or said it only while it started.
    pub silent: bool,
}

/// What it is about and the line itself, as sentences name them; the sighting holds both anyway.
const SUBJECT: &str = "subject";
const LINE: &str = "line";

impl Sighting {
    /// The text that a sentence calls by a name: a field, a capture, or what the sighting itself holds.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        match name {
            SUBJECT => Some(&self.subject),
            LINE if self.is_line => Some(&self.text),
            _ => self.values.get(name),
        }
    }

    /// The same with a signal's sentence, filled with what was seen.
    fn saying(mut self, says: &str) -> Self {
        self.says = template::fill(says, |name| self.value(name));
        self
    }
}

/// Facts that tell of something that happened, as a log does.
const HAPPENED: [&str; 7] = [
    "event",
    "container-ended",
    "pod-evicted",
    "node-moment",
    "quota-refusal",
    "blocked-packet",
    "xid-story",
];

/// Which node a pod runs on, by `pod/<namespace>/<name>`.
pub(super) struct Nodes {
    /// By pod.
    bound: BTreeMap<String, String>,
    /// Size of `/dev/shm` by pod, where its spec says.
    shm: BTreeMap<String, String>,
}

impl Nodes {
    pub(super) fn of(facts: &Facts) -> Self {
        let known = |of: fn(&Pod) -> &String| {
            let pods = facts.table::<Pod>().iter().map(|pod| &pod.data);
            let known = pods.filter(|pod| !of(pod).is_empty());
            known
                .map(|pod| {
                    let id = format!("pod/{}/{}", pod.namespace, pod.name);
                    (id, of(pod).clone())
                })
                .collect()
        };
        Self {
            bound: known(|pod| &pod.node),
            shm: known(|pod| &pod.shm),
        }
    }

    /// The node of a line or fact: as its path, its subject or its pod says; else as the fact says.
    fn find(&self, subject: &str, place: &Place, field: Option<&str>) -> Shared {
        let by_path = Some(crate::scan::node_of(&place.path)).filter(|node| !node.is_empty());
        by_path
            .or_else(|| subject.strip_prefix("node/"))
            .or_else(|| self.bound.get(subject).map(String::as_str))
            .or(field)
            .unwrap_or("")
            .into()
    }
}

#[cfg(test)]
impl Sighting {
    /// One that says no more than where it stands.
    pub(crate) fn of_place(place: Place) -> Self {
        Self {
            subject: Shared::default(),
            node: Shared::default(),
            place,
            text: Shared::default(),
            says: String::new(),
            values: Arc::default(),
            is_line: false,
            at: None,
            last: None,
            count: 1,
            voice: crate::dress::Voice::Spoken,
            scattered: Vec::new(),
            clock: None,
            over: None,
            earlier_boot: false,
            state: false,
            event: false,
            kernel: false,
            log_ends: None,
            silent: false,
        }
    }
}

/// A fact that signals were seen on, as all of them tell it.
pub(super) struct Viewed {
    subject: Shared,
    place: Place,
    text: Shared,
    at: Option<DateTime<Utc>>,
    /// Node that the fact names.
    node: Option<String>,
    count: u64,
    values: Arc<Values>,
}

impl Viewed {
    /// From a fact; `like` is one of the same kind, where there is one.
    pub(super) fn new(view: FactView, like: Option<&Viewed>) -> Self {
        let fields = view.fields.as_object().into_iter().flatten();
        let fields = fields.map(|(name, value)| (name.as_str(), plain(value)));
        let host_file = ("host_file", host_file(&view.place.path).into());
        let values: BTreeMap<&str, Cow<'_, str>> = fields.chain([host_file]).collect();
        let count = view.fields.get("count").and_then(Value::as_u64);
        let node = view.fields.get("node").and_then(Value::as_str);
        Self {
            node: node.map(str::to_owned),
            count: count.unwrap_or(1).max(1),
            subject: view.subject.into(),
            place: view.place,
            text: view.text,
            at: view.at,
            values: Arc::new(Values::like(&values, like.map(|like| &*like.values))),
        }
    }
}

/// From a fact.
pub(super) fn from_view(kind: &str, view: &Viewed, says: &str, nodes: &Nodes) -> Sighting {
    Sighting {
        says: String::new(),
        node: nodes.find(&view.subject, &view.place, view.node.as_deref()),
        subject: view.subject.clone(),
        place: view.place.clone(),
        text: view.text.clone(),
        at: view.at,
        last: view.at,
        voice: Voice::Spoken,
        scattered: Vec::new(),
        clock: None,
        over: None,
        earlier_boot: false,
        state: !HAPPENED.contains(&kind),
        event: kind == HAPPENED[0],
        kernel: false,
        log_ends: None,
        silent: false,
        count: view.count,
        values: Arc::clone(&view.values),
        is_line: false,
    }
    .saying(says)
}

/// From a line; `like` are the values of another that the same expression matches, where there is one.
pub(super) fn from_hit(hit: &Hit, says: &str, nodes: &Nodes, like: Option<&Values>) -> Sighting {
    let captures = hit.captures.iter();
    let captures = captures.map(|(name, value)| (name.to_string(), value.to_string()));
    let mut values: BTreeMap<_, _> = captures.collect();
    values.insert("host_file".into(), host_file(&hit.place.path));
    let speaker = if hit.speaker.is_empty() {
        &hit.subject
    } else {
        &hit.speaker
    };
    values.insert("speaker".into(), speaker.to_string());
    if let Some(size) = nodes.shm.get(hit.subject.as_str()) {
        values.insert("shm".into(), size.clone());
    }
    let node = nodes.find(&hit.subject, &hit.place, None);
    if !node.is_empty() {
        // What the line itself calls a node goes first.
        values
            .entry("node".into())
            .or_insert_with(|| node.to_string());
    }
    Sighting {
        says: String::new(),
        node,
        subject: hit.subject.clone(),
        place: hit.place.clone(),
        text: hit.text.clone(),
        at: hit.at,
        last: hit.last,
        count: hit.count,
        voice: hit.voice,
        scattered: if hit.scattered {
            hit.also.iter().chain([&hit.place.path]).cloned().collect()
        } else {
            Vec::new()
        },
        clock: hit.clock,
        over: None,
        earlier_boot: hit.earlier_boot,
        state: false,
        event: hit.speaker.is_empty() && hit.place.path.contains("/events"),
        kernel: hit.speaker == "kernel",
        log_ends: None,
        silent: false,
        values: Arc::new(Values::like(&values, like)),
        is_line: true,
    }
    .saying(says)
}

/// The path on the node of an entry that is a copy of a file; empty for others.
fn host_file(path: &str) -> String {
    path.split_once("/rootfs/")
        .map_or_else(String::new, |(_, path)| format!("/{path}"))
}
