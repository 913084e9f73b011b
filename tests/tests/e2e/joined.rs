//! Bundles of several nodes of one cluster, analysed as one.

use std::path::{Path, PathBuf};

use casefile_tests::bins;
use serde_json::Value;

use crate::support::{Ended, diagnose, on_node, run, shared_folder};

const NODE: &str = "192-18-132-31";
const UFW: &str = "ufw-blocks-pod-traffic";

fn together(inputs: &[&Path]) -> (Value, Ended) {
    let mut arguments = vec!["diagnose", "--format", "json"];
    arguments.extend(inputs.iter().map(|input| input.to_str().unwrap()));
    let ended = run(bins::ANALYZER, &arguments);
    assert_eq!(ended.code, 0, "{ended:?}");
    let document = serde_json::from_str(&ended.out);
    (
        document.unwrap_or_else(|error| panic!("{error}: {ended:?}")),
        ended,
    )
}

fn verdict<'a>(analysis: &'a Value, cause: &str) -> &'a str {
    let rows = analysis["differential"].as_array().unwrap().iter();
    let mut of = rows.filter(|row| row["cause"] == cause || row["cause"]["id"] == cause);
    of.next().map_or("", |row| row["verdict"].as_str().unwrap())
}

/// A copy of a sample's bundle, as if it had been taken on another node, or in another cluster.
fn copy(to: &Path, node: &str, uid: impl Fn(&str) -> String) -> PathBuf {
    let from = bins::checkout().join("samples/ufw-blocks-dns/bundle");
    for file in walkdir::WalkDir::new(&from)
        .into_iter()
        .filter_map(Result::ok)
    {
        if !file.file_type().is_file() {
            continue;
        }
        let path = file.path().strip_prefix(&from).unwrap().to_str().unwrap();
        let text = std::fs::read(file.path()).unwrap();
        let text = match path {
            "casefile.json" | "manifest.json" => {
                let text = String::from_utf8(text).unwrap();
                let text = text.replace(
                    &format!("\"node\": \"{NODE}\""),
                    &format!("\"node\": \"{node}\""),
                );
                let text = text.replace(
                    &format!("\"node\":\"{NODE}\""),
                    &format!("\"node\":\"{node}\""),
                );
                text.replace(&format!("nodes/{NODE}/"), &format!("nodes/{node}/"))
                    .into_bytes()
            }
            "cluster-resources/namespaces.json" => {
                uid(&String::from_utf8(text).unwrap()).into_bytes()
            }
            _ => text,
        };
        let path = path.replacen(&format!("nodes/{NODE}/"), &format!("nodes/{node}/"), 1);
        crate::support::plant(to, &path, text);
    }
    to.to_owned()
}

#[test]
fn a_cause_that_one_nodes_firewall_and_another_nodes_view_of_the_cluster_show_together_is_confirmed()
 {
    let test = "a_cause_that_one_nodes_firewall_and_another_nodes_view_of_the_cluster_show_together_is_confirmed";
    let folder = shared_folder();
    let cluster = "cluster_objects,cluster_events,cluster_pod_logs,helm_releases";
    let script = format!(
        "casefile-collector collect -o /shared/a.tar.gz --since 3650d --progress none --skip {cluster}
         case $? in 0|4) ;; *) exit 1 ;; esac
         hostname gpu-b
         casefile-collector collect -o /shared/b.tar.gz --since 3650d --progress none --only {cluster},host_info"
    );
    let Some(ended) = on_node(
        test,
        "ufw-blocks-dns",
        "snap-2-dns.jsonl.gz",
        folder.path(),
        &script,
    ) else {
        return;
    };
    assert!(matches!(ended.code, 0 | 4), "{ended:?}");
    let (a, b) = (
        folder.path().join("a.tar.gz"),
        folder.path().join("b.tar.gz"),
    );
    // Alone, one bundle knows of no pod that suffers, and the other blames the servers upstream.
    let (firewall, pods) = (diagnose(&a), diagnose(&b));
    assert_eq!(firewall["impact"]["workloads"], serde_json::json!([]));
    assert_eq!(verdict(&pods, UFW), "not-checked");
    assert_eq!(
        pods["incidents"][0]["cause"]["id"],
        "dns-upstream-unreachable"
    );

    let (joined, ended) = together(&[&a, &b]);
    assert_eq!(verdict(&joined, UFW), "confirmed", "{ended:?}");
    assert_eq!(
        together(&[&b, &a]).1.out,
        ended.out,
        "the order of arguments does not matter"
    );
    assert_eq!(
        together(&[folder.path()]).1.out,
        ended.out,
        "a folder of bundles is the same"
    );
    assert_eq!(joined["incidents"][0]["cause"]["id"], UFW);
    let rows = joined["differential"].as_array().unwrap();
    let effect = rows
        .iter()
        .find(|row| row["cause"] == "dns-upstream-unreachable")
        .unwrap();
    assert_eq!(
        effect["explained_by"], UFW,
        "one node's firewall explains what the other saw"
    );
    let places: Vec<&str> = joined["incidents"][0]["evidence"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|line| line["path"].as_str())
        .collect();
    assert!(
        places
            .iter()
            .any(|path| path.starts_with(&format!("nodes/{NODE}/"))),
        "{places:?}"
    );
    let symptoms = serde_json::to_string(&joined["timeline"]).unwrap();
    assert!(symptoms.contains("gpu-b:cluster-resources/"), "{symptoms}");

    leads_back(folder.path(), &a, &b, &joined);
}

/// The report names both bundles, and a place leads back to its line.
fn leads_back(folder: &Path, a: &Path, b: &Path, joined: &Value) {
    let out = folder.join("out");
    let both = [
        "report",
        a.to_str().unwrap(),
        b.to_str().unwrap(),
        "-o",
        out.to_str().unwrap(),
    ];
    assert_eq!(run(bins::ANALYZER, &both).code, 0);
    let page = std::fs::read_to_string(out.join("report.md")).unwrap();
    for wanted in ["a.tar.gz", "b.tar.gz", "gpu-b:cluster-resources/"] {
        assert!(page.contains(wanted), "{wanted}");
    }
    let place = joined["timeline"]
        .as_array()
        .unwrap()
        .iter()
        .find_map(|moment| {
            let path = moment["path"].as_str()?;
            Some(format!(
                "{path}:{}",
                moment["line"]
                    .as_u64()
                    .filter(|_| path.starts_with("gpu-b:"))?
            ))
        });
    let line = run(
        bins::ANALYZER,
        &["cat", b.to_str().unwrap(), &place.unwrap()],
    );
    assert!(line.code == 0 && !line.out.trim().is_empty(), "{line:?}");
}

#[test]
fn an_object_that_two_bundles_hold_counts_once_and_a_source_that_one_lacks_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let one = copy(&folder.path().join("one"), NODE, str::to_owned);
    let two = copy(&folder.path().join("two"), "gpu-b", str::to_owned);
    std::fs::remove_dir_all(two.join("nodes/gpu-b/journal")).unwrap();
    let manifest = two.join("manifest.json");
    let mut said: Value = serde_json::from_slice(&std::fs::read(&manifest).unwrap()).unwrap();
    let sources = said["sources"].as_array_mut().unwrap();
    let journal = sources
        .iter_mut()
        .find(|one| one["id"] == "journal")
        .unwrap();
    journal["outcome"] = "failed".into();
    journal["why"] = "no journal here".into();
    std::fs::write(&manifest, said.to_string()).unwrap();

    let alone = diagnose(&one);
    let (joined, ended) = together(&[&one, &two]);
    assert_eq!(
        joined["impact"]["counts"], alone["impact"]["counts"],
        "{ended:?}"
    );
    assert_eq!(joined["input"]["node"], format!("{NODE}, gpu-b"));
    let rows = joined["coverage"].as_array().unwrap();
    let journal: Vec<_> = rows
        .iter()
        .filter(|row| row["source"] == "journal")
        .collect();
    assert_eq!(journal.len(), 2, "{journal:?}");
    let lacking = journal
        .iter()
        .find(|row| row["outcome"] == "failed")
        .unwrap();
    assert!(
        lacking["title"].as_str().unwrap().ends_with("on gpu-b"),
        "{lacking}"
    );
}

#[test]
fn what_only_the_older_bundle_holds_counts_and_is_said_where_the_newer_one_is_partial() {
    let folder = tempfile::tempdir().unwrap();
    let older = copy(&folder.path().join("older"), NODE, str::to_owned);
    let newer = copy(&folder.path().join("newer"), "gpu-b", str::to_owned);
    std::fs::remove_file(newer.join("cluster-resources/pods/default.json")).unwrap();
    let manifest = newer.join("manifest.json");
    let text = std::fs::read(&manifest).unwrap();
    let objects = |outcome: &str| {
        let mut said: Value = serde_json::from_slice(&text).unwrap();
        said["finished"] = "2027-01-01T00:00:00Z".into();
        let sources = said["sources"].as_array_mut().unwrap();
        let mut all = sources.iter_mut();
        let objects = all.find(|one| one["id"] == "cluster_objects").unwrap();
        objects["outcome"] = outcome.into();
        std::fs::write(&manifest, said.to_string()).unwrap();
        let (joined, _) = together(&[&older, &newer]);
        let rows = joined["coverage"].as_array().unwrap();
        let row = rows.iter().find(|row| row["source"] == "cluster_objects");
        (
            row.unwrap().clone(),
            joined["impact"]["counts"]["pods"].as_u64().unwrap(),
        )
    };
    let (row, with) = objects("partial");
    assert_eq!(row["outcome"], "partial");
    let why = row["why"].as_str().unwrap();
    assert!(
        why.contains("newer has it in part only") && why.ends_with("of older"),
        "{why}"
    );
    // Taken whole, the newer bundle says that what it lacks was deleted, and nothing is left to say.
    let (row, without) = objects("collected");
    assert_eq!(
        (&row["outcome"], &row["why"]),
        (&"collected".into(), &Value::Null)
    );
    assert!(without < with, "{without} {with}");
}

#[test]
fn bundles_of_other_clusters_and_of_one_node_stay_apart_and_the_reason_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let other = |text: &str| text.replace("\"uid\":\"", "\"uid\":\"f00d");
    let one = copy(&folder.path().join("one"), NODE, str::to_owned);
    let foreign = copy(&folder.path().join("foreign"), "gpu-b", other);
    let again = copy(&folder.path().join("again"), NODE, str::to_owned);
    let unknown = copy(&folder.path().join("unknown"), "gpu-c", |_| String::new());
    let told = |inputs: &[&Path], more: &[&str]| {
        let mut arguments = vec!["diagnose"];
        arguments.extend(inputs.iter().map(|input| input.to_str().unwrap()));
        arguments.extend(more);
        let ended = run(bins::ANALYZER, &arguments);
        assert_eq!(ended.code, 0, "{ended:?}");
        (ended.out.matches(", as of ").count(), ended.err)
    };
    let (analyses, said) = told(&[&one, &foreign], &["--join"]);
    assert_eq!(analyses, 2);
    assert!(said.contains("2 different clusters"), "{said}");
    let (analyses, said) = told(&[&one, &again], &[]);
    assert_eq!(analyses, 2);
    assert!(
        said.contains("both of node 192-18-132-31") && said.contains("casefile-analyzer diff"),
        "{said}"
    );
    let (analyses, said) = told(&[&one, &unknown], &[]);
    assert_eq!(analyses, 2);
    assert!(said.contains("--join"), "{said}");
    assert_eq!(told(&[&one, &unknown], &["--join"]), (1, String::new()));
}
