//! The end of a log: what its program said last, and which units systemd saw fail again and again.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use regex::Regex;

use super::grade::{self, Grade};
use super::{kernel, kubelet, span};
use crate::facts::excerpt;
use crate::facts::failing::{LogEnd, UnitEnd};
use crate::facts::{AnyFact, Fact};
use crate::lines::Origin;
use crate::model::Place;
use crate::parsers::Channel;

/// Lines from the end in which the last grave line is looked for.
const LINES: usize = 200;
/// Bytes from the end of a piece that are read for it.
const BYTES: usize = 96 << 10;
/// A line as it is kept, in bytes.
const LONGEST: usize = 600;
/// Units whose failures are counted in one piece.
const MOST_UNITS: usize = 64;
/// Lines before a unit's end that may hold its last word.
const BEFORE_END: usize = 80;

/// A line of a log with its offset in the piece, from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Said {
    offset: u32,
    text: String,
    /// As it stands in the entry.
    raw: String,
    grade: Grade,
    at: Option<DateTime<Utc>>,
}

/// What one piece of a log gave.
#[derive(Debug, Default)]
pub struct Tail {
    last: Option<Said>,
    units: BTreeMap<String, Ends>,
    span: span::Ends,
    pods: Vec<kubelet::Said>,
    kernel: Option<kernel::Said>,
    lines: u32,
}

/// How often systemd saw a unit fail, at which lines, and what was said before the last time.
#[derive(Debug, Clone, Default)]
struct Ends {
    offsets: Vec<u32>,
    /// Where in the piece the line of the last end starts.
    start: usize,
    /// How the last line about an end is worded: systemd 229 to 235 says both.
    wording: usize,
    restarts: bool,
    /// Nothing of the unit's own program follows its last end.
    stays: bool,
    first: Option<Said>,
    first_words: Option<Said>,
    result: Option<Said>,
    words: Option<Said>,
}

impl Ends {
    /// The lines of the first end and of the last.
    fn lines(&self) -> Vec<String> {
        let told = [&self.first_words, &self.first, &self.words, &self.result];
        let mut lines: Vec<String> = Vec::new();
        for said in told.into_iter().flatten() {
            if !lines.contains(&said.raw) {
                lines.push(said.raw.clone());
            }
        }
        lines
    }
}

/// Reads the end of a piece. Only what ends its entry can hold the program's last word.
pub fn of_piece(origin: &Origin<'_>, bytes: &[u8], lines: u32, is_last: bool) -> Tail {
    let kernel = match is_last {
        true => kernel::of_end(origin, bytes, lines),
        false => None,
    };
    if !matches!(
        origin.channel,
        Channel::PodLog | Channel::Journal | Channel::Text
    ) {
        return Tail {
            kernel,
            lines,
            ..Tail::default()
        };
    }
    let last = is_last
        .then(|| last_words(origin, bytes, lines))
        .flatten()
        .filter(|said| origin.channel != Channel::Text || !is_of_several(bytes, &said.text));
    Tail {
        last,
        units: units(origin, bytes),
        span: span::of_piece(origin, bytes, is_last),
        pods: match is_last {
            true => kubelet::of_end(origin, bytes, lines),
            false => Vec::new(),
        },
        kernel,
        lines,
    }
}

/// A line as it stands, so that it can be searched for.
fn verbatim(raw: &[u8]) -> String {
    excerpt(String::from_utf8_lossy(raw).trim(), LONGEST)
}

/// Whether a text holds what several programs wrote: sections with captions, or a line with the head of syslog. Its end
/// is no program's last word.
fn is_of_several(bytes: &[u8], last: &str) -> bool {
    let captioned = bytes.starts_with(b"==> ") || memchr::memmem::find(bytes, b"\n==> ").is_some();
    captioned || !grade::message(last).0.is_empty()
}

/// The gravest of the last lines; of equally grave ones the last, and else the very last line.
fn last_words(origin: &Origin<'_>, bytes: &[u8], lines: u32) -> Option<Said> {
    let begin = bytes.len().saturating_sub(BYTES);
    let ends_line = bytes.last() == Some(&b'\n');
    let mut number = if ends_line { lines } else { lines + 1 };
    let mut best: Option<Said> = None;
    for raw in bytes[begin..].rsplit(|byte| *byte == b'\n').take(LINES) {
        if ends_line && raw.is_empty() && best.is_none() && number == lines {
            number = lines.saturating_sub(1);
            continue;
        }
        let offset = number.saturating_sub(u32::from(!ends_line));
        number = number.saturating_sub(1);
        if raw.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let line = origin.decode(raw, offset);
        let text = grade::plain(&line.text);
        let found = grade::grade(&text);
        if best.as_ref().is_none_or(|best| found > best.grade) {
            best = Some(Said {
                offset,
                text: excerpt(text.trim(), LONGEST),
                raw: verbatim(raw),
                grade: found,
                at: line.at,
            });
        }
        if found == Grade::Fatal {
            break;
        }
    }
    best
}

/// What systemd says when a unit failed, as the texts that its lines hold: the result since 229, the state before 236
/// (`unit_notify` in src/core/unit.c).
const FAILED_TEXTS: [&[u8]; 2] = [b": Failed with result '", b" entered failed state"];
/// What systemd says when it starts a unit again, behind the unit's name: since 235, since 236, 229 to 235, and before.
const STARTS_AGAIN: [&str; 4] = [
    ": Scheduled restart job",
    ": Service RestartSec=",
    ": Service hold-off time over",
    " holdoff time over",
];
/// Two wordings of one end stand no further apart, in lines.
const ONE_END: u32 = 8;
/// A text that a person pasted ends at most so many lines after the failure that it was pasted for.
const FROM_END: u32 = 60;

static FAILED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?P<unit>[\w@.\\:-]+\.(?:service|mount|socket)): (?:Failed with result '[\w-]+'|Unit entered failed state)",
        r"|Unit (?P<old>[\w@.\\:-]+\.(?:service|mount|socket)) entered failed state",
    ))
    .ok()
});

/// Where a piece holds what systemd says when a unit failed, and which of the wordings.
fn failed_texts(bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (wording, text) in FAILED_TEXTS.iter().enumerate() {
        found.extend(memchr::memmem::find_iter(bytes, text).map(|at| (at, wording)));
    }
    found.sort_unstable();
    found
}

fn units(origin: &Origin<'_>, bytes: &[u8]) -> BTreeMap<String, Ends> {
    let mut found: BTreeMap<String, Ends> = BTreeMap::new();
    if origin.channel == Channel::PodLog {
        return found;
    }
    let (mut counted, mut number) = (0usize, 0u32);
    for (at, wording) in failed_texts(bytes) {
        let newlines = memchr::memchr_iter(b'\n', &bytes[counted..at]).count();
        number = number.saturating_add(u32::try_from(newlines).unwrap_or(u32::MAX));
        counted = at;
        let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |before| before + 1);
        let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |after| at + after);
        let line = origin.decode(&bytes[start..end], number);
        let Some(unit) = failed_unit(&line.text) else {
            continue;
        };
        if found.len() >= MOST_UNITS && !found.contains_key(&unit) {
            continue;
        }
        let ends = found.entry(unit).or_default();
        let before = ends.offsets.last();
        let near = before.is_some_and(|before| number.saturating_sub(*before) <= ONE_END);
        if near && ends.wording != wording {
            continue;
        }
        ends.wording = wording;
        ends.offsets.push(number);
        ends.result = Some(Said {
            offset: number,
            text: excerpt(line.text.trim(), LONGEST),
            raw: verbatim(&bytes[start..end]),
            grade: Grade::Fatal,
            at: line.at,
        });
        ends.first = ends.first.take().or_else(|| ends.result.clone());
        if ends.offsets.len() == 1 {
            ends.first_words = said_before(origin, &bytes[..start], number);
        }
        ends.start = start;
    }
    // A unit may fail many times in one piece; what counts is said before its last end. The log may end with that one,
    // before systemd says that it will try again.
    for (unit, ends) in &mut found {
        ends.restarts = STARTS_AGAIN.iter().any(|text| {
            let text = format!("{unit}{text}");
            memchr::memmem::find(bytes, text.as_bytes()).is_some()
        });
        let program = format!(" {}[", unit.split(['.', '@']).next().unwrap_or(unit));
        ends.stays = memchr::memmem::find(&bytes[ends.start..], program.as_bytes()).is_none();
        let number = ends.offsets.last().copied().unwrap_or(0);
        ends.words = said_before(origin, &bytes[..ends.start], number);
    }
    found
}

/// The unit that a line of systemd says has failed.
fn failed_unit(text: &str) -> Option<String> {
    let found = FAILED.as_ref()?.captures(text)?;
    let unit = found.name("unit").or_else(|| found.name("old"))?;
    Some(unit.as_str().to_owned())
}

/// The last grave line of a program before its unit ended; systemd's own lines only say that it did.
fn said_before(origin: &Origin<'_>, bytes: &[u8], lines: u32) -> Option<Said> {
    let begin = bytes.len().saturating_sub(BYTES);
    let mut number = lines;
    let mut best: Option<Said> = None;
    for raw in bytes[begin..]
        .rsplit(|byte| *byte == b'\n')
        .skip(1)
        .take(BEFORE_END)
    {
        number = number.saturating_sub(1);
        let line = origin.decode(raw, number);
        let (speaker, message) = grade::message(&line.text);
        let systemd = speaker == "systemd" || message.contains("Main process exited");
        let found = grade::grade(&line.text);
        if systemd || found < Grade::Error {
            continue;
        }
        if best.as_ref().is_none_or(|best| found > best.grade) {
            best = Some(Said {
                offset: number,
                text: excerpt(line.text.trim(), LONGEST),
                raw: verbatim(raw),
                grade: found,
                at: line.at,
            });
        }
    }
    best
}

/// The ends of a whole entry, of its pieces in order.
#[derive(Debug, Default)]
pub struct Joined {
    last: Option<Said>,
    units: BTreeMap<String, Ends>,
    span: span::Ends,
    /// What a kubelet said at the end, and the lines before that piece.
    pods: (Vec<kubelet::Said>, u32),
    /// What the kernel said at the end, and the lines before that piece.
    kernel: Option<(kernel::Said, u32)>,
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

    /// The facts of an entry.
    pub fn facts(self, path: &str, pod_log: bool) -> Vec<AnyFact> {
        let place = |offset: u32| Place {
            path: path.to_owned(),
            line: Some(offset.saturating_add(1)),
        };
        let (pods, before) = self.pods;
        let mut facts: Vec<AnyFact> = kubelet::facts(pods, path, before).collect();
        let trouble = self.kernel;
        facts.extend(trouble.map(|(said, before)| kernel::fact(said, path, before)));
        let lines = self.lines;
        if let Some(span) = self.span.span(lines) {
            facts.push(
                Fact {
                    data: span,
                    place: place(0),
                    text: String::new(),
                    at: None,
                }
                .into(),
            );
        }
        for (unit, ends) in self.units {
            let told = ends.lines();
            let Some(result) = ends.result else { continue };
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
            facts.push(
                Fact {
                    data: end,
                    place: place(said.offset),
                    text: said.text,
                    at: said.at.or(result.at),
                }
                .into(),
            );
        }
        if let Some(last) = self.last {
            let (namespace, pod, container, previous) = whose(path);
            let end = LogEnd {
                pod_log,
                namespace,
                pod,
                container,
                previous,
                grade: last.grade,
                from_end: lines.saturating_sub(last.offset),
                line: last.raw,
            };
            facts.push(
                Fact {
                    data: end,
                    place: place(last.offset),
                    text: last.text,
                    at: last.at,
                }
                .into(),
            );
        }
        facts
    }
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
    use super::*;

    fn end(path: &str, channel: Channel, text: &str) -> Vec<AnyFact> {
        let origin = Origin::of(path, channel);
        let lines = u32::try_from(text.matches('\n').count()).unwrap();
        let mut joined = Joined::default();
        joined.add(of_piece(&origin, text.as_bytes(), lines, true));
        joined.facts(path, channel == Channel::PodLog)
    }

    fn words(facts: Vec<AnyFact>) -> (String, Option<u32>) {
        let mut all = crate::facts::Facts::default();
        facts.into_iter().for_each(|fact| all.add(fact));
        let end = &all.table::<LogEnd>()[0];
        (end.text.clone(), end.place.line)
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
