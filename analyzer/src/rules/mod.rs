//! Rules: one YAML file a cause, checked before it runs, tested by the examples inside it.

pub mod compile;
pub mod engine;
pub mod examples;
pub mod file;
pub mod show;
pub mod template;

use std::path::Path;

pub use compile::{Rule, RuleError, RuleSet};

use crate::scan::patterns::LinePattern;

/// The rules that ship with the analyzer: path below `rules/`, text.
static EMBEDDED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/rules.in"));

/// Loads the embedded rules and those of a folder, where a file with a known id replaces it.
///
/// A file of the folder that cannot be used is named in the second value; the others still run.
pub fn load(folder: Option<&Path>) -> Result<(RuleSet, Vec<RuleError>), RuleError> {
    let mut patterns: Vec<LinePattern> = Vec::new();
    let mut rules: Vec<Rule> = Vec::new();
    let mut faults = Vec::new();
    for (name, text) in EMBEDDED {
        rules.push(compile::compile(name, text, &mut patterns)?);
    }
    for (name, text) in folder.map_or_else(|| Ok(Vec::new()), read_folder)? {
        match compile::compile(&name, &text, &mut patterns) {
            Ok(rule) => {
                rules.retain(|known| known.file.id != rule.file.id);
                rules.push(rule);
            }
            Err(fault) => faults.push(fault),
        }
    }
    rules.sort_by(|a, b| a.file.id.cmp(&b.file.id));
    check_links(&rules)?;
    Ok((RuleSet { rules, patterns }, faults))
}

fn read_folder(folder: &Path) -> Result<Vec<(String, String)>, RuleError> {
    let fail = |path: &Path, error: std::io::Error| RuleError {
        file: path.display().to_string(),
        what: format!("cannot be read: {error}"),
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| fail(folder, error))? {
        let path = entry.map_err(|error| fail(folder, error))?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "yaml")
        {
            let text = std::fs::read_to_string(&path).map_err(|error| fail(&path, error))?;
            files.push((path.display().to_string(), text));
        }
    }
    files.sort();
    Ok(files)
}

/// Checks that no chain of `explains` leads back to its start.
fn check_links(rules: &[Rule]) -> Result<(), RuleError> {
    let next = |id: &str| {
        let rule = rules.iter().find(|rule| rule.file.id == id);
        rule.map_or(&[][..], |rule| rule.file.explains.as_slice())
    };
    for rule in rules {
        let mut open: Vec<&str> = rule.file.explains.iter().map(String::as_str).collect();
        let mut seen: Vec<&str> = Vec::new();
        while let Some(id) = open.pop() {
            if id == rule.file.id {
                return Err(RuleError {
                    file: rule.file.id.clone(),
                    what: "explains itself through a cycle of explains".into(),
                });
            }
            if !seen.contains(&id) {
                seen.push(id);
                open.extend(next(id).iter().map(String::as_str));
            }
        }
    }
    Ok(())
}
