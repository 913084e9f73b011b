//! What a node's own credentials see where a whole list is forbidden: the node authorizer lets a kubelet read what
//! belongs to its node, each object by name or with the selector that the kubelet itself uses.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{list_files, what};
use crate::cluster::api::{Api, ApiError, query_value, user_of};
use crate::cluster::discovery::Resource;
use crate::cluster::listing::{self, Flow, Items, Listed};
use crate::out::OutError;
use crate::source::SourceCtx;

/// ConfigMaps of this node's pods that are asked for one by one.
const MAX_NAMED: usize = 200;
/// Of one object; etcd takes 1.5 MiB by default.
const MAX_OBJECT: usize = 4 << 20;

/// The narrower question, of which the node authorizer approves.
#[derive(Debug, PartialEq, Eq)]
enum Narrow {
    /// The list with this query.
    Selected(String),
    /// Objects by their paths.
    Named(Vec<String>),
}

/// The node whose own credentials were refused.
pub(super) fn node_of(error: Option<&ApiError>) -> Option<String> {
    let Some(ApiError::Status {
        code: 403, message, ..
    }) = error
    else {
        return None;
    };
    Some(user_of(message)?.strip_prefix("system:node:")?.to_owned())
}

/// Asks for what is the node's own of a kind whose list at `path` is forbidden, and says what that leaves out; nothing
/// where the node may not read any of it.
pub(super) async fn take(
    ctx: &SourceCtx,
    api: &Api,
    resource: &Resource,
    path: &str,
    node: &str,
) -> Result<Option<(Listed, Vec<String>)>, OutError> {
    let Some((narrow, left_out)) = narrow(ctx, api, resource, node).await? else {
        return Ok(None);
    };
    let (listed, mut notes) = match narrow {
        Narrow::Selected(query) => super::take_list(ctx, api, resource, path, &query).await?,
        Narrow::Named(paths) => take_named(ctx, api, resource, &paths).await?,
    };
    notes.push(left_out);
    Ok(Some((listed, notes)))
}

async fn narrow(
    ctx: &SourceCtx,
    api: &Api,
    resource: &Resource,
    node: &str,
) -> Result<Option<(Narrow, String)>, OutError> {
    let name = query_value(node);
    let only =
        |what: &str| format!("only {what} of the node {node}: its own credentials see no others");
    let selected = |field: &str, what: &str| {
        let query = format!("fieldSelector={field}%3D{name}");
        Some((Narrow::Selected(query), only(what)))
    };
    Ok(match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "pods") => selected("spec.nodeName", "the pods"),
        ("", "nodes") => selected("metadata.name", "the object"),
        ("resource.k8s.io", "resourceslices") => selected("spec.nodeName", "the slices"),
        ("coordination.k8s.io", "leases") => {
            let path = format!("{}/{name}", resource.path(Some("kube-node-lease")));
            Some((Narrow::Named(vec![path]), only("the lease")))
        }
        ("storage.k8s.io", "csinodes") => {
            let path = format!("{}/{name}", resource.path(None));
            Some((Narrow::Named(vec![path]), only("the drivers")))
        }
        ("", "configmaps") => {
            let names = config_maps(ctx, api, &name).await?;
            let paths = names.into_iter().map(|(space, name)| {
                format!("{}/{}", resource.path(Some(&space)), query_value(&name))
            });
            Some((Narrow::Named(paths.collect()), only("those that pods name")))
        }
        _ => None,
    })
}

/// The ConfigMaps that pods of the node name, with their namespaces.
async fn config_maps(
    ctx: &SourceCtx,
    api: &Api,
    node: &str,
) -> Result<BTreeSet<(String, String)>, OutError> {
    let mut named = Named::default();
    let query = format!("fieldSelector=spec.nodeName%3D{node}");
    // Without the pods there are no names; the pods' own list says why.
    listing::list(api, &ctx.cancel, "/api/v1/pods", &query, &mut named).await?;
    let wanted = &ctx.options.namespaces;
    let mut found = named.found;
    found.retain(|(space, _)| wanted.is_empty() || wanted.contains(space));
    while found.len() > MAX_NAMED {
        found.pop_last();
    }
    Ok(found)
}

/// Single objects, written as the list that they would have been in.
async fn take_named(
    ctx: &SourceCtx,
    api: &Api,
    resource: &Resource,
    paths: &[String],
) -> Result<(Listed, Vec<String>), OutError> {
    let mut listed = Listed::default();
    let mut files = list_files(ctx, resource, &resource.path(None));
    for path in paths {
        if ctx.cancel.is_cancelled() {
            listed.error = Some(ApiError::Stopped);
            break;
        }
        match api.get_all(path, "application/json", MAX_OBJECT).await {
            Ok(object) => {
                listed.items += 1;
                if files.item(&object).await? == Flow::Enough {
                    break;
                }
            }
            // Named by a pod and not there is what the pod itself shows.
            Err(error) if error.code() == Some(404) => {}
            Err(error) => listed.notes.push(error.note(&what(resource, None))),
        }
    }
    let cut = listed.error.as_ref().map(ToString::to_string);
    let notes = files.finish(cut.as_deref()).await?;
    Ok((listed, notes))
}

/// Collects the names of ConfigMaps out of pods.
#[derive(Default)]
struct Named {
    found: BTreeSet<(String, String)>,
}

impl Named {
    fn pod(&mut self, pod: &Value) {
        let Some(namespace) = pod["metadata"]["namespace"].as_str() else {
            return;
        };
        let mut open = vec![&pod["spec"]];
        while let Some(value) = open.pop() {
            match value {
                Value::Array(values) => open.extend(values),
                Value::Object(members) => {
                    for (key, value) in members {
                        let refers = matches!(
                            key.as_str(),
                            "configMap" | "configMapRef" | "configMapKeyRef"
                        );
                        if let Some(name) = value["name"].as_str().filter(|_| refers) {
                            self.found.insert((namespace.to_owned(), name.to_owned()));
                        }
                        open.push(value);
                    }
                }
                _ => {}
            }
        }
    }
}

impl Items for Named {
    async fn item(&mut self, raw: &[u8]) -> Result<Flow, OutError> {
        if let Ok(pod) = serde_json::from_slice(raw) {
            self.pod(&pod);
        }
        Ok(Flow::More)
    }

    fn restart(&mut self) {
        self.found.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn config_maps_are_found_wherever_a_pod_names_them() {
        let mut named = Named::default();
        named.pod(&serde_json::json!({"metadata": {"namespace": "n"}, "spec": {
            "volumes": [{"configMap": {"name": "a"}}, {"projected": {"sources": [{"configMap": {"name": "b"}}]}}],
            "containers": [{"envFrom": [{"configMapRef": {"name": "c"}}],
                "env": [{"valueFrom": {"configMapKeyRef": {"name": "d", "key": "k"}}, "name": "no"}]}]}}));
        let names: Vec<&str> = named.found.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c", "d"]);
    }
}
