//! Secrets that a name in front of them gives away, in one line of text: `key: value`, `key=value`, quoted or not, and
//! `--flag value`.

use std::sync::LazyLock;

use regex::Regex;

use super::marker::Marker;
use super::value::{harmless, looks_random};
use super::words::{KeyClass, classify};

/// What the lines after this one still hold of the same value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Open {
    /// Lines indented deeper than this belong to the value (a YAML block or a folded scalar).
    Deeper(usize, &'static str),
    /// Everything up to this closing mark belongs to it (TOML's triple quotes).
    Until(&'static str, &'static str),
}

/// One line with its secrets replaced, and what of it goes on.
pub(crate) struct Cleaned {
    /// The line, without its line end.
    pub(crate) text: String,
    /// Set when the value of a secret goes on in the next line.
    pub(crate) open: Option<Open>,
}

static PAIR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?<k>[A-Za-z0-9_][A-Za-z0-9_.-]*)\\*["']?[ \t]*(?:=>|:=|[:=])[ \t]*"#).ok()
});
static FLAG: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?:^|[\s"'\\\[,])--?(?<k>[A-Za-z][A-Za-z0-9_.-]*)(?:[ \t]+|\\*["'][ \t]*,[ \t]*)"#,
    )
    .ok()
});
/// `"name":"DB_PASSWORD","value":`, as Kubernetes writes environment variables.
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)\b(?:name|key)\\*["']?\s*:\s*\\*["']?(?<k>[A-Za-z_][A-Za-z0-9_.-]*)\\*["']?\s*,\s*\\*["']?value\\*["']?\s*:\s*"#,
    )
    .ok()
});

/// Replaces the secrets of one line. `force` is set where the line before named a secret and this one holds its value.
pub(crate) fn clean_line(line: &str, force: Option<KeyClass>, marker: &mut Marker) -> Cleaned {
    let mut out = Cleaned {
        text: line.to_owned(),
        open: None,
    };
    for regex in [&*NAMED, &*FLAG, &*PAIR].into_iter().flatten() {
        out = one_pass(regex, out, force, marker, std::ptr::eq(regex, flag()));
    }
    out
}

fn flag() -> *const Regex {
    FLAG.as_ref().map_or(std::ptr::null(), std::ptr::from_ref)
}

fn one_pass(
    regex: &Regex,
    line: Cleaned,
    force: Option<KeyClass>,
    marker: &mut Marker,
    flag: bool,
) -> Cleaned {
    let text = line.text;
    let mut open = line.open;
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    let mut at = 0;
    while let Some(captures) = regex.captures_at(&text, at) {
        let (Some(whole), Some(key)) = (captures.get(0), captures.name("k")) else {
            break;
        };
        at = whole.end();
        let is_value = force.filter(|_| key.as_str() == "value");
        let Some(class) = is_value.or_else(|| classify(key.as_str())) else {
            continue;
        };
        let place = Place::of(&text[..key.start()], &text[key.end()..whole.end()], flag);
        let found = Found::at(&text, whole.end(), place);
        open = open.or_else(|| found.open(&text, key.start(), place, class.name));
        let value = &text[found.start..found.end];
        let doubtful = !class.sure && place == Place::Prose && is_value.is_none();
        let in_flag = flag && value.starts_with('-');
        if harmless(value) || in_flag || (doubtful && !looks_random(value)) || is_open_mark(value) {
            continue;
        }
        out.push_str(&text[copied..found.start]);
        out.push_str(&marker.mark(class.name, value.as_bytes()));
        copied = found.end;
        at = found.end.max(at);
    }
    out.push_str(&text[copied..]);
    Cleaned { text: out, open }
}

/// Where a pair stands decides how far its value reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The pair is the whole line: the value is the rest of it.
    Line,
    /// Among other text: the value is one word.
    Prose,
}

impl Place {
    fn of(before: &str, separator: &str, flag: bool) -> Self {
        let lead = before.trim_start_matches([' ', '\t', '-', '#', ';', '"', '\'']);
        let lead = lead.strip_prefix("export ").unwrap_or(lead);
        let dashes = before.trim_start().starts_with("--");
        let lead = lead.strip_prefix("Environment=").unwrap_or(lead);
        let tight_colon = separator.ends_with(':') && !separator.contains(['"', '\'']);
        if flag || dashes || tight_colon || !lead.trim_matches(['"', '\'']).is_empty() {
            Self::Prose
        } else {
            Self::Line
        }
    }
}

/// Where a value lies.
struct Found {
    start: usize,
    end: usize,
    closed: bool,
}

impl Found {
    fn at(text: &str, from: usize, place: Place) -> Self {
        let rest = &text[from..];
        let slashes = rest.len() - rest.trim_start_matches('\\').len();
        let mark = rest[slashes..]
            .chars()
            .next()
            .filter(|c| matches!(c, '"' | '\'' | '`'));
        if let Some(mark) = mark {
            let triple = if mark == '"' { "\"\"\"" } else { "'''" };
            let width = if rest[slashes..].starts_with(triple) {
                3
            } else {
                1
            };
            let start = from + slashes + width;
            let closing = closing(&text[start..], mark, slashes);
            return Self {
                start,
                end: closing.map_or(text.len(), |length| start + length),
                closed: closing.is_some(),
            };
        }
        if rest.starts_with('[') || rest.starts_with('{') {
            return Self {
                start: from,
                end: from,
                closed: true,
            };
        }
        let length = match place {
            Place::Line if !another_pair(rest) => rest.find(" #").unwrap_or(rest.len()),
            _ => word(rest),
        };
        let value = rest[..length].trim_end();
        Self {
            start: from,
            end: from + value.len(),
            closed: true,
        }
    }

    /// Whether the value goes on in the next lines.
    fn open(&self, text: &str, key: usize, place: Place, class: &'static str) -> Option<Open> {
        let value = &text[self.start..self.end];
        let opening = &text[..self.start];
        for mark in ["\"\"\"", "'''"] {
            if opening.ends_with(mark) && !value.contains(mark) {
                return Some(Open::Until(
                    if mark == "'''" { "'''" } else { "\"\"\"" },
                    class,
                ));
            }
        }
        let indent = text[..key].len() - text[..key].trim_start().len();
        let goes_on = is_open_mark(value) || !self.closed;
        (place == Place::Line && goes_on).then_some(Open::Deeper(indent, class))
    }
}

/// `|`, `>-`, `|2+`: YAML's mark that a block follows.
fn is_open_mark(value: &str) -> bool {
    value.starts_with(['|', '>'])
        && value.len() <= 3
        && value
            .chars()
            .skip(1)
            .all(|c| matches!(c, '+' | '-') || c.is_ascii_digit())
}

/// The length of a quoted value up to its closing mark, which stands behind as many backslashes as the opening one.
fn closing(text: &str, mark: char, slashes: usize) -> Option<usize> {
    let mut run = 0;
    for (at, c) in text.char_indices() {
        if c == '\\' {
            run += 1;
            continue;
        }
        if c == mark && (run == slashes || (slashes == 0 && run % 2 == 0) || mark == '\'') {
            return Some(at - run.min(slashes));
        }
        run = 0;
    }
    None
}

static NEXT_PAIR: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\s--?[A-Za-z]|[\s,;&][A-Za-z_][A-Za-z0-9_.-]*=").ok());
static CUT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"[,;&][ ]?["']?[A-Za-z_][A-Za-z0-9_.-]*["']?[=:]"#).ok());

/// Whether more pairs follow in the same line.
fn another_pair(rest: &str) -> bool {
    NEXT_PAIR.as_ref().is_some_and(|regex| regex.is_match(rest))
}

/// The length of one bare word: a `,` `;` `&` ends it only where another pair follows, brackets only at its end.
fn word(rest: &str) -> usize {
    // A scheme in front belongs to the value: `Authorization: Bearer abc`.
    let scheme = ["bearer ", "basic ", "digest ", "negotiate "]
        .iter()
        .find(|scheme| {
            rest.get(..scheme.len())
                .is_some_and(|lead| lead.eq_ignore_ascii_case(scheme))
        })
        .map_or(0, |scheme| scheme.len());
    let bytes = rest.as_bytes();
    let escape = |at: usize| {
        matches!(
            bytes.get(at + 1),
            Some(b'n' | b'r' | b't' | b'"' | b'\'' | b'\\') | None
        )
    };
    let mut end = bytes.len();
    for (at, byte) in bytes.iter().enumerate().skip(scheme) {
        if byte.is_ascii_whitespace()
            || matches!(byte, b'"' | b'\'')
            || (*byte == b'\\' && escape(at))
        {
            end = at;
            break;
        }
    }
    let value = rest.get(..end).unwrap_or("");
    let end = CUT
        .as_ref()
        .and_then(|cut| cut.find(value))
        .map_or(end, |found| found.start());
    value
        .get(..end)
        .unwrap_or(value)
        .trim_end_matches([',', ';', ')', ']', '}'])
        .len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::Key;

    fn clean(line: &str) -> String {
        clean_line(line, None, &mut Marker::new(Key::fixed())).text
    }

    #[test]
    fn a_named_secret_is_replaced_in_every_notation() {
        for line in [
            "password: hunter2",
            "  - password: \"hunter2\"",
            "password = 'hunter2'",
            "DB_PASSWORD=hunter2",
            "export DB_PASSWORD=hunter2",
            "Environment=\"DB_PASSWORD=hunter2\"",
            "{\"password\":\"hunter2\"}",
            "{\\\"password\\\":\\\"hunter2\\\"}",
            "--password=hunter2 --v=2",
            "--password hunter2 --v=2",
            "[\"--password\",\"hunter2\"]",
            "level=error msg=\"bad login\" password=hunter2",
            "GET /v2?token=hunter2&x=1",
            "{\"name\":\"DB_PASSWORD\",\"value\":\"hunter2\"}",
            "Server=db;Password=hunter2;Port=1",
            "map[password:hunter2 user:me]",
            "X-Api-Key: hunter2",
            "# password: hunter2",
            "\"auths\": {\"nvcr.io\": {\"auth\": \"hunter2\"}}",
            "Authorization: Basic hunter2",
        ] {
            let cleaned = clean(line);
            assert!(!cleaned.contains("hunter2"), "{line} -> {cleaned}");
            assert!(cleaned.contains("<redacted:"), "{line} -> {cleaned}");
        }
    }

    #[test]
    fn what_diagnosis_needs_stays_readable() {
        for line in [
            "secretName: foo",
            "imagePullSecrets: [{name: ngc}]",
            "tokenExpirationSeconds: 3600",
            "automountServiceAccountToken: true",
            "keyring = \"/etc/ceph/keyring\"",
            "--tls-private-key-file=/etc/kubernetes/pki/k.key --v=2",
            "clientKey: /var/lib/kubelet/pki/kubelet.key",
            "\"serviceAccountToken\":{\"path\":\"token\",\"expirationSeconds\":3607}",
            "failed to get token: context deadline exceeded",
            "error: no_token",
            "privateKey:",
            "Error: secret: not found",
            "- key: nvidia.com/gpu",
            "password: $(DB_PASSWORD)",
        ] {
            assert_eq!(clean(line), line);
        }
    }

    #[test]
    fn the_rest_of_the_line_survives() {
        assert!(clean("--password hunter2 --v=2").ends_with(" --v=2"));
        assert!(clean("GET /v2?token=hunter2&x=1").ends_with("&x=1"));
        assert!(clean("{\"password\":\"hunter2\",\"b\":1}").ends_with("\",\"b\":1}"));
    }

    #[test]
    fn a_block_value_is_announced() {
        let mut marker = Marker::new(Key::fixed());
        let cleaned = clean_line("  password: |", None, &mut marker);
        assert_eq!(cleaned.open, Some(Open::Deeper(2, "password")));
        let cleaned = clean_line("password = \"\"\"abc", None, &mut marker);
        assert_eq!(cleaned.open, Some(Open::Until("\"\"\"", "password")));
    }
}
