//! What kube-scheduler 1.36 says of pods that name their node, of disks, of limits of volumes and of resized pods. The
//! sentences were recorded of v1.36.2.

use super::*;
use crate::scheduling::api::CsiNode;

fn on(names: &[&str]) -> Value {
    let terms: Vec<Value> = names
        .iter()
        .map(|name| json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}))
        .collect();
    json!({"spec": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}}})
}

fn of_four(version: &'static str) -> Case {
    Case {
        nodes: ["n1", "n2", "n3", "n4"]
            .map(|name| node(name, 0, json!({})))
            .into(),
        pods: vec![running("big", "n1", json!({"cpu": "8"}), json!({}))],
        version,
        ..Case::default()
    }
}

#[test]
fn a_pod_of_a_daemon_set_is_filtered_on_its_own_node_only() {
    let daemon = pod("ds-n1", json!({"cpu": "1"}), on(&["n1"]));
    assert_eq!(
        of_four("v1.36.2").verdict(&daemon).sentence,
        "0/4 nodes are available: 1 Insufficient cpu, 3 node(s) didn't satisfy plugin(s) [NodeAffinity]. no new claims to \
         deallocate, preemption: 0/4 nodes are available: 1 No preemption victims found for incoming pod, 3 Preemption is \
         not helpful for scheduling."
    );
    let says = |version| of_four(version).says(&daemon);
    // Said by one or two patches of each minor version; silent before and after, and passed over by preemption since.
    for said in ["v1.27.14", "v1.28.10", "v1.29.5", "v1.30.1"] {
        let says = says(said);
        assert!(
            says.contains("3 node is filtered out by the prefilter result"),
            "{said}: {says}"
        );
    }
    let lost = "0/4 nodes are available: 1 Insufficient cpu. preemption: 0/4 nodes are available: 1 No preemption victims \
                found for incoming pod, 3 Preemption is not helpful for scheduling.";
    for silent in ["v1.30.2", "v1.31.14"] {
        assert_eq!(of_four(silent).verdict(&daemon).sentence, lost, "{silent}");
    }
    assert!(!says("v1.29.4").contains("prefilter"));
    assert!(says("v1.32.0").contains("3 node(s) didn't satisfy plugin(s) [NodeAffinity]"));
    assert_eq!(
        says("v1.25.4"),
        "0/4 nodes are available: 1 Insufficient cpu."
    );
    assert!(says("v1.23.4").contains("3 node(s) didn't match Pod's node affinity/selector"));
    // Terms are alternatives: one that names no node leaves all of them.
    let mut either = on(&["n1"]);
    merge(
        &mut either["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
            ["nodeSelectorTerms"],
        json!([{"matchExpressions": [{"key": "none", "operator": "Exists"}]}]),
    );
    let gone = of_four("v1.36.2").says(&pod("p", json!({}), either));
    assert!(
        gone.contains("4 node(s) didn't match Pod's node affinity/selector"),
        "{gone}"
    );
    let nowhere = of_four("v1.36.2").says(&pod("p", json!({}), on(&["n9"])));
    let unsaid = of_four("v1.31.14").verdict(&pod("p", json!({}), on(&["n9"])));
    assert_eq!(
        unsaid.sentence,
        "0/4 nodes are available: preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling."
    );
    assert!(
        nowhere.contains("4 node(s) didn't satisfy plugin(s) [NodeAffinity]"),
        "{nowhere}"
    );
}

#[test]
fn from_1_34_preemption_passes_over_nodes_that_offer_less_than_the_pod_asks_for() {
    let says = |version| {
        let verdict = of_four(version).verdict(&pod("p", json!({"cpu": "99"}), json!({})));
        verdict
            .sentence
            .split("preemption: ")
            .nth(1)
            .map(str::to_owned)
    };
    let helps = "0/4 nodes are available: 4 No preemption victims found for incoming pod.";
    assert_eq!(says("v1.33.13").as_deref(), Some(helps));
    let lost = "0/4 nodes are available: 4 Preemption is not helpful for scheduling.";
    assert_eq!(says("v1.34.0").as_deref(), Some(lost));
}

#[test]
fn a_disk_that_another_pod_holds_keeps_the_pod_from_its_node() {
    let disk = |read_only: bool| json!({"spec": {"volumes": [{"name": "v", "gcePersistentDisk": {"pdName": "pd", "readOnly": read_only}}]}});
    let mut case = of_four("v1.36.2");
    case.nodes.truncate(1);
    case.pods = vec![running("holder", "n1", json!({}), disk(false))];
    assert_eq!(
        case.says(&pod("p", json!({}), disk(true))),
        "0/1 nodes are available: 1 node(s) had no available disk."
    );
    case.pods = vec![running("reader", "n1", json!({}), disk(true))];
    assert_eq!(
        case.verdict(&pod("p", json!({}), disk(true))).state,
        State::Fits
    );
}

#[test]
fn a_driver_attaches_no_more_volumes_than_it_says() {
    let claim = |name: &str| -> Claim {
        read(
            json!({"metadata": {"name": name, "namespace": "ml"}, "spec": {"volumeName": format!("pv-{name}")}}),
        )
    };
    let volume = |name: &str| -> Volume {
        read(
            json!({"metadata": {"name": format!("pv-{name}")}, "spec": {"csi": {"driver": "d.csi", "volumeHandle": name}}}),
        )
    };
    let uses = |names: &[&str]| {
        let volumes: Vec<Value> = names
            .iter()
            .map(|name| json!({"name": name, "persistentVolumeClaim": {"claimName": name}}))
            .collect();
        json!({"spec": {"volumes": volumes}})
    };
    let nodes = [node("n1", 0, json!({}))];
    let claims = ["a", "b"].map(claim);
    let volumes = ["a", "b"].map(volume);
    let limit: CsiNode = read(
        json!({"metadata": {"name": "n1"}, "spec": {"drivers": [{"name": "d.csi", "allocatable": {"count": 1}}]}}),
    );
    let held = running("holder", "n1", json!({}), uses(&["a"]));
    let verdict = |pod: &Pod, limits: Option<Vec<&CsiNode>>| {
        let cluster = Cluster::new(Inputs {
            nodes: nodes.iter().collect(),
            pods: vec![&held],
            pods_complete: true,
            nodes_complete: true,
            claims: Some(claims.iter().collect()),
            volumes: Some(volumes.iter().collect()),
            csi_nodes: limits,
            version: "v1.36.2".into(),
            ..Inputs::default()
        });
        explain(pod, &cluster)
    };
    let other = pod("p", json!({}), uses(&["b"]));
    let full = verdict(&other, Some(vec![&limit]));
    assert!(
        full.sentence.starts_with(
            "0/1 nodes are available: 1 node(s) exceed max volume count. no new claims"
        ),
        "{}",
        full.sentence
    );
    let same = pod("p", json!({}), uses(&["a"]));
    assert_eq!(
        verdict(&same, Some(vec![&limit])).state,
        State::Fits,
        "the volume is attached already"
    );
    assert_eq!(
        verdict(&other, None).state,
        State::Undecided,
        "limits that were not collected are not taken as none"
    );
}

#[test]
fn a_pod_that_is_resized_takes_the_most_of_what_it_asks_and_has() {
    let state = json!({"status": {"containerStatuses": [{"name": "main", "allocatedResources": {"cpu": "7"}, "resources": {"requests": {"cpu": "7"}}}]}});
    let mut case = of_four("v1.36.2");
    case.nodes.truncate(1);
    case.pods = vec![running("shrinks", "n1", json!({"cpu": "1"}), state.clone())];
    let wants = pod("p", json!({"cpu": "3"}), json!({}));
    assert!(case.says(&wants).contains("1 Insufficient cpu"));
    case.version = "v1.32.1";
    assert_eq!(
        case.verdict(&wants).state,
        State::Fits,
        "before 1.33 only what is asked counts"
    );
    case.version = "v1.36.2";
    let mut infeasible = json!({"status": {"conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}],
        "containerStatuses": [{"name": "main", "allocatedResources": {"cpu": "1"}, "resources": {"requests": {"cpu": "1"}}}]}});
    merge(&mut infeasible, json!({}));
    case.pods = vec![running("grows", "n1", json!({"cpu": "64"}), infeasible)];
    assert_eq!(case.verdict(&wants).state, State::Fits);
}

#[test]
fn what_is_set_aside_counts_only_where_the_kubelet_tells_what_is_in_force() {
    let aside = |cpu: &str, conditions| json!({"status": {"conditions": conditions, "containerStatuses": [{"name": "main", "allocatedResources": {"cpu": cpu}}]}});
    let mut case = of_four("v1.36.3");
    case.nodes.truncate(1);
    let wants = pod("p", json!({"cpu": "3"}), json!({}));
    case.pods = vec![running(
        "shrinks",
        "n1",
        json!({"cpu": "1"}),
        aside("7", json!([])),
    )];
    assert_eq!(case.verdict(&wants).state, State::Fits);
    let infeasible =
        json!([{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]);
    case.pods = vec![running(
        "grows",
        "n1",
        json!({"cpu": "7"}),
        aside("1", infeasible),
    )];
    assert!(case.says(&wants).contains("1 Insufficient cpu"));
}

#[test]
fn a_pod_resized_as_a_whole_takes_the_most_of_what_it_asks_and_has_from_v1_36() {
    let state = json!({"spec": {"resources": {"requests": {"cpu": "1"}}},
        "status": {"allocatedResources": {"cpu": "1"}, "resources": {"requests": {"cpu": "7"}}}});
    let mut case = of_four("v1.36.3");
    case.nodes.truncate(1);
    case.pods = vec![running("whole", "n1", json!({}), state)];
    let wants = pod("p", json!({"cpu": "3"}), json!({}));
    assert!(case.says(&wants).contains("1 Insufficient cpu"));
    case.version = "v1.35.0";
    assert_eq!(case.verdict(&wants).state, State::Fits);
}

#[test]
fn a_claim_that_is_not_bound_rejects_the_pod_before_preemption_is_asked() {
    let mut case = of_four("v1.36.2");
    case.claims = vec![read(
        json!({"metadata": {"name": "c", "namespace": "ml"}, "spec": {}}),
    )];
    let wants = pod(
        "p",
        json!({}),
        json!({"spec": {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}}),
    );
    assert_eq!(
        case.verdict(&wants).sentence,
        "0/4 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found"
    );
}
