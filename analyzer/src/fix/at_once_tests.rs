//! Two operators on one machine: one is at work, the other is told so, and a run that was killed is in nobody's way.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use serde_json::json;

use super::sandbox::{NODE, Planned, Sandbox};

const FILE: &str = "/etc/containerd/conf.d/x.toml";

fn sandbox() -> (Sandbox, Planned) {
    let sandbox = Sandbox::new();
    sandbox.file(FILE, "a = 1\n", "a = 1\n");
    let change = json!({"host-file": {"node": NODE, "path": FILE, "merge_toml": "b = 2\n"}});
    let fix = sandbox.write(&[serde_json::from_value(change).unwrap()]);
    (sandbox, fix.unwrap())
}

/// A run that has asked for its first step and waits for the answer.
fn waiting(sandbox: &Sandbox, fix: &Planned) -> Child {
    let mut command = sandbox.command(fix, "moved.sh", &[]);
    command.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut run = command.spawn().unwrap();
    let lines = BufReader::new(run.stderr.as_mut().unwrap()).lines();
    // The last that is said before it asks: the difference that it would make.
    let mut lines = lines.map_while(Result::ok);
    assert!(
        lines.any(|line| line == "+b = 2"),
        "it ended before it asked"
    );
    run
}

#[test]
fn while_one_is_at_work_another_is_told_so_and_changes_nothing() {
    let (sandbox, fix) = sandbox();
    let before = sandbox.tree();
    let mut first = waiting(&sandbox, &fix);
    for argument in ["--yes", "--back"] {
        let ran = sandbox.run(&fix, &[argument]);
        assert_eq!(ran.code, 1, "{argument}: {}", ran.said);
        let says = format!(
            "another run of a fix is at work on this machine (process {}",
            first.id()
        );
        assert!(ran.said.contains(&says), "{argument}: {}", ran.said);
        assert!(sandbox.tree() == before, "{argument}: {}", ran.said);
    }
    // A look is nobody's way.
    assert_eq!(sandbox.run(&fix, &["--dry-run"]).code, 0);
    // Killed, it leaves nothing that would keep the next one out.
    first.kill().unwrap();
    first.wait().unwrap();
    let ran = sandbox.run(&fix, &["--yes"]);
    assert_eq!(ran.code, 0, "{}", ran.said);
    assert!(sandbox.tree() != before);
}

#[test]
fn of_many_that_start_at_once_one_makes_the_change() {
    for _ in 0..4 {
        let (sandbox, fix) = sandbox();
        // A machine that lost its power in a run.
        std::fs::write(sandbox.folder.path().join("casefile-fix"), "4194304\n").unwrap();
        let all: Vec<Child> = (0..6)
            .map(|_| {
                let mut command = sandbox.command(&fix, "moved.sh", &["--yes"]);
                command.stderr(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        let mut ended = 0;
        for run in all {
            let output = run.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let refused = said.contains("another run of a fix is at work");
            assert!(output.status.success() != refused, "{said}");
            ended += usize::from(output.status.success());
        }
        assert!(ended > 0);
        let record = std::fs::read_to_string(fix.folder.join("backup/record.txt")).unwrap();
        let begun = record.lines().filter(|line| line.ends_with("step 1 begun"));
        assert_eq!(begun.count(), 1, "{record}");
    }
}
