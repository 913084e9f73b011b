//! Redaction of a line of JSON: string by string, so that it stays valid JSON whatever a string holds, including
//! files and other JSON inside a string.

use super::marker::Marker;
use super::value::harmless;
use super::words::{KeyClass, classify};
use super::{MAX_DEPTH, clean_text, patterns};

/// Deeper nesting is copied without the knowledge of keys further out.
const MAX_NESTING: usize = 256;

/// One open `{` or `[`.
#[derive(Clone, Copy, Default)]
struct Level {
    object: bool,
    /// The class of the key whose value comes next (in an array: of the key that holds the array).
    class: Option<KeyClass>,
    /// The class of what the member `name` says, for the member `value` after it.
    named: Option<KeyClass>,
    key_is_name: bool,
    key_is_value: bool,
    key_is_flag: Option<KeyClass>,
}

/// A line with its secrets replaced; none when it is not JSON after all (a string does not end).
pub(crate) fn clean(line: &str, depth: usize, marker: &mut Marker) -> Option<String> {
    let mut out = String::with_capacity(line.len());
    let mut levels: Vec<Level> = vec![Level::default()];
    let mut rest = line;
    while let Some(at) = rest.find(['"', '{', '[', '}', ']', ',', ':']) {
        bare(&rest[..at], &levels, marker, &mut out);
        let mark = rest.as_bytes()[at];
        rest = &rest[at + 1..];
        match mark {
            b'"' => {
                let end = string_end(rest)?;
                let (raw, behind) = (&rest[..end], &rest[end + 1..]);
                let is_key = levels.last().is_some_and(|level| level.object)
                    && behind.trim_start().starts_with(':');
                out.push('"');
                string(raw, is_key, &mut levels, depth, marker, &mut out);
                out.push('"');
                rest = behind;
                continue;
            }
            b'{' | b'[' if levels.len() < MAX_NESTING => {
                let class = levels.last().and_then(|level| level.class);
                levels.push(Level {
                    object: mark == b'{',
                    class: class.filter(|_| mark == b'['),
                    ..Level::default()
                });
            }
            b'}' | b']' if levels.len() > 1 => {
                levels.pop();
            }
            b',' => {
                if let Some(level) = levels.last_mut().filter(|level| level.object) {
                    level.class = None;
                    level.key_is_value = false;
                }
            }
            _ => {}
        }
        out.push(char::from(mark));
    }
    bare(rest, &levels, marker, &mut out);
    Some(out)
}

/// The place of a string's closing quote.
fn string_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return Some(at),
            _ => at += 1,
        }
    }
    None
}

/// Numbers, `true`, spaces: only a number under the name of a password can be a secret.
fn bare(text: &str, levels: &[Level], marker: &mut Marker, out: &mut String) {
    let number = text.trim();
    let secret = levels
        .last()
        .and_then(|level| level.class)
        .filter(|class| class.sure);
    match secret {
        Some(class) if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => {
            out.push('"');
            out.push_str(&marker.mark(class.name, number.as_bytes()));
            out.push('"');
        }
        _ => out.push_str(text),
    }
}

fn string(
    raw: &str,
    is_key: bool,
    levels: &mut [Level],
    depth: usize,
    marker: &mut Marker,
    out: &mut String,
) {
    let Some(level) = levels.last_mut() else {
        return;
    };
    if is_key {
        level.class = classify(raw);
        level.key_is_name = matches!(raw, "name" | "key" | "Name" | "Key");
        level.key_is_value = matches!(raw, "value" | "Value");
        out.push_str(raw);
        return;
    }
    if level.object && level.key_is_name {
        level.named = classify(raw);
        level.key_is_name = false;
    }
    let class = level
        .class
        .or(level.named.filter(|_| level.key_is_value))
        .or(level.key_is_flag.take());
    if !level.object {
        // `"--token","abc"` in a list of arguments.
        level.key_is_flag = raw
            .strip_prefix("--")
            .filter(|flag| !flag.contains('='))
            .and_then(classify);
    }
    let secret = class.filter(|_| !harmless(raw) && !raw.starts_with("--"));
    let nested = class.is_some() && raw.trim_start().starts_with('{');
    match secret {
        Some(class) if !nested => out.push_str(&marker.mark(class.name, unescape(raw).as_bytes())),
        _ if !patterns::suspicious(raw.as_bytes()) || depth >= MAX_DEPTH => out.push_str(raw),
        _ => {
            let text = unescape(raw);
            let cleaned = clean_text(&text, depth + 1, marker);
            // Written back only where something was replaced, so that everything else keeps its own escapes.
            if cleaned == text {
                out.push_str(raw);
            } else {
                escape(&cleaned, out);
            }
        }
    }
}

fn unescape(raw: &str) -> String {
    let quoted = format!("\"{raw}\"");
    serde_json::from_str(&quoted).unwrap_or_else(|_| raw.to_owned())
}

fn escape(text: &str, out: &mut String) {
    let quoted = serde_json::to_string(text).unwrap_or_default();
    out.push_str(
        quoted
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'))
            .unwrap_or(""),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::Key;

    fn cleaned(line: &str) -> String {
        clean(line, 0, &mut Marker::new(Key::fixed())).unwrap()
    }

    #[test]
    fn secrets_inside_strings_inside_strings_are_found_and_the_json_stays_valid() {
        let inner =
            serde_json::json!({"env":[{"name":"DB_PASSWORD","value":"hunter2"}]}).to_string();
        let yaml = "db:\n  password: hunter2 \"x\"\n  port: 5432\n";
        let line = serde_json::json!({
            "annotations": {"last-applied": inner}, "data": {"values.yaml": yaml},
            "args": ["--token", "hunter2", "--v=2", "--password=hunter2"],
            "token": "hunter2", "passwords": ["hunter2", "hunter2b"], "secretName": "db",
        })
        .to_string();
        let out = cleaned(&line);
        assert!(!out.contains("hunter2"), "{out}");
        let value: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(value["secretName"], "db");
        assert_eq!(value["args"][2], "--v=2");
        assert!(
            value["data"]["values.yaml"]
                .as_str()
                .unwrap()
                .ends_with("\n  port: 5432\n")
        );
    }

    #[test]
    fn volumes_that_name_secrets_are_kept() {
        let line = r#"{"secret":{"secretName":"a"},"imagePullSecrets":["ngc"],"serviceAccountToken":{"path":"token"}}"#;
        assert_eq!(cleaned(line), line);
    }

    #[test]
    fn a_piece_of_a_list_is_cleaned_without_its_brackets() {
        assert_eq!(
            cleaned(r#"{"kind":"PodList","items":["#),
            r#"{"kind":"PodList","items":["#
        );
        assert!(clean("{\"a\":\"b", 0, &mut Marker::new(Key::fixed())).is_none());
    }
}
