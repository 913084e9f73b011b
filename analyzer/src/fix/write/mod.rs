//! Hands a fix over as files: what changes in full and as differences, a page to follow, a script that stops at each step.

mod page;
mod script;

use std::path::{Path, PathBuf};

use super::proofs::Fix;
use crate::change::Change;
use crate::change::shell::safe_name;
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
        let cluster = fix.cluster();
        put(
            &script,
            &script::apply(fix, cluster.as_deref()),
            &mut written,
        )?;
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
