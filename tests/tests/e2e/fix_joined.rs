//! Fixes of several bundles read as one, and of loose text.

use std::path::{Path, PathBuf};

use casefile_tests::bins;

use crate::fix::{fix, sample};
use crate::support::{Ended, plant, run};

const NODE: &str = "ci-gpu-4";
const CAUSE: &str = "inotify-instances-exhausted";

/// The bundle of the inotify sample as another node of the same cluster would have given it.
fn twin(to: &Path, node: &str) -> PathBuf {
    let from = sample("inotify-instances");
    for file in walkdir::WalkDir::new(&from)
        .into_iter()
        .filter_map(Result::ok)
    {
        if !file.file_type().is_file() {
            continue;
        }
        let path = file.path().strip_prefix(&from).unwrap().to_str().unwrap();
        let bytes = std::fs::read(file.path()).unwrap();
        let bytes = match String::from_utf8(bytes) {
            // The cluster's objects are the same ones.
            Ok(text) if !path.starts_with("cluster-resources/") => text.replace(NODE, node).into(),
            Ok(text) => text.into_bytes(),
            Err(other) => other.into_bytes(),
        };
        plant(to, &path.replacen(NODE, node, 1), bytes);
    }
    to.to_owned()
}

/// The changes of a fix that says that the cause is gone with them.
fn changes_of_the_gone_cause(said: &Ended, out: &Path) -> String {
    let own = said
        .out
        .lines()
        .find(|line| line.ends_with(&format!("({CAUSE})")));
    assert!(
        own.is_some_and(|line| line.starts_with("gone: ")),
        "{said:?}"
    );
    std::fs::read_to_string(out.join(CAUSE).join("changes.yaml")).unwrap()
}

fn limit(bundle: &Path, node: &str, value: &str) {
    let path = format!("nodes/{node}/rootfs/proc/sys/fs/inotify/max_user_instances");
    plant(bundle, &path, format!("{value}\n"));
}

#[test]
fn a_fix_of_a_joined_cluster_has_a_step_for_each_node_that_shows_the_cause() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site");
    twin(&site.join("a"), NODE);
    twin(&site.join("b"), "ci-gpu-5");
    let out = folder.path().join("fix");
    let said = fix(&site, &out, &["--join"]);
    assert_eq!(said.code, 0, "{said:?}");
    let changes = changes_of_the_gone_cause(&said, &out);
    assert!(
        changes.contains(NODE) && changes.contains("ci-gpu-5"),
        "{changes}"
    );
    let script = std::fs::read_to_string(out.join(CAUSE).join("apply.sh")).unwrap();
    for node in [NODE, "ci-gpu-5"] {
        assert!(
            script.contains(&format!("elif ! is_node {node}; then")),
            "{script}"
        );
    }
    // A person's change on one of the two leaves the other as it is.
    let half = folder.path().join("half.yaml");
    std::fs::write(&half, format!("changes:\n- sysctl: {{node: {NODE}, name: fs.inotify.max_user_instances, value: '8192'}}\n")).unwrap();
    let tried = fix(
        &site,
        &folder.path().join("half"),
        &[
            "--join",
            "--what-if",
            half.to_str().unwrap(),
            "--cause",
            CAUSE,
        ],
    );
    assert!(tried.out.starts_with("still there: "), "{tried:?}");
    assert!(tried.out.contains("ci-gpu-5"), "{tried:?}");
    // The report of the joined cluster shows the same.
    let report = folder.path().join("report");
    let arguments = [
        "report",
        site.to_str().unwrap(),
        "--join",
        "-o",
        report.to_str().unwrap(),
        "--format",
        "json",
    ];
    let ended = run(bins::ANALYZER, &arguments);
    assert_eq!(ended.code, 0, "{ended:?}");
    let text = std::fs::read_to_string(report.join("report.json")).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let incidents = document["incidents"].as_array().unwrap();
    let own = incidents
        .iter()
        .find(|one| one["cause"]["id"] == CAUSE)
        .unwrap();
    assert_eq!(own["fix"]["outcome"], "gone", "{own}");
}

#[test]
fn a_node_of_the_cluster_that_is_well_is_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site");
    twin(&site.join("a"), NODE);
    let well = twin(&site.join("b"), "ci-gpu-5");
    limit(&well, "ci-gpu-5", "8192");
    std::fs::remove_dir_all(well.join("nodes/ci-gpu-5/journal")).unwrap();
    let out = folder.path().join("fix");
    let said = fix(&site, &out, &["--join"]);
    let changes = changes_of_the_gone_cause(&said, &out);
    assert!(
        changes.contains(NODE) && !changes.contains("ci-gpu-5"),
        "{changes}"
    );
}

#[test]
fn a_pasted_file_can_be_changed_and_is_said_to_be_maybe_a_part() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = sample("drop-in-without-runc");
    let base = "/var/lib/k8s-containerd/k8s-containerd/etc/containerd";
    let mut text = String::new();
    for file in [
        format!("{base}/config.toml"),
        format!("{base}/conf.d/99-nvidia.toml"),
    ] {
        let content =
            std::fs::read_to_string(bundle.join(format!("nodes/spark-1/rootfs{file}"))).unwrap();
        text.extend(["root@spark-1:~# cat ", &file, "\n", &content, "\n"]);
    }
    let input = folder.path().join("ticket.txt");
    std::fs::write(&input, text).unwrap();
    let out = folder.path().join("fix");
    let change = folder.path().join("changes.yaml");
    let section = format!(
        "changes:\n- containerd-section: {{node: spark-1, path: {base}/conf.d/99-nvidia.toml}}\n"
    );
    std::fs::write(&change, section).unwrap();
    let said = fix(&input, &out, &["--what-if", change.to_str().unwrap()]);
    assert_eq!(said.code, 0, "{said:?}");
    let written = std::fs::read_to_string(out.join("proposal/99-nvidia.toml.patch")).unwrap();
    assert!(written.contains("runtimes.runc"), "{written}");
    let page = std::fs::read_to_string(out.join("proposal/README.md")).unwrap();
    assert!(page.contains("was pasted"), "{page}");
}

#[test]
fn loose_text_without_the_files_that_a_fix_needs_proves_nothing_and_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("ticket.txt");
    std::fs::write(&input, "E1120 10:03:11 main.go:60] failed to create FS watcher: too many open files\nfs.inotify.max_user_instances = 128\n").unwrap();
    let said = fix(&input, &folder.path().join("fix"), &[]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(!said.out.contains("gone: "), "{said:?}");
}

#[test]
fn a_node_whose_evidence_does_not_fill_a_change_in_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site");
    twin(&site.join("a"), NODE);
    let other = twin(&site.join("b"), "ci-gpu-5");
    std::fs::remove_file(
        other.join("nodes/ci-gpu-5/rootfs/proc/sys/fs/inotify/max_user_instances"),
    )
    .unwrap();
    let out = folder.path().join("fix");
    let said = fix(&site, &out, &["--join"]);
    assert_eq!(said.code, 0, "{said:?}");
    let left = "not shown: ci-gpu-5 is not changed: the bundle does not say everything";
    assert!(said.out.contains(left), "{said:?}");
    let page = std::fs::read_to_string(out.join(CAUSE).join("README.md")).unwrap();
    assert!(page.contains("ci-gpu-5 is not changed"), "{page}");
}
