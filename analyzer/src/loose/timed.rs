//! Lines that tell a time or an age: what stands near a line without one may date it.

use chrono::{DateTime, Utc};

use crate::dress;
use crate::facts::excerpt;
use crate::facts::text::{NewestDate, TimedLine};
use crate::form::Form;

/// Lines of one text that are kept.
const MOST: usize = 3_000;
/// Characters of one line.
const LONGEST: usize = 300;

static TIMED: Form = Form::new(concat!(
    // Logs: a date with a clock near the beginning, klog's head, the kernel's clock.
    r"^.{0,60}?\b\d{4}[-/]\d\d[-/]\d\d[T ]+\d\d:\d\d:\d\d",
    r"|^.{0,40}?\b(?:\w{3} )?\w{3} +\d{1,2} \d\d:\d\d:\d\d",
    r"|^\s*[IWEF]\d{4} \d\d:\d\d:\d\d",
    r"|^\s*\[ *\d+\.\d+\]",
    // Rows of events and of pods.
    r"|(?P<row>(?:^|\s)(?:Normal|Warning)\s+\w+\s+\d+[smhdy]",
    r"|(?:^|\s)\d+[smhdy]\S*\s+(?:Normal|Warning)\s",
    // Events before Kubernetes 1.14: last and first time, and how often.
    r"|^\s*\d+[smhdy]\S*\s+\d+[smhdy]\S*\s+\d+\s+\S+\s",
    r"|\s\d+/\d+\s+[A-Z][\w:]+\s+\d+(?: \([^()]{1,24} ago\))?\s+\d+[smhdy])",
));

/// The lines of a text that tell a time, each with its number, from 1.
pub(crate) fn timed(text: &str) -> Vec<(TimedLine, u32, String)> {
    let lines = text.lines().zip(1_u32..);
    let timed = lines.filter_map(|(line, number)| {
        let found = TIMED.rare_captures(line)?;
        let row = found.name("row").is_some();
        Some((TimedLine { row }, number, excerpt(line, LONGEST)))
    });
    timed.take(MOST).collect()
}

/// Dates with their zone: RFC 3339, as web servers log them, as `kubectl describe` prints them.
static WHOLE: Form = Form::new(concat!(
    r"\b(?P<iso>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d))",
    r"|\[(?P<web>\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\]",
    r"|\b(?P<mail>[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4})\b",
));

/// What ends one day says nothing of when the text was written.
static AHEAD: Form = Form::new(r"(?i)not ?after|expir|valid|until|deadline");

/// The newest date with its zone that a text tells, and its line from 1.
pub(crate) fn newest(text: &str) -> Option<(NewestDate, u32)> {
    let mut newest: Option<(DateTime<Utc>, u32)> = None;
    for (line, number) in text.lines().zip(1_u32..) {
        let at = whole_date(line);
        // Most lines of a log are newer than the one before, and few tell what ends one day.
        let is_newest = at.filter(|at| newest.is_none_or(|(newest, _)| *at > newest));
        if let Some(at) = is_newest.filter(|_| !AHEAD.is_match(line)) {
            newest = Some((at, number));
        }
    }
    newest.map(|(at, line)| (NewestDate { at }, line))
}

/// Whether a line holds a clock as [`WHOLE`] has it: behind a `T`, or before a blank and a zone.
fn may_be_whole(line: &str) -> bool {
    let line = line.as_bytes();
    memchr::memchr_iter(b':', line).any(|at| {
        let is_iso = at >= 3 && line[at - 3] == b'T';
        let behind = line.get(at + 6..at + 8);
        is_iso || behind.is_some_and(|behind| matches!(behind, b" +" | b" -"))
    })
}

/// The date with its zone that a line tells.
fn whole_date(line: &str) -> Option<DateTime<Utc>> {
    let found = may_be_whole(line).then(|| WHOLE.rare_captures(line))??;
    let part = |name: &str| found.name(name).map(|part| part.as_str());
    let at = match (part("iso"), part("web")) {
        (Some(iso), _) => DateTime::parse_from_rfc3339(iso),
        (None, Some(web)) => DateTime::parse_from_str(web, "%d/%b/%Y:%H:%M:%S %z"),
        (None, None) => DateTime::parse_from_rfc2822(part("mail")?),
    };
    Some(at.ok()?.to_utc())
}

/// Lines from which on a text may be a log.
const LOG: usize = 3;

/// Whether a text is what a container wrote: most of its lines tell when, and none the machine, as the system's log does.
/// The log of a part of Kubernetes on a node has a header like theirs, so the name has to say that it is a log.
pub(crate) fn is_container_log(path: &str, text: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    if !name.contains("log") || name.contains("kubelet") {
        return false;
    }
    let lines = || {
        text.lines()
            .filter(|line| !line.trim().is_empty())
            .take(MOST)
    };
    let told = |line: &&str| {
        let dress = dress::undress(line);
        let web = || WHOLE.is_match(line);
        dress.host.is_empty() && dress.speaker.is_empty() && (dress.is_dressed || web())
    };
    let (all, told) = (lines().count(), lines().filter(told).count());
    all >= LOG && told * 2 > all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_date_of_a_text_is_no_end_of_a_certificate() {
        let text = "creationTimestamp: \"2026-06-12T18:32:49Z\"\n\
            10.0.0.1 - - [12/Jun/2026:19:22:33 +0000] \"GET / HTTP/1.1\" 200\n\
            RenewTime: Fri, 12 Jun 2026 21:00:00 +0200\n\
            notAfter: 2036-06-12T18:32:49Z\n";
        let (newest, line) = newest(text).unwrap();
        assert_eq!(
            (newest.at.to_rfc3339().as_str(), line),
            ("2026-06-12T19:22:33+00:00", 2)
        );
        assert!(super::newest("12 Jun, 18:32:49").is_none());
    }

    proptest::proptest! {
        #[test]
        fn no_line_is_passed_over_that_tells_a_whole_date(
            line in "([ T:é]|\\[|x){0,3}(2026-06-12T19:22:33|\\[12/Jun/2026:19:22:33|Fri, 12 Jun 2026 21:00:00)(\\.[0-9]{1,3}|:)?(Z|[ ]?[+-]0[12]:?00)?\\]?[ x:]{0,2}",
        ) {
            proptest::prop_assert!(may_be_whole(&line) || !WHOLE.is_match(&line), "{}", line);
        }
    }

    #[test]
    fn a_containers_log_tells_times_and_no_machine() {
        let web = "10.0.0.1 - - [12/Jun/2026:19:22:33 +0000] \"GET / HTTP/1.1\" 200\n".repeat(3);
        assert!(is_container_log("state/nginx-logs.txt", &web));
        assert!(!is_container_log("state/nginx.txt", &web));
        let klog = "I0612 18:37:26.100000 7 main.go:12] Starting\n".repeat(3);
        assert!(is_container_log("ingress-controller-logs.txt", &klog));
        assert!(!is_container_log("kubelet.log", &klog));
        let system = "Jun 12 18:37:26 gpu-1 kernel: NVRM: loading\n".repeat(3);
        assert!(!is_container_log("system.log", &system));
    }
}
