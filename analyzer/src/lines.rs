//! Log lines: the text of a raw line, its time and who said it, decoded only when a literal matched.

use std::borrow::Cow;
use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;

use crate::model::Place;

/// Entries kept as text, by path.
pub type Documents = BTreeMap<String, String>;

/// What a node is called that no evidence names.
pub const UNNAMED_NODE: &str = "unnamed-node";

/// The node that a path names; empty for cluster entries.
pub fn node_of(path: &str) -> &str {
    path.strip_prefix("nodes/")
        .and_then(|rest| rest.split('/').next())
        .unwrap_or("")
}

/// Where a line of text was said; rules restrict their patterns to channels.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    serde::Deserialize,
    serde::Serialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Channel {
    /// Kernel messages.
    Kernel,
    /// System journal of a unit (kubelet, containerd, ...).
    Journal,
    /// Log of a container.
    PodLog,
    /// Message of an event.
    Event,
    /// Message in an object's status.
    Status,
    /// Output of a command on the node.
    Command,
    /// A file of the node.
    File,
    /// Text of unknown origin.
    Text,
}

/// A decoded line.
pub struct LogLine<'a> {
    /// Entry path.
    pub path: &'a str,
    /// Node named by the path; empty for cluster entries.
    pub node: &'a str,
    /// Line number within the piece, from 0.
    pub offset: u32,
    /// Where it was said.
    pub channel: Channel,
    /// Who said it: `pod/<ns>/<pod>` or a unit or identifier.
    pub speaker: String,
    /// The message.
    pub text: Cow<'a, str>,
    /// When.
    pub at: Option<DateTime<Utc>>,
}

impl LogLine<'_> {
    /// The place, with the line counted within the piece; the scan adds the lines before it.
    pub fn place(&self) -> Place {
        Place {
            path: self.path.to_owned(),
            line: Some(self.offset.saturating_add(1)),
        }
    }

    /// What the line is about: the pod that logged it, or the node.
    pub fn subject(&self) -> String {
        if self.speaker.starts_with("pod/") {
            self.speaker.clone()
        } else if self.node.is_empty() {
            String::new()
        } else {
            format!("node/{}", self.node)
        }
    }
}

/// The earlier of two times, where a missing one does not count.
pub fn earliest(a: Option<DateTime<Utc>>, b: Option<DateTime<Utc>>) -> Option<DateTime<Utc>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Who speaks in an entry, told from its path once an entry.
pub struct Origin<'a> {
    /// Entry path.
    pub path: &'a str,
    /// Node; empty for cluster entries.
    pub node: &'a str,
    /// Channel.
    pub channel: Channel,
    /// `pod/<ns>/<pod>` for container logs, the unit for journals, else empty.
    pub speaker: String,
}

impl<'a> Origin<'a> {
    /// Reads the origin from the path.
    pub fn of(path: &'a str, channel: Channel) -> Self {
        let segments: Vec<&str> = path.split('/').collect();
        let (node, speaker) = match segments.as_slice() {
            ["cluster-resources", "pods", "logs", namespace, pod, ..] => {
                ("", format!("pod/{namespace}/{pod}"))
            }
            ["nodes", node, "journal", unit] => (*node, unit.trim_end_matches(".json").to_owned()),
            ["nodes", node, ..] => (*node, String::new()),
            _ => ("", String::new()),
        };
        Self {
            path,
            node,
            channel,
            speaker,
        }
    }

    /// Decodes one raw line.
    pub fn decode(&self, raw: &'a [u8], offset: u32) -> LogLine<'a> {
        let raw = raw.strip_suffix(b"\r").unwrap_or(raw);
        let mut line = LogLine {
            path: self.path,
            node: self.node,
            offset,
            channel: self.channel,
            speaker: self.speaker.clone(),
            text: Cow::Borrowed(""),
            at: None,
        };
        let journal = match self.channel {
            Channel::Journal | Channel::Kernel => true,
            // `journalctl -o json`, pasted; other JSON has no such field and is read as it stands.
            Channel::Text => memchr::memmem::find(raw, b"\"MESSAGE\"").is_some(),
            _ => false,
        };
        if journal && raw.first() == Some(&b'{') && decode_journal(raw, &mut line) {
            return line;
        }
        let text = String::from_utf8_lossy(raw);
        let (at, skip) = leading_time(&text);
        line.at = at;
        line.text = match text {
            Cow::Borrowed(text) => Cow::Borrowed(&text[skip..]),
            Cow::Owned(text) => Cow::Owned(text[skip..].to_owned()),
        };
        line
    }
}

#[derive(Deserialize)]
struct JournalLine {
    #[serde(rename = "MESSAGE", default)]
    message: Value,
    #[serde(rename = "__REALTIME_TIMESTAMP", default)]
    realtime: Option<String>,
    #[serde(rename = "_SYSTEMD_UNIT", default)]
    unit: Option<String>,
    #[serde(rename = "SYSLOG_IDENTIFIER", default)]
    identifier: Option<String>,
}

fn decode_journal(raw: &[u8], line: &mut LogLine<'_>) -> bool {
    let Ok(record) = serde_json::from_slice::<JournalLine>(raw) else {
        return false;
    };
    line.at = record
        .realtime
        .and_then(|micros| micros.parse().ok())
        .and_then(DateTime::from_timestamp_micros);
    if let Some(speaker) = record.unit.or(record.identifier) {
        line.speaker = speaker;
    }
    line.text = match record.message {
        Value::String(text) => Cow::Owned(text),
        // journalctl prints a message that is not UTF-8 as a list of byte values.
        Value::Array(bytes) => {
            let bytes: Vec<u8> = bytes
                .iter()
                .filter_map(|byte| u8::try_from(byte.as_u64()?).ok())
                .collect();
            Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
        }
        _ => Cow::Borrowed(""),
    };
    true
}

/// The time at the start of a line and the length of it with the blank behind it. A time that does not say its zone or
/// its year is not read: a guess would put moments into a wrong order.
fn leading_time(text: &str) -> (Option<DateTime<Utc>>, usize) {
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
    fn a_journal_line_gives_its_message_unescaped_with_time_and_unit() {
        let origin = Origin::of("nodes/n1/journal/containerd.service.json", Channel::Journal);
        let raw = br#"{"__REALTIME_TIMESTAMP":"1759030806218563","MESSAGE":"no runtime for \"nvidia\" is configured","_SYSTEMD_UNIT":"snap.k8s.containerd.service"}"#;
        let line = origin.decode(raw, 6);
        assert_eq!(line.text, "no runtime for \"nvidia\" is configured");
        assert_eq!(line.speaker, "snap.k8s.containerd.service");
        assert_eq!(line.subject(), "node/n1");
        assert_eq!(line.place().line, Some(7));
        assert_eq!(
            line.at.unwrap().to_rfc3339(),
            "2025-09-28T03:40:06.218563+00:00"
        );
    }

    #[test]
    fn a_pod_log_line_loses_its_time_stamp_and_keeps_the_rest() {
        let path = "cluster-resources/pods/logs/kube-system/coredns-1/coredns.log";
        let origin = Origin::of(path, Channel::PodLog);
        let line = origin.decode(b"2025-09-28T09:36:20.164000000Z [ERROR] i/o timeout", 0);
        assert_eq!(line.text, "[ERROR] i/o timeout");
        assert_eq!(line.subject(), "pod/kube-system/coredns-1");
        assert!(line.at.is_some());
    }

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

    #[test]
    fn a_message_that_is_not_text_is_read_from_its_byte_values() {
        let origin = Origin::of("nodes/n1/journal/kernel.json", Channel::Kernel);
        let line = origin.decode(br#"{"MESSAGE":[104,105,255]}"#, 0);
        assert_eq!(line.text, "hi\u{fffd}");
    }
}
