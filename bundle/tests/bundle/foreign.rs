//! Foreign forms: folders, plain tars, tars of other tools; and other tools on our bundles.

use std::fs;
use std::process::Command;

use casefile_bundle::{Form, Limits};

use crate::support::{Scratch, bundle, content, file, gunzip, gzip, read, sentences, tar_of};

fn has(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok();
    if !found {
        println!("skipped: no {tool} here");
    }
    found
}

#[test]
fn gnu_tar_and_gzip_open_a_bundle_and_the_folder_reads_like_the_file() {
    if !has("tar") || !has("gzip") {
        return;
    }
    let text: Vec<u8> = (0..300_000)
        .flat_map(|n| format!("line {n}\n").into_bytes())
        .collect();
    let long = format!("nodes/{}/{}.log", "d".repeat(120), "f".repeat(120));
    let bytes = bundle(&[
        ("a/b", b"one\n"),
        ("text", &text),
        (&long, b"long\n"),
        ("empty", b""),
    ]);
    let scratch = Scratch::new();
    let packed = scratch.file(&bytes);
    assert!(
        Command::new("gzip")
            .arg("-t")
            .arg(&packed)
            .status()
            .unwrap()
            .success()
    );
    let out = scratch.dir.path().join("out");
    fs::create_dir(&out).unwrap();
    let tar = Command::new("tar")
        .arg("xzf")
        .arg(&packed)
        .arg("-C")
        .arg(&out)
        .output()
        .unwrap();
    assert!(tar.status.success());
    assert_eq!(String::from_utf8_lossy(&tar.stderr), "");
    let expected = read(&packed, &Limits::default()).unwrap();
    for folder in [out.join("casefile-gpu-1"), out] {
        let (summary, entries) = read(&folder, &Limits::default()).unwrap();
        assert_eq!(summary.form, Form::Folder);
        assert_eq!(summary.manifest, expected.0.manifest);
        assert_eq!(summary.problems, []);
        assert_eq!(entries, expected.1);
    }
}

#[test]
fn a_tar_that_gnu_tar_made_of_a_folder_reads_the_same_in_every_format() {
    if !has("tar") {
        return;
    }
    let scratch = Scratch::new();
    let top = scratch.dir.path().join("support-bundle-1");
    let deep = top.join("e".repeat(130)).join("f".repeat(130));
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("\u{e9}.log"), "x\n".repeat(300_000)).unwrap();
    fs::write(top.join("version.yaml"), "v: 1\n").unwrap();
    for format in ["gnu", "pax", "posix"] {
        let packed = scratch.dir.path().join("b.tgz");
        let mut tar = Command::new("tar");
        tar.arg(format!("--format={format}"))
            .arg("-C")
            .arg(scratch.dir.path());
        let made = tar
            .arg("-czf")
            .arg(&packed)
            .arg("support-bundle-1")
            .status()
            .unwrap()
            .success();
        assert!(made, "{format}");
        let (summary, entries) = content(&packed);
        assert_eq!(sentences(&summary), Vec::<String>::new());
        assert_eq!(entries["version.yaml"], b"v: 1\n");
        assert_eq!(
            entries[&format!("{}/{}/\u{e9}.log", "e".repeat(130), "f".repeat(130))].len(),
            600_000
        );
    }
}

#[test]
fn one_bundle_reads_the_same_as_members_as_one_gzip_and_as_plain_tar() {
    let text: Vec<u8> = (0..300_000)
        .flat_map(|n| format!("line {n}\n").into_bytes())
        .collect();
    let ours = bundle(&[("a", b"one"), ("text", &text)]);
    let plain = gunzip(&ours);
    let scratch = Scratch::new();
    let expected = read(&scratch.file(&ours), &Limits::default()).unwrap();
    for (bytes, form) in [(gzip(&plain), Form::Bundle), (plain, Form::Tar)] {
        let (summary, entries) = read(&scratch.file(&bytes), &Limits::default()).unwrap();
        assert_eq!((summary.form, summary.problems), (form, vec![]));
        assert_eq!(entries, expected.1);
    }
}

/// `tar -C folder -cf x.tar .`: the first folder inside is none that holds all.
#[test]
fn a_tar_of_the_folder_itself_keeps_its_folders() {
    let scratch = Scratch::new();
    let mut here = file("./", b"");
    here.kind = b'5';
    let tar = tar_of(&[
        here,
        file("./modinfo/ip_vs", b"1"),
        file("./kernel/uname.txt", b"2"),
    ]);
    let (summary, read) = content(&scratch.file(&tar));
    assert_eq!(sentences(&summary), Vec::<String>::new());
    assert_eq!(
        read.keys().collect::<Vec<_>>(),
        ["kernel/uname.txt", "modinfo/ip_vs"]
    );
}

#[test]
fn a_tar_without_a_top_folder_keeps_its_folders() {
    let scratch = Scratch::new();
    for entries in [
        [
            file("cluster-resources/pods/a.json", b"1"),
            file("version.yaml", b"2"),
        ],
        [
            file("version.yaml", b"2"),
            file("cluster-resources/pods/a.json", b"1"),
        ],
    ] {
        let (_, read) = content(&scratch.file(&tar_of(&entries)));
        assert_eq!(
            read.keys().collect::<Vec<_>>(),
            ["cluster-resources/pods/a.json", "version.yaml"]
        );
    }
}

#[cfg(unix)]
#[test]
fn links_in_a_folder_are_not_followed() {
    let scratch = Scratch::new();
    let top = scratch.dir.path().join("t");
    fs::create_dir(&top).unwrap();
    fs::write(top.join("real"), "1").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", top.join("soft")).unwrap();
    std::os::unix::fs::symlink("/", top.join("root")).unwrap();
    let (summary, entries) = content(&top);
    assert_eq!(entries.keys().collect::<Vec<_>>(), ["real"]);
    assert_eq!(
        sentences(&summary),
        ["root: symbolic link skipped", "soft: symbolic link skipped"]
    );
}

#[test]
fn a_changed_manifest_of_an_unpacked_bundle_is_named() {
    if !has("tar") {
        return;
    }
    let scratch = Scratch::new();
    let packed = scratch.file(&bundle(&[("a/b", b"one\n")]));
    let out = scratch.dir.path().join("out");
    fs::create_dir(&out).unwrap();
    let mut tar = Command::new("tar");
    tar.arg("xzf").arg(&packed).arg("-C").arg(&out);
    assert!(tar.status().unwrap().success());
    let folder = out.join("casefile-gpu-1");
    let limits = Limits::default();
    assert!(
        casefile_bundle::verify(&folder, &limits)
            .unwrap()
            .is_clean()
    );
    let path = folder.join("manifest.json");
    let manifest = fs::read_to_string(&path).unwrap();
    fs::write(&path, manifest.replacen("gpu-1", "gpu-2", 1)).unwrap();
    let report = casefile_bundle::verify(&folder, &limits).unwrap();
    assert!(!report.is_clean());
    assert!(
        report.wrapping[0].starts_with("manifest.json:"),
        "{report:?}"
    );
}
