//! JSONPath as columns of custom resources use it: kubectl's dialect, whose filters compare and whose names are escaped with `\`.

use serde_json::Value;

use crate::value::write_go_value;

/// A path.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Path(Vec<Step>);

#[derive(Debug, Clone, PartialEq)]
enum Step {
    Field(String),
    Fields(Vec<String>),
    All,
    Below,
    Slice(Option<i64>, Option<i64>, i64),
    Filter(Box<Side>, Option<(Compare, Box<Side>)>),
}

#[derive(Debug, Clone, PartialEq)]
enum Side {
    Path(Path),
    Literal(Value),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Compare {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    More,
    MoreOrEqual,
}

/// Longest path that is read; a definition may hold anything.
const LONGEST: usize = 4096;
/// Most values that a path may yield on its way.
const MOST: usize = 100_000;

impl Path {
    /// Reads a path; none where it is not understood.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let mut rest = text.trim();
        rest = rest
            .strip_prefix('{')
            .and_then(|inner| inner.strip_suffix('}'))
            .unwrap_or(rest);
        rest = rest.strip_prefix(['$', '@']).unwrap_or(rest);
        let mut steps = Vec::new();
        while !rest.is_empty() {
            rest = step(rest, &mut steps)?;
        }
        Some(Self(steps))
    }

    /// What the path finds; none where the object has another shape than the path needs.
    pub(crate) fn find<'v>(&self, value: &'v Value) -> Option<Vec<&'v Value>> {
        let mut found = vec![value];
        for step in &self.0 {
            let mut next = Vec::new();
            for value in found {
                take(step, value, &mut next)?;
                if next.len() > MOST {
                    return None;
                }
            }
            found = next;
        }
        Some(found)
    }
}

fn step<'t>(rest: &'t str, steps: &mut Vec<Step>) -> Option<&'t str> {
    if let Some(rest) = rest.strip_prefix("..") {
        steps.push(Step::Below);
        return if rest.starts_with('[') {
            Some(rest)
        } else {
            field(rest, steps)
        };
    }
    if let Some(rest) = rest.strip_prefix('.') {
        return if rest.is_empty() || rest.starts_with('[') {
            Some(rest)
        } else {
            field(rest, steps)
        };
    }
    if let Some(inner) = rest.strip_prefix('[') {
        let end = closing(inner)?;
        steps.push(bracket(inner[..end].trim())?);
        return Some(&inner[end + 1..]);
    }
    field(rest, steps)
}

/// A name up to the next dot or bracket; `\` takes the next letter as it is.
fn field<'t>(rest: &'t str, steps: &mut Vec<Step>) -> Option<&'t str> {
    let mut name = String::new();
    let mut letters = rest.char_indices();
    let mut end = rest.len();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => name.push(letters.next()?.1),
            '.' | '[' => {
                end = at;
                break;
            }
            _ => name.push(letter),
        }
    }
    steps.push(if name == "*" {
        Step::All
    } else {
        Step::Field(name)
    });
    Some(&rest[end..])
}

/// Where the bracket ends, whatever quotes and brackets are inside.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut quote) = (0_usize, None);
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (None, '[' | '(') => depth += 1,
            (None, ']') if depth == 0 => return Some(at),
            (None, ']' | ')') => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

fn bracket(inner: &str) -> Option<Step> {
    if inner == "*" {
        return Some(Step::All);
    }
    if let Some(filter) = inner
        .strip_prefix("?(")
        .and_then(|text| text.strip_suffix(')'))
    {
        return filter_step(filter.trim());
    }
    if inner.starts_with(['\'', '"']) {
        let names = inner.split(',').map(|name| unquote(name.trim()));
        return Some(Step::Fields(names.collect::<Option<_>>()?));
    }
    let parts: Vec<&str> = inner.split(':').map(str::trim).collect();
    let number = |text: &str| match text {
        "" => Some(None),
        text => text.parse::<i64>().ok().map(Some),
    };
    match parts.as_slice() {
        [one] => {
            let at: i64 = one.parse().ok()?;
            let end = if at == -1 { None } else { Some(at + 1) };
            Some(Step::Slice(Some(at), end, 1))
        }
        [from, to] => Some(Step::Slice(number(from)?, number(to)?, 1)),
        [from, to, by] => Some(Step::Slice(
            number(from)?,
            number(to)?,
            number(by)?.unwrap_or(1),
        )),
        _ => None,
    }
}

fn unquote(text: &str) -> Option<String> {
    let quote = text.chars().next()?;
    let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
    Some(inner.replace("\\.", "."))
}

fn filter_step(text: &str) -> Option<Step> {
    let signs = [
        ("==", Compare::Equal),
        ("!=", Compare::NotEqual),
        ("<=", Compare::LessOrEqual),
        (">=", Compare::MoreOrEqual),
        ("<", Compare::Less),
        (">", Compare::More),
    ];
    let found = signs
        .into_iter()
        .filter_map(|(sign, compare)| Some((text.find(sign)?, sign, compare)))
        .min_by_key(|(at, sign, _)| (*at, std::cmp::Reverse(sign.len())));
    let Some((at, sign, compare)) = found else {
        return Some(Step::Filter(Box::new(side(text)?), None));
    };
    let right = side(text[at + sign.len()..].trim())?;
    Some(Step::Filter(
        Box::new(side(text[..at].trim())?),
        Some((compare, Box::new(right))),
    ))
}

fn side(text: &str) -> Option<Side> {
    match text.chars().next()? {
        '@' => Path::parse(text).map(Side::Path),
        '\'' | '"' => unquote(text).map(|text| Side::Literal(Value::String(text))),
        _ => serde_json::from_str(text).ok().map(Side::Literal),
    }
}

fn take<'v>(step: &Step, value: &'v Value, into: &mut Vec<&'v Value>) -> Option<()> {
    match (step, value) {
        (_, Value::Null) => {}
        (Step::Field(name), Value::Object(fields)) => into.extend(fields.get(name)),
        (Step::Fields(names), Value::Object(fields)) => {
            into.extend(names.iter().filter_map(|name| fields.get(name)));
        }
        (Step::Field(_) | Step::Fields(_), _) => {}
        (Step::All, Value::Array(items)) => into.extend(items),
        (Step::All, Value::Object(fields)) => into.extend(fields.values()),
        (Step::All, _) => {}
        (Step::Below, value) => below(value, into),
        (Step::Slice(from, to, by), Value::Array(items)) => slice(items, *from, *to, *by, into)?,
        (Step::Slice(..), _) => return None,
        (Step::Filter(left, right), Value::Array(items)) => {
            into.extend(
                items
                    .iter()
                    .filter(|item| holds(left, right.as_ref(), item)),
            );
        }
        (Step::Filter(..), _) => return None,
    }
    Some(())
}

fn below<'v>(value: &'v Value, into: &mut Vec<&'v Value>) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        into.push(value);
        match value {
            Value::Array(items) => open.extend(items.iter().rev()),
            Value::Object(fields) => open.extend(fields.values().rev()),
            _ => {}
        }
    }
}

fn slice<'v>(
    items: &'v [Value],
    from: Option<i64>,
    to: Option<i64>,
    by: i64,
    into: &mut Vec<&'v Value>,
) -> Option<()> {
    let length = i64::try_from(items.len()).ok()?;
    let place = |index: i64| if index < 0 { index + length } else { index };
    let from = place(from.unwrap_or(0));
    let to = to.map_or(length, place).min(length);
    // One element that is not there is an error to kubectl, and so is a step backwards.
    if !(0..=length).contains(&from) || by <= 0 || (from == length && length > 0) {
        return None;
    }
    let picked = (from..to).step_by(usize::try_from(by).ok()?);
    into.extend(picked.filter_map(|at| items.get(usize::try_from(at).ok()?)));
    Some(())
}

fn holds(left: &Side, right: Option<&(Compare, Box<Side>)>, item: &Value) -> bool {
    let one = |side: &Side| match side {
        Side::Literal(value) => Some(value.clone()),
        Side::Path(path) => path.find(item)?.first().map(|value| (*value).clone()),
    };
    let Some((compare, right)) = right else {
        return one(left).is_some();
    };
    let (Some(left), Some(right)) = (one(left), one(right)) else {
        return false;
    };
    let order = match (&left, &right) {
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Number(left), Value::Number(right)) => left.as_f64().partial_cmp(&right.as_f64()),
        (left, right) => (left == right).then_some(std::cmp::Ordering::Equal),
    };
    let Some(order) = order else {
        return *compare == Compare::NotEqual;
    };
    match compare {
        Compare::Equal => order.is_eq(),
        Compare::NotEqual => order.is_ne(),
        Compare::Less => order.is_lt(),
        Compare::LessOrEqual => order.is_le(),
        Compare::More => order.is_gt(),
        Compare::MoreOrEqual => order.is_ge(),
    }
}

/// A value as text of a column: objects and lists as JSON, numbers as Go prints them.
pub(crate) fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Bool(on) => Some(on.to_string()),
        Value::Number(number) => Some(match number.as_f64() {
            Some(float) if number.is_f64() => go_general(float),
            _ => number.to_string(),
        }),
        composed => {
            let mut out = Vec::new();
            write_go_value(composed, &mut out);
            String::from_utf8(out).ok()
        }
    }
}

/// A number as Go's `%v` prints it: with an exponent below 1e-4 and from 1e21 on.
fn go_general(number: f64) -> String {
    let size = number.abs();
    if number == 0.0 || (1e-4..1e21).contains(&size) {
        return number.to_string();
    }
    let text = format!("{number:e}");
    match text.split_once('e') {
        Some((digits, power)) => match power.strip_prefix('-') {
            Some(power) => format!("{digits}e-{power:0>2}"),
            None => format!("{digits}e+{power:0>2}"),
        },
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(path: &str) -> Option<Vec<String>> {
        let object = json!({
            "status": {"phase": "Bound", "list": [{"n": 1, "type": "A"}, {"n": 2, "type": "Ready", "ok": "True"}]},
            "metadata": {"annotations": {"a.b/c": "x"}},
        });
        let found = Path::parse(path)?.find(&object)?.into_iter().map(as_text);
        Some(found.map(Option::unwrap_or_default).collect())
    }

    #[test]
    fn fields_indices_filters_and_escapes_are_followed() {
        let cases: [(&str, &[&str]); 9] = [
            (".status.phase", &["Bound"]),
            (".status.list[*].n", &["1", "2"]),
            (".status.list[-1].n", &["2"]),
            (".status.list[0:1].n", &["1"]),
            (r#".status.list[?(@.type=="Ready")].ok"#, &["True"]),
            (".status.list[?(@.n>1)].type", &["Ready"]),
            (r".metadata.annotations.a\.b/c", &["x"]),
            (".metadata.annotations['a.b/c']", &["x"]),
            (".status.missing", &[]),
        ];
        for (path, texts) in cases {
            assert_eq!(found(path).unwrap(), texts, "{path}");
        }
    }

    #[test]
    fn what_does_not_fit_the_object_is_no_value() {
        assert_eq!(found(".status.list[7].n"), None);
        assert_eq!(found(".status.phase[0]"), None);
        assert_eq!(Path::parse(".a[?(@.b"), None);
    }
}
