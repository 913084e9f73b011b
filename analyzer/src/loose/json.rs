//! Kubernetes JSON: one object or a list, in any layout.

use serde::Deserialize;
use serde_json::Deserializer;
use serde_json::value::RawValue;

use super::dedent::indent_of;
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
    if closed && let Ok(value) = serde_json::from_str::<&RawValue>(line) {
        return found(value, 1);
    }
    // Indented as programs print it, the value ends where its first bracket closes; else it may end
    // anywhere.
    let base = indent_of(section.line(at));
    let inside = section.run(at + 1, |line| {
        indent_of(line) != base || !line.trim_start().starts_with(['}', ']'])
    });
    let end = at + 2 + inside;
    let text = section.range(at, end).join("\n");
    let mut stream = Deserializer::from_str(&text).into_iter::<&RawValue>();
    match stream.next() {
        Some(Ok(value)) => {
            let end = stream.byte_offset().min(text.len());
            let lines = 1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..end]).count();
            found(value, lines)
        }
        _ => Taken::Refused(1),
    }
}

/// What tells an object or a list of Kubernetes from other JSON; nothing else of it is read here.
#[derive(Deserialize)]
struct Shape<'a> {
    #[serde(borrow, default)]
    kind: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "apiVersion")]
    api_version: Option<&'a RawValue>,
    #[serde(borrow, default)]
    items: Option<&'a RawValue>,
}

fn found(value: &RawValue, lines: usize) -> Taken {
    let starts =
        |part: Option<&RawValue>, mark| part.is_some_and(|part| part.get().starts_with(mark));
    match serde_json::from_str::<Shape<'_>>(value.get()) {
        Ok(shape)
            if shape
                .kind
                .is_some_and(|kind| kind.get() == "\"KubeletConfiguration\"") =>
        {
            Taken::one(What::Entry(super::host::KUBELET_CONFIG.into()), lines)
        }
        Ok(shape)
            if starts(shape.items, '[')
                || starts(shape.kind, '"') && starts(shape.api_version, '"') =>
        {
            Taken::one(What::Json, lines)
        }
        // What is inside is not looked at again: a log record is no object.
        _ => Taken::Refused(lines),
    }
}
