//! Clusters and pods by chance: every predicate of the scheduler gets its turn.

use serde_json::{Map, Value, json};

use super::dice::Dice;

/// Paths of the API by kind, in the order in which objects are made.
pub(crate) const NODES: &str = "/api/v1/nodes";
pub(crate) const VOLUMES: &str = "/api/v1/persistentvolumes";
pub(crate) const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
pub(crate) const CLASSES: &str = "/apis/storage.k8s.io/v1/storageclasses";
pub(crate) const PRIORITIES: &str = "/apis/scheduling.k8s.io/v1/priorityclasses";
pub(crate) const RUNTIMES: &str = "/apis/node.k8s.io/v1/runtimeclasses";

const ZONES: [&str; 3] = ["a", "b", "c"];
const APPS: [&str; 3] = ["web", "db", "ml"];
const HOST: &str = "kubernetes.io/hostname";
const ZONE: &str = "topology.kubernetes.io/zone";

/// What stays the same in all clusters.
pub(crate) fn fixed() -> Vec<(&'static str, Value)> {
    let class = |name: &str, mode: &str, by: &str| json!({"metadata": {"name": name}, "provisioner": by, "volumeBindingMode": mode});
    let priority = |name: &str, value: i64, policy: &str| json!({"metadata": {"name": name}, "value": value, "preemptionPolicy": policy});
    let overhead = json!({"podFixed": {"cpu": "500m", "memory": "256Mi"}});
    vec![
        (
            CLASSES,
            class(
                "late",
                "WaitForFirstConsumer",
                "kubernetes.io/no-provisioner",
            ),
        ),
        (CLASSES, class("now", "Immediate", "example.com/disk")),
        (PRIORITIES, priority("high", 1000, "PreemptLowerPriority")),
        (PRIORITIES, priority("polite", 1000, "Never")),
        (
            RUNTIMES,
            json!({"metadata": {"name": "sandbox"}, "handler": "sandbox", "overhead": overhead}),
        ),
        (
            "/api/v1/namespaces",
            json!({"metadata": {"name": "other", "labels": {"team": "b"}}}),
        ),
    ]
}

pub(crate) fn node(name: &str, dice: &mut Dice) -> Value {
    let mut labels = json!({HOST: name, "disk": dice.pick(&["ssd", "hdd"])});
    if dice.percent(85) {
        labels[ZONE] = dice.pick(&ZONES).into();
    }
    if dice.percent(50) {
        labels["gpu"] = dice.pick(&["a100", "h100"]).into();
        labels["count"] = dice.pick(&["1", "4", "8"]).into();
    }
    let mut has = json!({
        "cpu": dice.pick(&["2", "4", "7910m"]), "memory": dice.pick(&["4Gi", "16Gi", "16384000Ki"]),
        "pods": dice.pick(&["2", "4", "110", "110"]), "ephemeral-storage": dice.pick(&["10Gi", "100Gi"]),
    });
    if dice.percent(60) {
        has["nvidia.com/gpu"] = dice.pick(&["0", "1", "4", "8"]).into();
    }
    if dice.percent(40) {
        has["hugepages-2Mi"] = dice.pick(&["0", "64Mi", "512Mi"]).into();
    }
    let mut taints = Vec::new();
    for (key, chance) in [("dedicated", 20), ("nvidia.com/gpu", 20), ("flaky", 10)] {
        if dice.percent(chance) {
            let effect = dice.pick(&["NoSchedule", "NoExecute", "PreferNoSchedule"]);
            taints.push(json!({"key": key, "value": dice.pick(&["", "true"]), "effect": effect}));
        }
    }
    json!({
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": taints, "unschedulable": dice.percent(12)},
        "status": {"capacity": has, "allocatable": has, "conditions": [{"type": "Ready", "status": "True"}]},
    })
}

fn resources(dice: &mut Dice) -> Value {
    let mut asks = Map::new();
    let mut limits = Map::new();
    let all: [(&str, usize, &[&str]); 3] = [
        ("cpu", 60, &["100m", "1", "1500m", "3", "9"]),
        ("memory", 60, &["128Mi", "1Gi", "6G", "20Gi"]),
        ("ephemeral-storage", 20, &["1Gi", "20Gi"]),
    ];
    for (name, chance, amounts) in all {
        if dice.percent(chance) {
            let amount = dice.pick(amounts);
            // The API server takes the limit for the request where only that is given.
            let into = if dice.percent(20) {
                &mut limits
            } else {
                &mut asks
            };
            into.insert(name.into(), amount.into());
        }
    }
    for (name, chance, amounts) in [
        ("nvidia.com/gpu", 35, ["1", "2", "8"]),
        ("hugepages-2Mi", 12, ["32Mi", "128Mi", "1Gi"]),
    ] {
        if dice.percent(chance) && (name != "hugepages-2Mi" || asks.contains_key("cpu")) {
            let amount = dice.pick(&amounts);
            limits.insert(name.into(), amount.into());
            asks.insert(name.into(), amount.into());
        }
    }
    json!({"requests": asks, "limits": limits})
}

fn container(name: &str, dice: &mut Dice) -> Value {
    json!({"name": name, "image": "none", "resources": resources(dice)})
}

fn selector(dice: &mut Dice) -> Value {
    match dice.below(3) {
        0 => json!({"matchLabels": {"app": dice.pick(&APPS)}}),
        1 => {
            json!({"matchExpressions": [{"key": "app", "operator": "In", "values": [dice.pick(&APPS), dice.pick(&APPS)]}]})
        }
        _ => {
            json!({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": [dice.pick(&APPS)]}]})
        }
    }
}

fn pod_terms(dice: &mut Dice) -> Value {
    let mut term =
        json!({"labelSelector": selector(dice), "topologyKey": dice.pick(&[HOST, ZONE])});
    if dice.percent(30) {
        term["namespaces"] = json!(["default", "other"]);
    }
    json!({"requiredDuringSchedulingIgnoredDuringExecution": [term]})
}

/// A pod that runs on a node, or ran.
pub(crate) fn placed(name: &str, node: &str, dice: &mut Dice) -> Value {
    let mut pod = json!({
        "metadata": {"name": name, "labels": {"app": dice.pick(&APPS)}},
        "spec": {"nodeName": node, "terminationGracePeriodSeconds": 0, "containers": [container("main", dice)]},
    });
    if dice.percent(30) {
        let port = json!([{"containerPort": 80, "hostPort": 8080, "protocol": dice.pick(&["TCP", "UDP"])}]);
        pod["spec"]["containers"][0]["ports"] = port;
    }
    if dice.percent(15) {
        pod["spec"]["affinity"] = json!({"podAntiAffinity": pod_terms(dice)});
    }
    if dice.percent(15) {
        pod["spec"]["priorityClassName"] = "high".into();
    }
    pod
}

fn node_affinity(dice: &mut Dice) -> Value {
    let by = |key: &str, operator: &str, values: &[&str]| json!({"key": key, "operator": operator, "values": values});
    let mut terms = Vec::new();
    for _ in 0..=dice.below(2) {
        let one = match dice.below(6) {
            0 => by("gpu", "In", &["h100"]),
            1 => by("gpu", "NotIn", &["h100"]),
            2 => by("gpu", "DoesNotExist", &[]),
            3 => by("count", "Gt", &["3"]),
            4 => by("count", "Lt", &["4"]),
            _ => by(ZONE, "Exists", &[]),
        };
        let also = by("disk", "In", &[dice.pick(&["ssd", "hdd"])]);
        let both = if dice.percent(50) {
            json!([one, also])
        } else {
            json!([one])
        };
        terms.push(json!({"matchExpressions": both}));
    }
    if dice.percent(10) {
        terms = vec![json!({"matchFields": [by("metadata.name", "In", &["n0"])]})];
    }
    json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}})
}

fn spread(dice: &mut Dice) -> Value {
    let one = |dice: &mut Dice| {
        json!({"maxSkew": 1 + dice.below(2), "topologyKey": dice.pick(&[ZONE, HOST]), "labelSelector": selector(dice),
            "whenUnsatisfiable": dice.pick(&["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"])})
    };
    let first = one(dice);
    let second = one(dice);
    let same = first["topologyKey"] == second["topologyKey"]
        && first["whenUnsatisfiable"] == second["whenUnsatisfiable"];
    if dice.percent(30) && !same {
        json!([first, second])
    } else {
        json!([first])
    }
}

/// A pod that has to be scheduled. `claims` are the names that it may use.
pub(crate) fn pending(name: &str, claims: &[String], dice: &mut Dice) -> Value {
    let mut containers = vec![container("main", dice)];
    if dice.percent(20) {
        containers.push(container("side", dice));
    }
    let mut spec = json!({"terminationGracePeriodSeconds": 0, "containers": containers});
    if dice.percent(20) {
        spec["initContainers"] = json!([container("init", dice)]);
    }
    if dice.percent(15) {
        spec["runtimeClassName"] = "sandbox".into();
    }
    if dice.percent(20) {
        spec["nodeSelector"] = json!({"disk": dice.pick(&["ssd", "hdd", "tape"])});
    }
    let mut affinity = json!({});
    for (kind, chance) in [
        ("nodeAffinity", 20),
        ("podAffinity", 12),
        ("podAntiAffinity", 15),
    ] {
        if dice.percent(chance) {
            affinity[kind] = if kind == "nodeAffinity" {
                node_affinity(dice)
            } else {
                pod_terms(dice)
            };
        }
    }
    spec["affinity"] = affinity;
    if dice.percent(20) {
        spec["topologySpreadConstraints"] = spread(dice);
    }
    let mut tolerations = Vec::new();
    for (key, chance) in [
        ("dedicated", 30),
        ("nvidia.com/gpu", 40),
        ("node.kubernetes.io/unschedulable", 15),
        ("", 10),
    ] {
        if dice.percent(chance) {
            let exists = key.is_empty() || dice.percent(60);
            let mut one = json!({"key": key, "operator": if exists { "Exists" } else { "Equal" }});
            if !exists {
                one["value"] = "true".into();
            }
            if dice.percent(50) {
                one["effect"] = "NoSchedule".into();
            }
            tolerations.push(one);
        }
    }
    spec["tolerations"] = tolerations.into();
    if dice.percent(15) {
        spec["containers"][0]["ports"] = json!([{"containerPort": 80, "hostPort": 8080}]);
    }
    if dice.percent(15) {
        spec["priorityClassName"] = "polite".into();
    }
    if dice.percent(25) && !claims.is_empty() {
        let claim = &claims[dice.below(claims.len())];
        spec["volumes"] = json!([{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]);
    }
    json!({"metadata": {"name": name, "labels": {"app": dice.pick(&APPS)}}, "spec": spec})
}

/// Volumes and claims of a cluster, and the names of claims that pods may use, one of which does not exist.
pub(crate) fn storage(dice: &mut Dice) -> (Vec<(&'static str, Value)>, Vec<String>) {
    let mut objects = Vec::new();
    let mut names = vec!["missing".to_owned()];
    let on = |key: &str, value: &str| json!({"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}]}});
    let kinds = [
        "bound-node",
        "bound-zone",
        "bound-gone",
        "late-none",
        "late-local",
        "now-unbound",
    ];
    for kind in kinds {
        names.push(kind.to_owned());
        let class = if kind.starts_with("late") {
            "late"
        } else {
            "now"
        };
        let bound = kind.starts_with("bound");
        let mut claim = json!({"metadata": {"name": kind}, "spec": {
            "accessModes": ["ReadWriteOnce"], "storageClassName": class, "resources": {"requests": {"storage": "5Gi"}}}});
        if bound {
            claim["metadata"]["annotations"] = json!({"pv.kubernetes.io/bind-completed": "yes"});
            claim["spec"]["volumeName"] = format!("pv-{kind}").into();
        }
        objects.push((CLAIMS, claim));
        if matches!(kind, "bound-gone" | "late-none" | "now-unbound") {
            continue;
        }
        let mut volume = json!({"metadata": {"name": format!("pv-{kind}")}, "spec": {
            "accessModes": ["ReadWriteOnce"], "capacity": {"storage": dice.pick(&["4Gi", "5Gi", "50Gi"])},
            "storageClassName": class, "persistentVolumeReclaimPolicy": "Retain"}});
        match kind {
            "bound-zone" => {
                volume["metadata"]["labels"] = json!({ZONE: dice.pick(&ZONES)});
                volume["spec"]["hostPath"] = json!({"path": "/data"});
            }
            _ => {
                volume["spec"]["local"] = json!({"path": "/data"});
                volume["spec"]["nodeAffinity"] = on(HOST, dice.pick(&["n0", "n1", "n2"]));
            }
        }
        if bound {
            volume["spec"]["claimRef"] = json!({"name": kind, "namespace": "default"});
        }
        objects.push((VOLUMES, volume));
    }
    (objects, names)
}
