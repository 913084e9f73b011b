//! Lines that date others: the kernel reads the hardware clock, a log has a head, a line tells its time twice.

use chrono::{DateTime, Datelike, NaiveDateTime, TimeDelta, Timelike, Utc};

use super::host_lines::said;
use super::{Extracted, Extractor, HostSays};
use crate::lines::LogLine;
use crate::model::{Clock, Own};

/// `[    1.994040] rtc_cmos 00:00: setting system clock to 2019-11-16T03:25:51 UTC (1573874751)`; kernels before 5.0 have a
/// blank for the `T`. Linux, drivers/rtc/class.c and, earlier, hctosys.c.
pub(super) static HARDWARE_CLOCK: Extractor = Extractor {
    needle: "setting system clock to ",
    extract: |line| {
        let (head, rest) = line.shown().split_once("setting system clock to ")?;
        let seconds = head.trim_start().strip_prefix('[')?.split_once('.')?.0;
        let seconds: i64 = seconds.trim().parse().ok()?;
        let at = written(rest, "%Y-%m-%dT%H:%M:%S")?;
        let started = at.checked_sub_signed(TimeDelta::try_seconds(seconds)?)?;
        Some(clock(line, Clock::Kernel { started, seconds }))
    },
};

/// The head of klog's and glog's files: `Log file created at: 2026/04/30 21:41:58`, by the clock of the lines below it.
pub(super) static LOG_HEAD: Extractor = Extractor {
    needle: "Log file created at: ",
    extract: |line| {
        let (_, rest) = line.shown().split_once("Log file created at: ")?;
        Some(clock(line, Clock::Log(written(rest, "%Y/%m/%dT%H:%M:%S")?)))
    },
};

/// A time as Go prints it, in a line whose own clock has neither year nor zone.
pub(super) static GO_TIME: Extractor = Extractor {
    needle: " +0000 UTC",
    extract: |line| {
        let (own, shown) = match (line.clock, line.klog) {
            (Some(shown), _) => (Own::System, shown),
            (None, shown) => (Own::Klog, shown?),
        };
        let (head, _) = line.shown().split_once(" +0000 UTC")?;
        let start = head.len().checked_sub(head.len().min(MOST))?;
        let tail = head.get(start..)?;
        // Behind `started: ` or `Timestamp:` begins the date.
        let at = tail.rmatch_indices('-').nth(1)?.0.checked_sub(4)?;
        let at = written(tail.get(at..)?, "%Y-%m-%dT%H:%M:%S")?.and_utc();
        let ahead = ahead(shown, at)?;
        let local = at.checked_add_signed(TimeDelta::try_minutes(i64::from(ahead))?)?;
        let (year, month) = (local.year(), local.month());
        let zone = Clock::Zone {
            own,
            year,
            month,
            ahead,
        };
        Some(clock(line, zone))
    },
};

/// `Time zone: Etc/UTC (UTC, +0000)` of timedatectl.
pub(super) static ZONE: Extractor = Extractor {
    needle: "Time zone: ",
    extract: |line| {
        let zone = line.shown().trim().strip_prefix("Time zone: ")?;
        let is_utc = zone.ends_with("UTC (UTC, +0000)");
        is_utc.then(|| clock(line, Clock::Utc))
    },
};

/// systemd's first words: `systemd 252.22-1~deb12u1 running in system mode (+PAM ...)`, with a `v` before the version
/// since 255. systemd, src/core/main.c.
pub(super) static SYSTEMD: Extractor = Extractor {
    needle: " running in system mode ",
    extract: |line| {
        let is_its_own =
            line.speaker.starts_with("systemd") || line.shown().contains("systemd[1]: ");
        is_its_own.then(|| clock(line, Clock::Systemd))
    },
};

/// systemd's `RTC configured in localtime, applying delta of 480 minutes to system time.`; it says nothing where the clock
/// runs in UTC. systemd, src/core/main.c, `initialize_clock`.
pub(super) static LOCAL_HARDWARE_CLOCK: Extractor = Extractor {
    needle: "RTC configured in localtime, applying delta of ",
    extract: |line| {
        let (_, rest) = line.shown().split_once("applying delta of ")?;
        let minutes = rest.split_once(" minutes")?.0.parse().ok()?;
        Some(clock(line, Clock::LocalHardware(minutes)))
    },
};

/// A date, a time and a fraction are no longer.
const MOST: usize = 30;
/// A line is written so many seconds after the time that it tells, at most.
const LATE: i64 = 2;
/// Zones are apart by a multiple of this.
const STEP: i64 = 15 * 60;
/// No zone is further ahead or behind.
const FURTHEST: i64 = 14 * 3600;

fn clock(line: &LogLine<'_>, clock: Clock) -> Extracted {
    Extracted::Host(said(line, HostSays::Clock(clock)))
}

/// Date and time at the start of a text, with a `T` or a blank between.
fn written(text: &str, form: &str) -> Option<NaiveDateTime> {
    let text = text.get(..19)?.replacen(' ', "T", 1);
    NaiveDateTime::parse_from_str(&text, form).ok()
}

/// How many minutes a clock is ahead of UTC that shows this, in seconds of a year of months of 31 days.
fn ahead(shown: u32, at: DateTime<Utc>) -> Option<i32> {
    let days = i64::from(at.month0()) * 31 + i64::from(at.day());
    let apart = i64::from(shown) - (days * 86_400 + i64::from(at.num_seconds_from_midnight()));
    let zone = (apart + LATE).div_euclid(STEP) * STEP;
    let fits = (apart - zone).abs() <= LATE && zone.abs() <= FURTHEST;
    fits.then(|| i32::try_from(zone / 60).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::{Channel, Origin};

    fn told(extractor: &Extractor, text: &str) -> Option<Clock> {
        let origin = Origin::of("a.log", Channel::Text);
        let line = origin.decode(text.as_bytes(), 0);
        assert!(text.contains(extractor.needle));
        match (extractor.extract)(&line)? {
            Extracted::Host(host) => match host.says {
                HostSays::Clock(clock) => Some(clock),
                _ => None,
            },
            _ => None,
        }
    }

    #[test]
    fn a_clock_is_read_from_the_line_that_sets_or_tells_it() {
        let started = Some(Clock::Kernel {
            started: "2019-11-16T03:25:50".parse().unwrap(),
            seconds: 1,
        });
        let new = "[    1.994040] rtc_cmos 00:00: setting system clock to 2019-11-16T03:25:51 UTC (1573874751)";
        let old = "[    1.545675] rtc 7000e000.rtc: setting system clock to 2019-11-16 03:25:51 UTC (1573874751)";
        assert_eq!(told(&HARDWARE_CLOCK, new), started);
        assert_eq!(told(&HARDWARE_CLOCK, old), started);
        let head = "2026-04-30T21:41:58".parse().unwrap();
        assert_eq!(
            told(&LOG_HEAD, "Log file created at: 2026/04/30 21:41:58"),
            Some(Clock::Log(head))
        );
        assert_eq!(
            told(&ZONE, "       Time zone: Etc/UTC (UTC, +0000)"),
            Some(Clock::Utc)
        );
        assert_eq!(
            told(&ZONE, "       Time zone: Europe/Berlin (CET, +0100)"),
            None
        );
    }

    #[test]
    fn systemd_tells_by_what_the_hardware_clock_runs() {
        let local = "[    3.037821] systemd[1]: RTC configured in localtime, applying delta of 480 minutes to system time.";
        assert_eq!(
            told(&LOCAL_HARDWARE_CLOCK, local),
            Some(Clock::LocalHardware(480))
        );
        let start =
            "[    2.5] systemd[1]: systemd 249.11-0ubuntu3.9 running in system mode (+PAM +AUDIT)";
        assert_eq!(told(&SYSTEMD, start), Some(Clock::Systemd));
        let other = "[    2.5] init: daemon running in system mode (+PAM +AUDIT)";
        assert_eq!(told(&SYSTEMD, other), None);
    }

    #[test]
    fn a_time_in_full_tells_the_zone_only_where_it_is_the_lines_own() {
        let line = |clock: &str, full: &str| {
            let text = format!(
                "I1119 {clock}    4390 manager.go:213] Machine: {{Timestamp:{full} +0000 UTC m=+5.7"
            );
            told(&GO_TIME, &text)
        };
        let zone = |ahead| {
            Some(Clock::Zone {
                own: Own::Klog,
                year: 2020,
                month: 11,
                ahead,
            })
        };
        let full = "2020-11-19 11:58:33.231674291";
        assert_eq!(line("11:58:33.234178", full), zone(0));
        assert_eq!(line("17:28:34.234178", full), zone(330));
        assert_eq!(line("06:58:33.234178", full), zone(-300));
        assert_eq!(line("12:04:11.234178", full), None);
        assert_eq!(line("11:58:33.234178", "2021-08-04 09:07:19"), None);
        let journal =
            "May 12 06:54:38 host podman[2568]: 2025-05-12 04:54:38.931736502 +0000 UTC m=+0.03 x";
        let zone = Clock::Zone {
            own: Own::System,
            year: 2025,
            month: 5,
            ahead: 120,
        };
        assert_eq!(told(&GO_TIME, journal), Some(zone));
    }
}
