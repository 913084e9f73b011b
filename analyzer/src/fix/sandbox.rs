//! For tests: a bundle in a folder, the script of a change, and a run of it where every program is recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use casefile_bundle::Entry;

use super::proofs::Fix;
use super::replay::Proof;
use super::write;
use crate::change::captured::Captured;
use crate::change::shell::Program;
use crate::change::{Change, Refused};
use crate::model::Input;

/// Programs that a run may really use: they read or write files only.
const REAL: [&str; 23] = [
    "bash",
    "cat",
    "chmod",
    "cp",
    "cut",
    "date",
    "diff",
    "dirname",
    "flock",
    "grep",
    "head",
    "install",
    "ln",
    "mkdir",
    "mktemp",
    "mv",
    "rm",
    "rmdir",
    "sed",
    "sha256sum",
    "stat",
    "sync",
    "tail",
];
/// Programs that a run only pretends to use: those of the list that are not real, and two that scripts ask who and where
/// they are.
fn pretended() -> impl Iterator<Item = &'static str> {
    let listed = Program::ALL.iter().map(|program| program.name());
    let listed = listed.filter(|name| !REAL.contains(name) && *name != "printf");
    listed.chain(["hostname", "id"])
}
/// Stands before a script that dies. The count is in a file, since a subshell's own is lost with it.
const KILLED: &str = r#"#!/usr/bin/env bash
set -T
dies() {
  local count=0
  case $1 in
    *'> '* | *'>> '*) ;;
    cat\ * | cut\ * | date\ * | diff\ * | dirname\ * | flock\ * | grep\ * | head\ * | hostname* | id\ * | sed\ * | sha256sum\ * | \
      stat\ * | sync\ * | tail\ *) return 0 ;;
    *) command -v -- "$PATH/${1%% *}" >/dev/null || return 0 ;;
  esac
  read -r count < "$KILL_COUNT" || true
  [ $((count + 1)) -lt "$KILL_BEFORE" ] || kill -9 0
  printf '%s\n' $((count + 1)) > "$KILL_COUNT"
}
trap 'dies "$BASH_COMMAND"' DEBUG
"#;
pub(super) const NODE: &str = "n1";

/// Folders of a node that a script may name; a run finds them below a folder of its own.
const NODE_FOLDERS: [&str; 6] = [
    "/etc/",
    "/opt/",
    "/var/",
    "/usr/lib/",
    "/proc/sys/",
    "/proc/swaps",
];

/// A bundle, what a change makes of it, and a node's folders for a run.
pub(super) struct Sandbox {
    pub(super) folder: tempfile::TempDir,
    written: std::cell::Cell<u32>,
    /// Whether the programs that a run starts are recorded, which takes as long as they do.
    pub(super) recorded: bool,
    /// As which node the machine is known.
    pub(super) node_name: std::cell::Cell<&'static str>,
}

/// The folder of a fix, and the files of the node that it says it changes.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) folder: PathBuf,
    pub(super) files: BTreeSet<String>,
}

/// What a run did.
pub(super) struct Ran {
    pub(super) code: i32,
    pub(super) said: String,
    /// Programs that were started, each once.
    pub(super) programs: BTreeSet<String>,
}

/// Files of a node with their modes and bytes.
pub(super) type Tree = BTreeMap<String, (u32, Vec<u8>)>;

impl Sandbox {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("node")).unwrap();
        let sandbox = Self {
            folder,
            written: std::cell::Cell::new(0),
            recorded: true,
            node_name: std::cell::Cell::new(NODE),
        };
        sandbox.entry("nodes/n1/commands/uname.out", "Linux\n");
        sandbox
    }

    /// Where a file of the node lies in the sandbox.
    pub(super) fn real(&self, path: &str) -> PathBuf {
        self.folder
            .path()
            .join("node")
            .join(path.trim_start_matches('/'))
    }

    /// An entry of the bundle.
    pub(super) fn entry(&self, path: &str, text: &str) {
        plant(&self.folder.path().join("bundle").join(path), text);
    }

    /// A file that is on the node, and in the bundle as `copied`.
    pub(super) fn file(&self, path: &str, text: &str, copied: &str) {
        plant(&self.real(path), text);
        self.entry(&Entry::Rootfs(NODE, path).path(), copied);
    }

    /// The node's files.
    pub(super) fn tree(&self) -> Tree {
        let root = self.folder.path().join("node");
        let (mut folders, mut tree) = (vec![root.clone()], Tree::new());
        while let Some(folder) = folders.pop() {
            for file in std::fs::read_dir(folder).unwrap() {
                let path = file.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let mode = path.metadata().unwrap().permissions().mode();
                let name = format!("/{}", path.strip_prefix(&root).unwrap().to_str().unwrap());
                tree.insert(name, (mode, std::fs::read(&path).unwrap()));
            }
        }
        tree
    }

    pub(super) fn captured(&self) -> Captured {
        Captured::open(self.folder.path().join("bundle").as_path()).unwrap()
    }

    /// Writes the folder of a fix that makes these changes.
    pub(super) fn write(&self, changes: &[Change]) -> Result<Planned, Refused> {
        let mut state = self.captured();
        let applied: Result<Vec<_>, _> = changes.iter().map(|one| one.apply(&mut state)).collect();
        let applied = applied?;
        let actions = applied.iter().flat_map(|one| &one.actions);
        let files = actions.flat_map(|one| one.backup.clone()).collect();
        let mut fixes = [Fix {
            cause: "tried".into(),
            title: "a title".into(),
            verdict: None,
            remedy: "the remedy".into(),
            by_hand: Vec::new(),
            verify: Vec::new(),
            narrower: None,
            proof: Ok(Proof {
                works: false,
                workload: crate::fix::workload::Workload::default(),
                unshown: Vec::new(),
                changes: changes.to_vec(),
                applied,
                shown: None,
                gone: Vec::new(),
                remains: Vec::new(),
                appears: Vec::new(),
                opens: Vec::new(),
                state,
            }),
        }];
        self.written.set(self.written.get() + 1);
        let out = self
            .folder
            .path()
            .join(format!("out-{}", self.written.get()));
        write::write(&Input::default(), &mut fixes, &out).unwrap();
        let folder = out.join("tried");
        let script = std::fs::read_to_string(folder.join("apply.sh")).unwrap();
        plant(&folder.join("moved.sh"), &self.moved(&script));
        Ok(Planned { folder, files })
    }

    /// The script with the node's folders in the sandbox.
    fn moved(&self, script: &str) -> String {
        let root = self.folder.path().join("node").display().to_string();
        NODE_FOLDERS.iter().fold(script.to_owned(), |text, folder| {
            text.replace(folder, &format!("{root}{folder}"))
        })
    }

    /// Runs `apply.sh` with nothing on its path but recorded programs.
    pub(super) fn run(&self, fix: &Planned, arguments: &[&str]) -> Ran {
        self.ran(fix, "moved.sh", arguments)
    }

    /// The same, killed with all that it started before its n-th command that can change anything: one that starts a
    /// program which does not only read, or that writes to a file. Between two of them nothing becomes different that a kill could show. Whether
    /// it came so far.
    pub(super) fn killed_before(&self, fix: &Planned, arguments: &[&str], command: usize) -> bool {
        let deadly = fix.folder.join("killed.sh");
        if !deadly.exists() {
            let script = std::fs::read_to_string(fix.folder.join("moved.sh")).unwrap();
            plant(&deadly, &(KILLED.to_owned() + &script));
        }
        let mut run = self.command(fix, "killed.sh", arguments);
        let count = self.folder.path().join("killed-at");
        plant(&count, "0\n");
        run.env("KILL_BEFORE", command.to_string())
            .env("KILL_COUNT", count);
        run.output().unwrap().status.signal() == Some(9)
    }

    fn ran(&self, fix: &Planned, script: &str, arguments: &[&str]) -> Ran {
        let mut command = self.command(fix, script, arguments);
        let log = self.folder.path().join("programs");
        let _ = std::fs::remove_file(&log);
        let output = command.output().unwrap();
        let programs = std::fs::read_to_string(&log).unwrap_or_default();
        Ran {
            code: output.status.code().unwrap_or(-1),
            said: String::from_utf8_lossy(&output.stderr).into_owned(),
            programs: programs.lines().map(str::to_owned).collect(),
        }
    }

    /// A run of `apply.sh` that nobody answers yet, with all that it starts in a group of its own.
    pub(super) fn command(&self, fix: &Planned, script: &str, arguments: &[&str]) -> Command {
        let (shims, log) = (
            self.folder.path().join("shims"),
            self.folder.path().join("programs"),
        );
        if !shims.exists() {
            shims_into(&shims, self.recorded.then_some(&log));
        }
        let mut command = Command::new("/bin/bash");
        command
            .arg(fix.folder.join(script))
            .args(arguments)
            .env_clear()
            .env("PATH", &shims)
            .env("NODE_NAME", self.node_name.get())
            .env("LOCK_DIR", self.folder.path())
            .env(
                "YES",
                if arguments.contains(&"--back") {
                    "1"
                } else {
                    ""
                },
            )
            .current_dir(self.folder.path())
            .stdin(std::process::Stdio::null())
            .process_group(0);
        command
    }

    /// Asserts that a run used programs of the list only, and that no text became a program.
    pub(super) fn harmless(&self, ran: &Ran, what: &str) {
        let pwned = self.folder.path().join("PWNED").exists()
            || self.tree().keys().any(|path| path.ends_with("/PWNED"));
        assert!(!pwned, "{what}: {}", ran.said);
        for program in &ran.programs {
            let known = REAL.contains(&program.as_str()) || pretended().any(|name| name == program);
            assert!(known, "{what}: {program}");
        }
        for complaint in [
            "command not found",
            "syntax error",
            "unbound variable",
            "unexpected",
            "which is not on this machine",
        ] {
            assert!(!ran.said.contains(complaint), "{what}: {}", ran.said);
        }
    }
}

fn plant(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn shims_into(shims: &Path, log: Option<&PathBuf>) {
    std::fs::create_dir(shims).unwrap();
    let put = |name: &str, then: &str| {
        let noted = log.map(|log| format!("printf '%s\\n' {name} >> {}\n", log.display()));
        let text = format!("#!/bin/sh\n{}{then}\n", noted.unwrap_or_default());
        let path = shims.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    for name in REAL {
        let real = format!("/usr/bin/{name}");
        match log {
            Some(_) => put(name, &format!("exec {real} \"$@\"")),
            None => std::os::unix::fs::symlink(real, shims.join(name)).unwrap(),
        }
    }
    for name in pretended() {
        put(
            name,
            match name {
                "id" => "echo 0",
                "hostname" => "echo n1",
                // Whoever writes to it is not to find it gone.
                name if name.ends_with("-restore") => "while read -r _; do :; done",
                _ => "exit 0",
            },
        );
    }
}
