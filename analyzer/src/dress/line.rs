//! The dress of a line: journal, syslog, kernel, klog, logfmt, JSON and container logs.

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use regex::Regex;

/// Layers that are taken off one line at most: a container log of a journal line of klog has three.
const LAYERS: usize = 4;

/// How loudly a line says what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For who looks for a fault in the program.
    Debug,
    /// What goes its way.
    Info,
    /// What somebody should look at.
    Warning,
    /// What did not work.
    Error,
}

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

/// `Nov 20 10:00:00 gpu-1 kubelet[812]: `, with any word for the month, a fraction or a year.
static SYSLOG: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^(?:<\d{1,3}>)?(?P<month>\d{1,2}\S{0,2}|\S{3,9}\.?) {1,2}(?P<day>\d{1,2}) (?:\d{4} )?(?P<time>\d\d:\d\d:\d\d)(?:\.\d+)? (?P<host>[\w.-]+) (?P<speaker>[^\s\[\]:]+(?:/[^\s\[\]:]+)?)(?:\[\d+\])?: ?",
    )
    .ok()
});
/// `gpu-1 kubelet[812]: ` behind a time, and `[  12.345678] gpu-1 kubelet[812]: ` without its clock.
static HOSTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?P<host>[\w.-]+) (?P<speaker>[A-Za-z_(][^\s\[\]:]*)(?:\[\d+\])?: ?").ok()
});
/// The kernel's clock: seconds since the boot with six digits, or the date of `dmesg -T`.
static KERNEL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^(?:<\d{1,3}>|(?:kern|user|daemon|syslog) *:\w+ *: )?\[(?: *\d+\.\d{6}|\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4})\](?:\[ *[TC]\d+\])? ",
    )
    .ok()
});
/// Facility and level in words, as `dmesg -x` (`--decode`) puts them before its clock.
static DECODED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^(?:kern|user|mail|daemon|auth|syslog) *:(?P<level>emerg|alert|crit|err|warn|notice|info|debug) *: ",
    )
    .ok()
});
/// X.Org's clock has three digits, and a mark for the level behind it.
static XORG: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:\[ *\d+\.\d{3}\] )?\((?P<level>II|WW|EE|==|--|\*\*|!!|NI|\?\?)\) ").ok()
});
static KLOG: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?P<level>[DIWEF])(?P<month>\d\d)(?P<day>\d\d) (?P<time>\d\d:\d\d:\d\d)\.\d+ +\d+ [\w./-]+:\d+\]").ok()
});
/// A date and a time without a zone, as etcd 3.4, Calico, Python and Fabric Manager write them.
static DATED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^\[?\w{0,3} ?\w{0,3} ?\d{2,4}[-/]\d\d[-/]\d{2,4}[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?\]? ",
    )
    .ok()
});
/// A level as a word near the beginning of a line.
static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?:^|[\s\[(|<*-])(?P<level>DEBUG|TRACE|INFO|NOTICE|WARN|WARNING|ERROR|ERR|FATAL|CRITICAL|CRIT|PANIC|EMERG|SEVERE|[DINWEC](?: \|))(?:$|[\s\])|>:*-])"#,
    )
    .ok()
});
/// The same as a field.
static FIELD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?i)\b(?:level|lvl|severity|L)"?[=:] ?"?(?P<level>[a-z]+)\b"#).ok()
});

/// What lines of a form begin with: most lines have another form, and meet no expression.
mod begins {
    /// `Nov 20 `: a short word, one or two blanks, one or two digits, a blank.
    pub(super) fn syslog(line: &[u8]) -> bool {
        // A mark for priority, and a month's name of nine characters with a point.
        const LONGEST: usize = 5 + 9 * 4 + 1;
        let head = &line[..line.len().min(LONGEST + 5)];
        let Some(blank) = memchr::memchr(b' ', head).filter(|at| *at > 0) else {
            return false;
        };
        let behind = &head[blank + 1..];
        let behind = behind.strip_prefix(b" ").unwrap_or(behind);
        matches!(
            behind,
            [b'0'..=b'9', b' ', ..] | [b'0'..=b'9', b'0'..=b'9', b' ', ..]
        )
    }

    /// `[`, or facility and level in front of it.
    pub(super) fn kernel(line: &[u8]) -> bool {
        matches!(line.first(), Some(b'[' | b'<' | b'k' | b'u' | b'd' | b's'))
    }

    /// A facility in words.
    pub(super) fn facility(line: &[u8]) -> bool {
        matches!(line.first(), Some(b'k' | b'u' | b'm' | b'd' | b'a' | b's'))
    }

    /// `I1120 `.
    pub(super) fn klog(line: &[u8]) -> bool {
        matches!(line, [b'D' | b'I' | b'W' | b'E' | b'F', b'0'..=b'9', ..])
    }

    /// A digit with a dash or a slash behind it, in the first words.
    pub(super) fn dated(line: &[u8]) -> bool {
        const LONGEST: usize = 40;
        let head = &line[..line.len().min(LONGEST)];
        let mut pairs = head.windows(2);
        pairs.any(|pair| matches!(pair, [b'0'..=b'9', b'-' | b'/']))
    }
}

/// Takes the dress off a line.
pub fn undress(line: &str) -> Dress<'_> {
    let mut dress = Dress::default();
    for _ in 0..LAYERS {
        let rest = &line[dress.outer..];
        let Some(length) = layer(rest, &mut dress) else {
            break;
        };
        dress.outer += length;
        dress.is_dressed = true;
    }
    own_header(&line[dress.outer..], &mut dress);
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
            has_clock.then(|| hosted(rest, &HOSTED, dress)).flatten()
        })
}

fn hosted<'a>(
    rest: &'a str,
    form: &'static LazyLock<Option<Regex>>,
    dress: &mut Dress<'a>,
) -> Option<usize> {
    let found = form.as_ref()?.captures(rest)?;
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
    let found = KERNEL.as_ref()?.find(rest)?;
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
    let found = DECODED.as_ref()?.captures(rest)?;
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
    let klog = KLOG.as_ref().filter(|_| begins::klog(bytes));
    if let Some(found) = klog.and_then(|form| form.captures(message)) {
        dress.level = found.name("level").and_then(|one| level(one.as_str()));
        let part = |name: &str| found.name(name).map_or("", |one| one.as_str());
        dress.klog = klog_clock(part("month"), part("day"), part("time"));
        dress.is_dressed = true;
        return;
    }
    let xorg = XORG
        .as_ref()
        .filter(|_| matches!(bytes.first(), Some(b'[' | b'(')));
    if let Some(found) = xorg.and_then(|form| form.captures(message)) {
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
        let found = FIELD.as_ref().and_then(|form| form.captures(message));
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
    let dated = DATED.as_ref().filter(|_| begins::dated(bytes));
    let dated = dated.and_then(|form| form.find(message));
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
    let found = WORD.as_ref().filter(|_| marked);
    let found = found.and_then(|form| form.captures(head));
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

fn level(word: &str) -> Option<Level> {
    let word = word.trim_end_matches(" |").to_ascii_lowercase();
    Some(match word.as_str() {
        "d" | "debug" | "trace" => Level::Debug,
        "i" | "n" | "info" | "notice" => Level::Info,
        "w" | "warn" | "warning" => Level::Warning,
        "e" | "c" | "f" | "alert" | "err" | "error" | "fatal" | "critical" | "crit" | "panic"
        | "emerg" | "severe" | "dpanic" => Level::Error,
        _ => return None,
    })
}

/// What a program writes of itself when it starts: its flags, its arguments, the commands that it runs.
static START_UP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"\bFLAG: --|_runner\.go:\d+\] (?:Run|Completed|Args|Start): |"msg":"(?:Running: ?|starting an etcd server|server starting)"|level=info msg="?Start(?:ing|ed)? cri plugin with config"#,
    )
    .ok()
});
/// Words by which a note tells of a fault all the same: the kubelet calls a failed probe information.
static TROUBLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i-u)\b(?:fail(?:s|ed|ing|ure)?|errors?|err=|unhealthy|refused|denied|forbidden|cannot|can't|could not|unable|timed? ?out|not (?:found|ready|fit|match|enough|supported|available|exist)|no such|insufficient|exceed\w*|kill(?:ed|ing)|evict\w*|back-?off|invalid|panic|oom\w*|warning|mismatch|lost|corrupt\w*|degraded|retrying|skip\w*|dropped|died|crash\w*|missing)\b",
    )
    .ok()
});

/// Whether a line is a mere note: its speaker calls it information, and no word of it speaks of trouble, or it is
/// what a program writes of itself when it starts.
pub fn is_note(message: &str, level: Option<Level>) -> bool {
    let has = |form: &'static LazyLock<Option<Regex>>| {
        form.as_ref().is_some_and(|form| form.is_match(message))
    };
    has(&START_UP) || (level.is_some_and(|level| level <= Level::Info) && !has(&TROUBLE))
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

    #[test]
    fn a_note_that_tells_of_trouble_is_more_than_a_note() {
        let info = Some(Level::Info);
        assert!(is_note(
            "I0512 1 flags.go:64] FLAG: --fail-swap-on=\"true\"",
            info
        ));
        assert!(is_note("lock is held and has not yet expired", info));
        assert!(!is_note("I0512 1 prober.go:107] \"Probe failed\"", info));
        assert!(!is_note("lock is held and has not yet expired", None));
    }
}
