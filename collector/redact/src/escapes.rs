//! Texts written as escapes: `%70%61`, `\x70\x61`, `\u0070`, `\160\141`, `&#112;`. What they say is cleaned as what it
//! is, and written the same way again where anything was replaced.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::marker::Marker;
use super::table::all_hex;
use super::{MAX_DEPTH, clean_text};

/// One way to write a byte.
struct Notation {
    /// Without it none stands there.
    needle: &'static str,
    /// A run that holds some.
    run: Regex,
    /// One of them.
    unit: Regex,
    radix: u32,
    write: fn(u8) -> String,
}

static NOTATIONS: LazyLock<Vec<Notation>> = LazyLock::new(|| {
    type Row = (
        &'static str,
        &'static str,
        &'static str,
        u32,
        fn(u8) -> String,
    );
    let all: [Row; 6] = [
        (
            "%",
            r"[\w.~!*+()$&/?:@=%-]*%(?:25)?[0-9A-Fa-f]{2}[\w.~!*+()$&/?:@=%-]*",
            r"%(?:25)*[0-9A-Fa-f]{2}",
            16,
            |byte| format!("%{byte:02X}"),
        ),
        (
            "\\x",
            r"(?:\\{1,2}x[0-9A-Fa-f]{2}){4,}",
            r"\\{1,2}x[0-9A-Fa-f]{2}",
            16,
            |byte| format!("\\x{byte:02x}"),
        ),
        (
            "\\u00",
            r"(?:\\{1,2}u00[0-9A-Fa-f]{2}){4,}",
            r"\\{1,2}u00[0-9A-Fa-f]{2}",
            16,
            |byte| format!("\\u00{byte:02x}"),
        ),
        (
            "\\1",
            r"(?:\\[01][0-7]{2}){4,}",
            r"\\[01][0-7]{2}",
            8,
            |byte| format!("\\{byte:03o}"),
        ),
        (
            "&#",
            r"(?:&#[0-9]{2,3};){4,}",
            r"&#[0-9]{2,3};",
            10,
            |byte| format!("&#{byte};"),
        ),
        (
            "&#x",
            r"(?i)(?:&#x[0-9a-f]{2};){4,}",
            r"(?i)&#x[0-9a-f]{2};",
            16,
            |byte| format!("&#x{byte:x};"),
        ),
    ];
    all.into_iter()
        .filter_map(|(needle, run, unit, radix, write)| {
            Some(Notation {
                needle,
                run: Regex::new(run).ok()?,
                unit: Regex::new(unit).ok()?,
                radix,
                write,
            })
        })
        .collect()
});

/// How many bytes from `start` on belong to an escape whose backslash stands in front of them: `\n`, `\t`, `\r`, `\x26`,
/// `\u0026`.
#[inline]
pub(super) fn letters(bytes: &[u8], start: usize) -> usize {
    match bytes[..start].last() {
        Some(b'\\') => letters_behind(bytes, start),
        _ => 0,
    }
}

/// The same where a backslash stands in front of them.
fn letters_behind(bytes: &[u8], start: usize) -> usize {
    let slashes = bytes[..start].iter().rev();
    if slashes.take_while(|byte| **byte == b'\\').count() % 2 == 0 {
        return 0;
    }
    let digits = |count: usize| {
        let digits = bytes.get(start + 1..=start + count);
        digits.is_some_and(all_hex)
    };
    match bytes.get(start) {
        Some(b'n' | b't' | b'r') => 1,
        Some(b'x') if digits(2) => 3,
        Some(b'u') if digits(4) => 5,
        _ => 0,
    }
}

/// Whether these bytes end in such an escape, so that what follows begins a line, a field or a text.
pub(super) fn behind_letter(before: &[u8]) -> bool {
    let ends = |length: usize| {
        let start = before.len().checked_sub(length);
        start.is_some_and(|start| letters(before, start) == length)
    };
    match before.last() {
        Some(b'n' | b't' | b'r') => ends(1),
        Some(byte) if byte.is_ascii_hexdigit() => ends(3) || ends(5),
        _ => false,
    }
}

/// Cleans what escapes say.
pub(super) fn clean<'a>(text: Cow<'a, str>, depth: usize, marker: &mut Marker) -> Cow<'a, str> {
    if depth >= MAX_DEPTH || first(text.as_bytes()).is_none() {
        return text;
    }
    let mut text = text;
    for notation in NOTATIONS.iter() {
        if text.contains(notation.needle) {
            text = notation.clean(&text, depth, marker).into();
        }
    }
    match list(text.as_bytes()) {
        Some(_) => lists(&text, depth, marker).into(),
        None => text,
    }
}

/// A text as the numbers of its bytes: `[112, 97, 115]`, `[112 97 115]`.
static LIST: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\[\s*(?<n>(?:\d{1,3}(?<s>,\s*|\s+)){7,}\d{1,3})\s*\]").ok());

/// Where such a list may begin.
fn list(bytes: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'[', bytes).find(|at| {
        let mut rest = &bytes[at + 1..];
        (0..3).all(|_| {
            let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
            let behind = &rest[digits..];
            let marks = behind.iter().take_while(|b| b" ,".contains(b)).count();
            rest = &behind[marks..];
            (1..=3).contains(&digits) && (1..=2).contains(&marks)
        })
    })
}

/// Cleans what such lists say.
fn lists(text: &str, depth: usize, marker: &mut Marker) -> String {
    let Some(regex) = LIST.as_ref() else {
        return text.to_owned();
    };
    let replaced = regex.replace_all(text, |found: &Captures<'_>| {
        let numbers = found["n"]
            .split([',', ' ', '\t'])
            .filter(|part| !part.is_empty());
        let bytes: Option<Vec<u8>> = numbers.map(|number| number.parse().ok()).collect();
        let inner = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        let Some(inner) = inner.filter(|inner| is_text(inner)) else {
            return found[0].to_owned();
        };
        let cleaned = clean_text(&inner, depth + 1, marker);
        if cleaned == inner {
            return found[0].to_owned();
        }
        let numbers: Vec<String> = cleaned.bytes().map(|byte| byte.to_string()).collect();
        format!("[{}]", numbers.join(&found["s"]))
    });
    replaced.into_owned()
}

fn is_text(text: &str) -> bool {
    !text.chars().any(|c| c.is_control() && !c.is_whitespace())
}

/// Where the first escape or list stands that may be part of a hidden text: one that follows another of its sort, or a
/// separator that somebody wrote as an escape.
pub(super) fn first(bytes: &[u8]) -> Option<usize> {
    let escape = memchr::memchr3_iter(b'%', b'\\', b'&', bytes).find(|at| telling(&bytes[*at..]));
    let end = escape.unwrap_or(bytes.len());
    list(&bytes[..end]).or(escape)
}

/// Whether an escape stands somewhere that other digits would change.
pub(super) fn digits_may_tell(zeros: &[u8]) -> bool {
    let tells = |at: usize| match zeros[at..] {
        [b'\\', next, ..] => next.is_ascii_digit() || matches!(next, b'x' | b'X' | b'u' | b'U'),
        [b'%', next, ..] => next.is_ascii_hexdigit(),
        [b'&', next, ..] => next == b'#',
        _ => false,
    };
    memchr::memchr3_iter(b'%', b'\\', b'&', zeros).any(tells)
}

fn telling(escape: &[u8]) -> bool {
    let digit = |at: usize| escape.get(at).is_some_and(u8::is_ascii_hexdigit);
    let octal = |at: usize| escape.get(at).is_some_and(|b| (b'0'..b'8').contains(b));
    let is = |at: usize, byte: u8| escape.get(at) == Some(&byte);
    match escape {
        [b'%', b'3', b'a' | b'A' | b'd' | b'D', ..] | [b'%', b'2', b'5', ..] => true,
        [b'%', b'4' | b'5' | b'6' | b'7', ..] => digit(2) && is(3, b'%') && digit(4),
        [b'\\', b'x', b'4'..=b'7', ..] => {
            digit(3) && is(4, b'\\') && (is(5, b'x') || is(5, b'\\') && is(6, b'x'))
        }
        [b'\\', b'u', b'0', b'0', b'4'..=b'7', ..] => {
            digit(5) && is(6, b'\\') && (is(7, b'u') || is(7, b'\\') && is(8, b'u'))
        }
        [b'\\', b'1', ..] => octal(2) && octal(3) && is(4, b'\\') && octal(5),
        [b'&', b'#', next, ..] => next.is_ascii_digit() || *next == b'x',
        _ => false,
    }
}

impl Notation {
    fn clean(&self, text: &str, depth: usize, marker: &mut Marker) -> String {
        let mut out = String::with_capacity(text.len());
        let mut copied = 0;
        for run in self.run.find_iter(text) {
            let Some(inner) = self
                .read(run.as_str())
                .filter(|inner| inner != run.as_str())
            else {
                continue;
            };
            let cleaned = clean_text(&inner, depth + 1, marker);
            if cleaned != inner {
                out.push_str(&text[copied..run.start()]);
                out.push_str(&self.written(&cleaned));
                copied = run.end();
            }
        }
        out.push_str(&text[copied..]);
        out
    }

    /// What a run says; none where it is no text.
    fn read(&self, run: &str) -> Option<String> {
        let mut bytes = Vec::with_capacity(run.len());
        let mut at = 0;
        for unit in self.unit.find_iter(run) {
            bytes.extend_from_slice(&run.as_bytes()[at..unit.start()]);
            bytes.push(u8::from_str_radix(self.digits(unit.as_str()), self.radix).ok()?);
            at = unit.end();
        }
        bytes.extend_from_slice(&run.as_bytes()[at..]);
        let text = String::from_utf8(bytes).ok()?;
        is_text(&text).then_some(text)
    }

    /// The digits of one of them, at its end.
    fn digits<'a>(&self, unit: &'a str) -> &'a str {
        let unit = unit.trim_end_matches(';');
        match self.radix {
            10 => unit.trim_start_matches("&#"),
            8 => &unit[unit.len().saturating_sub(3)..],
            _ => &unit[unit.len().saturating_sub(2)..],
        }
    }

    fn written(&self, text: &str) -> String {
        text.bytes()
            .map(|byte| match byte {
                b'<' | b'>' | b':' | b'-' | b'.' | b'_' => char::from(byte).to_string(),
                _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
                _ => (self.write)(byte),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;

    fn cleaned(text: &str) -> String {
        clean(text.into(), 0, &mut Marker::new(Key::fixed())).into_owned()
    }

    #[test]
    fn a_password_is_found_in_every_notation() {
        let secret = "password=hunter2";
        let written = |one: fn(u8) -> String| secret.bytes().map(one).collect::<String>();
        for text in [
            written(|b| format!("%{b:02x}")),
            written(|b| format!("%25{b:02x}")),
            written(|b| format!("\\x{b:02x}")),
            written(|b| format!("\\u00{b:02x}")),
            written(|b| format!("\\{b:03o}")),
            written(|b| format!("&#{b};")),
            written(|b| format!("&#x{b:x};")),
            written(|b| format!("\\\\u00{b:02x}")),
            "proxy=http%3A%2F%2Fjoe%3Ahunter2%40h%2F".to_owned(),
        ] {
            let out = cleaned(&format!("a {text} b"));
            assert!(out.contains("<redacted:"), "{text} -> {out}");
            assert_eq!(cleaned(&out), out);
        }
    }

    #[test]
    fn a_password_in_a_list_of_bytes_goes_and_the_list_stays_one() {
        let numbers = |text: &str| text.bytes().map(|b| b.to_string()).collect::<Vec<_>>();
        for separator in [" ", ", ", ","] {
            let list = numbers("password=hunter2").join(separator);
            let out = cleaned(&format!("got [{list}] there"));
            assert!(!out.contains(&numbers("hunter2").join(separator)), "{out}");
            assert!(
                out.starts_with("got [112") && out.ends_with("] there"),
                "{out}"
            );
            assert_eq!(cleaned(&out), out);
        }
    }

    #[test]
    fn escapes_of_nothing_secret_stay_as_they_are() {
        for text in [
            "dev-disk-by\\x2did-dm\\x2duuid and 50% of %s",
            "GET /a%20b%2Fc?x=%7B%7D",
            "\\u0026\\u003c\\u003e\\u0022",
            "cpus [0 1 2 3 4 5 6 7 8 9] of [10, 11, 12]",
        ] {
            assert_eq!(cleaned(text), text);
        }
    }
}
