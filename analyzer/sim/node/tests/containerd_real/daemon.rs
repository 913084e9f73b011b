//! A real containerd with a root, a state and a socket of its own.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

/// A running daemon; it ends with this value.
pub(crate) struct Daemon {
    child: Child,
    pub(crate) socket: PathBuf,
    /// Whether its CRI service came up.
    pub(crate) cri: bool,
}

impl Daemon {
    /// Starts a daemon on a tree; `None` where it ends by itself.
    pub(crate) fn start(binary: &Path, root: &str, dir: &Path) -> Option<Self> {
        let socket = dir.join("c.sock");
        let log = File::create(dir.join("log")).unwrap();
        let child = Command::new(binary)
            .args(["-c", root])
            .arg("--root")
            .arg(dir.join("root"))
            .arg("--state")
            .arg(dir.join("state"))
            .arg("--address")
            .arg(&socket)
            .env("PATH", path_with(binary))
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .expect("daemon starts");
        let mut daemon = Self {
            child,
            socket,
            cri: false,
        };
        for _ in 0..100 {
            std::thread::sleep(Duration::from_millis(100));
            if daemon.child.try_wait().unwrap().is_some() {
                return None;
            }
            if let Some(up) = daemon.serves_cri() {
                daemon.cri = up;
                return Some(daemon);
            }
        }
        panic!("{root}: the daemon does not answer within ten seconds");
    }

    fn ctr(&self, arguments: &[&str]) -> std::process::Output {
        Command::new("ctr")
            .arg("--address")
            .arg(&self.socket)
            .args(["--connect-timeout", "2s"])
            .args(arguments)
            .output()
            .unwrap()
    }

    fn serves_cri(&self) -> Option<bool> {
        let out = self.ctr(&["plugins", "ls"]);
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        let serving = |line: &str| {
            line.contains("io.containerd.grpc.v1") && line.contains(" cri ") && line.ends_with("ok")
        };
        let up = text.lines().map(str::trim_end).any(serving);
        out.status.success().then_some(up)
    }

    /// Puts an image of one small file where the CRI service looks for the pause image.
    pub(crate) fn import_pause(&self, name: &str, dir: &Path) {
        const MAKE: &str = r#"set -e
cd "$1"; mkdir -p files; echo pause >files/pause; tar -C files -cf layer.tar .
layer=$(sha256sum layer.tar | cut -d' ' -f1)
printf '{"architecture":"amd64","os":"linux","config":{"Entrypoint":["/pause"]},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' "$layer" >config.json
printf '[{"Config":"config.json","RepoTags":["%s"],"Layers":["layer.tar"]}]' "$2" >manifest.json
tar -cf image.tar manifest.json config.json layer.tar"#;
        let dir = dir.join("image");
        std::fs::create_dir_all(&dir).unwrap();
        let made = Command::new("sh")
            .args(["-c", MAKE, "sh"])
            .arg(&dir)
            .arg(name)
            .status()
            .unwrap();
        assert!(made.success());
        let tar = dir.join("image.tar");
        let import = ["--namespace", "k8s.io", "images", "import", "--no-unpack"];
        let out = self.ctr(&[&import[..], &[tar.to_str().unwrap()]].concat());
        assert!(out.status.success(), "{name}: {out:?}");
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let ended = self.child.kill().and_then(|()| self.child.wait());
        assert!(ended.is_ok() || std::thread::panicking(), "{ended:?}");
    }
}

/// The daemon's own folder first, so that it finds the shim of its release.
fn path_with(binary: &Path) -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    match binary.parent().filter(|dir| dir.is_absolute()) {
        Some(dir) => format!("{}:{path}", dir.display()),
        None => path,
    }
}

/// What the daemon's log says about a refusal.
pub(crate) fn last_word(dir: &Path) -> String {
    let log = std::fs::read_to_string(dir.join("log")).unwrap_or_default();
    let telling = log
        .lines()
        .find(|line| line.contains("cri") && line.contains("error"));
    telling
        .or(log.lines().last())
        .unwrap_or_default()
        .to_owned()
}
