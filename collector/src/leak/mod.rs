//! The leak check: a second look at the finished bundle, with other means than the redaction's. It searches every
//! entry, the header and the manifest for the exact secret values of this run (plain, in base64 and escaped) and for
//! forms that it takes apart by hand (`forms`). What it finds blocks the bundle.

mod forms;

use std::collections::BTreeSet;

use aho_corasick::AhoCorasick;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use casefile_bundle::{Input, Limits, OpenError, Piece, PieceSink, scan};

use crate::redact::Key;

/// Places of one entry that are named.
const MAX_NAMED: usize = 20;
/// Values searched for are at least so long.
const MIN_VALUE: usize = 12;
/// Of a longer value this much is searched for.
const MAX_VALUE: usize = 64;

/// A place where a secret stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Leak {
    /// The entry.
    pub path: String,
    /// The line within the stretch of the entry that was looked at; most entries are one stretch.
    pub line: u64,
    /// Which stretch of the entry, counted from 0.
    pub piece: u32,
    /// What it is, never the value.
    pub what: &'static str,
}

impl std::fmt::Display for Leak {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.piece {
            0 => write!(f, "{}:{}: {}", self.path, self.line, self.what),
            piece => write!(
                f,
                "{} (part {}, line {}): {}",
                self.path,
                piece + 1,
                self.line,
                self.what
            ),
        }
    }
}

/// Keeps what is secret in a Secret's value. Certificates, namespaces and user names are not; of a file the redaction
/// finds out which parts are.
pub fn remember(key: &Key, name: &str, value: &[u8]) {
    const PUBLIC: [&str; 6] = [
        "ca.crt",
        "tls.crt",
        "namespace",
        "username",
        "user",
        "release",
    ];
    if PUBLIC.contains(&name) || name.ends_with(".crt") {
        return;
    }
    let Ok(text) = std::str::from_utf8(value) else {
        key.remember(value);
        return;
    };
    if text.trim().contains('\n') || text.trim_start().starts_with('{') {
        // Cleaning remembers each secret that it replaces.
        let _ = crate::redact::clean_sentence(text, key);
        for line in text
            .lines()
            .filter(|line| line.len() >= 40 && !line.contains(' '))
        {
            if text.contains("PRIVATE KEY-----") && !line.contains("-----") {
                key.remember(line.as_bytes());
            }
        }
    } else {
        key.remember(text.trim().as_bytes());
    }
}

/// Whether a value is unlike anything that stands in a bundle for another reason.
fn telling(value: &[u8]) -> bool {
    let distinct: BTreeSet<u8> = value.iter().copied().collect();
    let digit = value.iter().any(u8::is_ascii_digit);
    let letter = value.iter().any(u8::is_ascii_alphabetic);
    let upper =
        value.iter().any(u8::is_ascii_uppercase) && value.iter().any(u8::is_ascii_lowercase);
    let path = value.contains(&b'/') && (value.starts_with(b"/") || value.contains(&b'.'));
    value.len() >= MIN_VALUE
        && distinct.len() >= 8
        && ((digit && letter) || upper)
        && !path
        && !value.contains(&b' ')
        && !value.starts_with(b"<redacted")
        && !value.windows(10).any(|part| part == b"<redacted:")
}

/// The texts by which a value is found: itself, as JSON writes it, and in base64 at each of the three offsets.
fn variants(value: &[u8]) -> Vec<Vec<u8>> {
    let value = &value[..value.len().min(MAX_VALUE)];
    let mut list = vec![value.to_vec()];
    if let Ok(text) = std::str::from_utf8(value) {
        let quoted = serde_json::to_string(text).unwrap_or_default();
        let inner = quoted.trim_matches('"');
        if inner != text {
            list.push(inner.as_bytes().to_vec());
        }
    }
    for offset in 0..3 {
        let mut padded = vec![0; offset];
        padded.extend_from_slice(value);
        let encoded = STANDARD_NO_PAD.encode(&padded);
        // The digits at both ends depend on the neighbours as well.
        let from = if offset == 0 { 0 } else { offset + 1 };
        let to = encoded.len() - if padded.len().is_multiple_of(3) { 0 } else { 1 };
        if to > from + MIN_VALUE {
            list.push(encoded.as_bytes()[from..to].to_vec());
        }
    }
    list
}

struct Search {
    values: Option<AhoCorasick>,
    allowed: BTreeSet<String>,
}

impl PieceSink for Search {
    type Out = Vec<Leak>;

    fn piece(&self, piece: &Piece<'_>) -> Option<Vec<Leak>> {
        let path = piece.entry.path.as_str();
        if self.allowed.contains(path) {
            return None;
        }
        let mut found: Vec<(usize, &'static str)> = forms::find(piece.bytes);
        if let Some(values) = &self.values {
            let hits = values.find_iter(piece.bytes).take(MAX_NAMED);
            found.extend(hits.map(|hit| {
                (
                    hit.start(),
                    "a secret value that was seen elsewhere in this run",
                )
            }));
        }
        if piece.seq == 0 {
            let in_name = !forms::find(path.as_bytes()).is_empty()
                || self
                    .values
                    .as_ref()
                    .is_some_and(|values| values.is_match(path));
            found.extend(in_name.then_some((0, "a secret in the entry's name")));
        }
        found.sort_unstable();
        found.truncate(MAX_NAMED);
        let leaks: Vec<Leak> = found
            .into_iter()
            .map(|(at, what)| Leak {
                path: path.to_owned(),
                line: 1 + memchr::memchr_iter(b'\n', &piece.bytes[..at]).count() as u64,
                piece: piece.seq,
                what,
            })
            .collect();
        (!leaks.is_empty()).then_some(leaks)
    }
}

/// Looks through a finished bundle; `allowed` are paths that may hold what they hold.
pub fn check<'a>(
    bundle: impl Into<Input<'a>>,
    key: &Key,
    allowed: &BTreeSet<String>,
) -> Result<Vec<Leak>, OpenError> {
    let seen = key.seen();
    let telling: Vec<Vec<u8>> = seen
        .iter()
        .filter(|value| telling(value))
        .flat_map(|value| variants(value))
        .collect();
    let search = Search {
        values: AhoCorasick::new(&telling)
            .ok()
            .filter(|_| !telling.is_empty()),
        allowed: allowed.clone(),
    };
    let (_, results) = scan(bundle, &Limits::default(), &search)?;
    let mut leaks: Vec<Leak> = results
        .into_iter()
        .flat_map(|(_, _, leaks)| leaks)
        .collect();
    leaks.sort();
    leaks.dedup();
    Ok(leaks)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &[u8] = b"k3Xy-9vQ2mPz77";

    fn search(key: &Key) -> AhoCorasick {
        let list: Vec<_> = key
            .seen()
            .iter()
            .flat_map(|value| variants(value))
            .collect();
        AhoCorasick::new(list).unwrap()
    }

    #[test]
    fn a_value_is_found_plain_and_in_base64_at_any_offset() {
        let key = Key::fixed();
        key.remember(SECRET);
        let values = search(&key);
        for before in ["", "a", "ab", "abc"] {
            let text = [before.as_bytes(), SECRET, b" and more"].concat();
            assert!(values.is_match(&text));
            assert!(values.is_match(&STANDARD_NO_PAD.encode(&text)), "{before}");
        }
    }

    #[test]
    fn public_parts_and_plain_words_of_secrets_are_not_searched_for() {
        let key = Key::fixed();
        remember(&key, "ca.crt", SECRET);
        remember(&key, "username", SECRET);
        assert!(key.seen().is_empty());
        assert!(!telling(b"gpu-operator-values"));
        assert!(!telling(b"/var/lib/kubelet/pki/kubelet.key1"));
        assert!(telling(SECRET));
    }

    #[test]
    fn of_a_file_in_a_secret_only_its_secrets_are_remembered() {
        let key = Key::fixed();
        remember(
            &key,
            "app.yaml",
            b"mode: fastest1\npassword: k3Xy-9vQ2mPz77\n",
        );
        assert_eq!(key.seen(), vec![Box::from(SECRET)]);
    }
}
