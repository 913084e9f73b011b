//! Label selectors, with the grammar and the complaints of apimachinery.

use serde_json::Value;

use crate::status::Status;

/// Longest selector that is read.
const LONGEST: usize = 64 << 10;

/// A condition on labels.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Need {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    Absent,
    More(i64),
    Less(i64),
}

/// A label selector.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Labels(Vec<(String, Need)>);

impl Labels {
    /// Reads one.
    ///
    /// Errors: a Status that says what is wrong with it.
    pub(crate) fn parse(selector: &str) -> Result<Self, Status> {
        let refuse =
            |why: String| Status::bad_request(format!("unable to parse requirement: {why}"));
        if selector.len() > LONGEST {
            return Err(refuse("the selector is too long".to_owned()));
        }
        let mut needs = Vec::new();
        for part in split_outside_brackets(selector) {
            let part = part.trim();
            if part.is_empty() {
                if selector.trim().is_empty() {
                    continue;
                }
                return Err(refuse(
                    "found ',', expected: !, identifier, or 'end of string'".to_owned(),
                ));
            }
            needs.push(need(part).map_err(&refuse)?);
        }
        Ok(Self(needs))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether labels fulfil all conditions.
    pub(crate) fn match_labels(&self, object: &Value) -> bool {
        let labels = &object["metadata"]["labels"];
        self.0.iter().all(|(key, need)| {
            let value = labels[key].as_str();
            match need {
                Need::In(values) => {
                    value.is_some_and(|value| values.iter().any(|one| one == value))
                }
                Need::NotIn(values) => {
                    !value.is_some_and(|value| values.iter().any(|one| one == value))
                }
                Need::Exists => value.is_some(),
                Need::Absent => value.is_none(),
                Need::More(than) => number(value).is_some_and(|value| value > *than),
                Need::Less(than) => number(value).is_some_and(|value| value < *than),
            }
        })
    }
}

fn number(value: Option<&str>) -> Option<i64> {
    value?.parse().ok()
}

fn split_outside_brackets(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut inside) = (Vec::new(), 0, false);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => inside = true,
            ')' => inside = false,
            ',' if !inside => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn need(part: &str) -> Result<(String, Need), String> {
    if let Some(key) = part.strip_prefix('!') {
        return Ok((checked_key(key)?, Need::Absent));
    }
    for (sign, positive) in [("!=", false), ("==", true), ("=", true)] {
        if let Some((key, value)) = part.split_once(sign) {
            let values = vec![checked_value(value)?];
            let need = if positive {
                Need::In(values)
            } else {
                Need::NotIn(values)
            };
            return Ok((checked_key(key)?, need));
        }
    }
    for (sign, make) in [('>', Need::More as fn(i64) -> Need), ('<', Need::Less)] {
        if let Some((key, value)) = part.split_once(sign) {
            let value = value.trim();
            let than = value.parse().map_err(|_| {
                format!("values[0]: Invalid value: {value:?}: for 'Gt', 'Lt' operators, the value must be an integer")
            })?;
            return Ok((checked_key(key)?, make(than)));
        }
    }
    let mut words = part.splitn(2, |c: char| c.is_whitespace() || c == '(');
    let key = words.next().unwrap_or_default();
    let rest = part[key.len()..].trim();
    if rest.is_empty() {
        return Ok((checked_key(key)?, Need::Exists));
    }
    let (operator, set) = rest.split_once('(').unwrap_or((rest, ""));
    let operator = operator.trim();
    if !matches!(operator, "in" | "notin") {
        return Err(format!(
            "found '{operator}', expected: in, notin, =, ==, !=, gt, lt"
        ));
    }
    let Some(set) = rest
        .split_once('(')
        .and_then(|(_, set)| set.trim_end().strip_suffix(')'))
    else {
        return Err(format!("found '{set}', expected: '('"));
    };
    let values: Vec<String> = set
        .split(',')
        .map(checked_value)
        .collect::<Result<_, _>>()?;
    let need = if operator == "in" {
        Need::In(values)
    } else {
        Need::NotIn(values)
    };
    Ok((checked_key(key)?, need))
}

fn checked_value(value: &str) -> Result<String, String> {
    let value = value.trim();
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let ends = |c: Option<char>| c.is_none_or(|c| c.is_ascii_alphanumeric());
    if value.len() <= 63
        && value.chars().all(allowed)
        && ends(value.chars().next())
        && ends(value.chars().last())
    {
        return Ok(value.to_owned());
    }
    Err(format!(
        "values[0]: Invalid value: {value:?}: a valid label value is at most 63 letters, digits, '-', '_' or '.', and starts and ends with a letter or digit"
    ))
}

fn checked_key(key: &str) -> Result<String, String> {
    let key = key.trim();
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    if !key.is_empty() && key.chars().all(allowed) {
        return Ok(key.to_owned());
    }
    Err(format!(
        "key: Invalid value: {key:?}: a label's name is letters, digits, '-', '_', '.', with an optional prefix and '/'"
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn labels_select_by_every_operator() {
        let object = json!({"metadata": {"labels": {"app": "web", "tier": "2", "empty": ""}}});
        let yes = [
            "",
            "app=web",
            "app==web",
            "app!=db",
            "app in (web,db)",
            "app notin (db)",
            "app",
            "!none",
            "none!=x",
            "tier>1",
            "tier<3",
            "app=web,tier=2",
            "empty=",
            "app in (web), tier",
        ];
        let no = [
            "app=db",
            "app in (db)",
            "app notin (web)",
            "!app",
            "none",
            "tier>2",
            "none in (x)",
            "app>1",
        ];
        for (selectors, expected) in [(&yes[..], true), (&no[..], false)] {
            for selector in selectors {
                let parsed = Labels::parse(selector).unwrap();
                assert_eq!(parsed.match_labels(&object), expected, "{selector}");
            }
        }
        for bad in [
            "app=a b",
            "a,,b",
            "app in",
            "app in (a",
            "app near (b)",
            "=x",
            "tier>x",
        ] {
            assert!(Labels::parse(bad).is_err(), "{bad}");
        }
    }
}
