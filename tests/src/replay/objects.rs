//! Kubernetes objects as far as a replay needs them: places in the API, lists, selectors, failures.

use serde_json::{Value, json};

/// Where in the API a path points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// `/api/v1` or `/apis/<group>/<version>`.
    pub(super) root: String,
    /// The group, empty for the core.
    pub(super) group: String,
    /// The namespace, for namespaced paths.
    pub(super) namespace: Option<String>,
    /// The plural resource name.
    pub(super) resource: String,
    /// The object's name, for paths of one object.
    pub(super) name: Option<String>,
}

impl Place {
    /// Reads a path; `None` for discovery and other paths that hold no resource.
    pub(super) fn of(path: &str) -> Option<Self> {
        let mut segments = path.trim_matches('/').split('/');
        let (root, group) = match segments.next()? {
            "api" => (format!("/api/{}", segments.next()?), String::new()),
            "apis" => {
                let group = segments.next()?;
                (
                    format!("/apis/{group}/{}", segments.next()?),
                    group.to_owned(),
                )
            }
            _ => return None,
        };
        let rest: Vec<&str> = segments.collect();
        let (namespace, rest) = match rest.as_slice() {
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => {
                (Some((*namespace).to_owned()), rest)
            }
            rest => (None, rest),
        };
        Some(Place {
            root,
            group,
            namespace,
            resource: (*rest.first()?).to_owned(),
            name: rest.get(1).map(|name| (*name).to_owned()),
        })
    }
}

/// Keeps the items of a list that fulfil a condition.
pub(super) fn retain(list: &mut Value, keep: impl FnMut(&Value) -> bool) {
    if let Some(items) = list["items"].as_array_mut() {
        let mut keep = keep;
        items.retain(|item| keep(item));
    }
}

/// Whether an object's labels fulfil an equality selector (`a=b,c!=d,e,!f`).
pub(super) fn labels_match(item: &Value, selector: &str) -> bool {
    let labels = &item["metadata"]["labels"];
    selector
        .split(',')
        .all(|term| requirement(term, |name| labels[name].as_str()))
}

/// Whether an object's fields fulfil an equality selector (`status.phase=Running,type!=Opaque`).
pub(super) fn fields_match(item: &Value, selector: &str) -> bool {
    selector.split(',').all(|term| {
        requirement(term, |name| {
            let mut here = item;
            for segment in name.split('.') {
                here = &here[segment];
            }
            here.as_str()
        })
    })
}

fn requirement<'a>(term: &str, value: impl Fn(&str) -> Option<&'a str>) -> bool {
    if let Some((name, wanted)) = term.split_once("!=") {
        value(name) != Some(wanted)
    } else if let Some((name, wanted)) = term.split_once('=') {
        let wanted = wanted.trim_start_matches('=');
        value(name.trim()) == Some(wanted) || wanted.is_empty() && value(name).is_none()
    } else if let Some(name) = term.strip_prefix('!') {
        value(name).is_none()
    } else {
        value(term).is_some()
    }
}

/// A list or an object reduced to its metadata.
pub(super) fn metadata_only(value: &Value) -> Value {
    let one = |item: &Value| json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": item["metadata"]});
    match value["items"].as_array() {
        Some(items) => json!({
            "kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1",
            "metadata": value["metadata"], "items": items.iter().map(one).collect::<Vec<_>>(),
        }),
        None => one(value),
    }
}

/// A `Status` object that reports a failure.
pub(super) fn failure(code: u16, reason: &str, message: &str) -> Value {
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code,
    })
}

/// The failure of a path that does not exist.
pub(super) fn not_found(path: &str) -> Value {
    failure(
        404,
        "NotFound",
        &format!("the replay has no answer for {path}"),
    )
}

/// The refusal that role-based access control gives.
pub(super) fn forbidden(place: &Place, user: &str) -> Value {
    let Place {
        resource,
        group,
        namespace,
        name,
        ..
    } = place;
    let full = if group.is_empty() {
        resource.clone()
    } else {
        format!("{resource}.{group}")
    };
    let subject = name
        .as_ref()
        .map_or(full.clone(), |name| format!("{full} \"{name}\""));
    let verb = if name.is_some() { "get" } else { "list" };
    let scope = match namespace {
        Some(namespace) => format!("in the namespace \"{namespace}\""),
        None => "at the cluster scope".to_owned(),
    };
    let message = format!(
        "{subject} is forbidden: User \"{user}\" cannot {verb} resource \"{resource}\" in API group \"{group}\" {scope}"
    );
    let mut status = failure(403, "Forbidden", &message);
    status["details"] = json!({"group": group, "kind": resource});
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_into_its_place() {
        let place = Place::of("/apis/apps/v1/namespaces/gpu-operator/daemonsets/toolkit").unwrap();
        assert_eq!(place.root, "/apis/apps/v1");
        assert_eq!(place.namespace.as_deref(), Some("gpu-operator"));
        assert_eq!(place.resource, "daemonsets");
        assert_eq!(place.name.as_deref(), Some("toolkit"));
        assert_eq!(
            Place::of("/api/v1/namespaces/default")
                .unwrap()
                .name
                .as_deref(),
            Some("default")
        );
        assert_eq!(Place::of("/version"), None);
    }

    #[test]
    fn selectors_keep_what_they_say() {
        let item = json!({"metadata": {"labels": {"owner": "helm"}}, "type": "helm.sh/release.v1"});
        assert!(labels_match(&item, "owner=helm"));
        assert!(!labels_match(&item, "owner!=helm"));
        assert!(fields_match(&item, "type=helm.sh/release.v1"));
        assert!(!labels_match(&item, "owner=helm,status"));
    }
}
