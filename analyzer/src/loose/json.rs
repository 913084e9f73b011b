//! Kubernetes JSON: one object or a list, in any layout.

use serde_json::{Deserializer, Value};

use super::split::Section;
use super::{Taken, What};

/// Takes a JSON value that starts at this line, if it is a Kubernetes object or list.
pub(super) fn take(section: &Section<'_>, at: usize) -> Taken {
    let line = section.line(at).trim();
    // A line of its own is judged alone: logs hold thousands of them.
    let closed = line.ends_with('}') || line.ends_with(']');
    let starts = line == "{" || line == "[" || line.starts_with("{\"") || line.starts_with("[{");
    if !starts {
        return Taken::No;
    }
    if closed && let Ok(value) = serde_json::from_str::<Value>(line) {
        return found(&value, 1);
    }
    let rest = section.range(at, section.len()).join("\n");
    let mut stream = Deserializer::from_str(&rest).into_iter::<Value>();
    match stream.next() {
        Some(Ok(value)) => {
            let end = stream.byte_offset().min(rest.len());
            let lines = 1 + memchr::memchr_iter(b'\n', &rest.as_bytes()[..end]).count();
            found(&value, lines)
        }
        _ => Taken::Refused(1),
    }
}

fn found(value: &Value, lines: usize) -> Taken {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let object = text("kind").is_some() && text("apiVersion").is_some();
    if text("kind") == Some("KubeletConfiguration") {
        return Taken::one(What::Entry(super::host::KUBELET_CONFIG.into()), lines);
    }
    if object || value.get("items").is_some_and(Value::is_array) {
        Taken::one(What::Json, lines)
    } else {
        // What is inside is not looked at again: a log record is no object.
        Taken::Refused(lines)
    }
}
