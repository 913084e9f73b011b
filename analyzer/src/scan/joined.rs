//! Bundles of several nodes of one cluster, read as one input.
//!
//! Each node's files come from its own bundle. Objects of the cluster were taken by every bundle at another
//! moment: of one object the newest copy counts, by its uid. Their places start with `<node>:`, the node of the
//! bundle that holds the line.

use std::collections::{BTreeMap, BTreeSet};

use casefile_bundle::{Input, Keys, Limits, OpenError, Outcome, Summary};
use serde::Deserialize;

use super::leftovers::{Tally, state_source};
use super::out::Out;
use super::patterns::Patterns;
use super::settled::Settling;
use super::sink::Sink;
use super::spill::Spill;
use super::{Budget, Documents, Gather, Router, Scanned, node_of};
use crate::facts::Facts;
use crate::join::Member;
use crate::model::{Place, Problem};
use crate::parsers::Read;

/// The node whose bundle holds each entry of the cluster.
pub type Homes = BTreeMap<String, String>;

/// The path of an entry inside its bundle, without the node that a joined analysis puts before it.
pub fn within(path: &str) -> &str {
    match path.split_once(':') {
        Some((node, rest)) if !node.contains('/') => rest,
        _ => path,
    }
}

/// Reads bundles of one cluster, the newest first, as if the entries named in `instead` held those texts.
pub(crate) fn scan(
    members: &[Member],
    keys: Option<&Keys>,
    (patterns, router, budget): (&Patterns, &Router, Budget),
    instead: &Documents,
) -> Result<Scanned, OpenError> {
    let mut share = Share::new(members, router);
    let (spill, settling) = (Spill::new(budget), Settling::new(budget));
    let mut gather = Gather::new(patterns, router, (&spill, &settling));
    let mut problems = Vec::new();
    for (index, member) in members.iter().enumerate() {
        let sink = Sink {
            patterns,
            router,
            uids: true,
            plan: None,
            spill: &spill,
            settling: &settling,
            passes_over: &|path| instead.contains_key(path) || !share.counts(index, path),
        };
        let (summary, mut outputs) =
            casefile_bundle::scan(Input::new(&member.input, keys), &Limits::default(), &sink)?;
        outputs.extend(sink.cut());
        outputs.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
        problems.extend(
            summary
                .problems
                .iter()
                .map(|problem| of_reader(member, problem)),
        );
        let mut outputs = outputs.into_iter().peekable();
        while let Some((path, _, first)) = outputs.next() {
            let mut pieces = vec![Out::from(first)];
            while let Some((_, _, out)) = outputs.next_if(|(next, _, _)| *next == path) {
                pieces.push(out.into());
            }
            let counts = share.take(index, path.as_str(), &mut pieces);
            if counts && !instead.contains_key(path.as_str()) {
                gather.entry(&path, pieces);
            }
        }
        share.close();
    }
    gather.texts(instead);
    gather.paths.sort();
    gather.paths.dedup();
    patterns.rest();
    let mut scanned = gather.finish(summary(members, &share.homes));
    scanned.problems.extend(problems);
    lead_home(&share.homes, &mut scanned.facts, &mut scanned.problems);
    for hit in &mut scanned.hits {
        home(&share.homes, &mut hit.place);
    }
    scanned.leftovers = share.tally.said(members);
    scanned.homes = share.homes;
    scanned.problems.sort();
    Ok(scanned)
}

/// Puts the node of the bundle before the places of facts that were read or derived from cluster entries.
pub(crate) fn lead_home(homes: &Homes, facts: &mut Facts, problems: &mut [Problem]) {
    if homes.is_empty() {
        return;
    }
    facts.rewrite(&mut |place, _| home(homes, place));
    for problem in problems {
        home(homes, &mut problem.place);
    }
}

fn home(homes: &Homes, place: &mut Place) {
    if let Some(node) = homes.get(place.path.as_str()) {
        place.path = format!("{node}:{}", place.path).into();
    }
}

fn of_reader(member: &Member, problem: &casefile_bundle::ReadProblem) -> Problem {
    Problem {
        place: Place::default(),
        text: format!("{}: {problem}", member.name),
    }
}

/// Which entry and which object is taken from which bundle.
struct Share<'a> {
    members: &'a [Member],
    router: &'a Router,
    homes: Homes,
    /// Objects taken from the bundles before this one, and from this one.
    known: BTreeSet<String>,
    new: BTreeSet<String>,
    /// What the older bundles add.
    tally: Tally,
}

impl<'a> Share<'a> {
    fn new(members: &'a [Member], router: &'a Router) -> Self {
        Self {
            members,
            router,
            homes: Homes::new(),
            known: BTreeSet::new(),
            new: BTreeSet::new(),
            tally: Tally::default(),
        }
    }

    /// Whether this entry of this bundle counts; of a list some objects may.
    fn counts(&self, index: usize, path: &str) -> bool {
        let member = &self.members[index];
        let node = node_of(path);
        if node.is_empty() {
            let first = || self.is_list(path) || !self.homes.contains_key(path);
            return !is_deleted(&self.members[..index], path) && first();
        }
        // What another node's API said of a node gives way to the node's own word, then to the newest.
        let better = |other: &Member| other.node == node && other.paths.contains(path);
        let newer = self.members[..index]
            .iter()
            .any(|one| one.paths.contains(path));
        node == member.node || !(self.members.iter().any(better) || newer)
    }

    fn is_list(&self, path: &str) -> bool {
        let read = self.router.parser(path).map(|one| one.read);
        matches!(read, Some(Read::Items(_)))
    }

    /// Whether this entry of this bundle counts; takes out of its pieces what a newer bundle said.
    fn take(&mut self, index: usize, path: &str, pieces: &mut [Out]) -> bool {
        if !self.counts(index, path) {
            return false;
        }
        if !node_of(path).is_empty() {
            return true;
        }
        let member = &self.members[index];
        let first = !self.homes.contains_key(path);
        if self.is_list(path) && pieces.iter().all(|piece| piece.kept.is_empty()) {
            for piece in pieces.iter_mut() {
                let added = self.without_known(piece);
                self.tally.add(path, index, added);
                piece.lead_home(&member.node);
            }
            self.homes
                .entry(path.to_owned())
                .or_insert_with(|| member.node.clone());
            return true;
        }
        if first {
            self.homes.insert(path.to_owned(), member.node.clone());
            self.tally.add(path, index, 1);
        }
        first
    }

    /// Takes out of a piece what newer bundles said; how many objects are left.
    fn without_known(&mut self, piece: &mut Out) -> usize {
        let known = &self.known;
        let dropped: BTreeSet<u32> = piece
            .uids
            .iter()
            .filter(|(_, uid)| known.contains(uid))
            .map(|(line, _)| *line)
            .collect();
        let stays = |place: &Place| place.line.is_none_or(|line| !dropped.contains(&line));
        if !dropped.is_empty() {
            piece.parsed.facts.retain_mut(|facts| {
                facts.retain(&stays);
                facts.count() > 0
            });
            piece.hits.retain(|hit| stays(&hit.place));
        }
        let uids = std::mem::take(&mut piece.uids);
        let left = uids.len().saturating_sub(dropped.len());
        self.new.extend(uids.into_iter().map(|(_, uid)| uid));
        left
    }

    /// Ends a bundle: what it held is known to the older ones.
    fn close(&mut self) {
        self.known.append(&mut self.new);
    }
}

/// Of the bundles that hold a cluster entry, newest first, those that count: a newer bundle that took everything
/// of its source says that what it lacks is no more.
pub(crate) fn without_deleted(members: &[Member], path: &str, holding: &[usize]) -> Vec<usize> {
    let counts = |index: &&usize| !is_deleted(&members[..**index], path);
    holding.iter().filter(counts).copied().collect()
}

/// Whether a newer bundle took everything of this entry's source, so that what it lacks is no more. Logs
/// and events of what is gone stay: they tell what happened.
fn is_deleted(newer: &[Member], path: &str) -> bool {
    let Some(source) = state_source(path) else {
        return false;
    };
    let manifests = newer.iter().filter_map(|one| one.summary.manifest.as_ref());
    let mut reports = manifests.flat_map(|one| &one.sources);
    reports.any(|report| report.id == source && report.outcome == Outcome::Collected)
}

/// The uid of an object, if the line is one.
pub(super) fn uid(line: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Object {
        metadata: Metadata,
    }
    #[derive(Deserialize)]
    struct Metadata {
        uid: Option<String>,
    }
    let line = line.trim_ascii();
    let line = line.strip_suffix(b",").unwrap_or(line);
    serde_json::from_slice::<Object>(line).ok()?.metadata.uid
}

/// One summary of all: the span of time, the sums, and the entries that were taken.
fn summary(members: &[Member], homes: &Homes) -> Summary {
    let summaries = || members.iter().map(|one| &one.summary);
    let manifests = || summaries().filter_map(|one| one.manifest.as_ref());
    let mut header = summaries().find_map(|one| one.header.clone());
    let mut manifest = manifests().next().cloned();
    let mut nodes: Vec<&str> = members.iter().map(|one| one.node.as_str()).collect();
    nodes.sort_unstable();
    let started = summaries()
        .filter_map(|one| Some(one.header.as_ref()?.started))
        .min();
    if let (Some(header), Some(started)) = (&mut header, started) {
        header.node = nodes.join(", ");
        header.started = started;
    }
    if let Some(manifest) = &mut manifest {
        manifest.finished = manifests()
            .map(|one| one.finished)
            .max()
            .unwrap_or(manifest.finished);
        let stopped = members.iter().filter_map(|one| {
            let why = one.summary.manifest.as_ref()?.interrupted.as_ref()?;
            Some(format!("{}: {why}", one.node))
        });
        let stopped: Vec<String> = stopped.collect();
        manifest.interrupted = (!stopped.is_empty()).then(|| stopped.join("; "));
        manifest.entries = members.iter().flat_map(|one| entries(one, homes)).collect();
    }
    Summary {
        header,
        manifest,
        problems: Vec::new(),
        cut_short: summaries().any(|one| one.cut_short),
        entries: summaries().map(|one| one.entries).sum(),
        bytes: summaries().map(|one| one.bytes).sum(),
        form: members
            .first()
            .map_or(casefile_bundle::Form::Bundle, |one| one.summary.form),
    }
}

/// A bundle's entries under the paths that places of the joined analysis have.
fn entries<'a>(
    member: &'a Member,
    homes: &'a Homes,
) -> impl Iterator<Item = casefile_bundle::EntryRecord> + 'a {
    let manifest = member.summary.manifest.iter();
    manifest.flat_map(|one| &one.entries).filter_map(|entry| {
        let path = entry.path.as_str();
        if node_of(path) == member.node {
            return Some(entry.clone());
        }
        homes.get(path)?;
        let mut entry = entry.clone();
        entry.path = casefile_bundle::BundlePath::new(&format!("{}:{path}", member.node)).ok()?;
        Some(entry)
    })
}

impl Out {
    /// Puts the node of the bundle before the places of everything read from a list.
    fn lead_home(&mut self, node: &str) {
        let lead = |place: &mut Place| place.path = format!("{node}:{}", place.path).into();
        for fact in &mut self.parsed.facts {
            fact.rewrite(&mut |place, _| lead(place));
        }
        self.parsed
            .problems
            .iter_mut()
            .for_each(|one| lead(&mut one.place));
        self.hits.iter_mut().for_each(|one| lead(&mut one.place));
    }
}
