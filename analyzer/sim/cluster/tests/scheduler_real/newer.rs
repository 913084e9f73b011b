//! What API servers from v1.29 know beside the rest: pods pinned to a node, disks, limits of volumes, claims for one pod,
//! sidecars, gates, policies of spread, and from v1.34 resources of a pod as a whole and resizing in place.

use serde_json::{Value, json};

use super::dice::Dice;
use super::objects::{CLAIMS, VOLUMES};

pub(crate) const LIMITS: &str = "/apis/storage.k8s.io/v1/csinodes";
const DRIVER: &str = "csi.example.com";
const CSI: [&str; 3] = ["csi-a", "csi-b", "csi-c"];
const ONE_POD: &str = "one-pod";

/// Whether a server of this minor release knows these fields.
pub(crate) fn known(minor: u32) -> bool {
    minor >= 29
}

fn whole_pods(minor: u32) -> bool {
    minor >= 34
}

/// How many volumes a node attaches, where it says so.
pub(crate) fn limit(node: &str, dice: &mut Dice) -> Option<Value> {
    let count = 1 + dice.below(2);
    let driver = json!({"name": DRIVER, "nodeID": node, "allocatable": {"count": count}});
    dice.percent(60)
        .then(|| json!({"metadata": {"name": node}, "spec": {"drivers": [driver]}}))
}

/// Claims that are bound already, and their volumes.
pub(crate) fn storage() -> Vec<(&'static str, Value)> {
    let mut objects = Vec::new();
    for name in CSI.iter().chain(&[ONE_POD]) {
        let mode = if *name == ONE_POD {
            "ReadWriteOncePod"
        } else {
            "ReadWriteOnce"
        };
        let mut volume = json!({"metadata": {"name": format!("pv-{name}")}, "spec": {
            "accessModes": [mode], "capacity": {"storage": "5Gi"}, "storageClassName": "now",
            "persistentVolumeReclaimPolicy": "Retain", "claimRef": {"name": name, "namespace": "default"}}});
        if *name == ONE_POD {
            volume["spec"]["hostPath"] = json!({"path": "/data"});
        } else {
            volume["spec"]["csi"] = json!({"driver": DRIVER, "volumeHandle": name});
        }
        let claim = json!({
            "metadata": {"name": name, "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
            "spec": {"accessModes": [mode], "storageClassName": "now", "volumeName": format!("pv-{name}"),
                "resources": {"requests": {"storage": "5Gi"}}}});
        objects.extend([(CLAIMS, claim), (VOLUMES, volume)]);
    }
    objects
}

fn volume(dice: &mut Dice) -> Value {
    let read_only = dice.percent(40);
    let mut one = match dice.below(7) {
        0 => {
            json!({"iscsi": {"targetPortal": "10.0.0.1:3260", "iqn": dice.pick(&["iqn.2026-01.com.example:a", "iqn.2026-01.com.example:b"]), "lun": 0, "readOnly": read_only}})
        }
        1 => {
            json!({"rbd": {"monitors": [dice.pick(&["10.0.0.2", "10.0.0.3"]), "10.0.0.4"], "image": dice.pick(&["one", "two"]),
            "readOnly": read_only}})
        }
        2 => {
            json!({"gcePersistentDisk": {"pdName": dice.pick(&["pd", "pe"]), "readOnly": read_only}})
        }
        3 => json!({"awsElasticBlockStore": {"volumeID": "vol-1", "readOnly": read_only}}),
        4 => json!({"persistentVolumeClaim": {"claimName": ONE_POD}}),
        _ => json!({"persistentVolumeClaim": {"claimName": dice.pick(&CSI)}}),
    };
    one["name"] = "more".into();
    one
}

fn add(list: &mut Value, one: Value) {
    if let Value::Array(all) = list {
        all.push(one);
    } else {
        *list = json!([one]);
    }
}

/// More of a pod that runs already.
pub(crate) fn placed(pod: &mut Value, dice: &mut Dice) {
    if dice.percent(35) {
        add(&mut pod["spec"]["volumes"], volume(dice));
    }
    if dice.percent(15) {
        sidecar(pod, dice);
    }
}

/// What a kubelet would write while a container of that pod is resized.
pub(crate) fn resized(minor: u32, dice: &mut Dice) -> Option<Value> {
    if !whole_pods(minor) || !dice.percent(20) {
        return None;
    }
    let mut has =
        json!({"cpu": dice.pick(&["50m", "1", "2"]), "memory": dice.pick(&["64Mi", "2Gi"])});
    if dice.percent(30) {
        has = json!({"cpu": "500m"});
    }
    let mut state = json!({"name": "main", "image": "none", "imageID": "", "ready": true, "restartCount": 0, "allocatedResources": has,
        "state": {"running": {}}});
    if dice.percent(60) {
        state["resources"] = json!({"requests": {"cpu": dice.pick(&["100m", "1500m"])}});
    }
    let mut status = json!({"containerStatuses": [state]});
    if dice.percent(30) {
        let reason = dice.pick(&["Infeasible", "Deferred"]);
        status["conditions"] =
            json!([{"type": "PodResizePending", "status": "True", "reason": reason}]);
    }
    Some(json!({"status": status}))
}

fn sidecar(pod: &mut Value, dice: &mut Dice) {
    let asks = json!({"cpu": dice.pick(&["100m", "1"]), "memory": dice.pick(&["64Mi", "1Gi"])});
    let one = json!({"name": "beside", "image": "none", "restartPolicy": "Always", "resources": {"requests": asks}});
    add(&mut pod["spec"]["initContainers"], one);
}

/// As the controller of DaemonSets makes its pods.
fn pinned(pod: &mut Value, dice: &mut Dice) {
    let mut fields = vec![
        json!({"key": "metadata.name", "operator": "In", "values": [dice.pick(&["n0", "n1", "n2", "n9"])]}),
    ];
    if dice.percent(15) {
        fields = vec![json!({"key": "metadata.name", "operator": "NotIn", "values": ["n0"]})];
    }
    let mut term = json!({ "matchFields": fields });
    if dice.percent(30) {
        term["matchExpressions"] =
            json!([{"key": "disk", "operator": "In", "values": [dice.pick(&["ssd", "hdd"])]}]);
    }
    let mut terms = json!([term]);
    if dice.percent(15) {
        add(
            &mut terms,
            json!({"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}),
        );
    }
    pod["spec"]["affinity"]["nodeAffinity"] =
        json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}});
    for key in ["unschedulable", "not-ready", "disk-pressure"] {
        let key = format!("node.kubernetes.io/{key}");
        add(
            &mut pod["spec"]["tolerations"],
            json!({"key": key, "operator": "Exists"}),
        );
    }
}

fn policies(pod: &mut Value, dice: &mut Dice) {
    for one in pod["spec"]["topologySpreadConstraints"]
        .as_array_mut()
        .into_iter()
        .flatten()
    {
        if dice.percent(25) {
            one["nodeTaintsPolicy"] = "Honor".into();
        }
        if dice.percent(25) {
            one["nodeAffinityPolicy"] = "Ignore".into();
        }
        if dice.percent(25) && one["whenUnsatisfiable"] == "DoNotSchedule" {
            one["minDomains"] = (2 + dice.below(3)).into();
        }
        if dice.percent(15) {
            one["matchLabelKeys"] = json!(["app"]);
            one["labelSelector"] = json!({});
        }
    }
    for kind in ["podAffinity", "podAntiAffinity"] {
        let path =
            format!("/spec/affinity/{kind}/requiredDuringSchedulingIgnoredDuringExecution/0");
        if let Some(term) = pod.pointer_mut(&path)
            && dice.percent(30)
        {
            let by = json!({"matchLabels": {"team": dice.pick(&["a", "b"])}});
            term["namespaceSelector"] = if dice.percent(30) { json!({}) } else { by };
        }
    }
}

/// More of a pod that has to be scheduled.
pub(crate) fn pending(pod: &mut Value, minor: u32, dice: &mut Dice) {
    if dice.percent(15) {
        pinned(pod, dice);
    }
    policies(pod, dice);
    if dice.percent(30) {
        add(&mut pod["spec"]["volumes"], volume(dice));
    }
    if dice.percent(15) {
        sidecar(pod, dice);
    }
    if dice.percent(5) {
        pod["spec"]["schedulingGates"] = json!([{"name": "example.com/gate"}]);
    }
    if whole_pods(minor) && dice.percent(10) {
        for kind in ["containers", "initContainers"] {
            for container in pod["spec"][kind].as_array_mut().into_iter().flatten() {
                container["resources"] = json!({});
            }
        }
        pod["spec"]["resources"] = json!({"requests": {"cpu": dice.pick(&["500m", "3", "9"]), "memory": dice.pick(&["1Gi", "6Gi"])}});
    }
}
