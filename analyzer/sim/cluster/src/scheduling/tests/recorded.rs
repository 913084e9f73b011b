//! Sentences that real schedulers said, over clusters put together after what they say. Where a recording has the
//! objects as well, `scheduler_real` and the samples compare; here the words are.

use std::path::{Path, PathBuf};

use super::*;

fn terms(app: &str) -> Value {
    let by = json!({"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "kubernetes.io/hostname"});
    json!({"requiredDuringSchedulingIgnoredDuringExecution": [by]})
}

fn tainted(name: &str, key: &str) -> Node {
    node(
        name,
        0,
        json!({"spec": {"taints": [{"key": key, "effect": "NoSchedule"}]}}),
    )
}

fn web(on: &str) -> Pod {
    running(
        &format!("web-{on}"),
        on,
        json!({}),
        json!({"metadata": {"labels": {"app": "web"}}}),
    )
}

#[test]
fn a_full_node_and_nodes_without_the_wanted_pod() {
    let full = json!({"status": {"allocatable": {"pods": "1"}}});
    let case = Case {
        nodes: vec![
            node("n1", 0, full),
            node("n2", 0, json!({})),
            node("n3", 0, json!({})),
        ],
        pods: vec![web("n1")],
        ..Case::default()
    };
    let wants = pod(
        "p",
        json!({}),
        json!({"spec": {"affinity": {"podAffinity": terms("web")}}}),
    );
    assert_eq!(
        case.verdict(&wants).sentence,
        "0/3 nodes are available: 1 Too many pods, 2 node(s) didn't match pod affinity rules. preemption: 0/3 nodes are \
         available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling."
    );
}

#[test]
fn schedulers_before_1_24_say_affinity_twice_name_the_taint_and_keep_silent_about_preemption() {
    let nodes = ["n1", "n2", "n3"].map(|name| node(name, 0, json!({})));
    let case = Case {
        nodes: nodes
            .into_iter()
            .chain([tainted("n4", "node.kubernetes.io/not-ready")])
            .collect(),
        pods: ["n1", "n2", "n3"].map(web).into(),
        version: "v1.22.3",
        ..Case::default()
    };
    let wants = pod(
        "p",
        json!({}),
        json!({"spec": {"affinity": {"podAntiAffinity": terms("web")}}}),
    );
    assert_eq!(
        case.verdict(&wants).sentence,
        "0/4 nodes are available: 1 node(s) had taint {node.kubernetes.io/not-ready: }, that the pod didn't tolerate, \
         3 node(s) didn't match pod affinity/anti-affinity rules, 3 node(s) didn't match pod anti-affinity rules."
    );
}

#[test]
fn newer_schedulers_do_not_name_the_taint() {
    let case = Case {
        nodes: vec![tainted("n1", "a"), tainted("n2", "b")],
        version: "v1.35.0",
        ..Case::default()
    };
    assert_eq!(
        case.verdict(&pod("p", json!({}), json!({}))).sentence,
        "0/2 nodes are available: 2 node(s) had untolerated taint(s). no new claims to deallocate, preemption: 0/2 nodes \
         are available: 2 Preemption is not helpful for scheduling."
    );
}

#[test]
fn a_claim_that_is_not_bound_is_said_once() {
    let volumes = json!([{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]);
    let case = Case {
        nodes: vec![node("n1", 0, json!({}))],
        claims: vec![read(
            json!({"metadata": {"name": "data", "namespace": "ml"}, "spec": {"storageClassName": "gp2"}}),
        )],
        ..Case::default()
    };
    assert_eq!(
        case.verdict(&pod("p", json!({}), json!({"spec": {"volumes": volumes}})))
            .sentence,
        "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/1 nodes are available: \
         1 Preemption is not helpful for scheduling."
    );
}

#[test]
fn hami_says_that_a_node_does_not_fit_or_is_not_registered() {
    let card = r#"[{"id":"GPU-1","count":10,"devmem":8192,"devcore":100,"type":"NVIDIA GeForce GTX 1080","mode":"hami-core","health":true,"devicepairscore":{}}]"#;
    let known = json!({"metadata": {"annotations": {"hami.io/node-nvidia-register": card}}});
    let limits = json!({"nvidia.com/gpu": "1", "nvidia.com/gpumem": "9000"});
    let extra = json!({"spec": {"schedulerName": "hami-scheduler", "containers": [{"name": "main", "resources": {"limits": limits}}]}});
    let wants = pod("p", json!({}), extra);
    let says = |node: Node, version| {
        Case {
            nodes: vec![node],
            version,
            ..Case::default()
        }
        .verdict(&wants)
        .sentence
    };
    assert_eq!(
        says(node("n1", 10, known), "v1.36.3"),
        "0/1 nodes are available: 1 NodeUnfitPod. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No \
         preemption victims found for incoming pod."
    );
    assert_eq!(
        says(node("n1", 10, json!({})), "v1.31.0"),
        "0/1 nodes are available: 1 node unregistered. preemption: 0/1 nodes are available: 1 No preemption victims found \
         for incoming pod."
    );
}

#[test]
fn devices_of_vendors_that_hami_accounts_for_elsewhere_are_left_open() {
    let limits = json!({"huawei.com/Ascend910B": "1"});
    let extra = json!({"spec": {"schedulerName": "hami-scheduler", "containers": [{"name": "main", "resources": {"limits": limits}}]}});
    let case = Case {
        nodes: vec![node("n1", 0, json!({}))],
        ..Case::default()
    };
    let verdict = case.verdict(&pod("p", json!({}), extra));
    assert_eq!(verdict.state, State::Undecided);
    assert_eq!(
        verdict.open,
        ["what HAMi accounts of huawei.com/Ascend910B is not worked out"]
    );
}

/// Text files below a folder; what is packed is read by the tests of bundles.
fn texts(folder: &Path, into: &mut Vec<(PathBuf, String)>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .collect();
    entries.sort_by_key(std::fs::DirEntry::path);
    for path in entries.into_iter().map(|entry| entry.path()) {
        if path.is_dir() {
            texts(&path, into);
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            into.push((path, text));
        }
    }
}

/// Every sentence that was recorded is made of reasons that can be said here. None of them has its objects beside it,
/// so whole sentences are compared above, over clusters put together after them.
#[test]
fn every_reason_of_recorded_sentences_is_known() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared");
    if !shared.is_dir() {
        eprintln!(
            "skipped: every_reason_of_recorded_sentences_is_known: no recordings beside the checkout"
        );
        return;
    }
    let known = regex::Regex::new(
        r"^(?:\d+|N) (?:Too many pods|Insufficient [\w./-]+|node unregistered|NodeUnfitPod|No preemption victims found for incoming pod|Preemption is not helpful for scheduling|node\(s\) (?:were unschedulable|didn't match .+|didn't satisfy .+|didn't have free ports .+|had .+))$",
    )
    .unwrap();
    let sentence =
        regex::Regex::new(r"0/(?:\d+|N) nodes are available: ([^.`]+(?:\.\w[^.`]*)*)").unwrap();
    let mut files = Vec::new();
    for folder in ["data", "incidents/cases", "recordings", "seeds"] {
        texts(&shared.join(folder), &mut files);
    }
    let (mut sentences, mut strange) = (0, Vec::new());
    // Tables of kubectl were printed over events that somebody made up, with words of their own.
    files.retain(|(path, _)| !path.components().any(|part| part.as_os_str() == "tables"));
    for (path, text) in files {
        let flat = text
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .replace("''", "'")
            .replace(
                ", that the pod didn't tolerate",
                " that the pod didn't tolerate",
            );
        for found in sentence.captures_iter(&flat) {
            sentences += 1;
            let reasons = found[1].split(", ");
            strange.extend(
                reasons
                    .filter(|one| !known.is_match(one))
                    .map(|one| format!("{}: {one}", path.display())),
            );
        }
    }
    eprintln!(
        "{sentences} recorded sentences and parts of sentences, 0 with the objects, {} reasons not known",
        strange.len()
    );
    assert!(sentences >= 4 && strange.is_empty(), "{strange:#?}");
}
