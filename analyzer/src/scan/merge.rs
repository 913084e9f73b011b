//! Alike lines that stood in different pieces and entries, added up.

use std::collections::{BTreeMap, BTreeSet};

use super::patterns::Hit;
use crate::facts::kube::Pod;
use crate::facts::{AnyFact, Fact, Facts};
use crate::model::Place;
use crate::parsers::{Parsed, Repeated, Statement};

/// Different groups kept of one pattern over the whole bundle.
pub(super) const GROUPS_PER_PATTERN: usize = 400;

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

/// Leaves out what a plain line of a text said where the object around that line says it too, and knows
/// what it is about.
pub(super) fn without_doubles(mut hits: Vec<Hit>) -> Vec<Hit> {
    let about: BTreeSet<(usize, Place)> = hits
        .iter()
        .filter(|hit| !hit.subject.is_empty())
        .map(|hit| (hit.pattern, hit.place.clone()))
        .collect();
    hits.retain(|hit| {
        !hit.subject.is_empty() || !about.contains(&(hit.pattern, hit.place.clone()))
    });
    hits
}

pub(super) fn merge_hits(mut hits: Vec<Hit>) -> Vec<Hit> {
    in_order(&mut hits);
    hits.dedup_by(|later, first| {
        let alike = later.key() == first.key();
        if alike {
            first.absorb(later);
        }
        alike
    });
    let mut kept: BTreeMap<usize, usize> = BTreeMap::new();
    hits.retain(|hit| {
        let count = kept.entry(hit.pattern).or_default();
        *count += 1;
        *count <= GROUPS_PER_PATTERN
    });
    hits.shrink_to_fit();
    hits
}

/// Orders hits by what makes them alike, and alike ones by their places. Hits are large: their numbers are sorted, and
/// each is moved once.
fn in_order(hits: &mut [Hit]) {
    let mut order: Vec<usize> = (0..hits.len()).collect();
    order.sort_by(|a, b| {
        let (a, b) = (&hits[*a], &hits[*b]);
        (a.key(), &a.place).cmp(&(b.key(), &b.place))
    });
    for start in 0..order.len() {
        let mut at = start;
        while order[at] != start {
            let next = order[at];
            hits.swap(at, next);
            order[at] = at;
            at = next;
        }
        order[at] = at;
    }
}

/// Takes the lines of a later piece of an entry, whose places count from the piece's beginning.
pub(super) fn moved<S>(lines: Vec<Repeated<S>>, before: u32, into: &mut Vec<Repeated<S>>) {
    for mut line in lines {
        shift_place(&mut line.place, before);
        into.push(line);
    }
}

/// Makes facts of lines, alike ones added up.
pub(super) fn state_all<S>(lines: Vec<Repeated<S>>, facts: &mut Facts)
where
    S: Statement + Send + Sync + 'static,
{
    for line in merge_alike(lines) {
        facts.add(AnyFact::new(Fact {
            place: line.place.clone(),
            text: line.text.clone(),
            at: line.at,
            data: line,
        }));
    }
}

/// Adds up alike lines of one entry that stood in different pieces of it.
fn merge_alike<S: Statement>(mut lines: Vec<Repeated<S>>) -> Vec<Repeated<S>> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::{Channel, Origin};
    use crate::scan::patterns::{Expression, LinePattern, Patterns};

    #[test]
    fn hits_come_into_the_order_of_what_makes_them_alike_and_of_their_places() {
        let pattern = LinePattern {
            regex: Expression::new(r"lost (?P<what>\w+)"),
            channels: Vec::new(),
            speaker: None,
            nature: None,
        };
        let patterns = Patterns::new(vec![pattern]);
        let lines = (0..40u32).map(|line| format!("lost item{}\n", line * 7 % 11));
        let text: String = lines.collect();
        let mut hits = Vec::new();
        for path in ["b.log", "c.log", "a.log"] {
            let origin = Origin::of(path, Channel::Text);
            hits.extend(patterns.search(&origin, text.as_bytes()).hits);
        }
        let mut sorted = hits.clone();
        sorted.sort_by(|a, b| (a.key(), &a.place).cmp(&(b.key(), &b.place)));
        in_order(&mut hits);
        assert_eq!(hits, sorted);
        let merged = merge_hits(hits);
        assert_eq!(merged.len(), 11);
        assert!(
            merged
                .iter()
                .all(|hit| hit.also.len() == 2 && hit.place.path == "a.log")
        );
    }
}
