//! Secrets of a given shape, for texts that somebody else wrote: `{{an:16}}` is 16 letters and digits, `{{~hex:64}}` is
//! an id that has to stay.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::kinds;
use super::rng::Rng;

const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SMALL: &str = "abcdefghijklmnopqrstuvwxyz";

/// A text with its gaps filled.
pub struct Filled {
    /// The text.
    pub text: String,
    /// What must not be seen, with the shape of each: any of the needles is a leak.
    pub secrets: Vec<(String, Vec<String>)>,
    /// What has to stay.
    pub kept: Vec<String>,
}

/// Fills the gaps of a template; none where a shape is unknown.
pub fn fill(template: &str, seed: u64) -> Option<Filled> {
    let mut rng = Rng::new(seed);
    let mut filled = Filled {
        text: String::new(),
        secrets: Vec::new(),
        kept: Vec::new(),
    };
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once("{{") {
        let (shape, after) = behind.split_once("}}")?;
        let (text, needles) = make(&mut rng, shape.trim_start_matches('~'))?;
        filled.text.push_str(before);
        filled.text.push_str(&text);
        if shape.starts_with('~') {
            filled.kept.push(text);
        } else {
            filled.secrets.push((shape.to_owned(), needles));
        }
        rest = after;
    }
    filled.text.push_str(rest);
    Some(filled)
}

/// A secret as it stands in the text, and what gives it away.
fn make(rng: &mut Rng, shape: &str) -> Option<(String, Vec<String>)> {
    let (kind, detail) = shape.split_once(':').unwrap_or((shape, ""));
    let length = detail.parse().unwrap_or(24);
    let one = |text: String| Some((text.clone(), vec![text]));
    match kind {
        "an" => one(rng.mixed(length)),
        "al" => one(rng.text(length, LETTERS)),
        "low" => one(rng.text(length, &format!("{SMALL}0123456789"))),
        "AN" => one(rng.capitals(length)),
        "num" => one(rng.text(length, "0123456789")),
        "hex" => one(rng.hex(length)),
        "HEX" => one(rng.hex(length).to_ascii_uppercase()),
        "B32" => one(rng.text(length, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")),
        "word" => one(rng.text(14, SMALL)),
        "words" => one((0..4)
            .map(|_| rng.text(6, SMALL))
            .collect::<Vec<_>>()
            .join(" ")),
        "b64c" => one(rng.text(length, &format!("{LETTERS}0123456789+/"))),
        "b64u" => one(URL_SAFE
            .encode(rng.bytes(length))
            .chars()
            .take(length)
            .collect()),
        "b64r" => one(kinds::base64(rng, length)),
        "uuid" => one(rng.uuid()),
        "AKIA" => one(format!("AKIA{}", rng.capitals(16))),
        "ceph" => one(format!("AQ{}==", rng.mixed(36))),
        "pw0" | "pw1" | "pw2" | "pw3" => one(password(rng, length, kind)),
        "pwu" => {
            let text = password(rng, length, "pw0");
            let urlencoded = escaped(&text);
            Some((urlencoded.clone(), vec![urlencoded, text]))
        }
        _ => encoded(rng, kind, detail, length),
    }
}

/// A password: a letter first, signs among the rest.
fn password(rng: &mut Rng, length: usize, kind: &str) -> String {
    let signs = match kind {
        "pw0" => "!#%*+-_=.?^~",
        "pw1" => "!#*-_.",
        "pw2" => "-_.",
        _ => "_!",
    };
    let mut text = rng.text(1, SMALL);
    while text.len() < length {
        let sign = text.len() % 4 == 3 && text.len() + 1 < length;
        let next = if sign {
            rng.text(1, signs)
        } else {
            rng.mixed(1)
        };
        text.push_str(&next);
    }
    text
}

fn escaped(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

/// Secrets inside something: what is inside gives it away as well.
fn encoded(
    rng: &mut Rng,
    kind: &str,
    detail: &str,
    length: usize,
) -> Option<(String, Vec<String>)> {
    let inner = rng.mixed(length.max(12));
    let with = |outer: String| Some((outer, vec![inner.clone()]));
    match kind {
        "b64s" => with(STANDARD.encode(&inner)),
        "basic" => with(STANDARD.encode(format!("joe:{inner}"))),
        "b64json" => with(STANDARD.encode(format!(r#"{{"{detail}":{{"password":"{inner}"}}}}"#))),
        "b64env" => with(STANDARD.encode(format!("A=1\nDB_PASSWORD={inner}\n"))),
        "gzb64env" => {
            let mut packed = GzEncoder::new(Vec::new(), Compression::default());
            packed
                .write_all(format!("A=1\nDB_PASSWORD={inner}\n").as_bytes())
                .ok()?;
            with(STANDARD.encode(packed.finish().ok()?))
        }
        "b64uu" => with(escaped(&STANDARD.encode(&inner))),
        "hexof" => with(inner.bytes().map(|byte| format!("{byte:02x}")).collect()),
        "bytes" => {
            let all: Vec<String> = inner.bytes().map(|byte| byte.to_string()).collect();
            with(all.join(", "))
        }
        "boottok" => {
            let last = rng.text(16, &format!("{SMALL}0123456789"));
            Some((format!("{}.{last}", rng.hex(6)), vec![last]))
        }
        "jwt" => {
            let sign = URL_SAFE.encode(rng.bytes(48));
            let head = URL_SAFE.encode(r#"{"alg":"RS256","kid":"x"}"#);
            let head = head.trim_end_matches('=');
            Some((format!("{head}.eyJzdWIiOiJ4In0.{sign}"), vec![sign]))
        }
        "ngc" => {
            let key = format!(
                "{}:{}",
                rng.text(26, &format!("{SMALL}0123456789")),
                rng.uuid()
            );
            Some((STANDARD.encode(&key), vec![key]))
        }
        "pem" | "pemi" | "b64pem" => {
            let name = if kind == "b64pem" {
                "PRIVATE KEY"
            } else {
                detail
            };
            let (text, lines) = kinds::block(rng, name);
            let text = match kind {
                "pem" => text.trim_end().to_owned(),
                "pemi" => text.trim_end().replace('\n', "\n    "),
                _ => STANDARD.encode(text),
            };
            Some((text, lines))
        }
        _ => None,
    }
}
