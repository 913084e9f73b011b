//! The binary that is handed out: static, small, and at home where there is nothing or only something old. It is the
//! one that `collector/package` built; these tests do not build it.

use std::path::{Path, PathBuf};
use std::process::Command;

use casefile_bundle::Outcome;
use casefile_tests::bins;
use casefile_tests::recording::User;
use casefile_tests::replay::small::Small;
use casefile_tests::replay::{Credential, Faults, Server};

use crate::support::{CANNOT, Ended, ended, manifest, plant, skip, source, told};

const MOST: u64 = 25 << 20;

pub(crate) fn packed(test: &str) -> Option<PathBuf> {
    let profile = bins::folder();
    let target = profile.parent()?;
    let path = target.join("x86_64-unknown-linux-gnu/dist/casefile-collector");
    if !path.exists() {
        skip(test, "collector/package has not built the static binary");
        return None;
    }
    if !nix::unistd::Uid::effective().is_root() {
        skip(test, "chroot needs root");
        return None;
    }
    Some(path)
}

/// Runs the binary with this folder as its whole world; the bundle lies in the folder's `out`.
fn inside(root: &Path, binary: &Path, more: &[&str]) -> Ended {
    std::fs::copy(binary, root.join("casefile-collector")).unwrap();
    std::fs::create_dir_all(root.join("out")).unwrap();
    // An unpacked userland gets its processes and devices, in a mount namespace of its own.
    let script = "[ ! -d \"$0/proc\" ] || { mkdir -p \"$0/dev\"; mount -t proc proc \"$0/proc\"; mount --bind /dev \"$0/dev\"; }; exec chroot \"$0\" \"$@\"";
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "sh", "-c", script])
        .arg(root)
        .args(["/casefile-collector", "-o", "/out/", "--timeout", "60s"])
        .args(["--progress", "none"])
        .args(more)
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    ended(command.output().unwrap())
}

/// The one bundle, and that each of its sources says how it went.
fn bundle(root: &Path) -> PathBuf {
    let files: Vec<_> = std::fs::read_dir(root.join("out")).unwrap().collect();
    let [Ok(file)] = files.as_slice() else {
        panic!("one file is wanted: {files:?}")
    };
    let manifest = manifest(&file.path());
    assert!(!manifest.sources.is_empty());
    file.path()
}

#[test]
fn it_is_small_and_runs_in_an_empty_chroot() {
    let test = "it_is_small_and_runs_in_an_empty_chroot";
    let Some(binary) = packed(test) else { return };
    let size = std::fs::metadata(&binary).unwrap().len();
    assert!(size < MOST, "{size}");
    let root = tempfile::tempdir().unwrap();
    let seen = inside(root.path(), &binary, &[]);
    assert_eq!(seen.code, 4, "{seen:?}");
    bundle(root.path());
    let names: Vec<_> = std::fs::read_dir(root.path()).unwrap().collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

/// A process that ends with its test.
struct Running(std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn it_looks_names_up_where_there_is_no_c_library_to_ask() {
    let test = "it_looks_names_up_where_there_is_no_c_library_to_ask";
    let Some(binary) = packed(test) else { return };
    let server = Server::start(
        Small::new(),
        "127.0.0.1:0".parse().unwrap(),
        Faults::default(),
    )
    .unwrap();
    let resolver = Command::new(bins::find("casefile-dns"))
        .args(["127.0.0.77:53", "kubernetes=127.0.0.1"])
        .spawn();
    let _resolver = Running(resolver.unwrap());
    let root = tempfile::tempdir().unwrap();
    plant(root.path(), "etc/resolv.conf", "nameserver 127.0.0.77\n");
    let kubeconfig = server.kubeconfig(User::Admin, Credential::Certificate);
    plant(
        root.path(),
        "kubeconfig",
        kubeconfig.replace("https://127.0.0.1:", "https://kubernetes:"),
    );
    let more = ["--only", "cluster_objects", "--kubeconfig", "/kubeconfig"];
    let seen = inside(root.path(), &binary, &more);
    assert!(matches!(seen.code, 0 | 4), "{seen:?}");
    let manifest = manifest(&bundle(root.path()));
    let (outcome, text) = told(source(&manifest, "cluster_objects"));
    assert!(
        matches!(outcome, Outcome::Collected | Outcome::Partial),
        "{text}"
    );
    assert!(
        server
            .requests()
            .iter()
            .any(|request| request.contains("/api/v1/pods"))
    );
}

#[test]
fn it_runs_in_the_oldest_userland_that_can_be_had() {
    let test = "it_runs_in_the_oldest_userland_that_can_be_had";
    let Some(binary) = packed(test) else { return };
    let root = tempfile::tempdir().unwrap();
    let given = std::env::var_os("CASEFILE_USERLAND").map(PathBuf::from);
    let mut command = match &given {
        Some(folder) => {
            let mut command = Command::new("cp");
            command.arg("-a").arg(folder.join(".")).arg(root.path());
            command
        }
        None => {
            let mut command = Command::new(bins::checkout().join("tests/lab/userland"));
            command.arg(root.path());
            command
        }
    };
    let made = ended(command.output().unwrap());
    if made.code == CANNOT {
        return skip(test, made.err.lines().last().unwrap_or_default());
    }
    assert_eq!(made.code, 0, "{made:?}");
    let seen = inside(root.path(), &binary, &[]);
    assert!(matches!(seen.code, 0 | 4), "{seen:?}");
    let file = bundle(root.path());
    // Its own programs ran, with its own C library.
    let df = manifest(&file)
        .entries
        .into_iter()
        .find(|entry| entry.path.as_str().ends_with("/commands/df-inodes.out"));
    assert!(df.is_some_and(|df| df.bytes > 0));
}
