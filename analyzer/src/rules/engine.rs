//! Judges every rule on the facts and hits: which signals were seen, and what follows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::compile::{Look, Rule, RuleSet};
use super::file::Group;
use super::gone::Existing;
use super::group::{self, Holding};
use super::installed::Loaded;
pub use super::judge::Looked;
use super::judge::{judge_now, look};
use super::passing;
pub use super::sighting::Sighting;
use super::sighting::{Nodes, from_hit, from_view};
use super::silence::Silence;
use super::template;
use super::unwell::Unwell;
use super::values::Values;
use super::weigh::{Present, before_the_start, said_before};
use crate::dress::Voice;
use crate::facts::ending::ContainerEnded;
use crate::facts::failing::MendedLines;
use crate::facts::kube::{Event, Node, Pod};
use crate::facts::{FactType as _, Facts};
use crate::form::Form;
use crate::model::{Place, Verdict};
use crate::parsers::CapturedFile;
use crate::scan::is_of_earlier_boot;
use crate::scan::patterns::Hit;
use crate::sources::Availability;
use crate::spread;

/// What became of one rule.
#[derive(Debug, Clone)]
pub struct Assessment<'r> {
    /// The rule.
    pub rule: &'r Rule,
    /// The verdict; none if nothing of it was seen although its sources were there.
    pub verdict: Option<Verdict>,
    /// Sightings of each signal that was seen, by signal name.
    pub seen: BTreeMap<&'r str, Vec<Arc<Sighting>>>,
    /// Sources that it needs and that were not there.
    pub missing: Vec<&'r str>,
    /// The group that decided.
    pub decided_by: Option<&'r Group>,
    /// Why it is no more than possible although a surer group holds.
    pub held_back: Option<String>,
    /// What speaks against it and was looked at.
    pub looked_at: Vec<Looked<'r>>,
    /// Which of several clusters it is about, by number; 0 where the input is of one.
    pub cluster: usize,
}

impl Assessment<'_> {
    /// `{a.x|b.y}` is the first that was seen.
    fn value(&self, name: &str) -> Option<&str> {
        name.split('|').find_map(|one| {
            let (signal, field) = one.split_once('.')?;
            let first = self.seen.get(signal)?.first()?;
            let value = first.value(field);
            value.filter(|value| !value.is_empty())
        })
    }

    /// The rule's headline if all its facts were seen, else its title.
    pub fn headline(&self) -> String {
        let headline = self.rule.file.headline.as_deref();
        headline
            .and_then(|text| template::fill_whole(text, |name| self.value(name)))
            .unwrap_or_else(|| self.rule.file.title.clone())
    }

    /// The sentences of a text whose facts were seen; `{signal.field}` is the first sighting's.
    pub fn tell(&self, text: &str) -> String {
        template::fill_sentences(text, |name| self.value(name))
    }

    /// A text, if all its facts were seen.
    pub fn whole(&self, text: &str) -> Option<String> {
        template::fill_whole(text, |name| self.value(name))
    }

    /// A command, with what was not seen, or is no single word for a shell, marked as a blank to fill in.
    pub fn command(&self, text: &str) -> String {
        template::fill_command(text, |name| {
            self.value(name)
                .filter(|value| template::is_shell_word(value))
        })
    }

    /// A file, with what was not seen marked as a blank to fill in.
    pub fn file(&self, text: &str) -> String {
        template::fill_command(text, |name| self.value(name))
    }

    /// How many different signals that were seen speak for it; orders causes of the same verdict.
    ///
    /// Only what a group that holds asks for speaks for a cause. Symptoms are shared by many causes, and a
    /// signal of no group is context: counting them would favour the rule that lists more of them.
    pub fn weight(&self) -> usize {
        let file = &self.rule.file;
        let groups = [&file.confirmed, &file.likely, &file.possible];
        let holding = groups
            .into_iter()
            .flatten()
            .filter(|one| group::holds(one, &self.seen).is_some());
        let asked: BTreeSet<&str> = holding
            .flat_map(|one| one.all.iter().chain(&one.any))
            .map(String::as_str)
            .filter(|signal| self.seen.contains_key(signal))
            .filter(|signal| !file.symptoms.iter().any(|symptom| symptom == signal))
            .collect();
        asked.len()
    }
}

/// Judges all rules, in the order of their ids; as of a moment where one is given.
pub fn assess<'r>(
    set: &'r RuleSet,
    facts: &Facts,
    hits: &[Hit],
    available: &Availability,
    at: Option<DateTime<Utc>>,
) -> Vec<Assessment<'r>> {
    let views = || passing::views(set, facts);
    let (views, mut known) = spread::both(views, || Known::but_views(set, facts, hits, at));
    known.views = views;
    spread::each(&set.rules, |rule| assess_one(rule, &known, available))
}

static CLUSTER: Form = Form::new(
    r"(?i-u)\b(?:kubelet|kubeadm|kubernetes|kubectl|kubepods|kube-dns|coredns|k3s|rke2|microk8s|NetworkPluginNotReady|PodSandbox\w*)\b",
);

/// Whether the input is of a machine that is, or is to be, a node of a cluster.
fn names_cluster(facts: &Facts, hits: &[Hit]) -> bool {
    let names = |text: &str| CLUSTER.is_match(text);
    let objects = !facts.table::<Pod>().is_empty() || !facts.table::<Node>().is_empty();
    let files = || {
        let files = facts.table::<CapturedFile>().iter();
        files.into_iter().any(|file| names(&file.place.path))
    };
    objects
        || hits
            .iter()
            .any(|hit| names(&hit.speaker) || names(&hit.text))
        || files()
}

/// What the rules are judged on.
struct Known<'a> {
    views: passing::Views<'a>,
    hits: BTreeMap<usize, Vec<&'a Hit>>,
    nodes: Nodes,
    log_ends: BTreeMap<(&'a str, &'a str), DateTime<Utc>>,
    silence: Silence<'a>,
    existing: Existing<'a>,
    loaded: Loaded<'a>,
    mended: BTreeMap<&'a str, &'a BTreeSet<u32>>,
    /// Where lines stand that were all said before the machine's last start: what was read from them was so then.
    said_before: BTreeSet<&'a Place>,
    last_event: Option<DateTime<Utc>>,
    unwell: Option<Unwell<'a>>,
    present: Present<'a>,
    /// Something names a kubelet or a cluster.
    cluster: bool,
}

impl<'a> Known<'a> {
    /// All but the facts that pass tests.
    fn but_views(
        set: &'a RuleSet,
        facts: &'a Facts,
        hits: &'a [Hit],
        at: Option<DateTime<Utc>>,
    ) -> Self {
        let mut by_pattern: BTreeMap<usize, Vec<&Hit>> = BTreeMap::new();
        let known_by_then = |hit: &&Hit| at.zip(hit.at).is_none_or(|(at, said)| said <= at);
        for hit in hits.iter().filter(known_by_then) {
            by_pattern.entry(hit.pattern).or_default().push(hit);
        }
        let present = Present::of(set, facts, hits, at);
        Self {
            views: passing::Views::new(),
            hits: by_pattern,
            nodes: Nodes::of(facts),
            log_ends: log_ends(hits),
            silence: Silence::of(facts),
            existing: Existing::of(facts),
            loaded: Loaded::of(facts),
            mended: facts
                .table::<MendedLines>()
                .iter()
                .map(|one| (one.place.path.as_str(), &one.data.lines))
                .collect(),
            said_before: said_before(hits),
            last_event: facts
                .table::<Event>()
                .iter()
                .filter_map(|one| one.data.last)
                .max(),
            // What is unwell at the end says nothing of an earlier moment.
            unwell: at.is_none().then(|| Unwell::of(facts, present.now())),
            present,
            cluster: names_cluster(facts, hits),
        }
    }
}

impl Known<'_> {
    /// A voice by where it was heard: on lines that were all mended by a guess, at most that.
    fn voice(&self, voice: Voice, places: &[&Place]) -> Voice {
        let is_mended = |place: &&Place| {
            let lines = self.mended.get(place.path.as_str());
            lines
                .zip(place.line)
                .is_some_and(|(lines, line)| lines.contains(&line))
        };
        match places.iter().all(is_mended) {
            true => voice.max(Voice::Mended),
            false => voice,
        }
    }
}

/// The newest time of a line by entry and speaker.
fn log_ends(hits: &[Hit]) -> BTreeMap<(&str, &str), DateTime<Utc>> {
    let mut ends: BTreeMap<(&str, &str), DateTime<Utc>> = BTreeMap::new();
    for hit in hits {
        let Some(last) = hit.last else { continue };
        let known = ends
            .entry((&hit.last_place.path, &hit.speaker))
            .or_insert(last);
        *known = last.max(*known);
    }
    ends
}

fn assess_one<'r>(rule: &'r Rule, known: &Known<'_>, available: &Availability) -> Assessment<'r> {
    let mut seen: BTreeMap<&str, Vec<Arc<Sighting>>> = BTreeMap::new();
    for (name, look) in &rule.looks {
        let sightings = sightings(rule, name, look, known);
        if !sightings.is_empty() {
            seen.insert(name.as_str(), sightings);
        }
    }
    let missing: Vec<&str> = rule
        .file
        .needs
        .iter()
        .map(String::as_str)
        .filter(|source| !available.has(source))
        .collect();
    let unwell = known.unwell.as_ref();
    let judged = judge_now(rule, unwell, &mut seen, !missing.is_empty());
    let is_line = |signal: &String| matches!(rule.looks.get(signal), Some(Look::Line(_)));
    let of_lines = judged.holding.as_ref().is_some_and(|holding| {
        let mut asked = holding.group.all.iter().chain(&holding.group.any);
        asked.all(is_line)
    });
    let noise = rule.file.of_cluster
        && judged.verdict == Some(Verdict::Possible)
        && of_lines
        && !known.cluster;
    let (verdict, decided_by) = match noise {
        true => ((!missing.is_empty()).then_some(Verdict::NotChecked), None),
        false => (judged.verdict, judged.holding),
    };
    let looked_at = match (unwell, &decided_by) {
        (Some(unwell), Some(holding)) => look(rule, unwell, holding, &seen),
        _ => Vec::new(),
    };
    if let Some(Holding {
        group,
        shared: Some(shared),
    }) = &decided_by
    {
        // What the group was decided on is told first, and fills the sentences.
        for signal in group.all.iter().chain(&group.any) {
            if let Some(sightings) = seen.get_mut(signal.as_str()) {
                sightings.sort_by_key(|one| !group::shares(group.same, one, shared));
            }
        }
    }
    let decided_by = decided_by.map(|holding| holding.group);
    Assessment {
        rule,
        verdict,
        seen,
        missing,
        decided_by,
        held_back: judged.held_back,
        looked_at,
        cluster: 0,
    }
}

/// Where a signal was seen.
fn sightings(rule: &Rule, name: &str, look: &Look, known: &Known<'_>) -> Vec<Arc<Sighting>> {
    let says = rule
        .file
        .signals
        .get(name)
        .map_or("", |signal| signal.says.as_str());
    match look {
        Look::Fact { kind, .. } => known
            .views
            .get(&(rule.file.id.as_str(), name))
            .into_iter()
            .flatten()
            .map(|view| {
                let mut one = from_view(kind, view, says, &known.nodes);
                one.voice = known.voice(one.voice, &[&one.place]);
                // Other facts are state, which is as it was collected.
                if kind == Event::KIND {
                    one.over = known.present.over(rule, &one, None);
                    one.log_ends = known.last_event;
                } else if kind == ContainerEnded::KIND {
                    one.over = known.present.outlived(&one);
                } else {
                    let says = one.value("earlier_boot");
                    one.earlier_boot = says == Some("true")
                        || known.said_before.contains(&&one.place)
                        || is_of_earlier_boot(&one.place.path);
                    one.over = before_the_start(rule).filter(|_| one.earlier_boot);
                }
                Arc::new(one)
            })
            .collect(),
        Look::Line(pattern) => {
            let mut last: Option<Arc<Values>> = None;
            let hits = known.hits.get(pattern).into_iter().flatten();
            hits.map(|hit| {
                let mut one = from_hit(hit, says, &known.nodes, last.as_deref());
                last = Some(Arc::clone(&one.values));
                let signal = rule.file.signals.get(name);
                if one.voice == Voice::Note && signal.is_some_and(|signal| signal.note) {
                    one.voice = Voice::Spoken;
                }
                one.voice = known.voice(one.voice, &[&one.place, &hit.last_place]);
                let log = (hit.last_place.path.as_str(), hit.speaker.as_str());
                one.log_ends = match one.event {
                    true => known.last_event,
                    false => known.log_ends.get(&log).copied(),
                };
                one.silent = known.silence.fell(hit);
                if let Some(old) = known.silence.is_old_event(hit) {
                    one.event = true;
                    one.silent |= old;
                }
                one.over = known.present.over(rule, &one, Some(hit));
                if one.over.is_none() {
                    let silent = known.silence.over(&rule.file.family, hit);
                    one.over = silent
                        .or_else(|| known.silence.started(rule.file.repeats, hit))
                        .or_else(|| known.existing.over(hit))
                        .or_else(|| known.loaded.over(hit));
                }
                Arc::new(one)
            })
            .collect()
        }
    }
}
