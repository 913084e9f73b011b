//! Commands that behave badly, as stubs in a folder that is searched first.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

fn stub(dir: &Path, name: &str, script: &str) {
    let path = dir.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

static QUICK: Spec = Spec {
    id: "quick",
    file: None,
    program: "casefile-stub",
    args: &["<word>", "fixed"],
    timeout: Duration::from_millis(700),
    max_bytes: 100_000,
    as_nobody: false,
};

static NO_RIGHTS: Spec = Spec {
    id: "no-rights",
    file: None,
    program: "casefile-stub",
    args: &[],
    timeout: Duration::from_secs(10),
    max_bytes: 1000,
    as_nobody: true,
};

fn call() -> Call {
    Call::new(&QUICK).with("word", "")
}

#[tokio::test(flavor = "multi_thread")]
async fn output_and_errors_are_kept_apart_in_a_clean_environment() {
    let dir = tempfile::tempdir().unwrap();
    stub(
        dir.path(),
        "casefile-stub",
        "echo out $# $HOME $LC_ALL; echo err >&2; exit 3",
    );
    let exec = Exec::new(true, Some(dir.path()));
    let (ended, out) = exec
        .output(&call(), &CancellationToken::new(), 1000)
        .await
        .unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "out 1 C\n");
    assert_eq!(ended.stderr, b"err\n");
    assert_eq!(ended.complaint(), "exit code 3: err");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_would_write_with_roots_rights_gets_none() {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let script = "id -u; id -G; touch \"$(dirname \"$0\")/written\"";
    stub(dir.path(), "casefile-stub", script);
    let exec = Exec::new(true, Some(dir.path()));
    let (call, cancel) = (Call::new(&NO_RIGHTS), CancellationToken::new());
    let (ended, out) = exec.output(&call, &cancel, 1000).await.unwrap();
    let out = String::from_utf8(out).unwrap();
    if !rustix::process::geteuid().is_root() {
        let own = rustix::process::geteuid().as_raw().to_string();
        return assert_eq!(out.lines().next(), Some(own.as_str()));
    }
    assert_eq!(out, "65534\n65534\n");
    assert!(ended.complaint().contains("Permission denied"), "{ended:?}");
    assert!(!dir.path().join("written").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_ignores_sigterm_is_killed_with_its_children() {
    let dir = tempfile::tempdir().unwrap();
    stub(
        dir.path(),
        "casefile-stub",
        "trap '' TERM\nsleep 600 & echo $!\nwhile :; do sleep 1; done",
    );
    let exec = Exec::new(true, Some(dir.path()));
    let seen = Arc::new(AtomicUsize::new(0));
    let in_sink = Arc::clone(&seen);
    let result = exec
        .run(&call(), &CancellationToken::new(), move |piece| {
            let pid: usize = String::from_utf8_lossy(piece).trim().parse().unwrap_or(0);
            in_sink.store(pid, Ordering::Relaxed);
            Room::More
        })
        .await;
    let Err(ExecError::TimedOut { how, .. }) = result else {
        panic!("{result:?}")
    };
    assert_eq!(how, "killed");
    let path = format!("/proc/{}/stat", seen.load(Ordering::Relaxed));
    // Killed is not yet gone: the kernel takes a moment.
    for _ in 0..500 {
        match fs::read_to_string(&path) {
            Ok(stat) if !stat.contains(") Z") => {
                tokio::time::sleep(Duration::from_millis(10)).await
            }
            _ => return,
        }
    }
    panic!("the grandchild lives");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_prints_endlessly_is_cut_and_ended() {
    let dir = tempfile::tempdir().unwrap();
    stub(dir.path(), "casefile-stub", "exec yes");
    let exec = Exec::new(true, Some(dir.path()));
    let (ended, out) = exec
        .output(&call(), &CancellationToken::new(), 1 << 20)
        .await
        .unwrap();
    assert!(ended.cut);
    assert_eq!(out.len(), 100_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_ends_the_command_at_once() {
    let dir = tempfile::tempdir().unwrap();
    stub(dir.path(), "casefile-stub", "sleep 600");
    let exec = Exec::new(true, Some(dir.path()));
    let cancel = CancellationToken::new();
    cancel.cancel();
    let result = exec.output(&call(), &cancel, 10).await;
    assert!(
        matches!(result, Err(ExecError::Cancelled { .. })),
        "{result:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_program_is_named_with_the_places_looked_at() {
    let error = Exec::new(true, None)
        .output(&call(), &CancellationToken::new(), 10)
        .await
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("casefile-stub is not installed (looked in /usr/local/sbin"),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_about_this_machine_is_run_for_another_ones_disk() {
    let dir = tempfile::tempdir().unwrap();
    stub(dir.path(), "casefile-stub", "echo wrong");
    let exec = Exec::new(false, Some(dir.path()));
    let result = exec.output(&call(), &CancellationToken::new(), 10).await;
    assert!(
        matches!(result, Err(ExecError::NotLive { .. })),
        "{result:?}"
    );
}

/// As a script that somebody copied without its rights.
#[test]
fn a_file_that_is_no_program_does_not_hide_the_program_of_that_name() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("sh");
    std::fs::write(&file, "").unwrap();
    let exec = Exec::new(true, Some(dir.path()));
    let found = exec.resolve("sh").unwrap();
    assert_ne!(found, file);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(exec.resolve("sh").unwrap(), file);
}
