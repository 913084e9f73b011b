//! Causes that were seen in what a command printed of one object: no line names it, and the command or the head does.

use crate::facts::text::Printed;
use crate::facts::{Fact, FactType, Facts};
use crate::model::{Incident, Place, Role};
use crate::words;

/// Adds the object to what an incident is about, where nothing else says which that is.
pub(super) fn attribute(facts: &Facts, incidents: &mut [Incident]) {
    let typed = facts.table::<Printed>();
    for incident in incidents.iter_mut().filter(|_| !typed.is_empty()) {
        let mut subjects = incident.subjects.iter();
        if subjects.any(|one| !one.starts_with("node/") && !words::is_unnamed(one)) {
            continue;
        }
        let mut lines = incident.evidence.iter();
        let decisive = lines.find(|line| line.role == Role::For);
        let of = |line: &Place| typed.iter().find(|one| is_of(one, line));
        if let Some(own) = decisive.and_then(|line| of(&line.place)) {
            incident.subjects.retain(|one| !words::is_unnamed(one));
            incident.subjects.push(own.data.subject());
        }
    }
}

/// Whether a line is of the stretch.
fn is_of(stretch: &Fact<Printed>, line: &Place) -> bool {
    let first = stretch.place.line.unwrap_or(1);
    let own = first..first.saturating_add(stretch.data.lines);
    stretch.place.path == line.path && line.line.is_some_and(|line| own.contains(&line))
}
