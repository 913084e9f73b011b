//! The diagnosis as SARIF 2.1.0, for code scanning and dashboards that read it.

use serde_json::{Value, json};

use super::{RenderError, escape, json as report_json, words};
use crate::model::{Analysis, Considered, Evidence, Place, Severity, Verdict};

/// The schema's own address.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The diagnosis: a result a cause, failing ones first; what was ruled out passes, what was not checked is open.
pub(crate) fn render(analysis: &Analysis) -> Result<String, RenderError> {
    let rules: Vec<Value> = analysis.differential.iter().map(rule).collect();
    let index = |cause: &str| {
        analysis
            .differential
            .iter()
            .position(|one| one.cause == cause)
    };
    let results: Vec<Value> = analysis
        .differential
        .iter()
        .map(|one| result(analysis, one, index(&one.cause)))
        .collect();
    let problems: Vec<Value> = analysis
        .problems
        .iter()
        .map(|problem| {
            let mut note = json!({
                "level": "warning",
                "message": {"text": message(&problem.text)},
            });
            if !problem.place.path.is_empty() {
                note["locations"] = json!([location(&problem.place, None)]);
            }
            note
        })
        .collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "casefile-analyzer",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": problems,
            }],
            "properties": {
                "input": analysis.input.name,
                "referenceTime": analysis.reference_time,
            },
            "results": results,
        }],
    });
    report_json::pretty(&log)
}

fn rule(cause: &Considered) -> Value {
    let title = if cause.title.trim().is_empty() {
        &cause.cause
    } else {
        &cause.title
    };
    json!({
        "id": cause.cause,
        "shortDescription": {"text": message(title)},
    })
}

fn result(analysis: &Analysis, cause: &Considered, index: Option<usize>) -> Value {
    let incident = analysis
        .incidents
        .iter()
        .find(|one| one.cause == cause.cause);
    let (kind, level) = match (cause.verdict, incident.map(|one| one.severity)) {
        (Verdict::RuledOut | Verdict::Past, _) => ("pass", "none"),
        (Verdict::NotChecked, _) => ("open", "none"),
        (Verdict::Possible, _) => ("review", "none"),
        (_, Some(Severity::Critical | Severity::High)) => ("fail", "error"),
        (_, Some(Severity::Low)) => ("fail", "note"),
        _ => ("fail", "warning"),
    };
    let text = match incident {
        Some(one) => words::summary(one),
        None => words::sentence(&cause.why),
    };
    let text = if text.trim().is_empty() {
        cause.verdict.word().to_owned()
    } else {
        text
    };
    let mut result = json!({
        "ruleId": cause.cause,
        "kind": kind,
        "level": level,
        "message": {"text": message(&text)},
        "properties": {"verdict": cause.verdict.word()},
    });
    if let Some(index) = index {
        result["ruleIndex"] = json!(index);
    }
    let lines: &[Evidence] = incident.map_or(&[], |one| &one.evidence);
    match (lines.first(), &cause.place) {
        (Some(line), _) => result["locations"] = json!([located(line)]),
        (None, Some(place)) => result["locations"] = json!([location(place, None)]),
        (None, None) => {}
    }
    if lines.len() > 1 {
        result["relatedLocations"] = lines[1..].iter().map(located).collect();
    }
    result
}

fn located(line: &Evidence) -> Value {
    let mut location = location(&line.place, Some(&line.text));
    if !line.says.trim().is_empty() {
        location["message"] = json!({"text": message(&line.says)});
    }
    location
}

fn location(place: &Place, text: Option<&str>) -> Value {
    let mut physical = json!({"artifactLocation": {"uri": uri(&place.path)}});
    if let Some(line) = place.line.filter(|line| *line > 0) {
        physical["region"] = json!({"startLine": line});
        if let Some(text) = text {
            physical["region"]["snippet"] = json!({"text": text});
        }
    }
    json!({"physicalLocation": physical})
}

/// A path as a relative URI reference.
fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            for digit in [byte >> 4, byte & 15] {
                out.push(
                    char::from_digit(u32::from(digit), 16)
                        .unwrap_or('0')
                        .to_ascii_uppercase(),
                );
            }
        }
    }
    out
}

/// A plain text message: brackets would be read as a link, braces as a placeholder.
fn message(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in escape::one_line(text).trim().chars() {
        match c {
            '[' | ']' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '{' | '}' => {
                out.push(c);
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    if out.is_empty() {
        "(empty)".to_owned()
    } else {
        out
    }
}
