//! For tests: a bundle in a folder, the script of a change, and a run of it where every program is recorded.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::captured::Captured;
use super::change::{Change, Refused};
use super::proofs::Fix;
use super::replay::Proof;
use super::write;
use crate::model::Input;

/// Programs that a run may really use: they read or write files only.
const REAL: [&str; 21] = [
    "bash",
    "cat",
    "chmod",
    "cp",
    "cut",
    "date",
    "diff",
    "dirname",
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
    "sync",
    "tail",
];
/// Programs that a run only pretends to use.
const PRETENDED: [&str; 20] = [
    "containerd",
    "dockerd",
    "helm",
    "hostname",
    "id",
    "iptables",
    "iptables-legacy",
    "iptables-legacy-restore",
    "iptables-legacy-save",
    "iptables-nft",
    "iptables-nft-restore",
    "iptables-nft-save",
    "iptables-restore",
    "iptables-save",
    "kubectl",
    "sysctl",
    "systemctl",
    "systemd-analyze",
    "ufw",
    "readlink",
];
pub(super) const NODE: &str = "n1";

/// A bundle, what a change makes of it, and room for a run.
pub(super) struct Sandbox {
    pub(super) folder: tempfile::TempDir,
}

/// What a run did.
pub(super) struct Ran {
    pub(super) code: i32,
    pub(super) said: String,
    /// Programs that were started, each once.
    pub(super) programs: BTreeSet<String>,
}

impl Sandbox {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("bundle/nodes/n1/commands")).unwrap();
        std::fs::write(
            folder.path().join("bundle/nodes/n1/commands/uname.out"),
            "Linux\n",
        )
        .unwrap();
        Self { folder }
    }

    /// A file of the node as it really is: a place that the test may change.
    pub(super) fn node_file(&self, name: &str) -> String {
        format!("{}/node/{name}", self.folder.path().display())
    }

    /// An entry of the bundle.
    pub(super) fn entry(&self, path: &str, text: &str) {
        let path = self
            .folder
            .path()
            .join("bundle")
            .join(path.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// A file that is on the node, and in the bundle as `copied`.
    pub(super) fn file(&self, name: &str, text: &str, copied: &str) -> String {
        let path = self.node_file(name);
        std::fs::create_dir_all(Path::new(&path).parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        self.entry(&format!("nodes/{NODE}/rootfs{path}"), copied);
        path
    }

    pub(super) fn captured(&self) -> Captured {
        Captured::open(self.folder.path().join("bundle").as_path()).unwrap()
    }

    /// Writes the folder of a fix that makes these changes.
    pub(super) fn write(&self, changes: &[Change]) -> Result<PathBuf, Refused> {
        let mut state = self.captured();
        let applied: Result<Vec<_>, _> = changes
            .iter()
            .map(|one| one.kind().apply(&mut state))
            .collect();
        let mut fixes = [Fix {
            cause: "tried".into(),
            title: "a title".into(),
            verdict: None,
            remedy: "the remedy".into(),
            by_hand: Vec::new(),
            verify: Vec::new(),
            narrower: None,
            proof: Ok(Proof {
                changes: changes.to_vec(),
                applied: applied?,
                shown: None,
                gone: Vec::new(),
                remains: Vec::new(),
                appears: Vec::new(),
                opens: Vec::new(),
                state,
            }),
        }];
        let out = self.folder.path().join("out");
        write::write(&Input::default(), &mut fixes, &out).unwrap();
        Ok(out.join("tried"))
    }

    /// Runs `apply.sh` with nothing on its path but recorded programs.
    pub(super) fn run(&self, fix: &Path, arguments: &[&str]) -> Ran {
        let (shims, log) = (
            self.folder.path().join("shims"),
            self.folder.path().join("programs"),
        );
        if !shims.exists() {
            self.shims(&shims, &log);
        }
        let _ = std::fs::remove_file(&log);
        let output = Command::new("/bin/bash")
            .arg(fix.join("apply.sh"))
            .args(arguments)
            .env_clear()
            .env("PATH", &shims)
            .env("NODE_NAME", NODE)
            .env(
                "YES",
                if arguments.contains(&"--back") {
                    "1"
                } else {
                    ""
                },
            )
            .current_dir(self.folder.path())
            .output()
            .unwrap();
        let programs = std::fs::read_to_string(&log).unwrap_or_default();
        Ran {
            code: output.status.code().unwrap_or(-1),
            said: String::from_utf8_lossy(&output.stderr).into_owned(),
            programs: programs.lines().map(str::to_owned).collect(),
        }
    }

    fn shims(&self, shims: &Path, log: &Path) {
        std::fs::create_dir(shims).unwrap();
        let put = |name: &str, then: &str| {
            let text = format!(
                "#!/bin/bash\nprintf '%s\\n' {name} >> {}\n{then}\n",
                log.display()
            );
            let path = shims.join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        };
        for name in REAL {
            put(name, &format!("exec /usr/bin/{name} \"$@\""));
        }
        for name in PRETENDED {
            let then = match name {
                "id" => "echo 0",
                "hostname" => "echo n1",
                "readlink" => "exec /usr/bin/readlink \"$@\"",
                _ => "exit 0",
            };
            put(name, then);
        }
    }
}
