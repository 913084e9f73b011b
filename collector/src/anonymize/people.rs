//! People that only logs and paths name: logins of sshd, sudo and PAM, home folders, mail addresses.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::gather::tells_nothing;
use super::{Anonymizer, Class, pseudonym};

/// Where the name of a login stands; the group `u` holds it.
static LOGINS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"\b(?:Accepted|Failed|Postponed) \S+ for (?:invalid user |illegal user )?(?<u>[A-Za-z_][\w.\\-]*) from ",
        r"\b[Ii](?:nvalid|llegal) user (?<u>[A-Za-z_][\w.-]*) from ",
        r"\b(?:Disconnected from|Connection (?:closed|reset) by)(?: authenticating| invalid)? user (?<u>[A-Za-z_][\w.-]*) ",
        r"\bsession (?:opened|closed) for user (?<u>[A-Za-z_][\w.-]*)",
        r"\bby (?<u>[A-Za-z_][\w.-]*)\(uid=",
        r"\bsudo(?:\[\d+\])?:\s+(?<u>[A-Za-z_][\w.-]*) : ",
        r"\b(?:uid|gid|euid|egid|groups)=\d{4,}\((?<u>[A-Za-z_][\w.-]*)\)",
        r"\b(?:ruser|logname|acct|USER|LOGNAME|SUDO_USER|user)=(?:\\?)[\x22']?(?<u>[A-Za-z_][\w.-]*)",
        r"\b[Nn]ew (?:session \S+ of )?user (?<u>[A-Za-z_][\w.-]*)\b",
        r"\(to (?<u>[A-Za-z_][\w.-]*)\) ",
        r"/home/(?:[\w-]+/)??(?<u>[A-Za-z_][\w.-]*)(?:/|\b)",
    ]
    .iter()
    .filter_map(|regex| Regex::new(regex).ok())
    .collect()
});
/// Texts without which none of them can match.
const MARKS: &[&str] = &[
    " for ", "user", "USER", "uid=", "sudo", "acct=", "LOGNAME", "logname", "(to ", "/home/",
    "euid", "gid=",
];
static MAIL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?<u>\b[A-Za-z0-9][\w.+-]*)@(?<d>[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.(?<tld>[A-Za-z]{2,12}))\b").ok()
});
/// What stands behind `@` in names of units and of public places.
const UNITS: &[&str] = &[
    "service", "socket", "scope", "slice", "target", "timer", "mount", "device", "path", "swap",
    "conf", "invalid", "ko", "so",
];

/// Replaces people's names.
pub(super) fn replace(anonymizer: &Anonymizer, text: String) -> String {
    if !anonymizer.has(Class::Users) {
        return text;
    }
    let mut text = text;
    if text.contains('@')
        && let Some(mail) = MAIL.as_ref().filter(|mail| mail.is_match(&text))
    {
        text = mail
            .replace_all(&text, |found: &Captures<'_>| address(anonymizer, found))
            .into_owned();
    }
    if MARKS.iter().any(|mark| text.contains(mark)) {
        for login in LOGINS.iter() {
            text = login
                .replace_all(&text, |found: &Captures<'_>| one(anonymizer, found))
                .into_owned();
        }
    }
    text
}

/// A match with its name replaced.
fn one(anonymizer: &Anonymizer, found: &Captures<'_>) -> String {
    let (Some(whole), Some(name)) = (found.get(0), found.name("u")) else {
        return String::new();
    };
    let all = whole.as_str();
    let real = name.as_str().trim_end_matches('.');
    if real.len() < 3 || tells_nothing(real) || taken(real) {
        return all.to_owned();
    }
    let pseudonym = pseudonym(&anonymizer.key, Class::Users, real);
    anonymizer.used(Class::Users, real, &pseudonym);
    let start = name.start() - whole.start();
    format!("{}{pseudonym}{}", &all[..start], &all[start + real.len()..])
}

/// Whether a name is a pseudonym already.
fn taken(name: &str) -> bool {
    ["user-", "host-", "ns-"].iter().any(|prefix| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| rest.len() == 8 && rest.bytes().all(|b| b.is_ascii_hexdigit()))
    })
}

/// A mail address: the person and, where it is no pseudonym yet, the place.
fn address(anonymizer: &Anonymizer, found: &Captures<'_>) -> String {
    let (user, domain) = (&found["u"], &found["d"]);
    let tld = found["tld"].to_ascii_lowercase();
    if UNITS.contains(&tld.as_str()) || user == "git" || domain.ends_with("kubernetes.io") {
        return found[0].to_owned();
    }
    let name = if taken(user) {
        user.to_owned()
    } else {
        let name = pseudonym(&anonymizer.key, Class::Users, user);
        anonymizer.used(Class::Users, user, &name);
        name
    };
    let place = pseudonym(&anonymizer.key, Class::Hosts, domain);
    anonymizer.used(Class::Hosts, domain, &place);
    format!("{name}@{place}")
}
