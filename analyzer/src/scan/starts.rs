//! Which lines of an entry were said before the machine's last start.

use chrono::{DateTime, Utc};

use super::patterns::Hit;

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

/// The boot of a line, as the journal calls it, and when the line was said.
pub(super) type Boot = (String, Option<DateTime<Utc>>);

/// A line in which the kernel came up, and when.
type CameUp = (u32, Option<DateTime<Utc>>);

/// The newest boot that hits name.
pub(super) fn newest(hits: &[Hit]) -> Option<Boot> {
    let said = hits.iter().filter(|hit| !hit.boot.is_empty());
    let newest = said.max_by_key(|hit| hit.last)?;
    Some((newest.boot.to_string(), newest.last))
}

/// What the pieces of an entry say of starts of the machine.
#[derive(Default)]
pub(super) struct Starts {
    /// Where the kernel last came up, counted from 0.
    came_up: Option<CameUp>,
    /// The boot of the last line.
    boot: Option<Boot>,
    /// The newest boot that a hit names.
    newest: Option<Boot>,
}

impl Starts {
    /// Adds what the next piece says, before which so many lines stand.
    pub(super) fn add(
        &mut self,
        (came_up, lines_before): (Option<CameUp>, u32),
        (boot, newest): (Option<Boot>, Option<Boot>),
    ) {
        if let Some((line, at)) = came_up {
            self.came_up = Some((line.saturating_add(lines_before), at));
        }
        self.boot = boot.or(self.boot.take());
        let both = self.newest.take().into_iter().chain(newest);
        self.newest = both.max_by_key(|(_, at)| *at);
    }

    /// When the machine last came up, if the entry says it.
    pub(super) fn booted(&self) -> Option<DateTime<Utc>> {
        self.came_up.and_then(|(_, at)| at)
    }

    /// Whether a hit, of which the last line stands at `far`, was said before the machine's last start.
    pub(super) fn is_earlier(&self, path: &str, hit: &Hit, far: Option<u32>) -> bool {
        // The lines of a file that was put together by hand may stand in any order.
        let newest = self.newest.iter().chain(&self.boot);
        let newest = newest.max_by_key(|(_, at)| *at);
        // The kernel's first line is counted from 0, places from 1.
        let before = self
            .came_up
            .is_some_and(|(number, at)| match at.zip(hit.last) {
                Some((at, last)) => last < at,
                None => hit.last_place.path == path && far.unwrap_or(0) <= number,
            });
        let newer = newest.filter(|_| !hit.boot.is_empty());
        let other = newer.is_some_and(|(boot, _)| hit.boot != *boot);
        before || other || is_of_earlier_boot(path)
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
