//! Names and their secrets in less common notations: tuples, tables, debug prints, quotes written as `%22`, XML with
//! the value first, and a directive's name and word.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::marker::Marker;
use super::pairs::may::holds;
use super::value::{harmless, looks_random};
use super::words::{KeyClass, classify};

/// One notation: a text without which it cannot stand there, and its expression. `k` is the name, `s` what goes, and
/// `i`, where it is less than `s`, the secret itself.
struct Notation {
    needles: &'static [&'static str],
    regex: Regex,
    /// How sure a value must look, however sure the name is.
    random: bool,
}

static NOTATIONS: LazyLock<Vec<Notation>> = LazyLock::new(|| {
    let all: [(&'static [&'static str], &str, bool); 10] = [
        (
            &["%22", "&quot;", "&#34;", "\\x22"],
            r"(?<k>[A-Za-z][\w.-]*?)(?:%22|&quot;|&#34;|\\x22)(?:\s|\+|%20)*(?::|%3[Aa])(?:\s|\+|%20)*(?:%22|&quot;|&#34;|\\x22)(?<s>.+?)(?:%22|&quot;|&#34;|\\x22)",
            false,
        ),
        (
            &["(\"", "('", "( '", "( \""],
            r#"\(\s*["'](?<k>[\w.-]+)["']\s*,\s*["'](?<s>[^"']+)["']"#,
            false,
        ),
        (
            &["(\"", "('"],
            r#"(?:^|[\s;{(.,])(?<k>[A-Za-z_][\w.-]*)\(["'](?<s>[^"'\s]+)["']\)"#,
            true,
        ),
        (
            &["\";", "\" {"],
            r#"(?:^|[\s;{])(?<k>[A-Za-z_][\w.-]*)[ \t]+"(?<s>[^"\s]+)"[ \t]*[;{]"#,
            true,
        ),
        (
            &["{\"value\"", "{ \"value\"", "{'value'"],
            r#"["'](?<k>[\w.-]+)["']\s*:\s*\{\s*["']value["']\s*:\s*["'](?<s>[^"']+)["']"#,
            false,
        ),
        (
            &["value="],
            r#"\bvalue\s*=\s*["'](?<s>[^"'<>]+)["'][^<>]*\b(?:key|name)\s*=\s*["'](?<k>[\w.-]+)["']"#,
            false,
        ),
        (
            &["</name>", "</key>"],
            r"<(?:name|key)>\s*(?<k>[^<]+?)\s*</(?:name|key)>\s*<(?:value|string)>(?<s>[^<]+)</",
            false,
        ),
        (
            &["|"],
            r"\|\s*`?(?<k>[A-Za-z][\w.-]*)`?\s*\|\s*`?(?<s>[^|\s`]+)`?\s*\|",
            true,
        ),
        (
            &["(\"", "('", ") \"", ") (", ")\""],
            r#"(?<k>[A-Za-z_][\w.-]*)["']?\s*[:=]\s*(?<s>(?:[A-Za-z_:]+\(|\([^()\s]*\)\s*)+["'](?<i>[^"']+)["']\)*)"#,
            false,
        ),
        (
            &[" ", "\t"],
            r#"^\s*(?:setenv|set\s+-\w+|ENV|SET)?\s*(?<k>[A-Za-z][\w.-]*)[ \t]+["']?(?<s>[^\s"'=:<(\[{][^\s"']*)["']?\s*$"#,
            true,
        ),
    ];
    all.into_iter()
        .filter_map(|(needles, regex, random)| {
            Some(Notation {
                needles,
                regex: Regex::new(regex).ok()?,
                random,
            })
        })
        .collect()
});

/// `password X` and `_authToken X` among other words.
static SPACED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?:^|[\s"':])(?<k>[A-Za-z_][\w.-]*)[ \t]+(?:\d{1,2}[ \t]+)?["']?(?<s>[^\s"'=:<(\[{,;-][^\s"':,;=]*)"#,
    )
    .ok()
});

/// What is said or asked in front of a secret that has no name of its own: a text without which it cannot stand there,
/// and its expression.
static SAID: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    [
        // expect "Password:" ; send "X\r"
        (
            "send",
            r#"(?i)pass(?:word|phrase)\W{0,6}["'][\s;{}]*send(?:line|_tty)?\s+(?:--\s+)?["'](?<s>[^"'\\]+)"#,
        ),
        // Please enter a password for user 'joe': X
        (" for ", r"(?i)pass(?:word|phrase) for [^:]{1,60}:\s*(?<s>\S{6,})"),
        // password "Private Key" X
        ("\" ", r#"(?i)^\s*password\s+"[^"]+"\s+(?<s>\S+)"#),
        // joe:X@10.0.0.1
        (
            "@",
            r#"(?:^|[\s"'])[A-Za-z][\w.-]{1,31}:(?<s>[^\s:@/"'<>]{6,64})@[\w.-]+"#,
        ),
        // set-password joe X
        (
            " ",
            r"(?i)\b[\w-]*(?:set-?password|setpwd|set-?passwd|chpasswd)\s+[\w.@-]{1,40}\s+(?<s>\S{6,})",
        ),
    ]
    .into_iter()
    .filter_map(|(needle, regex)| Some((needle, Regex::new(regex).ok()?)))
    .collect()
});

/// Replaces the secrets of a line that a name gives away in one of these notations.
pub(crate) fn clean(text: String, marker: &mut Marker) -> String {
    let mut text = text;
    for notation in NOTATIONS.iter() {
        if holds_any(&text, notation.needles) {
            text = replace(&notation.regex, text, marker, |class, value| {
                (class.sure && !notation.random) || looks_random(value)
            });
        }
    }
    for (needle, regex) in SAID.iter() {
        if holds_any(&text, &[needle]) && (*needle == "@" || may_ask(&text)) {
            text = said(regex, text, marker);
        }
    }
    match SPACED.as_ref().filter(|_| may_be_scrambled(&text)) {
        Some(spaced) => replace(spaced, text, marker, |_, value| scrambled(value)),
        None => text,
    }
}

/// Whether one of some texts stands there.
fn holds_any(text: &str, needles: &[&str]) -> bool {
    let (text, mut needles) = (
        text.as_bytes(),
        needles.iter().map(|needle| needle.as_bytes()),
    );
    needles.any(|needle| {
        let behind = |at: usize| text[at..].starts_with(needle);
        memchr::memchr_iter(needle[0], text).any(behind)
    })
}

/// Whether one of the words stands there with which a password is asked for or set. Letters that are no ASCII may be read
/// as some of theirs.
fn may_ask(text: &str) -> bool {
    !text.is_ascii() || holds(text, b"pass") || holds(text, b"setpwd")
}

/// Whether letters of both cases and digits stand side by side anywhere, eight of them or more: no value is scrambled
/// otherwise. What ends a value ends them.
fn may_be_scrambled(text: &str) -> bool {
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\x0b\"':,;=".contains(byte);
    text.as_bytes().split(ends).any(|run| {
        run.len() >= SCRAMBLED
            && run.iter().any(u8::is_ascii_digit)
            && run.iter().any(u8::is_ascii_uppercase)
            && run.iter().any(u8::is_ascii_lowercase)
    })
}

/// Replaces what an expression without a name finds and what looks made by a machine.
fn said(regex: &Regex, text: String, marker: &mut Marker) -> String {
    let mut out = String::new();
    let mut copied = 0;
    for secret in regex
        .captures_iter(&text)
        .filter_map(|found| found.name("s"))
    {
        let value = secret.as_str();
        if harmless(value) || value.contains("<redacted") || !looks_random(value) {
            continue;
        }
        out.push_str(&text[copied..secret.start()]);
        out.push_str(&marker.mark("password", value.as_bytes()));
        copied = secret.end();
    }
    if copied == 0 {
        return text;
    }
    out.push_str(&text[copied..]);
    out
}

fn replace(
    regex: &Regex,
    text: String,
    marker: &mut Marker,
    counts: impl Fn(KeyClass, &str) -> bool,
) -> String {
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = regex.captures_at(&text, at) {
        let (Some(key), Some(whole)) = (found.name("k"), found.name("s")) else {
            break;
        };
        // The next name may begin where this value does.
        at = key.end().min(whole.end());
        let Some((class, value)) = secret(&found, &counts) else {
            continue;
        };
        if whole.start() < copied || whole.as_str().contains("<redacted:") {
            continue;
        }
        out.push_str(&text[copied..whole.start()]);
        out.push_str(&marker.mark(class.name, value.as_bytes()));
        copied = whole.end();
        at = at.max(copied);
    }
    if copied == 0 {
        return text;
    }
    out.push_str(&text[copied..]);
    out
}

fn secret<'t>(
    found: &Captures<'t>,
    counts: impl Fn(KeyClass, &str) -> bool,
) -> Option<(KeyClass, &'t str)> {
    let class = classify(found.name("k")?.as_str())?;
    let value = found.name("i").or(found.name("s"))?.as_str();
    (!class.spares(value) && counts(class, value)).then_some((class, value))
}

/// Fewer letters are not looked at.
const SCRAMBLED: usize = 8;

/// Letters of both cases and digits, as no word of a sentence has them.
fn scrambled(value: &str) -> bool {
    value.len() >= SCRAMBLED
        && !value.contains("//")
        && value.bytes().any(|b| b.is_ascii_digit())
        && value.bytes().any(|b| b.is_ascii_lowercase())
        && value.bytes().any(|b| b.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;
    use crate::draws::Draws;

    fn clean_one(text: &str) -> String {
        clean(text.to_owned(), &mut Marker::new(Key::fixed()))
    }

    #[test]
    fn secrets_are_found_in_every_notation_once() {
        for line in [
            "%22password%22%3A%22hunter2A%22%7D",
            "{&quot;password&quot;:&quot;hunter2A&quot;}",
            "define('DB_PASSWORD', 'hunter2A');",
            "\"db.password\": {\"value\": \"hunter2A\"}",
            "<entry value=\"hunter2A\" key=\"password\"/>",
            "<name>fs.secret.key</name><value>hunter2A</value>",
            "| DB_PASSWORD | hunter2A |",
            "Config { password: Some(\"hunter2A\"), port: 1 }",
            "Password:(string) (len=8) \"hunter2A\"}",
            "setenv DB_PASSWORD hunter2A",
            "http(url(\"https://x\") password(\"hunter2A\"))",
            "protocol bgp a { password \"hunter2A\"; }",
            "nmcli wifi connect lab password hunter2A ifname x",
            "snmp-server community \"hunter2A\" rw",
            "neighbor 10.0.0.2 password 7 hunter2A",
            "expect \"Password:\"; send \"hunter2A\\r\"",
            "Please enter a password for user 'trident': hunter2A",
            "bmc password --bmc USERID:hunter2A@10.0.9.4",
            "dashboard ac-user-set-password admin hunter2A",
        ] {
            let out = clean_one(line);
            assert!(!out.contains("hunter2A"), "{line} -> {out}");
            assert_eq!(clean_one(&out), out);
        }
    }

    #[test]
    fn no_value_is_scrambled_where_none_may_be() {
        const PARTS: [&str; 16] = [
            "token", "key", " ", "\t", "\u{b}", "\u{a0}", "ä", "Ab", "x9", "Z", "\"", ":", "=",
            "(", "-", "7",
        ];
        let (spaced, mut draws) = (SPACED.as_ref().unwrap(), Draws::new());
        for _ in 0..20_000 {
            let text: String = (0..12).map(|_| draws.of(&PARTS)).collect();
            let mut values = (0..text.len())
                .filter(|at| text.is_char_boundary(*at))
                .filter_map(|at| spaced.captures_at(&text, at)?.name("s"));
            let any = values.any(|value| scrambled(value.as_str()));
            assert!(may_be_scrambled(&text) || !any, "{text:?}");
            for needle in PARTS {
                assert_eq!(holds_any(&text, &[needle]), text.contains(needle));
            }
        }
    }

    #[test]
    fn words_behind_a_name_stay() {
        for line in [
            "ii  passwd  1:4.8.1-2ubuntu2.3  amd64",
            "password authentication failed",
            "secret sh.helm.release.v1.gpu-operator-1758912452.v12 not found",
            "| Denylist | Pass |",
            "token=getenv(\"HOME\")",
            "PasswordAuthentication no",
            "MountVolume failed: secret \"db-credentials\" not found",
        ] {
            assert_eq!(clean_one(line), line);
        }
    }
}
