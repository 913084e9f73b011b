//! What the scheduler's allocator gives: modes, alternatives, constraints, taints, partitions.
//! The cases are those that `structured/internal/allocatortesting` of kubernetes tells apart.

use super::*;
use crate::scheduling::api::{DeviceClaim, DeviceClass, Slice};

/// A node `g1` with what its driver publishes, and the claims of the cluster.
struct Pool {
    slices: Vec<Value>,
    claims: Vec<Value>,
}

fn gpu_device(name: &str, memory: &str, numa: i64) -> Value {
    json!({"name": name, "attributes": {"type": {"string": "gpu"}, "numa": {"int": numa}}, "capacity": {"memory": {"value": memory}}})
}

fn slice(devices: Value, more: Value) -> Value {
    let mut slice = json!({"metadata": {"name": "s"}, "spec": {"driver": "gpu.nvidia.com", "nodeName": "g1",
        "pool": {"name": "g1", "generation": 1, "resourceSliceCount": 1}, "devices": devices}});
    merge(&mut slice, json!({"spec": more}));
    slice
}

/// Two devices of 80Gi on one NUMA node, one of 40Gi on the other.
fn three() -> Value {
    slice(
        json!([
            gpu_device("gpu-0", "80Gi", 0),
            gpu_device("gpu-1", "80Gi", 0),
            gpu_device("gpu-2", "40Gi", 1)
        ]),
        json!({}),
    )
}

fn claim(requests: Value, constraints: Value) -> Value {
    json!({"metadata": {"name": "a", "namespace": "ml"}, "spec": {"devices": {"requests": requests, "constraints": constraints}}})
}

fn exactly(more: Value) -> Value {
    let mut exactly = json!({"deviceClassName": "gpu"});
    merge(&mut exactly, more);
    json!([{"name": "r", "exactly": exactly}])
}

fn larger_than(size: &str) -> Value {
    let expression =
        format!("device.capacity['gpu.nvidia.com'].memory.isGreaterThan(quantity('{size}'))");
    json!([{"cel": {"expression": expression}}])
}

/// A claim of another pod that has devices.
fn other(devices: &[&str], more: &Value) -> Value {
    let results: Vec<Value> = devices
        .iter()
        .map(|device| {
            let mut one = json!({"driver": "gpu.nvidia.com", "pool": "g1", "device": device});
            merge(&mut one, more.clone());
            one
        })
        .collect();
    json!({"metadata": {"name": "other", "namespace": "ml"}, "status": {"allocation": {"devices": {"results": results}}}})
}

impl Pool {
    fn verdict(&self) -> Verdict {
        let class = "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'";
        let classes: Vec<DeviceClass> = vec![
            read(
                json!({"metadata": {"name": "gpu"}, "spec": {"selectors": [{"cel": {"expression": class}}]}}),
            ),
            read(json!({"metadata": {"name": "any"}, "spec": {}})),
        ];
        let claims: Vec<DeviceClaim> = self.claims.iter().cloned().map(read).collect();
        let slices: Vec<Slice> = self.slices.iter().cloned().map(read).collect();
        let nodes = [node("g1", 0, json!({})), node("g2", 0, json!({}))];
        let wants = json!([{"name": "gpus", "resourceClaimName": "a"}]);
        let pod = pod("new", json!({}), json!({"spec": {"resourceClaims": wants}}));
        let cluster = Cluster::new(Inputs {
            nodes: nodes.iter().collect(),
            pods_complete: true,
            nodes_complete: true,
            device_claims: Some(claims.iter().collect()),
            slices: Some(slices.iter().collect()),
            device_classes: Some(classes.iter().collect()),
            version: "v1.34.1".into(),
            ..Inputs::default()
        });
        explain(&pod, &cluster)
    }
}

fn state(slices: Vec<Value>, claims: Vec<Value>) -> State {
    let verdict = Pool { slices, claims }.verdict();
    let silent = matches!(verdict.state, State::Fits | State::Undecided);
    assert_eq!(verdict.sentence.is_empty(), silent, "{verdict:?}");
    verdict.state
}

fn alone(requests: Value, constraints: Value) -> State {
    state(vec![three()], vec![claim(requests, constraints)])
}

#[test]
fn selectors_decide_which_devices_count() {
    assert_eq!(alone(exactly(json!({"count": 3})), json!([])), State::Fits);
    assert_eq!(
        alone(exactly(json!({"count": 4})), json!([])),
        State::Unschedulable
    );
    let large = json!({"count": 2, "selectors": larger_than("50Gi")});
    assert_eq!(alone(exactly(large), json!([])), State::Fits);
    let too_many = json!({"count": 3, "selectors": larger_than("50Gi")});
    assert_eq!(alone(exactly(too_many), json!([])), State::Unschedulable);
}

#[test]
fn the_older_shape_of_slices_is_read_as_well() {
    let basic = json!([{"name": "gpu-0", "basic": {"attributes": {"type": {"string": "gpu"}}, "capacity": {"memory": "80Gi"}}}]);
    let wants = claim(
        json!([{"name": "r", "deviceClassName": "gpu", "selectors": larger_than("50Gi")}]),
        json!([]),
    );
    assert_eq!(
        state(vec![slice(basic, json!({}))], vec![wants]),
        State::Fits
    );
}

#[test]
fn all_devices_are_given_only_if_none_is_taken() {
    let all = claim(exactly(json!({"allocationMode": "All"})), json!([]));
    assert_eq!(state(vec![three()], vec![all.clone()]), State::Fits);
    let taken = other(&["gpu-2"], &json!({}));
    assert_eq!(
        state(vec![three()], vec![all.clone(), taken]),
        State::Unschedulable
    );
    let large = exactly(json!({"allocationMode": "All", "selectors": larger_than("50Gi")}));
    let taken = other(&["gpu-2"], &json!({}));
    assert_eq!(
        state(vec![three()], vec![claim(large, json!([])), taken]),
        State::Fits
    );
    // As long as a driver publishes its pool anew, the scheduler stops with an error.
    let half = slice(
        three()["spec"]["devices"].clone(),
        json!({"pool": {"resourceSliceCount": 2}}),
    );
    assert_eq!(state(vec![half.clone()], vec![all]), State::Undecided);
    let one = claim(exactly(json!({})), json!([]));
    assert_eq!(state(vec![half], vec![one]), State::Unschedulable);
}

#[test]
fn an_older_generation_of_a_pool_does_not_count() {
    let newer = slice(
        json!([gpu_device("gpu-9", "80Gi", 0)]),
        json!({"pool": {"generation": 2}}),
    );
    let two = claim(exactly(json!({"count": 2})), json!([]));
    assert_eq!(state(vec![three(), newer], vec![two]), State::Unschedulable);
}

#[test]
fn one_of_the_alternatives_suffices() {
    let first = |sizes: [&str; 2]| {
        let ways = sizes.map(|size| json!({"name": format!("w{size}"), "deviceClassName": "gpu", "selectors": larger_than(size)}));
        json!([{"name": "r", "firstAvailable": ways}])
    };
    assert_eq!(alone(first(["100Gi", "60Gi"]), json!([])), State::Fits);
    assert_eq!(
        alone(first(["100Gi", "90Gi"]), json!([])),
        State::Unschedulable
    );
    let none = json!([{"name": "r", "firstAvailable": [{"name": "w", "deviceClassName": "gone"}]}]);
    let sentence = Pool {
        slices: vec![three()],
        claims: vec![claim(none, json!([]))],
    }
    .verdict()
    .sentence;
    assert!(
        sentence.contains("request r/w: device class gone does not exist."),
        "{sentence}"
    );
}

#[test]
fn constraints_hold_over_all_devices_of_a_claim() {
    let same = json!([{"matchAttribute": "gpu.nvidia.com/numa"}]);
    assert_eq!(
        alone(exactly(json!({"count": 2})), same.clone()),
        State::Fits
    );
    assert_eq!(
        alone(exactly(json!({"count": 3})), same.clone()),
        State::Unschedulable
    );
    let elsewhere = json!([{"matchAttribute": "gpu.nvidia.com/numa", "requests": ["x"]}]);
    assert_eq!(alone(exactly(json!({"count": 3})), elsewhere), State::Fits);
    let differ = json!([{"distinctAttribute": "gpu.nvidia.com/numa"}]);
    assert_eq!(
        alone(exactly(json!({"count": 2})), differ.clone()),
        State::Fits
    );
    assert_eq!(
        alone(exactly(json!({"count": 3})), differ),
        State::Unschedulable
    );
    let missing = json!([{"matchAttribute": "gpu.nvidia.com/rack"}]);
    assert_eq!(alone(exactly(json!({})), missing), State::Unschedulable);
    assert_eq!(
        alone(exactly(json!({})), json!([{"newKind": "x"}])),
        State::Undecided
    );
    // Another request takes from the same devices.
    let both = json!([{"name": "r", "exactly": {"deviceClassName": "gpu", "count": 2}}, {"name": "x", "exactly": {"deviceClassName": "gpu", "selectors": larger_than("50Gi")}}]);
    assert_eq!(alone(both.clone(), json!([])), State::Fits);
    assert_eq!(
        alone(
            both,
            json!([{"matchAttribute": "gpu.nvidia.com/numa", "requests": ["r"]}])
        ),
        State::Unschedulable
    );
}

#[test]
fn access_of_an_administrator_takes_nothing_from_others() {
    let taken = other(&["gpu-0", "gpu-1", "gpu-2"], &json!({}));
    let admin = claim(
        exactly(json!({"allocationMode": "All", "adminAccess": true})),
        json!([]),
    );
    assert_eq!(
        state(vec![three()], vec![admin, taken.clone()]),
        State::Fits
    );
    let wants = claim(exactly(json!({})), json!([]));
    assert_eq!(
        state(vec![three()], vec![wants.clone(), taken]),
        State::Unschedulable
    );
    let watched = other(&["gpu-0", "gpu-1", "gpu-2"], &json!({"adminAccess": true}));
    assert_eq!(state(vec![three()], vec![wants, watched]), State::Fits);
}

#[test]
fn a_tainted_device_is_given_only_to_who_tolerates_it() {
    let mut broken = gpu_device("gpu-0", "80Gi", 0);
    broken["taints"] = json!([{"key": "xid", "value": "79", "effect": "NoSchedule"}]);
    let slices = || vec![slice(json!([broken]), json!({}))];
    assert_eq!(
        state(slices(), vec![claim(exactly(json!({})), json!([]))]),
        State::Unschedulable
    );
    let tolerates = json!({"tolerations": [{"key": "xid", "operator": "Exists"}]});
    assert_eq!(
        state(slices(), vec![claim(exactly(tolerates), json!([]))]),
        State::Fits
    );
}

#[test]
fn partitions_share_the_counters_of_their_card() {
    let part = |name: &str, memory: &str| {
        let takes = json!([{"counterSet": "card", "counters": {"memory": {"value": memory}}}]);
        json!({"name": name, "attributes": {"type": {"string": "gpu"}}, "consumesCounters": takes})
    };
    let card = json!([{"name": "card", "counters": {"memory": {"value": "80Gi"}}}]);
    let parts = json!([
        part("whole", "80Gi"),
        part("half-0", "40Gi"),
        part("half-1", "40Gi")
    ]);
    let slices = || vec![slice(parts.clone(), json!({"sharedCounters": card}))];
    let wants = |count: i64| claim(exactly(json!({"count": count})), json!([]));
    assert_eq!(state(slices(), vec![wants(2)]), State::Fits);
    assert_eq!(state(slices(), vec![wants(3)]), State::Unschedulable);
    assert_eq!(
        state(slices(), vec![wants(1), other(&["whole"], &json!({}))]),
        State::Unschedulable
    );
    assert_eq!(
        state(slices(), vec![wants(1), other(&["half-0"], &json!({}))]),
        State::Fits
    );
    assert_eq!(
        state(slices(), vec![wants(2), other(&["half-0"], &json!({}))]),
        State::Unschedulable
    );
}

#[test]
fn devices_of_a_network_are_of_the_nodes_that_their_selector_names() {
    let on = |zone: &str| json!({"nodeSelectorTerms": [{"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]}]}]});
    let mut each = gpu_device("gpu-0", "80Gi", 0);
    each["nodeSelector"] = on("b");
    let by_device = slice(
        json!([each]),
        json!({"nodeName": null, "perDeviceNodeSelection": true}),
    );
    let wants = || vec![claim(exactly(json!({})), json!([]))];
    assert_eq!(state(vec![by_device], wants()), State::Unschedulable);
    let near = slice(
        json!([gpu_device("gpu-0", "80Gi", 0)]),
        json!({"nodeName": null, "nodeSelector": on("a")}),
    );
    assert_eq!(state(vec![near], wants()), State::Fits);
}

#[test]
fn a_claim_that_nobody_uses_is_given_up_for_another_node() {
    let mut has = other(&["gpu-0"], &json!({}));
    has["metadata"]["name"] = "a".into();
    has["status"]["allocation"]["nodeSelector"] = json!({"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["g9"]}]}]});
    let says = |claim: Value| {
        Pool {
            slices: vec![three()],
            claims: vec![claim],
        }
        .verdict()
        .sentence
    };
    assert!(
        says(has.clone()).contains(". deallocation of ResourceClaim completed, preemption: "),
        "{}",
        says(has)
    );
    has["status"]["reservedFor"] = json!([{"resource": "pods", "name": "someone"}]);
    assert!(
        says(has.clone()).contains(". still not schedulable, preemption: "),
        "{}",
        says(has)
    );
    let crowd: Vec<Value> = (0..256)
        .map(|number| json!({"name": format!("p{number}")}))
        .collect();
    has["status"]["reservedFor"] = json!(crowd);
    assert!(
        says(has.clone()).starts_with("0/2 nodes are available: resourceclaim in use. "),
        "{}",
        says(has)
    );
}

#[test]
fn a_search_that_is_too_long_is_left_open() {
    let devices: Vec<Value> = (0..40)
        .map(|number| gpu_device(&format!("gpu-{number}"), "80Gi", number))
        .collect();
    let wants = exactly(json!({"count": 20}));
    let same = json!([{"matchAttribute": "gpu.nvidia.com/type"}, {"distinctAttribute": "gpu.nvidia.com/numa"}, {"matchAttribute": "gpu.nvidia.com/type"}]);
    let fits = state(
        vec![slice(json!(devices), json!({}))],
        vec![claim(wants, same)],
    );
    assert_eq!(fits, State::Fits);
    // Each pair of requests excludes the other: nothing but trying all finds that out.
    let requests: Vec<Value> = (0..16)
        .map(|number| json!({"name": format!("r{number}"), "exactly": {"deviceClassName": "gpu"}}))
        .collect();
    let mut devices: Vec<Value> = (0..15)
        .map(|number| gpu_device(&format!("gpu-{number}"), "80Gi", number))
        .collect();
    devices.push(gpu_device("gpu-x", "80Gi", 3));
    let differ = json!([{"distinctAttribute": "gpu.nvidia.com/numa"}]);
    let long = state(
        vec![slice(json!(devices), json!({}))],
        vec![claim(json!(requests), differ)],
    );
    assert_eq!(long, State::Undecided);
}
