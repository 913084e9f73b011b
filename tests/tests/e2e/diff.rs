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
    let pod = |one: &Value| one["subject"] == "pod/default/gpu-textgen" && one["after"] == "well";
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
    let over = text("ufw-blocks-dns", "fixed");
    assert!(over.contains("\nRESOLVED 2026-"), "{over}");
    assert!(over.contains("\nIssue: ufw drops pod traffic"), "{over}");
    let half = text("toolkit-wrong-containerd", "ufw-blocks-dns");
    assert!(
        half.contains("Not to be sent yet") && !half.contains("RESOLVED"),
        "{half}"
    );
}

/// `diff INPUT... -o FOLDER`, and one of the files that it wrote.
fn pages(inputs: &[PathBuf], folder: &std::path::Path) -> impl Fn(&str) -> String + use<> {
    let mut arguments: Vec<&str> = vec!["diff", "-o", folder.to_str().unwrap()];
    arguments.extend(inputs.iter().map(|input| input.to_str().unwrap()));
    let ended = run(bins::ANALYZER, &arguments);
    assert_eq!(ended.code, 0, "{ended:?}");
    let folder = folder.to_owned();
    move |name| std::fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn the_page_of_the_whole_incident_confirms_its_end_with_every_cause_that_it_had() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = ["toolkit-wrong-containerd", "ufw-blocks-dns", "fixed"].map(sample);
    let page = pages(&inputs, folder.path());
    let markdown = page("comparison.md");
    let message = markdown.split("\nRESOLVED ").nth(1).unwrap();
    let issue = message
        .lines()
        .find(|line| line.starts_with("Issue: "))
        .unwrap();
    for title in ["GPU pods cannot start", "ufw drops pod traffic"] {
        assert!(issue.contains(title), "{title}: {markdown}");
    }
    assert!(
        markdown.contains("seen in 1, still in 2, gone in 3"),
        "{markdown}"
    );
    let html = page("comparison.html");
    assert!(
        html.contains("Content-Security-Policy") && html.contains("default-src 'none'"),
        "{html}"
    );
    assert!(
        html.contains("<h2 id=\"resolution-confirmation\">Resolution Confirmation</h2>"),
        "{html}"
    );
    let json: Value = serde_json::from_str(&page("comparison.json")).unwrap();
    assert_eq!(json["outcome"], "resolved");
}

#[test]
fn what_a_hostile_bundle_says_stays_text_on_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let after = folder.path().join("a<img src=x onerror=alert(1)>");
    let copied = std::process::Command::new("cp")
        .arg("-r")
        .arg(sample("fixed"))
        .arg(&after)
        .status();
    assert!(copied.unwrap().success());
    let rules = after.join("nodes/192-18-132-31/rootfs/etc/ufw/user.rules");
    let mut text = std::fs::read_to_string(&rules).unwrap();
    text.insert_str(
        0,
        "# </code></pre><script>alert(1)</script>\n# ````\n# [here](javascript:alert(1)) <b>\n",
    );
    std::fs::write(&rules, text).unwrap();
    let page = pages(
        &[sample("ufw-blocks-dns"), after],
        &folder.path().join("out"),
    );
    let html = page("comparison.html");
    assert!(
        html.contains("&lt;script&gt;alert(1)"),
        "the line is not shown"
    );
    for alive in ["<script>alert", "<img src", "<b>"] {
        assert!(!html.contains(alive), "{alive} is alive");
    }
    let markdown = page("comparison.md");
    let mut tags = Vec::new();
    for event in pulldown_cmark::Parser::new_ext(&markdown, pulldown_cmark::Options::all()) {
        match event {
            pulldown_cmark::Event::Html(text) | pulldown_cmark::Event::InlineHtml(text) => {
                tags.push(text.to_string());
            }
            pulldown_cmark::Event::Start(pulldown_cmark::Tag::Link { dest_url, .. }) => {
                tags.push(dest_url.to_string());
            }
            _ => {}
        }
    }
    assert!(tags.is_empty(), "{tags:?}");
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
