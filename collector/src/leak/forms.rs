//! Secrets by form, taken apart by hand: no expression and no table of the redaction is used here.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use memchr::memmem;

/// A text that begins a token, and how many letters and digits must follow.
const PREFIXES: [(&str, usize); 16] = [
    ("AKIA", 16),
    ("ASIA", 16),
    ("ghp_", 36),
    ("gho_", 36),
    ("ghs_", 36),
    ("github_pat_", 40),
    ("glpat-", 20),
    ("xoxb-", 30),
    ("xoxp-", 30),
    ("nvapi-", 40),
    ("hf_", 34),
    ("sk_live_", 24),
    ("AIza", 35),
    ("npm_", 36),
    ("dckr_pat_", 20),
    ("hvs.", 24),
];
/// Names whose values are looked at.
const NAMES: [&str; 6] = [
    "password",
    "passwd",
    "api_key",
    "apikey",
    "access_token",
    "secret_key",
];
/// A value behind such a name counts from this many bits a character and characters.
const MIN_BITS: f64 = 3.5;
const MIN_VALUE: usize = 16;

/// A private key, of which replacing a part would leave the rest.
pub(super) const PRIVATE_KEY: &str = "a private key";

/// Which of these bytes are a secret, and what it is.
pub(super) fn find(bytes: &[u8]) -> Vec<Found> {
    let mut found = Vec::new();
    private_keys(bytes, &mut found);
    tokens(bytes, &mut found);
    web_tokens(bytes, &mut found);
    urls(bytes, &mut found);
    named(bytes, &mut found);
    found
}

fn in_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn run(bytes: &[u8], fits: impl Fn(u8) -> bool) -> &[u8] {
    let length = bytes.iter().take_while(|byte| fits(**byte)).count();
    &bytes[..length]
}

/// Whether a last line of a key begins here and a line of the key stands before it: where the first line is gone already.
fn ends_a_key(before: &[u8]) -> bool {
    let title = before.len().saturating_sub(30);
    let Some(end) = memmem::rfind(&before[title..], b"END ") else {
        return false;
    };
    let body = &before[title.saturating_sub(200)..title + end];
    let material = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    body.split(|byte| !material(byte)).any(|run| {
        let drawn = run.iter().any(u8::is_ascii_digit) && run.iter().any(u8::is_ascii_uppercase);
        run.len() >= 40 && drawn
    })
}

fn private_keys(bytes: &[u8], found: &mut Vec<Found>) {
    for at in memmem::find_iter(bytes, b"PRIVATE KEY") {
        let behind = &bytes[at + 11..];
        let Some(rest) = behind
            .strip_prefix(b"-----")
            .or_else(|| behind.strip_prefix(b" BLOCK-----"))
        else {
            continue;
        };
        let body = rest
            .iter()
            .take(200)
            .filter(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
            .count();
        if bytes[..at].ends_with(b" ") || bytes[..at].ends_with(b"-----BEGIN ") {
            let begins = bytes[at.saturating_sub(30)..at]
                .windows(6)
                .any(|part| part == b"BEGIN ");
            if begins && body >= 60 || ends_a_key(&bytes[..at]) {
                found.push((at..at + 11, PRIVATE_KEY));
            }
        }
    }
}

fn tokens(bytes: &[u8], found: &mut Vec<Found>) {
    for (prefix, length) in PREFIXES {
        for at in memmem::find_iter(bytes, prefix.as_bytes()) {
            let alone = at == 0 || !in_token(bytes[at - 1]);
            let body = run(&bytes[at + prefix.len()..], in_token);
            let mixed =
                body.iter().any(u8::is_ascii_digit) && body.iter().any(u8::is_ascii_alphabetic);
            if alone && mixed && body.len() >= length {
                let end = at + prefix.len() + body.len();
                found.push((at..end, "a token of a known provider"));
            }
        }
    }
}

/// Three parts, of which the first is the base64 of a JSON object that names an algorithm.
fn web_tokens(bytes: &[u8], found: &mut Vec<Found>) {
    for at in memmem::find_iter(bytes, b"eyJ") {
        if at > 0 && in_token(bytes[at - 1]) {
            continue;
        }
        let token = run(&bytes[at..], |byte| in_token(byte) || byte == b'.');
        let mut parts = token.split(|byte| *byte == b'.');
        let (Some(head), Some(body), Some(mark)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let object = URL_SAFE_NO_PAD
            .decode(head)
            .ok()
            .and_then(|json| serde_json::from_slice::<serde_json::Value>(&json).ok());
        if object.is_some_and(|object| object.get("alg").is_some())
            && body.len() > 8
            && mark.len() >= 16
        {
            found.push((at..at + token.len(), "a signed web token"));
        }
    }
}

fn urls(bytes: &[u8], found: &mut Vec<Found>) {
    for at in memmem::find_iter(bytes, b"://") {
        let rest = run(&bytes[at + 3..], |byte| {
            byte.is_ascii_graphic() && !b"\"'<>\\/?#`".contains(&byte)
        });
        let Some((user, _)) = rest
            .iter()
            .rposition(|byte| *byte == b'@')
            .map(|end| rest.split_at(end))
        else {
            continue;
        };
        let Some(colon) = user.iter().position(|byte| *byte == b':') else {
            continue;
        };
        let password = &user[colon + 1..];
        let stands_for =
            password.starts_with(b"$") || password.starts_with(b"{") || password.starts_with(b"%s");
        let masked = password
            .iter()
            .all(|byte| matches!(byte, b'x' | b'X' | b'*'));
        if !stands_for && !masked && !password.is_empty() {
            let begin = at + 3 + colon + 1;
            found.push((begin..begin + password.len(), "a password in a URL"));
        }
    }
}

fn named(bytes: &[u8], found: &mut Vec<Found>) {
    for name in NAMES {
        for at in memmem::find_iter(bytes, name.as_bytes()) {
            let behind = run(&bytes[at + name.len()..], |byte| {
                b"\"'\\ :=".contains(&byte)
            });
            if !behind.contains(&b'=') && !behind.contains(&b':') || behind.len() > 8 {
                continue;
            }
            let rest = &bytes[at + name.len() + behind.len()..];
            let value = run(rest, |byte| in_token(byte) || b"+=!%".contains(&byte));
            let sorts = [
                u8::is_ascii_digit,
                u8::is_ascii_uppercase,
                u8::is_ascii_lowercase,
            ];
            let mixed = sorts.iter().all(|sort| value.iter().any(sort));
            if mixed && value.len() >= MIN_VALUE && bits(value) >= MIN_BITS {
                let begin = bytes.len() - rest.len();
                let what = "a random value behind the name of a secret";
                found.push((begin..begin + value.len(), what));
            }
        }
    }
}

/// The bytes of a secret, and what it is.
pub(super) type Found = (Range<usize>, &'static str);

/// Shannon's entropy a character.
#[expect(clippy::cast_precision_loss, reason = "values of a line's length")]
pub(super) fn bits(value: &[u8]) -> f64 {
    let mut counts = [0_usize; 256];
    for byte in value {
        counts[usize::from(*byte)] += 1;
    }
    let all = value.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| *count as f64 / all)
        .map(|share| -share * share.log2())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_form_is_found_and_placeholders_are_not() {
        let head = URL_SAFE_NO_PAD.encode(r#"{"alg":"RS256"}"#);
        let key = format!(
            "-----BEGIN RSA PRIVATE KEY-----\\n{}\\n",
            "MIIEowIBAAKCAQEA".repeat(5)
        );
        for text in [
            format!("x ghp_{} y", "a1B2".repeat(9)),
            format!("t={head}.eyJpc3MiOiJ4In0.c2lnbmF0dXJlc2ln"),
            "pull https://me:hunter2@nvcr.io/v2".to_owned(),
            "\"db_password\": \"k3XyQ9vQ2mPz77aB\"".to_owned(),
            key,
            // Its first line is gone.
            format!(
                "echo <redacted:private-key:0a1b2c3d>\necho \"{}\" >> k.pem\necho \"-----END RSA PRIVATE KEY-----\" >> k.pem\n",
                "MIIEowIBAAKCAQ01".repeat(4)
            ),
        ] {
            assert!(!find(text.as_bytes()).is_empty(), "{text}");
        }
        for text in [
            "password: <redacted:password:0a1b2c3d>",
            "https://me:<redacted:url-password:0a1b2c3d>@nvcr.io",
            "http://$(USER):$(PASS)@h git@github.com:a/b",
            "-----BEGIN CERTIFICATE-----\nMIIC\n",
            "got -----BEGIN PRIVATE KEY----- and nothing else",
            "key: <redacted:private-key:0a1b2c3d>\n-----END RSA PRIVATE KEY-----\n",
            "password=$(DB_PASSWORD) passwordSecretName: a",
        ] {
            assert!(find(text.as_bytes()).is_empty(), "{text}");
        }
    }
}
