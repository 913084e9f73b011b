//! Sources of a bundle: which there are, and which of them this input has.
//!
//! Not collected is not empty. With a manifest its outcomes decide; without one (a folder, a cut
//! bundle, pasted text) a source counts as there if any of its entries is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

pub use casefile_bundle::sources::{About, SOURCES, find};
use casefile_bundle::{Outcome, Summary};

use crate::join::Member;
use crate::layouts::{Counted, Plan};
use crate::lines::node_of;
use crate::model::{Coverage, Place};

/// What is to be said of a source, by its id.
pub type Leftovers = BTreeMap<&'static str, String>;

/// Why an older bundle has nothing of a source.
pub(crate) const UNKNOWN_TO_COLLECTOR: &str = "the bundle does not list this source";

/// The source that writes this entry.
pub fn of_entry(path: &str) -> Option<&'static About> {
    let mut sources = SOURCES.iter().copied();
    sources.find(|source| is_of(source, path))
}

/// Which sources this input has.
pub struct Availability {
    coverage: Vec<Coverage>,
    there: Vec<&'static str>,
}

impl Availability {
    /// Reads it from the manifest, or from the entries where there is none.
    pub fn of(summary: &Summary, paths: &[String]) -> Self {
        let mut there = Vec::new();
        let mut coverage = Vec::new();
        for source in SOURCES {
            let record = summary
                .manifest
                .as_ref()
                .and_then(|manifest| manifest.sources.iter().find(|one| one.id == source.id));
            let entries = paths.iter().any(|path| is_of(source, path));
            let (outcome, why, missing, is_there) = match record {
                Some(record) => {
                    let there = matches!(record.outcome, Outcome::Collected | Outcome::Partial);
                    let (why, notes) = (record.why.clone(), record.notes.clone());
                    (outcome_word(record.outcome).to_owned(), why, notes, there)
                }
                None if entries => ("unknown".to_owned(), no_record(summary), Vec::new(), true),
                None => ("absent".to_owned(), no_record(summary), Vec::new(), false),
            };
            if is_there {
                there.push(source.id);
            }
            if !source.expected {
                continue;
            }
            coverage.push(Coverage {
                source: source.id.to_owned(),
                title: source.title.to_owned(),
                outcome,
                why,
                missing,
                so_we_cannot_say: Vec::new(),
            });
        }
        add_foreign(summary, &mut coverage);
        Self { coverage, there }
    }

    /// The same for the bundles of a cluster's nodes: one that could ask the cluster suffices for what is the
    /// cluster's, but what is a node's must be there of every node.
    pub fn joined(members: &[Member]) -> Self {
        let of = |member: &Member| {
            let paths: Vec<String> = member.paths.iter().cloned().collect();
            Self::of(&member.summary, &paths)
        };
        let mut each: Vec<(&str, Self)> = members
            .iter()
            .map(|member| (member.node.as_str(), of(member)))
            .collect();
        each.sort_by_key(|(node, _)| *node);
        let have = |source: &About| {
            let mut nodes = each.iter().filter(|(_, one)| !one.is_of_cluster_only());
            if source.is_of_cluster() {
                each.iter().any(|(_, one)| one.has(source.id))
            } else {
                nodes.all(|(_, one)| one.has(source.id))
            }
        };
        let there = SOURCES
            .iter()
            .filter(|source| have(source))
            .map(|source| source.id)
            .collect();
        Self {
            there,
            coverage: joined_rows(&each),
        }
    }

    /// Whether nothing of a node was asked for (`--cluster-only`).
    fn is_of_cluster_only(&self) -> bool {
        let mut of_node = self
            .coverage
            .iter()
            .filter(|row| find(&row.source).is_some_and(|source| !source.is_of_cluster()));
        of_node.all(|row| row.outcome == "skipped")
    }

    /// Whether the source was collected, at least in part.
    pub fn has(&self, source: &str) -> bool {
        self.there.contains(&source)
    }

    /// Notes the sources of which a text holds pieces: a piece is no source, but it was seen.
    pub fn with_pieces(mut self, origins: &BTreeMap<String, Place>) -> Self {
        for row in self
            .coverage
            .iter_mut()
            .filter(|row| row.outcome == "absent")
        {
            let source = find(&row.source);
            let covered = |path: &str| source.is_some_and(|source| is_of(source, path));
            if let Some((_, place)) = origins.iter().find(|(path, _)| covered(path)) {
                row.outcome = "excerpt".into();
                row.why = Some(format!("only what was pasted, for example {place}"));
            }
        }
        self
    }

    /// Says which tools took an input that is no bundle of ours, how much of it is understood, and names what is not.
    pub fn with_captures(mut self, plan: &Plan, paths: &[String], not_read: &[&str]) -> Self {
        const NAMED: usize = 40;
        let Some(first) = plan.captures.first() else {
            return self;
        };
        for row in &mut self.coverage {
            row.why = match row.outcome.as_str() {
                "unknown" => Some(format!(
                    "as {} took it; whether it took all is not known{}",
                    first.title,
                    lacking(&row.source, paths)
                )),
                "absent" => Some(format!("not part of {}", first.title)),
                _ => row.why.take(),
            };
        }
        let mut large: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
        for path in not_read {
            if let Some(index) = plan.capture_of(path) {
                large.entry(index).or_default().push(path);
            }
        }
        for (index, (capture, counted)) in plan.captures.iter().zip(plan.counted()).enumerate() {
            let unknown = &counted.unknown;
            let version = capture.identity.version.as_deref().unwrap_or("");
            let of = capture
                .identity
                .node
                .as_deref()
                .map_or_else(String::new, |node| format!(" of {node}"));
            let named = unknown.iter().take(NAMED).map(|(path, size)| match size {
                Some(size) => format!("{path} ({size} bytes): not understood"),
                None => format!("{path}: not understood"),
            });
            let too_large = large.get(&index).into_iter().flatten();
            let too_large =
                too_large.map(|path| format!("{path}: too large to be read as a whole"));
            let mut missing: Vec<String> = too_large.chain(named).collect();
            if unknown.len() > NAMED {
                missing.push(format!(
                    "{} more files: not understood",
                    unknown.len() - NAMED
                ));
            }
            self.coverage.push(Coverage {
                source: format!("capture:{}", capture.root),
                title: format!("{} {version}", capture.title).trim_end().to_owned() + &of,
                outcome: if missing.is_empty() {
                    "collected"
                } else {
                    "partial"
                }
                .to_owned(),
                why: Some(parts(&counted)),
                missing,
                so_we_cannot_say: Vec::new(),
            });
        }
        self
    }

    /// Says of a source that was taken whole by an older bundle and in part by a newer one what that means.
    pub fn with_leftovers(mut self, leftovers: &Leftovers) -> Self {
        for row in &mut self.coverage {
            let Some(said) = leftovers.get(row.source.as_str()) else {
                continue;
            };
            row.outcome = outcome_word(Outcome::Partial).to_owned();
            row.why = Some(match row.why.take() {
                Some(why) => format!("{why}; {said}"),
                None => said.clone(),
            });
        }
        self
    }

    /// The coverage rows, to be completed with what cannot be said.
    pub fn into_coverage(self) -> Vec<Coverage> {
        self.coverage
    }
}

/// Rows of several bundles: the best of what is the cluster's; what is a node's once for all nodes of which
/// the same is to be said.
fn joined_rows(each: &[(&str, Availability)]) -> Vec<Coverage> {
    let mut order: Vec<&str> = Vec::new();
    for row in each.iter().flat_map(|(_, one)| &one.coverage) {
        if !order.contains(&row.source.as_str()) {
            order.push(&row.source);
        }
    }
    let mut rows = Vec::new();
    for source in order {
        let of = |one: &'_ Availability| {
            one.coverage
                .iter()
                .find(|row| row.source == source)
                .cloned()
        };
        let mut all: Vec<(&str, Coverage)> = each
            .iter()
            .filter_map(|(node, one)| Some((*node, of(one)?)))
            .collect();
        if find(source).is_some_and(About::is_of_cluster) {
            all.sort_by_key(|(_, row)| rank(&row.outcome));
            all.truncate(1);
        }
        let mut alike: Vec<(Vec<&str>, Coverage)> = Vec::new();
        for (node, row) in all {
            match alike.iter_mut().find(|(_, known)| *known == row) {
                Some((nodes, _)) => nodes.push(node),
                None => alike.push((vec![node], row)),
            }
        }
        let several = alike.len() > 1;
        rows.extend(alike.into_iter().map(|(nodes, mut row)| {
            if several {
                row.title = format!("{} on {}", row.title, nodes.join(", "));
            }
            row
        }));
    }
    rows
}

/// How the files of a capture are read, in words.
fn parts(counted: &Counted<'_>) -> String {
    let bytes: u64 = counted.unknown.iter().filter_map(|(_, size)| *size).sum();
    let unknown = match bytes {
        0 => String::new(),
        bytes => format!(" ({bytes} bytes)"),
    };
    let parts = [
        (counted.known, "read", String::new()),
        (counted.by_content, "read by content", String::new()),
        (counted.doubles, "repeat others", String::new()),
        (counted.unknown.len(), "not understood", unknown),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(files, _, _)| *files > 0)
        .map(|(files, how, more)| format!("{files} {how}{more}"))
        .collect();
    let files = match counted.files {
        1 => "1 file".to_owned(),
        files => format!("{files} files"),
    };
    format!("{files}: {}", parts.join(", "))
}

/// The nodes of a capture that lack what others of it have of a source; empty where none does.
fn lacking(source: &str, paths: &[String]) -> String {
    const NAMED: usize = 8;
    let Some(source) = find(source).filter(|source| !source.is_of_cluster()) else {
        return String::new();
    };
    let nodes = |wanted: &dyn Fn(&str) -> bool| -> BTreeSet<String> {
        let paths = paths.iter().filter(|path| wanted(path));
        paths
            .map(|path| node_of(path).to_owned())
            .filter(|node| !node.is_empty())
            .collect()
    };
    let all = nodes(&|_| true);
    let have = nodes(&|path| is_of(source, path));
    let lack: Vec<&str> = all.difference(&have).map(String::as_str).collect();
    match lack.len() {
        0 => String::new(),
        few if few <= NAMED => format!("; absent of {}", lack.join(", ")),
        many => format!("; absent of {many} of {} nodes", all.len()),
    }
}

/// The order of outcomes, the fullest first.
fn rank(outcome: &str) -> usize {
    const ORDER: [&str; 5] = ["collected", "partial", "unknown", "skipped", "failed"];
    ORDER
        .iter()
        .position(|one| *one == outcome)
        .unwrap_or(ORDER.len())
}

/// Sources that no diagnosis expects, or that only the bundle knows (of a newer collector), are shown as it states them.
fn add_foreign(summary: &Summary, coverage: &mut Vec<Coverage>) {
    for record in summary
        .manifest
        .iter()
        .flat_map(|manifest| &manifest.sources)
    {
        if find(&record.id).is_none_or(|source| !source.expected) {
            coverage.push(Coverage {
                source: record.id.clone(),
                title: record.title.clone(),
                outcome: outcome_word(record.outcome).to_owned(),
                why: record.why.clone(),
                missing: record.notes.clone(),
                so_we_cannot_say: Vec::new(),
            });
        }
    }
}

/// Why nothing is said of a source.
fn no_record(summary: &Summary) -> Option<String> {
    let why = match (&summary.manifest, &summary.header) {
        (Some(_), _) => UNKNOWN_TO_COLLECTOR,
        (None, Some(_)) => "the bundle is cut short: its manifest is missing",
        (None, None) => "the input does not list what was collected",
    };
    Some(why.to_owned())
}

fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Collected => "collected",
        Outcome::Partial => "partial",
        Outcome::Skipped => "skipped",
        Outcome::Failed => "failed",
    }
}

/// Whether a source writes this entry. Asked of each path of an input, so the patterns are made once.
fn is_of(source: &About, path: &str) -> bool {
    static PATTERNS: LazyLock<BTreeMap<&str, Vec<String>>> = LazyLock::new(|| {
        let patterns = |source: &About| source.entries.iter().map(|entry| entry.path()).collect();
        SOURCES
            .iter()
            .map(|source| (source.id, patterns(source)))
            .collect()
    });
    PATTERNS
        .get(source.id)
        .is_some_and(|patterns| patterns.iter().any(|pattern| covers(pattern, path)))
}

/// Whether a pattern of [`About::entries`] covers a path: a prefix where `*` stands for one segment
/// or, with a file ending behind it, for the rest of a name.
fn covers(pattern: &str, path: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| path.strip_prefix(first)) else {
        return false;
    };
    for part in parts {
        let segment = rest.find('/').unwrap_or(rest.len());
        let (inside, after) = rest.split_at(segment);
        rest = if part.starts_with('/') {
            match after.strip_prefix(part) {
                Some(rest) => rest,
                None => return false,
            }
        } else if after.is_empty() && inside.ends_with(part) {
            ""
        } else {
            return false;
        };
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pod_logs_do_not_count_as_pod_objects() {
        let pattern = "cluster-resources/pods/*.json";
        assert!(covers(pattern, "cluster-resources/pods/default.json"));
        assert!(!covers(
            pattern,
            "cluster-resources/pods/logs/default/a/b.log"
        ));
        assert!(covers("nodes/*/journal/", "nodes/n/journal/kernel.json"));
        assert!(!covers("nodes/*/journal/", "nodes/n/commands/x.out"));
    }
}
