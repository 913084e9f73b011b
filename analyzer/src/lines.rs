//! Log lines: the text of a raw line, its time and who said it, decoded only when a literal matched.

mod journal;
pub(crate) mod json_file;
mod layout;
mod quick;

use std::borrow::Cow;
use std::collections::BTreeMap;

use casefile_bundle::entry;
use chrono::{DateTime, Utc};

use crate::dress::{self, Level, Voice};
use crate::model::Place;
pub use journal::{Read as Record, Reader};
use quick::KnownMessage;

/// Entries kept as text, by path.
pub type Documents = BTreeMap<String, String>;

/// What a node is called that no evidence names.
pub const UNNAMED_NODE: &str = "unnamed-node";

/// The node that a path names; empty for cluster entries.
pub fn node_of(path: &str) -> &str {
    path.strip_prefix(entry::NODES)
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
    pub speaker: Cow<'a, str>,
    /// Channel by what the line itself says of its speaker; the same as `channel` where it says nothing.
    pub heard: Channel,
    /// The message, without what names clock, host and speaker.
    pub text: Cow<'a, str>,
    /// The line as a report quotes it, where that is more than the message.
    longer: Option<Cow<'a, str>>,
    /// How much weight it carries, once it was weighed.
    pub voice: Voice,
    /// How loudly its speaker says it; not known before it is weighed where the message holds that.
    level: Option<Level>,
    /// It is a record of the journal.
    record: bool,
    weighed: bool,
    /// When.
    pub at: Option<DateTime<Utc>>,
    /// The same by a clock without a year, which orders lines of one host.
    pub clock: Option<u32>,
    /// The same by klog's own clock, which orders lines of one program.
    pub klog: Option<u32>,
    /// Host that the line names; empty where it names none.
    pub host: Cow<'a, str>,
    /// The boot it was said in, as the journal calls it; empty where nothing says.
    pub boot: Cow<'a, str>,
}

impl LogLine<'_> {
    /// The line as a report quotes it.
    pub fn shown(&self) -> &str {
        self.longer.as_ref().unwrap_or(&self.text)
    }

    /// How loudly its speaker says it, once the line was weighed.
    pub fn level(&self) -> Option<Level> {
        self.level
    }

    /// Finds out how much weight the line carries; `is_routine` where the vocabulary knows it. Most lines that are decoded are no statement of any rule, and are
    /// not weighed.
    pub fn weigh(&mut self, is_routine: bool) {
        if !self.weighed {
            self.weighed = true;
            if self.record {
                self.level = dress::undress(&self.text).level;
            }
            if self.voice == Voice::Spoken && dress::line::is_note(&self.text, self.level) {
                self.voice = Voice::Note;
            }
        }
        if is_routine {
            self.voice = self.voice.max(Voice::Routine);
        }
    }

    /// Takes over what the dress of the line says; gives the length of what is no part of the message.
    fn put_on(&mut self, dress: &dress::Dress<'_>) -> usize {
        self.at = self.at.or(dress.at);
        self.level = dress.level;
        self.clock = dress.clock;
        self.klog = dress.klog;
        self.host = Cow::Owned(dress.host.to_owned());
        let of_pod = self.speaker.starts_with("pod/");
        if !dress.speaker.is_empty() && !of_pod {
            self.speaker = Cow::Owned(dress.speaker.to_owned());
            if self.channel == Channel::Text {
                self.heard = match dress.speaker {
                    "kernel" => Channel::Kernel,
                    _ => Channel::Journal,
                };
            }
        }
        if self.channel == Channel::Text && !dress.is_dressed {
            self.voice = Voice::Bare;
        }
        dress.outer
    }

    /// The place, with the line counted within the piece; the scan adds the lines before it.
    pub fn place(&self) -> Place {
        Place {
            path: self.path.into(),
            line: self.place_line(),
        }
    }

    /// The number of the line at its place.
    pub fn place_line(&self) -> Option<u32> {
        Some(self.offset.saturating_add(1))
    }

    /// What the line is about: the pod that logged it, or the node.
    pub fn subject(&self) -> String {
        if self.speaker.starts_with("pod/") {
            self.speaker.to_string()
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

/// Where in a raw line its text stands.
pub enum Said<'a> {
    /// It is the message of this record of the journal with its escapes taken out.
    Record(Record<'a>),
    /// It is this or an end of it.
    Plain(&'a [u8]),
    /// Only decoding shows it.
    Unclear,
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

    /// Where in a raw line the text of [`Self::decode`] stands; `known` tells how long a message is whose like was met before.
    pub fn said<'l>(
        &self,
        raw: &'l [u8],
        reader: &mut Reader,
        known: &mut KnownMessage<'_>,
    ) -> Said<'l> {
        let raw = raw.strip_suffix(b"\r").unwrap_or(raw);
        if self.may_be_record(raw) {
            return Record::of(raw, reader, known).map_or(Said::Unclear, Said::Record);
        }
        Said::Plain(raw)
    }

    fn may_be_record(&self, raw: &[u8]) -> bool {
        if raw.first() != Some(&b'{') {
            return false;
        }
        match self.channel {
            Channel::Journal | Channel::Kernel => true,
            // `journalctl -o json`, pasted; other JSON has no such field and is read as it stands.
            Channel::Text => memchr::memmem::find(raw, b"\"MESSAGE\"").is_some(),
            _ => false,
        }
    }

    /// Decodes one raw line.
    pub fn decode<'l>(&'l self, raw: &'l [u8], offset: u32) -> LogLine<'l> {
        self.decode_said(raw, None, offset)
    }

    /// The same for a line whose record was read before.
    pub fn decode_said<'l>(
        &'l self,
        raw: &'l [u8],
        record: Option<Record<'l>>,
        offset: u32,
    ) -> LogLine<'l> {
        let mut line = self.blank(offset);
        if record.is_some_and(|record| record.put_into(&mut line)) {
            return line;
        }
        let raw = raw.strip_suffix(b"\r").unwrap_or(raw);
        if self.may_be_record(raw) && journal::decode(raw, &mut line) {
            return line;
        }
        let text = String::from_utf8_lossy(raw);
        let dress = dress::undress(&text);
        let time = dress.time;
        let outer = line.put_on(&dress);
        line.longer = (time != outer).then(|| from(&text, time));
        line.text = from(&text, outer);
        line
    }

    /// A record of the journal without its message.
    pub fn heard<'l>(&'l self, record: Record<'l>, offset: u32) -> LogLine<'l> {
        let mut line = self.blank(offset);
        record.put_around(&mut line);
        line
    }

    /// A line of which nothing is known but where it stands.
    fn blank(&self, offset: u32) -> LogLine<'_> {
        LogLine {
            path: self.path,
            node: self.node,
            offset,
            channel: self.channel,
            speaker: Cow::Borrowed(&self.speaker),
            heard: self.channel,
            text: Cow::Borrowed(""),
            longer: None,
            voice: Voice::Spoken,
            level: None,
            record: false,
            weighed: false,
            at: None,
            clock: None,
            klog: None,
            host: Cow::Borrowed(""),
            boot: Cow::Borrowed(""),
        }
    }
}

/// A text from an offset on.
fn from<'a>(text: &Cow<'a, str>, offset: usize) -> Cow<'a, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[offset..]),
        Cow::Owned(text) => Cow::Owned(text[offset..].to_owned()),
    }
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
    fn a_message_that_is_not_text_is_read_from_its_byte_values() {
        let origin = Origin::of("nodes/n1/journal/kernel.json", Channel::Kernel);
        let line = origin.decode(br#"{"MESSAGE":[104,105,255]}"#, 0);
        assert_eq!(line.text, "hi\u{fffd}");
    }
}
