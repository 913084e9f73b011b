//! Rules: one YAML file a cause, checked before it runs, tested by the examples inside it.

mod check;
pub mod compile;
pub mod docs;
pub mod engine;
mod examples;
mod fields;
pub mod file;
mod gone;
mod group;
mod installed;
mod judge;
pub mod messages;
mod passing;
pub mod position;
pub mod prose;
pub mod scaffold;
pub mod schema;
mod settled;
mod short;
pub mod show;
mod sighting;
mod silence;
pub mod template;
mod unwell;
pub mod values;
mod weigh;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use compile::{Rule, RuleError, RuleSet, Trust};
pub use examples::Examples;

use crate::scan::patterns::LinePattern;
use crate::{shipped, spread};
use messages::Vocabulary;

/// Folders below a folder of rules that are looked into.
const DEEPEST: usize = 8;

/// Loads the embedded rules and those of a folder, where a file with a known id replaces it.
///
/// A file of the folder that cannot be used is named in the second value; the others still run. The
/// error is a folder that cannot be read, or a broken shipped rule.
pub fn load(folder: Option<&Path>) -> Result<(RuleSet, Vec<RuleError>), RuleError> {
    let mut patterns: Vec<LinePattern> = Vec::new();
    let mut digest = casefile_bundle::Hasher::default();
    let mut note = |name: &str, text: &str| {
        for part in [name, text] {
            digest.update(part.as_bytes());
            digest.update(&[0]);
        }
    };
    let (files, ..) = shipped::catalogue();
    let (vocabulary, read) = spread::both(
        || {
            files.iter().for_each(|(name, text, ..)| note(name, text));
            Vocabulary::load(&mut patterns)
        },
        || spread::each(files, |(.., json, _)| serde_json::from_str(json).ok()),
    );
    let vocabulary = vocabulary?;
    let mut rules: BTreeMap<String, Rule> = BTreeMap::new();
    let first = |mut errors: Vec<RuleError>| errors.swap_remove(0);
    for (file, read) in files.iter().zip(read) {
        let rule = compile::shipped(file, read, &vocabulary, &mut patterns);
        let rule = rule.map_err(first)?;
        rules.insert(rule.file.id.clone(), rule);
    }
    let mut faults = Vec::new();
    let mut own: BTreeMap<String, (String, String)> = BTreeMap::new();
    let mut replaced: BTreeMap<String, Rule> = BTreeMap::new();
    let texts = folder.map_or_else(|| Ok(Vec::new()), read_folder)?;
    let read = spread::each(&texts, |(name, text)| {
        compile::read(name, text, Trust::Foreign)
    });
    for ((name, text), read) in texts.into_iter().zip(read) {
        note(&name, &text);
        let compiled =
            read.and_then(|file| compile::compiled(&name, &text, file, &vocabulary, &mut patterns));
        match compiled {
            Ok(rule) => {
                let id = rule.file.id.clone();
                if let Some((other, _)) = own.get(&id) {
                    faults.push(RuleError {
                        what: format!("id {id:?} is also given by {other}; the first one is used"),
                        file: name,
                        at: None,
                    });
                    continue;
                }
                own.insert(id.clone(), (name, text));
                if let Some(shipped) = rules.insert(id.clone(), rule) {
                    replaced.insert(id, shipped);
                }
            }
            Err(errors) => faults.extend(errors),
        }
    }
    faults.extend(drop_unlinked(&mut rules, own, replaced));
    let ended_by = rules.values().flat_map(|rule| rule.file.ended_by.clone());
    faults.extend(vocabulary.idle(&ended_by.collect::<Vec<_>>()));
    let set = RuleSet {
        rules: rules.into_values().collect(),
        patterns,
        vocabulary,
        digest: digest.hex(),
    };
    Ok((set, faults))
}

/// Takes out the rules of a folder that name unknown causes or close a cycle, and puts back the shipped
/// ones that they had replaced; until nothing more is wrong.
fn drop_unlinked(
    rules: &mut BTreeMap<String, Rule>,
    mut own: BTreeMap<String, (String, String)>,
    mut replaced: BTreeMap<String, Rule>,
) -> Vec<RuleError> {
    let mut faults = Vec::new();
    loop {
        let all: Vec<&Rule> = rules.values().collect();
        let wrong = check::links(&all, &own);
        if wrong.is_empty() {
            return faults;
        }
        let files: Vec<String> = wrong.iter().map(|error| error.file.clone()).collect();
        let bad: Vec<String> = own
            .iter()
            .filter(|(_, (file, _))| files.contains(file))
            .map(|(id, _)| id.clone())
            .collect();
        for id in bad {
            own.remove(&id);
            rules.remove(&id);
            if let Some(shipped) = replaced.remove(&id) {
                rules.insert(id, shipped);
            }
        }
        faults.extend(wrong);
    }
}

/// All rule files below a folder, sorted by path.
fn read_folder(folder: &Path) -> Result<Vec<(String, String)>, RuleError> {
    let mut paths = Vec::new();
    collect(folder, DEEPEST, &mut paths)?;
    paths.sort();
    let read = paths.into_iter().map(|path| {
        let text = std::fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
        Ok((path.display().to_string(), text))
    });
    read.collect()
}

fn collect(folder: &Path, deeper: usize, paths: &mut Vec<PathBuf>) -> Result<(), RuleError> {
    let fail = |error: std::io::Error| unreadable(folder, &error);
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let path = entry.path();
        let is_folder = entry.file_type().map_err(fail)?.is_dir();
        if is_folder && deeper > 0 {
            collect(&path, deeper - 1, paths)?;
        } else if !is_folder
            && path
                .extension()
                .is_some_and(|extension| extension == "yaml" || extension == "yml")
        {
            paths.push(path);
        }
    }
    Ok(())
}

fn unreadable(path: &Path, error: &std::io::Error) -> RuleError {
    RuleError {
        file: path.display().to_string(),
        at: None,
        what: format!("cannot be read: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_rule_passes_the_checks_that_foreign_rules_have_to_pass() {
        let vocabulary = Vocabulary::load(&mut Vec::new()).unwrap();
        for (name, text, ..) in shipped::catalogue().0 {
            let mut patterns = Vec::new();
            if let Err(errors) =
                compile::compile(name, text, Trust::Foreign, &vocabulary, &mut patterns)
            {
                panic!("{errors:?}");
            }
        }
        let (set, _) = load(None).unwrap();
        let texts = shipped::catalogue().0.iter().map(|(name, text, ..)| {
            let id = name.rsplit('/').next().unwrap().trim_end_matches(".yaml");
            (id.to_owned(), ((*name).to_owned(), (*text).to_owned()))
        });
        assert_eq!(
            check::links(&set.rules.iter().collect::<Vec<_>>(), &texts.collect()),
            []
        );
    }

    #[test]
    fn rules_are_the_same_read_from_yaml_and_from_json() {
        let mut only_yaml = Vec::new();
        for (name, text, json, examples) in shipped::catalogue().0 {
            let yaml: file::RuleFile = serde_saphyr::from_str(text).unwrap();
            match serde_json::from_str::<file::RuleFile>(json) {
                Ok(mut json) => {
                    let shipped = Examples::shipped(text, examples);
                    let both = [&yaml.examples, &shipped].map(|one| format!("{:?}", one.all()));
                    assert_eq!(both[0], both[1], "{name}");
                    json.examples.clone_from(&yaml.examples);
                    assert_eq!(format!("{yaml:?}"), format!("{json:?}"), "{name}");
                }
                // A text without quotes that looks like another kind of value; it is read from YAML.
                Err(_) => only_yaml.push(name),
            }
        }
        assert!(only_yaml.len() < 10, "{only_yaml:?}");
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

    /// A rule that is good by itself.
    fn rule(id: &str, explains: &str) -> String {
        format!(
            "title: T\nseverity: low\nexplains: [{explains}]\nsignals:\n  s:\n    line: '{id} is broken'\n    says: it is\nlikely: [s]\nrefuted_by: [{{ state: all-well }}]\n"
        )
    }

    fn loaded(files: &[(&str, String)]) -> (RuleSet, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let (set, faults) = load(Some(folder.path())).unwrap();
        (set, faults.iter().map(ToString::to_string).collect())
    }

    fn has(set: &RuleSet, id: &str) -> bool {
        set.rules.iter().any(|rule| rule.file.id == id)
    }

    #[test]
    fn rules_are_found_in_folders_below_and_replace_shipped_ones() {
        let (set, faults) = loaded(&[
            ("a/b/ours.yaml", rule("ours", "")),
            ("mtu-mismatch.yml", rule("mtu-mismatch", "ours")),
        ]);
        assert!(faults.is_empty(), "{faults:?}");
        assert!(has(&set, "ours"));
        let mtu = set
            .rules
            .iter()
            .find(|rule| rule.file.id == "mtu-mismatch")
            .unwrap();
        assert_eq!(mtu.file.title, "T");
    }

    #[test]
    fn a_rule_that_closes_a_cycle_or_names_no_cause_is_left_out_and_the_shipped_one_stays() {
        let (set, faults) = loaded(&[
            ("one.yaml", rule("one", "two")),
            ("two.yaml", rule("two", "one")),
            ("mtu-mismatch.yaml", rule("mtu-mismatch", "no-such-cause")),
            ("good.yaml", rule("good", "mtu-mismatch")),
        ]);
        assert_eq!(faults.len(), 3, "{faults:?}");
        assert!(
            faults
                .iter()
                .any(|fault| fault.contains("mtu-mismatch.yaml:3:12: explains unknown cause"))
        );
        assert!(!has(&set, "one") && !has(&set, "two") && has(&set, "good"));
        let mtu = set
            .rules
            .iter()
            .find(|rule| rule.file.id == "mtu-mismatch")
            .unwrap();
        assert_ne!(mtu.file.title, "T");
    }
}
