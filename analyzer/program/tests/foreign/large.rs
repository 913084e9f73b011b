//! What is larger than a piece, and more than the memory that an analysis may take.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use super::support::run;

#[test]
fn cat_prints_an_entry_of_many_pieces_and_one_line_of_it() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("logs");
    fs::create_dir(&folder).unwrap();
    let long = "x".repeat(3 << 20);
    let mut text = String::new();
    for number in 0..60_000 {
        writeln!(text, "line {number} says nothing").unwrap();
    }
    writeln!(text, "{long}\n\nlast").unwrap();
    fs::write(folder.join("a.log"), &text).unwrap();
    let cat = |path: &str| run(&["cat", folder.to_str().unwrap(), path], b"");
    let printed = |path: &str| cat(path).out;
    assert!(printed("a.log") == text);
    assert_eq!(printed("a.log:1"), "line 0 says nothing\n");
    assert_eq!(printed("a.log:59999"), "line 59998 says nothing\n");
    assert!(printed("a.log:60001") == long + "\n");
    assert_eq!(printed("a.log:60002"), "\n");
    assert_eq!(printed("a.log:60003"), "last\n");
    let beyond = cat("a.log:60004");
    assert_ne!(beyond.code, Some(0));
    assert!(
        beyond.errors.contains("fewer than 60004 lines"),
        "{}",
        beyond.errors
    );
}

#[test]
fn what_does_not_fit_into_the_memory_is_left_out_and_named() {
    let scratch = tempfile::tempdir().unwrap();
    let node = scratch.path().join("nodes/n1/rootfs/etc");
    fs::create_dir_all(&node).unwrap();
    let header = r#"{"format":"1.0","tool":"casefile-collector 0.1.0","node":"n1","started":"2026-11-20T10:00:00Z","options":{},"clock":{"utc":"2026-11-20T10:00:00Z","monotonic_ns":1,"timezone":null,"synchronised":null}}"#;
    fs::write(scratch.path().join("casefile.json"), header).unwrap();
    for number in 0..4 {
        let line = format!("{number} a line of a file\n");
        let text = line.repeat((1 << 20) / line.len());
        fs::write(node.join(format!("some-{number}.conf")), text).unwrap();
    }
    let left_out = |memory: &[&str]| {
        let mut args = vec!["diagnose", "--format", "json"];
        args.extend(memory);
        args.push(scratch.path().to_str().unwrap());
        let analysis: Value = serde_json::from_str(&run(&args, b"").out).unwrap();
        let problems = analysis["problems"].as_array().unwrap().clone();
        let text = |problem: &Value| problem["text"].as_str().unwrap_or_default().to_owned();
        let is_limit = |text: &String| text.contains("reached their limit");
        problems.iter().map(text).filter(is_limit).count()
    };
    assert_eq!(left_out(&[]), 0);
    assert_eq!(left_out(&["--memory", "9MiB"]), 1);
}
