//! The same for steps whose state is no file of the node: an object of the cluster, a release of helm, rules of a firewall.

use super::bad_input_tests::Mounted;
use super::sandbox::{Planned, Sandbox};

/// A step of each sort with the programs that answer for it: those of a node, of a cluster, of a release and of a firewall.
pub(super) struct Sort {
    pub(super) name: &'static str,
    pub(super) change: serde_json::Value,
    /// What the step needs, and whose answer shows the captured state.
    pub(super) program: &'static str,
    pub(super) answers: &'static str,
}

pub(super) fn sorts() -> Vec<Sort> {
    let iptables = "case $1 in -S) echo '-P FORWARD DROP' ;; esac";
    let nft = "case \"$*\" in *' -a '* | '-s -a'*) printf '\\t\\tiifname \"cni0\" drop # handle 4\\n' ;; esac";
    let helm = "[ \"$1\" != status ] || echo '{\"name\":\"r\",\"version\":2}'";
    let kubectl = "case \"$*\" in *'jsonpath={.metadata.uid}'*) echo u1 ;; esac";
    let of = |name, change, program, answers| Sort {
        name,
        change,
        program,
        answers,
    };
    let manifest = "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {a: b}}}";
    vec![
        of(
            "kubectl",
            serde_json::json!({"kube-object": {"manifest": manifest, "patch": true}}),
            "kubectl",
            kubectl,
        ),
        of(
            "helm",
            serde_json::json!({"helm-rollback": {"namespace": "a", "release": "r", "revision": "1"}}),
            "helm",
            helm,
        ),
        of(
            "iptables",
            serde_json::json!({"iptables": {"rules": ["-P FORWARD ACCEPT"]}}),
            "iptables",
            iptables,
        ),
        of(
            "nft",
            serde_json::json!({"nft-rule": {"table": "inet own", "chain": "forward", "rule": "iifname \"cni0\" drop"}}),
            "nft",
            nft,
        ),
    ]
}

/// A bundle that all of them fit, and the fix of one.
fn of_sort(sort: &Sort) -> (Sandbox, Planned) {
    let sandbox = bundle();
    let fix = planned(&sandbox, sort);
    (sandbox, fix)
}

/// A bundle that all of them fit.
pub(super) fn bundle() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.entry(
        "cluster-resources/nodes.json",
        "{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"items\":[\n{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\",\"uid\":\"u1\"}}\n]}\n",
    );
    sandbox.entry(
        "helm/a/r/history.json",
        r#"[{"revision":1,"status":"deployed"},{"revision":2,"status":"failed"}]"#,
    );
    sandbox.entry(
        "nodes/n1/commands/iptables-save.out",
        "*filter\n:FORWARD DROP [0:0]\nCOMMIT\n",
    );
    sandbox.entry(
        "nodes/n1/commands/nft-list-ruleset.out",
        "table inet own {\n\tchain forward {\n\t\tiifname \"cni0\" drop\n\t}\n}\n",
    );
    sandbox
}

/// The fix of one, where each program answers as the bundle says.
pub(super) fn planned(sandbox: &Sandbox, sort: &Sort) -> Planned {
    let change = serde_json::from_value(sort.change.clone()).unwrap();
    let fix = sandbox.write(&[change]).unwrap();
    sandbox.run(&fix, &["--dry-run"]);
    answering(sandbox, sort.program, sort.answers);
    fix
}

/// Gives a program of the node another body.
pub(super) fn answering(sandbox: &Sandbox, program: &str, body: &str) {
    let text = format!("#!/bin/bash\n{body}\nexit 0\n");
    std::fs::write(sandbox.folder.path().join("shims").join(program), text).unwrap();
}

/// Asserts that a run stops with one line that says why, and has begun nothing.
fn stops(sandbox: &Sandbox, fix: &Planned, says: &str, what: &str) {
    let before = sandbox.tree();
    let ran = sandbox.run(fix, &["--yes"]);
    assert_eq!(ran.code, 1, "{what}: {}", ran.said);
    let last = ran.said.lines().last().unwrap_or_default();
    assert!(
        last.starts_with("stopped: ") && last.contains(says),
        "{what}: {}",
        ran.said
    );
    assert!(sandbox.tree() == before, "{what}: {}", ran.said);
    assert!(
        !fix.folder.join("backup/steps-done").exists(),
        "{what}: {}",
        ran.said
    );
}

#[test]
fn the_captured_state_lets_a_step_of_each_sort_through() {
    for sort in sorts() {
        let (sandbox, fix) = of_sort(&sort);
        let ran = sandbox
            .command(&fix, "moved.sh", &["--yes"])
            .env("ACCEPT", "yes")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.success(), "{}: {said}", sort.name);
    }
}

#[test]
fn a_missing_program_is_named_by_a_step_of_each_sort() {
    for sort in sorts() {
        let (sandbox, fix) = of_sort(&sort);
        std::fs::remove_file(sandbox.folder.path().join("shims").join(sort.program)).unwrap();
        let says = format!(
            "this step needs {}, which is not on this machine",
            sort.program
        );
        stops(&sandbox, &fix, &says, sort.name);
    }
}

#[test]
fn a_state_that_is_another_one_by_now_is_named_by_a_step_of_each_sort() {
    for sort in sorts() {
        let (sandbox, fix) = of_sort(&sort);
        // It answers, and shows neither the object, nor the revision, nor the rule.
        answering(&sandbox, sort.program, ":");
        stops(
            &sandbox,
            &fix,
            "the state is not the captured one: expected: ",
            sort.name,
        );
    }
}

#[test]
fn a_program_that_is_refused_is_no_captured_state_for_a_step_of_any_sort() {
    for sort in sorts() {
        let (sandbox, fix) = of_sort(&sort);
        answering(
            &sandbox,
            sort.program,
            "echo 'Permission denied (you must be root)' >&2; exit 4",
        );
        let says = match sort.name {
            "kubectl" => "the API server does not answer",
            _ => "the look was refused (Permission denied (you must be root)); nothing was changed",
        };
        stops(&sandbox, &fix, says, sort.name);
    }
}

#[test]
fn a_cluster_that_does_not_answer_is_no_changed_state_for_helm_either() {
    let sort = sorts()
        .into_iter()
        .find(|sort| sort.name == "helm")
        .unwrap();
    let (sandbox, fix) = of_sort(&sort);
    answering(
        &sandbox,
        "helm",
        "echo 'Error: Kubernetes cluster unreachable: dial tcp 192.0.2.1:6443: i/o timeout' >&2; exit 1",
    );
    let says = "the API server does not answer as helm is set up here; nothing was changed";
    stops(&sandbox, &fix, says, sort.name);
    // Who may not list all releases may change one.
    answering(
        &sandbox,
        "helm",
        "case $1 in list) echo 'Error: secrets is forbidden' >&2; exit 1 ;; status) echo '{\"name\":\"r\",\"version\":2}' ;; esac",
    );
    let ran = sandbox
        .command(&fix, "moved.sh", &["--yes"])
        .env("ACCEPT", "yes")
        .output()
        .unwrap();
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
}

#[test]
fn the_wrong_node_and_missing_rights_are_named_by_a_step_of_a_firewall() {
    for sort in sorts()
        .iter()
        .filter(|sort| ["iptables", "nft"].contains(&sort.name))
    {
        let (sandbox, fix) = of_sort(sort);
        answering(&sandbox, "id", "echo 1000");
        stops(&sandbox, &fix, "this step needs root", sort.name);
        sandbox.node_name.set("n2");
        stops(&sandbox, &fix, "this step belongs to node n1", sort.name);
    }
}

#[test]
fn a_full_disk_of_the_journal_stops_a_step_of_each_sort_before_it_begins() {
    for sort in sorts() {
        let (sandbox, fix) = of_sort(&sort);
        let Some(mounted) = Mounted::on(&fix.folder.join("backup")) else {
            return;
        };
        mounted.fill();
        stops_choosing(&sandbox, &fix, "nothing was changed", sort.name);
        std::fs::remove_file(fix.folder.join("backup/full")).unwrap();
        mounted.read_only();
        stops_choosing(&sandbox, &fix, "", sort.name);
    }
}

/// The same where a person has chosen what the step takes from somebody.
fn stops_choosing(sandbox: &Sandbox, fix: &Planned, says: &str, what: &str) {
    let before = sandbox.tree();
    let mut command = sandbox.command(fix, "moved.sh", &["--yes"]);
    let ran = command.env("ACCEPT", "yes").output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(!ran.status.success(), "{what}: {said}");
    let last = said.lines().last().unwrap_or_default();
    assert!(
        last.starts_with("stopped: ") && last.contains(says),
        "{what}: {said}"
    );
    assert!(sandbox.tree() == before, "{what}: {said}");
}
