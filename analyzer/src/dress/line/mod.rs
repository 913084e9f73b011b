//! The dress of a line: journal, syslog, kernel, klog, logfmt, JSON and container logs.

mod forms;
mod level;

use chrono::{DateTime, Utc};

use crate::form::Form;
use forms::{DATED, DECODED, FIELD, HOSTED, KERNEL, KLOG, SYSLOG, WORD, XORG, begins};
use level::level;
pub use level::{Level, is_note};

/// Layers that are taken off one line at most: a container log of a journal line of klog has three.
const LAYERS: usize = 4;

/// What stands before the message of a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dress<'a> {
    /// Unit, identifier or `kernel`; empty where the line names none.
    pub speaker: &'a str,
    /// Host; empty where the line names none.
    pub host: &'a str,
    /// Level; none where the line has none.
    pub level: Option<Level>,
    /// Time; only where the line says its year and its zone.
    pub at: Option<DateTime<Utc>>,
    /// Seconds since the year began, by a clock that names neither year nor zone: orders lines of one host.
    pub clock: Option<u32>,
    /// The same by the clock of klog, which runs in the zone of its own program: orders lines of one program only.
    pub klog: Option<u32>,
    /// Length of what names clock, host and speaker. Headers that belong to the message's own program (klog,
    /// logfmt, JSON) stay with the message.
    pub outer: usize,
    /// Length of the time at its very beginning, which a report does not repeat.
    pub time: usize,
    /// Whether the line has any dress at all.
    pub is_dressed: bool,
}

/// Takes the dress off a line.
pub fn undress(line: &str) -> Dress<'_> {
    let mut dress = outer(line);
    own_header(&line[dress.outer..], &mut dress);
    dress
}

/// The host that a line names before its message; empty where it names none.
pub fn host(line: &str) -> &str {
    outer(line).host
}

/// What names clock, host and speaker.
fn outer(line: &str) -> Dress<'_> {
    let mut dress = Dress::default();
    for _ in 0..LAYERS {
        let rest = &line[dress.outer..];
        let Some(length) = layer(rest, &mut dress) else {
            break;
        };
        dress.outer += length;
        dress.is_dressed = true;
    }
    dress
}

/// One layer that is no part of the message; gives its length.
fn layer<'a>(rest: &'a str, dress: &mut Dress<'a>) -> Option<usize> {
    container_log(rest, dress)
        .or_else(|| kernel_clock(rest, dress))
        .or_else(|| decoded(rest, dress))
        .or_else(|| {
            let may = begins::syslog(rest.as_bytes());
            may.then(|| hosted(rest, &SYSLOG, dress)).flatten()
        })
        .or_else(|| {
            // Behind a clock that was taken off before.
            let has_clock = dress.outer > 0 && dress.speaker.is_empty();
            let may = has_clock && begins::hosted(rest.as_bytes());
            may.then(|| hosted(rest, &HOSTED, dress)).flatten()
        })
}

fn hosted<'a>(rest: &'a str, form: &Form, dress: &mut Dress<'a>) -> Option<usize> {
    let found = form.captures(rest)?;
    let part = |name: &str| found.name(name).map(|one| one.as_str());
    if let (Some(month), Some(day), Some(time)) = (part("month"), part("day"), part("time")) {
        dress.clock = clock(month, day, time);
    }
    dress.host = found.name("host")?.as_str();
    dress.speaker = found.name("speaker")?.as_str();
    Some(found.get(0)?.end())
}

/// A month is taken for 31 days: only the order counts.
fn clock(month: &str, day: &str, time: &str) -> Option<u32> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let month = MONTHS.iter().position(|one| month.starts_with(one))?;
    seconds(u32::try_from(month).ok()?, day, time)
}

/// The same with a month in digits.
fn klog_clock(month: &str, day: &str, time: &str) -> Option<u32> {
    seconds(month.parse::<u32>().ok()?.checked_sub(1)?, day, time)
}

fn seconds(month: u32, day: &str, time: &str) -> Option<u32> {
    let mut seconds = month * 31 + day.parse::<u32>().ok()?;
    for (part, size) in time.split(':').zip([24, 60, 60]) {
        seconds = seconds.checked_mul(size)?.checked_add(part.parse().ok()?)?;
    }
    Some(seconds)
}

fn kernel_clock<'a>(rest: &'a str, dress: &mut Dress<'a>) -> Option<usize> {
    if !begins::kernel(rest.as_bytes()) {
        return None;
    }
    let found = KERNEL.find(rest)?;
    if dress.speaker.is_empty() {
        dress.speaker = "kernel";
    }
    Some(found.end())
}

/// `dmesg` prints the kernel's buffer, whoever wrote into it.
fn decoded<'a>(rest: &'a str, dress: &mut Dress<'a>) -> Option<usize> {
    if !begins::facility(rest.as_bytes()) {
        return None;
    }
    let found = DECODED.captures(rest)?;
    dress.speaker = "kernel";
    dress.level = level(found.name("level")?.as_str());
    Some(found.get(0)?.end())
}

/// A time with year and zone, and behind it the marks of a container log.
fn container_log(rest: &str, dress: &mut Dress<'_>) -> Option<usize> {
    let (at, time) = super::clock::leading_time(rest);
    if time == 0 {
        return None;
    }
    dress.at = dress.at.or(at);
    if dress.outer == 0 {
        dress.time = time;
    }
    let behind = &rest[time..];
    let marks = ["stdout F ", "stderr F ", "stdout P ", "stderr P "];
    let mark = marks.iter().find(|mark| behind.starts_with(**mark));
    Some(time + mark.map_or(0, |mark| mark.len()))
}

/// The header that the speaking program writes itself: it stays with the message and gives the level.
fn own_header(message: &str, dress: &mut Dress<'_>) {
    let bytes = message.as_bytes();
    let klog = begins::klog(bytes).then(|| KLOG.captures(message));
    if let Some(found) = klog.flatten() {
        dress.level = found.name("level").and_then(|one| level(one.as_str()));
        let part = |name: &str| found.name(name).map_or("", |one| one.as_str());
        dress.klog = klog_clock(part("month"), part("day"), part("time"));
        dress.is_dressed = true;
        return;
    }
    let xorg = matches!(bytes.first(), Some(b'[' | b'(')).then(|| XORG.captures(message));
    if let Some(found) = xorg.flatten() {
        dress.is_dressed = true;
        dress.level = Some(match found.name("level").map(|one| one.as_str()) {
            Some("EE") => Level::Error,
            Some("WW") => Level::Warning,
            _ => Level::Info,
        });
        if dress.speaker.is_empty() {
            dress.speaker = "Xorg";
        }
        return;
    }
    let is_fields = ["time=", "ts=", "level=", "{"];
    if is_fields.iter().any(|start| message.starts_with(start)) {
        let found = FIELD.captures(message);
        let named = found.and_then(|found| found.name("level"));
        if let Some(found) = named.and_then(|one| level(one.as_str())) {
            dress.level = Some(found);
            dress.is_dressed = true;
        }
        if let (Some(at), _) = super::clock::leading_time(message) {
            dress.at = dress.at.or(Some(at));
            dress.is_dressed = true;
        }
        return;
    }
    let dated = begins::dated(bytes).then(|| DATED.find(message)).flatten();
    dress.is_dressed |= dated.is_some();
    let from = dated.map_or(0, |found| found.end());
    // etcd 3.4 and older (capnslog): UTC without saying so, and a level of one letter.
    let capnslog = |rest: &str| rest.get(1..4) == Some(" | ");
    if let Some(dated) = dated.filter(|_| message.get(from..).is_some_and(capnslog)) {
        let form = "%Y-%m-%d %H:%M:%S%.f";
        let at = chrono::NaiveDateTime::parse_from_str(dated.as_str().trim(), form);
        dress.at = dress.at.or(at.ok().map(|at| at.and_utc()));
    }
    let head = head(&message[from..]);
    // A bare word is a level only where a log stands around it.
    let marked = dress.is_dressed || head.starts_with('[');
    let found = marked.then(|| WORD.captures(head)).flatten();
    if let Some(found) = found.and_then(|found| level(found.name("level")?.as_str())) {
        dress.level = Some(found);
        dress.is_dressed = true;
    }
}

/// The first part of a message, in which a level may stand.
fn head(message: &str) -> &str {
    const LONGEST: usize = 48;
    let mut end = message.len().min(LONGEST);
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    &message[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGE: &str = "failed to load cni during init";

    #[test]
    fn every_dress_gives_the_same_message_with_who_said_it() {
        for (dress, speaker) in [
            ("Nov 20 10:00:02 gpu-1 containerd[812]: ", "containerd"),
            (
                "Nov  2 10:00:02.123456 gpu-1 containerd[812]: ",
                "containerd",
            ),
            ("5\u{6708} 29 17:51:15 gpu-1 kernel: ", "kernel"),
            (
                "2026-11-20T10:00:02.500+0100 gpu-1 containerd[812]: ",
                "containerd",
            ),
            (
                "2026-11-20T10:00:02.500Z gpu-1 kernel: [   12.345678] ",
                "kernel",
            ),
            ("[   12.345678] ", "kernel"),
            ("kern  :err   : 2026-11-20T10:00:02,500000+00:00 ", "kernel"),
            ("<6>[   12.345678] ", "kernel"),
            ("[Fri Nov 20 10:00:02 2026] ", "kernel"),
            ("[   12.345678] gpu-1 containerd[812]: ", "containerd"),
            ("2026-11-20T10:00:02.500000000Z stderr F ", ""),
            ("1795168802.500000 gpu-1 containerd[812]: ", "containerd"),
        ] {
            let line = format!("{dress}{MESSAGE}");
            let found = undress(&line);
            // `dmesg` behind a hosted clock keeps the first speaker.
            let told = if dress.contains("gpu-1 containerd") && dress.starts_with('[') {
                found.speaker == "containerd" || found.speaker == "kernel"
            } else {
                found.speaker == speaker
            };
            assert!(told, "{line}: {found:?}");
            assert!(found.is_dressed, "{line}");
            if !dress.starts_with("[   12.345678] gpu") {
                assert_eq!(&line[found.outer..], MESSAGE, "{line}");
            }
        }
    }

    #[test]
    fn levels_are_read_in_every_form() {
        for (line, wanted) in [
            (
                "E1120 10:00:00.000000    1502 kubelet.go:2450] x",
                Level::Error,
            ),
            (
                "Nov 20 10:00:02 n kubelet[1]: I1120 10:00:00.000000 1 a.go:1] x",
                Level::Info,
            ),
            (
                "time=\"2026-11-20T10:00:00Z\" level=warning msg=x",
                Level::Warning,
            ),
            (
                "{\"level\":\"info\",\"ts\":\"2026-11-20T10:00:00Z\",\"msg\":\"x\"}",
                Level::Info,
            ),
            (
                "2026-11-20 10:00:00.1 W | wal: sync duration",
                Level::Warning,
            ),
            (
                "2026-11-20 10:00:00.1 [WARNING][58] felix/x.go 1: y",
                Level::Warning,
            ),
            (
                "[ERROR] plugin/errors: 2 a. HINFO: i/o timeout",
                Level::Error,
            ),
            ("2026-11-20 10:00:00,123 - app - INFO - ready", Level::Info),
            ("[   138.379] (II) Unloading nouveau", Level::Info),
        ] {
            assert_eq!(undress(line).level, Some(wanted), "{line}");
        }
    }

    #[test]
    fn what_has_no_dress_is_not_given_one() {
        for line in [
            "no runtime for \"nvidia\" is configured",
            "Error: context deadline exceeded",
            "INFO about the cluster: it fails",
            "  Warning  Failed  5m  kubelet  Failed to pull image",
            "gpu-1 kubelet: x",
        ] {
            let found = undress(line);
            assert!(!found.is_dressed, "{line}: {found:?}");
            assert_eq!(found.outer, 0, "{line}");
        }
    }
}
