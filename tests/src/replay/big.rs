//! A large made-up cluster, for measuring: objects of the size that real ones have, rendered once, served in pages.

use serde_json::{Value, json};

use super::{Cluster, objects};
use crate::recording::{Answer, Form, Target, User};

/// How many of each.
#[derive(Debug, Clone, Copy)]
pub struct Counts {
    /// Pods, one container each.
    pub pods: usize,
    /// Events.
    pub events: usize,
    /// Nodes.
    pub nodes: usize,
    /// Pods in trouble, whose logs are of interest.
    pub troubled: usize,
}

/// The cluster.
pub struct Big {
    pods: Vec<String>,
    events: Vec<String>,
    nodes: Vec<String>,
    log: String,
}

/// Lines of each log.
const LOG_LINES: usize = 300;

impl Big {
    /// Renders all objects.
    pub fn new(counts: Counts) -> Self {
        let every = counts.pods / counts.troubled.max(1);
        let line = |at: usize| {
            format!(
                "2026-01-01T00:{:02}:{:02}.{at:09}Z E0101 reconciler.go:{at} failed to sync pod default/x: rpc error: code = Unknown desc = attempt {at}\n",
                at / 60 % 60,
                at % 60
            )
        };
        let mut pods: Vec<Value> = (0..counts.pods)
            .map(|at| pod(at, counts.nodes, at % every.max(1) == 0))
            .collect();
        // A server sends its lists sorted by namespace and name.
        pods.sort_by_key(key);
        let mut events: Vec<Value> = (0..counts.events).map(event).collect();
        events.sort_by_key(key);
        Self {
            pods: texts(&pods),
            events: texts(&events),
            nodes: (0..counts.nodes).map(|at| node(at).to_string()).collect(),
            log: (0..LOG_LINES).map(line).collect(),
        }
    }

    /// Bytes of all objects as they go over the wire.
    pub fn bytes(&self) -> usize {
        let lists = [&self.pods, &self.events, &self.nodes];
        lists.into_iter().flatten().map(String::len).sum()
    }
}

impl Cluster for Big {
    fn answer(&self, _user: User, target: &Target, _form: Form) -> Answer {
        let kinds = || {
            let kind = |name, kind, namespaced| json!({"name": name, "singularName": "", "kind": kind, "namespaced": namespaced, "verbs": ["get", "list"]});
            json!({"kind": "APIResourceList", "groupVersion": "v1", "resources": [
                kind("nodes", "Node", false), kind("pods", "Pod", true), kind("events", "Event", true),
            ]})
        };
        match target.path.as_str() {
            "/api" => Answer::json(200, &json!({"kind": "APIVersions", "versions": ["v1"]})),
            "/apis" => Answer::json(
                200,
                &json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": []}),
            ),
            "/api/v1" => Answer::json(200, &kinds()),
            "/version" => Answer::json(
                200,
                &json!({"major": "1", "minor": "36", "gitVersion": "v1.36.0"}),
            ),
            "/readyz" | "/livez" => {
                Answer::json(200, &json!({})).with_body("check passed\n".to_owned())
            }
            "/api/v1/pods" => page(target, "Pod", &self.pods),
            "/api/v1/events" => page(target, "Event", &self.events),
            "/api/v1/nodes" => page(target, "Node", &self.nodes),
            path if path.ends_with("/log") => {
                Answer::json(200, &json!({})).with_body(self.log.clone())
            }
            path => Answer::json(404, &objects::not_found(path)),
        }
    }
}

fn key(object: &Value) -> (String, String) {
    let text = |field: &str| {
        object["metadata"][field]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    (text("namespace"), text("name"))
}

fn texts(objects: &[Value]) -> Vec<String> {
    objects.iter().map(Value::to_string).collect()
}

fn page(target: &Target, kind: &str, items: &[String]) -> Answer {
    let number = |name: &str| {
        target
            .get(name)
            .and_then(|value| value.parse::<usize>().ok())
    };
    let from = number("continue").unwrap_or(0).min(items.len());
    let to = number("limit").map_or(items.len(), |limit| (from + limit).min(items.len()));
    let next = if to < items.len() {
        to.to_string()
    } else {
        String::new()
    };
    let body = format!(
        r#"{{"kind":"{kind}List","apiVersion":"v1","metadata":{{"resourceVersion":"1","continue":"{next}"}},"items":[{}]}}"#,
        items[from..to].join(",")
    );
    Answer::json(200, &Value::Null).with_body(body)
}

/// What servers keep of who set which field: a third of a real object.
fn managed(manager: &str) -> Value {
    let field = json!({".": {}, "f:image": {}, "f:imagePullPolicy": {}, "f:name": {}, "f:resources": {".": {}, "f:limits": {".": {}, "f:nvidia.com/gpu": {}}},
        "f:terminationMessagePath": {}, "f:terminationMessagePolicy": {}, "f:volumeMounts": {".": {}, "k:{\"mountPath\":\"/data\"}": {".": {}, "f:mountPath": {}, "f:name": {}}}});
    json!([{"manager": manager, "operation": "Update", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1",
        "fieldsV1": {"f:metadata": {"f:labels": {".": {}, "f:app": {}, "f:pod-template-hash": {}}, "f:ownerReferences": {".": {}}},
            "f:spec": {"f:containers": {"k:{\"name\":\"main\"}": field}, "f:dnsPolicy": {}, "f:enableServiceLinks": {}, "f:restartPolicy": {}, "f:schedulerName": {}, "f:securityContext": {}}}},
        {"manager": "kubelet", "operation": "Update", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1", "subresource": "status",
        "fieldsV1": {"f:status": {"f:conditions": {"k:{\"type\":\"Ready\"}": {".": {}, "f:lastTransitionTime": {}, "f:status": {}, "f:type": {}}}, "f:containerStatuses": {}, "f:hostIP": {}, "f:phase": {}, "f:podIP": {}, "f:startTime": {}}}}])
}

fn pod(at: usize, nodes: usize, troubled: bool) -> Value {
    let env: Vec<Value> = (0..12)
        .map(|one| json!({"name": format!("SETTING_{one}"), "value": format!("value-{one}-of-pod-{at}")}))
        .collect();
    let condition = |kind: &str, status: &str| json!({"type": kind, "status": status, "lastProbeTime": null, "lastTransitionTime": "2026-01-01T00:00:00Z"});
    let ready = if troubled { "False" } else { "True" };
    let state = if troubled {
        json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container=main"}})
    } else {
        json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}})
    };
    json!({
        "metadata": {
            "name": format!("work-{:05}-{:05x}", at, at.wrapping_mul(2_654_435_761) % 0xfffff), "namespace": format!("team-{:02}", at % 40),
            "uid": format!("00000000-0000-4000-8000-{at:012}"), "resourceVersion": at.to_string(), "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"app": format!("work-{}", at % 300), "pod-template-hash": "7b9f6c5d4"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": format!("work-{at}"), "uid": format!("10000000-0000-4000-8000-{at:012}"), "controller": true}],
            "managedFields": managed("kube-controller-manager"),
        },
        "spec": {
            "nodeName": format!("node-{:03}", at % nodes.max(1)), "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler", "serviceAccountName": "default",
            "containers": [{"name": "main", "image": format!("registry.example/team/work:{}", at % 50), "env": env,
                "resources": {"limits": {"cpu": "2", "memory": "4Gi"}, "requests": {"cpu": "1", "memory": "2Gi"}},
                "volumeMounts": [{"name": "data", "mountPath": "/data"}, {"name": "token", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": true}]}],
            "volumes": [{"name": "data", "emptyDir": {}}, {"name": "token", "projected": {"defaultMode": 420, "sources": [{"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}, {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}}]}}],
            "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}, {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}],
        },
        "status": {
            "phase": "Running", "hostIP": "10.0.0.1", "podIP": "10.1.0.1", "startTime": "2026-01-01T00:00:00Z", "qosClass": "Burstable",
            "conditions": [condition("Initialized", "True"), condition("Ready", ready), condition("ContainersReady", ready), condition("PodScheduled", "True")],
            "containerStatuses": [{"name": "main", "ready": !troubled, "restartCount": 0, "image": "registry.example/team/work:1", "containerID": format!("containerd://{at:064x}"), "imageID": format!("registry.example/team/work@sha256:{at:064x}"), "state": state}],
        },
    })
}

fn event(at: usize) -> Value {
    json!({
        "metadata": {"name": format!("work-{:05}.{:016x}", at % 5000, at.wrapping_mul(2_654_435_761)), "namespace": format!("team-{:02}", at % 40), "uid": format!("20000000-0000-4000-8000-{at:012}"),
            "creationTimestamp": "2026-01-01T00:00:00Z", "managedFields": [{"manager": "kubelet", "operation": "Update", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1",
                "fieldsV1": {"f:count": {}, "f:firstTimestamp": {}, "f:involvedObject": {}, "f:lastTimestamp": {}, "f:message": {}, "f:reason": {}, "f:source": {"f:component": {}, "f:host": {}}, "f:type": {}}}]},
        "involvedObject": {"kind": "Pod", "namespace": format!("team-{:02}", at % 40), "name": format!("work-{:05}", at % 5000), "uid": format!("00000000-0000-4000-8000-{:012}", at % 5000), "apiVersion": "v1", "fieldPath": "spec.containers{main}"},
        "reason": "BackOff", "message": format!("Back-off restarting failed container main in pod work-{:05}", at % 5000), "type": "Warning", "count": at % 90,
        "source": {"component": "kubelet", "host": format!("node-{:03}", at % 200)}, "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T01:00:00Z", "reportingComponent": "kubelet", "reportingInstance": "node",
    })
}

fn node(at: usize) -> Value {
    let images: Vec<Value> = (0..50)
        .map(|one| json!({"names": [format!("registry.example/team/work@sha256:{one:064x}"), format!("registry.example/team/work:{one}")], "sizeBytes": 123_456_789 + one}))
        .collect();
    json!({
        "metadata": {"name": format!("node-{at:03}"), "uid": format!("30000000-0000-4000-8000-{at:012}"), "labels": {"kubernetes.io/hostname": format!("node-{at:03}"), "nvidia.com/gpu.count": "8"}, "managedFields": managed("kubelet")},
        "spec": {"podCIDR": format!("10.{}.{}.0/24", at / 256, at % 256)},
        "status": {"capacity": {"cpu": "128", "memory": "1056Gi", "nvidia.com/gpu": "8", "pods": "110"}, "allocatable": {"cpu": "127", "memory": "1050Gi", "nvidia.com/gpu": "8", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-01-01T00:00:00Z", "lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "KubeletReady", "message": "kubelet is posting ready status"}], "images": images},
    })
}
