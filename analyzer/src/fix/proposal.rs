//! Changes that a person proposes: a values file, a drop-in, rules, a manifest, or a list of typed changes.

use std::path::Path;

use casefile_bundle::entry;
use serde::Deserialize;
use serde_json::Value;

use crate::change::captured::Captured;
use crate::change::kinds::helm_values::HelmValues;
use crate::change::kinds::host_file::HostFile;
use crate::change::kinds::kube_object::KubeObject;
use crate::change::kinds::ufw_route::UfwRoute;
use crate::change::{Change, Refused};

/// A list of typed changes, as `fix` writes it beside each fix.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Changes {
    changes: Vec<Change>,
}

/// What a file cannot say of itself.
#[derive(Debug, Clone, Default)]
pub struct Hints {
    /// `NAMESPACE/RELEASE` that a values file is for.
    pub release: Option<String>,
    /// Path on the node that a configuration file is for.
    pub at: Option<String>,
    /// Node, where the bundle holds several.
    pub node: Option<String>,
}

/// Where a proposed change stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// File, as it was named.
    pub file: String,
    /// Line, counted from 1.
    pub line: usize,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl Origin {
    /// A refusal with this place before it.
    pub fn refuses(&self, why: &Refused) -> Refused {
        Refused::new(format!("{self}: {}", why.why))
    }
}

/// Reads a proposal, each change with its place; the file's name and content decide what it is.
pub fn read(
    file: &Path,
    text: &str,
    hints: &Hints,
    state: &mut Captured,
) -> Result<Vec<(Change, Origin)>, Refused> {
    let changes = changes(file, text, hints, state)?;
    let lines = item_lines(text);
    let several = changes.len() > 1 || text.trim_start().starts_with("changes:");
    let at = |index: usize| Origin {
        file: file.display().to_string(),
        line: if several {
            lines.get(index).copied().unwrap_or(1)
        } else {
            first_line(text)
        },
    };
    Ok(changes
        .into_iter()
        .enumerate()
        .map(|(index, change)| (change, at(index)))
        .collect())
}

/// The first line that says something.
fn first_line(text: &str) -> usize {
    let says = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    text.lines().position(says).map_or(1, |at| at + 1)
}

/// Lines of the items of a list of changes: dashes at the indentation of the first.
fn item_lines(text: &str) -> Vec<usize> {
    let dash = |line: &str| line.find("- ").filter(|at| line[..*at].trim().is_empty());
    let first = text.lines().find_map(dash);
    let own = |line: &str| first.is_some() && dash(line) == first;
    (1..)
        .zip(text.lines())
        .filter(|(_, line)| own(line))
        .map(|(number, _)| number)
        .collect()
}

fn changes(
    file: &Path,
    text: &str,
    hints: &Hints,
    state: &mut Captured,
) -> Result<Vec<Change>, Refused> {
    let name = file.display().to_string();
    let in_file = |refused: Refused| Refused::new(format!("{name}: {}", refused.why));
    if let Some(rules) = ufw_rules(text) {
        let node = node(hints, state).map_err(in_file)?;
        return Ok(vec![Change::UfwRoute(UfwRoute { node, rules })]);
    }
    let is_yaml = file
        .extension()
        .is_some_and(|end| end == "yaml" || end == "yml" || end == "json");
    if is_yaml && hints.at.is_none() {
        return of_yaml(text, hints, state).map_err(in_file);
    }
    let path = hints.at.clone().ok_or_else(|| {
        in_file(Refused::new(
            "name the path on the node that this file is for with --at PATH",
        ))
    })?;
    if file.extension().is_some_and(|end| end == "toml") {
        toml::from_str::<toml::Table>(text)
            .map_err(|error| in_file(Refused::new(format!("does not parse as TOML: {error}"))))?;
    }
    Ok(vec![Change::HostFile(HostFile {
        node: node(hints, state).map_err(in_file)?,
        path,
        content: Some(text.to_owned()),
        ..HostFile::default()
    })])
}

fn of_yaml(text: &str, hints: &Hints, state: &mut Captured) -> Result<Vec<Change>, Refused> {
    let value: Value = serde_saphyr::from_str(text)
        .map_err(|error| Refused::new(format!("does not parse as YAML: {error}")))?;
    let Value::Object(map) = &value else {
        return Err(Refused::new("holds no map"));
    };
    if map.contains_key("changes") {
        let list: Changes =
            serde_saphyr::from_str(text).map_err(|error| Refused::new(error.to_string()))?;
        return Ok(list.changes);
    }
    if map.contains_key("apiVersion") && map.contains_key("kind") {
        return Ok(vec![Change::KubeObject(KubeObject {
            manifest: text.to_owned(),
            patch: false,
            remove: false,
        })]);
    }
    let sections: Vec<&str> = map.keys().map(String::as_str).collect();
    let (namespace, release) = release(hints, &sections, state)?;
    Ok(vec![Change::HelmValues(HelmValues {
        namespace,
        chart: "CHART".into(),
        release,
        values: text.to_owned(),
    })])
}

/// The release that values are for: the named one, or the only one whose chart knows all the sections.
fn release(
    hints: &Hints,
    sections: &[&str],
    state: &mut Captured,
) -> Result<(String, String), Refused> {
    if let Some(named) = &hints.release {
        let parts = named.split_once('/');
        let (namespace, release) =
            parts.ok_or_else(|| Refused::new("--release needs NAMESPACE/RELEASE"))?;
        return Ok((namespace.to_owned(), release.to_owned()));
    }
    let candidates: Vec<String> = state
        .paths()
        .filter(|path| path.starts_with(entry::HELM) && path.ends_with("/values-all.yaml"))
        .map(str::to_owned)
        .collect();
    let mut fitting = Vec::new();
    for path in candidates {
        let values: Option<Value> = state
            .now(&path)
            .and_then(|text| serde_saphyr::from_str(&text).ok());
        if values.is_some_and(|values| sections.iter().all(|section| values.get(section).is_some()))
        {
            let mut parts = path.split('/').skip(1);
            fitting.extend(
                parts
                    .next()
                    .zip(parts.next())
                    .map(|(a, b)| (a.to_owned(), b.to_owned())),
            );
        }
    }
    match fitting.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(Refused::new(format!(
            "no helm release of the bundle has values called {}",
            sections.join(", ")
        ))),
        several => {
            let names: Vec<String> = several.iter().map(|(a, b)| format!("{a}/{b}")).collect();
            Err(Refused::new(format!(
                "several releases have such values ({}); choose one with --release NAMESPACE/RELEASE",
                names.join(", ")
            )))
        }
    }
}

fn node(hints: &Hints, state: &Captured) -> Result<String, Refused> {
    hints
        .node
        .clone()
        .or_else(|| state.only_node())
        .ok_or_else(|| {
            Refused::new(
                "the bundle holds files of no node or of several; choose one with --node NAME",
            )
        })
}

/// The rules of a file that holds nothing but `ufw route` commands and comments.
fn ufw_rules(text: &str) -> Option<Vec<String>> {
    let lines = text.lines().map(str::trim);
    let said: Vec<&str> = lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    let is_rule = |line: &&str| line.trim_start_matches("sudo ").starts_with("ufw route ");
    let all = !said.is_empty() && said.iter().all(is_rule);
    all.then(|| {
        said.iter()
            .map(|line| line.trim_start_matches("sudo ").to_owned())
            .collect()
    })
}
