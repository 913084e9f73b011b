//! Whether a group of signals holds, and on what.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::engine::Sighting;
use super::file::{Group, Same};

/// A group that holds.
#[derive(Debug, Clone)]
pub(super) struct Holding<'r> {
    /// The group.
    pub(super) group: &'r Group,
    /// What its signals share, if they must share something and it is known.
    pub(super) shared: Option<String>,
}

/// Whether all, one of and none of its signals were seen; with `same`, on one node, file or subject.
///
/// Where nothing says what a line is about, it may be about anything: a pasted line names no node.
pub(super) fn holds<'r>(
    group: &'r Group,
    seen: &BTreeMap<&str, Vec<Arc<Sighting>>>,
) -> Option<Holding<'r>> {
    let sightings = |signal: &str| seen.get(signal).map_or(&[][..], Vec::as_slice);
    if matches!(group.same, None | Some(Same::Cluster)) {
        let holds = holds_where(group, |signal| !sightings(signal).is_empty());
        return holds.then_some(Holding {
            group,
            shared: None,
        });
    }
    let wanted = group.all.iter().chain(&group.any);
    let keys: BTreeSet<&str> = wanted
        .flat_map(|signal| sightings(signal))
        .map(|one| key(group.same, one))
        .filter(|key| !key.is_empty())
        .collect();
    let on = |shared: &str| {
        let there = |signal: &str| {
            let mut all = sightings(signal).iter();
            all.any(|one| shares(group.same, one, shared))
        };
        holds_where(group, there).then(|| Holding {
            group,
            shared: Some(shared.to_owned()).filter(|shared| !shared.is_empty()),
        })
    };
    if keys.is_empty() {
        return on("");
    }
    keys.into_iter().find_map(on)
}

fn holds_where(group: &Group, seen: impl Fn(&str) -> bool) -> bool {
    group.all.iter().all(|signal| seen(signal))
        && (group.any.is_empty() || group.any.iter().any(|signal| seen(signal)))
        && !group.none.iter().any(|signal| seen(signal))
}

/// Whether a sighting may be about this node, file or subject.
pub(super) fn shares(same: Option<Same>, sighting: &Sighting, shared: &str) -> bool {
    let key = key(same, sighting);
    key.is_empty() || key == shared
}

fn key(same: Option<Same>, sighting: &Sighting) -> &str {
    match same {
        Some(Same::Node) => &sighting.node,
        Some(Same::File) => &sighting.place.path,
        Some(Same::Subject) => &sighting.subject,
        Some(Same::Cluster) | None => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Place;

    fn on(node: &str) -> Sighting {
        let place = Place {
            path: "x".into(),
            line: Some(1),
        };
        Sighting {
            subject: "".into(),
            node: node.into(),
            ..Sighting::of_place(place)
        }
    }

    fn group(same: Option<Same>) -> Group {
        Group {
            all: vec!["a".into(), "b".into()],
            none: vec!["c".into()],
            same,
            ..Group::default()
        }
    }

    fn shared(same: Option<Same>, a: &[&str], b: &[&str], c: &[&str]) -> Option<Option<String>> {
        let all = |nodes: &[&str]| {
            nodes
                .iter()
                .map(|node| Arc::new(on(node)))
                .collect::<Vec<_>>()
        };
        let mut seen = BTreeMap::from([("a", all(a)), ("b", all(b)), ("c", all(c))]);
        seen.retain(|_, sightings| !sightings.is_empty());
        holds(&group(same), &seen).map(|holding| holding.shared)
    }

    #[test]
    fn lines_of_two_nodes_hold_a_group_only_if_it_does_not_ask_for_one_node() {
        assert_eq!(shared(None, &["n1"], &["n2"], &[]), Some(None));
        assert_eq!(shared(Some(Same::Node), &["n1"], &["n2"], &[]), None);
        let found = shared(Some(Same::Node), &["n1", "n2"], &["n2"], &[]);
        assert_eq!(found, Some(Some("n2".into())));
    }

    #[test]
    fn what_speaks_against_one_node_does_not_acquit_another() {
        let found = shared(Some(Same::Node), &["n1", "n2"], &["n1", "n2"], &["n1"]);
        assert_eq!(found, Some(Some("n2".into())));
        assert_eq!(shared(None, &["n1", "n2"], &["n1", "n2"], &["n1"]), None);
    }

    #[test]
    fn a_line_that_names_no_node_may_be_about_any() {
        assert_eq!(
            shared(Some(Same::Node), &[""], &["n1"], &[]),
            Some(Some("n1".into()))
        );
        assert_eq!(shared(Some(Same::Node), &[""], &[""], &[]), Some(None));
        // One that may be about it also speaks against it.
        assert_eq!(shared(Some(Same::Node), &["n1"], &["n1"], &[""]), None);
    }
}
