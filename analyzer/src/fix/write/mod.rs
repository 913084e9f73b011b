//! Hands a fix over as files: what changes in full and as differences, a page to follow, a script that stops at each step.

mod page;
mod script;

pub(super) use script::beside;

use std::path::{Path, PathBuf};

use super::change::{Applied, Change, Refused};
use super::replay::{Proof, Shown};
use crate::model::{Input, Step, Verdict};

/// The fix of one cause, or of what a person proposes.
pub struct Fix {
    /// Cause id; `proposal` for a person's own change.
    pub cause: String,
    /// What is wrong, as a sentence.
    pub title: String,
    /// How sure that is; none for a person's own change.
    pub verdict: Option<Verdict>,
    /// One line that names the fix.
    pub remedy: String,
    /// The rule's steps, for people.
    pub steps: Vec<Step>,
    /// What the replay showed; or why none was possible.
    pub proof: Result<Proof, Refused>,
    /// The smallest part of the changes that does as well.
    pub narrower: Option<Proof>,
}

impl Fix {
    /// What became of the cause.
    pub fn shown(&self) -> Shown {
        match &self.proof {
            Ok(proof) => proof.shown.clone().unwrap_or_else(|| {
                Shown::CannotBeShown(
                    "no certain cause of the bundle is named for this change".into(),
                )
            }),
            Err(refused) => Shown::CannotBeShown(refused.why.clone()),
        }
    }

    /// The changes to hand over: the narrower ones where they do as well.
    pub(super) fn best(&self) -> Option<&Proof> {
        self.narrower.as_ref().or(self.proof.as_ref().ok())
    }

    /// Captured against changed, entry by entry.
    pub(super) fn differences(&mut self) -> Vec<(String, String)> {
        let proof = match (&mut self.narrower, &mut self.proof) {
            (Some(proof), _) | (None, Ok(proof)) => proof,
            (None, Err(_)) => return Vec::new(),
        };
        let mut paths: Vec<String> = proof
            .applied
            .iter()
            .flat_map(|one: &Applied| one.changed.clone())
            .collect();
        paths.sort();
        paths.dedup();
        let mut all = Vec::new();
        for path in paths {
            let before = proof.state.before(&path).unwrap_or_default();
            let after = proof.state.now(&path).unwrap_or_default();
            let diff = similar::TextDiff::from_lines(&before, &after);
            let text = diff
                .unified_diff()
                .header(&format!("captured/{path}"), &format!("changed/{path}"))
                .to_string();
            if !text.is_empty() {
                all.push((path, text));
            }
        }
        all
    }
}

/// Writes all fixes into a folder; gives the files in the order of writing.
pub fn write(input: &Input, fixes: &mut [Fix], folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    std::fs::create_dir_all(folder)?;
    put(
        &folder.join("README.md"),
        &page::overview(input, fixes),
        &mut written,
    )?;
    for fix in fixes {
        let own = folder.join(safe_name(&fix.cause));
        std::fs::create_dir_all(&own)?;
        put(&own.join("README.md"), &page::fix(fix), &mut written)?;
        let Some(proof) = fix.best() else { continue };
        put(
            &own.join("changes.yaml"),
            &as_yaml(&proof.changes),
            &mut written,
        )?;
        for file in proof.applied.iter().flat_map(|applied| &applied.files) {
            put(
                &own.join(safe_name(&file.name)),
                &file.content,
                &mut written,
            )?;
        }
        let script = own.join("apply.sh");
        put(&script, &script::apply(fix, proof), &mut written)?;
        executable(&script)?;
        for (path, diff) in fix.differences() {
            put(
                &own.join(format!("{}.diff", safe_name(&path))),
                &diff,
                &mut written,
            )?;
        }
    }
    Ok(written)
}

fn put(path: &Path, text: &str, written: &mut Vec<PathBuf>) -> std::io::Result<()> {
    std::fs::write(path, text)?;
    written.push(path.to_owned());
    Ok(())
}

fn executable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}

fn as_yaml(changes: &[Change]) -> String {
    let list = serde_json::json!({ "changes": changes });
    serde_saphyr::to_string(&list).unwrap_or_default()
}

/// A name that is one plain path segment and one plain shell word, whatever the bundle says.
pub(super) fn safe_name(text: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || "._-".contains(c) {
            c
        } else {
            '_'
        }
    };
    let name: String = text.chars().map(plain).take(160).collect();
    let name = name.trim_start_matches(['.', '-']);
    if name.is_empty() {
        "file".to_owned()
    } else {
        name.to_owned()
    }
}
