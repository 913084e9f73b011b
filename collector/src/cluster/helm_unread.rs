//! Values of the user's that no template of the chart reads: a misspelled key is kept in the release, shown by
//! `helm get values`, and without any effect. Only the paths leave this module, no template and no value.
//!
//! A reference is `.Values` with the keys that follow it. A value is read where a reference leads to it, into it, or to a
//! table that holds it. Where `.Values` is handed on whole, or a helper of another chart may read it, nothing is said.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::helm_release::{Chart, Values};

/// Templates of a chart that are read, in bytes; the GPU Operator's take 200 KiB.
const MAX_TEMPLATES: usize = 8 << 20;
/// References followed; charts with more are rendered by a program, and nothing is said of them.
const MOST_REFERENCES: usize = 20_000;
/// Paths told of one release.
const MOST: usize = 50;
/// Depth that values are walked to.
const DEEPEST: usize = 16;

/// Paths of values that no template reads. Empty too where that cannot be told.
pub fn unread(values: &Values) -> Vec<String> {
    let Ok(user) = serde_json::from_str::<Value>(values.user.get()) else {
        return Vec::new();
    };
    let Some(actions) = actions(&values.chart) else {
        return Vec::new();
    };
    let Some(references) = references(&actions) else {
        return Vec::new();
    };
    if references.is_empty() || foreign_helper(&actions) {
        return Vec::new();
    }
    let parts = parts(&values.chart);
    let mut found = Vec::new();
    walk(&user, &mut Vec::new(), &references, &parts, &mut found);
    found
}

/// Everything between `{{` and `}}` of all templates; none where a template cannot be read.
fn actions(chart: &Chart) -> Option<String> {
    let mut out = String::new();
    let mut size = 0usize;
    for template in chart.templates.iter().flatten() {
        size = size.saturating_add(template.data.len());
        if size > MAX_TEMPLATES {
            return None;
        }
        let text = String::from_utf8(STANDARD.decode(&template.data).ok()?).ok()?;
        let mut rest = text.as_str();
        while let Some((_, inside)) = rest.split_once("{{") {
            let (action, after) = inside.split_once("}}")?;
            out.push_str(action);
            out.push('\n');
            rest = after;
        }
    }
    Some(out)
}

/// The keys after each `.Values`; none where it is used whole.
fn references(actions: &str) -> Option<Vec<Vec<&str>>> {
    let mut out = Vec::new();
    let mut rest = actions;
    while let Some((_, after)) = rest.split_once(".Values") {
        let end = after.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'));
        let (chain, _) = after.split_at(end.unwrap_or(after.len()));
        // `.ValuesOther` is another name.
        if let Some(chain) = chain.strip_prefix('.') {
            let keys: Vec<&str> = chain.split('.').filter(|key| !key.is_empty()).collect();
            if keys.is_empty() {
                return None;
            }
            out.push(keys);
        } else if chain.is_empty() {
            return None;
        }
        rest = after;
    }
    out.sort_unstable();
    out.dedup();
    (out.len() <= MOST_REFERENCES).then_some(out)
}

/// Whether a template is included that these do not define: a library chart's, which reads values too.
fn foreign_helper(actions: &str) -> bool {
    let named = |word: &'static str| {
        let uses = actions.match_indices(word);
        uses.filter_map(move |(at, _)| {
            let rest = actions.get(at + word.len()..)?.trim_start();
            // A name that is put together when it runs may be any.
            Some(
                rest.strip_prefix('"')
                    .and_then(|rest| rest.split('"').next()),
            )
        })
    };
    let defined: Vec<&str> = named("define ").flatten().collect();
    let mut used = named("include ").chain(named("template "));
    used.any(|name| name.is_none_or(|name| !defined.contains(&name)))
}

/// Sub-charts' names, whose templates a release does not hold; `global` is theirs too.
fn parts(chart: &Chart) -> Vec<String> {
    let meta = chart.metadata.clone().unwrap_or_default();
    let mut names = Vec::new();
    for part in meta.dependencies.unwrap_or_default() {
        names.extend(part.alias.filter(|alias| !alias.is_empty()));
        names.push(part.name);
        names.push("global".to_owned());
    }
    names
}

/// How templates read a value.
enum Reader {
    /// A reference leads to it, or to a table that holds it.
    Whole,
    /// References lead to what is in it.
    Into,
    /// None.
    None,
}

fn reader(path: &[String], references: &[Vec<&str>]) -> Reader {
    let along = |chain: &[&str]| chain.iter().zip(path).all(|(key, own)| key == own);
    let mut fitting = references.iter().filter(|chain| along(chain)).peekable();
    if fitting.peek().is_none() {
        return Reader::None;
    }
    if fitting.any(|chain| chain.len() <= path.len()) {
        Reader::Whole
    } else {
        Reader::Into
    }
}

fn walk(
    values: &Value,
    path: &mut Vec<String>,
    references: &[Vec<&str>],
    parts: &[String],
    found: &mut Vec<String>,
) {
    let Some(table) = values.as_object().filter(|_| path.len() < DEEPEST) else {
        return;
    };
    for (key, value) in table {
        let part = path.is_empty() && parts.contains(key);
        // A null takes a default away, which needs no reader; keys with dots cannot be told apart in a path.
        if part || value.is_null() || key.contains('.') || found.len() >= MOST {
            continue;
        }
        path.push(key.clone());
        match reader(path, references) {
            // What is handed on whole is for whoever gets it.
            Reader::Whole => {}
            Reader::Into => walk(value, path, references, parts, found),
            Reader::None => found.push(path.join(".")),
        }
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cluster::helm_release::{Driver, decode, tests::stored};

    fn told(templates: &[&str], dependencies: &Value, config: &Value) -> Vec<String> {
        let templates: Vec<Value> = templates
            .iter()
            .map(|text| json!({"name": "t", "data": STANDARD.encode(text)}))
            .collect();
        let release = json!({"name": "r", "version": 1, "config": config,
            "chart": {"metadata": {"name": "c", "dependencies": dependencies}, "templates": templates}});
        let revision = decode(&stored(&release, Driver::Secret), Driver::Secret)
            .unwrap()
            .unwrap();
        revision.unread
    }

    const TEMPLATE: &str = "a: {{ .Values.toolkit.version }}\nb: {{- with $.Values.toolkit.resources }}{{ toYaml . }}{{ end }}\n\
        c: {{ if .Values.daemonsets.tolerations }}x{{ end }} .Values.text.outside";

    #[test]
    fn a_misspelled_or_misplaced_key_is_told_and_what_is_handed_on_whole_is_not() {
        let config = json!({"toolkit": {"verison": "v1", "version": "v2", "resources": {"limits": {"cpu": 1}}},
            "tolerations": [1], "text": 1, "gone": null, "nfd": {"x": 1}, "global": {"y": 1}});
        let parts = json!([{"name": "node-feature-discovery", "alias": "nfd"}]);
        assert_eq!(
            told(&[TEMPLATE], &parts, &config),
            ["text", "tolerations", "toolkit.verison"]
        );
    }

    #[test]
    fn where_somebody_else_may_read_values_nothing_is_told() {
        let config = json!({"odd": 1});
        let with = |text: &str| told(&[TEMPLATE, text], &json!(null), &config);
        for text in [
            "{{ toYaml .Values }}",
            "{{ include \"common.labels\" . }}",
            "{{ include (printf \"%s\" .x) . }}",
            "{{ template \"other\" $ }}",
            "{{ index .Values \"o-d\" }}",
            "{{ broken",
        ] {
            assert!(with(text).is_empty(), "{text}");
        }
        let own = "{{ define \"c.name\" }}{{ .Values.name }}{{ end }}{{ include \"c.name\" . }}";
        assert_eq!(with(own), ["odd"]);
        assert!(told(&["plain"], &json!(null), &config).is_empty());
    }
}
