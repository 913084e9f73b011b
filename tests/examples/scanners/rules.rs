//! Rules and samples of the scanners that are not written in Go's test tables.

use std::path::Path;

use regex::Regex;
use regex_syntax::hir::{Class, Hir, HirKind};
use serde_json::Value;

use super::go::{self, Reader};
use super::samples::Sample;

/// Secrets made of one rule's expression.
const MADE: usize = 3;

/// The rules of gitleaks, or of a scanner in its form: secrets made of their expressions, and the texts that their sources
/// test them with.
pub(crate) fn gitleaks(scanner: &'static str, rules: &str, file: &Path) -> Vec<Sample> {
    let Ok(table) = rules.parse::<toml::Table>() else {
        return Vec::new();
    };
    let rules = table.get("rules").and_then(toml::Value::as_array).cloned();
    let rules: Vec<(String, String)> = rules
        .unwrap_or_default()
        .iter()
        .filter_map(|rule| {
            let text = |name: &str| Some(rule.get(name)?.as_str()?.to_owned());
            Some((text("id")?, text("regex")?))
        })
        .collect();
    let mut all = Vec::new();
    for (id, regex) in &rules {
        let Some(group) = first_group(regex) else {
            continue;
        };
        let prefixed = literal(&group) >= 3;
        for secret in made(&group) {
            let mut sample = Sample::new(scanner, id, &secret, None);
            sample.prefixed |= prefixed;
            all.push(sample);
        }
    }
    let folder = file.with_file_name("").join("../cmd/generate/config/rules");
    let mut sources: Vec<_> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .collect();
    sources.sort_by_key(std::fs::DirEntry::path);
    for source in sources {
        let Ok(text) = std::fs::read_to_string(source.path()) else {
            continue;
        };
        all.extend(go_samples(scanner, &text, &rules));
    }
    all
}

/// The texts of a source of gitleaks that one of the rules in it finds.
fn go_samples(scanner: &'static str, source: &str, rules: &[(String, String)]) -> Vec<Sample> {
    let names = go::names(source);
    let named: Vec<(&String, Regex)> = rules
        .iter()
        .filter(|(id, _)| source.contains(&format!("\"{id}\"")))
        .filter_map(|(id, regex)| Some((id, Regex::new(regex).ok()?)))
        .collect();
    let mut all = Vec::new();
    for part in source.split("tps").skip(1) {
        // Behind `append(tps, ...)` without a list the next one is that of texts which hold no secret.
        let list = part.split_once("[]string{");
        let Some((_, list)) = list.filter(|(head, _)| !head.contains('\n')) else {
            continue;
        };
        for text in Reader::new(list, &names).list() {
            for (id, regex) in &named {
                let found = regex.captures(&text).and_then(|all| all.get(1));
                all.extend(
                    found.map(|found| Sample::new(scanner, id, found.as_str(), Some(text.clone()))),
                );
            }
        }
    }
    all
}

/// The first group of an expression that keeps what it finds.
fn first_group(regex: &str) -> Option<String> {
    let bytes = regex.as_bytes();
    let (mut escaped, mut class, mut begin, mut depth) = (false, false, None, 0_usize);
    for (at, byte) in bytes.iter().enumerate() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match byte {
            b'\\' => escaped = true,
            b'[' => class = true,
            b']' => class = false,
            b'(' if !class && begin.is_none() && bytes.get(at + 1) != Some(&b'?') => {
                begin = Some(at + 1)
            }
            b'(' if !class && begin.is_some() => depth += 1,
            b')' if !class && begin.is_some() && depth > 0 => depth -= 1,
            b')' if !class && begin.is_some() => return Some(regex[begin?..at].to_owned()),
            _ => {}
        }
    }
    None
}

/// How many letters an expression begins with that are always the same.
fn literal(regex: &str) -> usize {
    let rest = regex.trim_start_matches("(?i)").trim_start_matches("(?:");
    let plain = rest
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte))
        .count();
    plain - usize::from(rest[plain..].starts_with(['{', '?', '*', '|']) && plain > 0)
}

/// Texts that an expression describes, the same in every run: of every class each letter is as likely as any other.
fn made(regex: &str) -> Vec<String> {
    let plain = regex.replace("(?i)", "").replace("\\b", "");
    let mut parser = regex_syntax::ParserBuilder::new()
        .unicode(false)
        .utf8(false)
        .build();
    let Ok(expression) = parser.parse(&plain) else {
        return Vec::new();
    };
    let mut state = plain
        .bytes()
        .fold(7_u64, |state, byte| mixed(state ^ u64::from(byte)));
    (0..MADE)
        .map(|_| {
            let mut text = String::new();
            make(&expression, &mut state, &mut text);
            text
        })
        .collect()
}

pub(crate) fn mixed(state: u64) -> u64 {
    let mut mixed = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ (mixed >> 27)
}

pub(crate) fn below(state: &mut u64, end: usize) -> usize {
    *state = mixed(*state);
    usize::try_from((*state >> 11) % end.max(1) as u64).unwrap_or(0)
}

/// Where an expression sets no upper bound, so many more at most.
const MORE: u32 = 12;

/// A text that an expression describes, the same in every run.
pub(crate) fn drawn_from(expression: &Hir, turn: u64) -> String {
    let mut state = expression
        .to_string()
        .bytes()
        .fold(mixed(turn), |state, byte| mixed(state ^ u64::from(byte)));
    let mut text = String::new();
    make(expression, &mut state, &mut text);
    text
}

fn make(expression: &Hir, state: &mut u64, text: &mut String) {
    match expression.kind() {
        HirKind::Literal(literal) => text.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(class) => {
            let letters: Vec<char> = ('!'..='~').filter(|letter| holds(class, *letter)).collect();
            text.extend(letters.get(below(state, letters.len())));
        }
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(repetition.min + MORE).min(200);
            let spread = usize::try_from(most.saturating_sub(repetition.min)).unwrap_or(0);
            let least = usize::try_from(repetition.min).unwrap_or(0);
            for _ in 0..least + below(state, spread + 1) {
                make(&repetition.sub, state, text);
            }
        }
        HirKind::Capture(capture) => make(&capture.sub, state, text),
        HirKind::Concat(parts) => parts.iter().for_each(|part| make(part, state, text)),
        HirKind::Alternation(parts) => make(&parts[below(state, parts.len())], state, text),
        HirKind::Empty | HirKind::Look(_) => {}
    }
}

fn holds(class: &Class, letter: char) -> bool {
    match class {
        Class::Unicode(class) => class
            .iter()
            .any(|range| (range.start()..=range.end()).contains(&letter)),
        Class::Bytes(class) => u8::try_from(letter).is_ok_and(|letter| {
            class
                .iter()
                .any(|range| (range.start()..=range.end()).contains(&letter))
        }),
    }
}

/// The texts that a plug-in has to find: `'text', True` and `('text', True)`.
pub(crate) fn detect_secrets(source: &str, rule: &str) -> Vec<Sample> {
    let literal = r#"(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)")\s*,\s*True\b"#;
    let Ok(regex) = Regex::new(literal) else {
        return Vec::new();
    };
    regex
        .captures_iter(source)
        .filter_map(|found| found.get(1).or(found.get(2)))
        .filter_map(|found| {
            let text = found.as_str().replace("\\'", "'").replace("\\\"", "\"");
            let token = |c: char| !c.is_ascii_alphanumeric() && !"+/=_.~-".contains(c);
            let secret = text.split(token).max_by_key(|part| part.len())?;
            Some(Sample::new(
                "detect-secrets",
                rule,
                secret,
                Some(text.clone()),
            ))
        })
        .collect()
}

/// The examples of a file of rules of noseyparker or of a scanner in its form, with what the rule's first group finds in
/// them.
pub(crate) fn noseyparker(scanner: &'static str, text: &str, rule: &str) -> Vec<Sample> {
    let Ok(file) = serde_saphyr::from_str::<Value>(text) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for entry in file["rules"].as_array().into_iter().flatten() {
        let Some(regex) = entry["pattern"]
            .as_str()
            .and_then(|text| Regex::new(text).ok())
        else {
            continue;
        };
        for example in entry["examples"].as_array().into_iter().flatten() {
            let Some(example) = example.as_str() else {
                continue;
            };
            let Some(found) = regex.captures(example) else {
                continue;
            };
            let group = found
                .name("token")
                .or_else(|| found.name("TOKEN"))
                .or_else(|| found.iter().skip(1).flatten().last());
            let secret = group.or(found.get(0)).map_or("", |group| group.as_str());
            all.push(Sample::new(scanner, rule, secret, Some(example.to_owned())));
        }
    }
    all
}

/// What a rule of secretlint says about one text.
pub(crate) fn secretlint(text: &str, rule: &str) -> Vec<Sample> {
    let Ok(output) = serde_json::from_str::<Value>(text) else {
        return Vec::new();
    };
    let source = output["sourceContent"].as_str().unwrap_or_default();
    let mut all = Vec::new();
    for message in output["messages"].as_array().into_iter().flatten() {
        let at =
            |end: usize| usize::try_from(message["range"][end].as_u64().unwrap_or(0)).unwrap_or(0);
        if let Some(secret) = source.get(at(0)..at(1)) {
            all.push(Sample::new(
                "secretlint",
                rule,
                secret,
                Some(source.to_owned()),
            ));
        }
    }
    all
}
