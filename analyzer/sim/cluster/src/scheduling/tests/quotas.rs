//! What the API server refuses.

use super::super::api::{LimitRange, Quota};
use super::*;

#[test]
fn quotas_and_limits_refuse_in_the_api_servers_words() {
    let quota: Quota = read(
        json!({"metadata": {"name": "gpu", "namespace": "ml"}, "spec": {"hard": {"requests.nvidia.com/gpu": "4"}},
        "status": {"hard": {"requests.nvidia.com/gpu": "4"}, "used": {"requests.nvidia.com/gpu": "3"}}}),
    );
    let spec = pod("p", gpu(2), json!({})).spec;
    let refusal = quota::refuses(&spec, "ml", &[&quota], &[], Release::NEWEST).unwrap();
    assert_eq!(
        refusal.says,
        "exceeded quota: gpu, requested: requests.nvidia.com/gpu=2, used: requests.nvidia.com/gpu=3, limited: requests.nvidia.com/gpu=4"
    );
    assert_eq!(refusal.object, "resourcequota/ml/gpu");
    assert_eq!(
        quota::refuses(&spec, "other", &[&quota], &[], Release::NEWEST),
        None
    );
    let cpu: Quota = read(
        json!({"metadata": {"name": "c", "namespace": "ml"}, "spec": {"hard": {"limits.cpu": "4", "requests.cpu": "4"}}}),
    );
    let unstated = |spec: &api::PodSpec, release| {
        let refusal = quota::refuses(spec, "ml", &[&cpu], &[], release);
        refusal.unwrap().says
    };
    let old = Release::parse("v1.20.2").unwrap();
    assert_eq!(
        unstated(&spec, old),
        "failed quota: c: must specify limits.cpu,requests.cpu"
    );
    let sidecar = json!({"containers": [{"name": "main", "resources": {"limits": {"cpu": "9"}}}, {"name": "side"}],
        "initContainers": [{"name": "init", "resources": {"requests": {"cpu": "1"}}}]});
    assert_eq!(
        unstated(&read(sidecar.clone()), Release::NEWEST),
        "failed quota: c: must specify limits.cpu for: init,side; requests.cpu for: side",
        "one container that states nothing is told before what the others ask for is too much"
    );
    let memory: Quota = read(
        json!({"metadata": {"name": "m", "namespace": "ml"}, "spec": {"hard": {"requests.nvidia.com/gpu": "1", "pods": "9"}}}),
    );
    assert_eq!(
        quota::refuses(
            &read(sidecar.clone()),
            "ml",
            &[&memory],
            &[],
            Release::NEWEST
        ),
        None,
        "only processor time and memory have to be stated"
    );
    let mut whole = sidecar;
    whole["resources"] = json!({"requests": {"cpu": "1"}});
    let whole: api::PodSpec = read(whole);
    assert_ne!(
        quota::refuses(&whole, "ml", &[&cpu], &[], Release::NEWEST)
            .map(|one| one.says[..6].to_owned()),
        Some("failed".into())
    );
    let defaults: LimitRange = read(
        json!({"metadata": {"name": "d", "namespace": "ml"}, "spec": {"limits": [
        {"type": "Container", "default": {"cpu": "1"}, "defaultRequest": {"cpu": "1"}, "max": {"memory": "1Gi"}}]}}),
    );
    assert_eq!(
        quota::refuses(&spec, "ml", &[&cpu], &[&defaults], Release::NEWEST),
        None
    );
    let large =
        read::<api::PodSpec>(json!({"containers": [{"resources": {"limits": {"memory": "2Gi"}}}]}));
    assert_eq!(
        quota::refuses(&large, "ml", &[], &[&defaults], Release::NEWEST)
            .unwrap()
            .says,
        "maximum memory usage per Container is 1Gi, but limit is 2Gi"
    );
}

#[test]
fn a_quota_with_scopes_refuses_the_pods_that_it_counts_and_no_others() {
    let quota = |spec: Value| -> Quota {
        let mut object = json!({"metadata": {"name": "q", "namespace": "ml"}, "spec": {"hard": {"pods": "1"}},
            "status": {"hard": {"pods": "1"}, "used": {"pods": "1"}}});
        merge(&mut object, json!({"spec": spec}));
        read(object)
    };
    let selector = |operator: &str, values: &[&str]| {
        json!({"scopeSelector": {"matchExpressions": [
            {"scopeName": "PriorityClass", "operator": operator, "values": values}]}})
    };
    let best_effort = pod("p", json!({}), json!({}));
    let asks = pod("p", json!({"cpu": "1"}), json!({}));
    let job = pod(
        "p",
        json!({"cpu": "1"}),
        json!({"spec": {"activeDeadlineSeconds": 60}}),
    );
    let high = pod(
        "p",
        json!({"cpu": "1"}),
        json!({"spec": {"priorityClassName": "high"}}),
    );
    for (spec, counted, left_out) in [
        (json!({"scopes": ["BestEffort"]}), &best_effort, &asks),
        (json!({"scopes": ["NotBestEffort"]}), &asks, &best_effort),
        (json!({"scopes": ["Terminating"]}), &job, &asks),
        (
            json!({"scopes": ["NotTerminating", "NotBestEffort"]}),
            &asks,
            &job,
        ),
        (selector("In", &["high"]), &high, &asks),
        (selector("NotIn", &["high"]), &asks, &high),
        (selector("Exists", &[]), &high, &asks),
        (selector("DoesNotExist", &[]), &asks, &high),
    ] {
        let quota = quota(spec.clone());
        let refused = |pod: &Pod| quota::refuses(&pod.spec, "ml", &[&quota], &[], Release::NEWEST);
        let says = refused(counted).map(|refusal| refusal.says);
        assert_eq!(
            says.as_deref(),
            Some("exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"),
            "{spec}"
        );
        assert_eq!(refused(left_out), None, "{spec}");
    }
    let unknown = quota(json!({"scopes": ["SomethingNew"]}));
    assert_eq!(
        quota::refuses(&asks.spec, "ml", &[&unknown], &[], Release::NEWEST),
        None
    );
}
