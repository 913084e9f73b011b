//! Hands a fix over as files: what changes in full and as differences, a page to follow, a script that stops at each step.

mod page;
mod script;

pub(super) use script::beside;

use std::path::{Path, PathBuf};

use super::change::{Applied, Change};
use super::proofs::Fix;
use crate::model::Input;

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
        if let Some(proof) = fix.best() {
            put(
                &own.join("changes.yaml"),
                &as_yaml(&proof.changes),
                &mut written,
            )?;
        }
        for file in fix.applied().iter().flat_map(|applied| &applied.files) {
            put(
                &own.join(safe_name(&file.name)),
                &file.content,
                &mut written,
            )?;
        }
        let script = own.join("apply.sh");
        put(&script, &script::apply(fix), &mut written)?;
        executable(&script)?;
        for (path, diff) in differences(fix) {
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

/// Captured against changed, entry by entry.
fn differences(fix: &mut Fix) -> Vec<(String, String)> {
    let proof = match (&mut fix.narrower, &mut fix.proof) {
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

/// A name that is one plain path segment and one plain shell word, whatever the bundle says.
pub(in crate::fix) fn safe_name(text: &str) -> String {
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
