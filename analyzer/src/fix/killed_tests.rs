//! A run that dies with all that it started, before any command of the script, those of the shell itself included:
//! `--back` leaves what was there before, and a run that begins again ends as one that was never stopped.
//!
//! `CASEFILE_KILL_STEP=1` stops before each command; otherwise some are left out.

use serde_json::json;

use super::sandbox::{NODE, Planned, Sandbox, Tree};
use crate::change::Change;

const FILE: &str = "/etc/containerd/conf.d/x.toml";
const UNIT: &str = "/etc/systemd/system/kubelet.service";

/// Steps of each sort: a file that is changed, one that is new, one that goes, a unit with its start, a kernel parameter.
fn changes() -> Vec<Change> {
    let all = [
        json!({"host-file": {"node": NODE, "path": FILE, "merge_toml": "b = 2\n", "restart": "containerd.service"}}),
        json!({"host-file": {"node": NODE, "path": "/etc/new/deep/file", "content": "x\n"}}),
        json!({"host-file": {"node": NODE, "path": "/etc/old", "remove": true}}),
        json!({"unit": {"unit": "kubelet.service", "section": "Unit", "remove": ["BindsTo=a"], "add": ["Wants=a"], "start": true}}),
        json!({"sysctl": {"node": NODE, "name": "net.ipv4.x", "value": "1"}}),
    ];
    let read = all.map(serde_json::from_value::<Change>);
    read.into_iter().map(Result::unwrap).collect()
}

fn sandbox() -> (Sandbox, Planned) {
    let sandbox = Sandbox::new();
    sandbox.file(FILE, "a = 1\n", "a = 1\n");
    sandbox.file("/etc/old", "o\n", "o\n");
    let unit = "[Unit]\nBindsTo=a\n[Service]\nExecStart=/b\n";
    sandbox.file(UNIT, unit, unit);
    sandbox.file("/proc/sys/net/ipv4/x", "0\n", "0\n");
    let fix = sandbox.write(&changes()).unwrap();
    (sandbox, fix)
}

/// What a run that nobody stops makes.
fn whole() -> Tree {
    let (sandbox, fix) = sandbox();
    let before = sandbox.tree();
    let ran = sandbox.run(&fix, &["--yes"]);
    assert_eq!(ran.code, 0, "{}", ran.said);
    let after = sandbox.tree();
    assert!(after != before);
    after
}

#[test]
fn a_run_that_is_killed_before_any_command_ends_clean_by_back_and_by_a_new_run() {
    let step = std::env::var("CASEFILE_KILL_STEP").ok();
    let step = step.and_then(|text| text.parse().ok()).unwrap_or(53);
    let wanted = whole();
    for at in (1..).step_by(step) {
        let (sandbox, fix) = sandbox();
        let before = sandbox.tree();
        if !sandbox.killed_before(&fix, &["--yes"], at) {
            assert!(at > 200, "the script has {at} commands only");
            return;
        }
        let ran = sandbox.run(&fix, &["--back"]);
        let nothing = ran.said.contains("nothing was done from here");
        assert!(ran.code == 0 || nothing, "{at}: {}", ran.said);
        assert!(sandbox.tree() == before, "back after {at}: {}", ran.said);
        begun_again(&sandbox, &fix, at, &before, &wanted);
    }
}

/// Killed once more, and then not stopped; taking back is killed as well, and begun again.
fn begun_again(sandbox: &Sandbox, fix: &Planned, at: usize, before: &Tree, wanted: &Tree) {
    sandbox.killed_before(fix, &["--yes"], at);
    let ran = sandbox.run(fix, &["--yes"]);
    assert_eq!(ran.code, 0, "{at}: {}", ran.said);
    assert!(sandbox.tree() == *wanted, "again after {at}: {}", ran.said);
    sandbox.killed_before(fix, &["--back"], at);
    let ran = sandbox.run(fix, &["--back"]);
    let nothing = ran.said.contains("nothing was done from here");
    assert!(ran.code == 0 || nothing, "{at}: {}", ran.said);
    assert!(
        sandbox.tree() == *before,
        "back twice after {at}: {}",
        ran.said
    );
}
