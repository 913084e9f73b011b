//! Records of the journal, one JSON object a line: five fields and the message, read where they stand.

use std::borrow::Cow;

use chrono::DateTime;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::LogLine;

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

/// Reads a record into a line; false where it is none.
pub(super) fn decode<'l>(raw: &'l [u8], line: &mut LogLine<'l>) -> bool {
    if raw.first() != Some(&b'{') {
        return false;
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
    line.at = record
        .realtime
        .and_then(|micros| micros.0.parse().ok())
        .and_then(DateTime::from_timestamp_micros);
    line.boot = of(record.boot);
    line.host = of(record.host);
    if let Some(speaker) = record.unit.or(record.identifier) {
        line.speaker = speaker.0;
    }
    true
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
