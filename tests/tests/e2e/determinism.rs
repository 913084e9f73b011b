//! The same input gives the same bytes: twice, packed, and with its entries in another order.

use std::fs::File;
use std::path::{Path, PathBuf};

use casefile_tests::bins;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::support::run;

fn bundle() -> PathBuf {
    bins::checkout().join("samples/toolkit-wrong-containerd/bundle")
}

fn report(input: &Path) -> String {
    let ended = run(
        bins::ANALYZER,
        &["diagnose", "--format", "json", input.to_str().unwrap()],
    );
    assert_eq!(ended.code, 0, "{ended:?}");
    ended.out
}

/// Packs a folder's files in the given order under one top folder.
fn pack(folder: &Path, to: &Path, reverse: bool) {
    let mut files: Vec<PathBuf> = walkdir::WalkDir::new(folder)
        .sort_by_file_name()
        .into_iter()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().is_file())
        .map(walkdir::DirEntry::into_path)
        .collect();
    if reverse {
        files.reverse();
    }
    let mut tar = tar::Builder::new(GzEncoder::new(
        File::create(to).unwrap(),
        Compression::fast(),
    ));
    for file in files {
        let name = Path::new("casefile-x").join(file.strip_prefix(folder).unwrap());
        tar.append_path_with_name(&file, name).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap();
}

#[test]
fn the_same_bundle_gives_the_same_bytes_twice() {
    assert_eq!(report(&bundle()), report(&bundle()));
}

#[test]
fn the_order_of_entries_in_a_tar_does_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    // The same name both times: a report may say which file it was made from.
    let (one, two) = (
        folder.path().join("1/b.tar.gz"),
        folder.path().join("2/b.tar.gz"),
    );
    for (path, reverse) in [(&one, false), (&two, true)] {
        std::fs::create_dir(path.parent().unwrap()).unwrap();
        pack(&bundle(), path, reverse);
    }
    assert_eq!(report(&one), report(&two));
}

#[test]
fn the_reports_of_two_runs_are_the_same_files() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["one", "two"] {
        let out = folder.path().join(name);
        let ended = run(
            bins::ANALYZER,
            &[
                "report",
                bundle().to_str().unwrap(),
                "-o",
                out.to_str().unwrap(),
            ],
        );
        assert_eq!(ended.code, 0, "{ended:?}");
    }
    for name in ["report.md", "report.html", "report.json"] {
        let read = |run: &str| std::fs::read(folder.path().join(run).join(name)).unwrap();
        assert!(read("one") == read("two"), "{name} differs");
    }
}
