//! Rules: one YAML file a cause, checked before it runs, tested by the examples inside it.

pub mod compile;
pub mod engine;
pub mod examples;
pub mod file;
pub mod show;
pub mod template;

use std::fmt::Write as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};

pub use compile::{Rule, RuleError, RuleSet, Trust};

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
    let mut digest = Sha256::new();
    let mut note = |name: &str, text: &str| {
        for part in [name, text] {
            digest.update(part.as_bytes());
            digest.update([0]);
        }
    };
    for (name, text) in EMBEDDED {
        note(name, text);
        rules.push(compile::compile(name, text, Trust::Shipped, &mut patterns)?);
    }
    for (name, text) in folder.map_or_else(|| Ok(Vec::new()), read_folder)? {
        note(&name, &text);
        match compile::compile(&name, &text, Trust::Foreign, &mut patterns) {
            Ok(rule) => {
                rules.retain(|known| known.file.id != rule.file.id);
                rules.push(rule);
            }
            Err(fault) => faults.push(fault),
        }
    }
    rules.sort_by(|a, b| a.file.id.cmp(&b.file.id));
    check_links(&rules)?;
    let digest = digest
        .finalize()
        .iter()
        .fold(String::new(), |mut hex, byte| {
            // Writing to a String cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        });
    let set = RuleSet {
        rules,
        patterns,
        digest,
    };
    Ok((set, faults))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_rule_passes_the_checks_that_foreign_rules_have_to_pass() {
        for (name, text) in EMBEDDED {
            if let Err(error) = compile::compile(name, text, Trust::Foreign, &mut Vec::new()) {
                panic!("{error}");
            }
        }
    }

    #[test]
    fn a_folder_with_one_bad_rule_names_it_and_the_others_still_run() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("bad.yaml"), "id: bad\nnonsense: 1\n").unwrap();
        let (set, faults) = load(Some(folder.path())).unwrap();
        assert_eq!(faults.len(), 1);
        assert!(faults[0].to_string().contains("bad.yaml"));
        assert!(set.rules.len() > 100);
    }
}
