//! A small made-up cluster, for faults: two nodes, a few pods in two namespaces, their events and logs. Its objects
//! have the form of a real server's and no more than a test looks at.

use serde_json::{Value, json};

use super::{Cluster, answer, objects};
use crate::recording::{Answer, Form, Recording, Target, User};

/// Content type of a table, which is asked for by this name.
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
const LOG: &str =
    "/api/v1/namespaces/kube-system/pods/coredns-0/log?container=main&timestamps=true";

/// The cluster.
pub struct Small {
    recording: Recording,
    answers: Vec<(&'static str, &'static str, String)>,
    /// What its administrator may do; everything where not set.
    rules: Option<Value>,
    /// The node whose credentials the administrator has instead of his own.
    node: Option<String>,
    /// The namespace beyond which nothing may be listed.
    only: Option<String>,
}

impl Small {
    /// The cluster, with an administrator who may do everything.
    ///
    /// # Panics
    /// Never: what it reads is its own.
    pub fn new() -> Self {
        Self {
            recording: record(answers()),
            answers: answers(),
            rules: None,
            node: None,
            only: None,
        }
    }

    /// The same, with this answer to one request.
    ///
    /// # Panics
    /// When the answer cannot be read back, which would be a bug here.
    #[must_use]
    pub fn with_answer(mut self, path: &'static str, kind: &'static str, body: &str) -> Self {
        let mut all = self.answers;
        all.push((path, kind, body.to_owned()));
        self.recording = record(all.clone());
        self.answers = all;
        self
    }

    /// The same, with lists of these objects of the core group (or in the place of those that are there).
    ///
    /// # Panics
    /// When an answer cannot be read back, which would be a bug here.
    #[must_use]
    pub fn with_lists(self, lists: &[(&'static str, &'static str, Vec<Value>)]) -> Self {
        let mut all = self.answers;
        for (resource, kind, items) in lists {
            let body = json!({"kind": format!("{kind}List"), "apiVersion": "v1", "metadata": {}, "items": items});
            all.retain(|(path, ..)| path.rsplit('/').next() != Some(resource));
            let path: &'static str = Box::leak(format!("/api/v1/{resource}").into_boxed_str());
            all.push((path, "application/json", body.to_string()));
            let kinds = all.iter_mut().find(|(path, ..)| *path == "/api/v1");
            if let Some((_, _, body)) = kinds
                && !body.contains(&format!("\"{resource}\""))
            {
                let entry = json!({"name": resource, "kind": kind, "namespaced": true, "verbs": ["get", "list"]});
                *body = body.replace("\"resources\":[", &format!("\"resources\":[{entry},"));
            }
        }
        Self {
            recording: record(all.clone()),
            answers: all,
            rules: self.rules,
            node: self.node,
            only: self.only,
        }
    }

    /// The same, with these objects of a custom resource, and the columns in which the server prints them: each a
    /// title and the pointer to its value.
    #[must_use]
    pub fn with_custom(
        self,
        (group, plural, kind): (&str, &str, &str),
        items: &[Value],
        columns: &[(&str, &str)],
    ) -> Self {
        const JSON: &str = "application/json";
        let version = json!({"groupVersion": format!("{group}/v1"), "version": "v1"});
        let listed = self
            .answers
            .iter()
            .rev()
            .find(|(path, ..)| *path == "/apis");
        let mut groups: Value = listed
            .and_then(|(_, _, body)| serde_json::from_str(body).ok())
            .unwrap_or_default();
        if let Some(all) = groups["groups"].as_array_mut() {
            all.push(json!({"name": group, "versions": [version], "preferredVersion": version}));
        }
        let namespaced = items
            .iter()
            .any(|item| item["metadata"]["namespace"].is_string());
        let kinds = json!({"kind": "APIResourceList", "groupVersion": format!("{group}/v1"),
            "resources": [{"name": plural, "kind": kind, "namespaced": namespaced, "verbs": ["get", "list"]}]});
        let all = json!({"kind": format!("{kind}List"), "apiVersion": format!("{group}/v1"), "metadata": {}, "items": items});
        let rows: Vec<Value> = items
            .iter()
            .map(|item| {
                let cell = |(_, pointer): &(&str, &str)| item.pointer(pointer).cloned();
                json!({"cells": columns.iter().map(cell).collect::<Vec<_>>(), "object": {"metadata": item["metadata"]}})
            })
            .collect();
        let titles: Vec<Value> = columns
            .iter()
            .map(|(title, _)| json!({"name": title, "type": "string"}))
            .collect();
        // A server begins with the kind.
        let (titles, rows) = (json!(titles), json!(rows));
        let table = format!(
            "{{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{{}},\"columnDefinitions\":{titles},\"rows\":{rows}}}"
        );
        let root = format!("/apis/{group}/v1");
        let list = format!("{root}/{plural}");
        self.with_answer("/apis", JSON, &groups.to_string())
            .with_answer(root.leak(), JSON, &kinds.to_string())
            .with_answer(format!("{list}?limit=500").leak(), TABLE, &table)
            .with_answer(list.leak(), JSON, &all.to_string())
    }

    /// The same, and who asks has the credentials of this node: the node authorizer lets it see what belongs to it.
    #[must_use]
    pub fn as_node(mut self, node: &str) -> Self {
        self.node = Some(node.to_owned());
        self
    }

    /// The same, and who asks may see this namespace only.
    #[must_use]
    pub fn only_in(mut self, namespace: &str) -> Self {
        self.only = Some(namespace.to_owned());
        self
    }

    /// The same, and the administrator may list only these resources of the core group.
    #[must_use]
    pub fn allowing(mut self, resources: &[&str]) -> Self {
        self.rules =
            Some(json!([{"verbs": ["list", "get"], "apiGroups": [""], "resources": resources}]));
        self
    }
}

impl Default for Small {
    fn default() -> Self {
        Self::new()
    }
}

impl Cluster for Small {
    fn answer(&self, user: User, target: &Target, form: Form) -> Answer {
        if let (Some(node), Some(place)) = (&self.node, objects::Place::of(&target.path)) {
            let selector = target.query.get("fieldSelector").map(String::as_str);
            let own = match place.resource.as_str() {
                "pods" => {
                    selector == Some(&format!("spec.nodeName={node}")) || place.name.is_some()
                }
                "nodes" => selector == Some(&format!("metadata.name={node}")),
                "resourceslices" => selector == Some(&format!("spec.nodeName={node}")),
                "configmaps" | "leases" | "csinodes" => place.name.is_some(),
                "services" => true,
                _ => false,
            };
            if !own && target.path != "/api/v1" {
                return Answer::json(
                    403,
                    &objects::forbidden(&place, &format!("system:node:{node}")),
                );
            }
        }
        if let (Some(only), Some(place)) = (&self.only, objects::Place::of(&target.path))
            && place.namespace.as_ref() != Some(only)
            && target.path != "/api/v1"
        {
            return Answer::json(403, &objects::forbidden(&place, user.name()));
        }
        if let (Some(rules), Some(place)) = (&self.rules, objects::Place::of(&target.path)) {
            let named = place.resource.as_str();
            let known = rules[0]["resources"].as_array();
            let allowed = known.is_some_and(|all| all.iter().any(|one| one == named));
            let discovery = target.path == "/api/v1";
            if !allowed && !discovery && !target.path.contains("/log") {
                return Answer::json(403, &objects::forbidden(&place, user.name()));
            }
        }
        answer::find(&self.recording, user, target, form)
    }

    fn rules(&self, _user: User) -> Option<Value> {
        if self.node.is_some() || self.only.is_some() {
            // Some authorizers cannot list their rules, the node's among them.
            return None;
        }
        let all = || json!([{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]);
        Some(self.rules.clone().unwrap_or_else(all))
    }
}

fn record(answers: Vec<(&'static str, &'static str, String)>) -> Recording {
    let lines: String = answers
        .into_iter()
        .map(|(path, kind, body)| {
            let accept = if kind == TABLE { TABLE } else { "*/*" };
            let line = json!({"as": "admin", "path": path, "accept": accept, "status": 200, "content_type": kind, "body": body});
            format!("{line}\n")
        })
        .collect();
    Recording::read(lines.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

fn answers() -> Vec<(&'static str, &'static str, String)> {
    const JSON: &str = "application/json";
    let verbs = json!(["get", "list"]);
    let kinds = json!({"kind": "APIResourceList", "resources": [
        {"name": "nodes", "kind": "Node", "namespaced": false, "verbs": verbs},
        {"name": "pods", "kind": "Pod", "namespaced": true, "verbs": verbs},
        {"name": "configmaps", "kind": "ConfigMap", "namespaced": true, "verbs": verbs},
        {"name": "services", "kind": "Service", "namespaced": true, "verbs": verbs},
        {"name": "events", "kind": "Event", "namespaced": true, "verbs": verbs},
    ]});
    let mut all = vec![
        (
            "/api",
            JSON,
            json!({"kind": "APIVersions", "versions": ["v1"]}).to_string(),
        ),
        (
            "/apis",
            JSON,
            json!({"kind": "APIGroupList", "groups": []}).to_string(),
        ),
        ("/api/v1", JSON, kinds.to_string()),
        (
            "/version",
            JSON,
            json!({"gitVersion": "v1.36.0"}).to_string(),
        ),
        (
            "/readyz?verbose",
            "text/plain",
            "[+]ping ok\n[+]etcd ok\nreadyz check passed\n".to_owned(),
        ),
        (
            "/livez?verbose",
            "text/plain",
            "[+]ping ok\nlivez check passed\n".to_owned(),
        ),
        (
            LOG,
            "text/plain",
            "2026-01-01T00:00:00Z .:53\n2026-01-01T00:00:01Z ready\n".to_owned(),
        ),
    ];
    for (path, kind, names) in [
        ("/api/v1/nodes", "Node", &["/gpu-1", "/gpu-2"][..]),
        (
            "/api/v1/pods",
            "Pod",
            &["default/web-0", "kube-system/coredns-0"],
        ),
        ("/api/v1/configmaps", "ConfigMap", &["default/settings"]),
        ("/api/v1/services", "Service", &["default/kubernetes"]),
        ("/api/v1/events", "Event", &["default/web-0.1"]),
    ] {
        all.push((path, JSON, list(kind, names)));
    }
    all
}

fn list(kind: &str, names: &[&str]) -> String {
    let items: Vec<Value> = names
        .iter()
        .filter_map(|name| name.split_once('/'))
        .map(|(namespace, name)| match namespace {
            "" => json!({"metadata": {"name": name}}),
            _ => json!({"metadata": {"name": name, "namespace": namespace},
                "spec": {"containers": [{"name": "main"}]},
                "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}),
        })
        .collect();
    json!({"kind": format!("{kind}List"), "apiVersion": "v1", "metadata": {}, "items": items})
        .to_string()
}
