//! Samples as other issuers would have made them: the same form with other words, letters, lengths and signs. What leaks
//! of these and not of the samples shows a redaction that knows cases instead of properties.

use super::rules::{below, mixed};
use super::samples::Sample;

/// A longer run of letters of one case is no word.
const WORD: usize = 12;
/// Runs from this length on have other lengths in other tokens.
const STRETCHED: usize = 12;
const SIGNS: [&str; 4] = ["_", "-", ".", ":"];

/// One sample as others would have made it; none where it has a form of its own (keys over lines, JSON web tokens).
pub(crate) fn varied(sample: &Sample, number: u64) -> Option<Sample> {
    let secret = &sample.secret;
    let formed = ["eyJ", "-----"].iter().any(|form| secret.contains(form));
    if formed || secret.contains('\n') || sample.again {
        return None;
    }
    let seed = secret.bytes().fold(number, |state, byte| {
        mixed(state.rotate_left(5) ^ u64::from(byte))
    });
    let mut state = mixed(seed);
    // The scheme and the host of an address are not drawn.
    let host = secret.find("://").map_or(0, |at| {
        let rest = &secret[at + 3..];
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        at + 3 + rest[..end].rfind('@').map_or(end, |_| 0)
    });
    let (kept, rest) = secret.split_at(host);
    let mut out = kept.to_owned();
    let runs = runs(rest);
    let issuer = runs.first()?.bytes().all(|byte| byte.is_ascii_alphabetic());
    let mut first = kept.is_empty() && issuer && below(&mut state, 4) == 0;
    let hex = hexadecimal(&runs);
    for (at, run) in runs.iter().enumerate() {
        if run.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            out.push_str(&redrawn(run, at >= hex, &mut state));
        } else if std::mem::take(&mut first) && SIGNS.contains(run) {
            out.push_str(SIGNS[below(&mut state, SIGNS.len())]);
        } else {
            out.push_str(run);
        }
    }
    let mut made = Sample::new(sample.scanner, &sample.rule, &out, None);
    made.prefixed |= sample.prefixed && out.len() > 16 && !kept.is_empty();
    Some(made)
}

/// Runs of letters and digits, and what stands between them.
fn runs(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = first.is_ascii_alphanumeric();
        let end = rest
            .find(|c: char| c.is_ascii_alphanumeric() != word)
            .unwrap_or(rest.len());
        all.push(&rest[..end]);
        rest = &rest[end..];
    }
    all
}

/// The run from which on all of a token is hexadecimal digits, some parts without a number in them among them.
fn hexadecimal(runs: &[&str]) -> usize {
    let other = |run: &&str| {
        run.bytes()
            .any(|byte| byte.is_ascii_alphanumeric() && !byte.is_ascii_hexdigit())
    };
    let from = runs.iter().rposition(other).map_or(0, |at| at + 1);
    let digits: usize = runs[from..].iter().map(|run| run.len()).sum();
    if digits >= HEXADECIMAL {
        from
    } else {
        runs.len()
    }
}

/// So many of them are no words.
const HEXADECIMAL: usize = 16;

/// Another run of the same sorts: a word for a word, letters at random for letters at random.
fn redrawn(run: &str, hex: bool, state: &mut u64) -> String {
    let has = |sort: fn(&u8) -> bool| run.bytes().any(|byte| sort(&byte));
    let (lower, upper, digits) = (
        has(u8::is_ascii_lowercase),
        has(u8::is_ascii_uppercase),
        has(u8::is_ascii_digit),
    );
    if !hex && !digits && run.len() < WORD && (lower != upper) {
        let word = word(run.len(), state);
        return if upper {
            word.to_ascii_uppercase()
        } else {
            word
        };
    }
    let hex = hex || digits && lower != upper && run.bytes().all(|b| b.is_ascii_hexdigit());
    // A part of a UUID may be drawn without a letter.
    let (lower, digits) = (lower || hex && !upper, digits || hex);
    let sorts = [
        (lower && hex, "abcdef"),
        (upper && hex, "ABCDEF"),
        (lower && !hex, "abcdefghijklmnopqrstuvwxyz"),
        (upper && !hex, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
        (digits, "0123456789"),
    ];
    let letters: Vec<u8> = sorts
        .iter()
        .filter(|(used, _)| *used)
        .flat_map(|(_, letters)| letters.bytes())
        .collect();
    let stretched = run.len() >= STRETCHED && below(state, 2) == 0;
    let length = match stretched {
        true => run.len() * (70 + below(state, 70)) / 100,
        false => run.len(),
    };
    (0..length)
        .map(|_| char::from(letters[below(state, letters.len())]))
        .collect()
}

/// A word that nobody has for a name, and that can be said.
fn word(length: usize, state: &mut u64) -> String {
    let from = below(state, 2);
    (0..length)
        .map(|at| {
            let letters: &[u8] = match (at + from) % 2 {
                0 => b"bcdfglmnprstvz",
                _ => b"aeiou",
            };
            char::from(letters[below(state, letters.len())])
        })
        .collect()
}
