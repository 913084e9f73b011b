//! Places of private keys, which stand over several lines.

use serde_json::json;

use super::{b64, conf, gzip, line, plain, toml, yaml};
use crate::planted::{Content, Document, Format};

/// A private key over several lines in a document.
pub(in crate::planted) type BlockPlace = (&'static str, fn(&str) -> Document);

fn indented(text: &str, by: &str) -> String {
    text.lines()
        .fold(String::new(), |done, line| done + by + line + "\n")
}

/// Places of keys over several lines.
pub(in crate::planted) const BLOCK_PLACES: &[BlockPlace] = &[
    ("key file", |t| conf("tls.key", t.to_owned())),
    ("key file, CRLF", |t| {
        conf("tls.key", t.replace('\n', "\r\n"))
    }),
    ("key in a YAML block", |t| {
        yaml(format!(
            "a:\n  tls.key: |\n{}  port: 1\n",
            indented(t, "    ")
        ))
    }),
    ("key in a neutral YAML block", |t| {
        yaml(format!(
            "a:\n  thing: |\n{}  port: 1\n",
            indented(t, "    ")
        ))
    }),
    ("key in a YAML string", |t| {
        yaml(format!("a: \"{}\"\nport: 1\n", t.replace('\n', "\\n")))
    }),
    ("key in a JSON string", |t| {
        line(&json!({"data":{"file":t,"mode":"fast"}}))
    }),
    ("key in JSON in JSON", |t| {
        line(&json!({"a":json!({"b":t}).to_string()}))
    }),
    ("key in base64", |t| line(&json!({"data":{"file":b64(t)}}))),
    ("key in base64 over lines", |t| {
        let text = b64(t);
        let lines: Vec<&str> = text
            .as_bytes()
            .chunks(64)
            .filter_map(|part| std::str::from_utf8(part).ok())
            .collect();
        yaml(format!(
            "a:\n  file: |\n    {}\n  port: 1\n",
            lines.join("\n    ")
        ))
    }),
    ("key in TOML", |t| {
        toml(format!("key = '''\n{t}'''\nx = 1\n"))
    }),
    ("key in a log, line by line", |t| {
        plain(format!(
            "{}t9 fine\n",
            indented(t, "2026-11-20T10:15:00Z stdout F ")
        ))
    }),
    ("key in a journal, line by line", |t| {
        let text = t.lines().fold(String::new(), |done, part| {
            done + &json!({"_PID":"8","MESSAGE":part}).to_string() + "\n"
        });
        Document::new(
            Content::JsonLines,
            "a.json",
            Format::JsonLines,
            text.into_bytes(),
        )
    }),
    ("key in a log, escaped", |t| {
        plain(format!(
            "level=info msg=\"got {}\"\n",
            t.replace('\n', "\\n")
        ))
    }),
    ("key in a gzip file", |t| {
        Document::new(Content::Text, "a.gz", Format::Any, gzip(t.as_bytes()))
    }),
    ("key in an env file", |t| {
        conf("a.env", format!("A=1\nTLS=\"{t}\"\nB=2\n"))
    }),
    ("key in XML", |t| {
        conf("a.xml", format!("<a><k>{t}</k></a>\n"))
    }),
];
