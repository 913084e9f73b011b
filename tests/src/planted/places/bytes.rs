//! Places in archives and encodings, and in prose.

use serde_json::json;

use super::{Place, Planted, at, b64, field, gzip, journal, line, plain, pod, pretty, prose, yaml};
use crate::planted::{Content, Document, Format};

pub(super) const PLACES: &[Place] = &[
    at("gzip file", |p| {
        Document::new(
            Content::Text,
            "old.log.gz",
            Format::Any,
            gzip(format!("a\nlevel=error {}={} host=db\nb\n", field(p), p.secret).as_bytes()),
        )
    }),
    at("gzip members", |p| {
        let mut bytes = gzip(b"first member\n");
        bytes.extend(gzip(format!("{}={}\n", p.key, p.secret).as_bytes()));
        Document::new(Content::Text, "old.log.gz", Format::Any, bytes)
    }),
    at("tar archive", |p| {
        Document::new(Content::Text, "old.tar", Format::Any, archive(p))
    }),
    at("tar.gz archive", |p| {
        Document::new(Content::Text, "old.tar.gz", Format::Any, gzip(&archive(p)))
    }),
    at("UTF-16 file", |p| {
        let text = format!("\u{feff}{}={}\r\n", p.key, p.secret);
        Document::new(
            Content::Text,
            "app.reg",
            Format::Any,
            text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        )
    }),
    at("NUL-separated environment", |p| {
        Document::new(
            Content::Text,
            "environ",
            Format::Any,
            format!("A=1\0{}={}\0B=2\0", p.key, p.secret).into_bytes(),
        )
    }),
    at("byte order mark", |p| {
        yaml(format!("\u{feff}{}: \"{}\"\n", field(p), p.secret))
    }),
    at("beside bytes that are no UTF-8", |p| {
        let mut bytes = b"caf\xe9 ".to_vec();
        bytes.extend(format!("{}={} x\n", p.key, p.secret).bytes());
        Document::new(Content::Text, "old.log", Format::Any, bytes)
    }),
    prose("prose", |p| {
        plain(format!("2026-11-20 the value {} was refused\n", p.secret))
    }),
    prose("prose, JSON", |p| {
        line(&json!({"reason":"x","message":format!("cannot use {} here", p.secret)}))
    }),
    prose("neutral YAML key", |p| {
        yaml(format!("thing: \"{}\"\n", p.secret))
    }),
    prose("neutral JSON key", |p| pretty(&json!({"thing":p.secret}))),
    prose("JSON key itself", |p| line(&json!({"seen":{p.secret:1}}))),
    prose("positional argument", |p| {
        line(&pod(json!({"name":"web","args":["run",p.secret]})))
    }),
    prose("base64 of prose", |p| {
        line(&json!({"data":{"x":b64(format!("the value is {} and no other", p.secret))}}))
    }),
    prose("journal message, bytes, prose", |p| {
        journal(json!(
            format!("\u{1b}[0m got {} there", p.secret).as_bytes()
        ))
    }),
    Place {
        id: "file name",
        plant: |p| {
            Document::new(Content::Text, "", Format::Any, b"x\n".to_vec())
                .named(format!("nodes/a/rootfs/run/x-{}.conf", p.secret))
        },
        needs_form: true,
        never: "/%:+",
    },
];

fn archive(planted: &Planted<'_>) -> Vec<u8> {
    let body = format!("{}={}\n", planted.key, planted.secret);
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(body.len() as u64);
    header.set_mode(0o600);
    header.set_cksum();
    // Writing to memory does not fail.
    let _ = builder.append_data(&mut header, "etc/app.env", body.as_bytes());
    builder.into_inner().unwrap_or_default()
}
