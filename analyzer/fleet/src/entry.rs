//! What an inbox remembers of each bundle, and how its page puts them together.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::analysed::{Analysed, Origin};
use crate::fingerprint::fingerprint;

/// Messages without a rule that are kept of each bundle.
const MOST_UNKNOWN: usize = 40;
/// Rows of the page; older ones are in the tables.
pub const MOST_ROWS: usize = 2_000;

/// A bundle with a report.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// First digits of the bundle's SHA-256; the folder of its report.
    pub id: String,
    /// Path below the input.
    pub input: String,
    /// SHA-256 of its bytes.
    pub digest: String,
    /// End of collection, RFC 3339.
    pub when: String,
    /// Node; empty where the bundle does not say.
    pub node: String,
    /// Cluster; empty where the bundle does not say.
    pub cluster: String,
    /// First line of its report.
    pub title: String,
    /// Verdict of its first cause, or `none`.
    pub verdict: String,
    /// Severity of its first cause.
    pub severity: String,
    /// First sign of it, RFC 3339.
    pub since: String,
    /// Tool that wrote the bundle.
    pub tool: String,
    /// The file ends before its manifest.
    pub cut_short: bool,
    /// Causes, each with the mark of the same incident.
    pub causes: Vec<Cause>,
    /// Messages that no rule knows, with how often they were written.
    pub unknown: Vec<(String, u64)>,
}

/// A cause of a bundle.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// Id of the catalogue.
    pub id: String,
    /// With the facts filled in.
    pub title: String,
    /// Verdict.
    pub verdict: String,
    /// Equal for the same incident.
    pub fingerprint: String,
}

/// An input that could not be analysed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quarantined {
    /// First digits of its SHA-256.
    pub id: String,
    /// Path below the input.
    pub input: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Why.
    pub reason: String,
    /// What judged it; another one tries again.
    pub judge: String,
}

impl Quarantined {
    /// A record from its file.
    ///
    /// # Errors
    /// No file, or no record in it.
    pub fn read(path: &Path) -> std::io::Result<Self> {
        Ok(serde_json::from_slice(&std::fs::read(path)?)?)
    }
}

impl Entry {
    /// The entry of a report's folder.
    ///
    /// # Errors
    /// No file, or no entry in it.
    pub fn read(folder: &Path) -> std::io::Result<Self> {
        let text = std::fs::read(folder.join("entry.json"))?;
        Ok(serde_json::from_slice(&text)?)
    }

    /// What is remembered of an analysis.
    pub fn of(analysed: &Analysed, origin: &Origin, id: &str) -> Self {
        let report = &analysed.report;
        let text = |value: &Value, pointer: &str| {
            let found = value.pointer(pointer).and_then(Value::as_str);
            found.unwrap_or("").to_owned()
        };
        let node = text(report, "/input/node");
        let incidents = report.get("incidents").and_then(Value::as_array);
        let incidents = incidents.map_or(&[][..], Vec::as_slice);
        let first = incidents.first().unwrap_or(&Value::Null);
        let verdict = text(first, "/verdict");
        let mut unknown: BTreeMap<&str, u64> = BTreeMap::new();
        for said in analysed.said.iter().filter(|said| !said.known) {
            *unknown.entry(&said.template).or_default() += said.count;
        }
        let mut unknown: Vec<_> = unknown
            .into_iter()
            .map(|(template, count)| (template.to_owned(), count))
            .collect();
        unknown.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        unknown.truncate(MOST_UNKNOWN);
        let cause = |incident: &Value| Cause {
            id: text(incident, "/cause/id"),
            title: text(incident, "/cause/title"),
            verdict: text(incident, "/verdict"),
            fingerprint: fingerprint(incident, &node),
        };
        Self {
            id: id.to_owned(),
            input: origin.input.clone(),
            digest: origin.digest.clone(),
            when: match text(report, "/input/finished") {
                none if none.is_empty() => text(report, "/reference_time"),
                at => at,
            },
            cluster: analysed.cluster.clone().unwrap_or_default(),
            title: text(report, "/title"),
            verdict: if verdict.is_empty() {
                "none".to_owned()
            } else {
                verdict
            },
            severity: text(first, "/severity"),
            since: text(first, "/since"),
            tool: text(report, "/input/tool"),
            cut_short: report.pointer("/input/cut_short") == Some(&Value::Bool(true)),
            causes: incidents.iter().map(cause).collect(),
            unknown,
            node,
        }
    }

    /// The mark of its first cause; empty where it has none.
    pub fn fingerprint(&self) -> &str {
        self.causes.first().map_or("", |cause| &cause.fingerprint)
    }
}

/// The page of an inbox.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Index {
    /// Rows, the newest first.
    pub rows: Vec<RowView>,
    /// Rows that are left out because they are older.
    pub older: usize,
    /// The same incident on several nodes or days, the most frequent first.
    pub groups: Vec<Group>,
    /// Bundles by day and cause.
    pub days: Vec<Day>,
    /// Messages that no rule knows: message, bundles that hold it, how often it was written.
    pub unknown: Vec<(String, u64, u64)>,
    /// Inputs that could not be analysed.
    pub quarantine: Vec<Quarantined>,
    /// Inputs that are still arriving, with their size in bytes.
    pub arriving: BTreeMap<String, u64>,
    /// Inputs that are the same as another one.
    pub duplicates: BTreeMap<String, String>,
    /// What goes wrong at present, by input.
    pub failed: BTreeMap<String, String>,
    /// Values to filter by.
    pub verdicts: Vec<String>,
    /// Values to filter by.
    pub severities: Vec<String>,
    /// Values to filter by.
    pub clusters: Vec<String>,
}

/// A bundle on the page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RowView {
    /// The bundle.
    pub entry: Entry,
    /// Earlier bundles with the same incident, the newest first: id, node, when.
    pub seen_before: Vec<(String, String, String)>,
    /// How many of them there are.
    pub times_before: usize,
    /// A newer bundle of the same name is there.
    pub replaced: bool,
}

/// The same incident.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Group {
    /// Mark of the incident.
    pub fingerprint: String,
    /// Cause id.
    pub cause: String,
    /// Title of the newest.
    pub title: String,
    /// Nodes.
    pub nodes: Vec<String>,
    /// First and last time.
    pub first: String,
    /// Last time.
    pub last: String,
    /// Reports: id, node, when.
    pub reports: Vec<(String, String, String)>,
}

/// A day's bundles.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Day {
    /// `2026-11-23`.
    pub day: String,
    /// Bundles.
    pub bundles: u64,
    /// With a confirmed or likely cause.
    pub sick: u64,
    /// Causes with their number of bundles, the most frequent first.
    pub causes: Vec<(String, u64)>,
}

/// Reports of a group, and of "seen before", that the page links to.
const MOST_LINKS: usize = 20;

impl Index {
    /// The page of these entries, which are the newest first.
    pub fn of(entries: &[Entry]) -> Self {
        let link = |entry: &Entry| (entry.id.clone(), entry.node.clone(), entry.when.clone());
        let mut marks: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
        for entry in entries.iter().filter(|entry| !entry.causes.is_empty()) {
            marks.entry(entry.fingerprint()).or_default().push(entry);
        }
        let mut names: BTreeMap<&str, &str> = BTreeMap::new();
        for entry in entries {
            names.entry(&entry.input).or_insert(&entry.id);
        }
        let rows = entries.iter().take(MOST_ROWS).map(|entry| {
            let same = marks.get(entry.fingerprint());
            let same = same.filter(|_| !entry.causes.is_empty());
            let before: Vec<&&Entry> = same
                .into_iter()
                .flatten()
                .filter(|other| (&other.when, &other.id) < (&entry.when, &entry.id))
                .collect();
            RowView {
                seen_before: before.iter().take(3).map(|other| link(other)).collect(),
                times_before: before.len(),
                replaced: names.get(entry.input.as_str()) != Some(&entry.id.as_str()),
                entry: entry.clone(),
            }
        });
        let mut groups: Vec<Group> = marks
            .iter()
            .filter(|(_, same)| same.len() > 1)
            .map(|(mark, same)| group(mark, same))
            .collect();
        groups.sort_by(|a, b| {
            (b.nodes.len(), b.reports.len())
                .cmp(&(a.nodes.len(), a.reports.len()))
                .then_with(|| a.fingerprint.cmp(&b.fingerprint))
        });
        for group in &mut groups {
            group.reports.truncate(MOST_LINKS);
        }
        let values = |value: fn(&Entry) -> &String| {
            let mut all: Vec<String> = entries.iter().map(|entry| value(entry).clone()).collect();
            all.sort();
            all.dedup();
            all.retain(|value| !value.is_empty());
            all
        };
        Self {
            rows: rows.collect(),
            older: entries.len().saturating_sub(MOST_ROWS),
            groups,
            days: days(entries),
            unknown: unknown(entries),
            verdicts: values(|entry| &entry.verdict),
            severities: values(|entry| &entry.severity),
            clusters: values(|entry| &entry.cluster),
            ..Self::default()
        }
    }
}

fn group(mark: &str, same: &[&Entry]) -> Group {
    let mut nodes: Vec<String> = same.iter().map(|entry| entry.node.clone()).collect();
    nodes.sort();
    nodes.dedup();
    Group {
        fingerprint: mark.to_owned(),
        cause: same[0]
            .causes
            .first()
            .map(|cause| cause.id.clone())
            .unwrap_or_default(),
        title: same[0].title.clone(),
        nodes,
        first: same
            .last()
            .map(|entry| entry.when.clone())
            .unwrap_or_default(),
        last: same[0].when.clone(),
        reports: same
            .iter()
            .map(|entry| (entry.id.clone(), entry.node.clone(), entry.when.clone()))
            .collect(),
    }
}

fn days(entries: &[Entry]) -> Vec<Day> {
    let mut days: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    for entry in entries {
        days.entry(entry.when.get(..10).unwrap_or(""))
            .or_default()
            .push(entry);
    }
    let mut out: Vec<Day> = days
        .into_iter()
        .map(|(day, entries)| {
            let sick = |entry: &&&Entry| ["confirmed", "likely"].contains(&entry.verdict.as_str());
            let mut causes: BTreeMap<&str, u64> = BTreeMap::new();
            for cause in entries
                .iter()
                .filter(sick)
                .filter_map(|entry| entry.causes.first())
            {
                *causes.entry(&cause.id).or_default() += 1;
            }
            let mut causes: Vec<_> = causes
                .into_iter()
                .map(|(id, n)| (id.to_owned(), n))
                .collect();
            causes.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            causes.truncate(5);
            Day {
                day: day.to_owned(),
                bundles: entries.len() as u64,
                sick: entries.iter().filter(sick).count() as u64,
                causes,
            }
        })
        .collect();
    out.reverse();
    out.truncate(30);
    out
}

fn unknown(entries: &[Entry]) -> Vec<(String, u64, u64)> {
    let mut all: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (template, count) in entries.iter().flat_map(|entry| &entry.unknown) {
        let sum = all.entry(template).or_default();
        sum.0 += 1;
        sum.1 += count;
    }
    let mut all: Vec<_> = all
        .into_iter()
        .map(|(text, (n, count))| (text.to_owned(), n, count))
        .collect();
    all.sort_by(|a, b| (b.1, b.2).cmp(&(a.1, a.2)).then_with(|| a.0.cmp(&b.0)));
    all.truncate(25);
    all
}
