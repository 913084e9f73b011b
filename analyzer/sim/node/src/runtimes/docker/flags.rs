//! dockerd's command line, taken apart as its flag library does.

use std::collections::BTreeMap;

use super::keys::{self, Kind, Release};

/// Values by setting, in the order given; a switch without a value has `true`.
pub(super) type Flags = BTreeMap<String, Vec<String>>;

/// Takes the words after the program's name apart. A flag that the release does not know is left out: the daemon runs,
/// so it has another release's flags.
pub(super) fn parse(words: &[String], release: Release) -> Flags {
    let mut out = Flags::new();
    let mut rest = words.iter().skip(1).map(String::as_str);
    while let Some(word) = rest.next() {
        if word == "--" {
            break;
        }
        if let Some(long) = word.strip_prefix("--") {
            take(long, release, &mut rest, &mut out);
        } else if let Some(letters) = word.strip_prefix('-') {
            short(letters, release, &mut rest, &mut out);
        }
    }
    out
}

fn take<'a>(
    word: &'a str,
    release: Release,
    rest: &mut dyn Iterator<Item = &'a str>,
    out: &mut Flags,
) {
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word, None),
    };
    let Some(key) = keys::of(release).find(|key| !key.flag.is_empty() && key.flag == name) else {
        return;
    };
    let value = match (value, key.kind) {
        (Some(value), _) => value,
        (None, Kind::Bool) => "true",
        (None, _) => match rest.next() {
            Some(value) => value,
            None => return,
        },
    };
    let values = out.entry(key.name().to_owned()).or_default();
    values.extend(split(value, key.kind));
}

/// Letters may stand together; the first that wants a value takes what follows.
fn short<'a>(
    letters: &'a str,
    release: Release,
    rest: &mut dyn Iterator<Item = &'a str>,
    out: &mut Flags,
) {
    for (at, letter) in letters.char_indices() {
        let Some(key) = keys::of(release).find(|key| key.letter == letter && letter != '\0') else {
            return;
        };
        let after = letters.get(at + letter.len_utf8()..).unwrap_or_default();
        let values = out.entry(key.name().to_owned()).or_default();
        if key.kind == Kind::Bool && !after.starts_with('=') {
            values.push("true".to_owned());
            continue;
        }
        let value = match after.strip_prefix('=') {
            Some(value) => Some(value),
            None if after.is_empty() => rest.next(),
            None => Some(after),
        };
        values.extend(value.map(unquoted));
        return;
    }
}

fn split(value: &str, kind: Kind) -> Vec<String> {
    match kind {
        Kind::Ips => value.split(',').map(unquoted).collect(),
        _ => vec![unquoted(value)],
    }
}

/// Quotes that a unit file left around a value.
fn unquoted(value: &str) -> String {
    value.trim_matches(['"', '\'']).to_owned()
}
