//! Support: running the binaries, and looking into the bundles that they write.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use casefile_bundle::{Limits, Manifest, Outcome, SourceReport};
use casefile_tests::bins;
use serde_json::Value;

/// How the lab ends where the machine is not able to build what is asked: no root, or a program is absent.
pub(crate) const CANNOT: i32 = 77;

/// Says on standard error why a test does nothing here.
pub(crate) fn skip(test: &str, why: &str) {
    // Written past the test harness, which hides what a passing test prints.
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {why}");
}

/// A helm: the named one, one of the machine, or the one that `.ci/install` brings.
pub(crate) fn helm(test: &str) -> Option<PathBuf> {
    let named = std::env::var_os("CASEFILE_HELM").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.push(casefile_tests::bins::checkout().join("tests/python/venv/bin"));
    let mut all = folders.iter().map(|folder| folder.join("helm"));
    let found = named.or_else(|| all.find(|path| path.is_file()));
    if found.is_none() {
        skip(
            test,
            "there is no helm on this machine; CASEFILE_HELM names one",
        );
    }
    found
}

/// The recording of this name, or `None` with a line that says so.
pub(crate) fn recording(test: &str, name: &str) -> Option<PathBuf> {
    let found = casefile_tests::recording::shared(name);
    if found.is_none() {
        skip(test, "../shared/recordings is absent");
    }
    found
}

/// How a binary ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs a binary with a clean environment.
pub(crate) fn run(name: &str, arguments: &[&str]) -> Ended {
    run_in(name, Path::new("."), arguments)
}

/// Runs a binary with a clean environment in a folder.
pub(crate) fn run_in(name: &str, folder: &Path, arguments: &[&str]) -> Ended {
    let mut command = Command::new(bins::find(name));
    command.args(arguments).current_dir(folder);
    command
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    ended(command.output().unwrap())
}

/// Reads how a program ended.
pub(crate) fn ended(output: Output) -> Ended {
    Ended {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// A folder that a command on the lab's node may write to, as /shared.
pub(crate) fn shared_folder() -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// Runs a script on the lab's node in a state; `None` with a line that says why where it cannot be built.
pub(crate) fn on_node(
    test: &str,
    state: &str,
    name: &str,
    shared: &Path,
    script: &str,
) -> Option<Ended> {
    let recording = recording(test, name)?;
    let mut command = Command::new(bins::checkout().join("tests/lab/node"));
    command
        .arg(state)
        .arg(recording)
        .arg(bins::folder())
        .arg(shared);
    command.args(["--", "/bin/bash", "-c", script]);
    let ended = ended(command.output().unwrap());
    if ended.code == CANNOT {
        skip(test, ended.err.trim());
        return None;
    }
    Some(ended)
}

/// Runs the collector into `folder/bundle.tar.gz`, in the place of an earlier one; it may end with 0 or 4.
pub(crate) fn collect(folder: &Path, arguments: &[&str]) -> (Ended, PathBuf) {
    let bundle = folder.join("bundle.tar.gz");
    if bundle.exists() {
        std::fs::remove_file(&bundle).unwrap();
    }
    let path = bundle.to_str().unwrap();
    let mut all = vec!["collect", "-o", path, "--progress", "none"];
    all.extend(arguments);
    let ended = run(bins::COLLECTOR, &all);
    assert!(matches!(ended.code, 0 | 4), "{ended:?}");
    (ended, bundle)
}

/// The manifest of a whole bundle.
pub(crate) fn manifest(bundle: &Path) -> Manifest {
    let (summary, _) = casefile_bundle::list(bundle, &Limits::default()).unwrap();
    assert!(summary.problems.is_empty(), "{:?}", summary.problems);
    assert!(!summary.cut_short);
    summary.manifest.expect("a manifest")
}

/// What a manifest says about a source.
pub(crate) fn source<'a>(manifest: &'a Manifest, id: &str) -> &'a SourceReport {
    let mut sources = manifest.sources.iter();
    sources
        .find(|source| source.id == id)
        .unwrap_or_else(|| panic!("no source {id}"))
}

/// A source's outcome with everything that it says about it, in one text.
pub(crate) fn told(source: &SourceReport) -> (Outcome, String) {
    let mut text = source.why.clone().unwrap_or_default();
    for note in &source.notes {
        text.push('\n');
        text.push_str(note);
    }
    (source.outcome, text)
}

/// One entry as text.
pub(crate) fn entry(bundle: &Path, path: &str) -> String {
    let bytes = casefile_bundle::read_entry(bundle, &Limits::default(), path, 64 << 20).unwrap();
    String::from_utf8(bytes.unwrap_or_else(|| panic!("no entry {path}"))).unwrap()
}

/// The paths of all entries.
pub(crate) fn paths(bundle: &Path) -> Vec<String> {
    let (_, entries) = casefile_bundle::list(bundle, &Limits::default()).unwrap();
    entries
        .iter()
        .map(|entry| entry.path.as_str().to_owned())
        .collect()
}

/// Asserts that no entry of a bundle contains a text.
pub(crate) fn nowhere(bundle: &Path, secret: &str) {
    for path in paths(bundle) {
        let bytes =
            casefile_bundle::read_entry(bundle, &Limits::default(), &path, 64 << 20).unwrap();
        let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
        assert!(!text.contains(secret), "{path} holds {secret:?}");
    }
}

/// `diagnose --format json` of an input.
pub(crate) fn diagnose(input: &Path) -> Value {
    let ended = run(
        bins::ANALYZER,
        &["diagnose", "--format", "json", input.to_str().unwrap()],
    );
    assert_eq!(ended.code, 0, "{ended:?}");
    serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {}", ended.out))
}

/// Writes a file and the folders above it.
pub(crate) fn plant(root: &Path, path: &str, content: impl AsRef<[u8]>) {
    let path = root.join(path.trim_start_matches('/'));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}
