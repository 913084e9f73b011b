//! Before and after: what two bundles of one site say about one another.

use std::path::PathBuf;

use casefile_tests::bins;
use serde_json::Value;

use crate::support::{plant, run};

fn sample(name: &str) -> PathBuf {
    bins::checkout().join("samples").join(name).join("bundle")
}

fn diff(before: &std::path::Path, after: &std::path::Path) -> Value {
    let ended = run(
        bins::ANALYZER,
        &[
            "diff",
            before.to_str().unwrap(),
            after.to_str().unwrap(),
            "--format",
            "json",
        ],
    );
    assert_eq!(ended.code, 0, "{ended:?}");
    serde_json::from_str(&ended.out).unwrap()
}

fn fates(comparison: &Value) -> Vec<(String, String)> {
    let causes = comparison["causes"].as_array().unwrap().iter();
    causes
        .map(|one| {
            (
                one["cause"].as_str().unwrap().to_owned(),
                one["fate"].as_str().unwrap().to_owned(),
            )
        })
        .collect()
}

fn is(cause: &str, fate: &str) -> (String, String) {
    (cause.to_owned(), fate.to_owned())
}

#[test]
fn the_incident_is_followed_through_its_three_states() {
    let first = diff(
        &sample("toolkit-wrong-containerd"),
        &sample("ufw-blocks-dns"),
    );
    assert_eq!(first["outcome"], "partly");
    assert_eq!(
        fates(&first),
        [
            is("toolkit-configures-wrong-containerd", "gone"),
            is("ufw-blocks-pod-traffic", "remains")
        ]
    );
    let changed = first["configuration"].to_string();
    assert!(
        changed.contains("toolkit.env.CONTAINERD_CONFIG.value"),
        "{changed}"
    );

    let second = diff(&sample("ufw-blocks-dns"), &sample("fixed"));
    assert_eq!(second["outcome"], "resolved");
    assert_eq!(fates(&second), [is("ufw-blocks-pod-traffic", "gone")]);
    assert!(
        second["configuration"]
            .to_string()
            .contains("in_lxc+!out_eno1")
    );
    let pod = |one: &Value| one["subject"] == "pod/default/gpu-textgen" && one["after"].is_null();
    assert!(
        second["workloads"].as_array().unwrap().iter().any(pod),
        "{second}"
    );
}

#[test]
fn the_message_that_it_is_over_is_written_only_where_it_is() {
    let text = |before: &str, after: &str| {
        let (before, after) = (sample(before), sample(after));
        let ended = run(
            bins::ANALYZER,
            &[
                "diff",
                before.to_str().unwrap(),
                after.to_str().unwrap(),
                "--format",
                "md",
            ],
        );
        assert_eq!(ended.code, 0, "{ended:?}");
        ended.out
    };
    assert!(text("ufw-blocks-dns", "fixed").contains("RESOLVED: ufw drops the traffic of pods"));
    let half = text("toolkit-wrong-containerd", "ufw-blocks-dns");
    assert!(
        half.contains("Not to be sent yet") && !half.contains("RESOLVED:"),
        "{half}"
    );
}

#[test]
fn a_second_bundle_that_cannot_see_is_not_taken_for_a_mended_node() {
    let folder = tempfile::tempdir().unwrap();
    let blind = folder.path();
    for name in ["casefile.json", "cluster-resources/namespaces.json"] {
        let text = std::fs::read_to_string(sample("fixed").join(name)).unwrap();
        plant(blind, name, text);
    }
    let comparison = diff(&sample("ufw-blocks-dns"), blind);
    assert_eq!(comparison["outcome"], "cannot-be-said", "{comparison}");
    assert_eq!(
        fates(&comparison),
        [is("ufw-blocks-pod-traffic", "cannot-be-seen")]
    );
}

#[test]
fn bundles_of_two_nodes_are_not_compared_as_if_they_were_one() {
    let folder = tempfile::tempdir().unwrap();
    let other = std::fs::read_to_string(sample("fixed").join("casefile.json")).unwrap();
    plant(
        folder.path(),
        "casefile.json",
        other.replace("192-18-132-31", "another-node"),
    );
    let comparison = diff(&sample("ufw-blocks-dns"), folder.path());
    assert_eq!(comparison["outcome"], "cannot-be-said");
    assert!(
        comparison["warnings"]
            .to_string()
            .contains("different nodes"),
        "{comparison}"
    );
}

#[test]
fn bundles_in_the_wrong_order_are_noticed() {
    let comparison = diff(&sample("fixed"), &sample("ufw-blocks-dns"));
    assert!(
        comparison["warnings"].to_string().contains("right order"),
        "{comparison}"
    );
    assert_eq!(fates(&comparison), [is("ufw-blocks-pod-traffic", "new")]);
}

#[test]
fn several_bundles_in_a_row_make_a_history() {
    let names = ["toolkit-wrong-containerd", "ufw-blocks-dns", "fixed"];
    let paths = names.map(|name| sample(name).display().to_string());
    let ended = run(bins::ANALYZER, &["diff", &paths[0], &paths[1], &paths[2]]);
    assert_eq!(ended.code, 0, "{ended:?}");
    for line in [
        "toolkit-configures-wrong-containerd: seen in 1, gone in 2",
        "ufw-blocks-pod-traffic: seen in 1, still in 2, gone in 3",
        "changed between 2 and 3: nodes/192-18-132-31/rootfs/etc/ufw/user.rules",
    ] {
        assert!(ended.out.contains(line), "{line}: {}", ended.out);
    }
}
