//! What fails and no cause explains: each thing with its last words, and the causes that would produce it.

use std::collections::{BTreeMap, BTreeSet};

use super::waiting::waiting;
use crate::facts::failing::{Failing, FlowCheck};
use crate::facts::{Fact, Facts};
use crate::ledger::unsettled;
use crate::model::{Candidate, Considered, Severity, Unexplained, Verdict};
use crate::rules::engine::Assessment;

/// Entries told; the rest is counted.
const MOST: usize = 200;
/// Causes that one failing thing is given.
const CANDIDATES: usize = 4;
/// Characters of last words.
const WORDS: usize = 700;

/// What causes explain, by what they were seen on.
pub(super) struct Explained<'a> {
    /// Subjects of confirmed and likely causes.
    subjects: BTreeSet<&'a str>,
    /// Those of them that only wait for a node: one that ran and ended has found it since.
    placeless: BTreeSet<&'a str>,
    /// Nodes on which a confirmed or likely cause of weight was seen.
    nodes: BTreeSet<&'a str>,
    /// Texts in which a cause was seen that nothing says the subject of.
    texts: BTreeSet<&'a str>,
    /// Whether a cause of the GPU stack is confirmed.
    gpus: bool,
    /// Pods that wait for what a cause took away.
    waiting: BTreeSet<String>,
}

impl<'a> Explained<'a> {
    pub(super) fn by(facts: &Facts, assessments: &'a [&Assessment<'_>]) -> Self {
        let mut found = Self {
            subjects: BTreeSet::new(),
            placeless: BTreeSet::new(),
            nodes: BTreeSet::new(),
            texts: BTreeSet::new(),
            gpus: false,
            waiting: BTreeSet::new(),
        };
        let mut placed: BTreeSet<&str> = BTreeSet::new();
        for one in assessments {
            let sure = matches!(one.verdict, Some(Verdict::Confirmed | Verdict::Likely));
            if !sure {
                continue;
            }
            let file = &one.rule.file;
            let weighs = matches!(file.severity, Severity::Critical | Severity::High);
            let of_gpus = matches!(
                file.family.as_str(),
                "runtime"
                    | "driver"
                    | "gpu-hardware"
                    | "gpu-sharing"
                    | "fabric"
                    | "hami"
                    | "scheduling"
            );
            found.gpus |= of_gpus && one.verdict == Some(Verdict::Confirmed);
            let sightings = || one.seen.values().flatten();
            let named = sightings().any(|sighting| !sighting.subject.is_empty());
            for sighting in sightings() {
                if !sighting.subject.is_empty() {
                    found.subjects.insert(&sighting.subject);
                    let of = match file.family.as_str() {
                        "scheduling" => &mut found.placeless,
                        _ => &mut placed,
                    };
                    of.insert(&sighting.subject);
                } else if !named {
                    found.texts.insert(&sighting.place.path);
                }
                if weighs && !sighting.node.is_empty() {
                    found.nodes.insert(&sighting.node);
                }
            }
        }
        found.placeless.retain(|subject| !placed.contains(subject));
        found.waiting = waiting(facts, &found.subjects, &found.nodes);
        found
    }

    /// Whether a cause was seen in this text. What has no words of its own is also explained from a text that was handed
    /// over beside it: an incident that somebody cut into files is one text, in whichever of them a line stands.
    fn in_text(&self, path: &str, speechless: bool) -> bool {
        let is_loose = |path: &str| !path.contains('/');
        let beside = || self.texts.iter().any(|other| is_loose(other));
        self.texts.contains(path) || (speechless && is_loose(path) && beside())
    }

    /// Whether a cause was seen on the GPU that this is, or of which it is said that it does not answer. A line may name
    /// neither node nor function of the device.
    fn is_of_gpu(&self, data: &Failing) -> bool {
        if !matches!(data.what.as_str(), "gpu" | "gpus") {
            return false;
        }
        let cards = self.subjects.iter();
        let cards = cards.filter_map(|subject| subject.strip_prefix("gpu/"));
        let mut cards = cards.map(|card| card.rsplit_once('/').unwrap_or(("", card)));
        cards.any(|(node, bus)| {
            let same_node = node.is_empty() || data.node.is_empty() || node == data.node;
            same_node && !bus.is_empty() && (data.name == bus || data.words.contains(bus))
        })
    }

    /// Whether a cause explains this thing: it was seen on it; or on its node, and the thing did not end by itself; or
    /// in the same text, which says of nothing what it is about.
    pub(super) fn covers(&self, failing: &Fact<Failing>) -> bool {
        let data = &failing.data;
        let on_node = !data.node.is_empty() && self.nodes.contains(data.node.as_str());
        let by_itself = data.ended && !data.gpu;
        let waits_for_gpu = data.what == "pod" && data.gpu && self.gpus;
        // Of a node that the API server tells of, a text that names none decides nothing.
        let is_told = match data.what.as_str() {
            "pod" | "workload" | "claim" | "log" | "kernel" => true,
            "node" => !data.seen,
            _ => false,
        };
        let in_text = is_told && self.in_text(&failing.place.path, is_speechless(data));
        let subject = data.subject.as_str();
        let ran = data.ended && self.placeless.contains(subject);
        (self.subjects.contains(subject) && !ran)
            || self.is_of_gpu(data)
            || in_text
            || (on_node && !by_itself)
            || waits_for_gpu
            || self.waiting.contains(&data.subject)
    }
}

/// Every entry of the ledger that no confirmed or likely cause explains, the ones with last words first.
pub(super) fn entries(
    facts: &Facts,
    causes: &[&Assessment<'_>],
    known: &dyn Fn(&str) -> Option<String>,
) -> Vec<Unexplained> {
    let explained = Explained::by(facts, causes);
    let failing = facts.table::<Failing>();
    let down: BTreeSet<&str> = failing
        .iter()
        .filter(|one| one.data.what == "node" && one.data.state == "NotReady")
        .map(|one| one.data.name.as_str())
        .collect();
    let left: Vec<&Fact<Failing>> = failing
        .iter()
        .filter(|one| {
            // Pods of a node that is down are down with it.
            let with_node =
                one.data.what == "pod" && !one.data.ended && down.contains(one.data.node.as_str());
            !explained.covers(one) && !with_node
        })
        .collect();
    let first = grouped(left, of_one_owner);
    let entries = first.into_iter().map(|(one, also)| Unexplained {
        also: also.iter().map(|one| one.data.subject.clone()).collect(),
        ..entry(facts, one, known)
    });
    let together = grouped(entries, of_one_wording).into_iter();
    let mut entries: Vec<Unexplained> = together
        .map(|(mut first, others)| {
            for other in others {
                first.also.push(other.subject);
                first.also.extend(other.also);
            }
            first
        })
        .collect();
    entries.sort_by_key(rank);
    entries.truncate(MOST);
    entries
}

/// The first of each trouble with the others that share its key; what has no key stands alone.
fn grouped<T>(
    all: impl IntoIterator<Item = T>,
    key: fn(&T) -> Option<[String; 4]>,
) -> Vec<(T, Vec<T>)> {
    let mut groups: Vec<(T, Vec<T>)> = Vec::new();
    let mut known: BTreeMap<[String; 4], usize> = BTreeMap::new();
    for one in all {
        let key = key(&one);
        let group = key.as_ref().and_then(|key| known.get(key));
        if let Some((_, others)) = group.and_then(|at| groups.get_mut(*at)) {
            others.push(one);
            continue;
        }
        if let Some(key) = key {
            known.insert(key, groups.len());
        }
        groups.push((one, Vec::new()));
    }
    groups
}

/// The node and the control plane first, then what the last words are known of.
fn rank(entry: &Unexplained) -> (u8, bool) {
    let weight = match entry.subject.split('/').next() {
        Some("node") => 0,
        _ if entry.namespace == "kube-system" => 1,
        Some("unit") => 2,
        Some("log") => 4,
        _ => 3,
    };
    (weight, entry.speechless || entry.last_words.is_empty())
}

/// Whether a thing left no words: a row of a table is all that is known of it.
fn is_speechless(data: &Failing) -> bool {
    data.words.is_empty() && data.warnings.is_empty() && data.message.is_empty()
}

/// Pods of one owner in the same state are one trouble, and so are rows of a table, of which nothing else is known.
fn of_one_owner(one: &&Fact<Failing>) -> Option<[String; 4]> {
    let data = &one.data;
    let is_row = data.owner.is_empty() && data.what == "pod" && is_speechless(data);
    let owner = if is_row { "row" } else { &data.owner };
    (!owner.is_empty()).then(|| {
        let row = String::from(if is_row { "row" } else { "" });
        [data.namespace.clone(), owner.to_owned(), row, reason(data)]
    })
}

/// Things of one kind that fail with the same words are one trouble, whoever owns them: four hundred pods that wait
/// for a place wait for the same place.
fn of_one_wording(one: &Unexplained) -> Option<[String; 4]> {
    let (kind, path) = one.subject.split_once('/')?;
    let name = path.rsplit('/').next()?;
    let words = one.last_words.replace(name, "");
    let words: String = words.chars().filter(|one| !one.is_ascii_digit()).collect();
    let is_said = words.contains(char::is_whitespace);
    is_said.then(|| [kind.to_owned(), words, String::new(), one.reason.clone()])
}

fn reason(failing: &Failing) -> String {
    let mut parts: Vec<String> = Vec::new();
    if !failing.state.is_empty() {
        parts.push(failing.state.clone());
    }
    if let Some(code) = failing.exit_code {
        let meaning = crate::ending::exit::meaning(code).words;
        parts.push(format!("exit code {code}: {meaning}"));
    }
    parts.join(", ")
}

fn entry(
    facts: &Facts,
    one: &Fact<Failing>,
    known: &dyn Fn(&str) -> Option<String>,
) -> Unexplained {
    let data = &one.data;
    let mut words: Vec<String> = Vec::new();
    let mut add = |text: &str| {
        let text = text.trim();
        if !text.is_empty() && !words.iter().any(|known| known.contains(text)) {
            words.push(text.to_owned());
        }
    };
    add(&data.words);
    if !data.message.starts_with("back-off ") {
        add(&data.message);
    }
    for warning in data
        .warnings
        .iter()
        .filter(|text| !text.starts_with("Back-off "))
        .take(2)
    {
        add(warning);
    }
    // A row of a table is all that is known of a thing that left no words.
    let says = one.text.bytes().filter(u8::is_ascii_alphabetic).count() > 2;
    if words.is_empty() && says && !one.text.starts_with('"') {
        words.push(one.text.trim().to_owned());
    }
    if words.iter().all(String::is_empty) {
        words = data.warnings.iter().take(1).cloned().collect();
    }
    let candidates = unsettled::candidates(data).iter();
    let candidates = candidates.filter_map(|candidate| {
        Some(Candidate {
            title: known(candidate.cause)?,
            cause: candidate.cause.to_owned(),
            times: candidate.times,
            settle: unsettled::settle(candidate, data),
        })
    });
    let flows = facts.table::<FlowCheck>().iter();
    let flows = flows.filter(|flow| flow.data.subject == data.subject);
    Unexplained {
        subject: data.subject.clone(),
        namespace: data.namespace.clone(),
        owner: data.owner.clone(),
        speechless: data.what == "pod"
            && data.words.is_empty()
            && data.warnings.is_empty()
            && data.message.is_empty(),
        lasts: data.what == "unit" || (data.what == "node" && !data.seen),
        since: data.since,
        reason: reason(data),
        restarts: data.restarts,
        last_words: crate::facts::excerpt(&words.join("; "), WORDS),
        place: one.place.clone(),
        lines: lines(data),
        also: Vec::new(),
        flows: flows.map(|flow| flow.data.says.clone()).collect(),
        candidates: candidates.take(CANDIDATES).collect(),
        beside: None,
    }
}

fn lines(failing: &Failing) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in &failing.lines {
        let line = crate::facts::excerpt(line.trim(), WORDS);
        if !line.is_empty() && !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// The candidates of everything unexplained as possible causes. What the differential judges already is no candidate.
pub(super) fn as_possible(entries: &mut [Unexplained], differential: &mut Vec<Considered>) {
    let mut added: Vec<(u32, Considered)> = Vec::new();
    for entry in entries {
        entry.candidates.retain(|candidate| {
            let mut rows = differential.iter();
            !rows.any(|row| row.cause == candidate.cause && row.verdict != Verdict::NotChecked)
        });
        for candidate in &entry.candidates {
            if added.iter().any(|(_, row)| row.cause == candidate.cause) {
                continue;
            }
            added.push((candidate.times, Considered {
                cause: candidate.cause.clone(),
                family: String::new(),
                title: candidate.title.clone(),
                verdict: Verdict::Possible,
                why: format!(
                    "{} shows what this cause produces, and nothing captured decides; to settle it: {}",
                    entry.subject, candidate.settle
                ),
                place: Some(entry.place.clone()),
                explained_by: None,
            }));
        }
    }
    differential.retain(|row| !added.iter().any(|(_, one)| one.cause == row.cause));
    let at = differential
        .iter()
        .position(|row| !row.verdict.is_live())
        .unwrap_or(differential.len());
    added.sort_by_key(|(times, _)| std::cmp::Reverse(*times));
    differential.splice(at..at, added.into_iter().map(|(_, row)| row));
}
