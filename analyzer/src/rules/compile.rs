//! From a rule as written to a rule that cannot fail at run time: everything is checked here.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::Value;

use super::file::{Group, Kind, RuleFile, Signal};
use super::template;
use crate::facts::KINDS;
use crate::fix::change::Change;
use crate::scan::literals;
use crate::scan::patterns::{Expression, LinePattern};
use crate::sources;

/// A rule file that cannot be used, and why.
#[derive(Debug, thiserror::Error)]
#[error("rule file {file}: {what}")]
pub struct RuleError {
    /// The file.
    pub file: String,
    /// What is wrong with it, with the line where the parser names one.
    pub what: String,
}

/// One test of a field.
#[derive(Debug, Clone)]
pub enum Test {
    /// Equal to this value.
    Equals(Value),
    /// Equal to one of these.
    In(Vec<Value>),
    /// A text that matches.
    Matches(Regex),
    /// A number greater than this.
    Greater(f64),
    /// A number less than this.
    Less(f64),
    /// Absent, null or empty.
    Missing(bool),
    /// A list that holds this value, or a map that has this key.
    Has(Value),
    /// Not so.
    Not(Box<Test>),
}

/// What a compiled signal looks for.
#[derive(Debug, Clone)]
pub enum Look {
    /// Facts of a kind.
    Fact {
        /// Kind.
        kind: String,
        /// Tests, all of which must hold.
        tests: Vec<(String, Test)>,
    },
    /// Lines; the number is the index of the pattern in the set.
    Line(usize),
}

/// A compiled rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// As written.
    pub file: RuleFile,
    /// What each signal looks for.
    pub looks: BTreeMap<String, Look>,
}

/// A set of rules and the patterns that they look for.
pub struct RuleSet {
    /// Rules, sorted by id.
    pub rules: Vec<Rule>,
    /// Line patterns, in the order of their indices.
    pub patterns: Vec<LinePattern>,
    /// SHA-256 over names and texts of all files, in hexadecimal: says which rules judged.
    pub digest: String,
}

/// How far a rule file is checked before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// It ships with the analyzer: the tests have checked it, and starting must not wait for it.
    Shipped,
    /// It comes from outside.
    Foreign,
}

/// Reads and checks one rule file; `patterns` receives its line patterns.
pub fn compile(
    name: &str,
    text: &str,
    trust: Trust,
    patterns: &mut Vec<LinePattern>,
) -> Result<Rule, RuleError> {
    let fail = |what: String| RuleError {
        file: name.to_owned(),
        what,
    };
    let file: RuleFile = serde_saphyr::from_str(text).map_err(|error| fail(error.to_string()))?;
    if trust == Trust::Foreign {
        check(name, &file).map_err(fail)?;
    }
    let mut looks = BTreeMap::new();
    for (id, signal) in &file.signals {
        let in_signal = |what: String| fail(format!("signal {id}: {what}"));
        looks.insert(id.clone(), look(signal, patterns).map_err(in_signal)?);
    }
    Ok(Rule { file, looks })
}

/// Checks all that could go wrong later.
fn check(name: &str, file: &RuleFile) -> Result<(), String> {
    check_names(name, file)?;
    let mut fields: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (id, signal) in &file.signals {
        let in_signal = |what: String| format!("signal {id}: {what}");
        let names = names_of(signal).map_err(in_signal)?;
        check_template(&signal.says, |name| names.iter().any(|known| known == name))
            .map_err(in_signal)?;
        fields.insert(id, names);
    }
    check_texts(file, &fields)
}

/// Checks what a signal looks for; gives the names that its sentence may use.
fn names_of(signal: &Signal) -> Result<Vec<String>, String> {
    match (&signal.fact, &signal.line) {
        (Some(kind), None) => fact_names(kind, signal),
        (None, Some(line)) => line_names(line, signal),
        _ => Err("give either fact or line".into()),
    }
}

fn check_names(name: &str, file: &RuleFile) -> Result<(), String> {
    let stem = name
        .rsplit('/')
        .next()
        .unwrap_or(name)
        .trim_end_matches(".yaml");
    if file.id != stem {
        return Err(format!(
            "id {:?} must be the file's name, {stem:?}",
            file.id
        ));
    }
    if !template::names(&file.title).is_empty() {
        return Err(
            "title must hold without facts; put the sentence with {signal.field} under headline"
                .into(),
        );
    }
    for need in &file.needs {
        if sources::find(need).is_none() {
            let known: Vec<&str> = sources::SOURCES.iter().map(|source| source.id).collect();
            return Err(format!(
                "needs unknown source {need:?}; known: {}",
                known.join(", ")
            ));
        }
    }
    let groups = [
        &file.confirmed,
        &file.likely,
        &file.possible,
        &file.ruled_out,
    ];
    for group in groups.into_iter().flatten() {
        for signal in group.all.iter().chain(&group.any).chain(&group.none) {
            known_signal(file, signal)?;
        }
        if group.all.is_empty() && group.any.is_empty() {
            return Err("a group needs at least one signal under all or any: \
                        what is not seen proves nothing"
                .into());
        }
    }
    for signal in file
        .symptoms
        .iter()
        .chain(file.observations.iter().flat_map(|o| &o.shows))
    {
        known_signal(file, signal)?;
    }
    if file.kind == Kind::Cause
        && file.confirmed.is_empty()
        && file.likely.is_empty()
        && file.possible.is_empty()
    {
        return Err("no group under confirmed, likely or possible: it could never fire".into());
    }
    Ok(())
}

fn known_signal(file: &RuleFile, signal: &str) -> Result<(), String> {
    if file.signals.contains_key(signal) {
        return Ok(());
    }
    let known: Vec<&str> = file.signals.keys().map(String::as_str).collect();
    Err(format!(
        "unknown signal {signal:?}; the file defines: {}",
        known.join(", ")
    ))
}

/// Compiles what a signal looks for.
fn look(signal: &Signal, patterns: &mut Vec<LinePattern>) -> Result<Look, String> {
    match (&signal.fact, &signal.line) {
        (Some(kind), None) => fact_look(kind, signal),
        (None, Some(line)) => {
            patterns.push(LinePattern {
                regex: Expression::new(line),
                channels: signal.channels.clone(),
                speaker: signal.speaker.as_deref().map(regex).transpose()?,
            });
            Ok(Look::Line(patterns.len() - 1))
        }
        _ => Err("give either fact or line".into()),
    }
}

fn fact_look(kind: &str, signal: &Signal) -> Result<Look, String> {
    let mut tests = Vec::new();
    for (field, condition) in &signal.conditions {
        for test in field_tests(condition).map_err(|what| format!("field {field}: {what}"))? {
            tests.push((field.clone(), test));
        }
    }
    Ok(Look::Fact {
        kind: kind.to_owned(),
        tests,
    })
}

fn fact_names(kind: &str, signal: &Signal) -> Result<Vec<String>, String> {
    let Some(info) = KINDS.iter().find(|info| info.kind == kind) else {
        let known: Vec<&str> = KINDS.iter().map(|info| info.kind).collect();
        return Err(format!(
            "unknown fact {kind:?}; known: {}",
            known.join(", ")
        ));
    };
    for field in signal.conditions.keys() {
        // `conditions.Ready` is the entry `Ready` of the map `conditions`.
        let name = field.split('.').next().unwrap_or(field);
        if !info.fields.iter().any(|known| known.name == name) {
            let known: Vec<&str> = info.fields.iter().map(|field| field.name).collect();
            return Err(format!(
                "fact {kind} has no field {field:?}; it has: {}",
                known.join(", ")
            ));
        }
    }
    let mut names: Vec<String> = info
        .fields
        .iter()
        .map(|field| field.name.to_owned())
        .collect();
    names.extend(["subject", "host_file"].map(str::to_owned));
    Ok(names)
}

fn line_names(line: &str, signal: &Signal) -> Result<Vec<String>, String> {
    if literals::required(line).is_none() {
        return Err(format!(
            "expression {line:?} has no text of {} or more characters that every match contains; \
             it would be tried on every line of every log",
            literals::MIN_LITERAL
        ));
    }
    if !signal.conditions.is_empty() {
        return Err("where belongs to fact; a line is tested by its expression".into());
    }
    let regex = regex(line)?;
    let mut names: Vec<String> = regex.capture_names().flatten().map(str::to_owned).collect();
    names.extend(["subject", "speaker", "line", "host_file"].map(str::to_owned));
    Ok(names)
}

fn field_tests(condition: &Value) -> Result<Vec<Test>, String> {
    let Value::Object(map) = condition else {
        return Ok(vec![Test::Equals(condition.clone())]);
    };
    map.iter()
        .map(|(name, value)| field_test(name, value))
        .collect()
}

fn field_test(name: &str, value: &Value) -> Result<Test, String> {
    let number = || {
        value
            .as_f64()
            .ok_or_else(|| format!("{name} needs a number"))
    };
    Ok(match name {
        "eq" => Test::Equals(value.clone()),
        "in" => Test::In(value.as_array().cloned().ok_or("in needs a list")?),
        "matches" => Test::Matches(regex(value.as_str().ok_or("matches needs a text")?)?),
        "gt" => Test::Greater(number()?),
        "lt" => Test::Less(number()?),
        "missing" => Test::Missing(value.as_bool().ok_or("missing needs true or false")?),
        "has" => Test::Has(value.clone()),
        "not" => {
            let mut inner = field_tests(value)?;
            match (inner.pop(), inner.is_empty()) {
                (Some(test), true) => Test::Not(Box::new(test)),
                _ => return Err("not takes exactly one test".into()),
            }
        }
        _ => {
            return Err(format!(
                "unknown test {name:?}; known: eq, in, matches, gt, lt, missing, has, not"
            ));
        }
    })
}

fn regex(expression: &str) -> Result<Regex, String> {
    Regex::new(expression).map_err(|error| format!("expression does not compile: {error}"))
}

fn check_template(text: &str, known: impl Fn(&str) -> bool) -> Result<(), String> {
    match template::names(text).into_iter().find(|name| !known(name)) {
        Some(name) => Err(format!("{{{name}}} is not known here, in: {text:?}")),
        None => Ok(()),
    }
}

fn check_texts(file: &RuleFile, fields: &BTreeMap<&str, Vec<String>>) -> Result<(), String> {
    let known = |name: &str| {
        name.split_once('.').is_some_and(|(signal, field)| {
            fields
                .get(signal)
                .is_some_and(|names| names.iter().any(|known| known == field))
        })
    };
    let remedy = &file.remedy;
    let mut texts: Vec<&str> = vec![&file.summary, &file.explanation, &remedy.title];
    texts.extend(file.headline.as_deref());
    texts.extend(file.chain.iter().flatten().map(String::as_str));
    texts.extend(
        file.observations
            .iter()
            .flat_map(|one| [&*one.ask, &*one.run, &*one.so]),
    );
    for step in remedy.steps.iter().chain(&remedy.verify) {
        texts.push(&step.text);
        texts.extend(step.run.as_deref());
        texts.extend(step.expect.as_deref());
    }
    texts.extend(remedy.files.iter().map(|one| one.content.as_str()));
    texts.extend(
        remedy
            .mitigate
            .iter()
            .chain(&remedy.prevent)
            .map(String::as_str),
    );
    texts
        .into_iter()
        .try_for_each(|text| check_template(text, known))?;
    let changes = remedy.changes.iter().flat_map(Change::texts);
    changes
        .into_iter()
        .try_for_each(|text| check_template(&text, known))
}

/// Whether a group holds, given which signals were seen.
pub fn holds(group: &Group, seen: impl Fn(&str) -> bool) -> bool {
    group.all.iter().all(|signal| seen(signal))
        && (group.any.is_empty() || group.any.iter().any(|signal| seen(signal)))
        && !group.none.iter().any(|signal| seen(signal))
}
