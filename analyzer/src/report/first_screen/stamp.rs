//! Times of logs whose clock names no year or no zone, as people read them off the line.

use chrono::{Month, TimeDelta};

use crate::dress;
use crate::report::words;

/// Seconds after the start of the machine that count as the start itself.
const AT_BOOT: i64 = 60;

/// The time of the first line that has one, in words.
pub(super) fn of_lines<'a>(lines: impl Iterator<Item = &'a str>) -> Option<String> {
    let lines: Vec<&str> = lines.collect();
    let first = lines
        .iter()
        .find(|line| boot(line).is_some() || syslog(line).is_some() || klog(line).is_some())?;
    if let Some(at) = syslog(first) {
        return Some(by_log(at));
    }
    if let Some(at) = klog(first) {
        return Some(by_log(&at));
    }
    // The same line of the kernel may stand in the system's log as well, which has a date.
    let stamp = first.get(..first.find(']')? + 1)?;
    let dated = lines.iter().filter(|line| line.contains(stamp));
    if let Some(at) = dated.filter_map(|line| syslog(line)).next() {
        return Some(by_log(at));
    }
    let seconds = boot(first)?;
    if seconds < AT_BOOT {
        return Some(format!(
            "The last boot of the node, which the log does not date (first sign {seconds} s after it)"
        ));
    }
    let after = TimeDelta::try_seconds(seconds)?;
    Some(format!(
        "{} after the last boot of the node; the log has no date",
        words::span(after)
    ))
}

/// The machine that the system's log names in the first line that has one.
pub(super) fn host_of_lines<'a>(mut lines: impl Iterator<Item = &'a str>) -> Option<String> {
    lines.find_map(|line| {
        syslog(line)?;
        Some(dress::undress(line).host.to_string())
    })
}

fn by_log(at: &str) -> String {
    format!("{at} by the node's own clock; the log names neither year nor time zone")
}

/// `Jun 26 11:17:25` before the host's name.
fn syslog(line: &str) -> Option<&str> {
    let host = dress::undress(line).host;
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

    #[test]
    fn a_time_without_a_year_is_said_as_the_log_has_it() {
        let of = |lines: &[&str]| of_lines(lines.iter().copied());
        assert_eq!(
            of(&["GPU is lost", "Jun 26 11:17:25 gpu-1 kernel: NVRM: Xid 79"]).unwrap(),
            "Jun 26 11:17:25 by the node's own clock; the log names neither year nor time zone"
        );
        assert_eq!(
            of(&["[ 1897.016345] NVRM: Xid 79"]).unwrap(),
            "31 minutes after the last boot of the node; the log has no date"
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
    }
}
