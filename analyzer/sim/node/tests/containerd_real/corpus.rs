//! Configurations that others wrote, from a folder: `CASEFILE_CONTAINERD_FILES` names it, each file is a root file.
//! `CASEFILE_CONTAINERD_HALF` is `even` or `odd`: every second file of the sorted list, so that one half stays unseen.

use std::path::{Path, PathBuf};

use casefile_sim_node::containerd::{MapTree, RootFile, Starts, resolve};

use super::dump::{Outcome, compare};
use super::{binaries, built_in, verdict, version_of};

#[test]
fn files_of_a_folder_come_to_what_real_containerds_make_of_them() {
    let Some(folder) = std::env::var_os("CASEFILE_CONTAINERD_FILES") else {
        println!("skipped: CASEFILE_CONTAINERD_FILES names no folder of configurations");
        return;
    };
    let files = half(files(Path::new(&folder)));
    let mut all = Vec::new();
    for binary in binaries() {
        let version = version_of(&binary);
        let defaults = built_in(&binary, &version);
        let (mut equal, mut explained, mut refused) = (0, 0, 0);
        let before = all.len();
        for path in &files {
            let dir = tempfile::tempdir().unwrap();
            let root = dir.path().join("config.toml").display().to_string();
            // Folders of the machine that the test runs on are not the file's.
            let text = std::fs::read_to_string(path).unwrap_or_default();
            let text = text.replace("/etc/containerd/", &format!("{}/", dir.path().display()));
            std::fs::write(&root, &text).unwrap();
            let mut tree = MapTree::whole();
            tree.add(&root, "config.toml", &text);
            let file = RootFile {
                path: &root,
                explicit: true,
            };
            let config = resolve(&tree, file, Some(&version));
            refused += u64::from(config.starts() == Starts::No);
            match compare(&binary, &root, &config, &defaults) {
                Outcome::Equal => equal += 1,
                Outcome::Explained(_) => explained += 1,
                Outcome::Differs(how) => all.push(format!("{version} {}: {how}", path.display())),
            }
        }
        println!(
            "{version}\n  {} files, {equal} equal, {explained} explained, {} differ; {refused} refused",
            files.len(),
            all.len() - before
        );
    }
    verdict("files", &all);
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = read.map(|file| file.path()).collect();
    files.sort();
    files
}

fn half(files: Vec<PathBuf>) -> Vec<PathBuf> {
    let wanted = match std::env::var("CASEFILE_CONTAINERD_HALF").as_deref() {
        Ok("even") => Some(0),
        Ok("odd") => Some(1),
        _ => None,
    };
    let all = files.into_iter().enumerate();
    let kept = all.filter(|(index, _)| wanted.is_none_or(|wanted| index % 2 == wanted));
    kept.map(|(_, file)| file).collect()
}
