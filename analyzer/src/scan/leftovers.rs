//! Objects of the cluster that only an older bundle of a joined analysis holds, though a newer one asked for them.
//!
//! A newer bundle that took a source in part does not say of an object that it lacks whether it was deleted. Such
//! objects count as they were, and the report says so.

use std::collections::BTreeMap;

use casefile_bundle::{Outcome, entry};

use crate::join::Member;
use crate::sources;

pub use crate::sources::Leftovers;

/// Sources that tell the state of the cluster. Of events and logs the older bundles keep what happened.
const STATE: [&str; 2] = ["cluster_objects", "helm_releases"];

/// The source of an entry that tells the state of the cluster. Known by the path: a bundle that was cut short has no
/// manifest to say it.
pub(super) fn state_source(path: &str) -> Option<&'static str> {
    let id = match sources::of_entry(path) {
        Some(source) => source.id,
        None if path.starts_with(entry::OBJECTS) => "cluster_objects",
        None => return None,
    };
    STATE.contains(&id).then_some(id)
}

/// Whether a bundle has a source, but maybe not all of it.
fn in_part(member: &Member, source: &str) -> bool {
    match &member.summary.manifest {
        Some(manifest) => manifest
            .sources
            .iter()
            .any(|one| one.id == source && one.outcome == Outcome::Partial),
        None => member
            .paths
            .iter()
            .any(|path| state_source(path) == Some(source)),
    }
}

/// Counts what older bundles add.
#[derive(Default)]
pub(super) struct Tally {
    counted: BTreeMap<(&'static str, usize), usize>,
}

impl Tally {
    /// Notes objects of this entry that no newer bundle holds.
    pub(super) fn add(&mut self, path: &str, bundle: usize, objects: usize) {
        if let Some(source) = state_source(path).filter(|_| bundle > 0 && objects > 0) {
            *self.counted.entry((source, bundle)).or_default() += objects;
        }
    }

    /// The sentences; `members` are the newest first.
    pub(super) fn said(&self, members: &[Member]) -> Leftovers {
        let mut said = Leftovers::new();
        for source in STATE {
            let older: Vec<_> = self
                .counted
                .iter()
                .filter(|((of, bundle), _)| {
                    let newer = members[..*bundle].iter();
                    *of == source && newer.rev().any(|one| in_part(one, source))
                })
                .map(|((_, bundle), objects)| (&members[*bundle].name, *objects))
                .collect();
            let Some(newest) = members.iter().find(|one| in_part(one, source)) else {
                continue;
            };
            let number: usize = older.iter().map(|(_, objects)| objects).sum();
            if number == 0 {
                continue;
            }
            let names: Vec<&str> = older.iter().map(|(name, _)| name.as_str()).collect();
            let text = format!(
                "{} has it in part only, so what only older bundles hold counts as it was then and may be deleted by \
                 now: {} of {}",
                newest.name,
                crate::words::count(number as u64, "object"),
                names.join(", ")
            );
            said.insert(source, text);
        }
        said
    }
}
