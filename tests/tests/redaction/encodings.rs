//! A password in 94 encodings: alone, one in another, and in files that are encoded as a whole. What comes out is decoded
//! again, layer by layer, and searched.

use std::io::{Read as _, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use casefile_collector::redact::{Content, Key, Redactor};
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

/// One way to write bytes as a text, and to read them again.
struct Layer {
    name: &'static str,
    encode: fn(&str) -> String,
    decode: fn(&str) -> Option<String>,
}

const fn layer(
    name: &'static str,
    encode: fn(&str) -> String,
    decode: fn(&str) -> Option<String>,
) -> Layer {
    Layer {
        name,
        encode,
        decode,
    }
}

fn each(text: &str, one: fn(u8) -> String) -> String {
    text.bytes().map(one).collect()
}

fn text_of(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok()
}

/// Units of `length` digits behind a mark; what stands between them is taken as it is.
fn units(text: &str, mark: &str, length: usize, radix: u32, end: &str) -> Option<String> {
    let mut parts = text.split(mark);
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let cut = if length == 0 {
            part.find(end)?
        } else {
            length.min(part.len())
        };
        bytes.push(u8::from_str_radix(part.get(..cut)?, radix).ok()?);
        let rest = part.get(cut..)?;
        bytes.extend_from_slice(rest.strip_prefix(end).unwrap_or(rest).as_bytes());
    }
    text_of(bytes)
}

fn unhex(text: &str) -> Option<String> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pairs = digits.chunks_exact(2);
    let bytes: Option<Vec<u8>> = pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect();
    text_of(bytes?)
}

fn json(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

fn unjson(text: &str) -> Option<String> {
    serde_json::from_str(text).ok()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn ungzip(bytes: &[u8]) -> Option<String> {
    let mut text = String::new();
    MultiGzDecoder::new(bytes).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Layers that may hold one another.
const LAYERS: [Layer; 8] = [
    layer(
        "base64",
        |text| STANDARD.encode(text),
        |text| text_of(STANDARD.decode(text).ok()?),
    ),
    layer(
        "base64 for URLs",
        |text| URL_SAFE.encode(text).trim_end_matches('=').to_owned(),
        |text| {
            let padded = format!("{text}{}", "=".repeat((4 - text.len() % 4) % 4));
            text_of(URL_SAFE.decode(padded).ok()?)
        },
    ),
    layer("hex", |text| each(text, |b| format!("{b:02x}")), unhex),
    layer(
        "percent",
        |text| each(text, |b| format!("%{b:02X}")),
        |text| units(text, "%", 2, 16, ""),
    ),
    layer("JSON", json, unjson),
    layer(
        "\\u00",
        |text| each(text, |b| format!("\\u00{b:02x}")),
        |text| units(text, "\\u00", 2, 16, ""),
    ),
    layer(
        "gzip in base64",
        |text| STANDARD.encode(gzip(text.as_bytes())),
        |text| ungzip(&STANDARD.decode(text).ok()?),
    ),
    layer(
        "list of bytes",
        |text| {
            let all: Vec<String> = text.bytes().map(|byte| byte.to_string()).collect();
            format!("[{}]", all.join(","))
        },
        |text| {
            let inner = text.strip_prefix('[')?.strip_suffix(']')?;
            let bytes: Option<Vec<u8>> = inner.split(',').map(|n| n.trim().parse().ok()).collect();
            text_of(bytes?)
        },
    ),
];

/// Layers that stand alone.
const SINGLES: [Layer; 9] = [
    layer(
        "hex in capitals",
        |text| each(text, |b| format!("{b:02X}")),
        unhex,
    ),
    layer(
        "\\x",
        |text| each(text, |b| format!("\\x{b:02x}")),
        |text| units(text, "\\x", 2, 16, ""),
    ),
    layer(
        "octal",
        |text| each(text, |b| format!("\\{b:03o}")),
        |text| units(text, "\\", 3, 8, ""),
    ),
    layer(
        "entities",
        |text| each(text, |b| format!("&#{b};")),
        |text| units(text, "&#", 0, 10, ";"),
    ),
    layer(
        "entities in hex",
        |text| each(text, |b| format!("&#x{b:x};")),
        |text| units(text, "&#x", 0, 16, ";"),
    ),
    layer(
        "percent twice",
        |text| each(text, |b| format!("%25{b:02X}")),
        |text| units(text, "%25", 2, 16, ""),
    ),
    layer(
        "base64 over lines",
        |text| {
            let encoded = STANDARD.encode(format!("{text} and more of it {}", "word ".repeat(30)));
            let lines: Vec<&str> = encoded
                .as_bytes()
                .chunks(76)
                .map(|line| std::str::from_utf8(line).unwrap())
                .collect();
            lines.join("\n")
        },
        |text| text_of(STANDARD.decode(text.replace('\n', "")).ok()?),
    ),
    layer(
        "base64 of a line without its own line end",
        |text| STANDARD.encode(format!("{text}\nA=1")),
        |text| text_of(STANDARD.decode(text).ok()?),
    ),
    layer(
        "JSON three times",
        |text| json(&json(&json(text))),
        |text| unjson(&unjson(&unjson(text)?)?),
    ),
];

/// Files that are encoded as a whole, around each of [`LAYERS`] and around plain text.
type Whole = (
    &'static str,
    fn(&str) -> Vec<u8>,
    fn(&[u8]) -> Option<String>,
);

const WHOLE: [Whole; 2] = [
    ("gzip", |text| gzip(text.as_bytes()), ungzip),
    (
        "UTF-16",
        |text| {
            let marked = format!("\u{feff}{text}");
            marked.encode_utf16().flat_map(u16::to_le_bytes).collect()
        },
        |bytes| {
            let pairs = bytes.chunks_exact(2);
            let units: Vec<u16> = pairs
                .map(|two| u16::from_le_bytes([two[0], two[1]]))
                .collect();
            String::from_utf16(&units).ok()
        },
    ),
];

const SECRET: &str = "k3Xy9vQ2mPz77Lw4";
const BEFORE: &str = "app: the settings are ";

/// What is written: a setting and what belongs to it.
fn setting() -> String {
    format!("DB_PASSWORD={SECRET}")
}

fn redact(bytes: &[u8]) -> Vec<u8> {
    let mut redactor = Redactor::new(Content::Text, Key::random().unwrap());
    let mut out = Vec::new();
    redactor.push(bytes, &mut out);
    redactor.finish(&mut out);
    out
}

/// Whether the secret is still there once these layers are taken off, the last that was put on first.
fn reveals(out: &str, layers: &[&Layer]) -> bool {
    let line = out.strip_prefix(BEFORE).unwrap_or(out).trim_end();
    let mut text = line.to_owned();
    for layer in layers.iter().rev() {
        // What can no longer be read was replaced as a whole.
        let Some(inner) = (layer.decode)(&text) else {
            return text.contains(SECRET) || text.contains(&(layer.encode)(SECRET));
        };
        text = inner;
    }
    text.contains(SECRET)
}

fn written(layers: &[&Layer]) -> String {
    let inner = layers
        .iter()
        .fold(setting(), |text, layer| (layer.encode)(&text));
    format!("{BEFORE}{inner}\n")
}

#[test]
fn a_password_leaves_in_none_of_94_encodings() {
    let mut all = 0;
    let mut leaks = Vec::new();
    let mut look = |name: String, out: Option<String>, layers: &[&Layer]| {
        all += 1;
        if out.is_some_and(|out| reveals(&out, layers)) {
            leaks.push(name);
        }
    };
    let text = |layers: &[&Layer]| text_of(redact(written(layers).as_bytes()));
    look("plain".to_owned(), text(&[]), &[]);
    for inner in SINGLES.iter().chain(&LAYERS) {
        look(inner.name.to_owned(), text(&[inner]), &[inner]);
    }
    for inner in &LAYERS {
        for outer in &LAYERS {
            let name = format!("{} in {}", inner.name, outer.name);
            look(name, text(&[inner, outer]), &[inner, outer]);
        }
    }
    for (name, encode, decode) in WHOLE {
        for inner in LAYERS.iter().take(6) {
            let out = decode(&redact(&encode(&written(&[inner]))));
            look(format!("{} in {name}", inner.name), out, &[inner]);
        }
    }
    println!("{all} encodings, {} leak: {leaks:?}", leaks.len());
    assert_eq!(all, 94);
    assert!(leaks.is_empty(), "{leaks:?}");
}

/// The other way round: the same settings without a secret stay as they are in every encoding.
#[test]
fn a_harmless_setting_stays_in_every_encoding() {
    for inner in LAYERS.iter().chain(&SINGLES) {
        let text = format!("{BEFORE}{}\n", (inner.encode)("MODE=fast and quick"));
        let out = text_of(redact(text.as_bytes())).unwrap();
        assert_eq!(out, text, "{}", inner.name);
    }
}
