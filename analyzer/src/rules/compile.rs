//! From a rule as written to a rule that cannot fail at run time: everything is checked here.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::Value;

use super::check;
use super::examples::Examples;
use super::file::{RuleFile, Signal};
use super::messages::Vocabulary;
use super::position::{Position, locate};
use super::short;
use crate::scan::patterns::{Expression, LinePattern};
use crate::shipped;

/// A rule file that cannot be used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleError {
    /// The file.
    pub file: String,
    /// Where in it.
    pub at: Option<Position>,
    /// What is wrong with it.
    pub what: String,
}

impl std::error::Error for RuleError {}

impl std::fmt::Display for RuleError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.at {
            Some(at) => write!(f, "{}:{}:{}: {}", self.file, at.line, at.column, self.what),
            None => write!(f, "{}: {}", self.file, self.what),
        }
    }
}

/// One test of a field.
#[derive(Debug, Clone)]
pub enum Test {
    /// Equal to this value.
    Equals(Value),
    /// Equal to one of these.
    In(Vec<Value>),
    /// A text that matches.
    Matches(Expression),
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

impl Test {
    /// The expression that a text has to match, or must not.
    pub(super) fn expression(&self) -> Option<&str> {
        match self {
            Self::Matches(expression) => Some(expression.as_str()),
            Self::Not(test) => test.expression(),
            _ => None,
        }
    }
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
    /// What components say.
    pub vocabulary: Vocabulary,
    /// SHA-256 of all rule files, which names this set in reports.
    pub digest: String,
}

impl RuleSet {
    /// The expressions that facts are tested with.
    pub fn tests(&self) -> Vec<String> {
        let looks = self.rules.iter().flat_map(|rule| rule.looks.values());
        let tests = looks.filter_map(|look| match look {
            Look::Fact { tests, .. } => Some(tests),
            Look::Line(_) => None,
        });
        let expressions = tests.flatten().filter_map(|(_, test)| match test {
            Test::Matches(expression) => Some(expression.as_str().to_owned()),
            _ => None,
        });
        expressions.collect()
    }
}

/// How far a rule file is checked before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// It ships with the analyzer: the tests have checked it, and starting must not wait for it.
    Shipped,
    /// It comes from outside.
    Foreign,
}

/// Compiles a rule file that ships with the analyzer, as it was read from JSON where that says the same as its text: it is
/// read many times faster than YAML.
pub(super) fn shipped(
    (name, text, _, examples): &shipped::File,
    read: Option<RuleFile>,
    vocabulary: &Vocabulary,
    patterns: &mut Vec<LinePattern>,
) -> Result<Rule, Vec<RuleError>> {
    match read {
        Some(file) => {
            let mut file = short::named(name, file);
            file.examples = Examples::shipped(text, examples);
            compiled(name, text, file, vocabulary, patterns)
        }
        None => compile(name, text, Trust::Shipped, vocabulary, patterns),
    }
}

/// Reads and checks one rule file; `patterns` receives its line patterns. Says everything that is wrong.
pub fn compile(
    name: &str,
    text: &str,
    trust: Trust,
    vocabulary: &Vocabulary,
    patterns: &mut Vec<LinePattern>,
) -> Result<Rule, Vec<RuleError>> {
    compiled(name, text, read(name, text, trust)?, vocabulary, patterns)
}

/// Reads a rule file, and checks one from outside. Says everything that is wrong.
pub(super) fn read(name: &str, text: &str, trust: Trust) -> Result<RuleFile, Vec<RuleError>> {
    let file = serde_saphyr::from_str(text).map_err(|error| vec![unread(name, &error)])?;
    let file = short::named(name, file);
    let faults = match trust {
        Trust::Shipped => Vec::new(),
        Trust::Foreign => check::check(name, text, &file),
    };
    if faults.is_empty() {
        Ok(file)
    } else {
        Err(faults)
    }
}

/// Compiles a rule file that was read; `patterns` receives its line patterns.
pub(super) fn compiled(
    name: &str,
    text: &str,
    file: RuleFile,
    vocabulary: &Vocabulary,
    patterns: &mut Vec<LinePattern>,
) -> Result<Rule, Vec<RuleError>> {
    let mut looks = BTreeMap::new();
    for (id, signal) in &file.signals {
        let fail = |what: String| {
            vec![RuleError {
                file: name.to_owned(),
                at: Some(locate(text, &["signals", id], "")),
                what: format!("signal {id}: {what}"),
            }]
        };
        looks.insert(
            id.clone(),
            look(signal, vocabulary, patterns).map_err(fail)?,
        );
    }
    Ok(Rule { file, looks })
}

/// What the YAML parser says, without its drawing of the lines around.
fn unread(name: &str, error: &serde_saphyr::Error) -> RuleError {
    let text = error.without_snippet().to_string();
    RuleError {
        file: name.to_owned(),
        at: error.location().map(|at| Position {
            line: at.line(),
            column: at.column(),
        }),
        what: text.lines().next().unwrap_or("not valid YAML").to_owned(),
    }
}

/// Compiles what a signal looks for.
fn look(
    signal: &Signal,
    vocabulary: &Vocabulary,
    patterns: &mut Vec<LinePattern>,
) -> Result<Look, String> {
    match (&signal.fact, &signal.line, &signal.message) {
        (Some(kind), None, None) => fact_look(kind, signal),
        (None, None, Some(name)) => {
            let mut pattern = vocabulary.pattern(name)?;
            if !signal.channels.is_empty() {
                pattern.channels.clone_from(&signal.channels);
            }
            patterns.push(pattern);
            Ok(Look::Line(patterns.len() - 1))
        }
        (None, Some(line), None) => {
            patterns.push(LinePattern {
                regex: Expression::new(line),
                channels: signal.channels.clone(),
                speaker: signal.speaker.as_deref().map(Expression::new),
                nature: None,
            });
            Ok(Look::Line(patterns.len() - 1))
        }
        _ => Err("give one of fact, line and message".into()),
    }
}

fn fact_look(kind: &str, signal: &Signal) -> Result<Look, String> {
    let mut tests = Vec::new();
    for (field, condition) in &signal.conditions {
        for test in field_tests(condition).map_err(|what| format!("field {field}: {what}"))? {
            tests.push((field.clone(), test));
        }
    }
    // What is known of a field at once decides before any expression is tried.
    tests.sort_by_key(|(_, test)| test.expression().is_some());
    Ok(Look::Fact {
        kind: kind.to_owned(),
        tests,
    })
}

pub(super) fn field_tests(condition: &Value) -> Result<Vec<Test>, String> {
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
        "matches" => Test::Matches(Expression::new(
            value.as_str().ok_or("matches needs a text")?,
        )),
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

pub(super) fn regex(expression: &str) -> Result<Regex, String> {
    Regex::new(expression).map_err(|error| format!("expression does not compile: {error}"))
}
