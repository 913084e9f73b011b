//! Captures of other tools in small, as their tools lay them out, in every packing.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::diagnose::Analyzer;
use crate::model::Analysis;

const POD: &str = r#"{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a","namespace":"ns"},"status":{"phase":"Running"}}]}"#;

fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }
}

fn dump(root: &Path) {
    let nodes = r#"{"kind":"NodeList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"n1"},"status":{"nodeInfo":{"kubeletVersion":"v1.30.0","kernelVersion":"6.8.0"}}}]}"#;
    let empty = r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"}}"#;
    let log = "==== START logs for container c of pod ns/a ====\nhello\n==== END logs for container c of pod ns/a ====\n";
    write(
        root,
        &[
            ("state/nodes.json", nodes),
            ("state/ns/pods.json", POD),
            ("state/kube-public/pods.json", empty),
            ("state/ns/a/logs.txt", log),
        ],
    );
}

fn analyze(analyzer: &Analyzer, path: &Path) -> Analysis {
    let mut analysis = analyzer.analyze(path).expect("readable");
    analysis.input = crate::model::Input::default();
    analysis
}

#[test]
fn a_capture_gives_the_same_analysis_in_every_packing() {
    let analyzer = Analyzer::new(crate::rules::load(None).expect("rules").0).expect("patterns");
    let scratch = tempfile::tempdir().expect("a folder");
    dump(scratch.path());
    let expected = analyze(&analyzer, &scratch.path().join("state"));
    assert_eq!(expected.seen.format, "cluster-info-dump");
    assert_eq!(
        (
            expected.seen.nodes,
            expected.seen.pods,
            expected.seen.events
        ),
        (1, 1, 0)
    );
    assert_eq!(expected.seen.kubernetes_version.as_deref(), Some("v1.30.0"));
    for flags in ["-cf", "-czf", "-cJf", "-cjf"] {
        let packed = scratch.path().join("download");
        let made = Command::new("tar")
            .arg("-C")
            .arg(scratch.path())
            .arg(flags)
            .arg(&packed)
            .arg("state")
            .status();
        if !made.is_ok_and(|status| status.success()) {
            println!("skipped: tar {flags} does not work here");
            continue;
        }
        let found = analyze(&analyzer, &packed);
        fs::remove_file(&packed).expect("removed");
        assert_eq!(found, expected, "{flags}");
    }
}

#[test]
fn objects_of_a_must_gather_count_once_and_without_a_kind() {
    let analyzer = Analyzer::new(crate::rules::load(None).expect("rules").0).expect("patterns");
    let scratch = tempfile::tempdir().expect("a folder");
    let pod = "metadata:\n  name: a\n  namespace: ns\nstatus:\n  phase: Running\n";
    let list = format!(
        "---\napiVersion: v1\nitems:\n- {}kind: PodList\n",
        pod.replace('\n', "\n  ").trim_end_matches(' ')
    );
    write(
        scratch.path(),
        &[
            ("img/version", "openshift/must-gather\n4.8\n"),
            (
                "img/cluster-scoped-resources/core/nodes/n1.yaml",
                "apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n",
            ),
            ("img/namespaces/ns/core/pods.yaml", &list),
            (
                "img/namespaces/ns/pods/a/a.yaml",
                &format!("apiVersion: v1\nkind: Pod\n{pod}"),
            ),
            (
                "img/namespaces/ns/pods/a/c/c/logs/current.log",
                "2026-11-20T10:00:00Z hello\n",
            ),
        ],
    );
    let seen = analyze(&analyzer, scratch.path()).seen;
    assert_eq!(
        (seen.format.as_str(), seen.nodes, seen.pods),
        ("must-gather", 1, 1)
    );
}
