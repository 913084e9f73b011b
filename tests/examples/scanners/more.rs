//! Rules of scanners that came later, most of them expressions without a sample: what an expression describes is made.

use std::collections::BTreeSet;

use regex_syntax::hir::{Class, Hir, HirKind};
use serde_json::Value;

use super::go::{self, Reader};
use super::rules::drawn_from;
use super::samples::Sample;

/// Secrets made of one expression.
const MADE: u64 = 3;
/// An expression that makes fewer letters describes a sign or a name.
const LEAST: usize = 10;

/// Secrets that one expression of a rule describes.
pub(crate) fn made(scanner: &'static str, rule: &str, regex: &str) -> Vec<Sample> {
    let plain = regex.replace("(?i)", "").replace("\\b", "");
    let mut parser = regex_syntax::ParserBuilder::new()
        .unicode(false)
        .utf8(false)
        .build();
    let Some(token) = parser.parse(&plain).ok().as_ref().and_then(token_of) else {
        return Vec::new();
    };
    let texts: Vec<String> = (0..MADE).map(|turn| drawn_from(&token, turn)).collect();
    let same = texts[0]
        .bytes()
        .zip(texts[1].bytes())
        .take_while(|(a, b)| a == b)
        .count();
    let sample = |text: &String| {
        let mut sample = Sample::new(scanner, rule, text, None);
        sample.prefixed |= same >= 3;
        sample
    };
    texts.iter().map(sample).collect()
}

/// The part of an expression that is the secret: the longest group without a class of nearly everything, or the whole
/// where it has no such class and no blank.
fn token_of(whole: &Hir) -> Option<Hir> {
    let mut groups = Vec::new();
    collect(whole, &mut groups);
    let length = |part: &Hir| part.properties().minimum_len().unwrap_or(0);
    let best = groups.into_iter().filter(|part| !wide(part));
    best.max_by_key(|part| length(part))
        .filter(|part| length(part) >= LEAST)
        .or((!wide(whole) && length(whole) >= LEAST).then_some(whole))
        .cloned()
}

fn collect<'a>(part: &'a Hir, groups: &mut Vec<&'a Hir>) {
    match part.kind() {
        HirKind::Capture(capture) => {
            groups.push(&capture.sub);
            collect(&capture.sub, groups);
        }
        HirKind::Repetition(repetition) => collect(&repetition.sub, groups),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().for_each(|part| collect(part, groups));
        }
        _ => {}
    }
}

/// Whether a part of an expression stands for blanks, or for nearly every letter.
fn wide(part: &Hir) -> bool {
    match part.kind() {
        HirKind::Class(Class::Bytes(class)) => {
            let holds = |byte: u8| {
                let mut ranges = class.iter();
                ranges.any(|range| (range.start()..=range.end()).contains(&byte))
            };
            holds(b' ') || (b'!'..=b'~').filter(|byte| holds(*byte)).count() > MANY
        }
        HirKind::Class(Class::Unicode(_)) => true,
        HirKind::Literal(text) => text.0.iter().any(u8::is_ascii_whitespace),
        HirKind::Capture(capture) => wide(&capture.sub),
        HirKind::Repetition(repetition) => wide(&repetition.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(wide),
        HirKind::Empty | HirKind::Look(_) => false,
    }
}

/// No issuer draws from more sorts of letters.
const MANY: usize = 80;

/// Named expressions of a document in YAML or JSON: wherever a table has both of these.
pub(crate) fn named(scanner: &'static str, text: &str, name: &str, regex: &str) -> Vec<Sample> {
    let yaml = serde_saphyr::from_str::<Value>(text).ok();
    let mut all = Vec::new();
    if let Some(value) = yaml.or_else(|| serde_json::from_str(text).ok()) {
        walk(&value, &mut |table| {
            let title = table.get(name).and_then(Value::as_str);
            let expression = table.get(regex).and_then(Value::as_str);
            if let (Some(title), Some(expression)) = (title, expression) {
                all.extend(made(scanner, title, expression));
            }
        });
    }
    all
}

fn walk(value: &Value, each: &mut impl FnMut(&serde_json::Map<String, Value>)) {
    match value {
        Value::Object(table) => {
            each(table);
            table.values().for_each(|inner| walk(inner, each));
        }
        Value::Array(list) => list.iter().for_each(|inner| walk(inner, each)),
        _ => {}
    }
}

/// The rules of trivy: `ID: "..."`, then `Regex: MustCompile(...)`.
pub(crate) fn trivy(source: &str) -> Vec<Sample> {
    let names = go::names(source);
    let mut all = Vec::new();
    for rule in source.split("ID:").skip(1) {
        let id = Reader::new(rule, &names).text();
        let begin = rule
            .split_once("Regex:")
            .and_then(|(_, rest)| rest.split_once('('));
        let regex = begin.and_then(|(_, rest)| Reader::new(rest, &names).text());
        if let (Some(id), Some(regex)) = (id, regex) {
            all.extend(made("trivy", &id, &regex));
        }
    }
    all
}

/// The texts that a rule of 2ms has to find.
pub(crate) fn two_ms(source: &str, rule: &str) -> Vec<Sample> {
    let names = go::names(source);
    let lists = source
        .split("truePositives:")
        .skip(1)
        .filter_map(|part| part.split_once("[]string{"));
    lists
        .flat_map(|(_, list)| Reader::new(list, &names).list())
        .filter_map(|text| {
            let token = |c: char| !c.is_ascii_alphanumeric() && !"+/=_.~-".contains(c);
            let secret = text.split(token).max_by_key(|part| part.len())?;
            // `name=value` without a blank is a name and a value.
            let secret = secret.trim_start_matches('=');
            let secret = match secret.trim_end_matches('=').split_once('=') {
                Some((_, value)) => &secret[secret.len() - value.len()..],
                None => secret,
            };
            Some(Sample::new("2ms", rule, secret, Some(text.clone())))
        })
        .collect()
}

/// The keys that tests of osv-scalibr name: `testKey = "..."`.
pub(crate) fn scalibr(source: &str, rule: &str) -> Vec<Sample> {
    let secret = |name: &str, value: &str| {
        let name = name.to_ascii_lowercase();
        ["key", "token", "secret", "pat"]
            .iter()
            .any(|word| name.contains(word))
            && value.len() >= 16
            && !value.contains(char::is_whitespace)
    };
    go::names(source)
        .iter()
        .filter(|(name, value)| secret(name, value))
        .map(|(_, value)| Sample::new("osv-scalibr", rule, value, None))
        .collect()
}

/// What CredSweeper finds in its own samples, without rules of what people choose (passwords, arguments) and of ids.
pub(crate) fn credsweeper(text: &str) -> Vec<Sample> {
    let found: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
    let mut all = BTreeSet::new();
    for finding in &found {
        let rule = finding["rule"].as_str().unwrap_or_default();
        let lower = rule.to_ascii_lowercase();
        let chosen = CHOSEN.iter().any(|word| lower.contains(word)) || !rule.contains(' ');
        for data in finding["line_data_list"].as_array().into_iter().flatten() {
            if let Some(value) = data["value"].as_str().filter(|_| !chosen) {
                all.insert(Sample::new(
                    "credsweeper",
                    &lower.replace(' ', "-"),
                    value,
                    None,
                ));
            }
        }
    }
    all.into_iter().collect()
}

/// Words of rules that find what people choose, and what is no secret; rules of one word are of that kind as well.
const CHOSEN: [&str; 11] = [
    "pass", "pair", "triple", "doc", "uuid", "domain", "bucket", "cmd", "curl", "url", "basic",
];

/// `pattern-regex` of a rule of semgrep.
pub(crate) fn semgrep(text: &str, rule: &str) -> Vec<Sample> {
    let mut all = Vec::new();
    if let Ok(value) = serde_saphyr::from_str::<Value>(text) {
        walk(&value, &mut |table| {
            if let Some(regex) = table.get("pattern-regex").and_then(Value::as_str) {
                all.extend(made("semgrep", rule, regex));
            }
        });
    }
    all
}
