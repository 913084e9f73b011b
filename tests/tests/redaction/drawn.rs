//! Tokens that a generator draws, of every alphabet and in groups, in sentences that say nothing of them: no list of
//! issuers knows these.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

use casefile_collector::redact::{Content, Key, Redactor};
use casefile_tests::planted::fill;

const SENTENCES: &[&str] = &[
    "app[3]: cannot use @@ here\n",
    "{\"msg\":\"sending @@ to upstream\"}\n",
    "list:\n- one\n- \"@@\"\n",
    "setting: \"@@\"\n",
    "I1122 10:00:00.000000 1 x.go:1] \"refused\" err=\"invalid value @@\"\n",
    "/usr/bin/app @@ --verbose\n",
];
/// Each form is drawn so often.
const TIMES: u64 = 60;

/// Alphabets and the parts that a token is made of.
fn forms() -> Vec<(String, String)> {
    let mut forms = Vec::new();
    for (shape, lengths) in [
        ("an", &[16, 20, 24, 32, 40, 64][..]),
        ("low", &[16, 20, 24, 32, 40]),
        ("AN", &[16, 20, 24, 32, 40]),
        ("al", &[20, 24, 32, 40]),
        ("hex", &[16, 20, 24, 32, 40, 48, 64]),
        ("b64u", &[24, 32, 43, 64]),
        ("b64c", &[24, 32, 40, 64]),
        ("uuid", &[36]),
    ] {
        for length in lengths {
            forms.push((
                format!("{shape} {length}"),
                format!("{{{{{shape}:{length}}}}}"),
            ));
        }
    }
    for (shape, parts) in [
        ("low", [4, 5]),
        ("AN", [5, 6]),
        ("an", [4, 6]),
        ("low", [6, 8]),
        ("low", [8, 12]),
        ("hex", [6, 8]),
    ] {
        let [short, long] = parts;
        let text = format!(
            "{{{{{shape}:{short}}}}}-{{{{{shape}:{long}}}}}-{{{{{shape}:{short}}}}}-{{{{{shape}:{long}}}}}-{{{{{shape}:{short}}}}}"
        );
        forms.push((format!("{shape} in parts of {short} and {long}"), text));
    }
    for (shape, length) in [
        ("low", 24),
        ("hex", 32),
        ("hex", 40),
        ("an", 16),
        ("AN", 24),
    ] {
        for prefix in ["zq_", "zqk-", "zq_live_", "ZQKT-"] {
            forms.push((
                format!("{prefix}{shape} {length}"),
                format!("{prefix}{{{{{shape}:{length}}}}}"),
            ));
        }
    }
    forms
}

pub(crate) fn redact(text: &str, key: &Key) -> String {
    let mut redactor = Redactor::new(Content::Text, key.clone());
    let mut out = Vec::new();
    redactor.push(text.as_bytes(), &mut out);
    redactor.finish(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// What issuers put in front of tokens, each in front of what is drawn.
fn issued() -> Vec<(String, String)> {
    const PREFIXES: &[&str] = &[
        "zq_",
        "zqk-",
        "Zq-",
        "zq.",
        "zq:",
        "zq~",
        "ZQK_",
        "zqv1.",
        "zq_v1_",
        "zq-live-",
        "zq_pat_",
        "zqbot:",
        "live.zq.",
        "zqkut-eu-",
        "zq1-",
    ];
    const BODIES: &[(&str, &[usize])] = &[
        ("an", &[12, 16, 22, 32, 48]),
        ("low", &[12, 16, 24, 32]),
        ("AN", &[12, 16, 24, 32]),
        ("al", &[16, 20, 24, 32]),
        ("hex", &[16, 20, 24, 32, 40, 64]),
        ("HEX", &[16, 24, 32]),
        ("B32", &[16, 26, 32]),
        ("b64u", &[16, 22, 32, 43]),
        ("b64c", &[16, 22, 32, 43]),
        ("uuid", &[36]),
    ];
    let mut forms = Vec::new();
    for prefix in PREFIXES {
        for (shape, lengths) in BODIES {
            for length in *lengths {
                forms.push((
                    format!("{prefix}{shape} {length}"),
                    format!("{prefix}{{{{{shape}:{length}}}}}"),
                ));
            }
        }
    }
    forms
}

#[test]
fn what_a_generator_draws_does_not_leave_without_a_name() {
    measure(forms(), TIMES, 1);
}

#[test]
fn what_an_issuer_marks_does_not_leave_without_a_name() {
    // What is left is twelve letters of one case and digits, and 16 hexadecimal digits that may be a time behind a point.
    measure(issued(), 6, 1);
}

/// Prints what leaks by form; fails from `most` % on.
fn measure(forms: Vec<(String, String)>, times: u64, most: usize) {
    let mut table: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let key = Key::random().unwrap();
    for (name, form) in forms {
        for seed in 0..times {
            let filled = fill(&form, seed).unwrap();
            let token = filled.text;
            let row = table.entry(name.clone()).or_default();
            for sentence in SENTENCES {
                row.0 += 1;
                let out = redact(&sentence.replace("@@", &token), &key);
                let secret = filled.secrets.iter().any(|(_, needles)| {
                    needles
                        .iter()
                        .any(|needle| needle.len() > 12 && out.contains(needle))
                });
                row.1 += usize::from(secret || out.contains(&token));
            }
        }
    }
    let (all, leaks) = table
        .values()
        .fold((0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1));
    let mut told = format!("{leaks} of {all} drawn tokens leak\n");
    for (name, (all, leaks)) in table.iter().filter(|(_, row)| row.1 > 0) {
        let _ = writeln!(told, "  {leaks:>4} of {all} {name}");
    }
    let _ = std::io::stderr().write_all(told.as_bytes());
    assert!(
        leaks * 100 < all * most,
        "{most} % of the drawn tokens or more leak"
    );
}
