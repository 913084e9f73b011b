//! Secrets that give themselves away by their own form, wherever they stand, and the one search that says which of
//! all expressions are worth trying on a line.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::Regex;

use super::forms::{Check, SPECS};
use super::marker::Marker;
use super::value::{harmless, looks_random};

/// Words that stand in the names of secrets.
const NAMES: [&str; 21] = [
    "pass",
    "pwd",
    "secret",
    "token",
    "key",
    "cred",
    "auth",
    "cookie",
    "psk",
    "_pw",
    "-pw",
    "pw=",
    "pw:",
    "pw\"",
    "pw ",
    "bindpw",
    "_pat",
    "jwt",
    "bearer",
    "signature",
    "community",
];
/// What opens or continues something over several lines.
const OTHERS: [&str; 21] = [
    "-----begin",
    "data:",
    "private-lines", // lists of bytes
    ":[1",
    ":[2",
    ":[3",
    ":[4",
    ":[5",
    ":[6",
    ":[7",
    ":[8",
    ":[9",
    ": [1",
    ": [2",
    ": [3",
    ": [4",
    ": [5",
    ": [6",
    ": [7",
    ": [8",
    ": [9",
];
/// Programs that take secrets as bare arguments.
const PROGRAMS: [&str; 33] = [
    "mysql",
    "mariadb",
    "curl",
    "sshpass",
    "redis-cli",
    "docker",
    "podman",
    "nerdctl",
    "skopeo",
    "buildah",
    "crictl",
    "ctr ",
    "ipmitool",
    "openssl",
    "ldap",
    "htpasswd",
    "mongo",
    "sqlcmd",
    "bcp ",
    "smbclient",
    "snmp",
    "unzip",
    "zip ",
    "7z",
    "etcdctl",
    "helm ",
    "oc ",
    "az ",
    "mc ",
    "rabbitmqctl",
    "racadm",
    "keytool",
    "\"-",
];

/// What a line may hold, as bits: one for names, one for programs, one for what spans lines, one for each form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hints(u128);

const NAME_BIT: u32 = 0;
const PROGRAM_BIT: u32 = 1;
const OTHER_BIT: u32 = 2;
const FIRST_FORM: u32 = 8;

struct Search {
    automaton: AhoCorasick,
    bits: Vec<u128>,
}

static SEARCH: LazyLock<Option<Search>> = LazyLock::new(|| {
    let mut words: Vec<(&str, u128)> = Vec::new();
    words.extend(NAMES.map(|word| (word, 1 << NAME_BIT)));
    words.extend(PROGRAMS.map(|word| (word, 1 << PROGRAM_BIT)));
    words.extend(OTHERS.map(|word| (word, 1 << OTHER_BIT)));
    for (form, bit) in SPECS.iter().zip(FIRST_FORM..) {
        words.extend(form.hints.iter().map(|hint| (*hint, 1 << bit)));
    }
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(words.iter().map(|(word, _)| word))
        .ok()?;
    Some(Search {
        automaton,
        bits: words.into_iter().map(|(_, bit)| bit).collect(),
    })
});

/// What these bytes may hold; one search for everything.
pub(crate) fn hints(bytes: &[u8]) -> Hints {
    let Some(search) = SEARCH.as_ref() else {
        return Hints(u128::MAX);
    };
    let found = search.automaton.find_overlapping_iter(bytes);
    Hints(found.fold(0, |all, hit| all | search.bits[hit.pattern().as_usize()]))
}

impl Hints {
    /// Whether nothing was found.
    pub(crate) fn none(self) -> bool {
        self.0 == 0
    }

    /// Whether a name of a secret may stand there.
    pub(crate) fn names(self) -> bool {
        self.0 & (1 << NAME_BIT) != 0
    }

    /// Whether a program that takes secrets as arguments may stand there.
    pub(crate) fn programs(self) -> bool {
        self.0 & (1 << PROGRAM_BIT) != 0
    }

    fn form(self, index: usize) -> bool {
        u32::try_from(index).is_ok_and(|index| self.0 & (1 << (FIRST_FORM + index)) != 0)
    }
}

static FORMS: LazyLock<Vec<Option<Regex>>> = LazyLock::new(|| {
    SPECS
        .iter()
        .map(|spec| Regex::new(spec.regex).ok())
        .collect()
});

/// Replaces every secret that has a form of its own, as far as the hints allow any.
pub(crate) fn replace(text: String, hints: Hints, marker: &mut Marker) -> String {
    let mut text = text;
    for (index, form) in FORMS.iter().enumerate() {
        if !hints.form(index) {
            continue;
        }
        if let Some(form) = form.as_ref().filter(|form| form.is_match(&text)) {
            text = replace_form(index, form, &text, marker);
        }
    }
    text
}

fn replace_form(index: usize, form: &Regex, text: &str, marker: &mut Marker) -> String {
    let spec = &SPECS[index];
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for found in form
        .captures_iter(text)
        .filter_map(|captures| captures.name("s"))
    {
        let secret = found.as_str();
        let counts = match spec.check {
            Check::Sure => true,
            Check::Random => looks_random(secret),
            Check::NotHarmless => !harmless(secret),
            Check::Mixed => {
                secret.bytes().any(|b| b.is_ascii_digit())
                    && secret.bytes().any(|b| b.is_ascii_lowercase())
            }
        };
        let before = &text[..found.start()];
        let inside = before
            .rfind("<redacted:")
            .is_some_and(|at| !before[at..].contains('>'));
        if !counts || inside || secret.contains("<redacted:") {
            continue;
        }
        out.push_str(&text[copied..found.start()]);
        out.push_str(&marker.mark(spec.class, secret.as_bytes()));
        copied = found.end();
    }
    out.push_str(&text[copied..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::Key;

    fn clean(text: &str) -> String {
        replace(
            text.to_owned(),
            hints(text.as_bytes()),
            &mut Marker::new(Key::fixed()),
        )
    }

    #[test]
    fn every_form_compiles_and_has_a_bit() {
        assert!(SEARCH.is_some());
        assert!(FORMS.iter().all(Option::is_some));
        assert!(FIRST_FORM as usize + SPECS.len() <= 128);
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
