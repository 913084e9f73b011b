//! A run that dies with all that it started, before each command that changes anything: `--back` leaves what was there
//! before, and a run that begins again ends as one that was never stopped.
//!
//! `CASEFILE_KILL_STEP=1` stops before each such command of each script; otherwise some of a long script are left out.

use serde_json::json;

use super::hostile_tests::{bundle, changes, node_files};
use super::sandbox::{NODE, Planned, Sandbox, Tree};
use crate::change::Change;

const FILE: &str = "/etc/containerd/conf.d/x.toml";
const UNIT: &str = "/etc/systemd/system/kubelet.service";

/// Steps of each sort: a file that is changed, one that is new, one that goes, a unit with its start, a kernel parameter.
fn of_each_sort() -> Vec<Change> {
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

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.file(FILE, "a = 1\n", "a = 1\n");
    sandbox.file("/etc/old", "o\n", "o\n");
    let unit = "[Unit]\nBindsTo=a\n[Service]\nExecStart=/b\n";
    sandbox.file(UNIT, unit, unit);
    sandbox.file("/proc/sys/net/ipv4/x", "0\n", "0\n");
    sandbox
}

/// A script, the node before it and after it.
struct Script {
    sandbox: Sandbox,
    fix: Planned,
    before: Tree,
    after: Tree,
}

impl Script {
    /// None where the pretended programs do not let a run of it through.
    fn of(mut sandbox: Sandbox, changes: &[Change]) -> Option<Self> {
        sandbox.recorded = false;
        let fix = sandbox.write(changes).ok()?;
        let before = sandbox.tree();
        let ran = sandbox.run(&fix, &["--yes"]);
        let after = sandbox.tree();
        if ran.code != 0 || after == before {
            return None;
        }
        let script = Self {
            sandbox,
            fix,
            before,
            after,
        };
        script.back("a whole run");
        Some(script)
    }

    fn back(&self, what: &str) {
        let ran = self.sandbox.run(&self.fix, &["--back"]);
        let nothing = ran.said.contains("nothing was done from here");
        assert!(ran.code == 0 || nothing, "{what}: {}", ran.said);
        let clean = self.sandbox.tree() == self.before;
        assert!(clean, "back after {what}: {}", ran.said);
    }

    /// Killed and taken back; killed, begun again, and killed while it is taken back, which is begun again too. How
    /// often it died. Scripts that begin at another command of the first few leave out others.
    fn killed_at_each(&self, script: usize, step: usize) -> usize {
        let mut times = 0;
        for at in (1 + script % step..).step_by(step) {
            let died = self.sandbox.killed_before(&self.fix, &["--yes"], at);
            self.back(&format!("killed before {at}"));
            self.sandbox.killed_before(&self.fix, &["--yes"], at);
            let ran = self.sandbox.run(&self.fix, &["--yes"]);
            let whole = ran.code == 0 && self.sandbox.tree() == self.after;
            assert!(whole, "begun again after {at}: {}", ran.said);
            let on_the_way_back = self.sandbox.killed_before(&self.fix, &["--back"], at);
            self.back(&format!("killed on the way back before {at}"));
            times += usize::from(died) + usize::from(on_the_way_back);
            if !died && !on_the_way_back {
                break;
            }
        }
        times
    }
}

fn step(otherwise: usize) -> usize {
    let step = std::env::var("CASEFILE_KILL_STEP").ok();
    step.and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn print(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stdout(), "{line}");
}

#[test]
fn a_run_that_is_killed_before_any_command_ends_clean_by_back_and_by_a_new_run() {
    let script = Script::of(sandbox(), &of_each_sort()).unwrap();
    let step = step(11);
    let times = script.killed_at_each(0, step);
    print(&format!("killed {times} times"));
    assert!(times * step > 100, "only {times}");
}

/// The kinds whose script runs through where programs only pretend: those that change files of the node. What kubectl
/// and helm change is killed on an API server and on real charts, in the end-to-end tests.
#[test]
fn the_script_of_each_kind_that_changes_files_may_die_before_each_of_its_commands() {
    let all: Vec<Change> = changes("a");
    let turns = std::sync::Mutex::new(all.iter().enumerate());
    let tried = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some((number, change)) = turns.lock().unwrap().next() else {
                        return;
                    };
                    let sandbox = Sandbox::new();
                    bundle(&sandbox, "a");
                    node_files(&sandbox, "a");
                    if let Some(script) = Script::of(sandbox, std::slice::from_ref(change)) {
                        let times = script.killed_at_each(number, step(7));
                        let kind = serde_json::to_value(change).unwrap();
                        let kind = kind.as_object().unwrap().keys().next().unwrap().clone();
                        print(&format!("{kind}: killed {times} times"));
                        tried.lock().unwrap().push(kind);
                    }
                }
            });
        }
    });
    let mut tried = tried.into_inner().unwrap();
    tried.sort();
    tried.dedup();
    assert!(tried.len() >= 5, "only {tried:?}");
}
