//! Which lines of an entry were said before the machine's last start.

use chrono::{DateTime, Utc};

use super::ceiling::Boot;
use super::gather::Gather;
use super::node_of;

/// Behind these, names of entries tell which start of the machine they were written in, counted back from the present one.
const BOOTS: [&str; 3] = ["boot_-", "-b_-", "boot-"];

/// Whether an entry was written for an earlier start of the machine, by its name.
pub(crate) fn is_of_earlier_boot(path: &str) -> bool {
    let is_back = |(at, mark): (usize, &str)| {
        let rest = &path[at + mark.len()..];
        let number = rest
            .split(|sign: char| !sign.is_ascii_alphanumeric())
            .next();
        // A longer number is an id.
        number
            .is_some_and(|number| number.len() < 3 && number.parse().is_ok_and(|back: u8| back > 0))
    };
    path.contains("last_boot")
        || BOOTS
            .iter()
            .any(|mark| path.match_indices(mark).any(is_back))
}

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
        let of_earlier = is_of_earlier_boot(path);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_how_many_starts_ago_an_entry_was_written() {
        for path in [
            "nodes/n/rootfs/var/log/kern.log.boot-1",
            "nodes/n/journal/kernel.boot-2",
            "sos_commands/logs/journalctl_--no-pager_--boot_-1_--catalog",
            "journalctl_-b_-1.txt",
            "kubelet_last_boot.log",
        ] {
            assert!(is_of_earlier_boot(path), "{path}");
        }
        for path in [
            "kern.log.boot-0",
            "pods/boot-1f2e3/web.log",
            "boot-120.log",
            "journal/kernel.json",
        ] {
            assert!(!is_of_earlier_boot(path), "{path}");
        }
    }
}
