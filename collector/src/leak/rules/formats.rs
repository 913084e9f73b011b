//! The formats of rule files, as far as they say what a secret is.

use std::path::Path;

use serde::Deserialize;

/// A file's rules, of whatever format.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) rules: Vec<WrittenRule>,
    /// Expressions of what is no secret for any rule.
    pub(super) allowed: Vec<String>,
}

/// One rule as it is written.
#[derive(Debug, Default)]
pub(super) struct WrittenRule {
    pub(super) expression: String,
    pub(super) keywords: Vec<String>,
    pub(super) group: usize,
    pub(super) entropy: f64,
    pub(super) allowed: Vec<String>,
    pub(super) stop: Vec<String>,
}

/// Reads a file by the end of its name.
pub(super) fn parse(file: &Path, text: &str) -> Result<Written, String> {
    match file.extension().and_then(|end| end.to_str()) {
        Some("toml") => gitleaks(text),
        Some("yml" | "yaml") => noseyparker(text),
        _ => Err(
            "neither .toml (rules of gitleaks) nor .yml (rules of noseyparker), by its name"
                .to_owned(),
        ),
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Gitleaks {
    rules: Vec<GitleaksRule>,
    allowlist: Allow,
    allowlists: Vec<Allow>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct GitleaksRule {
    regex: String,
    keywords: Vec<String>,
    secret_group: usize,
    entropy: f64,
    allowlist: Allow,
    allowlists: Vec<Allow>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Allow {
    condition: String,
    paths: Vec<String>,
    regexes: Vec<String>,
    stopwords: Vec<String>,
}

impl Allow {
    /// A list that also asks for a path of a repository says nothing of a bundle.
    fn holds_here(&self) -> bool {
        !self.condition.eq_ignore_ascii_case("and") || self.paths.is_empty()
    }
}

fn gitleaks(text: &str) -> Result<Written, String> {
    let file: Gitleaks =
        toml::from_str(text).map_err(|error| format!("no TOML of rules: {}", error.message()))?;
    let rules = file.rules.into_iter().map(|rule| {
        let lists = || {
            let all = rule.allowlists.iter().chain([&rule.allowlist]);
            all.filter(|list| list.holds_here())
        };
        WrittenRule {
            allowed: lists().flat_map(|list| list.regexes.clone()).collect(),
            stop: lists().flat_map(|list| list.stopwords.clone()).collect(),
            expression: rule.regex.clone(),
            keywords: rule.keywords.clone(),
            group: rule.secret_group,
            entropy: rule.entropy,
        }
    });
    // A rule without an expression looks at names of files.
    let rules = rules.filter(|rule| !rule.expression.is_empty()).collect();
    let lists = file.allowlists.iter().chain([&file.allowlist]);
    let lists = lists.filter(|list| list.holds_here());
    Ok(Written {
        rules,
        allowed: lists.flat_map(|list| list.regexes.clone()).collect(),
    })
}

#[derive(Deserialize)]
struct Nosey {
    rules: Vec<NoseyRule>,
}

#[derive(Deserialize)]
struct NoseyRule {
    pattern: String,
}

fn noseyparker(text: &str) -> Result<Written, String> {
    let file: Nosey = serde_saphyr::from_str(text).map_err(|error| {
        let error = error.to_string();
        let first = error.lines().next().unwrap_or_default();
        format!("no YAML of rules: {first}")
    })?;
    let rules = file.rules.into_iter().map(|rule| WrittenRule {
        expression: rule.pattern,
        ..WrittenRule::default()
    });
    Ok(Written {
        rules: rules.collect(),
        ..Written::default()
    })
}
