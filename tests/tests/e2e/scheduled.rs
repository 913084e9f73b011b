//! Remedies of causes of scheduling, with the real scheduler: the objects of a rule's example go to a real API server,
//! where the pod waits; `apply.sh` changes them with the real kubectl, and the pod that the changed objects make is bound.
//!
//! `CASEFILE_KUBERNETES_BINS` names a folder with `etcd`, `kube-apiserver` and `kube-scheduler`; without it the test skips.

#[path = "../../../analyzer/sim/cluster/tests/scheduler_real/plane.rs"]
mod plane;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use casefile_tests::store;
use serde_json::{Value, json};

use crate::fix_cluster::kubeconfig;
use crate::fix_real::{Row, print, state, what_if, written};
use crate::support::{ended, skip};
use plane::Plane;

const NODES: &str = "/api/v1/nodes";
/// How long the scheduler may take for a pod.
const DECIDES: Duration = Duration::from_secs(30);

/// Kind of change, the rule's example, the cause, a person's change instead of the rule's.
type Remedy = (
    &'static str,
    &'static str,
    &'static str,
    Option<&'static str>,
);

const REMEDIES: [Remedy; 6] = [
    (
        "toleration",
        "scheduling/untolerated-taint#every node that has GPUs",
        "untolerated-taint",
        None,
    ),
    (
        "taint",
        "scheduling/untolerated-taint#every node that has GPUs",
        "untolerated-taint",
        Some(
            "changes:\n- taint: {node: g1, key: nvidia.com/gpu, effect: NoSchedule, remove: true}\n",
        ),
    ),
    (
        "pod-spec (selector)",
        "scheduling/node-selector-mismatch#the nodes with GPUs lack",
        "node-selector-mismatch",
        None,
    ),
    (
        "label",
        "scheduling/node-selector-mismatch#the nodes with GPUs lack",
        "node-selector-mismatch",
        Some("changes:\n- label: {kind: Node, name: g1, key: gpu, value: h100}\n"),
    ),
    (
        "pod-spec (requests)",
        "scheduling/gpu-request-exceeds-node#no node has as many",
        "gpu-request-exceeds-node",
        None,
    ),
    (
        "kubelet-config",
        "scheduling/max-pods-limit#a pod waits for a slot",
        "max-pods-limit",
        None,
    ),
];

#[test]
fn remedies_of_scheduling_are_bound_by_the_real_scheduler() {
    let test = "remedies_of_scheduling_are_bound_by_the_real_scheduler";
    let Some(bins) = std::env::var_os("CASEFILE_KUBERNETES_BINS").map(PathBuf::from) else {
        let why =
            "CASEFILE_KUBERNETES_BINS names no folder with etcd, kube-apiserver and kube-scheduler";
        return skip(test, why);
    };
    let plane = Plane::start(&bins);
    let mut table = String::from("\n| change | before | after |\n|---|---|---|\n");
    for (kind, example, cause, proposal) in REMEDIES {
        let row = Row {
            kind,
            program: "kube-scheduler",
            state: example,
            cause,
            proposal,
            before: "",
            faulty: "",
        };
        let (before, after) = tried(&plane, &row);
        let _ = writeln!(table, "| {kind} | {before} | {after} |");
        assert!(before.contains("nodes are available"), "{table}");
        assert!(after.starts_with("bound to "), "{table}");
    }
    print(&table);
}

/// What the scheduler says of the waiting pod, and of the one that the changed objects make.
fn tried(plane: &Plane, row: &Row) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let input = state(row.state, folder.path());
    let waiting = owned(&input);
    let (namespace, name) = waiting;
    let captured = asked(&input, folder.path());
    let before = Objects::of(&captured, &namespace, &name);
    load(plane, &before);
    let path = format!("/api/v1/namespaces/{namespace}/pods");
    let says = placed(plane, &path, &name, &before.pod);
    let changed = after(row, &input, folder.path(), &namespace, &name);
    for node in &changed.nodes {
        let name = node["metadata"]["name"].as_str().unwrap();
        let taints = node["spec"]["taints"].as_array().cloned();
        let change = json!({
            "metadata": {"labels": node["metadata"]["labels"]},
            "spec": {"taints": taints.unwrap_or_default()},
        });
        plane.must("PATCH", &format!("{NODES}/{name}"), Some(&change));
        let status = json!({"status": {"allocatable": node["status"]["allocatable"]}});
        plane.must("PATCH", &format!("{NODES}/{name}/status"), Some(&status));
    }
    let then = placed(plane, &path, &name, &changed.pod);
    clear(plane, &path);
    (says, then)
}

/// Gives the pod that waits a workload, where the example names none, so that there is an object to change; its name.
fn owned(input: &Path) -> (String, String) {
    let files = std::fs::read_dir(input.join("cluster-resources/pods")).unwrap();
    let mut found = None;
    for file in files.map(|file| file.unwrap().path()) {
        let mut list: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        for pod in list["items"].as_array_mut().unwrap() {
            if pod["status"]["phase"] != "Pending" {
                continue;
            }
            let name = pod["metadata"]["name"].as_str().unwrap().to_owned();
            let namespace = pod["metadata"]["namespace"].as_str().unwrap().to_owned();
            pod["metadata"]["ownerReferences"] =
                json!([{"kind": "StatefulSet", "name": name, "controller": true}]);
            found = Some((namespace, name));
        }
        std::fs::write(&file, lines(&list)).unwrap();
    }
    found.unwrap()
}

/// A list with an item on each line, as a bundle has it.
fn lines(list: &Value) -> String {
    let items = list["items"].as_array().unwrap();
    let items: Vec<String> = items.iter().map(Value::to_string).collect();
    format!(
        "{{\"kind\":{},\"apiVersion\":\"v1\",\"items\":[\n{}\n]}}\n",
        list["kind"],
        items.join(",\n")
    )
}

/// Objects that decide where the pod goes.
struct Objects {
    nodes: Vec<Value>,
    others: Vec<Value>,
    /// What the workload makes.
    pod: Value,
}

impl Objects {
    fn of(kubectl: &dyn Fn(&[&str]) -> Value, namespace: &str, name: &str) -> Objects {
        let items = |list: Value| list["items"].as_array().cloned().unwrap_or_default();
        let pods = items(kubectl(&["pods", "-n", namespace]));
        let others = pods
            .into_iter()
            .filter(|pod| pod["spec"]["nodeName"].is_string());
        let workload = kubectl(&["statefulset", name, "-n", namespace]);
        Objects {
            nodes: items(kubectl(&["nodes"])),
            others: others.collect(),
            pod: workload["spec"]["template"]["spec"].clone(),
        }
    }
}

/// The real kubectl against a small API with the bundle's objects.
fn asked(input: &Path, folder: &Path) -> impl Fn(&[&str]) -> Value {
    let config = kubeconfig(store::serve(input).unwrap(), folder);
    move |words: &[&str]| {
        let mut command = Command::new("kubectl");
        command.arg("get").args(words).args(["-o", "json"]);
        let said = ended(command.env("KUBECONFIG", &config).output().unwrap());
        assert_eq!(said.code, 0, "{words:?}: {said:?}");
        serde_json::from_str(&said.out).unwrap()
    }
}

/// The objects behind `apply.sh`.
fn after(row: &Row, input: &Path, folder: &Path, namespace: &str, name: &str) -> Objects {
    what_if(row, input, folder);
    let fix = written(row, folder);
    let kubectl = asked(input, folder);
    if let Some(most) = limit(&fix) {
        // The kubelet's file is no object: the node states what its kubelet read there.
        let mut objects = Objects::of(&kubectl, namespace, name);
        for node in &mut objects.nodes {
            node["status"]["allocatable"]["pods"] = most.clone().into();
        }
        return objects;
    }
    let mut command = Command::new("timeout");
    command
        .args(["120", "bash"])
        .arg(fix.join("apply.sh"))
        .arg("--yes");
    command
        .env("KUBECONFIG", folder.join("kubeconfig"))
        .env("HOME", folder)
        .env("LOCK_DIR", folder)
        .env("ACCEPT", "yes")
        .env("BACKUP_DIR", folder.join("backup"));
    let said = ended(command.output().unwrap());
    assert_eq!(said.code, 0, "{}: {said:?}", row.kind);
    Objects::of(&kubectl, namespace, name)
}

/// `maxPods` of a kubelet's file that the fix wrote.
fn limit(fix: &Path) -> Option<String> {
    let files = walkdir::WalkDir::new(fix).into_iter().flatten();
    let texts = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
    let kubelets = texts.filter(|text| text.contains("KubeletConfiguration"));
    kubelets
        .filter_map(|text| {
            let line = text.lines().find(|line| line.starts_with("maxPods:"))?;
            line.split_whitespace().nth(1).map(str::to_owned)
        })
        .find(|most| most != "1")
}

fn load(plane: &Plane, objects: &Objects) {
    for node in &objects.nodes {
        let status = json!({
            "capacity": node["status"]["capacity"], "allocatable": node["status"]["allocatable"],
            "conditions": [{"type": "Ready", "status": "True"}],
        });
        let meta = json!({"name": node["metadata"]["name"], "labels": node["metadata"]["labels"]});
        let node =
            json!({"metadata": meta, "spec": {"taints": node["spec"]["taints"]}, "status": status});
        plane.must("POST", NODES, Some(&node));
    }
    for pod in &objects.others {
        let namespace = pod["metadata"]["namespace"].as_str().unwrap();
        let path = format!("/api/v1/namespaces/{namespace}/pods");
        space(plane, namespace);
        let name = pod["metadata"]["name"].as_str().unwrap();
        plane.must("POST", &path, Some(&made(name, &pod["spec"])));
    }
    let until = Instant::now() + DECIDES;
    let all = (objects.nodes.len(), objects.others.len());
    while plane.known_to_scheduler() != Some(all) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn space(plane: &Plane, namespace: &str) {
    let body = json!({"metadata": {"name": namespace}});
    // It may be there from another row.
    let _ = plane.ask("POST", "/api/v1/namespaces", Some(&body));
}

/// A pod of this specification; examples leave out what a scheduler does not read.
fn made(name: &str, spec: &Value) -> Value {
    let mut spec = spec.clone();
    for container in spec["containers"].as_array_mut().unwrap() {
        container["image"] = "example.org/image".into();
    }
    spec["automountServiceAccountToken"] = false.into();
    json!({"metadata": {"name": name}, "spec": spec})
}

/// What becomes of a pod: where it is bound, or why it is not.
fn placed(plane: &Plane, path: &str, name: &str, spec: &Value) -> String {
    space(plane, path.split('/').nth(4).unwrap());
    let own = format!("{path}/{name}");
    let _ = plane.ask("DELETE", &format!("{own}?gracePeriodSeconds=0"), None);
    plane.must("POST", path, Some(&made(name, spec)));
    let until = Instant::now() + DECIDES;
    loop {
        let pod = plane.must("GET", &own, None);
        if let Some(node) = pod["spec"]["nodeName"].as_str() {
            return format!("bound to {node}");
        }
        let conditions = pod["status"]["conditions"].as_array();
        let mut conditions = conditions.into_iter().flatten();
        let refused = conditions.find(|one| one["type"] == "PodScheduled");
        if let Some(says) = refused.and_then(|one| one["message"].as_str()) {
            return says.to_owned();
        }
        assert!(
            Instant::now() < until,
            "{own}: the scheduler does not decide"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn clear(plane: &Plane, pods: &str) {
    for path in [pods, NODES] {
        plane.must("DELETE", &format!("{path}?gracePeriodSeconds=0"), None);
    }
    let until = Instant::now() + DECIDES;
    while plane.known_to_scheduler() != Some((0, 0)) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(plane.list(NODES).is_empty());
}
