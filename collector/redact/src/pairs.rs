//! Secrets that a name in front of them gives away, in one line of text: `key: value`, `key=value`, quoted or not, and
//! `--flag value`.

mod lists;
pub(crate) mod may;

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::marker::Marker;
use super::notations;
use super::span::{Found, Open, Place, announces};
use super::value::{is_count, looks_random};
use super::words::{KeyClass, classify};
use lists::{clean_list, clean_map, list_length, map_length};

/// One line with its secrets replaced, and what of it goes on.
pub(crate) struct Cleaned {
    /// The line, without its line end.
    pub(crate) text: String,
    /// Set when the value of a secret goes on in the next line.
    pub(crate) open: Option<Open>,
}

static PAIR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?<k>[\pL0-9_][\pL0-9_.-]*)\\*["']?[ \t\u{200b}]*(?:=>|->|:=|\?=|::[ \t]|[:=：]|→|%3[DdAa]|\\x3[DdAa]|\.{4,})[ \t]*"#)
        .ok()
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
        r#"(?i)\b(?:name|key)\\*["']?\s*[:=]\s*\\*["']?(?<k>[A-Za-z_][A-Za-z0-9_.-]*)\\*["']?\s*,?\s*\\*["']?value\\*["']?\s*[:=]\s*"#,
    )
    .ok()
});

/// Replaces the secrets of one line. `force` is set where the line before named a secret and this one holds its value.
pub(crate) fn clean_line(line: &str, force: Option<KeyClass>, marker: &mut Marker) -> Cleaned {
    let mut out = Cleaned {
        text: line.to_owned(),
        open: None,
    };
    out.text = clean_elements(out.text, force, marker);
    out.text = notations::clean(out.text, marker);
    for kind in [Kind::Named, Kind::Flag, Kind::Pair] {
        if kind.may(&out.text) {
            out = one_pass(kind, out, force, marker);
        }
    }
    out
}

/// What says how a name and its value stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Named,
    Flag,
    Pair,
}

impl Kind {
    /// Whether one may stand in a text.
    fn may(self, text: &str) -> bool {
        match self {
            Self::Named => may::holds(text, b"value"),
            Self::Flag => may::flag(text),
            Self::Pair => true,
        }
    }

    /// The next name at or behind a place, and the whole with what stands in front of its value.
    fn next(self, text: &str, at: usize) -> Option<[Range<usize>; 2]> {
        match self {
            Self::Named => may::next_captured(NAMED.as_ref()?, text, at),
            Self::Flag => may::next_captured(FLAG.as_ref()?, text, at),
            Self::Pair => may::next_pair(PAIR.as_ref()?, text, at),
        }
    }
}

fn one_pass(kind: Kind, line: Cleaned, force: Option<KeyClass>, marker: &mut Marker) -> Cleaned {
    let flag = kind == Kind::Flag;
    let text = line.text;
    let mut open = line.open;
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    let mut at = 0;
    while let Some([named, whole]) = kind.next(&text, at) {
        at = whole.end;
        let key = &text[named.clone()];
        let before = &text[..named.start];
        let path = before.ends_with('/') && path_of_names(before, key);
        // `${NAME:?message}` has no value here.
        let message = before.ends_with("${") && text[whole.end..].starts_with('?');
        if path || message || before.ends_with("<redacted:") {
            continue;
        }
        let is_value = force.filter(|_| matches!(key, "value" | "default"));
        let Some(class) = is_value
            .or_else(|| classify(key))
            .or_else(|| of_two_words(before, key))
        else {
            // The blank behind a flag without a value is the one in front of the next.
            at = if flag { named.end } else { at };
            continue;
        };
        let place = Place::of(
            &text[..named.start],
            &text[named.end..whole.end],
            &text[whole.end..],
            flag,
        );
        if ends_prompt(before, &text[named.end..]) {
            continue;
        }
        let found = Found::at(&text, whole.end, place);
        if let Some(length) =
            list_length(&text[whole.end..]).filter(|_| text[whole.end..].trim_end() != "[")
        {
            let end = whole.end + length;
            out.push_str(&text[copied..whole.end]);
            out.push_str(&clean_list(&text[whole.end..end], class, marker));
            copied = end;
            at = end;
            continue;
        }
        if let Some(length) = map_length(key, &text[whole.end..]) {
            let end = whole.end + length;
            out.push_str(&text[copied..whole.end]);
            out.push_str(&clean_map(&text[whole.end..end], class, marker));
            copied = end;
            at = end;
            continue;
        }
        let value = &text[found.start..found.end];
        let doubtful = !class.sure && place == Place::Prose && is_value.is_none();
        // `-dbpass = x` is a name that begins with a sign.
        let in_flag = flag && (value.starts_with('-') || value == "=");
        let counted = !class.sure && is_value.is_none() && is_count(value);
        let spared = class.spares(value)
            || in_flag
            || counted
            || is_sentence(key, value)
            || (doubtful && !looks_random(value));
        let goes_on = found.open(&text, named.start, place, class.name);
        open = open
            .or(goes_on
                .filter(|open| !spared || value.is_empty() || !matches!(open, Open::Deeper(..))));
        if spared || announces(value) {
            at = if in_flag { named.end } else { at };
            continue;
        }
        let quote = if found.needs_quotes(&text) { "\"" } else { "" };
        out.push_str(&text[copied..found.start]);
        out.push_str(quote);
        out.push_str(&marker.mark(class.name, value.as_bytes()));
        out.push_str(quote);
        copied = found.end;
        at = found.end.max(at);
    }
    out.push_str(&text[copied..]);
    Cleaned { text: out, open }
}

/// `expect "Password:" send`: the quote behind the colon closes the one in front of the name.
fn ends_prompt(before: &str, behind: &str) -> bool {
    let rest = behind.strip_prefix(':').map(str::trim_start);
    rest.and_then(|rest| rest.strip_prefix('"'))
        .is_some_and(|rest| rest.starts_with([' ', ';', '}', ')']))
        && before.matches('"').count() % 2 == 1
        && !before.contains('\\')
}

/// `checksum/secret`: with the names in front of it, the name is none of a secret.
fn path_of_names(before: &str, key: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
    let names = &before[before.trim_end_matches(part).len()..];
    classify(&format!("{names}{key}")).is_none()
}

/// `api key = x`: the word in front belongs to the name.
fn of_two_words(before: &str, key: &str) -> Option<KeyClass> {
    let first = before
        .strip_suffix(' ')?
        .rsplit([' ', '\t', '"', '\'', '#', ';'])
        .next()?;
    let plain = !first.is_empty() && first.bytes().all(|b| b.is_ascii_alphanumeric());
    let key = key.to_ascii_lowercase();
    (plain && matches!(key.as_str(), "key" | "keys" | "phrase" | "code" | "word"))
        .then(|| classify(&format!("{first} {key}")))?
}

/// `passwd: password expiry information changed.` and `Pass: 12 Fail: 1`: a program speaks, or counts.
fn is_sentence(key: &str, value: &str) -> bool {
    let mut words = value.split_whitespace();
    match (words.next(), words.next()) {
        (Some(first), Some(_)) if key.eq_ignore_ascii_case("pass") => is_count(first),
        (Some(_), Some(_)) => key == "passwd" && words.next().is_some(),
        _ => false,
    }
}

/// `<password>hunter2</password>`.
static ELEMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"<(?<k>[A-Za-z][A-Za-z0-9_.:-]*)(?:\s[^<>]*)?>(?:<!\[CDATA\[)?(?<s>[^<>\[\]]+)(?:\]\]>)?</").ok()
});

fn clean_elements(text: String, force: Option<KeyClass>, marker: &mut Marker) -> String {
    let Some(element) = ELEMENT.as_ref().filter(|_| text.contains("</")) else {
        return text;
    };
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for captures in element.captures_iter(&text) {
        let (Some(key), Some(value)) = (captures.name("k"), captures.name("s")) else {
            continue;
        };
        let placeholder = key.as_str().starts_with("redacted:");
        let told = force.filter(|_| matches!(key.as_str(), "value" | "string"));
        let Some(class) = told
            .or_else(|| classify(key.as_str()))
            .filter(|class| !placeholder && !class.spares(value.as_str()))
        else {
            continue;
        };
        out.push_str(&text[copied..value.start()]);
        out.push_str(&marker.mark(class.name, value.as_str().trim().as_bytes()));
        copied = value.end();
    }
    out.push_str(&text[copied..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;

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
            "ALTER LOGIN sa WITH PASSWORD = N'hunter2';",
            "-dbpass = hunter2",
            "{\\\"password\\\":\\\"hunter2\\\"}",
            "--password=hunter2 --v=2",
            "--password hunter2 --v=2",
            "[\"--password\",\"hunter2\"]",
            "level=error msg=\"bad login\" password=hunter2",
            "GET /v2?token=hunter2&x=1",
            "{\"name\":\"DB_PASSWORD\",\"value\":\"hunter2\"}",
            "Server=db;Password=hunter2;Port=1",
            "map[password:hunter2 user:me]",
            "X-Token = ['hunter2A', \"hunter2B\"]",
            "{X-Auth-Token: [\"hunter2A\"]}",
            "- {name: API_TOKEN, value: hunter2A}",
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
    fn a_placeholder_is_not_taken_for_a_secret_again() {
        for line in [
            "Authorization: Basic aHVudGVyMg==",
            "url = \"http://me:hunter2@proxy:3128\"",
            "--password 'hunter2' -h db",
        ] {
            let mut marker = Marker::new(Key::fixed());
            let once = crate::clean_text(line, 0, &mut marker);
            assert_eq!(once.matches("<redacted:").count(), 1, "{once}");
            assert_eq!(crate::clean_text(&once, 0, &mut marker), once);
        }
    }

    #[test]
    fn the_rest_of_the_line_survives() {
        assert!(clean("--password hunter2 --v=2").ends_with(" --v=2"));
        assert!(clean("GET /v2?token=hunter2&x=1").ends_with("&x=1"));
        assert!(clean("{\"password\":\"hunter2\",\"b\":1}").ends_with("\",\"b\":1}"));
    }

    #[test]
    fn a_switch_in_a_list_of_arguments_leaves_the_list_whole() {
        let line = "    \"--client-cert-auth=true\",";
        assert_eq!(clean(line), line);
        let out = clean("    \"--auth-token=hunter2A\",");
        assert!(out.ends_with(">\",") && !out.contains("hunter2A"), "{out}");
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
