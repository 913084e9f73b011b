//! Loose text of several clusters in one input: which lines are of which.
//!
//! Text that people paste does not say whose it is, except by marks: see [`MarkKind`]. Lines of two clusters must
//! not prove one cause together, so each cluster's lines are judged by themselves, and so is what belongs to neither.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::cluster::{ClusterMark, MarkKind};
use crate::facts::kube::{Node, Pod};
use crate::facts::{Facts, Rows};
use crate::model::Place;

/// Clusters that are judged; text with more is no ticket.
const MOST: usize = 6;
const KINDS: [MarkKind; 4] = [
    MarkKind::Uid,
    MarkKind::Name,
    MarkKind::Server,
    MarkKind::Nodes,
];

/// Which lines of the entries are of which cluster.
pub(crate) struct Apart {
    kind: MarkKind,
    /// What each cluster is known by.
    clusters: Vec<BTreeSet<String>>,
    /// Of each entry with a cluster: from which line on it is of which.
    stretches: BTreeMap<String, Vec<(u32, usize)>>,
    /// Entries of no known cluster.
    unknown: Vec<String>,
}

impl Apart {
    /// None where the marks speak of one cluster at most.
    pub(crate) fn of(facts: &Facts, paths: &[String]) -> Option<Self> {
        let marks = facts.table::<ClusterMark>();
        let (kind, clusters) = KINDS.into_iter().find_map(|kind| {
            let clusters = clusters(marks, kind);
            (clusters.len() > 1).then_some((kind, clusters))
        })?;
        let mut apart = Apart {
            kind,
            clusters,
            stretches: BTreeMap::new(),
            unknown: Vec::new(),
        };
        for mark in marks.iter().filter(|mark| mark.data.kind == kind) {
            if let Some(cluster) = apart.cluster(&mark.data.values) {
                let path = mark.place.path.clone();
                let line = mark.place.line.unwrap_or(1);
                let lines = apart.stretches.entry(path.to_string()).or_default();
                lines.push((line, cluster));
            }
        }
        apart.by_folder(paths);
        apart.by_nodes(facts, paths);
        for lines in apart.stretches.values_mut() {
            lines.sort_unstable();
            lines.dedup_by_key(|(_, cluster)| *cluster);
        }
        let known = |path: &&String| !apart.stretches.contains_key(*path);
        apart.unknown = paths.iter().filter(known).cloned().collect();
        Some(apart)
    }

    fn cluster(&self, values: &[String]) -> Option<usize> {
        let shares = |known: &BTreeSet<String>| values.iter().any(|value| known.contains(value));
        self.clusters.iter().position(shares)
    }

    /// Gives entries without a mark to the one cluster that marks beside them in their folder speak of.
    fn by_folder(&mut self, paths: &[String]) {
        let folder = |path: &str| path.split_once('/').map(|(folder, _)| folder.to_owned());
        let mut having: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        for (path, lines) in &self.stretches {
            let clusters = lines.iter().map(|(_, cluster)| *cluster);
            having
                .entry(folder(path).unwrap_or_default())
                .or_default()
                .extend(clusters);
        }
        for path in paths {
            let clusters = folder(path).and_then(|folder| having.get(&folder));
            if let Some(clusters) = clusters.filter(|clusters| clusters.len() == 1) {
                let of = clusters.iter().map(|cluster| (1, *cluster)).collect();
                self.stretches.entry(path.clone()).or_insert(of);
            }
        }
    }

    /// Gives entries without a mark to the one cluster whose nodes they speak of.
    fn by_nodes(&mut self, facts: &Facts, paths: &[String]) {
        let mut nodes: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (place, name) in named(facts) {
            nodes.entry(&place.path).or_default().insert(name);
        }
        let mut of_cluster = vec![BTreeSet::new(); self.clusters.len()];
        for (path, lines) in &self.stretches {
            // Whose nodes a text of two clusters names is not known.
            let first = lines.first().map(|(_, cluster)| *cluster);
            let only = first.filter(|first| lines.iter().all(|(_, other)| other == first));
            if let (Some(cluster), Some(names)) = (only, nodes.get(path.as_str())) {
                of_cluster[cluster].extend(names.iter().copied());
            }
        }
        for path in paths {
            let Some(names) = nodes.get(path.as_str()) else {
                continue;
            };
            let mut having =
                (0..of_cluster.len()).filter(|one| !of_cluster[*one].is_disjoint(names));
            if let (Some(one), None) = (having.next(), having.next())
                && !self.stretches.contains_key(path)
            {
                self.stretches.insert(path.clone(), vec![(1, one)]);
            }
        }
    }

    /// What is judged by itself: each cluster, and the text that is of no known cluster.
    pub(crate) fn parts(&self) -> Vec<Option<usize>> {
        let clusters = (0..self.clusters.len().min(MOST)).map(Some);
        let unknown = (!self.unknown.is_empty()).then_some(None);
        clusters.chain(unknown).collect()
    }

    /// Whether an entry is wholly of a part; none where it is so by some of its lines only.
    pub(crate) fn holds(&self, part: Option<usize>, path: &str) -> Option<bool> {
        let Some(lines) = self.stretches.get(path) else {
            return Some(part.is_none());
        };
        match lines.as_slice() {
            [(_, only)] => Some(part == Some(*only)),
            _ if lines.iter().any(|(_, one)| part == Some(*one)) => None,
            _ => Some(false),
        }
    }

    /// The text of an entry with the lines of others left empty, so that every line keeps its number.
    pub(crate) fn blanked(&self, part: Option<usize>, path: &str, text: &str) -> String {
        let stretches = self.stretches.get(path).map_or(&[][..], Vec::as_slice);
        let mut kept = String::with_capacity(text.len());
        for (line, number) in text.lines().zip(1_u32..) {
            let last = stretches.iter().rev().find(|(from, _)| *from <= number);
            // What stands before the first mark is of the first cluster.
            let of = last.or(stretches.first()).map(|(_, cluster)| *cluster);
            if of == part {
                kept.push_str(line);
            }
            kept.push('\n');
        }
        kept
    }

    /// Says what was found and done, for a person.
    pub(crate) fn told(&self) -> String {
        const SHOWN: usize = 3;
        let few = |names: &mut dyn Iterator<Item = &String>| {
            let names: Vec<&str> = names.map(String::as_str).collect();
            let more = names.len().saturating_sub(SHOWN);
            let shown = names[..names.len() - more].join(", ");
            if more == 0 {
                shown
            } else {
                format!("{shown} and {more} more")
            }
        };
        let clusters = self
            .clusters
            .iter()
            .enumerate()
            .take(MOST)
            .map(|(index, values)| {
                let mut files = self
                    .stretches
                    .iter()
                    .filter(|(_, lines)| lines.iter().any(|(_, one)| *one == index))
                    .map(|(path, _)| path);
                let (values, files) = (few(&mut values.iter()), few(&mut files));
                format!("{} {values} ({files})", self.kind.words())
            });
        let clusters = clusters.collect::<Vec<_>>().join("; ");
        let mut text = format!(
            "this looks like evidence of {} different clusters, known by {clusters}: each was judged by itself, and \
             nothing was concluded from lines of two",
            self.clusters.len()
        );
        if self.clusters.len() > MOST {
            text = format!("{text}; only the first {MOST} were judged");
        }
        if !self.unknown.is_empty() {
            let files = few(&mut self.unknown.iter());
            text = format!(
                "{text}; {files} do not say which they are of and were judged apart from them"
            );
        }
        text
    }
}

/// The values of a kind in groups that are one cluster each: lists of nodes that share a node are of one.
fn clusters(marks: Rows<'_, ClusterMark>, kind: MarkKind) -> Vec<BTreeSet<String>> {
    let mut groups: Vec<BTreeSet<String>> = Vec::new();
    for mark in marks.iter().filter(|mark| mark.data.kind == kind) {
        let mut all: BTreeSet<String> = mark.data.values.iter().cloned().collect();
        groups.retain(|group| {
            let apart = group.is_disjoint(&all);
            if !apart {
                all.extend(group.iter().cloned());
            }
            apart
        });
        groups.push(all);
    }
    groups.sort();
    groups
}

/// Nodes that entries name, with the place.
fn named(facts: &Facts) -> Vec<(&Place, &str)> {
    let nodes = facts.table::<Node>().iter();
    let nodes = nodes.map(|node| (&node.place, node.data.name.as_str()));
    let pods = facts.table::<Pod>().iter();
    let pods = pods.map(|pod| (&pod.place, pod.data.node.as_str()));
    let lists = facts.table::<ClusterMark>().iter();
    let lists = lists.filter(|mark| mark.data.kind == MarkKind::Nodes);
    let listed = lists.flat_map(|mark| {
        mark.data
            .values
            .iter()
            .map(|name| (&mark.place, name.as_str()))
    });
    let all = nodes.chain(pods).chain(listed);
    all.filter(|(_, name)| !name.is_empty()).collect()
}
