//! Single predicates and how their reasons are counted, and what is said of preemption.

use super::*;

#[test]
fn the_reasons_of_all_nodes_are_counted_and_sorted_as_the_scheduler_does() {
    let case = Case {
        nodes: vec![
            node(
                "cp",
                0,
                json!({"spec": {"taints": [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]}}),
            ),
            node("g1", 4, json!({})),
            node(
                "g2",
                4,
                json!({"spec": {"taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]}}),
            ),
        ],
        pods: vec![running("train", "g1", gpu(3), json!({}))],
        ..Case::default()
    };
    let wants = pod("new", gpu(2), json!({}));
    assert_eq!(
        case.verdict(&wants).sentence,
        "0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) had untolerated taint \
         {node-role.kubernetes.io/control-plane: }, 1 node(s) had untolerated taint {nvidia.com/gpu: present}. \
         preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not \
         helpful for scheduling."
    );
    let current = Case {
        version: "v1.36.2",
        ..case
    };
    assert_eq!(
        current.verdict(&wants).sentence,
        "0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 2 node(s) had untolerated taint(s). no new claims to \
         deallocate, preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption \
         is not helpful for scheduling."
    );
    let reasons = &current.verdict(&wants).nodes[1].reasons;
    assert_eq!(
        reasons[0].detail,
        "it asks for 2 nvidia.com/gpu; the node offers 4, of which 3 are taken (ml/train 3)"
    );
}

#[test]
fn each_predicate_has_its_words() {
    let affinity = json!({"spec": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "gpu", "operator": "In", "values": ["h100"]}]}]}}}}});
    let spread = json!({"metadata": {"labels": {"app": "x"}}, "spec": {"topologySpreadConstraints": [{"maxSkew": 1,
        "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "x"}}}]}});
    let cases: Vec<(&str, Node, Pod, &str)> = vec![
        (
            "cordoned",
            node(
                "n",
                0,
                json!({"spec": {"unschedulable": true, "taints": [
            {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]}}),
            ),
            pod("p", json!({}), json!({})),
            "1 node(s) were unschedulable",
        ),
        (
            "selector",
            node("n", 0, json!({})),
            pod(
                "p",
                json!({}),
                json!({"spec": {"nodeSelector": {"gpu": "h100"}}}),
            ),
            "1 node(s) didn't match Pod's node affinity/selector",
        ),
        (
            "affinity",
            node("n", 0, json!({})),
            pod("p", json!({}), affinity),
            "1 node(s) didn't match Pod's node affinity/selector",
        ),
        (
            "cpu and memory",
            node("n", 0, json!({})),
            pod("p", json!({"cpu": "9", "memory": "33Gi"}), json!({})),
            "1 Insufficient cpu, 1 Insufficient memory",
        ),
        (
            "pods",
            node("n", 0, json!({"status": {"allocatable": {"pods": "0"}}})),
            pod("p", json!({}), json!({})),
            "1 Too many pods",
        ),
        (
            "missing topology label",
            node("n", 0, json!({})),
            pod("p", json!({}), spread),
            "1 node(s) didn't match pod topology spread constraints (missing required label)",
        ),
        (
            "claim that does not exist",
            node("n", 0, json!({})),
            pod(
                "p",
                json!({}),
                json!({"spec": {"volumes": [
            {"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}}),
            ),
            "persistentvolumeclaim \"data\" not found",
        ),
    ];
    for (name, node, pod, says) in cases {
        let case = Case {
            nodes: vec![node],
            ..Case::default()
        };
        assert_eq!(
            case.says(&pod),
            format!("0/1 nodes are available: {says}."),
            "{name}"
        );
    }
}

#[test]
fn requests_are_added_up_as_the_scheduler_adds_them() {
    let sum = |spec: Value, of: &str| requests::pod_requests(&read::<api::PodSpec>(spec)).of(of);
    let cpu = |amount: &str| json!({"requests": {"cpu": amount}});
    let containers = json!([{"resources": cpu("1")}, {"resources": cpu("500m")}]);
    assert_eq!(sum(json!({"containers": containers}), "cpu"), 1500);
    let with_init = json!({"containers": containers, "initContainers": [{"resources": cpu("4")}], "overhead": {"cpu": "250m"}});
    assert_eq!(sum(with_init, "cpu"), 4250);
    let sidecar = json!({"restartPolicy": "Always", "resources": cpu("2")});
    let with_sidecar =
        json!({"containers": containers, "initContainers": [sidecar, {"resources": cpu("1")}]});
    assert_eq!(sum(with_sidecar, "cpu"), 3500);
    let late =
        json!({"containers": containers, "initContainers": [sidecar, {"resources": cpu("3")}]});
    assert_eq!(
        sum(late, "cpu"),
        5000,
        "an init container runs beside the sidecars that started before it"
    );
    let limits = json!({"containers": [{"resources": {"limits": {"nvidia.com/gpu": 2}}}]});
    assert_eq!(sum(limits, "nvidia.com/gpu"), 2);
    let whole = json!({"containers": containers, "resources": {"requests": {"cpu": "700m"}}});
    assert_eq!(
        sum(whole, "cpu"),
        700,
        "what the pod as a whole asks for stands"
    );
}

#[test]
fn ended_pods_hold_nothing_and_terminating_ones_hold_on() {
    let mut case = Case {
        nodes: vec![node("g", 1, json!({}))],
        ..Case::default()
    };
    let wants = pod("new", gpu(1), json!({}));
    case.pods = vec![running("old", "g", gpu(1), json!({}))];
    case.pods[0].status.phase = "Succeeded".into();
    assert_eq!(case.verdict(&wants).state, State::Fits);
    case.pods[0].status.phase = "Running".into();
    case.pods[0].metadata.deletion_timestamp = Some("2026-01-01T00:00:00Z".into());
    assert_eq!(
        case.says(&wants),
        "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."
    );
}

#[test]
fn displacing_pods_may_take_away_what_the_pod_wants_to_be_beside() {
    let mut case = Case {
        nodes: vec![node("g", 2, json!({}))],
        pods: vec![running(
            "db",
            "g",
            gpu(2),
            json!({"metadata": {"labels": {"app": "db"}}}),
        )],
        ..Case::default()
    };
    let wants = pod(
        "p",
        gpu(1),
        json!({"spec": {"priority": 10, "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "db"}}}]}}}}),
    );
    let beside = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: 0/1 nodes are available: 1 node(s) didn't match pod affinity rules.";
    assert_eq!(case.verdict(&wants).sentence, beside);
    case.version = "v1.28.2";
    assert_eq!(case.verdict(&wants).sentence, format!("{beside}."));
    case.pods[0].metadata.labels = api::Labels::new();
    let another = running(
        "other",
        "g",
        json!({}),
        json!({"metadata": {"labels": {"app": "db"}}, "spec": {"priority": 10}}),
    );
    case.pods.push(another);
    assert_eq!(case.verdict(&wants).preemptable, ["g"]);
}

#[test]
fn priority_decides_what_is_said_of_preemption() {
    let case = Case {
        nodes: vec![node("g", 2, json!({}))],
        pods: vec![
            running("low", "g", gpu(1), json!({})),
            running("high", "g", gpu(1), json!({"spec": {"priority": 1000}})),
        ],
        ..Case::default()
    };
    let one = case.verdict(&pod("a", gpu(1), json!({"spec": {"priority": 10}})));
    assert_eq!(one.preemptable, ["g"]);
    assert_eq!(
        one.sentence,
        "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."
    );
    let two = case.verdict(&pod("b", gpu(2), json!({"spec": {"priority": 10}})));
    assert!(
        two.sentence
            .ends_with("preemption: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu."),
        "{}",
        two.sentence
    );
    let never = case.verdict(&pod(
        "c",
        gpu(1),
        json!({"spec": {"priority": 10, "preemptionPolicy": "Never"}}),
    ));
    assert!(
        never
            .sentence
            .ends_with("preemption: not eligible due to preemptionPolicy=Never."),
        "{}",
        never.sentence
    );
    // More than the node has: preemption passes over it since 1.34.
    let more = case.verdict(&pod("d", gpu(3), json!({})));
    assert!(
        more.sentence
            .ends_with("1 No preemption victims found for incoming pod."),
        "{}",
        more.sentence
    );
    let newer = Case {
        version: "v1.34.0",
        ..case
    };
    let more = newer.verdict(&pod("d", gpu(3), json!({})));
    assert!(
        more.sentence
            .ends_with("1 Preemption is not helpful for scheduling."),
        "{}",
        more.sentence
    );
}

#[test]
fn claims_ports_and_zones_have_their_words() {
    let volume = |name: &str| json!({"spec": {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": name}}]}});
    let claim = |metadata: Value, rest: Value| -> api::Claim {
        let mut object = json!({"metadata": {"name": "data", "namespace": "ml"}});
        merge(&mut object["metadata"], metadata);
        merge(&mut object, rest);
        read(object)
    };
    let ports = json!({"spec": {"containers": [{"name": "main", "ports": [{"hostPort": 9400, "protocol": "TCP"}]}]}});
    let mut case = Case {
        nodes: vec![node("n", 0, json!({}))],
        pods: vec![running("exporter", "n", json!({}), ports.clone())],
        ..Case::default()
    };
    let said = |case: &Case, pod: &Pod| {
        let says = case.says(pod);
        let says = says.trim_start_matches("0/1 nodes are available: ");
        says.trim_end_matches('.').to_owned()
    };
    let port = pod("p", json!({}), ports);
    assert_eq!(
        said(&case, &port),
        "1 node(s) didn't have free ports for the requested pod ports"
    );
    let wants = pod("p", json!({}), volume("data"));
    let once = json!({"spec": {"volumeName": "pv", "accessModes": ["ReadWriteOncePod"]}});
    case.claims = vec![claim(json!({}), once)];
    case.volumes = vec![read(json!({"metadata": {"name": "pv"}}))];
    case.pods = vec![running("holder", "n", json!({}), volume("data"))];
    assert_eq!(
        said(&case, &wants),
        "1 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
    );
    case.pods.clear();
    let labels = json!({"labels": {"topology.kubernetes.io/zone": "b"}});
    case.claims = vec![claim(json!({}), json!({"spec": {"volumeName": "pv"}}))];
    case.volumes = vec![read(
        json!({"metadata": {"name": "pv", "labels": labels["labels"]}}),
    )];
    assert_eq!(
        said(&case, &wants),
        "1 node(s) had no available volume zone"
    );
    let lost = json!({"spec": {"volumeName": "pv"}, "status": {"phase": "Lost"}});
    case.claims = vec![claim(json!({}), lost)];
    assert_eq!(
        said(&case, &wants),
        "persistentvolumeclaim \"data\" bound to non-existent persistentvolume \"pv\""
    );
    let leaving = json!({"deletionTimestamp": "2026-01-01T00:00:00Z"});
    case.claims = vec![claim(leaving, json!({}))];
    assert_eq!(
        said(&case, &wants),
        "persistentvolumeclaim \"data\" is being deleted"
    );
    let ephemeral = json!({"spec": {"volumes": [{"name": "v", "ephemeral": {}}]}});
    assert_eq!(
        said(&case, &pod("p", json!({}), ephemeral)),
        "waiting for ephemeral volume controller to create the persistentvolumeclaim \"p-v\""
    );
}
