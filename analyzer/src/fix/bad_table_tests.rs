//! What an operator may run a step of each sort into, as one table: the one line that is said. The table is
//! `docs/refusals.md`, and is compared with what the scripts say.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;

use super::bad_answer_tests::{Sort, answering, bundle, planned, sorts};
use super::bad_input_tests::Mounted;
use super::sandbox::{NODE, Planned, Sandbox};

const FILE: &str = "/etc/containerd/config.toml";
const UNIT: &str = "/etc/systemd/system/kubelet.service";
const UNIT_TEXT: &str = "[Unit]\nBindsTo=a\n\n[Service]\nExecStart=/b\n";

/// What may be other than it should be, in the words of the table.
const CONDITIONS: [&str; 10] = [
    "another node",
    "another cluster with the same names",
    "the state is another one by now",
    "a program is missing",
    "not root, or no right",
    "the cluster does not answer",
    "the file's disk is full",
    "the file's disk is read-only",
    "the journal's disk is full",
    "the journal's disk is read-only",
];

/// One sort a column: those of `sorts`, and the two whose state is a file of the node.
fn columns() -> Vec<Sort> {
    let of = |name, change, program| Sort {
        name,
        change,
        program,
        answers: "",
    };
    let mut all = vec![
        of(
            "file",
            json!({"host-file": {"node": NODE, "path": FILE, "merge_toml": "disabled_plugins = []"}}),
            "containerd",
        ),
        of(
            "unit",
            json!({"unit": {"unit": "kubelet.service", "section": "Unit", "remove": ["BindsTo=a"], "add": ["Wants=a"]}}),
            "systemctl",
        ),
    ];
    all.extend(sorts().into_iter().filter(|sort| sort.name != "nft"));
    for sort in all.iter_mut().filter(|sort| sort.name == "kubectl") {
        // Of the cluster itself it says nothing.
        sort.answers =
            "case \"$*\" in *kube-system*) ;; *'jsonpath={.metadata.uid}'*) echo u1 ;; esac";
    }
    all
}

/// The file of the node that a sort changes, and its text.
fn file(sort: &Sort) -> Option<(&'static str, &'static str)> {
    match sort.name {
        "file" => Some((FILE, "version = 2\n")),
        "unit" => Some((UNIT, UNIT_TEXT)),
        _ => None,
    }
}

/// What a condition makes of a step.
enum Met {
    /// It cannot happen to this sort.
    Never,
    /// This machine cannot make it.
    Unmade,
    /// It is so, as long as these are held.
    So(Option<Mounted>),
}

/// Makes the condition. A sort that goes to the cluster runs anywhere, so no node and no root is wrong for it.
fn met(condition: &str, sort: &Sort, sandbox: &Sandbox, fix: &Planned) -> Met {
    let clustered = ["kubectl", "helm"].contains(&sort.name);
    match condition {
        "another node" if !clustered => {
            answering(sandbox, "hostname", "echo n2");
            sandbox.node_name.set("n2");
        }
        "another cluster with the same names" if clustered => {
            let body = format!(
                "case \"$*\" in *kube-system*) echo other; exit 0 ;; esac\n{}",
                if sort.name == "kubectl" {
                    sort.answers
                } else {
                    ""
                }
            );
            answering(sandbox, "kubectl", &body);
        }
        "the state is another one by now" => match file(sort) {
            Some((path, text)) => std::fs::write(sandbox.real(path), format!("{text}#\n")).unwrap(),
            None => answering(sandbox, sort.program, ":"),
        },
        "a program is missing" => {
            std::fs::remove_file(sandbox.folder.path().join("shims").join(sort.program)).unwrap();
        }
        "not root, or no right" => match sort.name {
            "kubectl" => answering(
                sandbox,
                "kubectl",
                "[ \"$2\" = --raw ] || { echo 'Error from server (Forbidden): nodes \"n1\" is forbidden: User \"me\" cannot get resource \"nodes\"' >&2; exit 1; }",
            ),
            "helm" => answering(
                sandbox,
                "helm",
                "echo 'Error: query: failed to query with labels: secrets is forbidden: User \"me\" cannot list resource \"secrets\"' >&2; exit 1",
            ),
            _ => answering(sandbox, "id", "echo 1000"),
        },
        "the cluster does not answer" if clustered => answering(
            sandbox,
            sort.program,
            "echo 'Error: Kubernetes cluster unreachable: i/o timeout' >&2; exit 1",
        ),
        "the file's disk is full" | "the file's disk is read-only" => {
            return file(sort).map_or(Met::Never, |file| of_disk(condition, file, sandbox));
        }
        "the journal's disk is full" | "the journal's disk is read-only" => {
            return made_small(condition, Mounted::on(&fix.folder.join("backup")));
        }
        _ => return Met::Never,
    }
    Met::So(None)
}

fn made_small(condition: &str, mounted: Option<Mounted>) -> Met {
    let Some(mounted) = mounted else {
        return Met::Unmade;
    };
    if condition.ends_with("full") {
        mounted.fill();
    } else {
        mounted.read_only();
    }
    Met::So(Some(mounted))
}

/// The folder of the file becomes a file system of its own, with the file on it.
fn of_disk(condition: &str, (path, text): (&str, &str), sandbox: &Sandbox) -> Met {
    let real = sandbox.real(path);
    let mounted = Mounted::on(real.parent().unwrap_or(Path::new("/")));
    if mounted.is_some() {
        std::fs::write(&real, text).unwrap();
    }
    made_small(condition, mounted)
}

/// The last line of a run, without what differs from run to run.
fn cell(condition: &str, sort: &Sort) -> Option<String> {
    let (sandbox, fix) = of_column(sort);
    let held = match met(condition, sort, &sandbox, &fix) {
        Met::Never => return Some("–".into()),
        Met::Unmade => return None,
        Met::So(held) => held,
    };
    let before = sandbox.tree();
    let mut command = sandbox.command(&fix, "moved.sh", &["--yes"]);
    let ran = command.env("ACCEPT", "yes").output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    let what = format!("{condition}, {}: {said}", sort.name);
    assert!(!ran.status.success(), "{what}");
    assert!(sandbox.tree() == before, "something was changed: {what}");
    drop(held);
    let last = said.lines().last().unwrap_or_default();
    let last = last
        .strip_prefix("stopped: ")
        .unwrap_or_else(|| panic!("{what}"));
    let folder = sandbox.folder.path().display().to_string();
    let backup = fix.folder.join("backup").display().to_string();
    Some(
        last.replace(&backup, "BACKUP")
            .replace(&format!("{folder}/node"), ""),
    )
}

/// The fix of a sort, on a node that has its file, of a cluster whose identity is known.
fn of_column(sort: &Sort) -> (Sandbox, Planned) {
    let sandbox = bundle();
    let uid = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa";
    sandbox.entry(
        "cluster-resources/namespaces.json",
        &format!("{{\"kind\":\"NamespaceList\",\"apiVersion\":\"v1\",\"items\":[\n{{\"metadata\":{{\"name\":\"kube-system\",\"uid\":\"{uid}\"}}}}\n]}}\n"),
    );
    if let Some((path, text)) = file(sort) {
        sandbox.file(path, text, text);
    }
    let fix = planned(&sandbox, sort);
    (sandbox, fix)
}

/// The table, and whether this machine could make all of it.
fn table() -> (String, bool) {
    let columns = columns();
    let names: Vec<&str> = columns.iter().map(|sort| sort.name).collect();
    let mut text = format!(
        "| condition | {} |\n|---|{}\n",
        names.join(" | "),
        "---|".repeat(names.len())
    );
    let mut whole = true;
    for condition in CONDITIONS {
        let cells: Vec<Option<String>> = columns.iter().map(|sort| cell(condition, sort)).collect();
        whole &= cells.iter().all(Option::is_some);
        let cells: Vec<String> = cells.into_iter().map(Option::unwrap_or_default).collect();
        let _ = writeln!(text, "| {condition} | {} |", cells.join(" | "));
    }
    (text, whole)
}

const HEAD: &str = "# What a step says where it cannot be made\n\n\
    Written by `CASEFILE_UPDATE=1 cargo test -p casefile-analyzer-lib --lib bad_table`, and compared by it: a step of each sort is run into each \
    condition, and nothing may be changed. Each line follows `stopped: `. A dash means that it cannot happen: a step that goes to the cluster \
    runs anywhere, as anybody. The file's disk concerns steps that write files themselves.\n\n";

#[test]
fn each_sort_of_step_says_in_one_line_what_it_was_run_into() {
    let (table, whole) = table();
    let _ = std::io::Write::write_fmt(&mut std::io::stdout(), format_args!("{table}"));
    // Without root there are no small disks, which is said where they are wanted.
    if !whole {
        return;
    }
    let now = format!("{HEAD}{table}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/refusals.md");
    if std::env::var_os("CASEFILE_UPDATE").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let read = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        read == now,
        "docs/refusals.md has other lines than the scripts: run it with CASEFILE_UPDATE=1 and read the difference"
    );
}
