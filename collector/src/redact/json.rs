//! Redaction of a line of JSON: string by string, so that it stays valid JSON whatever a string holds, including
//! files and other JSON inside a string.

use super::args::Command;
use super::marker::Marker;
use super::value::harmless;
use super::words::{KeyClass, classify};
use super::{MAX_DEPTH, clean_text, encoded, patterns};

/// Deeper nesting is copied without the knowledge of keys further out.
const MAX_NESTING: usize = 256;
/// Fewer numbers are no text.
const MIN_BYTES: usize = 8;
/// What the data of a Secret is called.
const DATA: KeyClass = KeyClass {
    name: "secret-data",
    sure: true,
};

/// One open `{` or `[`.
#[derive(Clone, Default)]
struct Level {
    object: bool,
    /// The class of the key whose value comes next (in an array: of the key that holds the array).
    class: Option<KeyClass>,
    /// The class of what the member `name` says, for the member `value` after it.
    named: Option<KeyClass>,
    key_is_name: bool,
    key_is_value: bool,
    key_is_flag: Option<KeyClass>,
    /// Everything inside is the data of a Secret.
    data: bool,
    /// The key whose value comes next holds the data of a Secret.
    key_is_data: bool,
    /// A list of arguments that begins with a program that takes secrets.
    command: Option<Command>,
    begun: bool,
}

/// One line on its way.
struct Line<'a> {
    levels: Vec<Level>,
    depth: usize,
    /// A Secret stands somewhere in this line.
    secret_object: bool,
    marker: &'a mut Marker,
    out: String,
}

/// A line with its secrets replaced; none when it is not JSON after all (a string does not end).
pub(crate) fn clean(line: &str, depth: usize, marker: &mut Marker) -> Option<String> {
    let mut state = Line {
        levels: vec![Level::default()],
        depth,
        secret_object: holds_secret_object(line),
        marker,
        out: String::with_capacity(line.len()),
    };
    let mut rest = line;
    while let Some(at) = rest
        .bytes()
        .position(|b| matches!(b, b'"' | b'{' | b'[' | b'}' | b']' | b','))
    {
        state.bare(&rest[..at]);
        let mark = rest.as_bytes()[at];
        rest = &rest[at + 1..];
        match mark {
            b'"' => {
                let end = string_end(rest)?;
                let (raw, behind) = (&rest[..end], &rest[end + 1..]);
                let is_key = state.levels.last().is_some_and(|level| level.object)
                    && behind.trim_start().starts_with(':');
                state.out.push('"');
                if is_key {
                    state.key(raw);
                } else {
                    state.string(raw, behind);
                }
                state.out.push('"');
                rest = behind;
                continue;
            }
            b'[' => {
                if let Some((bytes, length)) = byte_list(rest)
                    && state.bytes(&bytes)
                {
                    rest = &rest[length..];
                    continue;
                }
                state.open(mark);
            }
            b'{' => state.open(mark),
            b'}' | b']' if state.levels.len() > 1 => {
                state.levels.pop();
            }
            b',' => state.next_member(),
            _ => {}
        }
        state.out.push(char::from(mark));
    }
    state.bare(rest);
    Some(state.out)
}

/// `"kind":"Secret"`, with or without blanks.
fn holds_secret_object(line: &str) -> bool {
    line.match_indices("\"Secret").any(|(at, _)| {
        let before = line[..at].trim_end();
        let behind = &line[at + "\"Secret".len()..];
        let kind = before
            .strip_suffix(':')
            .is_some_and(|before| before.trim_end().ends_with("\"kind\""));
        kind && (behind.starts_with('"') || behind.starts_with("List\""))
    })
}

/// A list of numbers that are the bytes of a text, as journals write what is not plain, and where it ends.
fn byte_list(rest: &str) -> Option<(Vec<u8>, usize)> {
    if !rest.trim_start().starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let end = rest.find(']')?;
    let bytes: Option<Vec<u8>> = rest[..end]
        .split(',')
        .map(|number| number.trim().parse().ok())
        .collect();
    bytes
        .filter(|bytes| bytes.len() >= MIN_BYTES)
        .map(|bytes| (bytes, end + 1))
}

impl Line<'_> {
    fn open(&mut self, mark: u8) {
        if self.levels.len() >= MAX_NESTING {
            return;
        }
        let outer = self.levels.last();
        let class = outer.and_then(|level| level.class);
        let data = outer.is_some_and(|level| level.data || level.key_is_data);
        self.levels.push(Level {
            object: mark == b'{',
            class: class.filter(|_| mark == b'['),
            data,
            ..Level::default()
        });
    }

    fn next_member(&mut self) {
        if let Some(level) = self.levels.last_mut().filter(|level| level.object) {
            level.class = None;
            level.key_is_value = false;
            level.key_is_data = false;
        }
    }

    /// Numbers, `true`, spaces: only a number under the name of a password can be a secret.
    fn bare(&mut self, text: &str) {
        let number = text.trim_matches([' ', '\t', '\r', '\n', ':']);
        let secret = self
            .levels
            .last()
            .and_then(|level| if level.data { Some(DATA) } else { level.class })
            .filter(|class| class.sure);
        match secret {
            Some(class) if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => {
                let mark = self.marker.mark(class.name, number.as_bytes());
                self.out
                    .push_str(&text.replacen(number, &format!("\"{mark}\""), 1));
            }
            _ => self.out.push_str(text),
        }
    }

    /// A list of bytes; whether it was replaced.
    fn bytes(&mut self, bytes: &[u8]) -> bool {
        let class = self.levels.last().and_then(|level| level.class);
        let Ok(text) = std::str::from_utf8(bytes) else {
            return class.is_some_and(|class| {
                let mark = self.marker.mark(class.name, bytes);
                self.out.push('"');
                self.out.push_str(&mark);
                self.out.push('"');
                true
            });
        };
        let cleaned = match class {
            Some(class) if class.sure => self.marker.mark(class.name, bytes),
            _ if self.depth >= MAX_DEPTH => return false,
            _ => clean_text(text, self.depth + 1, self.marker),
        };
        if cleaned == text {
            return false;
        }
        self.out.push('"');
        escape(&cleaned, &mut self.out);
        self.out.push('"');
        true
    }

    fn key(&mut self, raw: &str) {
        let Some(level) = self.levels.last_mut() else {
            return;
        };
        level.class = classify(raw);
        level.key_is_name = matches!(raw, "name" | "key" | "Name" | "Key");
        level.key_is_value = matches!(raw, "value" | "Value");
        level.key_is_data = self.secret_object && matches!(raw, "data" | "stringData");
        let hints = patterns::hints(raw.as_bytes());
        if hints.none() {
            self.out.push_str(raw);
        } else {
            // A key is a name: only what has a form of its own can be a secret.
            let cleaned = patterns::replace(unescape(raw), hints, self.marker);
            escape(&cleaned, &mut self.out);
        }
    }

    fn string(&mut self, raw: &str, behind: &str) {
        let class = self.class_of(raw, behind);
        let secret = class.filter(|_| !harmless(raw) && !raw.starts_with("--"));
        let nested = class.is_some() && raw.trim_start().starts_with('{');
        match secret {
            Some(class) if !nested => {
                let mark = self.marker.mark(class.name, unescape(raw).as_bytes());
                self.out.push_str(&mark);
            }
            _ if self.argument(raw) => {}
            _ => self.text(raw),
        }
    }

    /// What the string is a secret of, by the names around it.
    fn class_of(&mut self, raw: &str, behind: &str) -> Option<KeyClass> {
        let level = self.levels.last_mut()?;
        if level.data || level.key_is_data {
            return Some(DATA);
        }
        if level.object && level.key_is_name {
            level.named = classify(raw);
            level.key_is_name = false;
        }
        let named = if level.key_is_value && level.named.is_none() {
            name_behind(behind)
        } else {
            level.named.filter(|_| level.key_is_value)
        };
        let class = level.class.or(named).or(level.key_is_flag.take());
        if !level.object {
            // `"--token","abc"` in a list of arguments.
            level.key_is_flag = raw
                .strip_prefix("--")
                .or_else(|| raw.strip_prefix('-').filter(|flag| flag.len() > 3))
                .filter(|flag| !flag.contains(['=', '<', ':']))
                .and_then(classify);
        }
        class
    }

    /// An argument of a program that takes secrets as bare arguments; whether it was written.
    fn argument(&mut self, raw: &str) -> bool {
        let Some(level) = self.levels.last_mut().filter(|level| !level.object) else {
            return false;
        };
        if !std::mem::replace(&mut level.begun, true) {
            level.command = Command::begin(raw);
            return false;
        }
        let Some(secret) = level.command.as_mut().and_then(|command| command.next(raw)) else {
            return false;
        };
        let mark = self.marker.mark("password", raw[secret.clone()].as_bytes());
        self.out.push_str(&raw[..secret.start]);
        self.out.push_str(&mark);
        self.out.push_str(&raw[secret.end..]);
        true
    }

    /// A string without a telling name.
    fn text(&mut self, raw: &str) {
        if self.marker.key_lines > 0
            && let Some(cleaned) = key_line(raw, self.marker)
        {
            self.out.push_str(&cleaned);
            return;
        }
        let quiet = patterns::hints(raw.as_bytes()).none() && !encoded::possible(raw.as_bytes());
        if quiet || self.depth >= MAX_DEPTH {
            self.out.push_str(raw);
            return;
        }
        let text = unescape(raw);
        let cleaned = clean_text(&text, self.depth + 1, self.marker);
        // Written back only where something was replaced, so that everything else keeps its own escapes.
        if cleaned == text {
            self.out.push_str(raw);
        } else {
            escape(&cleaned, &mut self.out);
        }
    }
}

/// One line of a private key that began in a string before: journals hold a key line by line.
fn key_line(raw: &str, marker: &mut Marker) -> Option<String> {
    let body = raw.trim();
    if body.contains("-----END ") {
        marker.key_lines = 0;
        return Some(marker.mark("private-key", body.as_bytes()));
    }
    marker.key_lines -= 1;
    let material = body.len() >= 12
        && body
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b));
    material.then(|| marker.mark("private-key", body.as_bytes()))
}

/// The class of the name that follows its value: `"value":"x","name":"DB_PASSWORD"`.
fn name_behind(behind: &str) -> Option<KeyClass> {
    let rest = behind.trim_start().strip_prefix(',')?.trim_start();
    let rest = rest
        .strip_prefix("\"name\"")
        .or_else(|| rest.strip_prefix("\"key\""))?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    let name = rest.strip_prefix('"')?;
    classify(&name[..string_end(name)?])
}

/// The place of a string's closing quote.
fn string_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'\\', b'"', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at);
        }
        at += 2;
    }
}

/// The text of a string; as it stands where it is none.
fn unescape(raw: &str) -> String {
    if !raw.contains('\\') {
        return raw.to_owned();
    }
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
