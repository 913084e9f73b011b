//! Which lines of an entry were said before the machine's last start.

use chrono::{DateTime, Utc};

use super::ceiling::Boot;
use super::gather::Gather;
use super::node_of;

/// What names of entries hold that were written for an earlier start of the machine.
const EARLIER_BOOTS: [&str; 4] = ["boot_-1", "-b_-1", "boot-1.", "last_boot"];

impl Gather<'_> {
    /// Marks the lines of an entry that were said before the machine's last start.
    pub(super) fn mark_boots(
        &mut self,
        path: &str,
        first: usize,
        came_up: Option<&(u32, Option<DateTime<Utc>>)>,
        boots: impl Iterator<Item = Boot>,
    ) {
        // The lines of a file that was put together by hand may stand in any order.
        let hits = self.hits.iter().skip(first);
        let said = hits
            .filter(|hit| !hit.boot.is_empty())
            .map(|hit| (hit.boot.clone(), hit.last));
        let newest = said.chain(boots).max_by_key(|(_, at)| *at);
        let of_earlier = EARLIER_BOOTS.iter().any(|mark| path.contains(mark));
        for hit in self.hits.iter_mut().skip(first) {
            let line = hit.last_place.line.unwrap_or(0);
            // The kernel's first line is counted from 0, places from 1.
            let before = came_up.is_some_and(|(number, at)| match at.zip(hit.last) {
                Some((at, last)) => last < at,
                None => hit.last_place.path == path && line <= *number,
            });
            let newer = newest.as_ref().filter(|_| !hit.boot.is_empty());
            let other = newer.is_some_and(|(boot, _)| hit.boot != *boot);
            hit.earlier_boot = before || other || of_earlier;
        }
        let at = came_up.and_then(|(_, at)| *at);
        if let Some(at) = at.filter(|_| !node_of(path).is_empty()) {
            let known = self.boots.entry(node_of(path).to_owned()).or_insert(at);
            *known = at.max(*known);
        }
    }
}
