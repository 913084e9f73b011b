//! A desk's inbox with the real analyzer: killed at any moment, told of by hooks, fed with broken bundles.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use casefile_tests::bins::{self, ANALYZER, checkout};
use casefile_tests::fleet::{Fleet, make};

use crate::support::{Ended, ended};

fn bundles(folder: &Path, count: usize) {
    let fleet = Fleet {
        bundles: count,
        nodes_a_cluster: 10,
        seed: 9,
        hidden: true,
    };
    make(fleet, &checkout().join("analyzer/rules"), folder).unwrap();
}

fn inbox(input: &Path, output: &Path) -> Command {
    let mut command = Command::new(bins::find(ANALYZER));
    command.arg("inbox").arg(input).arg("-o").arg(output);
    command.args(["--settle", "0", "--jobs", "2"]);
    command
}

fn run(command: &mut Command) -> Ended {
    ended(command.output().unwrap())
}

fn children(folder: &Path) -> BTreeSet<String> {
    let found = std::fs::read_dir(folder).unwrap();
    found
        .map(|child| child.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn an_inbox_that_is_killed_at_any_moment_loses_nothing_and_does_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    bundles(&input, 20);
    let told = folder.path().join("told");
    let hook = format!(
        "sed 's/.*\"id\":\"\\([0-9a-f]*\\)\".*/\\1/' >> {}; echo >> {0}",
        told.display()
    );
    for round in 0..4_u64 {
        let mut child = inbox(&input, &output)
            .args(["--hook", &hook])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(1200 + 400 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        for id in children(&output.join("reports")) {
            let report = output.join("reports").join(&id);
            for file in [
                "report.html",
                "report.json",
                "entry.json",
                "tables/bundles.parquet",
            ] {
                assert!(
                    report.join(file).exists(),
                    "{id} has its name and no {file}"
                );
            }
        }
    }
    let done = run(inbox(&input, &output).args(["--hook", &hook]));
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    let reports = children(&output.join("reports"));
    assert_eq!(reports.len(), 20);
    let told: BTreeSet<String> = std::fs::read_to_string(&told)
        .unwrap()
        .lines()
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect();
    assert_eq!(told, reports, "every report is told of by its id");
    let page = std::fs::read_to_string(output.join("index.html")).unwrap();
    for id in &reports {
        assert!(page.contains(&format!("reports/{id}/report.html")));
    }
    let again = run(&mut inbox(&input, &output));
    assert!(!again.out.contains("->"), "{}", again.out);
}

#[test]
fn broken_bundles_are_quarantined_with_a_reason_and_the_rest_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    bundles(&input, 3);
    for number in 0..200 {
        let text = format!("\u{1f}\u{8b}no gzip {number}");
        std::fs::write(input.join(format!("broken-{number}.tar.gz")), text).unwrap();
    }
    std::fs::write(input.join("empty.tar.gz"), "").unwrap();
    let done = run(&mut inbox(&input, &output));
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(children(&output.join("reports")).len(), 3);
    assert_eq!(children(&output.join("quarantine")).len(), 201);
    let page = std::fs::read_to_string(output.join("index.html")).unwrap();
    assert!(page.contains("201 quarantined") && page.contains("broken-0.tar.gz"));
    assert!(
        input.join("broken-0.tar.gz").exists(),
        "the input is left as it is"
    );
}

#[test]
fn a_hook_that_fails_is_named_and_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    bundles(&input, 1);
    let failed = run(inbox(&input, &output).args(["--hook", "exit 7"]));
    assert_eq!(failed.code, 3);
    assert!(
        failed.out.contains("hook for") && failed.out.contains("exit status: 7"),
        "{}",
        failed.out
    );
    let told = folder.path().join("told");
    let hook = format!("cat > {}", told.display());
    let done = run(inbox(&input, &output).args(["--hook", &hook]));
    assert_eq!(done.code, 0, "{}", done.out);
    let ticket: serde_json::Value = serde_json::from_slice(&std::fs::read(told).unwrap()).unwrap();
    assert_eq!(ticket["schema"], "casefile.inbox-ticket/1");
    assert!(!ticket["text"].as_str().unwrap().is_empty());
}

#[test]
fn an_inbox_answers_sql_like_a_fleet() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    bundles(&input, 4);
    run(&mut inbox(&input, &output));
    let question = "SELECT count(*) AS n, count(DISTINCT node) AS nodes FROM bundles";
    let mut command = Command::new(bins::find(ANALYZER));
    command
        .args(["sql", question, "--format", "json"])
        .arg(&output);
    assert_eq!(run(&mut command).out, "{\"n\":4,\"nodes\":4}\n");
}
