//! Configurations that others wrote, from a folder: `CASEFILE_CONTAINERD_FILES` names it. Each file is a root file, and once
//! more with another file of the folder as its drop-in where `CASEFILE_CONTAINERD_DROPINS` is set; which one follows from its name.
//! `CASEFILE_CONTAINERD_HALF` is `even` or `odd`: every second file of the sorted list, so that one half stays unseen.
//! `CASEFILE_CONTAINERD_FILES_DAEMONS` starts a daemon with each and asks whether its CRI service came up.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use casefile_sim_node::containerd::{
    Answer, EffectiveConfig, MapTree, RootFile, Starts, cri_view, resolve,
};

use super::daemon::{Daemon, last_word};
use super::dump::{Outcome, compare};
use super::{Case, binaries, built_in, verdict, version_of};

/// A file as root, with a drop-in beside it or none.
struct Tree<'a> {
    root: &'a Path,
    dropin: Option<&'a Path>,
}

impl std::fmt::Display for Tree<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = |path: &Path| path.file_name().map(|name| name.display().to_string());
        write!(f, "{}", name(self.root).unwrap_or_default())?;
        match self.dropin.and_then(name) {
            Some(dropin) => write!(f, " + {dropin}"),
            None => Ok(()),
        }
    }
}

#[test]
fn files_of_a_folder_come_to_what_real_containerds_make_of_them() {
    let Some(folder) = std::env::var_os("CASEFILE_CONTAINERD_FILES") else {
        println!("skipped: CASEFILE_CONTAINERD_FILES names no folder of configurations");
        return;
    };
    let files = half(files(Path::new(&folder)));
    let trees = trees(&files);
    let daemons = std::env::var_os("CASEFILE_CONTAINERD_FILES_DAEMONS").is_some();
    let mut all = Vec::new();
    for binary in binaries() {
        let version = version_of(&binary);
        let defaults = built_in(&binary, &version);
        let (mut equal, mut explained, mut refused) = (0, BTreeMap::<&str, u64>::new(), 0);
        let mut seen = BTreeMap::<&str, u64>::new();
        let before = all.len();
        for tree in &trees {
            let case = lay(tree, &version);
            refused += u64::from(case.config.starts() == Starts::No);
            match compare(&binary, &case.root, &case.config, &defaults) {
                Outcome::Equal => equal += 1,
                Outcome::Explained(why) => *explained.entry(why).or_default() += 1,
                Outcome::Differs(how) => all.push(format!("{version} {tree}: {how}")),
            }
            if daemons {
                match started(&binary, &case) {
                    Ok(name) => *seen.entry(name).or_default() += 1,
                    Err(how) => all.push(format!("{version} {tree}, daemon: {how}")),
                }
            }
        }
        let known: u64 = explained.values().sum();
        println!(
            "{version}\n  {} trees, {equal} equal, {known} explained, {} differ; {refused} refused; {seen:?}",
            trees.len(),
            all.len() - before
        );
        for (why, count) in explained {
            println!("  {count} x {why}");
        }
    }
    verdict("files", &all);
}

/// Each file alone, and with a drop-in.
fn trees(files: &[PathBuf]) -> Vec<Tree<'_>> {
    let alone = files.iter().map(|root| Tree { root, dropin: None });
    let mut trees: Vec<Tree<'_>> = alone.collect();
    if std::env::var_os("CASEFILE_CONTAINERD_DROPINS").is_some() {
        trees.extend(files.iter().enumerate().map(|(at, root)| {
            let name = root.as_os_str().as_encoded_bytes();
            let step = name.iter().map(|byte| usize::from(*byte)).sum::<usize>();
            let dropin = files[(at + 1 + step) % files.len()].as_path();
            Tree {
                root,
                dropin: Some(dropin),
            }
        }));
    }
    trees
}

/// Writes a tree where it can run: folders of the machine that the test runs on are not the file's, and what a daemon
/// would write or listen on lies below its own folder.
fn lay(tree: &Tree<'_>, version: &str) -> Case {
    let dir = tempfile::tempdir().unwrap();
    let own = dir.path().display().to_string();
    let at = |name: &str| dir.path().join(name).display().to_string();
    let read = |path: &Path| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.replace("/etc/containerd/", &format!("{own}/"))
    };
    let root = at("config.toml");
    let mut text = read(tree.root);
    let mut map = MapTree::whole();
    if let Some(dropin) = tree.dropin {
        let path = at("conf.d/50-other.toml");
        let inner = without_imports(&read(dropin));
        std::fs::create_dir_all(dir.path().join("conf.d")).unwrap();
        std::fs::write(&path, &inner).unwrap();
        map.add(&path, "conf.d/50-other.toml", &inner);
        text = format!(
            "imports = [\"{own}/conf.d/*.toml\"]\n{}",
            without_imports(&text)
        );
    }
    std::fs::write(&root, &text).unwrap();
    map.add(&root, "config.toml", &text);
    let file = RootFile {
        path: &root,
        explicit: true,
    };
    let config = resolve(&map, file, Some(version));
    Case { dir, root, config }
}

/// A text without its own list of imports, which would be the second of its name.
fn without_imports(text: &str) -> String {
    let mut inside = false;
    let mut kept = String::new();
    for line in text.lines() {
        let starts = line.trim_start().starts_with("imports");
        if starts || inside {
            inside = !line.contains(']');
            continue;
        }
        kept.push_str(line);
        kept.push('\n');
    }
    kept
}

/// Whether a daemon starts, and serves CRI, as we say; the name of what it did.
fn started(binary: &Path, case: &Case) -> Result<&'static str, String> {
    let cri = cri_view(&case.config);
    let starts = case.config.starts() != Starts::No;
    if starts && cri.available == Answer::Unknown {
        return Ok("left undecided by us");
    }
    let ours = starts.then_some(cri.available == Answer::Yes);
    let real = Daemon::start(binary, &case.root, case.dir.path()).map(|daemon| daemon.cri);
    if real != ours {
        let said = said(&case.config, &cri.problems);
        let line = last_word(case.dir.path());
        return Err(format!("real {real:?}, ours {ours:?}: {line} | {said:?}"));
    }
    Ok(match real {
        None => "refuses to start",
        Some(false) => "runs without CRI",
        Some(true) => "runs with CRI",
    })
}

fn said(
    config: &EffectiveConfig,
    problems: &[casefile_sim_node::containerd::ConfigProblem],
) -> Vec<String> {
    let problems = config.problems.iter().chain(problems);
    problems.map(ToString::to_string).collect()
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
