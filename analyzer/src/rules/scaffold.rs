//! A new rule to start from: it passes all checks and its own examples.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

/// Writes `<folder>/<family>/<id>.yaml`; refuses to write over a file.
pub fn write(id: &str, family: &str, folder: &Path) -> anyhow::Result<PathBuf> {
    for (what, name) in [("id", id), ("family", family)] {
        let good = name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        ensure!(
            good && !name.is_empty() && !name.starts_with('-'),
            "the {what} {name:?} may hold lower-case letters, digits and hyphens only"
        );
    }
    let path = folder.join(family).join(format!("{id}.yaml"));
    ensure!(
        !path.exists(),
        "{} exists already and is left as it is",
        path.display()
    );
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).with_context(|| format!("making {}", parent.display()))?;
    }
    std::fs::write(&path, TEMPLATE).with_context(|| format!("writing {}", path.display()))?;
    Ok(path)
}

/// A rule with everything that a good one has.
const TEMPLATE: &str = r#"# yaml-language-server: $schema=rule.schema.json
# `casefile-analyzer rules schema > rule.schema.json` writes the schema that editors check this file with.
# `casefile-analyzer rules test --rules DIR` checks it and runs its examples.
# The file's name is the cause's id, the folder's its family.
title: The frobnicator of a node refuses its configuration
severity: medium
# Sources without which nothing can be said; the cause is then `not-checked`.
needs: [journal]
signals:
  refused:
    # Written for the message, not for one case: other names, other versions, both quote styles.
    line: 'frobnicator: refusing configuration \\*["'']?(?P<file>[^"''\\ ]+)'
    in: [journal, pod-log]
    says: 'the frobnicator refuses {file}'
  waiting:
    line: 'waiting for the frobnicator'
    says: '{speaker} waits for the frobnicator'
confirmed: [refused]
possible: [waiting]
symptoms: [waiting]
summary: The frobnicator does not start because it refuses its configuration. It names `{refused.file}`.
explanation: Say in two sentences why this cause produces these symptoms.
look_alikes: Say what else looks like this, and by which line it is told apart.
refuted_by: [{ state: pod-well }]
remedy:
  title: Correct the configuration that the frobnicator names
  # Name typed `changes` where a script can do it, else say in one sentence why a person does.
  by_person: 'What has to be corrected depends on the file that it names.'
  steps:
    - do: Look at the file that it names. This changes nothing.
      run: cat {refused.file}
    - do: Correct it and restart the frobnicator.
      run: systemctl restart frobnicator
      expect: The unit is active.
  verify:
    - do: The frobnicator says that it started.
      run: journalctl -u frobnicator -n 20
      expect: A line that says that it started, and none that refuses a file.
  prevent: Check the file before it is rolled out.
references: https://example.org/the-source-that-this-rule-was-written-from
# `text` is a pasted text; a file of a bundle is written as its path and what it holds.
examples:
  - confirmed: it refuses its file
    text: 'frobnicator: refusing configuration "/etc/frobnicator.toml"'
  - not-checked: another program refuses another file
    text: 'nginx: refusing configuration "/etc/nginx.conf"'
"#;

#[cfg(test)]
mod tests {
    use crate::diagnose::examples;
    use crate::rules;

    #[test]
    fn a_new_rule_passes_all_checks_and_its_examples_and_is_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = super::write("new-cause", "node", folder.path()).unwrap();
        assert!(path.ends_with("node/new-cause.yaml"));
        assert!(super::write("new-cause", "node", folder.path()).is_err());
        assert!(super::write("../evil", "node", folder.path()).is_err());
        let (mut set, faults) = rules::load(Some(folder.path())).unwrap();
        assert!(faults.is_empty(), "{faults:?}");
        for rule in &mut set.rules {
            if rule.file.id != "new-cause" {
                rule.file.examples.clear();
            }
        }
        let outcome = examples::run(set).unwrap();
        let failures: Vec<String> = outcome.failures.iter().map(ToString::to_string).collect();
        assert_eq!((outcome.passed, failures), (2, Vec::new()));
    }
}
