//! Labels and label selectors of objects, as text.

use serde_json::Value;

use crate::value;

/// Labels as `kubectl get` shows them.
pub(crate) fn labels(object: &Value, path: &str) -> String {
    let pairs = value::map(object, path);
    let pairs: Vec<String> = pairs
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    if pairs.is_empty() {
        "<none>".to_owned()
    } else {
        pairs.join(",")
    }
}

/// A selector as text; none if it names an operator that there is not.
pub(crate) fn selector(selector: &Value) -> Option<String> {
    let mut parts: Vec<(String, String)> = value::map(selector, "matchLabels")
        .into_iter()
        .map(|(name, value)| (name.to_owned(), format!("{name}={value}")))
        .collect();
    for expression in value::list(selector, "matchExpressions") {
        let key = value::text(expression, "key");
        let mut values: Vec<&str> = value::list(expression, "values")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        values.sort_unstable();
        let values = values.join(",");
        let part = match value::text(expression, "operator") {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "Exists" => key.to_owned(),
            "DoesNotExist" => format!("!{key}"),
            _ => return None,
        };
        parts.push((key.to_owned(), part));
    }
    parts.sort_by(|a, b| a.0.cmp(&b.0));
    let parts: Vec<String> = parts.into_iter().map(|(_, part)| part).collect();
    Some(parts.join(","))
}

/// A selector as tables show it.
pub(crate) fn shown(of: &Value) -> String {
    match selector(of) {
        None => "<error>".to_owned(),
        Some(text) if text.is_empty() => "<none>".to_owned(),
        Some(text) => text,
    }
}

/// A selector as Go prints the value, which is how tables of admission policies show it.
pub(crate) fn go_syntax(selector: &Value) -> String {
    let labels: String = value::map(selector, "matchLabels")
        .iter()
        .map(|(name, value)| format!("{name}: {value},"))
        .collect();
    let expressions: String = value::list(selector, "matchExpressions")
        .iter()
        .map(|one| {
            let values: Vec<&str> = value::list(one, "values")
                .iter()
                .filter_map(Value::as_str)
                .collect();
            format!(
                "LabelSelectorRequirement{{Key:{},Operator:{},Values:[{}],}},",
                value::text(one, "key"),
                value::text(one, "operator"),
                values.join(" ")
            )
        })
        .collect();
    format!(
        "&LabelSelector{{MatchLabels:map[string]string{{{labels}}},MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )
}

/// Names and images of containers.
pub(crate) fn containers(object: &Value, path: &str) -> (String, String) {
    let all = value::list(object, path);
    let join = |field| {
        let texts: Vec<&str> = all.iter().map(|one| value::text(one, field)).collect();
        texts.join(",")
    };
    (join("name"), join("image"))
}

/// The first elements of a list, and how many more there are.
pub(crate) fn first(texts: &[String], most: usize) -> String {
    if texts.len() > most {
        return format!(
            "{} + {} more...",
            texts[..most].join(","),
            texts.len() - most
        );
    }
    texts.join(",")
}
