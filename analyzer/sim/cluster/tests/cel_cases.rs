//! Kubernetes' own cases of device selectors over ours.
//!
//! They are not kept here: `CASEFILE_CEL_CASES` names a copy of `cel/compile_test.go` of `k8s.io/dynamic-resource-allocation`.
//! `-- --nocapture` prints the counts and each case that differs.

#![expect(
    clippy::unwrap_used,
    reason = "a test stops where its material is not as it should be, and prints what it did"
)]

use std::collections::BTreeMap;

use casefile_sim_cluster::scheduling::cel::{Attributes, Program, Stop, Value, Version};
use casefile_sim_cluster::scheduling::quantity::Quantity;
use regex::Regex;

/// What the real compiler and evaluator do.
#[derive(Debug, PartialEq)]
enum Outcome {
    Matches(bool),
    Fails,
}

struct Case {
    name: String,
    expression: String,
    device: Value,
    wanted: Outcome,
}

fn captured<'a>(body: &'a str, pattern: &str) -> Option<&'a str> {
    let found = Regex::new(pattern).unwrap().captures(body)?;
    Some(found.iter().skip(1).flatten().next()?.as_str())
}

fn strings(list: &str) -> Vec<String> {
    let quoted = Regex::new(r#""([^"]*)""#).unwrap();
    quoted
        .captures_iter(list)
        .map(|found| found[1].to_owned())
        .collect()
}

/// The value of a Go literal `{IntValue: ptr.To(int64(1))}` or `{StringValues: []string{"a"}}`.
fn value(kind: &str, literal: &str) -> Option<Value> {
    let version = |text: &String| Value::Version(Version::parse(text).unwrap());
    let numbers = || literal.split(|c: char| !c.is_ascii_digit() && c != '-');
    let ints = || {
        let inside = literal.split('{').nth(1).unwrap_or(literal);
        let inside = inside.strip_prefix("int64").unwrap_or(inside);
        inside
            .split(',')
            .filter_map(|one| one.trim().trim_end_matches('}').parse().ok())
            .map(Value::Int)
            .collect()
    };
    Some(match kind {
        "BoolValue" => Value::Bool(literal.contains("true")),
        "IntValue" => Value::Int(numbers().filter_map(|one| one.parse().ok()).next_back()?),
        "StringValue" => Value::Text(strings(literal).first()?.clone()),
        "VersionValue" => version(strings(literal).first()?),
        "StringValues" => Value::list(strings(literal).into_iter().map(Value::Text).collect()),
        "VersionValues" => Value::list(strings(literal).iter().map(version).collect()),
        "IntValues" => Value::list(ints()),
        "BoolValues" => {
            let words = literal.split(|c: char| !c.is_alphanumeric());
            let words = words.filter_map(|word| word.parse().ok());
            Value::list(words.map(Value::Bool).collect())
        }
        _ => return None,
    })
}

fn device(body: &str) -> Value {
    let driver = captured(body, r#"driver:\s+"([^"]*)""#).unwrap_or_default();
    let shared = body.contains("allowMultipleAllocations: ptr.To(true)");
    let mut attributes: BTreeMap<String, Attributes> = BTreeMap::new();
    let mut capacity: BTreeMap<String, Attributes> = BTreeMap::new();
    let qualified = |name: &str| match name.split_once('/') {
        Some((domain, name)) => (domain.to_owned(), name.to_owned()),
        None => (driver.to_owned(), name.to_owned()),
    };
    let one = Regex::new(r#""([\w./-]+)":\s+\{(\w+Values?): ([^\n]*?\)|[^\n]*?\})\}"#).unwrap();
    for found in one.captures_iter(body) {
        let (domain, name) = qualified(&found[1]);
        if let Some(value) = value(&found[2], &found[3]) {
            attributes.entry(domain).or_default().insert(name, value);
        }
    }
    let one = Regex::new(r#""([\w./-]+)":\s+\{Value: resource.MustParse\("([^"]+)"\)\}"#).unwrap();
    for found in one.captures_iter(body) {
        let (domain, name) = qualified(&found[1]);
        let value = Value::Quantity(Quantity::parse(&found[2]).unwrap());
        capacity.entry(domain).or_default().insert(name, value);
    }
    Value::device(driver, shared, attributes, capacity)
}

/// The cases of the file. Left out are those that build their device in a loop, and those on features that are off in
/// stored expressions: they never reach a scheduler.
fn cases(text: &str) -> (Vec<Case>, usize) {
    let case = Regex::new(r#"(?ms)^\t"([\w-]+)": \{\n(.*?)^\t\},"#).unwrap();
    let holds = Regex::new(r"expectMatch:\s+true").unwrap();
    let mut left = 0;
    let mut found = Vec::new();
    for one in case.captures_iter(text) {
        let body = &one[2];
        let expression = captured(body, r"(?s)expression:\s+(?:`(.*?)`|\x22([^\x22]*)\x22)");
        let (true, Some(expression)) = (
            !body.contains("func()") && !body.contains("NewExpressions"),
            expression,
        ) else {
            left += 1;
            continue;
        };
        let fails = body.contains("expectCompileError:") || body.contains("expectMatchError:");
        let wanted = match fails {
            true => Outcome::Fails,
            false => Outcome::Matches(holds.is_match(body)),
        };
        found.push(Case {
            name: one[1].to_owned(),
            expression: expression.to_owned(),
            device: device(body),
            wanted,
        });
    }
    (found, left)
}

#[test]
fn kubernetes_own_cases_give_the_same_answers() {
    let Some(file) = std::env::var_os("CASEFILE_CEL_CASES") else {
        eprintln!(
            "skipped: kubernetes_own_cases_give_the_same_answers: CASEFILE_CEL_CASES names no file"
        );
        return;
    };
    let (cases, left) = cases(&std::fs::read_to_string(file).unwrap());
    assert!(cases.len() > 20, "only {} cases were read", cases.len());
    let mut equal = 0;
    let mut open = Vec::new();
    let mut different = Vec::new();
    for case in &cases {
        let got = Program::read(&case.expression)
            .map_err(Stop::Error)
            .and_then(|program| program.matches(&case.device));
        match (&got, &case.wanted) {
            (Ok(answer), Outcome::Matches(wanted)) if answer == wanted => equal += 1,
            (Err(Stop::Error(_)), Outcome::Fails) => equal += 1,
            (Err(Stop::Open(_)), _) => open.push(&case.name),
            _ => different.push(format!("{}: {} gives {got:?}", case.name, case.expression)),
        }
    }
    eprintln!(
        "{} cases: {equal} equal, {} open {open:?}, {} different; {left} left out",
        cases.len(),
        open.len(),
        different.len()
    );
    assert!(different.is_empty(), "{different:#?}");
}
