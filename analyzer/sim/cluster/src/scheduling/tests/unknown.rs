//! What is not known is undecided, and what is said before any node is looked at.

use super::*;

#[test]
fn what_was_not_collected_is_undecided_and_not_fine() {
    let wants = pod(
        "p",
        json!({}),
        json!({"spec": {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}}),
    );
    let nodes = [node("n", 0, json!({}))];
    let cluster = Cluster::new(Inputs {
        nodes: nodes.iter().collect(),
        pods_complete: true,
        nodes_complete: true,
        ..Inputs::default()
    });
    let verdict = explain(&wants, &cluster);
    assert_eq!(
        (verdict.state, verdict.sentence.as_str()),
        (State::Undecided, "")
    );
    let unread = pod("p", json!({"cpu": "lots"}), json!({}));
    let verdict = Case {
        nodes: nodes.to_vec(),
        ..Case::default()
    }
    .verdict(&unread);
    assert_eq!(verdict.state, State::Undecided);
    assert!(verdict.open[0].contains("lots"));
    let partial = Cluster::new(Inputs {
        nodes: nodes.iter().collect(),
        nodes_complete: true,
        ..Inputs::default()
    });
    assert_eq!(
        explain(&pod("p", json!({}), json!({})), &partial).state,
        State::Undecided
    );
}

#[test]
fn some_nodes_are_not_the_cluster() {
    let nodes = [node("n", 0, json!({}))];
    let cluster = Cluster::new(Inputs {
        nodes: nodes.iter().collect(),
        pods_complete: true,
        ..Inputs::default()
    });
    let verdict = explain(&pod("p", gpu(1), json!({})), &cluster);
    assert_eq!(
        (verdict.state, verdict.sentence.as_str()),
        (State::Undecided, "")
    );
    assert_eq!(
        verdict.nodes[0].reasons[0].says,
        "Insufficient nvidia.com/gpu"
    );
}

#[test]
fn gates_and_missing_nodes_are_said_before_anything_else() {
    let gated = pod(
        "p",
        json!({}),
        json!({"spec": {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}}),
    );
    assert_eq!(Case::default().verdict(&gated).state, State::Gated);
    let verdict = Case::default().verdict(&pod("p", json!({}), json!({})));
    assert_eq!(verdict.sentence, "no nodes available to schedule pods");
}

#[test]
fn a_recorded_sentence_is_said_again_over_such_a_cluster() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../../shared/incidents/cases/dev-004/evidence/01-pod-status.txt"
    );
    let Ok(text) = std::fs::read_to_string(path) else {
        println!(
            "skipped: a_recorded_sentence_is_said_again_over_such_a_cluster: no recorded events beside the checkout"
        );
        return;
    };
    let text = text.replace("''", "'");
    let words: Vec<&str> = text.split_whitespace().collect();
    let recorded = words.join(" ");
    let start = recorded.find("0/3 nodes").unwrap();
    let end = recorded[start..].find("scheduling.").unwrap() + start + "scheduling.".len();
    let term = json!([{"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "db"}}}]);
    let case = Case {
        nodes: vec![
            node("n1", 0, json!({"status": {"allocatable": {"pods": "1"}}})),
            node("n2", 0, json!({})),
            node("n3", 0, json!({})),
        ],
        pods: vec![running(
            "db",
            "n1",
            json!({}),
            json!({"metadata": {"labels": {"app": "db"}}}),
        )],
        ..Case::default()
    };
    let wants = pod(
        "web",
        json!({}),
        json!({"spec": {"affinity": {"podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": term}}}}),
    );
    assert_eq!(case.verdict(&wants).sentence, recorded[start..end]);
}
