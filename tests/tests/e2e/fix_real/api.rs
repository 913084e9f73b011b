//! The rows of kubectl once more, on a real kube-apiserver with etcd: its validation, defaults and patches in place of
//! those of the small API. `CASEFILE_KUBERNETES_BINS` names a folder that holds both, or several.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use casefile_tests::bins;

use super::{Row, has_no_way_back, print, state, told, what_if};
use crate::fix_cluster::{self, PLACEHOLDER, SECRET};
use crate::support::{Ended, ended, skip};

/// The first folder with an API server.
fn binaries() -> Option<PathBuf> {
    let all = std::env::var("CASEFILE_KUBERNETES_BINS").ok()?;
    let mut folders = all.split(':').map(PathBuf::from);
    folders.find(|folder| folder.join("kube-apiserver").is_file())
}

/// `CASEFILE_REAL_ROWS=WORDS` picks rows.
#[test]
fn kubectl_does_on_a_real_api_server_what_the_replay_says() {
    let test = "kubectl_does_on_a_real_api_server_what_the_replay_says";
    let Some(binaries) = binaries() else {
        skip(test, "CASEFILE_KUBERNETES_BINS names no kube-apiserver");
        return;
    };
    let version = Command::new(binaries.join("kube-apiserver"))
        .arg("--version")
        .output();
    let version = String::from_utf8(version.unwrap().stdout).unwrap();
    let mut table = format!(
        "\n| kind, on {} | what-if | real | taken back |\n|---|---|---|---|\n",
        version.trim()
    );
    let mut wrong = Vec::new();
    let wanted = std::env::var("CASEFILE_REAL_ROWS").unwrap_or_default();
    for row in fix_cluster::runnable() {
        if !row.kind.contains(&wanted) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let input = state(row.state, folder.path());
        let said = what_if(&row, &input, folder.path());
        let served = folder.path().join("served");
        fix_cluster::with_secrets(&input, &served, SECRET);
        let ended = on_server(&row, &binaries, folder.path());
        if ended.code != 0 {
            let _ = writeln!(table, "| {} | {said} | {ended:?} | |", row.kind);
            wrong.push(row.kind);
            continue;
        }
        let (real, back) = told(&row, &ended);
        let _ = writeln!(table, "| {} | {said} | {real} | {back} |", row.kind);
        let agree = said == real || said == "needs a runtime step" && real == "gone";
        let lost = ended.out.contains("other secrets");
        if !agree || lost || back == "no" && !has_no_way_back(&row) {
            print(&format!("{}: {ended:?}", row.kind));
            wrong.push(row.kind);
        }
    }
    print(&table);
    assert!(wrong.is_empty(), "{wrong:?}{table}");
}

/// The bundle as the server gives it, a fix of that, and the try.
fn on_server(row: &Row, binaries: &std::path::Path, folder: &std::path::Path) -> Ended {
    let (what_if, own) = match row.proposal {
        Some(_) => (
            format!("--what-if changes.yaml --cause {}", row.cause),
            "proposal",
        ),
        None => (String::new(), row.cause),
    };
    let script = format!(
        "set -e\ngrep -rlZ {SECRET} given | xargs -0 -r sed -i 's/{SECRET}/{PLACEHOLDER}/g'\n\
         {analyzer} fix given {what_if} -o real >&2\n{tried}",
        analyzer = bins::find(bins::ANALYZER).display(),
        tried = fix_cluster::tried(row, &folder.join("real").join(own)),
    );
    let mut command = Command::new("timeout");
    command
        .arg("180")
        .arg(bins::checkout().join("tests/lab/real-api"));
    command.args([binaries, &folder.join("served"), &folder.join("given")]);
    command.args(["--", "bash", "-c", &script]);
    command
        .current_dir(folder)
        .env("HOME", folder)
        .env("LOCK_DIR", folder)
        .env("ACCEPT", "yes")
        .env("BACKUP_DIR", folder.join("backup"));
    ended(command.output().unwrap())
}
