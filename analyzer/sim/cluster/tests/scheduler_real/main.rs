//! Where pods fit and what the scheduler says, against the real one: clusters made by chance are written to a real
//! API server, each pending pod is given to a real kube-scheduler, and its decision and sentence are compared with
//! ours over the objects that the API server then holds. No controllers and no kubelets run.
//!
//! `CASEFILE_KUBERNETES_BINS` names a folder with `etcd`, `kube-apiserver` and `kube-scheduler`; without it the test
//! skips. `CASEFILE_KUBERNETES_CLUSTERS` sets the number of clusters, `CASEFILE_KUBERNETES_SEED` the first of their seeds.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of a test stop it where they cannot go on, and print what they counted"
)]

mod dice;
mod newer;
mod objects;
mod plane;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use casefile_sim_cluster::scheduling::{
    Cluster, Inputs, Release, State, Verdict, api, explain, quota,
};
use serde_json::{Value, json};

use dice::Dice;
use objects::{CLAIMS, CLASSES, NODES, VOLUMES};
use plane::Plane;

/// Pods of a cluster.
const PODS: usize = 12;
const DEFAULT: &str = "/api/v1/namespaces/default/pods";
const OTHER: &str = "/api/v1/namespaces/other/pods";
/// How long the scheduler may take for a pod.
const DECIDES: Duration = Duration::from_secs(20);
/// After so long without a decision it is waiting for a volume to be bound, if it chose one.
const BINDS: Duration = Duration::from_secs(3);

/// What the real scheduler did.
#[derive(Debug)]
enum Real {
    Placed(String),
    /// It chose a volume and waits for the controller that binds it.
    Binding,
    Refused {
        says: String,
        nominated: String,
    },
}

/// Objects of the API server as the analyzer reads them.
struct Held {
    nodes: Vec<api::Node>,
    pods: Vec<api::Pod>,
    claims: Vec<api::Claim>,
    volumes: Vec<api::Volume>,
    classes: Vec<api::StorageClass>,
    limits: Vec<api::CsiNode>,
    namespaces: Vec<api::Plain>,
}

fn read<T: serde::de::DeserializeOwned>(items: Vec<Value>) -> Vec<T> {
    items
        .into_iter()
        .map(|item| serde_json::from_value(item).unwrap())
        .collect()
}

impl Held {
    fn of(plane: &Plane) -> Self {
        Self {
            nodes: read(plane.list(NODES)),
            pods: read(plane.list("/api/v1/pods")),
            claims: read(plane.list("/api/v1/persistentvolumeclaims")),
            volumes: read(plane.list(VOLUMES)),
            classes: read(plane.list(CLASSES)),
            limits: read(plane.list(newer::LIMITS)),
            namespaces: read(plane.list("/api/v1/namespaces")),
        }
    }

    fn verdict(&self, pod: &api::Pod, version: &str) -> Verdict {
        let cluster = Cluster::new(Inputs {
            nodes: self.nodes.iter().collect(),
            nodes_complete: true,
            pods: self.pods.iter().collect(),
            pods_complete: true,
            claims: Some(self.claims.iter().collect()),
            volumes: Some(self.volumes.iter().collect()),
            classes: Some(self.classes.iter().collect()),
            csi_nodes: Some(self.limits.iter().collect()),
            namespaces: Some(self.namespaces.iter().collect()),
            version: version.to_owned(),
            ..Inputs::default()
        });
        explain(pod, &cluster)
    }
}

/// Fills an empty cluster; gives the names of claims that pods may use.
fn fill(plane: &Plane, minor: u32, dice: &mut Dice) -> Vec<String> {
    let nodes = 2 + dice.below(5);
    for number in 0..nodes {
        let node = objects::node(&format!("n{number}"), dice);
        plane.must("POST", NODES, Some(&node));
        let limit = newer::known(minor).then(|| newer::limit(&format!("n{number}"), dice));
        if let Some(limit) = limit.flatten() {
            plane.must("POST", newer::LIMITS, Some(&limit));
        }
    }
    let (mut storage, claims) = objects::storage(dice);
    if newer::known(minor) {
        storage.extend(newer::storage());
    }
    for (path, object) in storage {
        plane.must("POST", path, Some(&object));
    }
    let mut taken = BTreeSet::new();
    for number in 0..nodes * 2 {
        let on = format!("n{}", dice.below(nodes));
        let name = format!("placed-{number}");
        let path = if dice.percent(25) { OTHER } else { DEFAULT };
        let mut pod = objects::placed(&name, &on, dice);
        // No scheduler puts two pods on one port, and this one forgets a port when the first of its holders goes.
        let ports = pod["spec"]["containers"][0]["ports"].to_string();
        if ports != "null" && !taken.insert((on, ports)) {
            pod["spec"]["containers"][0]["ports"] = json!([]);
        }
        if newer::known(minor) && path == DEFAULT {
            newer::placed(&mut pod, dice);
        }
        plane.must("POST", path, Some(&pod));
        if let Some(state) = newer::resized(minor, dice) {
            plane.must("PATCH", &format!("{path}/{name}/status"), Some(&state));
        }
        if dice.percent(15) {
            let ended = json!({"status": {"phase": "Succeeded"}});
            plane.must("PATCH", &format!("{path}/{name}/status"), Some(&ended));
        }
    }
    claims
}

fn clear(plane: &Plane) {
    for path in [DEFAULT, OTHER, CLAIMS, VOLUMES, NODES, newer::LIMITS] {
        plane.must("DELETE", &format!("{path}?gracePeriodSeconds=0"), None);
    }
    settled(plane, 0, 0);
}

/// Waits until the scheduler has seen what the API server holds.
fn settled(plane: &Plane, nodes: usize, pods: usize) {
    let until = Instant::now() + DECIDES;
    while plane.known_to_scheduler() != Some((nodes, pods)) {
        assert!(
            Instant::now() < until,
            "the scheduler knows {:?} nodes and pods, there are {nodes} and {pods}",
            plane.known_to_scheduler()
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn decision(plane: &Plane, path: &str) -> Real {
    let start = Instant::now();
    loop {
        let pod: api::Pod = serde_json::from_value(plane.must("GET", path, None)).unwrap();
        if !pod.spec.node_name.is_empty() {
            return Real::Placed(pod.spec.node_name);
        }
        let mut conditions = pod.status.conditions.iter();
        if let Some(refused) =
            conditions.find(|one| one.kind == "PodScheduled" && one.status == "False")
        {
            return Real::Refused {
                says: refused.message.clone(),
                nominated: pod.status.nominated_node_name.clone(),
            };
        }
        let volumes = || read::<api::Volume>(plane.list(VOLUMES));
        let chosen = |volume: &api::Volume| {
            volume
                .spec
                .claim_ref
                .as_ref()
                .is_some_and(|claim| claim.name == "late-local")
        };
        if start.elapsed() > BINDS && volumes().iter().any(chosen) {
            return Real::Binding;
        }
        assert!(
            start.elapsed() < DECIDES,
            "{path}: the scheduler does not decide"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What differs, in words; nothing if both agree.
fn difference(ours: &Verdict, real: &Real) -> Option<String> {
    let free = |name: &str| {
        let node = ours.nodes.iter().find(|node| node.node == name);
        node.is_some_and(|node| node.reasons.is_empty())
    };
    match real {
        Real::Placed(node) => {
            let displaced = ours.preemptable.contains(node);
            (!free(node) && !displaced).then(|| format!("it runs on {node}"))
        }
        Real::Binding => (ours.state == State::Unschedulable).then(|| "a volume was chosen".into()),
        Real::Refused { says, nominated } => {
            let room = ours.preemptable.iter().any(|node| node == nominated);
            if ours.state == State::Undecided {
                None
            } else if ours.sentence != *says {
                Some(format!("the real sentence is {says:?}"))
            } else if !nominated.is_empty() && !room {
                Some(format!(
                    "room is made on {nominated}, ours says {:?}",
                    ours.preemptable
                ))
            } else if nominated.is_empty()
                && !ours.preemptable.is_empty()
                && says.contains("Insufficient")
            {
                Some(format!("no room is made, ours says {:?}", ours.preemptable))
            } else {
                None
            }
        }
    }
}

/// One cluster with its pods, the last of which may displace others.
fn compare(
    plane: &Plane,
    seed: u64,
    version: &str,
    counts: &mut BTreeMap<&'static str, usize>,
) -> Vec<String> {
    let mut dice = Dice::new(seed);
    let minor = Release::parse(version).map_or(0, |release| release.minor);
    let claims = fill(plane, minor, &mut dice);
    let held = Held::of(plane);
    let placed = held.pods.iter().filter(|pod| pod.occupies());
    settled(plane, held.nodes.len(), placed.count());
    let mut differences = Vec::new();
    for number in 0..PODS {
        let name = format!("p{number}");
        let mut wants = objects::pending(&name, &claims, &mut dice);
        if newer::known(minor) {
            newer::pending(&mut wants, minor, &mut dice);
        }
        if number + 1 == PODS {
            wants["spec"]["priorityClassName"] = "high".into();
        }
        let made = plane.must("POST", DEFAULT, Some(&wants));
        let pod: api::Pod = serde_json::from_value(made).unwrap();
        let path = format!("{DEFAULT}/{name}");
        let real = decision(plane, &path);
        let ours = held.verdict(&pod, version);
        let kind = match (&ours.state, &real) {
            (State::Undecided, _) => "left open here",
            (State::Unschedulable, Real::Placed(_)) => "placed after others were displaced",
            (_, Real::Refused { nominated, .. }) if !nominated.is_empty() => {
                "refused, others displaced"
            }
            (_, Real::Refused { .. }) => "refused",
            _ => "placed",
        };
        *counts.entry(kind).or_default() += 1;
        if let Some(what) = difference(&ours, &real) {
            differences.push(format!(
                "seed {seed} {name}: {what}\n  ours: {:?} {:?}\n  open: {:?}\n  spec: {}",
                ours.state, ours.sentence, ours.open, wants["spec"]
            ));
        }
        plane.must("DELETE", &format!("{path}?gracePeriodSeconds=0"), None);
        if matches!(real, Real::Binding) {
            break;
        }
    }
    clear(plane);
    differences
}

fn number(name: &str, otherwise: u64) -> u64 {
    let given = std::env::var(name).ok();
    given
        .and_then(|text| text.parse().ok())
        .unwrap_or(otherwise)
}

fn control_plane(test: &str) -> Option<(Plane, String)> {
    let Some(bins) = std::env::var_os("CASEFILE_KUBERNETES_BINS").map(PathBuf::from) else {
        println!(
            "skipped: {test}: CASEFILE_KUBERNETES_BINS names no folder with etcd, kube-apiserver and kube-scheduler"
        );
        return None;
    };
    let plane = Plane::start(&bins);
    for (path, object) in objects::fixed() {
        plane.must("POST", path, Some(&object));
    }
    let told = Command::new(bins.join("kube-scheduler"))
        .arg("--version")
        .output();
    let told = String::from_utf8(told.unwrap().stdout).unwrap();
    let version = told.trim().trim_start_matches("Kubernetes ").to_owned();
    Some((plane, version))
}

#[test]
fn the_real_scheduler_decides_and_says_what_is_said_here() {
    let Some((plane, version)) =
        control_plane("the_real_scheduler_decides_and_says_what_is_said_here")
    else {
        return;
    };
    let first = number("CASEFILE_KUBERNETES_SEED", 1);
    let clusters = number("CASEFILE_KUBERNETES_CLUSTERS", 30);
    let mut counts = BTreeMap::new();
    let mut differences = Vec::new();
    for seed in first..first + clusters {
        differences.extend(compare(&plane, seed, &version, &mut counts));
    }
    println!(
        "{version}: {clusters} clusters, {counts:?}, {} differences",
        differences.len()
    );
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// States processor time and memory of every container that does not.
fn state_all(spec: &mut Value) {
    for kind in ["containers", "initContainers"] {
        for container in spec[kind].as_array_mut().into_iter().flatten() {
            for (name, amount) in [("cpu", "100m"), ("memory", "128Mi")] {
                let resources = &mut container["resources"];
                if resources["limits"][name].is_null() && resources["requests"][name].is_null() {
                    resources["requests"][name] = amount.into();
                }
            }
        }
    }
}

/// Quotas are looked at when a pod is made, not when it is scheduled.
#[test]
fn the_real_api_server_refuses_what_a_quota_refuses_here() {
    let Some((plane, version)) =
        control_plane("the_real_api_server_refuses_what_a_quota_refuses_here")
    else {
        return;
    };
    let release = Release::parse(&version).unwrap();
    let path = "/api/v1/namespaces/other/resourcequotas";
    let mut dice = Dice::new(number("CASEFILE_KUBERNETES_SEED", 1));
    let hard = json!({"requests.cpu": "4", "requests.memory": "8Gi", "requests.nvidia.com/gpu": "2", "pods": "5"});
    let used = json!({"requests.cpu": "1500m", "requests.memory": "1Gi", "requests.nvidia.com/gpu": "1", "pods": "2"});
    plane.must(
        "POST",
        path,
        Some(&json!({"metadata": {"name": "team"}, "spec": {"hard": hard}})),
    );
    let status = json!({"status": {"hard": hard, "used": used}});
    let quotas = vec![plane.must("PATCH", &format!("{path}/team/status"), Some(&status))];
    let quotas: Vec<api::Quota> = read(quotas);
    std::thread::sleep(Duration::from_secs(1));
    let (mut unstated, mut exceeded, mut taken) = (0, 0, 0);
    for number in 0..90 {
        let name = format!("q{number}");
        let mut wants = objects::pending(&name, &[], &mut dice);
        // The API server goes on printing decimal units where they were written.
        let text = wants.to_string().replace("\"6G\"", "\"6Gi\"");
        wants = serde_json::from_str(&text).unwrap();
        wants["spec"]["nodeName"] = "nowhere".into();
        if number % 3 > 0 {
            state_all(&mut wants["spec"]);
        }
        // Nothing is kept, so that what is used stays.
        let answer = plane
            .ask("POST", &format!("{OTHER}?dryRun=All"), Some(&wants))
            .unwrap();
        let mut pod: api::Pod = serde_json::from_value(wants.clone()).unwrap();
        if pod.spec.runtime_class_name == "sandbox" {
            pod.spec.overhead = [("cpu", "500m"), ("memory", "256Mi")].into();
        }
        let ours = quota::refuses(
            &pod.spec,
            "other",
            &quotas.iter().collect::<Vec<_>>(),
            &[],
            release,
        );
        match answer {
            (403, body) => {
                let says = body["message"].as_str().unwrap_or_default().to_owned();
                if says.contains("must specify") {
                    unstated += 1;
                } else {
                    exceeded += 1;
                }
                let ours = ours.map(|one| one.says).unwrap_or_default();
                assert!(
                    !ours.is_empty() && says.contains(&ours),
                    "{says:?}\nours: {ours:?}\n{wants}"
                );
            }
            (200..=299, _) => {
                taken += 1;
                assert_eq!(ours.map(|one| one.says), None, "{wants}");
            }
            other => panic!("{other:?} {wants}"),
        }
    }
    println!(
        "quota: refused with the same words: {unstated} unstated, {exceeded} exceeded; {taken} taken"
    );
    assert!(unstated > 5 && exceeded > 5 && taken > 5);
}
