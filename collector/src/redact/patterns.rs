//! Secrets that give themselves away by their own form, wherever they stand.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::Regex;

use super::marker::Marker;
use super::value::looks_random;

/// A line without any of these holds nothing that a redactor would replace; most lines end here.
const HINTS: [&str; 30] = [
    "pass",
    "pwd",
    "secret",
    "token",
    "key",
    "cred",
    "auth",
    "bearer",
    "basic ",
    "eyj",
    "://",
    "akia",
    "asia",
    "nvapi",
    "-----begin",
    "ls0tls1",
    "sig=",
    "cookie",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat",
    "glpat",
    "xox",
    "hf_",
    "sk-",
    "aiza",
    "psk",
    "$6$",
    "$2",
];

static PREFILTER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(HINTS)
        .ok()
});

/// Whether a closer look at these bytes is worth its time.
pub(crate) fn suspicious(bytes: &[u8]) -> bool {
    PREFILTER
        .as_ref()
        .is_none_or(|filter| filter.is_match(bytes))
}

/// A form: its class, its expression (the group `s` is the secret), and whether a word in its place must look random.
struct Form {
    class: &'static str,
    regex: Regex,
    doubtful: bool,
}

static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| {
    [
        ("jwt", r"\b(?<s>eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?)", false),
        ("bearer", r"(?i)\bbearer\s+(?<s>[A-Za-z0-9._~+/-]{6,}=*)", true),
        ("basic-auth", r"(?i)\bbasic\s+(?<s>[A-Za-z0-9+/]{6,}={0,2})", true),
        ("url-password", r#"://[^\s/@:"'<>\\?#]*:(?<s>[^\s"'<>\\/?#]+)@"#, false),
        ("url-password", r#"://(?<s>[^\s/@:"'<>\\?#]{20,})@"#, false),
        ("aws-key", r"\b(?<s>(?:AKIA|ASIA)[0-9A-Z]{16})\b", false),
        ("nvapi-key", r"(?<s>nvapi-[A-Za-z0-9_-]{16,})", false),
        ("api-key", r"\b(?<s>gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})", false),
        ("api-key", r"\b(?<s>xox[abeprs]-[A-Za-z0-9-]{10,}|hf_[A-Za-z0-9]{20,}|AIza[A-Za-z0-9_-]{30,})", false),
        ("api-key", r"\b(?<s>sk-[A-Za-z0-9_-]{20,})", true),
        ("password-hash", r"(?<s>\$(?:1|2[abxy]|5|6|y|apr1)\$[./A-Za-z0-9$=,]{16,})", false),
        ("private-key", r"(?<s>LS0tLS1CRUdJTi[A-Za-z0-9+/]{20,}={0,2})", false),
    ]
    .into_iter()
    .filter_map(|(class, text, doubtful)| Some(Form { class, regex: Regex::new(text).ok()?, doubtful }))
    .collect()
});

/// Replaces every secret that has a form of its own.
pub(crate) fn replace(text: String, marker: &mut Marker) -> String {
    let mut text = text;
    for form in FORMS.iter() {
        if form.regex.is_match(&text) {
            text = replace_form(form, &text, marker);
        }
    }
    text
}

fn replace_form(form: &Form, text: &str, marker: &mut Marker) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for found in form
        .regex
        .captures_iter(text)
        .filter_map(|captures| captures.name("s"))
    {
        let secret = found.as_str();
        let spared = secret.starts_with("<redacted:")
            || (form.doubtful && !looks_random(secret))
            || (form.class == "private-key" && !encodes_private_key(secret))
            || (form.class == "url-password" && super::value::harmless(secret));
        if spared {
            continue;
        }
        out.push_str(&text[copied..found.start()]);
        out.push_str(&marker.mark(form.class, secret.as_bytes()));
        copied = found.end();
    }
    out.push_str(&text[copied..]);
    out
}

/// Whether base64 of a PEM block begins one of a private key; certificates stay readable.
fn encodes_private_key(base64: &str) -> bool {
    let mut decoded = Vec::with_capacity(60);
    let mut bits = 0_u32;
    let mut held = 0;
    for byte in base64.bytes().take(80) {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => break,
        };
        bits = (bits << 6) | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            decoded.push(u8::try_from((bits >> held) & 0xff).unwrap_or(0));
        }
    }
    let text = String::from_utf8_lossy(&decoded);
    text.contains("PRIVATE")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::Key;

    fn clean(text: &str) -> String {
        replace(text.to_owned(), &mut Marker::new(Key::fixed()))
    }

    #[test]
    fn every_form_compiles() {
        assert_eq!(FORMS.len(), 12);
        assert!(PREFILTER.is_some());
    }

    #[test]
    fn secrets_with_a_form_of_their_own_are_found_in_prose() {
        for (text, secret) in [
            (
                "got Authorization: Bearer abc123def456 from",
                "abc123def456",
            ),
            ("pull https://user:p4ss@nvcr.io/v2", "p4ss"),
            ("id AKIAIOSFODNN7EXAMPLE used", "AKIAIOSFODNN7EXAMPLE"),
            (
                "NGC nvapi-0123456789abcdefABCDEF_x",
                "nvapi-0123456789abcdefABCDEF_x",
            ),
            (
                "jwt eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJl.c2lnbmF0dXJl end",
                "eyJpc3MiOiJrdWJl",
            ),
        ] {
            assert!(!clean(text).contains(secret), "{text}");
            assert!(clean(text).contains("<redacted:"), "{text}");
        }
    }

    #[test]
    fn words_and_public_parts_are_left_alone() {
        for text in [
            "bearer authentication is on",
            "Basic authorization failed",
            "https://nvcr.io:443/v2/",
            "ssh://git@github.com/x",
            "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUM=",
        ] {
            assert_eq!(clean(text), text);
        }
    }
}
