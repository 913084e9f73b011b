//! Pods that ask for devices through claims.

use super::*;
use crate::scheduling::api::{DeviceClaim, DeviceClass, Slice};

struct Devices {
    claims: Vec<DeviceClaim>,
    slices: Vec<Slice>,
    classes: Vec<DeviceClass>,
}

/// A claim for some devices of the class `gpu`; those that it has, if any.
fn claim(name: &str, count: i64, has: &[&str]) -> DeviceClaim {
    let exactly = json!({"deviceClassName": "gpu", "count": count});
    let results: Vec<Value> = has
        .iter()
        .map(|device| json!({"driver": "gpu.nvidia.com", "pool": "g1", "device": device}))
        .collect();
    let selector = json!({"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["g1"]}]}]});
    let status = if has.is_empty() {
        json!({})
    } else {
        json!({"allocation": {"devices": {"results": results}, "nodeSelector": selector}, "reservedFor": [{"name": "someone"}]})
    };
    read(json!({
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {"devices": {"requests": [{"name": "gpus", "exactly": exactly}]}}, "status": status,
    }))
}

/// Node g1 publishes two devices of NVIDIA's driver and one of another, g2 none.
fn devices(claims: Vec<DeviceClaim>) -> Devices {
    let slice = |driver: &str, names: &[&str]| {
        let devices: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
        read(
            json!({"metadata": {"name": driver}, "spec": {"driver": driver, "pool": {"name": "g1"}, "nodeName": "g1", "devices": devices}}),
        )
    };
    let expression = "device.driver == 'gpu.nvidia.com'";
    Devices {
        claims,
        slices: vec![
            slice("gpu.nvidia.com", &["gpu-0", "gpu-1"]),
            slice("nic.example.com", &["nic-0"]),
        ],
        classes: vec![read(
            json!({"metadata": {"name": "gpu"}, "spec": {"selectors": [{"cel": {"expression": expression}}]}}),
        )],
    }
}

fn wants(claim: &str) -> Pod {
    let named = json!([{"name": "gpus", "resourceClaimName": claim}]);
    pod("new", json!({}), json!({"spec": {"resourceClaims": named}}))
}

fn verdict(devices: Option<&Devices>, pod: &Pod) -> Verdict {
    let nodes = [node("g1", 0, json!({})), node("g2", 0, json!({}))];
    let cluster = Cluster::new(Inputs {
        nodes: nodes.iter().collect(),
        pods_complete: true,
        nodes_complete: true,
        device_claims: devices.map(|one| one.claims.iter().collect()),
        slices: devices.map(|one| one.slices.iter().collect()),
        device_classes: devices.map(|one| one.classes.iter().collect()),
        version: "v1.34.1".into(),
        ..Inputs::default()
    });
    explain(pod, &cluster)
}

#[test]
fn a_claim_that_no_node_has_devices_for_leaves_its_pod_pending() {
    let enough = verdict(Some(&devices(vec![claim("a", 2, &[])])), &wants("a"));
    assert_eq!(enough.state, State::Fits, "{enough:?}");
    let other = claim("other", 1, &["gpu-1"]);
    let short = verdict(Some(&devices(vec![claim("a", 2, &[]), other])), &wants("a"));
    assert_eq!(
        short.sentence,
        "0/2 nodes are available: 2 cannot allocate all claims. still not schedulable, preemption: 0/2 nodes are \
         available: 2 Preemption is not helpful for scheduling."
    );
    assert_eq!(
        short.nodes[0].reasons[0].detail,
        "it asks for 2 devices of class gpu; of 3 devices that the node could use, 2 match and 1 of these are free"
    );
}

#[test]
fn a_claim_with_devices_keeps_its_pod_where_they_are() {
    let given = devices(vec![claim("a", 1, &["gpu-0"])]);
    let mut pod = wants("a");
    assert_eq!(verdict(Some(&given), &pod).state, State::Fits);
    pod.spec.node_selector = [("kubernetes.io/hostname".to_owned(), "g2".to_owned())].into();
    assert!(
        verdict(Some(&given), &pod).sentence.starts_with(
            "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 resourceclaim not \
             available on the node. still not schedulable, preemption: "
        ),
        "{}",
        verdict(Some(&given), &pod).sentence
    );
}

#[test]
fn a_class_that_does_not_exist_rejects_the_pod() {
    let mut none = devices(vec![claim("a", 1, &[])]);
    none.classes.clear();
    assert_eq!(
        verdict(Some(&none), &wants("a")).sentence,
        "0/2 nodes are available: request gpus: device class gpu does not exist. no new claims to deallocate, \
         preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
    );
}

#[test]
fn what_was_not_collected_or_cannot_be_read_is_left_open() {
    let unseen = verdict(None, &wants("a"));
    assert_eq!(unseen.state, State::Undecided);
    assert!(
        unseen.open[0].contains("were not collected"),
        "{:?}",
        unseen.open
    );
    let missing = verdict(Some(&devices(vec![])), &wants("a"));
    assert_eq!(missing.open, ["the ResourceClaim ml/a does not exist"]);
    let mut picky = claim("a", 1, &[]);
    let selector = json!({"cel": {"expression": "device.attributes['x'].y > 3"}});
    let exactly = picky.spec.devices.requests[0].exactly.as_mut().unwrap();
    exactly.selectors = vec![read(selector)];
    let open = verdict(Some(&devices(vec![picky])), &wants("a"));
    assert_eq!(open.state, State::Undecided);
    // A template's claim that its controller has not made yet.
    let mut pod = wants("");
    pod.spec.resource_claims[0].resource_claim_template_name = "t".into();
    let waiting = verdict(Some(&devices(vec![])), &pod);
    assert_eq!(
        waiting.open,
        ["no ResourceClaim has been made for gpus from the template t"]
    );
}

proptest::proptest! {
    /// Two devices, some of them given away: a pod fits exactly where enough are left.
    #[test]
    fn a_claim_fits_where_enough_devices_are_free(count in 1..6_i64, taken in 0..3_usize) {
        let has: Vec<&str> = ["gpu-0", "gpu-1"].into_iter().take(taken).collect();
        let mut claims = vec![claim("a", count, &[])];
        if taken > 0 {
            claims.push(claim("other", i64::try_from(taken).unwrap_or(0), &has));
        }
        let found = verdict(Some(&devices(claims)), &wants("a"));
        let fits = usize::try_from(count).unwrap_or(usize::MAX) <= 2 - taken;
        proptest::prop_assert_eq!(found.state == State::Fits, fits, "{:?}", found);
        proptest::prop_assert_eq!(found.sentence.is_empty(), fits);
    }

    /// Whatever an API server gives for a claim, the answer says fit, a sentence, or that it is open.
    #[test]
    fn no_claim_makes_the_arithmetic_panic(
        mode in "(ExactCount|All|\\PC{0,4})", count in proptest::num::i64::ANY,
        expression in "(device.driver == 'gpu.nvidia.com'|device\\.[a-z]{0,6}.{0,12}|\\PC{0,20})", class in "(gpu|\\PC{0,6})",
    ) {
        let request = json!({"deviceClassName": class, "allocationMode": mode, "count": count,
            "selectors": [{"cel": {"expression": expression}}]});
        let first = json!([{"name": "a", "exactly": request.clone()}, {"name": "b", "firstAvailable": [request]}]);
        let odd: DeviceClaim = read(json!({
            "metadata": {"name": "a", "namespace": "ml"}, "spec": {"devices": {"requests": first}}, "status": {},
        }));
        let found = verdict(Some(&devices(vec![odd])), &wants("a"));
        let silent = matches!(found.state, State::Fits | State::Undecided);
        proptest::prop_assert_eq!(found.sentence.is_empty(), silent);
    }
}

/// What a real scheduler said of a node without a device that the claim's selector takes.
#[test]
fn a_selector_that_no_device_meets_is_said_as_a_lack_of_devices() {
    let mut wants_more = claim("a", 1, &[]);
    let expression = "'memory' in device.capacity['gpu.nvidia.com'] && device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('24Gi')) >= 0";
    let exactly = wants_more.spec.devices.requests[0]
        .exactly
        .as_mut()
        .unwrap();
    exactly.selectors = vec![read(json!({"cel": {"expression": expression}}))];
    let mut pod = wants("a");
    pod.spec.node_selector = [("kubernetes.io/hostname".to_owned(), "g1".to_owned())].into();
    assert_eq!(
        verdict(Some(&devices(vec![wants_more])), &pod).sentence,
        "0/2 nodes are available: 1 cannot allocate all claims, 1 node(s) didn't match Pod's node affinity/selector. still \
         not schedulable, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
    );
}
