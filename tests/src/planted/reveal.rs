//! Whether bytes give a text away, however it is wrapped: base64, gzip, escapes, lists of bytes, UTF-16.

use std::io::Read as _;

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use flate2::read::MultiGzDecoder;

use super::Format;

const DEEPEST: usize = 6;
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::Indifferent);
const ENGINES: [GeneralPurpose; 2] = [
    GeneralPurpose::new(&STANDARD, LENIENT),
    GeneralPurpose::new(&URL_SAFE, LENIENT),
];

/// Whether somebody who unwraps everything finds the needle.
pub fn reveals(bytes: &[u8], needle: &str) -> bool {
    look(bytes, needle, 0)
}

fn look(bytes: &[u8], needle: &str, depth: usize) -> bool {
    if depth > DEEPEST {
        return false;
    }
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut inner = Vec::new();
        // What could be inflated before an error counts too.
        let _ = MultiGzDecoder::new(bytes).read_to_end(&mut inner);
        return look(&inner, needle, depth + 1);
    }
    let text = String::from_utf8_lossy(bytes);
    if text.contains(needle) || text.replace('\\', "").contains(needle) {
        return true;
    }
    if bytes.contains(&0) {
        let without: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
        if String::from_utf8_lossy(&without).contains(needle) {
            return true;
        }
    }
    let unescaped = text.replace("\\n", "\n").replace("\\\"", "\"");
    byte_lists(&text).any(|list| look(&list, needle, depth + 1))
        || words(&unescaped).any(|word| {
            ENGINES.iter().any(|engine| {
                engine
                    .decode(word)
                    .is_ok_and(|inner| look(&inner, needle, depth + 1))
            })
        })
        || joined(&unescaped).is_some_and(|inner| look(&inner, needle, depth + 1))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && !"+/=_-".contains(c))
        .filter(|word| word.len() >= 8)
}

/// Base64 over several lines.
fn joined(text: &str) -> Option<Vec<u8>> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let blocks: Vec<&str> = lines
        .iter()
        .copied()
        .filter(|line| {
            line.len() >= 4
                && line
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b))
        })
        .collect();
    if blocks.len() < 2 {
        return None;
    }
    ENGINES[0].decode(blocks.concat()).ok()
}

/// `[112,97,115,…]`, as journals write a field that is no text.
fn byte_lists(text: &str) -> impl Iterator<Item = Vec<u8>> {
    text.split('[').filter_map(|part| {
        let (inner, _) = part.split_once(']')?;
        let list: Option<Vec<u8>> = inner.split(',').map(|n| n.trim().parse().ok()).collect();
        list.filter(|bytes| bytes.len() > 7)
    })
}

/// Whether a document is what it has to be.
pub fn parses(format: Format, bytes: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string());
    match format {
        Format::Any => Ok(()),
        Format::Yaml => serde_saphyr::from_multiple::<serde_json::Value>(text?)
            .map(drop)
            .map_err(|error| error.to_string()),
        Format::Toml => text?
            .parse::<toml::Table>()
            .map(drop)
            .map_err(|error| error.to_string()),
        Format::Json => serde_json::from_slice::<serde_json::Value>(bytes)
            .map(drop)
            .map_err(|error| error.to_string()),
        Format::JsonLines => text?.lines().try_for_each(|line| {
            serde_json::from_str::<serde_json::Value>(line)
                .map(drop)
                .map_err(|error| error.to_string())
        }),
    }
}
