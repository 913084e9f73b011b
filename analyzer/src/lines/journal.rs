//! Records of the journal, one JSON object a line: five fields and the message, read where they stand.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::quick::{Escapes, KnownMessage};
use super::{LogLine, quick};

/// What a diagnosis reads of a record.
#[derive(Deserialize)]
struct Record<'a> {
    #[serde(rename = "MESSAGE", borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(rename = "__REALTIME_TIMESTAMP", borrow, default)]
    realtime: Option<Text<'a>>,
    #[serde(rename = "_SYSTEMD_UNIT", borrow, default)]
    unit: Option<Text<'a>>,
    #[serde(rename = "SYSLOG_IDENTIFIER", borrow, default)]
    identifier: Option<Text<'a>>,
    #[serde(rename = "_BOOT_ID", borrow, default)]
    boot: Option<Text<'a>>,
    #[serde(rename = "_HOSTNAME", borrow, default)]
    host: Option<Text<'a>>,
}

/// A text that is borrowed from the line where nothing in it is escaped.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// Reads the records of one journal, of which most are laid out as the one before.
#[derive(Default)]
pub struct Reader(quick::Reader);

/// A record that was read where it stands.
#[derive(Clone, Copy)]
pub struct Read<'l>(quick::Fields<'l>);

impl<'l> Read<'l> {
    /// Reads a record; none where it is none, or where only the parser of JSON tells.
    pub(super) fn of(
        raw: &'l [u8],
        reader: &mut Reader,
        known: &mut KnownMessage<'_>,
    ) -> Option<Self> {
        reader.0.read(raw, known).map(Self)
    }

    /// The message as it stands there, and whether something in it is escaped; none where a character may be written as a
    /// number.
    pub fn message(&self) -> Option<(&'l [u8], bool)> {
        let escapes = self.0.escapes;
        (escapes != Escapes::Others).then_some((self.0.message, escapes != Escapes::None))
    }

    /// Whether it says in which boot it was written.
    pub fn names_boot(&self) -> bool {
        self.0.boot.is_some()
    }

    /// How long the message is as it stands there, in bytes.
    pub fn message_length(&self) -> usize {
        self.0.message.len()
    }

    /// Who wrote it, as it stands there.
    pub fn speaker(&self) -> Option<&'l [u8]> {
        self.0.unit.or(self.0.identifier)
    }

    /// When, in microseconds since 1970; none where that is no number of at most 16 digits.
    pub fn micros(&self) -> Option<i64> {
        const DIGITS: usize = 16;
        let digits = self.0.realtime?;
        let number = |sum: i64, digit: &u8| {
            let is_digit = digit.is_ascii_digit();
            is_digit.then(|| sum * 10 + i64::from(*digit - b'0'))
        };
        let is_short = (1..=DIGITS).contains(&digits.len());
        is_short
            .then(|| digits.iter().try_fold(0, number))
            .flatten()
    }

    /// The machine that it was written on; empty where it names none.
    pub fn host(&self) -> &'l str {
        text(self.0.host).unwrap_or("")
    }

    /// The boot that it was written in; empty where it names none.
    pub fn boot(&self) -> &'l str {
        text(self.0.boot).unwrap_or("")
    }

    /// Takes it over into a line; false where its message is no text of JSON.
    pub(super) fn put_into(&self, line: &mut LogLine<'l>) -> bool {
        let Some(text) = message_of(&self.0) else {
            return false;
        };
        line.text = text;
        self.put_around(line);
        true
    }

    /// Takes over all but the message.
    pub(super) fn put_around(&self, line: &mut LogLine<'l>) {
        line.at = text(self.0.realtime).and_then(time);
        line.boot = Cow::Borrowed(self.boot());
        line.host = Cow::Borrowed(self.host());
        if let Some(speaker) = text(self.speaker()) {
            line.speaker = Cow::Borrowed(speaker);
        }
        line.record = true;
    }
}

/// Reads a record into a line; false where it is none.
pub(super) fn decode<'l>(raw: &'l [u8], line: &mut LogLine<'l>) -> bool {
    if raw.first() != Some(&b'{') {
        return false;
    }
    if quick::read(raw).is_some_and(|fields| Read(fields).put_into(line)) {
        return true;
    }
    let Ok(record) = serde_json::from_slice::<Record<'_>>(raw) else {
        return false;
    };
    let message = record.message.map(|message| message.get());
    let Some(text) = message.map_or(Some(Cow::Borrowed("")), text_of) else {
        return false;
    };
    line.text = text;
    let of = |field: Option<Text<'l>>| field.map_or(Cow::Borrowed(""), |field| field.0);
    line.at = record.realtime.and_then(|micros| time(&micros.0));
    line.boot = of(record.boot);
    line.host = of(record.host);
    if let Some(speaker) = record.unit.or(record.identifier) {
        line.speaker = speaker.0;
    }
    line.record = true;
    true
}

fn text(field: Option<&[u8]>) -> Option<&str> {
    str::from_utf8(field?).ok()
}

fn time(micros: &str) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp_micros(micros.parse().ok()?)
}

fn message_of<'l>(fields: &quick::Fields<'l>) -> Option<Cow<'l, str>> {
    let message = str::from_utf8(fields.message).ok()?;
    if fields.escapes == Escapes::None {
        return Some(Cow::Borrowed(message));
    }
    quick::unescaped(message).map(Cow::Owned)
}

/// The text of a message; none where it is no valid one. journalctl prints one that is not UTF-8 as a list of byte
/// values.
fn text_of(message: &str) -> Option<Cow<'_, str>> {
    if message.starts_with('"') {
        let text = serde_json::from_str::<Text<'_>>(message);
        return text.ok().map(|text| text.0);
    }
    let values: Vec<serde_json::Value> = serde_json::from_str(message).unwrap_or_default();
    let bytes = values
        .iter()
        .filter_map(|byte| u8::try_from(byte.as_u64()?).ok());
    let bytes: Vec<u8> = bytes.collect();
    Some(Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()))
}
