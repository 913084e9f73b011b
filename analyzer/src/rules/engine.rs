//! Judges every rule on the facts and hits: which signals were seen, and what follows.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::compile::{Look, Rule, RuleSet, Test};
use super::file::Group;
use super::group::{self, Holding};
use super::template;
use crate::facts::kube::Pod;
use crate::facts::{FactView, Facts};
use crate::model::{Place, Verdict};
use crate::scan::patterns::Hit;
use crate::sources::Availability;

/// A signal that was seen, once for each thing it was seen on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// What it is about.
    pub subject: String,
    /// Node that it is about; empty if nothing says.
    pub node: String,
    /// Where it stands.
    pub place: Place,
    /// The text that stands there.
    pub text: String,
    /// What it means.
    pub says: String,
    /// Fields or captures, for the rule's sentences.
    pub values: BTreeMap<String, String>,
    /// First time.
    pub at: Option<DateTime<Utc>>,
    /// How often.
    pub count: u64,
}

/// What became of one rule.
#[derive(Debug, Clone)]
pub struct Assessment<'r> {
    /// The rule.
    pub rule: &'r Rule,
    /// The verdict; none if nothing of it was seen although its sources were there.
    pub verdict: Option<Verdict>,
    /// Sightings of each signal that was seen, by signal name.
    pub seen: BTreeMap<&'r str, Vec<Sighting>>,
    /// Sources that it needs and that were not there.
    pub missing: Vec<&'r str>,
    /// The group that decided.
    pub decided_by: Option<&'r Group>,
}

impl Assessment<'_> {
    /// `{a.x|b.y}` is the first that was seen.
    fn value(&self, name: &str) -> Option<&str> {
        name.split('|').find_map(|one| {
            let (signal, field) = one.split_once('.')?;
            let first = self.seen.get(signal)?.first()?;
            let value = first.values.get(field).map(String::as_str);
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

/// Judges all rules, in the order of their ids.
pub fn assess<'r>(
    set: &'r RuleSet,
    facts: &Facts,
    hits: &[Hit],
    available: &Availability,
) -> Vec<Assessment<'r>> {
    let mut views: BTreeMap<&str, Vec<FactView>> = BTreeMap::new();
    for rule in &set.rules {
        for look in rule.looks.values() {
            if let Look::Fact { kind, .. } = look {
                views.entry(kind).or_insert_with(|| facts.views(kind));
            }
        }
    }
    let mut by_pattern: BTreeMap<usize, Vec<&Hit>> = BTreeMap::new();
    for hit in hits {
        by_pattern.entry(hit.pattern).or_default().push(hit);
    }
    let known = Known {
        views,
        hits: by_pattern,
        nodes: Nodes::of(facts),
    };
    set.rules
        .iter()
        .map(|rule| assess_one(rule, &known, available))
        .collect()
}

/// What the rules are judged on.
struct Known<'a> {
    views: BTreeMap<&'a str, Vec<FactView>>,
    hits: BTreeMap<usize, Vec<&'a Hit>>,
    nodes: Nodes,
}

/// Which node a pod runs on, by `pod/<namespace>/<name>`.
struct Nodes(BTreeMap<String, String>);

impl Nodes {
    fn of(facts: &Facts) -> Self {
        let pods = facts.table::<Pod>().iter().map(|pod| &pod.data);
        let bound = pods.filter(|pod| !pod.node.is_empty());
        Self(
            bound
                .map(|pod| {
                    (
                        format!("pod/{}/{}", pod.namespace, pod.name),
                        pod.node.clone(),
                    )
                })
                .collect(),
        )
    }

    /// The node of a line or fact: as its path, its subject or its pod says; else as the fact says.
    fn find(&self, subject: &str, place: &Place, field: Option<&str>) -> String {
        let by_path = Some(crate::scan::node_of(&place.path)).filter(|node| !node.is_empty());
        by_path
            .or_else(|| subject.strip_prefix("node/"))
            .or_else(|| self.0.get(subject).map(String::as_str))
            .or(field)
            .unwrap_or("")
            .to_owned()
    }
}

fn assess_one<'r>(rule: &'r Rule, known: &Known<'_>, available: &Availability) -> Assessment<'r> {
    let mut seen: BTreeMap<&str, Vec<Sighting>> = BTreeMap::new();
    for (name, look) in &rule.looks {
        let says = rule
            .file
            .signals
            .get(name)
            .map_or("", |signal| signal.says.as_str());
        let sightings: Vec<Sighting> = match look {
            Look::Fact { kind, tests } => known
                .views
                .get(kind.as_str())
                .into_iter()
                .flatten()
                .filter(|view| {
                    tests
                        .iter()
                        .all(|(field, test)| passes(test, entry(&view.fields, field)))
                })
                .map(|view| from_view(view, says, &known.nodes))
                .collect(),
            Look::Line(pattern) => known
                .hits
                .get(pattern)
                .into_iter()
                .flatten()
                .map(|hit| from_hit(hit, says, &known.nodes))
                .collect(),
        };
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
    let (verdict, decided_by) = judge(rule, &seen, !missing.is_empty());
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
    }
}

fn judge<'r>(
    rule: &'r Rule,
    seen: &BTreeMap<&str, Vec<Sighting>>,
    incomplete: bool,
) -> (Option<Verdict>, Option<Holding<'r>>) {
    let file = &rule.file;
    let levels = [
        (Verdict::Confirmed, &file.confirmed),
        (Verdict::RuledOut, &file.ruled_out),
        (Verdict::Likely, &file.likely),
        (Verdict::Possible, &file.possible),
    ];
    for (verdict, groups) in levels {
        if let Some(holding) = groups.iter().find_map(|one| group::holds(one, seen)) {
            return (Some(verdict), Some(holding));
        }
    }
    (incomplete.then_some(Verdict::NotChecked), None)
}

fn from_view(view: &FactView, says: &str, nodes: &Nodes) -> Sighting {
    let mut values: BTreeMap<String, String> = BTreeMap::new();
    if let Value::Object(fields) = &view.fields {
        for (name, value) in fields {
            values.insert(name.clone(), plain(value));
        }
    }
    values.insert("subject".into(), view.subject.clone());
    values.insert("host_file".into(), host_file(&view.place.path));
    Sighting {
        says: template::fill_from(says, &values),
        node: nodes.find(
            &view.subject,
            &view.place,
            view.fields.get("node").and_then(Value::as_str),
        ),
        subject: view.subject.clone(),
        place: view.place.clone(),
        text: view.text.clone(),
        at: view.at,
        count: view
            .fields
            .get("count")
            .and_then(Value::as_u64)
            .unwrap_or(1)
            .max(1),
        values,
    }
}

fn from_hit(hit: &Hit, says: &str, nodes: &Nodes) -> Sighting {
    let mut values = hit.captures.clone();
    values.insert("subject".into(), hit.subject.clone());
    values.insert("line".into(), hit.text.clone());
    values.insert("host_file".into(), host_file(&hit.place.path));
    let speaker = if hit.speaker.is_empty() {
        &hit.subject
    } else {
        &hit.speaker
    };
    values.insert("speaker".into(), speaker.clone());
    Sighting {
        says: template::fill_from(says, &values),
        node: nodes.find(&hit.subject, &hit.place, None),
        subject: hit.subject.clone(),
        place: hit.place.clone(),
        text: hit.text.clone(),
        at: hit.at,
        count: hit.count,
        values,
    }
}

/// The path on the node of an entry that is a copy of a file; empty for others.
fn host_file(path: &str) -> String {
    path.split_once("/rootfs/")
        .map_or_else(String::new, |(_, path)| format!("/{path}"))
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

fn passes(test: &Test, value: &Value) -> bool {
    match test {
        Test::Equals(wanted) => value == wanted,
        Test::In(wanted) => wanted.contains(value),
        Test::Matches(regex) => regex.is_match(&plain(value)),
        Test::Greater(limit) => number(value).is_some_and(|number| number > *limit),
        Test::Less(limit) => number(value).is_some_and(|number| number < *limit),
        Test::Missing(wanted) => is_missing(value) == *wanted,
        Test::Has(wanted) => match value {
            Value::Array(items) => items.contains(wanted),
            Value::Object(map) => wanted.as_str().is_some_and(|key| map.contains_key(key)),
            _ => false,
        },
        Test::Not(inner) => !passes(inner, value),
    }
}

/// A field, or with a dot in its name the entry of a field that is a map. Keys may hold dots themselves.
fn entry<'v>(fields: &'v Value, name: &str) -> &'v Value {
    match name.split_once('.') {
        Some((field, key)) => &fields[field][key],
        None => &fields[name],
    }
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

fn is_missing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}
