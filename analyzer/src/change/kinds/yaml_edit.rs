//! Settings at the top of a YAML file, changed line by line so that its comments and order stay.

use serde_json::Value;

use super::{merge, to_yaml, yaml};
use crate::change::Refused;

/// A changed text, and whether its comments could be kept.
pub(super) struct Edited {
    pub(super) text: String,
    pub(super) kept_comments: bool,
}

/// Merges settings into a YAML text. Scalars at the top level are edited in place; where that does not
/// give what the merge gives, the text is written anew and its comments are lost.
pub(super) fn set(path: &str, before: &str, delta: &Value) -> Result<Edited, Refused> {
    let old = match yaml(path, before)? {
        Value::Null => Value::Object(serde_json::Map::new()),
        other => other,
    };
    let mut wanted = old;
    merge(&mut wanted, delta);
    let mut text = before.to_owned();
    for (key, value) in delta.as_object().into_iter().flatten() {
        text = edited(&text, key, value);
    }
    if yaml(path, &text).is_ok_and(|read| read == wanted) {
        return Ok(Edited {
            text,
            kept_comments: true,
        });
    }
    Ok(Edited {
        text: to_yaml(&wanted)?,
        kept_comments: !before.contains('#'),
    })
}

/// A text with one top-level scalar replaced, added or removed.
fn edited(text: &str, key: &str, value: &Value) -> String {
    let is_own = |line: &str| {
        line.strip_prefix(key)
            .is_some_and(|rest| rest.starts_with(':'))
    };
    let line = (!value.is_null()).then(|| format!("{key}: {}", scalar(value)));
    let mut lines: Vec<String> = Vec::new();
    let mut found = false;
    for old in text.lines() {
        if !is_own(old) {
            lines.push(old.to_owned());
            continue;
        }
        found = true;
        let comment = old.find(" #").map_or("", |at| &old[at..]);
        lines.extend(line.as_ref().map(|line| format!("{line}{comment}")));
    }
    if !found {
        lines.extend(line);
    }
    lines.join("\n") + "\n"
}

/// JSON is YAML; plain words need no quotes.
fn scalar(value: &Value) -> String {
    match value {
        Value::String(text)
            if text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
                && text
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte))
                && !["true", "false", "null", "yes", "no", "on", "off"]
                    .contains(&text.to_ascii_lowercase().as_str()) =>
        {
            text.clone()
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_scalar_is_replaced_where_it_stands_and_comments_stay() {
        let before = "# ours\nmaxPods: 110 # by the network\nclusterDNS:\n- 10.0.0.1\n";
        let edited = set(
            "f",
            before,
            &json!({"maxPods": 200, "resolvConf": "/run/x"}),
        )
        .unwrap();
        assert!(edited.kept_comments);
        assert_eq!(
            edited.text,
            "# ours\nmaxPods: 200 # by the network\nclusterDNS:\n- 10.0.0.1\nresolvConf: /run/x\n"
        );
    }

    #[test]
    fn a_map_is_merged_and_the_loss_of_comments_is_said() {
        let edited = set("f", "# ours\na:\n  b: 1\n", &json!({"a": {"c": 2}})).unwrap();
        assert!(!edited.kept_comments);
        assert_eq!(
            yaml("f", &edited.text).unwrap(),
            json!({"a": {"b": 1, "c": 2}})
        );
    }
}
