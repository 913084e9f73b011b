//! Which samples are secrets at all: scanners test themselves with placeholders, names and addresses as well.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;

/// Whether a text only shows where a secret would stand: `hf_xxxxxxxx`, `abcdefgh12345678`, a name, an address, words,
/// a whole document.
pub(crate) fn dummy(secret: &str) -> bool {
    let body = secret.rsplit(['_', '-', ' ']).next().unwrap_or(secret);
    let body = if body.len() * 2 < secret.len() {
        secret
    } else {
        body
    };
    let letters: BTreeSet<char> = body.chars().collect();
    let plain = secret
        .chars()
        .all(|c| c.is_ascii_lowercase() || " _-./@:'\"".contains(c))
        || secret.contains("example.com") && !secret.contains(':')
        || secret.starts_with("X-") && !secret.contains(' ');
    let lower = secret.to_ascii_lowercase();
    let counts = lower.as_bytes().windows(7).any(|seven| {
        seven
            .windows(2)
            .all(|two| two[0].checked_add(1) == Some(two[1]))
    });
    letters.len() < 5
        || plain
        || counts
        || secret.contains("{\n")
        || secret.contains("=>")
        || rising(secret)
        || repeated(secret)
        || name(secret)
        || sentence(secret)
        || path(secret)
        || address(secret)
        || header(secret)
}

/// Whether half of a text is letters and digits that count up or down: `ABCD1234EFGH5678`, `0987654321098765`.
fn rising(secret: &str) -> bool {
    let letters: Vec<u8> = secret
        .bytes()
        .filter(u8::is_ascii_alphanumeric)
        .map(|byte| byte.to_ascii_lowercase())
        .collect();
    let step = |at: usize| match (letters[at - 1], letters[at]) {
        (b'9', b'0') => 1,
        (b'0', b'9') => -1,
        (a, b) => i16::from(b) - i16::from(a),
    };
    let (mut covered, mut length, mut last) = (0, 1, 0);
    for at in 1..=letters.len() {
        let now = if at < letters.len() { step(at) } else { 0 };
        if now == last && now.abs() == 1 {
            length += 1;
            continue;
        }
        covered += if length > 2 { length } else { 0 };
        (length, last) = (if now.abs() == 1 { 2 } else { 1 }, now);
    }
    covered * 2 >= letters.len()
}

/// Whether three letters make nearly all of a long text: `SG.aaaaaaaaaaaaaaaaaaaaaa.bbbbbbbbbbbbbbbbbbbbbbbb`.
fn repeated(secret: &str) -> bool {
    let mut counts: BTreeMap<char, usize> = BTreeMap::new();
    secret
        .chars()
        .for_each(|letter| *counts.entry(letter).or_default() += 1);
    let mut counts: Vec<usize> = counts.into_values().collect();
    counts.sort_unstable();
    let most: usize = counts.iter().rev().take(3).sum();
    secret.len() >= 16 && most * 5 >= secret.len() * 4
}

/// `BUNDLE_GEMS__X_COMToken`, `System.setProperty`: parts without a digit, each with one capital behind a small letter at
/// most.
fn name(secret: &str) -> bool {
    let parts: Vec<&str> = secret
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty())
        .collect();
    let humps = |part: &&str| {
        let bytes = part.as_bytes();
        bytes
            .windows(2)
            .filter(|two| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase())
            .count()
    };
    let signs = secret
        .chars()
        .all(|c| c.is_ascii_alphabetic() || "_-./=".contains(c));
    let word = secret.len() < 16 && secret.bytes().skip(1).all(|byte| byte.is_ascii_lowercase());
    signs && (parts.len() > 1 || word) && parts.iter().all(|part| humps(part) < 2)
}

/// `11222/rest/v2/caches`, `//api.example.com/v4/user`: parts that are words, numbers or versions.
fn path(secret: &str) -> bool {
    let plain = |part: &str| {
        let letters = part.bytes().all(|byte| byte.is_ascii_lowercase());
        part.len() < 4 || letters || part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let parts = || secret.split(|c: char| !c.is_ascii_alphanumeric());
    secret.matches('/').count() > 1 && parts().all(plain)
}

/// Words between blanks, none of them longer than words are.
fn sentence(secret: &str) -> bool {
    !secret.contains('\n')
        && secret.contains(' ')
        && secret
            .split(' ')
            .all(|word| word.len() < 16 && word.chars().filter(char::is_ascii_digit).count() < 3)
}

/// An address without a login and without a part behind its host that may have been drawn, a host, a mail address.
fn address(secret: &str) -> bool {
    let drawn = |part: &str| {
        let digits = part.bytes().filter(u8::is_ascii_digit).count();
        part.len() > 11 && digits > 2 && digits < part.len()
    };
    let lower = secret.to_ascii_lowercase();
    let named = [
        "password=",
        "pwd=",
        "pass=",
        "secret=",
        "token=",
        "key=",
        "sig=",
    ]
    .iter()
    .any(|name| lower.contains(name));
    let scheme = secret.find("//").filter(|at| *at < 12);
    let rest = scheme.map_or(secret, |at| &secret[at + 2..]);
    let login = rest
        .split_once('@')
        .and_then(|(front, _)| front.rsplit_once(':'))
        .is_some_and(|(_, password)| !password.is_empty());
    let rest = rest.split_once('@').map_or(rest, |(_, host)| host);
    let (host, behind) = rest.split_once(['/', '?', ':']).unwrap_or((rest, ""));
    let mut parts = behind.split(|c: char| !c.is_ascii_alphanumeric());
    let address = scheme.is_some() || lower.starts_with("jdbc:") || is_host(host);
    address && !login && !named && !parts.any(drawn)
}

/// `z2scfel5.online.example.com`: labels, and a top of letters.
fn is_host(text: &str) -> bool {
    let mut labels = text.rsplit('.');
    let top = labels.next().unwrap_or_default();
    (2..=4).contains(&top.len())
        && top.bytes().all(|byte| byte.is_ascii_lowercase())
        && labels.clone().count() > 0
        && labels.all(|label| {
            label
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        })
}

/// The first part of a JSON web token, or a tag of one.
fn header(secret: &str) -> bool {
    let engine = base64::engine::general_purpose::STANDARD_NO_PAD;
    secret.starts_with("eyJ")
        && !secret.contains('.')
        && engine
            .decode(secret)
            .is_ok_and(|text| text.len() < 64 && text.starts_with(b"{\"alg\""))
}
