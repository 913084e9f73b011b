//! The binary that is handed out: static, small, and at home where there is nothing or only something old. It is the
//! one that `collector/package` built; these tests do not build it.

use std::path::{Path, PathBuf};
use std::process::Command;

use casefile_tests::bins;

use crate::support::{CANNOT, Ended, ended, manifest, skip};

const MOST: u64 = 25 << 20;

pub(crate) fn packed(test: &str) -> Option<PathBuf> {
    let profile = bins::folder();
    let target = profile.parent()?;
    let path = target.join("x86_64-unknown-linux-gnu/release/casefile-collector");
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
fn inside(root: &Path, binary: &Path) -> Ended {
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
    let seen = inside(root.path(), &binary);
    assert_eq!(seen.code, 4, "{seen:?}");
    bundle(root.path());
    let names: Vec<_> = std::fs::read_dir(root.path()).unwrap().collect();
    assert_eq!(names.len(), 2, "{names:?}");
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
    let seen = inside(root.path(), &binary);
    assert!(matches!(seen.code, 0 | 4), "{seen:?}");
    let file = bundle(root.path());
    // Its own programs ran, with its own C library.
    let df = manifest(&file)
        .entries
        .into_iter()
        .find(|entry| entry.path.as_str().ends_with("/commands/df-inodes.out"));
    assert!(df.is_some_and(|df| df.bytes > 0));
}
