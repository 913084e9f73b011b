//! Speakers that went on and did not say it again: what they said has passed, or belonged to their start.

use std::collections::BTreeMap;

use super::weigh::Over;
use crate::facts::Facts;
use crate::facts::failing::{LogSpan, Moment};
use crate::facts::kube::Event;
use crate::scan::patterns::Hit;

/// A log of fewer lines is a part that somebody cut out; how it ends says nothing.
const WHOLE: u32 = 100;
/// A speaker that goes on for so long without saying it again has no such trouble any more, in seconds.
const SILENT: i64 = 30 * 60;
/// So long a speaker may take to start, in seconds.
const STARTS: i64 = 15 * 60;
/// So long it has to go on after its start at least, in seconds.
const GOES_ON: i64 = 120;
/// What a log that goes on has not said for so long is no part of the present, in seconds.
const DAY: i64 = 24 * 3600;
/// Families of which whoever has the trouble says so again and again, and not once at a start or until a repair.
const SAID_AGAIN: [&str; 7] = [
    "dns",
    "image",
    "network",
    "node",
    "scheduling",
    "storage",
    "workload",
];

/// How far the logs of an input reach.
pub(super) struct Silence<'a> {
    spans: BTreeMap<&'a str, &'a LogSpan>,
    tables: BTreeMap<&'a str, Ages>,
}

/// Of an event that was seen so often, each further time is told within five minutes (client-go), so that it is silent
/// sooner.
const OFTEN: u64 = 5;
/// So soon, in seconds.
const SOONER: i64 = 15 * 60;

/// What the kubelet says of a sandbox that was not created, and what it says each time that it replaces what is left of
/// it (`pkg/kubelet/kuberuntime`): of two events that go on it may be the other one that is counted.
const NOT_CREATED: &str = "FailedCreatePodSandBox";
const REPLACED: &str = "SandboxChanged";

/// How long ago a pod's sandbox was last replaced again, of those that were often, by text and pod.
fn retried(facts: &Facts) -> BTreeMap<(&str, &str), i64> {
    let mut youngest: BTreeMap<(&str, &str), i64> = BTreeMap::new();
    for event in facts.table::<Event>() {
        let often = event.data.reason == REPLACED && event.data.count >= OFTEN;
        if let Some(ago) = event.data.ago.filter(|_| often) {
            let key = (event.place.path.as_str(), event.data.object.as_str());
            let known = youngest.entry(key).or_insert(ago);
            *known = ago.min(*known);
        }
    }
    youngest
}

/// How long ago the events of one text were seen, in seconds before it was printed, and how often.
struct Ages {
    by_line: BTreeMap<Option<u32>, (i64, u64)>,
    newest: i64,
}

impl<'a> Silence<'a> {
    pub(super) fn of(facts: &'a Facts) -> Self {
        let spans = facts.table::<LogSpan>().iter();
        let retried = retried(facts);
        let mut tables: BTreeMap<&str, Ages> = BTreeMap::new();
        for event in facts.table::<Event>() {
            if let Some(ago) = event.data.ago {
                let ages = tables.entry(&event.place.path).or_insert_with(|| Ages {
                    by_line: BTreeMap::new(),
                    newest: ago,
                });
                let again = retried.get(&(event.place.path.as_str(), event.data.object.as_str()));
                let again = again.filter(|_| event.data.reason == NOT_CREATED);
                let since = again.map_or(ago, |again| ago.min(*again));
                let count = event.data.count;
                ages.by_line.insert(event.place.line, (since, count));
                ages.newest = ages.newest.min(ago);
            }
        }
        Self {
            spans: spans
                .map(|span| (span.place.path.as_str(), &span.data))
                .collect(),
            tables,
        }
    }

    /// Whether a row of a table of events is older than the newest one there by so much that it has passed; none for
    /// other lines.
    pub(super) fn is_old_event(&self, hit: &Hit) -> Option<bool> {
        let place = &hit.last_place;
        let ages = self.tables.get(place.path.as_str())?;
        let (ago, count) = ages.by_line.get(&place.line)?;
        let silent = if *count >= OFTEN { SOONER } else { SILENT };
        Some(ago - ages.newest > silent)
    }

    /// Whether the speaker of a line went on without saying it again: for long, or since it started for longer than it
    /// said it while it did.
    pub(super) fn fell(&self, hit: &Hit) -> bool {
        let Some((span, quiet)) = self.quiet(hit) else {
            return false;
        };
        quiet > SILENT || is_of_the_start(span, quiet, hit)
    }

    /// What ended a trouble that is said again and again while it lasts (`repeats`), where it was said while its speaker
    /// started and not in the time after.
    pub(super) fn started(&self, repeats: bool, hit: &Hit) -> Option<Over> {
        let (span, quiet) = self.quiet(hit).filter(|_| repeats)?;
        is_of_the_start(span, quiet, hit).then(|| Over {
            says: format!(
                "its speaker said it while it started, and not in the {} minutes after",
                quiet / 60
            ),
            place: None,
        })
    }

    /// What ended a trouble that is said again and again while it lasts: a day of its speaker without it, or a newer
    /// log of the same speaker.
    pub(super) fn over(&self, family: &str, hit: &Hit) -> Option<Over> {
        if !SAID_AGAIN.contains(&family) {
            return None;
        }
        let path = hit.last_place.path.as_str();
        if let Some(newer) = rotated(path).filter(|newer| self.spans.contains_key(newer)) {
            return Some(Over {
                says: format!("it stands in an older log, and {newer} does not say it again"),
                place: None,
            });
        }
        let (_, quiet) = self.quiet(hit)?;
        (quiet > DAY).then(|| Over {
            says: format!(
                "its speaker went on for {} hours and did not say it again",
                quiet / 3600
            ),
            place: None,
        })
    }

    /// Seconds from a line to the last one of its speaker; of the kernel to the last one of the log, for it never ends
    /// before another speaker does.
    fn quiet(&self, hit: &Hit) -> Option<(&LogSpan, i64)> {
        let span = self.spans.get(hit.last_place.path.as_str())?;
        let said = moment(hit);
        let quiet = match hit.speaker.as_str() {
            "kernel" => span.last.values().filter_map(|one| one.since(&said)).max(),
            speaker => span.last.get(speaker)?.since(&said),
        }?;
        (span.lines >= WHOLE).then_some((span, quiet))
    }
}

/// Whether a speaker said it while it started, and went on for at least as long without it.
fn is_of_the_start(span: &LogSpan, quiet: i64, hit: &Hit) -> bool {
    let first = span.first.get(hit.speaker.as_str());
    let took = first.and_then(|first| moment(hit).since(first));
    took.is_some_and(|took| (0..=STARTS).contains(&took) && quiet >= GOES_ON && quiet >= took)
}

fn moment(hit: &Hit) -> Moment {
    Moment {
        at: hit.last.map(|last| last.timestamp()),
        clock: hit.clock.map(i64::from),
        klog: hit.klog.map(i64::from),
    }
}

/// The log that took the place of one that was rotated away: `syslog` of `syslog.1` and `syslog.2.gz`.
fn rotated(path: &str) -> Option<&str> {
    let path = path.strip_suffix(".gz").unwrap_or(path);
    let (log, number) = path.rsplit_once('.')?;
    let is_number = number.len() <= 2 && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !number.is_empty() && !log.is_empty()).then_some(log)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotated_log_names_the_one_that_took_its_place() {
        assert_eq!(rotated("var/log/syslog.1"), Some("var/log/syslog"));
        assert_eq!(rotated("kern.log.3.gz"), Some("kern.log"));
        assert_eq!(rotated("kern.log"), None);
        assert_eq!(rotated("node-10.0.0.12345"), None);
    }

    #[test]
    fn a_sandbox_that_is_replaced_again_and_again_has_not_come_up() {
        let event = |line: u32, reason: &str, ago: i64, object: &str| {
            crate::facts::AnyFact::new(crate::facts::Fact {
                data: Event {
                    reason: reason.into(),
                    object: object.into(),
                    count: 300,
                    ago: Some(ago),
                    ..Event::default()
                },
                place: crate::model::Place {
                    path: "events.txt".into(),
                    line: Some(line),
                },
                text: crate::shared::Shared::default(),
                at: None,
            })
        };
        let mut facts = Facts::default();
        for fact in [
            event(1, "Pulled", 60, "pod/shop/a"),
            event(2, NOT_CREATED, 1100, "pod/shop/b"),
            event(3, REPLACED, 120, "pod/shop/b"),
            event(4, NOT_CREATED, 1100, "pod/shop/c"),
        ] {
            facts.add(fact);
        }
        let silence = Silence::of(&facts);
        let ages = &silence.tables["events.txt"].by_line;
        assert_eq!(ages[&Some(2)].0, 120);
        assert_eq!(ages[&Some(4)].0, 1100);
    }

    fn moment_of(seconds: i64) -> Moment {
        Moment {
            at: Some(seconds),
            ..Moment::default()
        }
    }

    #[test]
    fn seconds_are_counted_by_a_clock_that_both_have() {
        let klog = Moment {
            klog: Some(7),
            ..Moment::default()
        };
        assert_eq!(moment_of(100).since(&moment_of(40)), Some(60));
        assert_eq!(moment_of(100).since(&klog), None);
    }
}
