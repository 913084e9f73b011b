//! Tables of clusters and the sentences that the scheduler says over them. Words and order come from
//! `pkg/scheduler/framework` of kubernetes v1.30 to v1.36 and from recorded events.

use serde_json::{Value, json};

use super::api::{Claim, LimitRange, Node, Plain, Pod, Quota, StorageClass, Volume};
use super::*;

pub(super) fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

/// A node with 8 CPUs, 32Gi, 110 pods and some GPUs.
pub(super) fn node(name: &str, gpus: u32, extra: Value) -> Node {
    let offers =
        json!({"cpu": "8", "memory": "32Gi", "pods": "110", "nvidia.com/gpu": gpus.to_string()});
    let mut object = json!({
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": "a"}},
        "spec": {}, "status": {"capacity": offers, "allocatable": offers},
    });
    merge(&mut object, extra);
    read(object)
}

pub(super) fn merge(into: &mut Value, extra: Value) {
    match (into, extra) {
        (Value::Object(own), Value::Object(more)) => {
            for (key, value) in more {
                merge(own.entry(key).or_insert(Value::Null), value);
            }
        }
        (own, more) => *own = more,
    }
}

pub(super) fn pod(name: &str, requests: Value, extra: Value) -> Pod {
    let mut object = json!({
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {"containers": [{"name": "main", "resources": {"requests": requests}}]},
        "status": {"phase": "Pending"},
    });
    merge(&mut object, extra);
    read(object)
}

pub(super) fn running(name: &str, on: &str, requests: Value, extra: Value) -> Pod {
    let mut pod = pod(name, requests, extra);
    pod.spec.node_name = on.into();
    pod.status.phase = "Running".into();
    pod
}

#[derive(Default)]
pub(super) struct Case {
    pub(super) nodes: Vec<Node>,
    pub(super) pods: Vec<Pod>,
    pub(super) claims: Vec<Claim>,
    pub(super) volumes: Vec<Volume>,
    pub(super) classes: Vec<StorageClass>,
    pub(super) namespaces: Vec<Plain>,
    pub(super) version: &'static str,
}

impl Case {
    pub(super) fn verdict(&self, pod: &Pod) -> Verdict {
        let cluster = Cluster::new(Inputs {
            nodes: self.nodes.iter().collect(),
            pods: self.pods.iter().collect(),
            pods_complete: true,
            nodes_complete: true,
            claims: Some(self.claims.iter().collect()),
            volumes: Some(self.volumes.iter().collect()),
            classes: Some(self.classes.iter().collect()),
            namespaces: Some(self.namespaces.iter().collect()),
            version: if self.version.is_empty() {
                "v1.33.1".into()
            } else {
                self.version.into()
            },
            ..Inputs::default()
        });
        explain(pod, &cluster)
    }

    /// What is said before preemption.
    fn says(&self, pod: &Pod) -> String {
        let sentence = self.verdict(pod).sentence;
        let end = sentence.find(" preemption:").unwrap_or(sentence.len());
        sentence[..end]
            .trim_end_matches(" no new claims to deallocate,")
            .to_owned()
    }
}

pub(super) fn gpu(count: u32) -> Value {
    json!({"nvidia.com/gpu": count.to_string()})
}

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
    let more = case.verdict(&pod("d", gpu(3), json!({})));
    assert!(
        more.sentence
            .ends_with("1 Preemption is not helpful for scheduling."),
        "{}",
        more.sentence
    );
}

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
        "0/1 nodes are available: 1 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)."
    );
    case.claims = vec![claim(json!({"storageClassName": "fast"}))];
    assert_eq!(
        case.says(&wants),
        "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims."
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
        "/../../shared/incidents/cases/dev-004/evidence/01-pod-status.txt"
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

#[test]
fn quotas_and_limits_refuse_in_the_api_servers_words() {
    let quota: Quota = read(
        json!({"metadata": {"name": "gpu", "namespace": "ml"}, "spec": {"hard": {"requests.nvidia.com/gpu": "4"}},
        "status": {"hard": {"requests.nvidia.com/gpu": "4"}, "used": {"requests.nvidia.com/gpu": "3"}}}),
    );
    let spec = pod("p", gpu(2), json!({})).spec;
    let refusal = quota::refuses(&spec, "ml", &[&quota], &[]).unwrap();
    assert_eq!(
        refusal.says,
        "exceeded quota: gpu, requested: requests.nvidia.com/gpu=2, used: requests.nvidia.com/gpu=3, limited: requests.nvidia.com/gpu=4"
    );
    assert_eq!(refusal.object, "resourcequota/ml/gpu");
    assert_eq!(quota::refuses(&spec, "other", &[&quota], &[]), None);
    let cpu: Quota = read(
        json!({"metadata": {"name": "c", "namespace": "ml"}, "spec": {"hard": {"limits.cpu": "4", "requests.cpu": "4"}}}),
    );
    assert_eq!(
        quota::refuses(&spec, "ml", &[&cpu], &[]).unwrap().says,
        "failed quota: c: must specify limits.cpu,requests.cpu"
    );
    let defaults: LimitRange = read(
        json!({"metadata": {"name": "d", "namespace": "ml"}, "spec": {"limits": [
        {"type": "Container", "default": {"cpu": "1"}, "defaultRequest": {"cpu": "1"}, "max": {"memory": "1Gi"}}]}}),
    );
    assert_eq!(quota::refuses(&spec, "ml", &[&cpu], &[&defaults]), None);
    let large =
        read::<api::PodSpec>(json!({"containers": [{"resources": {"limits": {"memory": "2Gi"}}}]}));
    assert_eq!(
        quota::refuses(&large, "ml", &[], &[&defaults])
            .unwrap()
            .says,
        "maximum memory usage per Container is 1Gi, but limit is 2Gi"
    );
}

proptest::proptest! {
    #[test]
    fn no_quantities_or_labels_make_the_verdict_panic(
        amounts in proptest::collection::vec("-?[0-9]{0,25}(\\.[0-9]{0,5})?(m|k|Gi|Ei|E|e9|NaN)?", 8),
        key in "[a-z./]{0,8}", skew in proptest::num::i64::ANY,
    ) {
        let offers = json!({"cpu": amounts[0], "memory": amounts[1], "pods": amounts[2], "nvidia.com/gpu": amounts[3]});
        let node: Node = read(json!({"metadata": {"name": "n", "labels": {key.clone(): "v"}}, "status": {"allocatable": offers, "capacity": offers}}));
        let asks = json!({"cpu": amounts[4], "memory": amounts[5], "nvidia.com/gpu": amounts[6]});
        let extra = json!({"spec": {"priority": skew, "overhead": {"cpu": amounts[7]}, "nodeSelector": {key.clone(): "v"},
            "topologySpreadConstraints": [{"maxSkew": skew, "topologyKey": key, "minDomains": skew, "labelSelector": {}}]}});
        let wants = pod("p", asks.clone(), extra);
        let case = Case { nodes: vec![node], pods: vec![running("q", "n", asks, json!({}))], ..Case::default() };
        let verdict = case.verdict(&wants);
        proptest::prop_assert_eq!(verdict.sentence.is_empty(), matches!(verdict.state, State::Fits | State::Undecided));
    }
}
