//! A third corpus: 527 shapes with a secret in them and 152 look-alikes, written as the tools' documentation and real
//! programs show them, by somebody who had not read the redaction. What it missed at first, and what it learnt then,
//! stands in the README.
//!
//! `tests/data/blind/*.txt` hold the shapes as they stand: `== name | file | how the secret is made`, then the document,
//! in which `@@` is the secret. `⟦…⟧` is made anew each time: see `call`.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::rng::Rng;
use super::{Case, Content, Document, Format};

/// The files of shapes, each with its name in the tables.
const FILES: &[(&str, &str)] = &[
    (
        "blind: charts and objects",
        include_str!("../../data/blind/charts.txt"),
    ),
    (
        "blind: files of a host",
        include_str!("../../data/blind/host.txt"),
    ),
    (
        "blind: commands",
        include_str!("../../data/blind/commands.txt"),
    ),
    (
        "blind: tokens in prose",
        include_str!("../../data/blind/tokens.txt"),
    ),
    (
        "blind: wrapped",
        include_str!("../../data/blind/wrapped.txt"),
    ),
];
const ALIKE: &str = include_str!("../../data/blind/alike.txt");

/// Shapes in which only the kind of file, or a line far above, says that a word is a secret; they stay.
pub const UNFOUND: [&str; 1] = ["ppp chap secrets"];

/// How often each shape is made.
const TIMES: usize = 3;
/// A run of letters and digits of a secret that is telling by itself.
const TELLING: usize = 12;

/// Every shape with a secret, each several times.
pub(super) fn cases(rng: &mut Rng) -> Vec<Case> {
    let mut cases = Vec::new();
    for (kind, file) in FILES {
        for (head, body) in shapes(file) {
            let mut parts = head.split(" | ");
            let (Some(place), Some(name), Some(maker)) = (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            for _ in 0..TIMES {
                let secret = fill(maker, rng);
                let text = fill(&body.replace("@@", &secret), rng);
                cases.push(Case {
                    kind,
                    place,
                    needles: needles(&secret),
                    document: document(name, text),
                });
            }
        }
    }
    cases
}

/// Every look-alike, each several times.
pub(super) fn alike(rng: &mut Rng) -> Vec<Case> {
    let mut cases = Vec::new();
    for (head, body) in shapes(ALIKE) {
        let Some((kind, name)) = head.split_once(" | ") else {
            continue;
        };
        for _ in 0..TIMES {
            let text = fill(body, rng);
            cases.push(Case {
                kind,
                place: "blind",
                needles: vec![text.clone()],
                document: document(name, text),
            });
        }
    }
    cases
}

/// The heads and bodies of a file.
fn shapes(file: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let starts = file
        .match_indices("== ")
        .filter(|(at, _)| *at == 0 || file[..*at].ends_with('\n'));
    let starts: Vec<usize> = starts.map(|(at, _)| at).collect();
    let ends: Vec<usize> = starts.iter().copied().skip(1).chain([file.len()]).collect();
    starts
        .into_iter()
        .zip(ends)
        .filter_map(move |(start, end)| file[start + 3..end].split_once('\n'))
}

/// The secret, its longest telling run, and both as hexadecimal digits.
fn needles(secret: &str) -> Vec<String> {
    let run = secret
        .split(|c: char| !c.is_ascii_alphanumeric())
        .max_by_key(|run| run.len())
        .filter(|run| run.len() >= TELLING)
        .unwrap_or(secret);
    vec![secret.to_owned(), run.to_owned(), hex(run.as_bytes())]
}

fn document(name: &str, text: String) -> Document {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let (content, format) = match ending {
        "jsonl" => (Content::JsonLines, Format::JsonLines),
        "json" => (Content::Text, Format::Json),
        "yaml" => (Content::Text, Format::Yaml),
        "toml" => (Content::Text, Format::Toml),
        _ => (Content::Text, Format::Any),
    };
    Document::new(content, name, format, text.into_bytes())
}

/// The text with every `⟦…⟧` made, the inner ones first.
fn fill(text: &str, rng: &mut Rng) -> String {
    let Some((before, rest)) = text.split_once('⟦') else {
        return text.to_owned();
    };
    let mut depth = 1_usize;
    let end = rest.char_indices().find_map(|(at, c)| {
        match c {
            '⟦' => depth += 1,
            '⟧' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    });
    let (inner, after) = rest.split_at(end.unwrap_or(rest.len()));
    let after = after.strip_prefix('⟧').unwrap_or(after);
    let (name, argument) = inner.split_once(':').unwrap_or((inner, ""));
    let argument = fill(argument, rng);
    let made = call(name, &argument, rng);
    format!("{before}{made}{}", fill(after, rng))
}

/// What one `⟦name:argument⟧` stands for: random text of a length, or the argument in another encoding.
fn call(name: &str, argument: &str, rng: &mut Rng) -> String {
    let length = argument.parse().unwrap_or(0);
    match name {
        "mixed" => rng.mixed(length),
        "hex" => rng.hex(length),
        "HEX" => rng.hex(length).to_uppercase(),
        "low" => rng.text(length, "abcdefghijklmnopqrstuvwxyz0123456789"),
        "caps" => rng.capitals(length),
        "CAPS" => rng.text(length, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"),
        "num" => rng.text(length, "123456789"),
        "b64" => STANDARD
            .encode(rng.bytes(length))
            .chars()
            .take(length)
            .collect(),
        "uuid" => rng.uuid(),
        "HEXUUID" => rng.uuid().to_uppercase(),
        "human" => format!(
            "{}{}{}!",
            rng.text(1, "BDFGKMPRST"),
            rng.text(7, "aeinorst"),
            rng.text(4, "123456789")
        ),
        "e64" => STANDARD.encode(argument),
        "u64" => URL_SAFE_NO_PAD.encode(argument),
        "e64nl" => wrapped(&STANDARD.encode(argument)),
        "gz64" => STANDARD.encode(gzip(argument.as_bytes())),
        "json" => argument.replace('\\', "\\\\").replace('"', "\\\""),
        "nulhex" => hex(argument.replace(' ', "\0").as_bytes()),
        "esc" => "\u{1b}".to_owned(),
        "bom" => "\u{feff}".to_owned(),
        _ => unreachable!("a shape of the corpus asks for {name}"),
    }
}

/// Lines of 76 characters, as a JSON string writes them.
fn wrapped(text: &str) -> String {
    let lines: Vec<String> = text
        .as_bytes()
        .chunks(76)
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .collect();
    lines.join("\\n")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    // Writing to memory does not fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}
