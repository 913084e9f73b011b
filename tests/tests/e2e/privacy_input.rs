//! What leaves the site where the input is not as anybody expected: random text, a line without end, a secret of one
//! letter, a map of another run, a pattern that would keep everything.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use casefile_tests::bins;
use casefile_tests::planted::fill;

use crate::support::{collect, entry, manifest, nowhere, paths, plant, run};

/// A log that the collector reads from a disk.
const LOG: &str = "/var/log/cloud-init.log";

/// A disk with a node on it.
fn disk(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    plant(&root, "/etc/hostname", format!("{name}\n"));
    plant(
        &root,
        "/etc/hosts",
        format!("127.0.0.1 localhost\n10.20.30.41 {name}.lab.example {name}\n"),
    );
    plant(
        &root,
        "/etc/containerd/config.toml",
        "version = 2\nroot = \"/var/lib/containerd\"\n",
    );
    (folder, root)
}

fn taken(folder: &Path, root: &Path, more: &[&str]) -> PathBuf {
    let root = root.display().to_string();
    let mut all = vec!["--root", &root];
    all.extend(more);
    collect(folder, &all).1
}

/// The entry that a file of the node became.
fn copied(bundle: &Path, file: &str) -> String {
    let all = paths(bundle);
    let path = all.iter().find(|path| path.ends_with(file));
    entry(bundle, path.unwrap_or_else(|| panic!("{file}: {all:?}")))
}

#[test]
fn a_log_of_random_text_keeps_its_lines_and_the_bundle_says_how_much_went() {
    const LINES: usize = 3000;
    let (folder, root) = disk("gpu-1");
    let mut log = String::new();
    let mut tokens = Vec::new();
    for (seed, _) in (0_u64..).zip(0..LINES) {
        let filled = fill("{{an:32}} {{low:40}} {{hex:48}}", seed).unwrap();
        tokens.extend(
            filled
                .secrets
                .into_iter()
                .map(|(_, needles)| needles[0].clone()),
        );
        let _ = writeln!(log, "line {seed}: {}", filled.text);
    }
    plant(&root, LOG, &log);
    let bundle = taken(folder.path(), &root, &[]);
    let left = copied(&bundle, LOG);
    assert_eq!(left.lines().count(), LINES);
    assert!(left.lines().all(|line| line.starts_with("line ")));
    let seen = tokens.iter().filter(|token| left.contains(*token)).count();
    assert!(seen * 100 < tokens.len(), "{seen} of {}", tokens.len());
    // A placeholder is shorter than what it stands for, and counted.
    assert!(left.len() <= log.len(), "{} from {}", left.len(), log.len());
    let said: serde_json::Value = serde_json::from_str(&entry(&bundle, "privacy.json")).unwrap();
    let count = said["secrets"]["unexplained"]["replaced"].as_u64();
    let count = count.and_then(|count| usize::try_from(count).ok());
    assert!(count > Some(2 * LINES), "{said}");
}

#[test]
fn a_line_of_300_megabytes_is_cut_and_the_bundle_says_so() {
    const PIECE: usize = 1 << 20;
    let (folder, root) = disk("gpu-1");
    plant(&root, LOG, "");
    let path = root.join(LOG.trim_start_matches('/'));
    let mut file = std::fs::File::create(&path).unwrap();
    let secret = ["q7ZkP2mXv9Lw4", "RtB0cYhD6sF"].concat();
    let piece = format!("password={secret}, ").repeat(PIECE / (secret.len() + 11));
    for _ in 0..300 {
        file.write_all(piece.as_bytes()).unwrap();
    }
    drop(file);
    let bundle = taken(folder.path(), &root, &[]);
    nowhere(&bundle, &secret);
    let size = std::fs::metadata(&bundle).unwrap().len();
    assert!(size < 32 << 20, "the bundle has {size} bytes");
    // The newest part of a file is taken, from the first line that begins in it; how much is left out is said.
    let said = manifest(&bundle);
    let mut entries = said.entries.iter();
    let taken = entries.find(|entry| entry.path.as_str().ends_with(LOG));
    let cut = taken.and_then(|entry| entry.truncated.clone());
    assert!(cut.is_some_and(|cut| cut.contains("older left out")));
}

#[test]
fn a_secret_of_one_letter_goes_and_the_letter_stays_elsewhere() {
    let (folder, root) = disk("gpu-1");
    plant(
        &root,
        "/etc/containerd/conf.d/auth.toml",
        "[auth]\nusername = \"joe\"\npassword = \"x\"\n",
    );
    let log = "x is an axis\nexit 0 of x\n";
    plant(&root, LOG, log);
    let bundle = taken(folder.path(), &root, &[]);
    let auth = copied(&bundle, "auth.toml");
    assert!(
        !auth.contains("\"x\"") && auth.contains("<redacted:password:"),
        "{auth}"
    );
    assert!(auth.contains("username = \"joe\""), "{auth}");
    assert_eq!(copied(&bundle, LOG), log);
}

#[test]
fn a_map_of_another_run_reveals_nothing_and_says_so() {
    let runs: Vec<_> = ["berlin-gpu-7", "paris-gpu-3"]
        .into_iter()
        .map(|name| {
            let (folder, root) = disk(name);
            let bundle = taken(folder.path(), &root, &["--anonymize", "hosts"]);
            let hosts = copied(&bundle, "/etc/hosts");
            let report = folder.path().join("report.md");
            std::fs::write(&report, hosts).unwrap();
            let map = folder.path().join("bundle.map.json");
            (
                folder,
                map.display().to_string(),
                report.display().to_string(),
            )
        })
        .collect();
    let reveal = |map: &str, report: &str| run(bins::COLLECTOR, &["reveal", "--map", map, report]);
    let own = reveal(&runs[0].1, &runs[0].2);
    assert!(own.code == 0 && own.out.contains("berlin-gpu-7"), "{own:?}");
    let other = reveal(&runs[1].1, &runs[0].2);
    assert_eq!(other.code, 3, "{other:?}");
    assert!(other.out.is_empty(), "{other:?}");
    assert!(other.err.contains("another run"), "{other:?}");
}

#[test]
fn a_pattern_that_would_keep_everything_is_refused_before_anything_is_written() {
    let (folder, root) = disk("gpu-1");
    let root = root.display().to_string();
    let out = folder.path().join("bundle.tar.gz");
    for pattern in [".*", "(?s:.+)", "[A-Za-z0-9]+"] {
        let ended = run(
            bins::COLLECTOR,
            &[
                "collect",
                "-o",
                out.to_str().unwrap(),
                "--root",
                &root,
                "--keep",
                pattern,
            ],
        );
        assert!(ended.code != 0 && ended.code != 4, "{ended:?}");
        assert!(
            ended.err.contains("would keep nearly every random text"),
            "{ended:?}"
        );
        assert!(!out.exists(), "{pattern}");
    }
}
