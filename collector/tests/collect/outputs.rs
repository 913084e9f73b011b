//! Limits, interruptions and outputs that cannot be written.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::process::Command;
use std::time::Duration;

use casefile_bundle::{Limits, list, verify};

use crate::desk::{Desk, NODE_SOURCES, manifest, notes, outcome, stderr};

#[test]
fn the_size_limit_of_the_bundle_holds() {
    let desk = Desk::new();
    desk.file("/var/log/kern.log", &"x".repeat(300_000));
    desk.on_tree(&["--only", "journal,host_info", "--max-size", "64KiB"]);
    let manifest = manifest(&desk.bundle());
    let total: u64 = manifest
        .entries
        .iter()
        .filter(|e| e.path.as_str().contains("/rootfs/") || e.path.as_str().contains("/commands/"))
        .map(|e| e.bytes)
        .sum();
    assert!(total <= 64 << 10, "{total}");
    assert!(manifest.entries.iter().any(|e| e.truncated.is_some()));
}

/// Room is taken before it is written to, and given back.
#[test]
fn a_bundle_takes_no_more_of_the_disk_than_its_bytes() {
    let desk = Desk::new();
    desk.on_machine(&["--only", "host_info"]);
    let meta = fs::metadata(desk.bundle()).unwrap();
    let (bytes, on_disk) = (meta.len(), meta.blocks() * 512);
    assert!(on_disk < bytes + (128 << 10), "{on_disk} for {bytes}");
}

#[test]
fn an_interrupted_run_finishes_its_bundle() {
    let desk = Desk::new();
    desk.stub("nvidia-smi", "sleep 600");
    let bin = desk.path("bin");
    let only = [
        "--command-dir",
        bin.to_str().unwrap(),
        "--only",
        "nvidia_smi,host_info",
        "--progress",
        "none",
    ];
    let child = desk.command(&only).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(1));
    Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    let bundle = desk.bundle();
    assert!(verify(&bundle, &Limits::default()).unwrap().is_clean());
    assert_eq!(
        manifest(&bundle).interrupted.as_deref(),
        Some("interrupted (SIGINT)")
    );
}

#[test]
fn a_killed_run_leaves_a_readable_partial_file() {
    let desk = Desk::new();
    desk.stub("nvidia-smi", "sleep 600");
    let bin = desk.path("bin");
    let only = [
        "--command-dir",
        bin.to_str().unwrap(),
        "--only",
        "nvidia_smi,host_info",
        "--progress",
        "none",
    ];
    let mut child = desk.command(&only).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(3));
    child.kill().unwrap();
    child.wait().unwrap();
    let left = desk.bundle();
    assert!(left.to_str().unwrap().ends_with(".tar.gz.partial"));
    let (summary, entries) = list(&left, &Limits::default()).unwrap();
    assert!(summary.header.is_some() && summary.manifest.is_none());
    assert!(
        entries
            .iter()
            .any(|e| e.path.as_str().ends_with("/proc/meminfo")),
        "{entries:?}"
    );
}

#[test]
fn standard_output_takes_a_whole_bundle() {
    let desk = Desk::new();
    let output = desk.on_tree(&["-o", "-", "--only", "host_info"]);
    let file = desk.path("out/from-stdout.tar.gz");
    fs::write(&file, &output.stdout).unwrap();
    assert!(verify(&file, &Limits::default()).unwrap().is_clean());
    assert!(stderr(&output).contains("sha256"));
}

#[test]
fn an_output_that_cannot_be_written_is_found_before_anything_runs() {
    let desk = Desk::new();
    desk.stub(
        "nvidia-smi",
        &format!("touch {}", desk.path("ran").display()),
    );
    let missing = desk.path("no-such-folder/x.tar.gz");
    for output in [missing.to_str().unwrap(), "/proc/x.tar.gz"] {
        let run = desk.on_machine(&["-o", output, "--only", "nvidia_smi"]);
        assert_eq!(run.status.code(), Some(3), "{}", stderr(&run));
        assert!(
            stderr(&run).contains(output) && stderr(&run).contains("-o PATH"),
            "{}",
            stderr(&run)
        );
    }
    assert!(!desk.path("ran").exists());
}

#[test]
fn a_name_that_is_taken_is_refused_and_what_is_there_stays() {
    let desk = Desk::new();
    let earlier = desk.path("out/earlier.tar.gz");
    let cut = desk.path("out/cut.tar.gz");
    let unfinished = desk.path("out/cut.tar.gz.partial");
    let link = desk.path("out/link");
    fs::write(&earlier, "earlier").unwrap();
    fs::write(&unfinished, "unfinished").unwrap();
    // A device would be replaced by a file as this link would be.
    std::os::unix::fs::symlink("/dev/null", &link).unwrap();
    for (output, named) in [(&earlier, &earlier), (&cut, &unfinished), (&link, &link)] {
        let run = desk.on_tree(&["-o", output.to_str().unwrap(), "--only", "host_info"]);
        assert_eq!(run.status.code(), Some(3), "{}", stderr(&run));
        let said = format!("cannot write {}: it is there already", named.display());
        assert!(stderr(&run).contains(&said), "{}", stderr(&run));
    }
    assert_eq!(fs::read_to_string(&earlier).unwrap(), "earlier");
    assert_eq!(fs::read_to_string(&unfinished).unwrap(), "unfinished");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink() && !cut.exists());
}

#[test]
fn an_empty_node_gives_a_valid_bundle_that_says_so() {
    let desk = Desk::new();
    let output = desk.on_tree(&["--only", NODE_SOURCES]);
    assert_eq!(output.status.code(), Some(4));
    let bundle = desk.bundle();
    assert!(verify(&bundle, &Limits::default()).unwrap().is_clean());
    let manifest = manifest(&bundle);
    for id in NODE_SOURCES.split(',') {
        let (word, why) = outcome(&manifest, id);
        assert!(word == "skipped" && !why.is_empty(), "{id} {word}: {why}");
    }
    assert!(notes(&manifest, "journal").contains("no journal files were found"));
}
