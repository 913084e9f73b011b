//! An inbox: what arrives is analysed once, whatever happens in between.

use std::path::Path;
use std::time::Duration;

use casefile_fleet::entry::Index;
use casefile_fleet::inbox::{Inbox, InboxError, Pass, Settings};
use casefile_fleet::store::Store;

use crate::{fleet, limits, program, write};

fn settings(settle: u64) -> Settings {
    Settings {
        jobs: 2,
        program: program(),
        limits: limits(),
        max_size: 1 << 20,
        settle: Duration::from_millis(settle),
        judge: "test 1".to_owned(),
    }
}

fn look(from: &Path, out: &Path, settle: u64) -> (Inbox, Pass) {
    let mut inbox = Inbox::open(out, settings(settle)).unwrap();
    let store = Store::open(from.to_str().unwrap(), false).unwrap();
    let pass = inbox.look(&store, &|_| {}).unwrap();
    (inbox, pass)
}

#[test]
fn every_bundle_gets_one_report_and_a_second_run_does_nothing() {
    let (from, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fleet(from.path(), 12);
    let (inbox, pass) = look(from.path(), out.path(), 0);
    assert_eq!((pass.written.len(), pass.quarantined.len()), (11, 1));
    assert_eq!(inbox.entries().unwrap().len(), 11);
    assert!(
        inbox.quarantined().unwrap()[0]
            .reason
            .contains("cut in its header")
    );
    drop(inbox);
    // Its own records are no input, also where the output lies inside the input.
    let (_, again) = look(from.path(), out.path(), 0);
    assert_eq!(again, Pass::default());
}

#[test]
fn an_upload_that_grows_is_waited_for_and_the_others_go_on() {
    let (from, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(from.path(), "done.tar.gz", "good gpu-1 570\n");
    std::thread::sleep(Duration::from_millis(1200));
    write(from.path(), "growing.tar.gz", "good gp");
    write(from.path(), "other.tar.gz.partial", "good gp");
    let mut inbox = Inbox::open(out.path(), settings(1000)).unwrap();
    let store = Store::open(from.path().to_str().unwrap(), false).unwrap();
    let pass = inbox.look(&store, &|_| {}).unwrap();
    assert_eq!(pass.written.len(), 1);
    assert_eq!(pass.arriving.keys().collect::<Vec<_>>(), ["growing.tar.gz"]);
    write(from.path(), "growing.tar.gz", "good gpu-2 570 and more\n");
    assert_eq!(inbox.look(&store, &|_| {}).unwrap().arriving.len(), 1);
    std::thread::sleep(Duration::from_millis(1200));
    let pass = inbox.look(&store, &|_| {}).unwrap();
    assert_eq!((pass.written.len(), pass.arriving.len()), (1, 0));
}

#[test]
fn the_same_bytes_under_another_name_are_no_second_report() {
    let (from, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(from.path(), "a.tar.gz", "sick gpu-1 570\n");
    write(from.path(), "b.tar.gz", "sick gpu-1 570\n");
    let (inbox, pass) = look(from.path(), out.path(), 0);
    assert_eq!(pass.written.len(), 1);
    assert_eq!(pass.duplicates["b.tar.gz"], "a.tar.gz");
    drop(inbox);
    write(from.path(), "c.tar.gz", "sick gpu-1 570\n");
    let (_, pass) = look(from.path(), out.path(), 0);
    assert_eq!(pass.written.len(), 0);
    assert_eq!(pass.duplicates["c.tar.gz"], "a.tar.gz");
}

#[test]
fn what_a_killed_run_left_is_cleared_and_done_again() {
    let (from, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fleet(from.path(), 5);
    std::fs::create_dir_all(out.path().join(".work/0123")).unwrap();
    write(&out.path().join(".work/0123"), "report.html", "half");
    let (_inbox, pass) = look(from.path(), out.path(), 0);
    assert_eq!(pass.written.len(), 5);
    assert!(!out.path().join(".work/0123").exists());
    let (other, _) = (Inbox::open(out.path(), settings(0)), ());
    assert!(matches!(other, Err(InboxError::Busy(_))));
}

#[test]
fn a_trouble_of_our_own_is_tried_again() {
    let (from, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(from.path(), "late.tar.gz", "hiccup gpu-1 570\n");
    let (inbox, pass) = look(from.path(), out.path(), 0);
    assert_eq!(pass.failed["late.tar.gz"], "No space left on device");
    drop(inbox);
    write(from.path(), ".well", "");
    let (_, pass) = look(from.path(), out.path(), 0);
    assert_eq!(pass.written.len(), 1);
}

#[test]
fn the_page_knows_who_had_it_before() {
    let (from, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fleet(from.path(), 25);
    let (inbox, _) = look(from.path(), out.path(), 0);
    let index = Index::of(&inbox.entries().unwrap());
    assert_eq!(index.groups.len(), 1);
    assert_eq!(index.groups[0].nodes, ["gpu-13", "gpu-23", "gpu-3"]);
    let before: usize = index.rows.iter().map(|row| row.times_before).sum();
    assert_eq!(before, 3);
}
