//! The places in which a secret is planted: every format, encoding and position that a collector meets.

mod blocks;
mod bytes;
mod files;
mod named;
mod nested;
mod said;

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use super::{Content, Document, Format};

pub(super) use blocks::BLOCK_PLACES;

/// One secret to be planted: its name and itself.
pub(super) struct Planted<'a> {
    /// `DB_PASSWORD`.
    pub(super) key: &'a str,
    /// What must not be seen.
    pub(super) secret: &'a str,
}

/// One place.
pub(super) struct Place {
    /// Its name in the table.
    pub(super) id: &'static str,
    /// Plants a secret.
    pub(super) plant: fn(&Planted<'_>) -> Document,
    /// Nothing names the secret here: only kinds with a form of their own can be found.
    pub(super) needs_form: bool,
    /// Characters that the place's own grammar gives a meaning, so that no secret there holds them.
    pub(super) never: &'static str,
}

const fn at(id: &'static str, plant: fn(&Planted<'_>) -> Document) -> Place {
    Place {
        id,
        plant,
        needs_form: false,
        never: "",
    }
}

const fn at_but(
    id: &'static str,
    never: &'static str,
    plant: fn(&Planted<'_>) -> Document,
) -> Place {
    Place {
        id,
        plant,
        needs_form: false,
        never,
    }
}

const fn prose(id: &'static str, plant: fn(&Planted<'_>) -> Document) -> Place {
    Place {
        id,
        plant,
        needs_form: true,
        never: "",
    }
}

pub(super) fn yaml(text: String) -> Document {
    Document::new(
        Content::Text,
        "values.yaml",
        Format::Yaml,
        text.into_bytes(),
    )
}

pub(super) fn toml(text: String) -> Document {
    Document::new(
        Content::Text,
        "config.toml",
        Format::Toml,
        text.into_bytes(),
    )
}

pub(super) fn plain(text: String) -> Document {
    Document::new(Content::Text, "some.log", Format::Any, text.into_bytes())
}

pub(super) fn conf(name: &'static str, text: String) -> Document {
    Document::new(Content::Text, name, Format::Any, text.into_bytes())
}

pub(super) fn line(value: &Value) -> Document {
    Document::new(
        Content::JsonLines,
        "items.json",
        Format::JsonLines,
        format!("{value}\n").into_bytes(),
    )
}

fn pretty(value: &Value) -> Document {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    Document::new(
        Content::Text,
        "config.json",
        Format::Json,
        format!("{text}\n").into_bytes(),
    )
}

pub(super) fn b64(text: impl AsRef<[u8]>) -> String {
    STANDARD.encode(text)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory does not fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

/// The lower-case name of a field.
fn field(planted: &Planted<'_>) -> String {
    planted.key.to_ascii_lowercase()
}

/// The name in the style of a command line.
fn flag(planted: &Planted<'_>) -> String {
    field(planted).replace('_', "-")
}

/// The name in the style of Go's and Java's fields.
fn camel(planted: &Planted<'_>) -> String {
    let lower = field(planted);
    let mut parts = lower.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |done, part| {
        let (head, tail) = part.split_at(part.len().min(1));
        format!("{done}{}{tail}", head.to_ascii_uppercase())
    })
}

fn pod(container: Value) -> Value {
    json!({"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-0","namespace":"shop","uid":"7a0c3c0e-7b0e-4a53-a3a5-5f5f0d0a5b11"},
        "spec":{"containers":[container],"nodeName":"gpu-1"}})
}

pub(super) fn journal(message: Value) -> Document {
    line(
        &json!({"__REALTIME_TIMESTAMP":"1763634900000000","_PID":"812","_SYSTEMD_UNIT":"app.service","PRIORITY":"6","MESSAGE":message}),
    )
}
/// All places, always in this order: the secrets come from one seed.
pub(super) fn all() -> impl Iterator<Item = &'static Place> {
    [
        files::PLACES,
        nested::PLACES,
        said::PLACES,
        named::PLACES,
        bytes::PLACES,
    ]
    .into_iter()
    .flatten()
}
