//! What keeps pods together, apart and by their volumes.

use super::*;

#[test]
fn pods_keep_together_and_apart_by_topology() {
    let term = |app: &str, key: &str| json!([{"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}]);
    let required = |kind: &str, term: Value| json!({"spec": {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": term}}}});
    let case = Case {
        nodes: vec![
            node("n1", 0, json!({})),
            node(
                "n2",
                0,
                json!({"metadata": {"labels": {"topology.kubernetes.io/zone": "b"}}}),
            ),
        ],
        pods: vec![
            running(
                "db",
                "n1",
                json!({}),
                json!({"metadata": {"labels": {"app": "db"}}}),
            ),
            {
                let mut loner = json!({"metadata": {"labels": {"app": "loner"}}});
                merge(
                    &mut loner,
                    required(
                        "podAntiAffinity",
                        term("web", "topology.kubernetes.io/zone"),
                    ),
                );
                running("loner", "n2", json!({}), loner)
            },
        ],
        ..Case::default()
    };
    let beside = pod(
        "p",
        json!({}),
        required("podAffinity", term("db", "kubernetes.io/hostname")),
    );
    let verdict = case.verdict(&beside);
    assert_eq!(verdict.state, State::Fits);
    assert_eq!(
        verdict.nodes[1].reasons[0].says,
        "node(s) didn't match pod affinity rules"
    );
    let away = pod(
        "p",
        json!({}),
        required("podAntiAffinity", term("db", "kubernetes.io/hostname")),
    );
    assert_eq!(
        case.verdict(&away).nodes[0].reasons[0].says,
        "node(s) didn't match pod anti-affinity rules"
    );
    let web = pod(
        "p",
        json!({}),
        json!({"metadata": {"labels": {"app": "web"}}}),
    );
    let verdict = case.verdict(&web);
    assert_eq!(
        verdict.nodes[1].reasons[0].says,
        "node(s) didn't satisfy existing pods anti-affinity rules"
    );
    assert!(verdict.nodes[1].reasons[0].detail.contains("ml/loner"));
    let mut first = required("podAffinity", term("new", "kubernetes.io/hostname"));
    merge(&mut first, json!({"metadata": {"labels": {"app": "new"}}}));
    assert_eq!(
        case.verdict(&pod("p", json!({}), first)).state,
        State::Fits,
        "the first of its kind may start"
    );
}

#[test]
fn a_spread_counts_matching_pods_of_the_namespace_by_place() {
    let constraint = json!({"metadata": {"labels": {"app": "x"}}, "spec": {"topologySpreadConstraints": [{"maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "x"}}}]}});
    let labelled = json!({"metadata": {"labels": {"app": "x"}}});
    let case = Case {
        nodes: vec![
            node("n1", 0, json!({})),
            node("n2", 0, json!({"spec": {"unschedulable": true}})),
        ],
        pods: vec![running("a", "n1", json!({}), labelled)],
        ..Case::default()
    };
    assert_eq!(
        case.says(&pod("b", json!({}), constraint)),
        "0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints, 1 node(s) were unschedulable."
    );
}

#[test]
fn volumes_hold_pods_to_the_nodes_that_can_reach_them() {
    let with_claim = json!({"spec": {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}});
    let wants = pod("p", json!({}), with_claim);
    let claim = |spec: Value| -> Claim {
        read(json!({"metadata": {"name": "data", "namespace": "ml"}, "spec": spec}))
    };
    let zone = json!({"required": {"nodeSelectorTerms": [{"matchExpressions": [
        {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["b"]}]}]}});
    let mut case = Case {
        nodes: vec![node("n", 0, json!({}))],
        claims: vec![claim(json!({"volumeName": "pv-1"}))],
        volumes: vec![read(
            json!({"metadata": {"name": "pv-1"}, "spec": {"nodeAffinity": zone}}),
        )],
        ..Case::default()
    };
    assert_eq!(
        case.says(&wants),
        "0/1 nodes are available: 1 node(s) had volume node affinity conflict."
    );
    case.version = "v1.36.0";
    assert_eq!(
        case.says(&wants),
        "0/1 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity."
    );
    case.volumes.clear();
    assert_eq!(
        case.says(&wants),
        "0/1 nodes are available: persistentvolume \"pv-1\" not found. not found"
    );
    case.version = "v1.26.3";
    assert_eq!(
        case.says(&wants),
        "0/1 nodes are available: 1 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)."
    );
    case.version = "v1.36.0";
    case.claims = vec![claim(json!({"storageClassName": "fast"}))];
    assert_eq!(
        case.says(&wants),
        "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found"
    );
    let class = |provisioner: &str| -> StorageClass {
        read(
            json!({"metadata": {"name": "fast"}, "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"}),
        )
    };
    case.classes = vec![class("kubernetes.io/no-provisioner")];
    assert_eq!(
        case.says(&wants),
        "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind."
    );
    let mut volume: Volume = read(json!({"metadata": {"name": "pv-2"},
        "spec": {"storageClassName": "fast"}, "status": {"phase": "Pending"}}));
    case.volumes = vec![volume.clone()];
    assert_eq!(
        case.says(&wants),
        "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind."
    );
    volume.status.phase = "Available".into();
    case.volumes = vec![volume];
    assert_eq!(case.verdict(&wants).state, State::Fits);
    case.volumes.clear();
    case.classes = vec![class("csi.example.org")];
    let verdict = case.verdict(&wants);
    assert_eq!(
        verdict.state,
        State::Undecided,
        "room of a provisioner is not known"
    );
    assert!(
        verdict.open[0].contains("csi.example.org"),
        "{:?}",
        verdict.open
    );
}
