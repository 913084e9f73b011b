//! Tokens as issuers form them, in sentences without a name: words, signs, letters of an alphabet, parts, and what stands
//! behind them, each drawn by how many issuers do so. No rule of the redaction is about any of them.
//!
//! `CASEFILE_ISSUED=1 cargo test -p casefile-tests --test redaction issued -- --nocapture` prints what leaks.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

use casefile_collector::redact::Key;

use super::drawn::redact;

const SENTENCES: &[&str] = &[
    "Nov 22 10:00:00 n app[3]: @@\n",
    "Nov 22 10:00:00 n app[3]: cannot use @@ here\n",
    "2026-11-22T10:00:00.1Z stdout F sending @@ to upstream\n",
    "{\"msg\":\"using @@\"}\n",
    "{\"_COMM\":\"app\",\"_CMDLINE\":\"/usr/bin/app @@ --verbose\"}\n",
    "{\"spec\":{\"containers\":[{\"args\":[\"serve\",\"@@\"]}]}}\n",
    "I1122 10:00:00.000000 1 x.go:1] \"refused\" err=\"invalid value @@\"\n",
    "list:\n- one\n- \"@@\"\n",
    "setting: \"@@\"\n",
    "# accepted\n@@\n",
    "joe,@@,2026-11-22,ok\n",
    "We set it to @@ on Monday.\n",
];

/// Alphabets, and how many of a hundred issuers draw from them.
const ALPHABETS: &[(&str, &str, usize)] = &[
    (
        "base62",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        31,
    ),
    (
        "base64url",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
        14,
    ),
    (
        "base64",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        4,
    ),
    (
        "base58",
        "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789",
        2,
    ),
    ("hex", "0123456789abcdef", 22),
    ("uuid", "0123456789abcdef", 6),
    ("HEX", "0123456789ABCDEF", 3),
    ("base36", "abcdefghijklmnopqrstuvwxyz0123456789", 8),
    ("BASE36", "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 5),
    ("BASE32", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 3),
    ("base32", "abcdefghijklmnopqrstuvwxyz234567", 1),
    (
        "letters",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        2,
    ),
    ("small", "abcdefghijklmnopqrstuvwxyz", 2),
    ("CAPITALS", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", 1),
];
const LENGTHS: &[(usize, usize)] = &[
    (16, 8),
    (20, 10),
    (24, 12),
    (32, 24),
    (36, 4),
    (40, 14),
    (43, 4),
    (48, 6),
    (64, 8),
];
/// What joins an issuer's words to what is drawn.
const SIGNS: &[(&str, usize)] = &[
    ("_", 44),
    ("-", 28),
    (".", 8),
    (":", 5),
    ("", 7),
    ("/", 2),
    ("~", 1),
    ("$", 1),
    ("#", 1),
    ("+", 1),
    ("|", 1),
    ("=", 1),
];
/// How many words stand in front.
const WORDS: &[(usize, usize)] = &[(0, 12), (1, 46), (2, 30), (3, 12)];
const SECOND: &[&str] = &[
    "live", "test", "prod", "eu", "us1", "v1", "v2", "pat", "key", "api", "org", "app", "usr",
];
const ENDINGS: &[(&str, usize)] = &[
    ("", 80),
    ("sum", 8),
    ("version", 4),
    ("environment", 4),
    ("region", 4),
];
const PARTS: &[(&str, usize)] = &[("one", 88), ("equal", 6), ("unequal", 6)];

struct Rng(u64);

impl Rng {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ (self.0 >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        usize::try_from((mixed >> 33) % end.max(1) as u64).unwrap()
    }

    fn pick<T: Copy>(&mut self, of: &[(T, usize)]) -> T {
        let mut left = self.below(of.iter().map(|(_, weight)| weight).sum());
        for (what, weight) in of {
            match left.checked_sub(*weight) {
                Some(rest) => left = rest,
                None => return *what,
            }
        }
        of[0].0
    }

    fn text(&mut self, length: usize, letters: &str) -> String {
        (0..length)
            .map(|_| char::from(letters.as_bytes()[self.below(letters.len())]))
            .collect()
    }

    /// A word that can be said, or some letters.
    fn word(&mut self) -> String {
        let length = 2 + self.below(3) + self.below(8) * self.below(2);
        let said = length > 4 || self.below(3) == 0;
        let word: String = (0..length)
            .map(|at| match at % 2 {
                1 if said => self.text(1, "aeiou"),
                _ => self.text(1, "bcdfghklmnprstvwxz"),
            })
            .collect();
        match self.below(10) {
            0 | 1 => word.to_ascii_uppercase(),
            2 => word[..1].to_ascii_uppercase() + &word[1..],
            3 => word + &self.text(1, "123456789"),
            _ => word,
        }
    }
}

/// A token, what was drawn of it, and what it is in each of the tables.
struct Token {
    text: String,
    body: String,
    cells: Vec<(&'static str, String)>,
}

fn token(rng: &mut Rng) -> Token {
    let alphabets: Vec<_> = ALPHABETS.iter().map(|row| (row, row.2)).collect();
    let (alphabet, letters, _) = *rng.pick(&alphabets);
    let length = if rng.below(6) == 0 {
        8 + rng.below(57)
    } else {
        rng.pick(LENGTHS)
    };
    let words = rng.pick(WORDS);
    let sign = rng.pick(SIGNS);
    let other = if rng.below(5) == 0 {
        rng.pick(SIGNS)
    } else {
        sign
    };
    let parts = rng.pick(PARTS);
    let ending = rng.pick(ENDINGS);
    let body = match alphabet {
        "uuid" => uuid(rng),
        _ => body(rng, parts, length, letters),
    };
    let mut text = String::new();
    for at in 0..words {
        let second = at > 0 && rng.below(2) == 0;
        let word = if second {
            SECOND[rng.below(SECOND.len())].to_owned()
        } else {
            rng.word()
        };
        text.push_str(&word);
        text.push_str(if at + 1 == words { sign } else { other });
    }
    text.push_str(&body);
    let joint = if sign.is_empty() { "-" } else { sign };
    match ending {
        "sum" => {
            let length = 6 + rng.below(3);
            text = text + joint + &rng.text(length, letters);
        }
        "version" => text = text + joint + "v" + &rng.text(1, "123"),
        "environment" => text = text + joint + SECOND[rng.below(3)],
        "region" => text = text + "-us" + &rng.text(1, "123456789"),
        _ => {}
    }
    let sort = match words {
        0 => "bare",
        _ if sign.is_empty() => "glued",
        _ => "prefixed",
    };
    let bucket = ["08-11", "12-15", "16-19", "20-23", "24-31", "32-39", "40-"][match length {
        ..12 => 0,
        12..16 => 1,
        16..20 => 2,
        20..24 => 3,
        24..32 => 4,
        32..40 => 5,
        _ => 6,
    }];
    let mark = if words == 0 { "none" } else { sign };
    let cells = vec![
        ("sort", sort.to_owned()),
        ("alphabet", format!("{sort} {alphabet}")),
        ("length", format!("{sort} {bucket}")),
        ("words", words.to_string()),
        ("sign", format!("{mark:?}")),
        ("ending", format!("{sort} {ending}")),
        ("parts", format!("{sort} {parts}")),
        ("cell", format!("{sort} {alphabet} {bucket}")),
        ("sign of", format!("{alphabet} {mark:?}")),
    ];
    Token { text, body, cells }
}

fn uuid(rng: &mut Rng) -> String {
    let parts = [8, 4, 4, 4, 12].map(|length| rng.text(length, "0123456789abcdef"));
    parts.join("-")
}

fn body(rng: &mut Rng, parts: &str, length: usize, letters: &str) -> String {
    let all = rng.text(length, letters);
    if parts == "one" {
        return all;
    }
    let sign = rng.pick(&[("-", 6), ("_", 2), (".", 3), (":", 1)]);
    let equal = 4 + rng.below(5);
    let mut rest = all.as_str();
    let mut out = Vec::new();
    while !rest.is_empty() {
        let part = if parts == "equal" {
            equal
        } else {
            4 + rng.below(20)
        };
        let part = if rest.len() < part + 4 && parts != "equal" {
            rest.len()
        } else {
            part.min(rest.len())
        };
        out.push(&rest[..part]);
        rest = &rest[part..];
    }
    out.join(sign)
}

/// Whether most of what was drawn stands in a text in one piece.
fn stands_in(out: &str, body: &str) -> bool {
    let most = (body.len() * 3).div_ceil(5);
    (0..=body.len() - most).any(|at| out.contains(&body[at..at + most]))
}

#[test]
fn what_issuers_form_does_not_leave_without_a_name() {
    let key = Key::random().unwrap();
    let mut rng = Rng(7);
    let mut tables: BTreeMap<(&str, String), (usize, usize)> = BTreeMap::new();
    let show = std::env::var_os("CASEFILE_ISSUED").is_some();
    let mut told = String::new();
    for number in 0..24_000 {
        let token = token(&mut rng);
        let sentence = SENTENCES[number % SENTENCES.len()];
        let out = redact(&sentence.replace("@@", &token.text), &key);
        let leaks = stands_in(&out, &token.body);
        if leaks && show {
            let _ = writeln!(
                told,
                "leak\t{}\t{}\t{}",
                token.cells[7].1,
                token.text,
                sentence.escape_debug()
            );
        }
        for cell in token.cells {
            let row = tables.entry(cell).or_default();
            row.0 += 1;
            row.1 += usize::from(leaks);
        }
    }
    for ((table, row), (all, leaks)) in &tables {
        let _ = writeln!(told, "{table:<9} {row:<24} {leaks:>5} of {all:>6} leak");
    }
    let _ = std::io::stderr().write_all(told.as_bytes());
    let prefixed = tables[&("sort", "prefixed".to_owned())];
    // What is left is hexadecimal digits in parts and few letters.
    assert!(
        prefixed.1 * 50 < prefixed.0,
        "2 % of the tokens behind a prefix or more leak"
    );
}
