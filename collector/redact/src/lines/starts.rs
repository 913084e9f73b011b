//! What a line begins: names and flags whose value stands in the next one.

use std::sync::LazyLock;

use regex::Regex;

use super::super::span::Open;
use super::super::words::{self, KeyClass};

/// A text without the sequences `ESC [ ... letter`.
pub(super) fn without_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        out.push_str(&rest[..at]);
        let behind = &rest[at + 2..];
        let end = behind.find(|c: char| !(c.is_ascii_digit() || c == ';' || c == '?'));
        rest = end.map_or("", |end| {
            let letter = behind[end..].chars().next().map_or(0, char::len_utf8);
            &behind[end + letter..]
        });
    }
    out.push_str(rest);
    out
}

/// The class of `- name: DB_PASSWORD` or `<name>db.password</name>`, whose value stands in the next line.
pub(super) fn yaml_name(text: &str) -> Option<KeyClass> {
    if let Some(element) = text.trim().strip_prefix('<') {
        let (tag, rest) = element.split_once('>')?;
        let rest = rest.strip_suffix('>')?;
        let name = rest.strip_suffix(tag)?.strip_suffix("</")?;
        let names = matches!(tag, "name" | "key");
        return names.then(|| words::classify(name)).flatten();
    }
    if let Some(rest) = text.trim_start().strip_prefix("variable \"") {
        return words::classify(rest.split('"').next()?);
    }
    let text = text.trim_start().trim_start_matches("- ").trim_start();
    let name = text
        .strip_prefix("name:")
        .or_else(|| text.strip_prefix("\"name\":"))?;
    words::classify(name.trim().trim_end_matches(',').trim_matches(['"', '\'']))
}

static LOG_PREFIX: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^(?:(?:[A-Z][a-z]{2} [ \d]\d [\d:]{8}|\d{4}-\d\d-\d\dT[\d:.,]+(?:Z|[+-]\d\d:?\d\d)) [\w.-]+ [\w./@-]+(?:\[\d+\])?: |\[ *\d+\.\d+\] |\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d|[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ \S+\] )",
    )
    .ok()
});

/// The length of what a container's log or syslog writes in front of a line.
pub(super) fn log_prefix(text: &str) -> usize {
    if let Some(at) = super::cri::text_begins(text.as_bytes()) {
        return at;
    }
    LOG_PREFIX
        .as_ref()
        .filter(|_| text.len() > 12 && text.is_char_boundary(4) && dated(text.as_bytes()))
        .and_then(|prefix| prefix.find(text))
        .map_or(0, |found| found.end())
}

/// Whether a line of more than a few bytes may begin with a time: most begin with a word.
fn dated(line: &[u8]) -> bool {
    // Other digits than those of ASCII count as well.
    let opens = |byte: u8| byte == b' ' || byte.is_ascii_digit() || !byte.is_ascii();
    match line {
        [b'[', next, ..] => opens(*next),
        [first, number @ ..] if number[..4].iter().all(u8::is_ascii_digit) => {
            b"IWEF".contains(first) && number[4] == b' '
        }
        [a, b, c, d, mark, ..] if [a, b, c, d].iter().all(|byte| byte.is_ascii_digit()) => {
            b"-/".contains(mark)
        }
        [first, second, third, b' ', day, ..] => {
            first.is_ascii_uppercase()
                && second.is_ascii_lowercase()
                && third.is_ascii_lowercase()
                && opens(*day)
        }
        _ => false,
    }
}

/// Whether a line between a name and its value changes nothing: a comment, the type or description of a variable.
pub(super) fn says_more(text: &str) -> bool {
    let text = text.trim_start();
    [
        "#",
        "//",
        "type ",
        "description ",
        "sensitive ",
        "nullable ",
    ]
    .iter()
    .any(|begin| text.starts_with(begin))
}

/// `--password \`, whose value stands in the next line.
pub(super) fn continued_flag(text: &str) -> Option<Open> {
    let before = text.trim_end().strip_suffix('\\')?.trim_end();
    let flag = before.rsplit(' ').next()?.strip_prefix("--")?;
    words::classify(flag).map(|class| Open::Word(class.name))
}

/// A secret that a backslash behind it continues in the next line.
pub(super) fn cut_value(text: &str) -> Option<Open> {
    let before = text.strip_suffix(">\\")?;
    let mark = &before[before.rfind("<redacted:")?..];
    (!mark.contains('>')).then_some(Open::Word("token"))
}

/// `? password`, whose value stands behind the colon of the next line.
pub(super) fn explicit_key(text: &str) -> Option<Open> {
    let name = text.trim().strip_prefix("? ")?;
    words::classify(name.trim_matches(['"', '\''])).map(|class| Open::Word(class.name))
}

/// The part of a PuTTY key that is private, up to its checksum.
pub(super) fn putty_key(text: &str) -> Option<Open> {
    text.starts_with("Private-Lines:")
        .then_some(Open::Until("Private-MAC", "private-key"))
}

/// `<password>`, whose value stands in the next lines.
pub(super) fn element(text: &str) -> Option<Open> {
    let tag = text.trim().strip_prefix('<')?.strip_suffix('>')?;
    let name = tag.split(' ').next()?;
    let placeholder = name.starts_with("redacted:") || name.starts_with('/');
    let class = words::classify(name).filter(|_| !placeholder)?;
    Some(Open::Until("</", class.name))
}
