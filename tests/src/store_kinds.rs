//! What the small API says of itself before kubectl asks for an object.

use serde_json::{Value, json};

/// Kinds that are served: plural, kind, version, namespaced.
pub(crate) const KINDS: [(&str, &str, &str, bool); 22] = [
    ("nodes", "Node", "v1", false),
    ("namespaces", "Namespace", "v1", false),
    ("pods", "Pod", "v1", true),
    ("configmaps", "ConfigMap", "v1", true),
    ("secrets", "Secret", "v1", true),
    (
        "persistentvolumeclaims",
        "PersistentVolumeClaim",
        "v1",
        true,
    ),
    ("resourcequotas", "ResourceQuota", "v1", true),
    ("limitranges", "LimitRange", "v1", true),
    ("deployments", "Deployment", "apps/v1", true),
    ("statefulsets", "StatefulSet", "apps/v1", true),
    ("daemonsets", "DaemonSet", "apps/v1", true),
    ("controllerrevisions", "ControllerRevision", "apps/v1", true),
    ("jobs", "Job", "batch/v1", true),
    ("runtimeclasses", "RuntimeClass", "node.k8s.io/v1", false),
    (
        "volumeattachments",
        "VolumeAttachment",
        "storage.k8s.io/v1",
        false,
    ),
    ("storageclasses", "StorageClass", "storage.k8s.io/v1", false),
    ("roles", "Role", RBAC, true),
    ("rolebindings", "RoleBinding", RBAC, true),
    ("clusterroles", "ClusterRole", RBAC, false),
    ("clusterrolebindings", "ClusterRoleBinding", RBAC, false),
    (
        "validatingwebhookconfigurations",
        "ValidatingWebhookConfiguration",
        ADMISSION,
        false,
    ),
    (
        "mutatingwebhookconfigurations",
        "MutatingWebhookConfiguration",
        ADMISSION,
        false,
    ),
];

const RBAC: &str = "rbac.authorization.k8s.io/v1";
const ADMISSION: &str = "admissionregistration.k8s.io/v1";

const GROUPS: [&str; 6] = [
    "apps",
    "batch",
    "node.k8s.io",
    "storage.k8s.io",
    "rbac.authorization.k8s.io",
    "admissionregistration.k8s.io",
];

/// The answer to a question about the API itself.
pub(crate) fn discovery(path: &str) -> Option<Value> {
    match path {
        "/version" => Some(json!({"major": "1", "minor": "33", "gitVersion": "v1.33.5"})),
        "/api" => Some(json!({"kind": "APIVersions", "versions": ["v1"]})),
        "/apis" => {
            let group = |name: &&str| {
                let version = json!({"groupVersion": format!("{name}/v1"), "version": "v1"});
                json!({"name": name, "versions": [version], "preferredVersion": version})
            };
            let groups: Vec<Value> = GROUPS.iter().map(group).collect();
            Some(json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}))
        }
        "/openapi/v3" => {
            let url = |one: &String| {
                (
                    one.clone(),
                    json!({"serverRelativeURL": format!("/openapi/v3/{one}")}),
                )
            };
            let paths: serde_json::Map<String, Value> = versions().iter().map(url).collect();
            Some(json!({ "paths": paths }))
        }
        _ => match path.strip_prefix("/openapi/v3/") {
            Some(version) => Some(schema(version)),
            None => resources(path.trim_start_matches('/')),
        },
    }
}

fn versions() -> Vec<String> {
    let groups = GROUPS.iter().map(|group| format!("apis/{group}/v1"));
    std::iter::once("api/v1".to_owned()).chain(groups).collect()
}

fn of(
    version: &str,
) -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str, bool)> {
    let own = version
        .split_once('/')
        .map_or("", |(_, rest)| rest)
        .to_owned();
    KINDS
        .iter()
        .filter(move |(_, _, version, _)| *version == own)
}

fn resources(version: &str) -> Option<Value> {
    if !versions().iter().any(|known| known == version) {
        return None;
    }
    let all: Vec<Value> = of(version).map(|(plural, kind, _, namespaced)| json!({
        "name": plural, "singularName": kind.to_lowercase(), "kind": kind, "namespaced": namespaced,
        "verbs": ["get", "list", "patch", "delete", "create", "update"],
    })).collect();
    let own = version.split_once('/').map_or(version, |(_, rest)| rest);
    Some(
        json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": own, "resources": all}),
    )
}

/// That the server checks fields itself, which is all that kubectl asks of it.
fn schema(version: &str) -> Value {
    let paths: serde_json::Map<String, Value> = of(version).map(|(plural, kind, own, _)| {
        let (group, number) = own.rsplit_once('/').unwrap_or(("", own));
        let parameter = |name: &str| json!({"name": name, "in": "query", "schema": {"type": "string"}});
        let patch = json!({
            "parameters": [parameter("dryRun"), parameter("fieldValidation")],
            "x-kubernetes-group-version-kind": {"group": group, "version": number, "kind": kind},
        });
        (format!("/{version}/{plural}/{{name}}"), json!({ "patch": patch }))
    }).collect();
    json!({"openapi": "3.0.0", "info": {"title": "Kubernetes", "version": "v1.33.5"}, "paths": paths})
}
