//! The kernel's audit lines, which hold a command word by word (`a0="mysql" a1="-pX"`) or as hexadecimal digits.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::args;
use super::marker::Marker;
use super::{clean_text, scan};

const TITLE: &str = "proctitle=";
static FIND_TITLE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(TITLE));
static FIND_WORD: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(" a0=\""));

/// A line with the secrets of the commands it records replaced.
pub(crate) fn clean<'a>(text: Cow<'a, str>, marker: &mut Marker) -> Cow<'a, str> {
    let text = match FIND_TITLE.find(text.as_bytes()) {
        Some(at) => title(&text, at + TITLE.len(), marker).map_or(text, Cow::Owned),
        None => text,
    };
    match FIND_WORD.find(text.as_bytes()) {
        Some(_) => executed(&text, marker).map_or(text, Cow::Owned),
        None => text,
    }
}

/// A command line in hexadecimal digits, whose words NUL ends.
fn title(text: &str, start: usize, marker: &mut Marker) -> Option<String> {
    let length = text[start..]
        .find(|c: char| !c.is_ascii_hexdigit())
        .unwrap_or(text.len() - start);
    let digits = &text[start..start + length];
    let bytes: Option<Vec<u8>> = (0..length / 2)
        .map(|at| u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok())
        .collect();
    let command = String::from_utf8(bytes?).ok()?.replace('\0', " ");
    let cleaned = words(&command, marker);
    if cleaned == command || command.is_empty() {
        return None;
    }
    let packed: String = cleaned
        .bytes()
        .map(|byte| format!("{:02X}", if byte == b' ' { 0 } else { byte }))
        .collect();
    Some(format!(
        "{}{packed}{}",
        &text[..start],
        &text[start + length..]
    ))
}

/// `a0="mysql" a1="-pX"`: the words are looked at as one command.
fn executed(text: &str, marker: &mut Marker) -> Option<String> {
    let mut spans = Vec::new();
    let mut at = text.find(" a0=\"")?;
    while let Some(open) = text[at..]
        .strip_prefix(" a")
        .and_then(|rest| rest.find("=\""))
    {
        let start = at + 2 + open + 2;
        let Some(length) = text[start..].find('"') else {
            break;
        };
        spans.push(start..start + length);
        at = start + length + 1;
    }
    let command: Vec<&str> = spans.iter().map(|span| &text[span.clone()]).collect();
    let cleaned = words(&command.join(" "), marker);
    let mut parts = cleaned.split(' ');
    let mut out = text.to_owned();
    let mut parted = Vec::new();
    for word in &command {
        let count = word.split(' ').count();
        parted.push(parts.by_ref().take(count).collect::<Vec<_>>().join(" "));
    }
    for (span, word) in spans.iter().zip(parted).rev() {
        out.replace_range(span.clone(), &word);
    }
    (out != text).then_some(out)
}

fn words(command: &str, marker: &mut Marker) -> String {
    if scan::hints(command.as_bytes()).none() {
        return command.to_owned();
    }
    clean_text(&args::clean_line(command, marker), 1, marker)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;

    #[test]
    fn commands_in_audit_lines_lose_their_secrets_and_keep_their_words() {
        let mut marker = Marker::new(Key::fixed());
        let line = "argc=4 a0=\"mysql\" a1=\"-uroot\" a2=\"-phunter2A\" a3=\"shop db\"";
        let out = clean(line.into(), &mut marker);
        assert!(
            !out.contains("hunter2A") && out.ends_with("a3=\"shop db\""),
            "{out}"
        );
        let hex = "proctitle=6D7973716C002D7068756E7465723241002D5600 x";
        let out = clean(hex.into(), &mut marker);
        assert!(
            !out.contains("68756E7465723241") && out.ends_with(" x"),
            "{out}"
        );
        assert_eq!(clean(out.clone(), &mut marker), out);
        let quiet = "proctitle=2F7573722F62696E2F6C73002D6C";
        assert_eq!(clean(quiet.into(), &mut marker), quiet);
    }
}
