//! Clocks at the start of a line that say their year and their zone.

use chrono::{DateTime, Utc};

/// The time at the start of a line and the length of it with the blank behind it. A time that does not say its zone or
/// its year is not read: a guess would put moments into a wrong order.
pub(crate) fn leading_time(text: &str) -> (Option<DateTime<Utc>>, usize) {
    // logfmt and JSON, as containerd, the NVIDIA toolkit and etcd write them; the line is kept whole.
    if let Some(rest) = text.strip_prefix("time=\"") {
        return (quoted(rest), 0);
    }
    if text.starts_with('{') {
        let named = [r#""ts":""#, r#""time":""#].iter();
        let at = named.filter_map(|name| text.split_once(name)).next();
        return (at.and_then(|(_, rest)| quoted(rest)), 0);
    }
    let Some(word) = text.split(' ').next() else {
        return (None, 0);
    };
    if !word.starts_with(|first: char| first.is_ascii_digit()) {
        return (None, 0);
    }
    match written(word).or_else(|| epoch(word)) {
        Some(at) => (Some(at), (word.len() + 1).min(text.len())),
        None => (None, 0),
    }
}

/// Whether a line begins with a date and a clock as most logs write them.
pub(crate) fn begins_with_date(line: &[u8]) -> bool {
    const DATE: &[u8; 19] = b"0000-00-00T00:00:00";
    let Some(line) = line.first_chunk::<19>() else {
        return false;
    };
    let mut pairs = DATE.iter().zip(line);
    pairs.all(|(form, byte)| match form {
        b'0' => byte.is_ascii_digit(),
        b'-' => matches!(byte, b'-' | b'/'),
        b'T' => matches!(byte, b'T' | b' '),
        form => byte == form,
    })
}

fn quoted(rest: &str) -> Option<DateTime<Utc>> {
    written(rest.split('"').next()?)
}

/// RFC 3339, and as `dmesg --time-format iso` (a comma) and `journalctl -o short-iso` (no colon in the zone) write it.
fn written(word: &str) -> Option<DateTime<Utc>> {
    // The shortest one: 2026-11-20T10:00:00Z.
    if word.len() < 20 || word.len() > 40 {
        return None;
    }
    let at = DateTime::parse_from_rfc3339(word);
    let at = at.or_else(|_| {
        let dotted = word.replacen(',', ".", 1);
        DateTime::parse_from_str(&dotted, "%Y-%m-%dT%H:%M:%S%.f%z")
    });
    at.ok().map(|at| at.to_utc())
}

/// Seconds of the epoch with six digits behind the point, as `journalctl -o short-unix` writes them.
fn epoch(word: &str) -> Option<DateTime<Utc>> {
    let (seconds, micros) = word.split_once('.')?;
    let digits = |text: &str, count: usize| {
        text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    if !digits(seconds, 10) || !digits(micros, 6) {
        return None;
    }
    DateTime::from_timestamp_micros(format!("{seconds}{micros}").parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_where_it_says_year_and_zone_and_else_not_guessed() {
        let at = "2026-11-20T10:00:02.500+00:00";
        let wanted = DateTime::parse_from_rfc3339(at).ok().map(|at| at.to_utc());
        for known in [
            "2026-11-20T10:00:02.500Z NVRM: Xid",
            "2026-11-20T11:00:02,500000+01:00 NVRM: Xid",
            "2026-11-20T11:00:02.500+0100 gpu-1 kernel: NVRM: Xid",
            "1795168802.500000 gpu-1 kernel: NVRM: Xid",
            r#"{"level":"warn","ts":"2026-11-20T10:00:02.500Z","msg":"slow"}"#,
            r#"time="2026-11-20T10:00:02.500Z" level=warning"#,
        ] {
            assert_eq!(leading_time(known).0, wanted, "{known}");
        }
        for unknown in [
            "Nov 20 10:00:02 gpu-1 kernel: NVRM: Xid",
            "[Fri Nov 20 10:00:02 2026] NVRM: Xid",
            "11/20/2026 10:00:02 AM NVRM: Xid",
            "Fr 2026-11-20 10:00:02 CET NVRM: Xid",
            "2026\u{5e74}11\u{6708}20\u{65e5} 10:00:02 NVRM: Xid",
            "E1120 10:00:02.500000    1502 main.go:3] NVRM: Xid",
            "192.168178 is no time",
        ] {
            assert_eq!(leading_time(unknown), (None, 0), "{unknown}");
        }
    }
}
