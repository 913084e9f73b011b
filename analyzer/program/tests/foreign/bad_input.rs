//! What is wrong with a capture is named, and the rest is read.

use std::fs;

use serde_json::Value;

use super::support::{counted, diagnose, diagnose_files, node, objects, run, text, yaml_list, zip};

#[test]
fn captures_of_two_tools_in_one_archive_are_both_read_and_named() {
    let archive = zip(&[
        text(
            "both/sysdump/cilium-sysdump.log",
            "cilium-cli version: v0.16.0, args\n",
        ),
        text(
            "both/sysdump/k8s-nodes-20261120-101500.yaml",
            yaml_list(&objects("nodes")),
        ),
        text(
            "both/sysdump/k8s-pods-20261120-101500.yaml",
            yaml_list(&objects("pods")),
        ),
        text(
            "both/sosreport/sos_commands/networking/ip_-d_address",
            node("commands/ip-addr.out"),
        ),
        text(
            "both/sosreport/sos_commands/host/hostname",
            "192-18-132-31\n",
        ),
    ]);
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("both.zip");
    fs::write(&path, archive).unwrap();
    let analysis = diagnose(&path);
    let (format, nodes, pods, ..) = counted(&analysis);
    assert_eq!(
        (format.as_str(), nodes, pods),
        ("cilium-sysdump+sos", 1, 15)
    );
    let named: Vec<&str> = analysis["coverage"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["source"].as_str().unwrap().starts_with("capture:"))
        .filter_map(|row| row["title"].as_str())
        .collect();
    assert_eq!(
        named,
        ["sos report of 192-18-132-31", "cilium sysdump v0.16.0"]
    );
}

#[test]
fn files_that_are_not_understood_are_listed_with_their_size() {
    let analysis = diagnose_files(&[
        text("cilium-sysdump.log", "cilium-cli version: v0.16.0, args\n"),
        text("k8s-pods-20261120-101500.yaml", yaml_list(&objects("pods"))),
        text(
            "ciliumidentities-20261120-101500.yaml",
            "apiVersion: v1\nitems: []\n",
        ),
    ]);
    let rows = analysis["coverage"].as_array().unwrap();
    let capture = rows.iter().find(|row| row["source"] == "capture:").unwrap();
    assert_eq!(capture["outcome"], "partial");
    let missing = capture["missing"].as_array().unwrap();
    assert!(
        missing.contains(&Value::from(
            "ciliumidentities-20261120-101500.yaml (25 bytes): not understood"
        )),
        "{missing:?}"
    );
}

#[test]
fn an_archive_of_which_nothing_is_understood_ends_with_3() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("pictures.zip");
    fs::write(&path, zip(&[("p/a.png".to_owned(), vec![0x89; 500])])).unwrap();
    let ended = run(&["diagnose", path.to_str().unwrap()], b"");
    assert_eq!(ended.code, Some(3), "{}", ended.errors);
}

#[test]
fn a_journal_in_another_language_has_its_host_and_its_kernel() {
    let journal = "ao\u{fb}t 25 19:38:03 gpu-1 kernel: Linux version 5.18.0-14-amd64 (team@host) (gcc-10)\n".to_owned()
        + &"ao\u{fb}t 25 19:38:04 gpu-1 kernel: pci 0000:01:00.0: [10de:1c8d] type 00 class 0x030000\n".repeat(8);
    let analysis = diagnose_files(&[text("journal.txt", journal)]);
    let seen = &analysis["seen"];
    assert_eq!(seen["format"], "journal");
    assert_eq!(
        (&seen["nodes"], &seen["gpus"]),
        (&Value::from(1), &Value::from(1))
    );
    assert_eq!(seen["kernel"], "5.18.0-14-amd64");
}
