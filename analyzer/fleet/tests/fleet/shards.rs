//! Shards: the same files whatever their number, nothing twice and nothing lost.

use std::collections::BTreeMap;
use std::path::Path;

use casefile_fleet::commit::commits;
use casefile_fleet::plan::status;
use casefile_fleet::shard::{Done, Settings, Shard, ShardError, inputs, run};
use casefile_fleet::store::Store;

use crate::{fleet, limits, program, write};

fn settings(index: u32, count: u32) -> Settings {
    Settings {
        shard: Shard { index, count },
        buckets: 8,
        jobs: 2,
        program: program(),
        limits: limits(),
        max_size: 1 << 20,
        retry_failed: false,
        judge: "test 1".to_owned(),
    }
}

fn open(folder: &Path) -> Store {
    Store::open(folder.to_str().unwrap(), true).unwrap()
}

fn shard(from: &Path, to: &Path, index: u32, count: u32) -> Done {
    run(&open(from), &open(to), &settings(index, count), &|_| {}).unwrap()
}

/// Every table's files with their bytes; commit records hold marks of the inputs and are compared apart.
fn tables(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let store = open(folder);
    let all = store.list("tables").unwrap();
    all.into_iter()
        .map(|object| {
            let bytes = store.get(&object.path).unwrap().to_vec();
            (object.path, bytes)
        })
        .collect()
}

#[test]
fn the_files_are_the_same_whatever_the_number_of_shards() {
    let from = tempfile::tempdir().unwrap();
    fleet(from.path(), 40);
    let outputs: Vec<_> = [1, 2, 4]
        .into_iter()
        .map(|count| {
            let to = tempfile::tempdir().unwrap();
            for index in (0..count).rev() {
                shard(from.path(), to.path(), index, count);
            }
            to
        })
        .collect();
    let first = tables(outputs[0].path());
    assert!(first.len() > 8, "{:?}", first.keys());
    for other in &outputs[1..] {
        assert!(tables(other.path()) == first);
    }
    let commits = commits(&open(outputs[2].path())).unwrap();
    let now = status(&commits, Some(&inputs(&open(from.path())).unwrap()));
    assert_eq!(
        (now.bundles, now.rows["bundles"], now.rows["incidents"]),
        (40, 40, 4)
    );
    assert_eq!(now.missing, Vec::<u32>::new());
    let (input, why) = now.refused.first_key_value().unwrap();
    assert_eq!(input, "casefile-gpu-7.tar.gz");
    assert!(why.contains("cut in its header"));
}

#[test]
fn what_a_killed_shard_left_is_cleared_and_what_is_there_is_not_done_again() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fleet(from.path(), 20);
    shard(from.path(), to.path(), 0, 1);
    let whole = tables(to.path());
    // Killed after it wrote files of a bucket and before its record, and an older run's file.
    std::fs::remove_file(to.path().join("commits/000003.json")).unwrap();
    let stray = to
        .path()
        .join("tables/said/000003-0123456789abcdef0123.parquet");
    std::fs::create_dir_all(stray.parent().unwrap()).unwrap();
    std::fs::write(&stray, b"half a file").unwrap();
    // Killed while the client wrote: object_store names the file so until it is renamed.
    for unfinished in [
        "tables/said/000003-0123456789abcdef0123.parquet#1",
        "commits/000003.json#12",
    ] {
        std::fs::write(to.path().join(unfinished), b"half").unwrap();
    }
    let done = shard(from.path(), to.path(), 0, 1);
    assert_eq!(done.written, 1);
    assert!(tables(to.path()) == whole);
    assert!(!to.path().join("commits/000003.json#12").exists());
    assert_eq!(shard(from.path(), to.path(), 0, 1).written, 0);
}

#[test]
fn a_newer_upload_replaces_its_bucket_s_rows() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fleet(from.path(), 20);
    shard(from.path(), to.path(), 0, 1);
    write(
        from.path(),
        "casefile-gpu-5.tar.gz",
        "sick gpu-5 571 and longer\n",
    );
    let done = shard(from.path(), to.path(), 0, 1);
    assert_eq!(done.written, 1);
    let now = status(&commits(&open(to.path())).unwrap(), None);
    assert_eq!((now.rows["bundles"], now.rows["incidents"]), (20, 3));
    assert_eq!(
        tables(to.path())
            .keys()
            .filter(|file| file.contains("/bundles/"))
            .count(),
        8
    );
}

#[test]
fn the_same_bundle_in_two_folders_is_one() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for folder in ["a", "b"] {
        std::fs::create_dir(from.path().join(folder)).unwrap();
        write(&from.path().join(folder), "x.tar.gz", "sick gpu-1 570\n");
    }
    shard(from.path(), to.path(), 0, 1);
    let commits = commits(&open(to.path())).unwrap();
    let now = status(&commits, None);
    assert_eq!(
        (now.bundles, now.duplicates, now.rows["incidents"]),
        (1, 1, 1)
    );
    let duplicates: Vec<_> = commits.values().flat_map(|one| &one.duplicates).collect();
    assert_eq!(
        duplicates[0],
        (&"b/x.tar.gz".to_owned(), &"a/x.tar.gz".to_owned())
    );
}

#[test]
fn a_full_disk_costs_its_bucket_only_and_the_next_run_makes_up_for_it() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fleet(from.path(), 20);
    write(from.path(), "casefile-late.tar.gz", "hiccup gpu-99 570\n");
    let done = shard(from.path(), to.path(), 0, 1);
    assert_eq!(
        done.failed["casefile-late.tar.gz"],
        "No space left on device"
    );
    let now = status(
        &commits(&open(to.path())).unwrap(),
        Some(&inputs(&open(from.path())).unwrap()),
    );
    assert_eq!(now.missing.len(), 1);
    write(from.path(), ".well", "");
    let done = shard(from.path(), to.path(), 0, 1);
    assert_eq!((done.written, done.failed.len()), (1, 0));
    let now = status(&commits(&open(to.path())).unwrap(), None);
    assert_eq!(now.rows["bundles"], 21);
}

#[test]
fn a_bundle_that_takes_a_minute_and_one_that_is_too_large_are_named_and_the_rest_goes_on() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fleet(from.path(), 12);
    write(from.path(), "slow.tar.gz", "slow gpu-50 570\n");
    write(from.path(), "large.tar.gz", &"x".repeat(2000));
    let mut settings = settings(0, 1);
    settings.limits.time = std::time::Duration::from_secs(1);
    settings.max_size = 1000;
    let done = run(&open(from.path()), &open(to.path()), &settings, &|_| {}).unwrap();
    assert!(
        done.refused["slow.tar.gz"].contains("longer than 1 s"),
        "{done:?}"
    );
    assert!(done.refused["large.tar.gz"].contains("larger than 1000 bytes"));
    assert_eq!((done.bundles, done.failed.len()), (14, 0));
}

#[test]
fn other_rules_judge_everything_again_and_another_number_of_buckets_is_refused() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fleet(from.path(), 20);
    let first = shard(from.path(), to.path(), 0, 1);
    let mut other = settings(0, 1);
    other.judge = "test 2".to_owned();
    let again = run(&open(from.path()), &open(to.path()), &other, &|_| {}).unwrap();
    assert_eq!(again.written, first.written);
    other.buckets = 16;
    let refused = run(&open(from.path()), &open(to.path()), &other, &|_| {}).unwrap_err();
    assert!(matches!(
        refused,
        ShardError::Buckets {
            found: 8,
            asked: 16,
            ..
        }
    ));
}
