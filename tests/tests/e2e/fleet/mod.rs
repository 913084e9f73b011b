//! Shards in processes of their own, killed and started again.

mod engines;
mod storage;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use casefile_tests::bins::{self, ANALYZER, checkout};
use casefile_tests::fleet::{Fleet, make};

use crate::support::{Ended, ended};

/// Few, so that the test is short; `cargo bench -p casefile-tests --bench fleet` does it with 2,000.
const BUNDLES: usize = 60;

fn bundles(folder: &Path) -> BTreeMap<String, Option<String>> {
    let fleet = Fleet {
        bundles: BUNDLES,
        nodes_a_cluster: 10,
        seed: 5,
        hidden: true,
    };
    make(fleet, &checkout().join("analyzer/rules"), folder).unwrap()
}

fn command(input: &str, output: &str, shard: &str) -> Command {
    let mut command = Command::new(bins::find(ANALYZER));
    command.args(["fleet", "run", input, "-o", output, "--shard", shard]);
    command.args(["--buckets", "8", "--jobs", "1"]);
    command.env_clear().env("PATH", "/usr/bin:/bin");
    command
}

fn shards(input: &str, output: &str, count: usize) {
    let running: Vec<Child> = (0..count)
        .map(|index| {
            let mut one = command(input, output, &format!("{index}/{count}"));
            one.stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in running {
        let done = ended(child.wait_with_output().unwrap());
        assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    }
}

/// Every file of the tables with its content.
fn tables(output: &Path) -> BTreeMap<String, Vec<u8>> {
    walkdir::WalkDir::new(output.join("tables"))
        .into_iter()
        .map(Result::unwrap)
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            let name = entry.path().strip_prefix(output).unwrap();
            (
                name.display().to_string(),
                std::fs::read(entry.path()).unwrap(),
            )
        })
        .collect()
}

fn sql(output: &Path, question: &str) -> Ended {
    let mut command = Command::new(bins::find(ANALYZER));
    command
        .args(["sql", question])
        .arg(output)
        .args(["--format", "csv"]);
    ended(command.output().unwrap())
}

#[test]
fn shards_write_the_same_tables_whatever_their_number_and_however_often_they_are_killed() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in");
    let truth = bundles(&input);
    let at = |name: &str| folder.path().join(name);
    let text = |path: &Path| path.display().to_string();
    shards(&text(&input), &text(&at("one")), 1);
    shards(&text(&input), &text(&at("two")), 2);
    // Four shards, each killed in the middle several times.
    for round in 0..3_u64 {
        let mut running: Vec<Child> = (0..4)
            .map(|index| {
                let mut one = command(&text(&input), &text(&at("four")), &format!("{index}/4"));
                one.stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn()
                    .unwrap()
            })
            .collect();
        std::thread::sleep(Duration::from_millis(900 + 700 * round));
        for child in &mut running {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
    shards(&text(&input), &text(&at("four")), 4);
    let first = tables(&at("one"));
    assert!(first.len() > 20, "{:?}", first.keys());
    assert!(
        tables(&at("two")) == first,
        "two shards write other files than one"
    );
    assert!(
        tables(&at("four")) == first,
        "killed shards write other files than one"
    );
    agrees_with(&truth, &at("four"));
}

/// Every bundle is there once, and the planted causes are the ones that are found.
fn agrees_with(truth: &BTreeMap<String, Option<String>>, output: &Path) {
    let asked = sql(
        output,
        "SELECT input, coalesce(cause, '') AS cause FROM bundles ORDER BY input",
    );
    assert_eq!(asked.code, 0, "{}", asked.err);
    let found: Vec<&str> = asked.out.lines().skip(1).collect();
    let expected: Vec<String> = truth
        .iter()
        .map(|(name, cause)| format!("{name},{}", cause.as_deref().unwrap_or("")))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn a_misspelt_place_is_no_night_without_incidents() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("commits")).unwrap();
    let asked = sql(folder.path(), "SELECT count(*) FROM incidents");
    assert_eq!(asked.code, 2);
    assert!(
        asked.err.contains("no output of `fleet run`"),
        "{}",
        asked.err
    );
}

#[test]
fn wrong_use_ends_with_the_code_that_stops_the_job() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().display().to_string();
    for arguments in [
        ["--shard", "8/8"],
        ["--buckets", "0"],
        ["--time-limit", "soon"],
    ] {
        let mut command = Command::new(bins::find(ANALYZER));
        command
            .args(["fleet", "run", &place, "-o", &place])
            .args(arguments);
        assert_eq!(ended(command.output().unwrap()).code, 2, "{arguments:?}");
    }
}
