//! Places in pieces of entries moved to where they stand in the entry, and alike lines added up.

use std::collections::BTreeSet;

use crate::facts::kube::Pod;
use crate::facts::{AnyFact, Fact, Facts};
use crate::model::Place;
use crate::parsers::{Parsed, Repeated, Statement};

pub(super) fn shift(parsed: &mut Parsed, lines: u32) {
    if lines == 0 {
        return;
    }
    for fact in &mut parsed.facts {
        fact.shift(lines);
    }
    for said in &mut parsed.said {
        shift_place(&mut said.place, lines);
    }
    for problem in &mut parsed.problems {
        shift_place(&mut problem.place, lines);
    }
}

pub(super) fn shift_place(place: &mut Place, lines: u32) {
    place.line = place.line.map(|line| line.saturating_add(lines));
}

/// The rows of tables without namespaces that name pods which another list of the input names with theirs: the same pods,
/// told once more with less.
pub(super) fn unplaced_pods(facts: &Facts) -> BTreeSet<Place> {
    let pods = || facts.table::<Pod>().iter();
    let bare = || pods().filter(|pod| pod.data.namespace.is_empty());
    if bare().next().is_none() {
        return BTreeSet::new();
    }
    let placed: BTreeSet<&str> = pods()
        .filter(|pod| !pod.data.namespace.is_empty())
        .map(|pod| pod.data.name.as_str())
        .collect();
    bare()
        .filter(|pod| placed.contains(pod.data.name.as_str()))
        .map(|pod| pod.place.clone())
        .collect()
}

/// Makes facts of lines, alike ones added up.
pub(super) fn state_all<S>(lines: Vec<Repeated<S>>, facts: &mut Facts)
where
    S: Statement + Send + Sync + 'static,
{
    for line in merge_alike(lines) {
        facts.add(AnyFact::new(Fact {
            place: line.place.clone(),
            text: line.text.as_str().into(),
            at: line.at,
            data: line,
        }));
    }
}

/// Adds up alike lines of one entry that stood in different pieces of it.
pub(super) fn merge_alike<S: Statement>(mut lines: Vec<Repeated<S>>) -> Vec<Repeated<S>> {
    let same = |a: &Repeated<S>, b: &Repeated<S>| {
        a.node == b.node && a.place.path == b.place.path && a.key() == b.key()
    };
    lines.sort_by(|a, b| {
        let order = a.node.cmp(&b.node);
        let order = order.then_with(|| a.place.path.cmp(&b.place.path));
        let order = order.then_with(|| a.key().cmp(&b.key()));
        order.then_with(|| a.place.cmp(&b.place))
    });
    let mut merged: Vec<Repeated<S>> = Vec::new();
    for line in lines {
        match merged.last_mut() {
            Some(last) if same(last, &line) => last.absorb(&line),
            _ => merged.push(line),
        }
    }
    merged
}
