//! Times of logs whose clock names no year or no zone, as people read them off the line.

use chrono::{DateTime, Datelike, Month, NaiveDateTime, TimeDelta, Utc};

use super::ages;
use crate::dress;
use crate::form::Form;
use crate::grade::{self, Grade};
use crate::model::{Analysis, Beside, Clocks, Dated, Near, Own, Place, Started};
use crate::report::words;

/// Seconds after the start of the machine that count as the start itself.
const AT_BOOT: i64 = 60;
/// Seconds after the start of a machine in which nobody lets it sleep.
const AWAKE: i64 = 600;
/// What a time is by that the kernel read: nothing in its log says in which zone.
pub(super) const HARDWARE: &str = "the machine's hardware clock (UTC or local time)";

/// A line as it stands, and where, if that is known.
pub(super) type Line<'a> = (&'a str, Option<&'a Place>);

/// What dates lines whose own clock names no year or no zone.
#[derive(Clone, Copy)]
pub(super) struct Dates<'a> {
    /// When the input ends, where that is known.
    now: Option<DateTime<Utc>>,
    clocks: &'a Clocks,
}

impl<'a> Dates<'a> {
    pub(super) fn of(analysis: &'a Analysis) -> Self {
        Self {
            now: analysis.reference_time,
            clocks: &analysis.clocks,
        }
    }
}

/// The time of the first line that has one, in words.
pub(super) fn of_lines<'a>(
    lines: impl Iterator<Item = Line<'a>>,
    dates: Dates<'_>,
) -> Option<String> {
    let lines: Vec<Line<'a>> = lines.collect();
    let dated = lines.iter().find(|(line, _)| {
        boot(line).is_some()
            || syslog(line).is_some()
            || klog(line).is_some()
            || written(line).is_some()
    });
    let Some((first, place)) = dated else {
        let stamp = ages::of(lines.iter().map(|(line, _)| *line))?;
        return Some(match &dates.clocks.newest {
            // Where the end of the input is known, the head of the report says it.
            Some((at, _)) if dates.now.is_none() => format!(
                "{stamp}. The newest date in the input is {}",
                words::time(*at)
            ),
            _ => stamp,
        });
    };
    if let Some(at) = written(first) {
        return Some(at);
    }
    if by_own(first).is_some() {
        let (at, own, place) = earliest((first, *place), &lines)?;
        return Some(by_log(&at, own, place, dates));
    }
    // The kernel's words may stand in the system's log as well, which has a date: there with its clock or without.
    let stamp = first.get(..first.find(']')? + 1)?;
    let same = |line: &str| line.contains(stamp) || said(line) == said(first);
    let mut same = lines.iter().filter(|(line, _)| same(line));
    if let Some((at, place)) = same.find_map(|(line, place)| Some((syslog(line)?, *place))) {
        return Some(by_log(at, Own::System, place, dates));
    }
    since_boot(boot(first)?, *place, dates.clocks)
}

/// The time of a line by the clock of its own log, which names no year.
fn by_own(line: &str) -> Option<(String, Own)> {
    let of_system = syslog(line).map(|at| (at.to_owned(), Own::System));
    of_system.or_else(|| Some((klog(line)?, Own::Klog)))
}

/// The earliest time of the lines of one log that were said within a day before this one: it is the strongest, and often
/// the last that was said.
fn earliest<'l>(
    (line, place): Line<'l>,
    lines: &[Line<'l>],
) -> Option<(String, Own, Option<&'l Place>)> {
    // Any year that has a 29 February: only the time between them counts.
    let moment = |at: &str| in_year(at, 2000);
    let (at, own) = by_own(line)?;
    let first = moment(&at)?;
    let others = lines.iter().filter_map(|(line, other)| {
        let same = other.zip(place).is_some_and(|(a, b)| a.path == b.path);
        // What a program prints of its settings is older than any trouble.
        let complains = grade::grade(&grade::plain(line)) > Grade::Plain;
        let (at, own) = by_own(line).filter(|_| same && complains)?;
        let before = first - moment(&at)?;
        let is_near = (TimeDelta::zero()..=TimeDelta::days(1)).contains(&before);
        is_near.then_some((before, (at, own, *other)))
    });
    let earliest = others.max_by_key(|(before, _)| *before);
    Some(earliest.map_or((at, own, place), |(_, found)| found))
}

/// What a line says, without any clock before it.
fn said(line: &str) -> &str {
    let message = line.get(dress::undress(line).outer..).unwrap_or(line);
    message.trim()
}

/// So many seconds after the start of the machine.
fn since_boot(seconds: i64, place: Option<&Place>, clocks: &Clocks) -> Option<String> {
    let after = words::span(TimeDelta::try_seconds(seconds)?);
    if let Some(at) = place.and_then(|place| clocks.since_start(place, seconds)) {
        // The kernel's clock stands still while the machine sleeps (`printk` takes `local_clock`).
        let (later, slept) = match seconds < AWAKE {
            true => ("", ""),
            false => (" or later", ", sleep not counted"),
        };
        let whole = match at {
            Started::At(at) => Some(at),
            // Whichever it shows, it is the same.
            Started::Hardware(at) => clocks.is_utc().then(|| at.and_utc()),
        };
        return Some(match (whole, at) {
            (Some(at), _) | (None, Started::At(at)) => {
                let at = words::time(at);
                format!("{at}{later}, {after} after the machine's start{slept}")
            }
            (None, Started::Hardware(at)) => {
                let at = at.format("%Y-%m-%d %H:%M:%S");
                format!("{at}{later} by {HARDWARE}, {after} after its start{slept}")
            }
        });
    }
    Some(if seconds < AT_BOOT {
        format!(
            "The last boot of the node, which the line does not date (first sign {seconds} s after it)"
        )
    } else {
        format!("{after} after the last boot of the node; the line has no date")
    })
}

/// The machine that the system's log names in the first line that has one.
pub(super) fn host_of_lines<'a>(mut lines: impl Iterator<Item = &'a str>) -> Option<String> {
    lines.find_map(|line| {
        syslog(line)?;
        Some(dress::host(line).to_string())
    })
}

/// A whole time of a line behind a head that nothing here knows, as that of `docker compose`, or as `dmesg -T` prints it.
fn written(line: &str) -> Option<String> {
    // What a clock shows is when somebody looked.
    if line.contains(" time: ") {
        return None;
    }
    let found = WRITTEN.captures(line)?;
    let part = |name: &str| found.name(name).map(|part| part.as_str());
    if let (Some(day), Some(clock)) = (part("ended_day"), part("ended")) {
        return Some(format!("{day} {clock} UTC, when the certificate ended"));
    }
    if let (Some(day), Some(clock)) = (part("day"), part("clock")) {
        return Some(format!("{day} {clock} UTC"));
    }
    let local = match (part("own_day"), part("own")) {
        (Some(day), Some(clock)) => format!("{} {clock}", day.replace('/', "-")),
        _ => format!("{} {}", part("date")?, part("year")?),
    };
    Some(match part("zone") {
        Some(zone) => format!("{local} {zone}"),
        None => format!("{local} by the node's own clock; the line names no time zone"),
    })
}

static WRITTEN: Form = Form::new(concat!(
    // crypto/x509 of Go: `current time ... is after ...`.
    r"^.{0,400}? is after (?P<ended_day>\d{4}-\d\d-\d\d)T(?P<ended>\d\d:\d\d:\d\d)Z",
    r"|^.{0,60}?\b(?P<day>\d{4}-\d\d-\d\d)T(?P<clock>\d\d:\d\d:\d\d)(?:\.\d+)?Z",
    r"|^.{0,60}?\b(?P<own_day>\d{4}[-/]\d\d[-/]\d\d)[T ]+(?P<own>\d\d:\d\d:\d\d)(?:[.,]\d+)?(?P<zone>[+-]\d\d:?\d\d)?",
    r"|^.{0,40}?\b\w{3} (?P<date>\w{3} +\d{1,2} \d\d:\d\d:\d\d)(?: [A-Z]{2,5})? (?P<year>\d{4})\b",
));

/// The time that a line tells which stands beside others, with where it stands unless it is one of them.
pub(super) fn of_beside(beside: &Beside, dates: Dates<'_>) -> Option<String> {
    let line = (beside.text.as_str(), Some(&beside.place));
    let stamp = of_lines(std::iter::once(line), dates)?;
    Some(match beside.near {
        Near::Same | Near::OfPod => stamp,
        Near::Above => format!(
            "{stamp}. This is the time of the nearest line above that has one ({})",
            beside.place
        ),
    })
}

fn by_log(at: &str, own: Own, place: Option<&Place>, dates: Dates<'_>) -> String {
    let date = |place: &Place| {
        dates
            .clocks
            .date(&place.path, own, |year| in_year(at, year))
    };
    let dated = place.and_then(date);
    let year = match dated {
        Some(Dated::At(at)) => return words::time(at),
        Some(Dated::Year(year)) => Some((year, "by the head of its log")),
        None => dates
            .now
            .and_then(|now| year(at, now))
            .map(|year| (year, "by the end of the input")),
    };
    let utc = year.filter(|_| dates.clocks.is_utc());
    if let Some(at) = utc.and_then(|(year, _)| in_year(at, year)) {
        return format!("{}, the zone of the machine", words::time(at.and_utc()));
    }
    match year {
        Some((year, by)) => {
            format!("{at} by the node's own clock, in {year} {by}; the line names no time zone")
        }
        None => format!("{at} by the node's own clock; the line names neither year nor time zone"),
    }
}

/// A time without a year, in a year.
fn in_year(at: &str, year: i32) -> Option<NaiveDateTime> {
    NaiveDateTime::parse_from_str(&format!("{year} {at}"), "%Y %b %d %H:%M:%S").ok()
}

/// The year of a time that lies before the end of the input, by whatever zone; none where that lies months after it,
/// for then the two may have nothing to do with each other.
fn year(at: &str, now: DateTime<Utc>) -> Option<i32> {
    const APART: i64 = 200;
    let latest = now.checked_add_signed(TimeDelta::days(1))?;
    let years = [latest.year(), latest.year() - 1];
    years.into_iter().find(|year| {
        in_year(at, *year).is_some_and(|at| {
            let before = latest.naive_utc() - at;
            (TimeDelta::zero()..TimeDelta::days(APART)).contains(&before)
        })
    })
}

/// `Jun 26 11:17:25` before the host's name.
fn syslog(line: &str) -> Option<&str> {
    let host = dress::host(line);
    if host.is_empty() {
        return None;
    }
    let at = line.get(..line.find(host)?)?.trim();
    let is_dated = at.matches(':').count() == 2 && at.split_whitespace().count() == 3;
    is_dated.then_some(at)
}

/// `W0430 21:48:52.463943` of klog as `Apr 30 21:48:52`.
fn klog(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let (date, clock) = (words.next()?, words.next()?);
    let date = date.strip_prefix(['I', 'W', 'E', 'F'])?;
    let (month, day) = (date.get(..2)?, date.get(2..)?);
    let month = Month::try_from(month.parse::<u8>().ok()?).ok()?;
    let (clock, _) = clock.split_once('.')?;
    let is_dated = day.len() == 2 && clock.len() == 8 && clock.matches(':').count() == 2;
    is_dated.then(|| {
        format!(
            "{} {day} {clock}",
            month.name().get(..3).unwrap_or_default()
        )
    })
}

/// Whole seconds since the boot of `[ 1897.016345] NVRM: ...`.
fn boot(line: &str) -> Option<i64> {
    let (clock, _) = line.trim_start().strip_prefix('[')?.split_once(']')?;
    let (seconds, _) = clock.trim().split_once('.')?;
    seconds.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Clock, ClockLine};

    #[test]
    fn the_first_line_of_a_log_that_complains_within_a_day_dates_it() {
        let clocks = Clocks::default();
        let place = Place {
            path: "a.log".into(),
            line: None,
        };
        let lines = [
            "E1120 10:05:13.100000     900 run.go:72] \"command failed\"",
            "Nov 19 07:00:00 n1 kubelet[300]: E1119 07:00:00.100000     300 run.go:72] \"command failed\"",
            "Nov 20 10:00:14 n1 kubelet[812]: E1120 10:00:14.100000     812 run.go:72] \"command failed\"",
        ];
        let at_first = of_lines(
            lines.iter().map(|line| (*line, Some(&place))),
            Dates {
                now: None,
                clocks: &clocks,
            },
        );
        assert!(at_first.unwrap().starts_with("Nov 20 10:00:14 by"));
    }

    #[test]
    fn a_time_without_a_year_is_said_as_the_log_has_it() {
        let clocks = Clocks::default();
        let at_end = |line: &str, now: Option<DateTime<Utc>>| {
            let clocks = &clocks;
            of_lines(std::iter::once((line, None)), Dates { now, clocks }).unwrap()
        };
        let of = |lines: &[&str]| {
            let (now, clocks) = (None, &clocks);
            of_lines(
                lines.iter().map(|line| (*line, None)),
                Dates { now, clocks },
            )
        };
        assert_eq!(
            of(&["GPU is lost", "Jun 26 11:17:25 gpu-1 kernel: NVRM: Xid 79"]).unwrap(),
            "Jun 26 11:17:25 by the node's own clock; the line names neither year nor time zone"
        );
        assert_eq!(
            of(&["[ 1897.016345] NVRM: Xid 79"]).unwrap(),
            "31 minutes after the last boot of the node; the line has no date"
        );
        assert!(
            of(&["[    3.952358] Lockdown: unsigned"])
                .unwrap()
                .starts_with("The last boot")
        );
        assert_eq!(
            of(&[
                "[521526.650125] NVRM: API mismatch",
                "Sep 13 12:22:48 gpu-2 kernel: [521526.650125] NVRM: make sure"
            ])
            .unwrap()
            .get(..15),
            Some("Sep 13 12:22:48")
        );
        assert_eq!(of(&["NVIDIA-SMI has failed"]), None);
        let klog = of(&["W0430 21:48:52.463943    3976 out.go:270] Exiting"]).unwrap();
        assert!(klog.starts_with("Apr 30 21:48:52 by"), "{klog}");
        let composed = of(&["dcgm-exporter  | time=\"2024-04-02T20:39:31Z\" level=warning"]);
        assert_eq!(composed.as_deref(), Some("2024-04-02 20:39:31 UTC"));
        let kernel = of(&["kern  :info  : [Mon May 15 09:25:27 2023] cgroup: fork rejected"]);
        assert!(kernel.unwrap().starts_with("May 15 09:25:27 2023 by"));
        let row = "  Warning  FailedScheduling  71s (x27 over 28m)  default-scheduler  0/1 nodes";
        assert!(of(&[row]).unwrap().starts_with("28m before the listing"));
        let row = "15s   Warning   FailedScheduling   pod/model-d   0/1 nodes";
        assert!(of(&[row]).unwrap().starts_with("15s before the listing"));
        assert_eq!(of(&["Warning: 3 names are too long"]), None);
        let row = "gpu  toolkit-xwp6p   0/1   Init:ImagePullBackOff   7 (67s ago)   73m";
        assert!(of(&[row]).unwrap().starts_with("At most 73m before"));
        for (line, stamp) in [
            (
                "2022/12/15 12:28:28 Retreiving plugins.",
                "2022-12-15 12:28:28 by",
            ),
            ("Wed Mar 13 17:14:08 2024", "Mar 13 17:14:08 2024 by"),
            (
                "x509: certificate has expired: current time 2021-04-04T09:04:37Z is after 2021-04-03T12:53:59Z",
                "2021-04-03 12:53:59 UTC, when",
            ),
            (
                "containerd: time=\"2022-11-02T18:00:58.73+02:00\" x",
                "2022-11-02 18:00:58 +02:00",
            ),
        ] {
            let found = of(&[line]).unwrap_or_default();
            assert!(found.starts_with(stamp), "{line}: {found}");
        }
        let now = "2025-01-02T09:00:00Z".parse().ok();
        let dated = at_end("Dec 31 10:00:00 gpu-1 kernel: x", now);
        assert!(dated.contains("in 2024 by the end"), "{dated}");
        let apart = at_end("Jan 31 10:00:00 gpu-1 kernel: x", now);
        assert!(apart.contains("neither year"), "{apart}");
    }

    #[test]
    fn lines_beside_give_the_year_the_zone_and_the_start_of_the_machine() {
        let line = |number: u32, clock: Clock| ClockLine {
            place: place(number),
            count: 2,
            clock,
        };
        let said = |text: &str, clock: Clock| {
            let clocks = Clocks {
                lines: vec![line(1, clock)],
                ..Clocks::default()
            };
            let now = "2021-02-02T09:00:00Z".parse().ok();
            let dates = Dates {
                now,
                clocks: &clocks,
            };
            of_lines(std::iter::once((text, Some(&place(9)))), dates).unwrap()
        };
        let started = "2020-11-19T11:58:33".parse().unwrap();
        let kernel = Clock::Kernel {
            started,
            seconds: 2,
        };
        assert_eq!(
            said("[    3.952358] Lockdown: unsigned", kernel.clone()),
            "2020-11-19 11:58:36 by the machine's hardware clock (UTC or local time), 3 seconds after its start"
        );
        let later = said("[ 7200.952358] NVRM: Xid", kernel);
        assert!(
            later.starts_with("2020-11-19 13:58:33 or later by"),
            "{later}"
        );
        let klog = "E1119 11:58:40.234178    4390 kubelet.go:2183] node not found";
        let zone = Clock::Zone {
            own: Own::Klog,
            year: 2020,
            month: 11,
            ahead: -60,
        };
        assert_eq!(said(klog, zone), "2020-11-19 12:58:40 UTC");
        let head = Clock::Log("2019-11-19T11:00:00".parse().unwrap());
        assert!(said(klog, head).contains("in 2019 by the head of its log"));
        assert_eq!(
            said(klog, Clock::Utc),
            "2020-11-19 11:58:40 UTC, the zone of the machine"
        );
    }

    fn place(number: u32) -> Place {
        Place {
            path: "a.log".into(),
            line: Some(number),
        }
    }
}
