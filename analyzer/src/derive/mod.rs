//! Derivers: facts that follow from several others, such as what a containerd would do with its
//! configuration or a firewall with a packet. Rules never join; derivers join.
//!
//! To add one, write a file with a [`Deriver`] and name it in the list below: in a line of its own, or with those that it needs
//! no fact of and that need none of its own; these run at once.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};

use chrono::{DateTime, Utc};

use casefile_bundle::Manifest;

use crate::facts::said::SaidOtherwise;
use crate::facts::scheduling::PodFit;
use crate::facts::{self, AnyFact, FactType as _, Facts};
use crate::model::{Place, Problem};
use crate::scan::pasted::{self, Origins};
use crate::scan::{Documents, Scanned, joined};
use crate::scheduling::api;
use crate::spread;

/// Makes the modules of the derivers and the list of them.
macro_rules! derivers {
    ($($($seen:vis $deriver:ident),+;)*) => {
        $($($seen mod $deriver;)+)*

        /// All derivers, stage by stage; each sees the facts of the stages before its own.
        static STAGES: &[&[&Deriver]] = &[$(&[$(&$deriver::DERIVER,)+],)*];
    };
}

derivers! {
    pub(crate) containerd;
    runtimes;
    pub(crate) egress;
    pub(crate) network;
    hami;
    scheduling;
    gpu;
    failing, ending, cluster, moments, helm;
    flows;
}

/// What a deriver reads.
pub struct Known<'a> {
    /// Facts so far.
    pub facts: &'a Facts,
    /// Texts of entries that were kept.
    pub documents: &'a Documents,
    /// Paths of all entries, those of pasted pieces included.
    pub paths: &'a BTreeSet<&'a str>,
    /// Where pasted pieces stand in the texts that they came from.
    pub origins: &'a Origins,
    /// Entries that were not read whole, as they lie in their bundle.
    pub broken: &'a BTreeSet<String>,
    /// What the collector says of its work; none for other input and for a bundle that is cut short.
    pub manifest: Option<&'a Manifest>,
    /// The clock of the collection at its end; none for input that does not say.
    pub now: Option<DateTime<Utc>>,
    /// Entries were changed since they were collected, so that what programs said then is about another state.
    pub replayed: bool,
}

impl Known<'_> {
    /// The nodes that the bundle has files of, sorted.
    pub fn nodes(&self) -> Vec<String> {
        let nodes = self.paths.iter().map(|path| crate::scan::node_of(path));
        let nodes: BTreeSet<&str> = nodes.filter(|node| !node.is_empty()).collect();
        nodes.into_iter().map(str::to_owned).collect()
    }

    /// Whether an entry's path begins so.
    pub fn holds_any(&self, begin: &str) -> bool {
        let from = (Bound::Included(begin), Bound::Unbounded);
        let first = self.paths.range::<str, _>(from).next();
        first.is_some_and(|path| path.starts_with(begin))
    }
}

/// A registered deriver.
pub struct Deriver {
    /// Name, for problems and docs.
    pub id: &'static str,
    /// Joins facts into new ones.
    pub derive: fn(&Known<'_>) -> Vec<AnyFact>,
}

/// What derivers added, so that it can be taken out again.
#[derive(Debug, Default)]
pub struct Added {
    kinds: BTreeSet<&'static str>,
    mixed: bool,
}

impl Added {
    /// Takes the derived facts out, so that what was read can be changed and derived from again; false
    /// where they cannot be told from what was read.
    pub fn take_out(&self, scanned: &mut Scanned) -> bool {
        for kind in &self.kinds {
            scanned.facts.forget(kind);
        }
        !self.mixed
    }
}

/// A line of an entry that was kept as text, counted from 1.
pub(crate) fn line_at<'d>(documents: &'d Documents, path: &str, line: u32) -> Option<&'d str> {
    let before = usize::try_from(line).ok()?.checked_sub(1)?;
    documents.get(path)?.lines().nth(before)
}

/// The paths of all entries, those of pasted pieces included.
fn paths_of<'a>(paths: &'a [String], origins: &'a Origins) -> BTreeSet<&'a str> {
    let all = paths.iter().chain(origins.keys());
    all.map(String::as_str).collect()
}

/// Forgets what derivers alone read and what is large: each pod as the scheduler sees it.
pub(crate) fn let_go(scanned: &mut Scanned) {
    if let Some(pods) = scanned.facts.take(api::Pod::KIND) {
        spread::aside(move || drop(pods));
    }
}

/// Answers one question from what was read.
pub(crate) fn ask<T>(scanned: &Scanned, question: impl FnOnce(&Known<'_>) -> T) -> T {
    let paths = paths_of(&scanned.paths, &scanned.origins);
    question(&Known {
        broken: &BTreeSet::new(),
        facts: &scanned.facts,
        documents: &scanned.documents,
        paths: &paths,
        origins: &scanned.origins,
        manifest: scanned.summary.manifest.as_ref(),
        now: None,
        replayed: scanned.replayed,
    })
}

/// Where a program's own words contradict what is worked out from what was collected: that is ours to look into.
fn contradictions(scanned: &Scanned) -> Vec<Problem> {
    let otherwise = scanned.facts.table::<SaidOtherwise>().iter();
    let otherwise = otherwise.map(|fact| Problem {
        place: fact.place.clone(),
        text: format!(
            "node {}: {}; its simulation is not used",
            fact.data.node, fact.data.sentence
        ),
    });
    let fits = scanned.facts.table::<PodFit>().iter();
    let contradicted = fits.filter(|fit| fit.data.agrees == "no");
    let contradicted = contradicted
        .map(|fit| Problem {
            place: fit.place.clone(),
            text: format!(
                "pod {}/{}: the scheduler says \"{}\", which the collected objects do not give; its simulation is not used",
                fit.data.namespace, fit.data.name, fit.data.said
            ),
        });
    contradicted.chain(otherwise).collect()
}

/// What a deriver added, or its name where it failed, and the kinds of which it asked for the table.
type Derived = (Result<Vec<AnyFact>, &'static str>, BTreeSet<&'static str>);

/// What the derivers of a stage add, in order.
fn all_of(stage: &[&Deriver], known: &Known<'_>) -> Vec<Derived> {
    let derived = spread::each(stage, |deriver| {
        drop(facts::asked());
        let derive = AssertUnwindSafe(|| (deriver.derive)(known));
        let derived = catch_unwind(derive).map_err(|_| deriver.id);
        (derived, facts::asked())
    });
    let stage = || stage.iter().map(|one| one.id).collect::<Vec<_>>();
    debug_assert!(are_apart(&derived), "not apart: {:?}", stage());
    derived
}

/// Whether no deriver of a stage reads what another one of it adds.
fn are_apart(stage: &[Derived]) -> bool {
    let reads_of_another = |(at, (_, asked)): (usize, &Derived)| {
        let others = stage.iter().enumerate().filter(|(other, _)| *other != at);
        let added = others.filter_map(|(_, (derived, _))| derived.as_ref().ok());
        added.flatten().any(|fact| asked.contains(fact.kind()))
    };
    !stage.iter().enumerate().any(reads_of_another)
}

/// Runs all derivers. A deriver that fails costs its own facts only.
pub fn run(scanned: &mut Scanned) -> Added {
    let read: BTreeSet<&'static str> = scanned.facts.kinds().collect();
    // Facts of pasted texts get other places at the end, and do not get them twice.
    let mut added = Added {
        mixed: !scanned.origins.is_empty(),
        ..Added::default()
    };
    let paths = paths_of(&scanned.paths, &scanned.origins);
    let summary = &scanned.summary;
    let finished = summary.manifest.as_ref().map(|manifest| manifest.finished);
    let now = finished.or_else(|| summary.header.as_ref().map(|header| header.started));
    let problems = scanned.problems.iter();
    let broken: BTreeSet<String> = problems
        .map(|problem| joined::within(&problem.place.path).to_owned())
        .collect();
    for stage in STAGES {
        let known = Known {
            broken: &broken,
            facts: &scanned.facts,
            documents: &scanned.documents,
            paths: &paths,
            origins: &scanned.origins,
            manifest: summary.manifest.as_ref(),
            now,
            replayed: scanned.replayed,
        };
        let derived = all_of(stage, &known);
        let mut kinds: BTreeSet<&'static str> = BTreeSet::new();
        for (derived, _) in derived {
            match derived {
                Ok(facts) => {
                    kinds.extend(facts.iter().map(AnyFact::kind));
                    facts.into_iter().for_each(|fact| scanned.facts.add(fact));
                }
                Err(id) => scanned.problems.push(Problem {
                    place: Place::default(),
                    text: format!("deriver {id} failed; this is a bug in casefile"),
                }),
            }
        }
        for kind in kinds {
            scanned.facts.sort_kind(kind);
            added.mixed |= read.contains(kind);
            added.kinds.insert(kind);
        }
    }
    let contradicted = contradictions(scanned);
    scanned.problems.extend(contradicted);
    pasted::lead_back(&scanned.origins, &mut scanned.facts, &mut scanned.problems);
    pasted::lead_hits_back(&scanned.origins, &mut scanned.hits);
    joined::lead_home(&scanned.homes, &mut scanned.facts, &mut scanned.problems);
    scanned.facts.sort();
    added
}
