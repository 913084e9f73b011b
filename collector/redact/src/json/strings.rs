//! Strings of JSON as they stand in a line: where they end, their escapes, and what stands beside them.

use super::super::marker::Marker;
use super::super::words::{KeyClass, classify};

/// Fewer numbers are no text.
const MIN_BYTES: usize = 8;

/// `"kind":"Secret"`, with or without blanks.
pub(super) fn holds_secret_object(line: &str) -> bool {
    memchr::memmem::find_iter(line.as_bytes(), "\"Secret").any(|at| {
        let before = line[..at].trim_end();
        let behind = &line[at + "\"Secret".len()..];
        let kind = before
            .strip_suffix(':')
            .is_some_and(|before| before.trim_end().ends_with("\"kind\""));
        kind && (behind.starts_with('"') || behind.starts_with("List\""))
    })
}

/// A list of numbers that are the bytes of a text, as journals write what is not plain, and where it ends.
pub(super) fn byte_list(rest: &str) -> Option<(Vec<u8>, usize)> {
    if !rest.trim_start().starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let end = rest.find(']')?;
    let bytes: Option<Vec<u8>> = rest[..end]
        .split(',')
        .map(|number| number.trim().parse().ok())
        .collect();
    bytes
        .filter(|bytes| bytes.len() >= MIN_BYTES)
        .map(|bytes| (bytes, end + 1))
}

/// The class of the name that follows its value: `"value":"x","name":"DB_PASSWORD"`.
pub(super) fn name_behind(behind: &str) -> Option<KeyClass> {
    let rest = behind.trim_start().strip_prefix(',')?.trim_start();
    let rest = rest
        .strip_prefix("\"name\"")
        .or_else(|| rest.strip_prefix("\"key\""))?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    let name = rest.strip_prefix('"')?;
    classify(&name[..string_end(name)?])
}

/// Whether a string is one word, in which a name can have no value and a program no argument.
pub(super) fn is_word(raw: &str) -> bool {
    raw.bytes()
        .all(|b| b.is_ascii_alphanumeric() || b"_-./@+".contains(&b))
}

/// The place of a string's closing quote.
pub(super) fn string_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'\\', b'"', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at);
        }
        at += 2;
    }
}

/// The text of a string; as it stands where it is none.
pub(super) fn unescape(raw: &str) -> String {
    if !raw.contains('\\') {
        return raw.to_owned();
    }
    let quoted = format!("\"{raw}\"");
    serde_json::from_str(&quoted).unwrap_or_else(|_| raw.to_owned())
}

pub(super) fn escape(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap_or_default();
    let inner = quoted
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    inner.unwrap_or("").to_owned()
}

/// One line of a private key that began in a string before: journals hold a key line by line.
pub(super) fn key_line(raw: &str, marker: &mut Marker) -> Option<String> {
    let body = raw.trim();
    if body.contains("-----END ") {
        marker.key_lines = 0;
        return Some(marker.mark("private-key", body.as_bytes()));
    }
    marker.key_lines -= 1;
    let material = body.len() >= 12
        && body
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b));
    material.then(|| marker.mark("private-key", body.as_bytes()))
}
