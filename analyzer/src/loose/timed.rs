//! Lines that tell a time or an age: what stands near a line without one may date it.

use chrono::{DateTime, Utc};

use crate::dress::{self, clock::begins_with_date};
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

/// The lines of a text that tell a time, each with its number, from 1: rows, and of the others those that are wanted.
pub(crate) fn timed(text: &str, is_wanted: &dyn Fn(u32) -> bool) -> Vec<(TimedLine, u32, String)> {
    let lines = text.lines().zip(1_u32..);
    let timed = lines.filter_map(|(line, number)| {
        // That is the first which the expression looks for.
        let row = match begins_with_date(line.as_bytes()) {
            true => false,
            false => TIMED.rare_captures(line)?.name("row").is_some(),
        };
        let is_kept = row || is_wanted(number);
        is_kept.then(|| (TimedLine { row }, number, excerpt(line, LONGEST)))
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

/// The newest date with its zone that a text tells, and its line from 1: of the same date the first.
pub(crate) fn newest(text: &str) -> Option<(NewestDate, u32)> {
    let mut newest: Option<(DateTime<Utc>, u32)> = None;
    let mut number = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    // From the end: most lines of a log are older than the one behind, and few tell what ends one day.
    for line in text.lines().rev() {
        let at = whole_date(line);
        let is_newest = at.filter(|at| newest.is_none_or(|(newest, _)| *at >= newest));
        if let Some(at) = is_newest.filter(|_| !AHEAD.is_match(line)) {
            newest = Some((at, number));
        }
        number = number.saturating_sub(1);
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
    if let Some(date) = leading_date(line) {
        return DateTime::parse_from_rfc3339(date)
            .ok()
            .map(|at| at.to_utc());
    }
    let found = may_be_whole(line).then(|| WHOLE.rare_captures(line))??;
    let part = |name: &str| found.name(name).map(|part| part.as_str());
    let at = match (part("iso"), part("web")) {
        (Some(iso), _) => DateTime::parse_from_rfc3339(iso),
        (None, Some(web)) => DateTime::parse_from_str(web, "%d/%b/%Y:%H:%M:%S %z"),
        (None, None) => DateTime::parse_from_rfc2822(part("mail")?),
    };
    Some(at.ok()?.to_utc())
}

/// The date as RFC 3339 writes it that a line begins with: no other date of [`WHOLE`] stands before it.
fn leading_date(line: &str) -> Option<&str> {
    let bytes = line.as_bytes();
    let is_date =
        begins_with_date(bytes) && bytes[4] == b'-' && bytes[7] == b'-' && bytes[10] == b'T';
    let clock = bytes.get(19..).filter(|_| is_date)?;
    let digits = |from: usize| {
        let digits = clock.get(from..).unwrap_or_default().iter();
        digits.take_while(|byte| byte.is_ascii_digit()).count()
    };
    let fraction = match (clock.first(), digits(1)) {
        (Some(b'.'), digits @ 1..=9) => 1 + digits,
        (Some(b'.'), _) => return None,
        _ => 0,
    };
    let end = match clock.get(fraction)? {
        b'Z' => fraction + 1,
        b'+' | b'-'
            if digits(fraction + 1) == 2
                && clock.get(fraction + 3) == Some(&b':')
                && digits(fraction + 4) >= 2 =>
        {
            fraction + 6
        }
        _ => return None,
    };
    line.get(..19 + end)
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
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        lines.take(MOST)
    };
    let told = |line: &&str| {
        let dress = dress::undress(line);
        let web = || WHOLE.is_match(line);
        dress.host.is_empty() && dress.speaker.is_empty() && (dress.is_dressed || web())
    };
    let all = lines().count();
    let most = all / 2 + 1;
    all >= LOG && lines().filter(told).take(most).count() == most
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
        fn a_line_that_begins_with_a_date_tells_what_the_expressions_find(
            line in "2026[-/]06[-/][01]2[T ]19:[26]2:33(\\.[0-9]{0,10})?(Z|[+-]0[129]?:?[07]?0?)?[0-9x ]{0,2}( 2027-01-01T00:00:00Z)?",
        ) {
            if begins_with_date(line.as_bytes()) {
                let found = TIMED.rare_captures(&line).unwrap();
                proptest::prop_assert!(found.name("row").is_none(), "{}", line);
            }
            if let Some(date) = leading_date(&line) {
                let found = WHOLE.rare_captures(&line).unwrap();
                proptest::prop_assert_eq!(found.get(0).unwrap().as_str(), date, "{}", line);
            }
        }

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
