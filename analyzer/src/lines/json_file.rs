//! Logs of containers as Docker keeps them (its driver `json-file`): a line is an object with what the container wrote, on
//! which stream and when. Quotes are escaped there, so that no message that holds one would be recognised.

use std::borrow::Cow;

use memchr::memmem;
use serde::Deserialize;

use super::quick::{Escapes, length, named, unescaped};

/// How each line begins: Docker writes the fields in one order (`daemon/logger/jsonfilelog/jsonlog`).
const BEGINS: &[u8] = b"{\"log\":\"";

/// A line as it stands there.
#[derive(Debug, PartialEq, Eq, Deserialize)]
struct Line<'l> {
    #[serde(borrow)]
    log: Cow<'l, str>,
    #[serde(borrow)]
    stream: Cow<'l, str>,
    #[serde(borrow)]
    time: Cow<'l, str>,
}

/// The same lines as runtimes behind the CRI keep them, `TIME STREAM F MESSAGE`; others stay as they are, and each stays
/// where it is.
pub(crate) fn opened(bytes: &[u8]) -> Cow<'_, [u8]> {
    if memmem::find(bytes, BEGINS).is_none() {
        return Cow::Borrowed(bytes);
    }
    let mut opened = Vec::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let raw = line.trim_ascii_end();
        match Line::of(raw) {
            Some(read) => read.say(&mut opened),
            None => opened.extend_from_slice(raw),
        }
        opened.extend_from_slice(&line[raw.len()..]);
    }
    Cow::Owned(opened)
}

impl<'l> Line<'l> {
    /// Reads a line; none where it is of another kind.
    fn of(raw: &'l [u8]) -> Option<Self> {
        if !raw.starts_with(BEGINS) {
            return None;
        }
        let line = Self::of_texts(raw).or_else(|| serde_json::from_slice(raw).ok())?;
        let is_known = matches!(&*line.stream, "stdout" | "stderr");
        let is_time = line.time.starts_with(|first: char| first.is_ascii_digit());
        (is_known && is_time).then_some(line)
    }

    /// The same where it holds these three texts only and no character is written as a number, as in most.
    fn of_texts(raw: &'l [u8]) -> Option<Self> {
        let (log, behind) = field(b"log", &raw[1..])?;
        let (stream, behind) = field(b"stream", behind.strip_prefix(b",")?)?;
        let (time, behind) = field(b"time", behind.strip_prefix(b",")?)?;
        (behind == b"}").then_some(Self { log, stream, time })
    }

    /// Appends it as other runtimes write it. A line without an end goes on in the next one (`P`).
    fn say(&self, into: &mut Vec<u8>) {
        let (message, mark) = match self.log.strip_suffix('\n') {
            Some(message) => (message, " F "),
            None => (&*self.log, " P "),
        };
        for part in [&self.time, " ", &self.stream, mark] {
            into.extend_from_slice(part.as_bytes());
        }
        let start = into.len();
        into.extend_from_slice(message.as_bytes());
        for byte in &mut into[start..] {
            if *byte == b'\n' {
                *byte = b' ';
            }
        }
    }
}

/// The text of a field of this name that begins here, and what stands behind it.
fn field<'l>(name: &[u8], rest: &'l [u8]) -> Option<(Cow<'l, str>, &'l [u8])> {
    let (_, value) = named(rest).filter(|(found, _)| *found == name)?;
    let (length, escapes) = length(value)?;
    let text = str::from_utf8(&value[..length]).ok()?;
    let text = match escapes {
        Escapes::None => Cow::Borrowed(text),
        Escapes::Letters => Cow::Owned(unescaped(text)?),
        Escapes::Others => return None,
    };
    Some((text, &value[length + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_docker_are_read_as_those_of_other_runtimes() {
        let text = concat!(
            r#"{"log":"no runtime for \"nvidia\" is configured\n","stream":"stderr","time":"2026-11-20T10:00:02.5Z"}"#,
            "\nplain\n",
            r#"{"log":"a \u003c b","stream":"stdout","attrs":{"tag":"x"},"time":"2026-11-20T10:00:03Z"}"#,
            "\r\n",
            r#"{"log":"other","level":"info"}"#,
        );
        let wanted = concat!(
            "2026-11-20T10:00:02.5Z stderr F no runtime for \"nvidia\" is configured\n",
            "plain\n",
            "2026-11-20T10:00:03Z stdout P a < b\r\n",
            r#"{"log":"other","level":"info"}"#,
        );
        let opened = opened(text.as_bytes());
        assert_eq!(str::from_utf8(&opened).unwrap(), wanted);
    }

    proptest::proptest! {
        #[test]
        fn what_is_read_is_what_the_parser_of_json_reads(
            log in "([a-z ]{1,3}|[\"\\\\\n\t\r<&]|\u{1b}|ü){0,9}",
            junk in "[a-z\"\\\\{},:]{0,4}",
            at in 0..60usize,
        ) {
            let line = serde_json::json!({ "log": log, "stream": "stdout", "time": "2026-11-20T10:00:03Z" });
            let mut line = line.to_string();
            let parsed: Line<'_> = serde_json::from_str(&line).unwrap();
            if let Some(quick) = Line::of_texts(line.as_bytes()) {
                proptest::prop_assert_eq!(&quick, &parsed);
            }
            proptest::prop_assert_eq!(Line::of(line.as_bytes()), Some(parsed));
            let at = (0..=at.min(line.len())).rev().find(|at| line.is_char_boundary(*at)).unwrap();
            line.insert_str(at, &junk);
            if let Some(quick) = Line::of_texts(line.as_bytes()) {
                proptest::prop_assert_eq!(Some(quick), serde_json::from_str(&line).ok());
            }
        }

        #[test]
        fn lines_stay_where_they_are(text in "(\\{\"log\":\"[a-z\\\\n]{0,4}\",\"stream\":\"stdout\",\"time\":\"2026\"\\}|[a-z]|\n|\r){0,9}") {
            let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
            proptest::prop_assert_eq!(lines(&opened(text.as_bytes())), lines(text.as_bytes()));
        }
    }
}
