//! Five hundred names and addresses of a site in ninety forms: none is left, and the map gives all of them back.

use std::io::{Read as _, Write as _};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use casefile_collector::anonymize::{Anonymizer, Class, MapFile, Names, reveal};
use casefile_collector::redact::{Content, Key, Redactor};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

/// Where a name stands.
const CONTEXTS: &[&str] = &[
    "@@",
    "name: @@",
    "name: \"@@\"",
    "x=@@ y=1",
    "dial @@: refused",
    "on @@, again",
    "(@@)",
    "[@@] up",
    "path /srv/@@/data",
    "'@@' is not ready",
    "a @@\tb",
    "last seen @@.",
    "url http://@@/x?y=1",
    "--target=@@ --v=2",
    "key @@;",
];

type Pack = fn(&str) -> String;
type Unpack = fn(&str) -> String;

fn json(text: &str) -> String {
    serde_json::json!({"MESSAGE": text, "PRIORITY": "6"}).to_string()
}

fn message(line: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(line).unwrap();
    value["MESSAGE"].as_str().unwrap().to_owned()
}

fn base64_of(bytes: &[u8]) -> String {
    format!("blob {}", STANDARD.encode(bytes))
}

fn bytes_of(line: &str) -> Vec<u8> {
    STANDARD
        .decode(line.strip_prefix("blob ").unwrap())
        .unwrap()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn gunzip(bytes: &[u8]) -> String {
    let mut text = String::new();
    GzDecoder::new(bytes).read_to_string(&mut text).unwrap();
    text
}

/// How a line is wrapped, and back.
const FORMS: &[(&str, Pack, Unpack)] = &[
    ("plain", str::to_owned, str::to_owned),
    ("JSON", json, message),
    (
        "JSON in JSON",
        |text| json(&json(text)),
        |line| message(&message(line)),
    ),
    (
        "base64",
        |text| base64_of(format!("{text} is what stands in here").as_bytes()),
        |line| String::from_utf8(bytes_of(line)).unwrap(),
    ),
    (
        "gzip in base64",
        |text| base64_of(&gzip(text)),
        |line| gunzip(&bytes_of(line)),
    ),
    (
        "base64 in JSON",
        |text| {
            json(&base64_of(
                format!("{text} is what stands in here").as_bytes(),
            ))
        },
        |line| String::from_utf8(bytes_of(&message(line))).unwrap(),
    ),
];

/// The names, with their classes.
fn originals() -> Vec<(Class, String)> {
    let mut all = Vec::new();
    for n in 0..100_u32 {
        all.push((Class::Hosts, format!("lyra-gpu-{n:03}")));
        all.push((Class::Users, format!("mkerner{n:03}")));
        all.push((Class::Namespaces, format!("fraud-team-{n:03}")));
        all.push((
            Class::Ips,
            format!("10.{}.{}.{}", n % 7 + 40, n, n % 200 + 3),
        ));
        all.push((
            Class::Macs,
            format!("52:54:00:{:02x}:{:02x}:{:02x}", n, n * 2 % 251, 7),
        ));
    }
    all
}

fn site(key: &Key) -> Arc<Anonymizer> {
    let mut names = Names::default();
    for (class, name) in originals() {
        if matches!(class, Class::Hosts | Class::Users | Class::Namespaces) {
            names.add(class, &name);
        }
    }
    Arc::new(Anonymizer::new(
        key.clone(),
        Class::ALL.into_iter().collect(),
        &names,
    ))
}

fn redact(text: &str, key: &Key) -> String {
    let mut redactor = Redactor::new(Content::Text, key.clone());
    let mut out = Vec::new();
    redactor.push(text.as_bytes(), &mut out);
    redactor.finish(&mut out);
    String::from_utf8(out).unwrap()
}

/// Whether a name stands whole in a text: `10.43.3.6` does not in `10.43.3.63`, which may well be what another address
/// becomes beside one that is kept.
fn stands(text: &str, name: &str) -> bool {
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    text.match_indices(name).any(|(at, _)| {
        let behind = text[at + name.len()..].chars().next();
        !joins(text[..at].chars().next_back()) && !joins(behind)
    })
}

#[test]
fn no_original_is_left_in_any_form_and_the_map_gives_all_of_them_back() {
    let key = Key::random().unwrap();
    let site = site(&key);
    let key = key.with_site(site.clone());
    let originals = originals();
    let mut left = Vec::new();
    let (mut before, mut after) = (String::new(), String::new());
    for (form, pack, unpack) in FORMS {
        for context in CONTEXTS {
            let lines: Vec<String> = originals
                .iter()
                .map(|(_, name)| context.replace("@@", name))
                .collect();
            let packed: Vec<String> = lines.iter().map(|line| pack(line)).collect();
            let out = redact(&(packed.join("\n") + "\n"), &key);
            assert_eq!(out.lines().count(), originals.len(), "{form}: {context}");
            for (line, (class, name)) in out.lines().zip(&originals) {
                let text = unpack(line);
                if stands(&text, name) {
                    left.push(format!("{form}: {class:?}: {context}: {text}"));
                }
                if *form == "plain" {
                    after.push_str(&text);
                    after.push('\n');
                }
            }
            if *form == "plain" {
                before.push_str(&(lines.join("\n") + "\n"));
            }
        }
    }
    let all = originals.len() * FORMS.len() * CONTEXTS.len();
    println!("{} of {all} originals are left", left.len());
    left.iter().take(20).for_each(|line| println!("  {line}"));
    assert!(left.is_empty());

    let folder = tempfile::tempdir().unwrap();
    let (map, report) = (
        folder.path().join("map.json"),
        folder.path().join("report.md"),
    );
    std::fs::write(&report, &after).unwrap();
    MapFile::create(&map)
        .unwrap()
        .write(&site, "b.tar.gz")
        .unwrap();
    let back = String::from_utf8(reveal(&map, &report).unwrap()).unwrap();
    let wrong: Vec<_> = back
        .lines()
        .zip(before.lines())
        .filter(|(a, b)| a != b)
        .collect();
    println!(
        "{} of {} lines come back otherwise",
        wrong.len(),
        before.lines().count()
    );
    wrong
        .iter()
        .take(10)
        .for_each(|(a, b)| println!("  {b} came back as {a}"));
    assert!(wrong.is_empty());
}
