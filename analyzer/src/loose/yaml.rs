//! YAML: Kubernetes objects, values of the GPU Operator's chart, and messages that are folded over lines.

use serde_json::Value;

use super::dedent::{dedent, indent_of};
use super::split::Section;
use super::{Taken, What};
use crate::form::Form;
use crate::layouts::yaml_value;

static KEY: Form = Form::new(r#"^\s*(?:- )*["']?[\w./$-]+["']?\s*:(?:\s|$)"#);
static FOLDED: Form =
    Form::new(r#"^\s*(?:- )?["']?(?:message|Message|error|note|lastError)["']?\s*:\s+\S"#);

/// Whether a line may be part of a YAML text whose keys stand at this indentation.
fn belongs(line: &str, base: usize) -> bool {
    let start = line.trim_start();
    if start.is_empty() || start.starts_with('#') {
        return true;
    }
    let indent = indent_of(line);
    indent > base
        || (indent == base
            && !start.starts_with("---")
            && (start.starts_with("- ") || is_key(line)))
}

fn is_key(line: &str) -> bool {
    KEY.is_match(line)
}

/// Lines of the YAML text that starts here.
fn extent(section: &Section<'_>, at: usize) -> usize {
    let base = indent_of(section.line(at));
    let lines = section.run(at, |line| belongs(line, base));
    // Blank lines and comments at the end belong to what follows.
    let used = section.range(at, at + lines);
    let tail = used
        .iter()
        .rev()
        .take_while(|line| line.trim().is_empty())
        .count();
    lines - tail
}

/// Takes Kubernetes objects: `kubectl get -o yaml`, manifests.
pub(super) fn objects(section: &Section<'_>, at: usize) -> Taken {
    let line = section.line(at).trim_start();
    if !line.starts_with("apiVersion:") && !line.starts_with("- apiVersion:") {
        return Taken::No;
    }
    let lines = extent(section, at);
    let text = dedent(&section.range(at, at + lines));
    let Ok(mut value) = yaml_value(&text) else {
        return Taken::Refused(1);
    };
    if value.get("kind").and_then(Value::as_str) == Some("KubeletConfiguration") {
        return Taken::one(What::Entry(super::host::KUBELET_CONFIG.into()), lines);
    }
    let items = match &mut value {
        Value::Array(items) => Some(std::mem::take(items)),
        object => match object.get_mut("items") {
            Some(Value::Array(items)) => Some(std::mem::take(items)),
            _ => None,
        },
    };
    let found = match items {
        Some(items) => {
            let starts = item_lines(&text).into_iter().chain(std::iter::repeat(0));
            let items = items.into_iter().zip(starts);
            items.map(|(item, at)| (What::Object(item), at)).collect()
        }
        None => vec![(What::Object(value), 0)],
    };
    Taken::Found(found, lines)
}

/// The lines at which the items of a list start, from 0.
fn item_lines(text: &str) -> Vec<usize> {
    let mut indent = None;
    let mut starts = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if !line.trim_start().starts_with("- apiVersion:") {
            continue;
        }
        if *indent.get_or_insert(indent_of(line)) == indent_of(line) {
            starts.push(number);
        }
    }
    starts
}

/// Takes values of the GPU Operator's chart: told by a `toolkit` section with an environment.
pub(super) fn values(section: &Section<'_>, at: usize) -> Taken {
    let line = section.line(at);
    let key = line.trim();
    let starts = key.ends_with(':') && !key.contains(' ') && is_key(line);
    if !starts {
        return Taken::No;
    }
    let lines = extent(section, at);
    let used = section.range(at, at + lines);
    let base = indent_of(line);
    let toolkit = used
        .iter()
        .any(|line| indent_of(line) == base && line.trim() == "toolkit:");
    if !toolkit {
        // Deeper keys may still start a value text, such as a chart's values inside another object.
        return Taken::No;
    }
    let text = dedent(&used);
    let value: Option<Value> = crate::helm::yaml::read(&text);
    let told = value
        .as_ref()
        .and_then(|value| value.get("toolkit"))
        .is_some_and(|toolkit| toolkit.get("env").is_some());
    if told {
        Taken::one(What::OperatorValues, lines)
    } else {
        Taken::Refused(1)
    }
}

/// Takes a message that goes on in the next lines, so that it can be read as one.
pub(super) fn message(section: &Section<'_>, at: usize) -> Taken {
    let line = section.line(at);
    if !FOLDED.is_match(line) {
        return Taken::No;
    }
    let base = indent_of(line);
    let more = section.run(at + 1, |next| {
        !next.trim().is_empty() && indent_of(next) > base && !is_key(next)
    });
    if more == 0 {
        return Taken::No;
    }
    Taken::one(What::Message, 1 + more)
}
