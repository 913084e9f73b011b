//! The ends of the pieces of an entry, put together: the facts of its last words, its units and what it says of others.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::tail::{Ends, Said, Tail};
use super::{check, kernel, kubelet, own_node, span};
use crate::facts::failing::{LogEnd, UnitEnd};
use crate::facts::{AnyFact, Fact, FactType};
use crate::grade::Grade;
use crate::model::Place;

/// A text that a person pasted ends at most so many lines after the failure that it was pasted for.
const FROM_END: u32 = 60;

/// The ends of a whole entry, of its pieces in order.
#[derive(Debug, Default)]
pub struct Joined {
    last: Option<Said>,
    units: BTreeMap<String, Ends>,
    span: span::Ends,
    /// What a kubelet said at the end, and the lines before that piece.
    pods: (Vec<kubelet::Said>, u32),
    node: own_node::Ends,
    /// What the kernel said at the end, and the lines before that piece.
    kernel: Option<(kernel::Said, u32)>,
    checks: Vec<Said>,
    lines: u32,
}

impl Joined {
    /// Adds the next piece.
    pub fn add(&mut self, piece: Tail) {
        let before = self.lines;
        let moved = |mut said: Said| {
            said.offset = said.offset.saturating_add(before);
            said
        };
        if let Some(last) = piece.last {
            self.last = Some(moved(last));
        }
        self.span.add(piece.span);
        if !piece.pods.is_empty() {
            self.pods = (piece.pods, before);
        }
        self.node.add(piece.node, before);
        let room = check::MOST.saturating_sub(self.checks.len());
        self.checks
            .extend(piece.checks.into_iter().take(room).map(moved));
        self.kernel = piece
            .kernel
            .map(|said| (said, before))
            .or(self.kernel.take());
        for (unit, ends) in piece.units {
            let known = self.units.entry(unit).or_default();
            known
                .offsets
                .extend(ends.offsets.iter().map(|at| at.saturating_add(before)));
            if known.first.is_none() {
                known.first = ends.first.map(moved);
                known.first_words = ends.first_words.map(moved);
            }
            known.restarts |= ends.restarts;
            known.stays = ends.stays;
            known.result = ends.result.map(moved);
            known.words = ends.words.map(moved);
        }
        self.lines = self.lines.saturating_add(piece.lines);
    }

    /// How grave its last word is.
    pub fn grade(&self) -> Grade {
        self.last
            .as_ref()
            .map(|last| last.grade)
            .unwrap_or_default()
    }

    /// The facts of an entry.
    pub fn facts(mut self, path: &str, pod_log: bool) -> Vec<AnyFact> {
        let (pods, before) = std::mem::take(&mut self.pods);
        let mut facts: Vec<AnyFact> = kubelet::facts(pods, path, before).collect();
        let own = std::mem::take(&mut self.node).lasting(self.lines);
        facts.extend(own.map(|said| own_node::fact(said, path)));
        let trouble = self.kernel.take();
        facts.extend(trouble.map(|(said, before)| kernel::fact(said, path, before)));
        let lines = self.lines;
        let span = std::mem::take(&mut self.span).span(lines);
        facts.extend(span.map(|span| placed(path, 0, span, String::new(), None)));
        let units = std::mem::take(&mut self.units).into_iter();
        facts.extend(units.filter_map(|(unit, ends)| unit_end(unit, ends, path, lines)));
        facts.extend(self.log_end(path, pod_log));
        facts
    }

    /// How the log ends.
    fn log_end(self, path: &str, pod_log: bool) -> Option<AnyFact> {
        let last = self.last?;
        let (namespace, pod, container, previous) = whose(path);
        let end = LogEnd {
            pod_log,
            namespace,
            pod,
            container,
            previous,
            grade: last.grade,
            from_end: self.lines.saturating_sub(last.offset),
            line: last.raw,
            checks: self.checks.iter().map(|said| said.raw.clone()).collect(),
        };
        // What a test run ends with sums up; what failed stands before it.
        let (at, text) = match check::words(&self.checks) {
            Some((first, words)) if check::sums_up(&last.text) => (first.offset, words),
            _ => (last.offset, last.text),
        };
        Some(placed(path, at, end, text, last.at))
    }
}

/// A fact of a line of the entry, counted from 0.
fn placed<T: FactType>(
    path: &str,
    offset: u32,
    data: T,
    text: String,
    at: Option<DateTime<Utc>>,
) -> AnyFact {
    let place = Place {
        path: path.into(),
        line: Some(offset.saturating_add(1)),
    };
    Fact {
        data,
        place,
        text: text.into(),
        at,
    }
    .into()
}

/// How often a unit ended, and whether it goes on doing so.
fn unit_end(unit: String, ends: Ends, path: &str, lines: u32) -> Option<AnyFact> {
    let told = ends.lines();
    let result = ends.result?;
    let last = ends.offsets.last().copied().unwrap_or(0);
    // A person pastes the log of a unit up to its failure.
    let is_pasted_for = crate::lines::node_of(path).is_empty()
        && ends.stays
        && ends.words.is_some()
        && lines.saturating_sub(last) <= FROM_END;
    let said = ends.words.unwrap_or_else(|| result.clone());
    let end = UnitEnd {
        node: crate::lines::node_of(path).to_owned(),
        unit,
        times: u64::try_from(ends.offsets.len()).unwrap_or(u64::MAX),
        again: is_pasted_for || (ends.restarts && goes_on(&ends.offsets, lines)),
        first: ends
            .first
            .as_ref()
            .map_or_else(|| result.text.clone(), |first| first.text.clone()),
        since: ends.first.and_then(|first| first.at),
        lines: told,
    };
    Some(placed(
        path,
        said.offset,
        end,
        said.text,
        said.at.or(result.at),
    ))
}

/// Whether a unit that failed several times is still at it: the log ends no later after its last end than its ends are
/// apart. A unit that came up at last is followed by a long stretch.
fn goes_on(offsets: &[u32], lines: u32) -> bool {
    let gaps = offsets
        .windows(2)
        .map(|pair| pair[1].saturating_sub(pair[0]));
    let widest = gaps.max().unwrap_or(0);
    let after = offsets.last().map_or(0, |last| lines.saturating_sub(*last));
    offsets.len() > 1 && after <= widest.saturating_add(widest / 4)
}

/// Namespace, pod and container of a log by its path, and whether it is of the run before.
fn whose(path: &str) -> (String, String, String, bool) {
    let parts: Vec<&str> = path.split('/').collect();
    let [
        "cluster-resources",
        "pods",
        "logs",
        namespace,
        pod,
        ..,
        file,
    ] = parts.as_slice()
    else {
        return <(String, String, String, bool)>::default();
    };
    let stem = file.trim_end_matches(".log");
    let (container, previous) = match stem.strip_suffix("-previous") {
        Some(name) => (name, true),
        None => (stem, stem == "previous"),
    };
    (
        (*namespace).to_owned(),
        (*pod).to_owned(),
        container.to_owned(),
        previous,
    )
}

#[cfg(test)]
mod tests {
    use super::super::tail::{PieceOfLog, of_piece};
    use super::*;
    use crate::lines::Origin;
    use crate::parsers::Channel;

    fn end(path: &str, channel: Channel, text: &str) -> Vec<AnyFact> {
        let origin = Origin::of(path, channel);
        let lines = u32::try_from(text.matches('\n').count()).unwrap();
        let mut joined = Joined::default();
        let piece = PieceOfLog::unsearched((true, true));
        joined.add(of_piece(&origin, text.as_bytes(), lines, piece));
        joined.facts(path, channel == Channel::PodLog)
    }

    fn words(facts: Vec<AnyFact>) -> (String, Option<u32>) {
        let mut all = crate::facts::Facts::default();
        facts.into_iter().for_each(|fact| all.add(fact));
        let end = &all.table::<LogEnd>()[0];
        (end.text.to_string(), end.place.line)
    }

    #[test]
    fn the_last_word_of_a_log_is_its_gravest_late_line_with_its_line_number() {
        let path = "cluster-resources/pods/logs/shop/web-0/web.log";
        let log = "2026-11-20T10:00:00Z start\n2026-11-20T10:00:01Z Traceback (most recent call last):\n2026-11-20T10:00:01Z   File \"a.py\"\n2026-11-20T10:00:01Z KeyError: 'TOKEN'\n2026-11-20T10:00:02Z bye\n";
        assert_eq!(
            words(end(path, Channel::PodLog, log)),
            ("KeyError: 'TOKEN'".to_owned(), Some(4))
        );
        let unended = "start\nno more";
        assert_eq!(
            words(end(path, Channel::PodLog, unended)),
            ("no more".to_owned(), Some(2))
        );
    }

    #[test]
    fn a_unit_that_fails_to_the_end_is_told_from_one_that_came_up() {
        let fails =
            "May 12 05:19:09 h systemd[1]: kubelet.service: Failed with result 'exit-code'.\n";
        let runs = "May 12 05:20:00 h kubelet[7]: fine\n";
        let again = |text: &str| {
            let mut all = crate::facts::Facts::default();
            let facts = end("nodes/h/rootfs/var/log/messages", Channel::Journal, text);
            facts.into_iter().for_each(|fact| all.add(fact));
            all.table::<UnitEnd>()[0].data.again
        };
        let tries = "May 12 05:19:14 h systemd[1]: kubelet.service: Scheduled restart job, restart counter is at 2.\n";
        let fails = &format!("{fails}{tries}");
        assert!(again(&format!("{fails}{runs}{runs}{fails}{runs}")));
        assert!(!again(&format!("{fails}{runs}{fails}{}", runs.repeat(20))));
        assert!(!again(fails), "one end proves no loop");
        let last = fails.replace(tries, "");
        assert!(
            again(&format!("{fails}{runs}{last}")),
            "cut before the next try is announced"
        );
        let gives_up = fails.replace(tries, "");
        assert!(
            !again(&format!("{gives_up}{runs}{gives_up}")),
            "systemd does not try again"
        );
    }

    #[test]
    fn every_release_of_systemd_says_in_its_own_words_that_a_unit_failed() {
        let ends = |text: &str| {
            let mut all = crate::facts::Facts::default();
            let facts = end("journal.txt", Channel::Text, text);
            facts.into_iter().for_each(|fact| all.add(fact));
            let table = all.table::<UnitEnd>();
            table
                .iter()
                .map(|one| (one.data.unit.clone(), one.data.times, one.data.again))
                .collect::<Vec<_>>()
        };
        let said = "Sep 13 19:34:58 h shop[39]: critical: Object 'a' is defined twice\n";
        let old = "Sep 13 19:34:58 h systemd[1]: Unit shop.service entered failed state.\n";
        let both = "Sep 13 19:34:58 h systemd[1]: shop.service: Unit entered failed state.\nSep 13 19:34:58 h systemd[1]: shop.service: Failed with result 'exit-code'.\n";
        let once = vec![("shop.service".to_owned(), 1, true)];
        assert_eq!(ends(&format!("{said}{old}")), once);
        assert_eq!(ends(&format!("{said}{both}")), once, "one end in two lines");
        let runs = "Sep 13 19:36:01 h shop[44]: listening on 80\n";
        assert!(!ends(&format!("{said}{old}{runs}"))[0].2, "it runs again");
        assert!(!ends(old)[0].2, "it said nothing");
        let waits =
            "Sep 13 19:35:01 h systemd[1]: shop.service holdoff time over, scheduling restart.\n";
        let looped = format!("{said}{old}{waits}").repeat(3);
        assert_eq!(ends(&looped), [("shop.service".to_owned(), 3, true)]);
    }
}
