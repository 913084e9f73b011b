//! Encrypted bundles: nothing readable is on the disk at any time, and the analyzer opens them with a key.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use casefile_tests::bins;

use crate::support::{plant, run, skip};

/// How each gzip member of a bundle begins.
const MEMBER: &[u8] = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x0c\0CF\x08\0";
const TOLD: &[u8] = b"imports of the berlin rack";

fn keys(test: &str, folder: &Path) -> Option<(String, String)> {
    let made = Command::new("sh")
        .args([
            "-ec",
            "age-keygen -o a.key 2>/dev/null; age-keygen -y a.key; age-keygen -o b.key 2>/dev/null",
        ])
        .current_dir(folder)
        .output()
        .ok()
        .filter(|made| made.status.success());
    let Some(made) = made else {
        skip(test, "age is not installed");
        return None;
    };
    let recipient = String::from_utf8(made.stdout).unwrap().trim().to_owned();
    Some((recipient, folder.join("a.key").display().to_string()))
}

/// A disk with more to collect than is done in a moment.
fn disk(folder: &Path, files: u64) -> String {
    let root = folder.join("root");
    plant(&root, "/etc/hostname", "gpu-7\n");
    plant(
        &root,
        "/etc/containerd/config.toml",
        "imports = [\"/etc/containerd/conf.d/*.toml\"]\n",
    );
    for file in 0..files {
        let mut state = file + 77;
        let mut text = format!("# {}\n", String::from_utf8_lossy(TOLD));
        while text.len() < 3 << 20 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            // Writing to a String cannot fail.
            let _ = writeln!(text, "# {} {}", state >> 34, state >> 40 & 0xfffff);
        }
        plant(&root, &format!("/etc/containerd/conf.d/{file}.toml"), text);
    }
    root.display().to_string()
}

fn start(folder: &Path, root: &str, more: &[&str]) -> Child {
    let out = folder.join("out");
    std::fs::create_dir_all(&out).unwrap();
    Command::new(bins::find(bins::COLLECTOR))
        .args(["collect", "--progress", "none", "--root", root, "-o"])
        .arg(&out)
        .args(more)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The files that lie in the output folder, and those that the process holds open there without a name.
fn files(folder: &Path, pid: u32) -> Vec<PathBuf> {
    let out = folder.join("out");
    let named = std::fs::read_dir(&out).into_iter().flatten();
    let open = std::fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten();
    let in_out = |link: &PathBuf| std::fs::read_link(link).is_ok_and(|to| to.starts_with(&out));
    let open = open.flatten().map(|file| file.path()).filter(in_out);
    named
        .flatten()
        .map(|file| file.path())
        .chain(open)
        .collect()
}

fn readable(bytes: &[u8]) -> bool {
    [MEMBER, TOLD]
        .iter()
        .any(|part| bytes.windows(part.len()).any(|window| window == *part))
}

/// Kills a run in the middle; whether anything readable was there before or is there now.
fn killed_half_way(folder: &Path, root: &str, more: &[&str]) -> bool {
    let mut child = start(folder, root, more);
    let begun = Instant::now();
    let mut seen = false;
    loop {
        let all = files(folder, child.id());
        let contents: Vec<Vec<u8>> = all.iter().flat_map(std::fs::read).collect();
        seen |= contents.iter().any(|bytes| readable(bytes));
        if contents.iter().any(|bytes| bytes.len() > 1 << 20) {
            break;
        }
        assert!(
            child.try_wait().unwrap().is_none(),
            "it ended before it was killed"
        );
        assert!(
            begun.elapsed() < Duration::from_secs(120),
            "nothing is written"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let left = files(folder, child.id());
    assert!(!left.is_empty(), "the unfinished file is gone");
    seen | left
        .iter()
        .flat_map(std::fs::read)
        .any(|bytes| readable(&bytes))
}

#[test]
fn a_run_that_is_killed_leaves_nothing_readable_where_it_encrypts() {
    const TEST: &str = "a_run_that_is_killed_leaves_nothing_readable_where_it_encrypts";
    let folder = tempfile::tempdir().unwrap();
    let Some((recipient, _)) = keys(TEST, folder.path()) else {
        return;
    };
    let root = disk(folder.path(), 10);
    assert!(!killed_half_way(
        folder.path(),
        &root,
        &["--encrypt-to", &recipient]
    ));
    std::fs::remove_dir_all(folder.path().join("out")).unwrap();
    // The same look finds what a plain run leaves, which says that it was not searched for leaks.
    assert!(killed_half_way(folder.path(), &root, &[]));
    let left = files(folder.path(), 0).remove(0);
    let verified = run(bins::COLLECTOR, &["verify", left.to_str().unwrap()]);
    assert_eq!(verified.code, 3);
    assert!(
        verified.out.contains("the leak check has not searched it"),
        "{verified:?}"
    );
}

#[test]
fn the_analyzer_opens_an_encrypted_bundle_with_its_key_alone() {
    const TEST: &str = "the_analyzer_opens_an_encrypted_bundle_with_its_key_alone";
    let folder = tempfile::tempdir().unwrap();
    let Some((recipient, key)) = keys(TEST, folder.path()) else {
        return;
    };
    let root = disk(folder.path(), 1);
    let mut child = start(folder.path(), &root, &["--encrypt-to", &recipient]);
    assert!(
        child
            .wait()
            .unwrap()
            .code()
            .is_some_and(|code| matches!(code, 0 | 4))
    );
    let bundle = files(folder.path(), 0).remove(0);
    let file = bundle.to_str().unwrap();
    // What the standard tool makes of it is the plain bundle: both are diagnosed alike.
    let plain = folder.path().join(bundle.file_stem().unwrap());
    let opened = Command::new("age")
        .args(["-d", "-i", &key, "-o"])
        .arg(&plain)
        .arg(&bundle)
        .status();
    assert!(opened.unwrap().success());
    let plain = plain.to_str().unwrap();
    for (command, more) in [("ls", None), ("cat", Some("manifest.json"))] {
        let mut of_plain = vec![command, plain];
        let mut of_locked = vec![command, "--identity", &key, file];
        of_plain.extend(more);
        of_locked.extend(more);
        let (one, other) = (
            run(bins::ANALYZER, &of_plain),
            run(bins::ANALYZER, &of_locked),
        );
        assert!(
            one.code == 0 && one.out == other.out,
            "{command}: {other:?}"
        );
    }
    let locked = run(bins::ANALYZER, &["diagnose", "--identity", &key, file]);
    let unlocked = run(bins::ANALYZER, &["diagnose", plain]);
    assert_eq!(
        (locked.code, locked.out.replace(".age", "")),
        (0, unlocked.out)
    );
    let out = folder.path().join("report").display().to_string();
    assert_eq!(
        run(bins::ANALYZER, &["report", "-i", &key, file, "-o", &out]).code,
        0
    );
    assert_eq!(
        run(bins::ANALYZER, &["diff", "-i", &key, plain, file]).code,
        0
    );
    let whole = run(bins::COLLECTOR, &["verify", "--identity", &key, file]);
    assert_eq!(whole.code, 0, "{whole:?}");
    refused(folder.path(), file);
}

/// Without the right key there is a sentence and exit code 3.
fn refused(folder: &Path, file: &str) {
    let other = folder.join("b.key").display().to_string();
    let none = folder.join("none").display().to_string();
    for (more, why) in [
        (vec![], "--identity KEY"),
        (vec!["--identity", &other], "encrypted for other keys"),
        (vec!["--identity", &none], "cannot be read as a key"),
        (vec!["--identity", file], "encrypted"),
    ] {
        for (program, command) in [(bins::ANALYZER, "diagnose"), (bins::COLLECTOR, "verify")] {
            let mut all = vec![command, file];
            all.extend(&more);
            let ended = run(program, &all);
            assert!(
                ended.code == 3 && ended.err.contains(why),
                "{more:?}: {ended:?}"
            );
        }
    }
}
