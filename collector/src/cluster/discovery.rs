//! Discovery: which kinds of objects this API server can list.

use std::collections::BTreeSet;

use super::api::{Api, ApiError, place};
use super::discovery_answers::{Listed, Root};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
const PLAIN: &str = "application/json";
/// Thousands of definitions take a few MiB.
const MAX_BODY: usize = 32 << 20;
/// Groups asked one by one where the server does not aggregate.
const MAX_GROUPS: usize = 500;

/// Groups that Kubernetes itself serves; all others are custom resources.
const OWN_GROUPS: &[&str] = &[
    "",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "apps",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "extensions",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
    "storagemigration.k8s.io",
];

/// Lists of no use to a diagnosis, or with a source of their own.
const DENIED: &[&str] = &["events", "componentstatuses"];

/// Taken first, so that a time limit costs the least; also what is tried where discovery itself is refused.
const FIRST: &[(&str, &str, &str, &str, bool)] = &[
    ("", "v1", "nodes", "Node", false),
    ("", "v1", "pods", "Pod", true),
    ("", "v1", "namespaces", "Namespace", false),
    ("node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", false),
    (
        "nvidia.com",
        "v1",
        "clusterpolicies",
        "ClusterPolicy",
        false,
    ),
    ("apps", "v1", "daemonsets", "DaemonSet", true),
    ("apps", "v1", "deployments", "Deployment", true),
    ("apps", "v1", "replicasets", "ReplicaSet", true),
    ("apps", "v1", "statefulsets", "StatefulSet", true),
    ("batch", "v1", "jobs", "Job", true),
    ("", "v1", "configmaps", "ConfigMap", true),
    ("", "v1", "services", "Service", true),
    (
        "discovery.k8s.io",
        "v1",
        "endpointslices",
        "EndpointSlice",
        true,
    ),
    (
        "networking.k8s.io",
        "v1",
        "networkpolicies",
        "NetworkPolicy",
        true,
    ),
    ("", "v1", "resourcequotas", "ResourceQuota", true),
    ("", "v1", "limitranges", "LimitRange", true),
    (
        "",
        "v1",
        "persistentvolumeclaims",
        "PersistentVolumeClaim",
        true,
    ),
    ("", "v1", "persistentvolumes", "PersistentVolume", false),
    (
        "storage.k8s.io",
        "v1",
        "storageclasses",
        "StorageClass",
        false,
    ),
    (
        "storage.k8s.io",
        "v1",
        "volumeattachments",
        "VolumeAttachment",
        false,
    ),
    (
        "scheduling.k8s.io",
        "v1",
        "priorityclasses",
        "PriorityClass",
        false,
    ),
    (
        "admissionregistration.k8s.io",
        "v1",
        "mutatingwebhookconfigurations",
        "MutatingWebhookConfiguration",
        false,
    ),
    (
        "admissionregistration.k8s.io",
        "v1",
        "validatingwebhookconfigurations",
        "ValidatingWebhookConfiguration",
        false,
    ),
    (
        "apiextensions.k8s.io",
        "v1",
        "customresourcedefinitions",
        "CustomResourceDefinition",
        false,
    ),
    ("", "v1", "secrets", "Secret", true),
];

/// A kind of object that can be listed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Resource {
    /// API group; empty for the core.
    pub group: String,
    /// The version that the server prefers.
    pub version: String,
    /// Plural name, as in paths.
    pub plural: String,
    /// Kind of one object.
    pub kind: String,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

impl Resource {
    /// `apiVersion` of its objects.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// Whether Kubernetes itself defines it.
    pub fn is_own(&self) -> bool {
        OWN_GROUPS.contains(&self.group.as_str())
    }

    /// As `kubectl` names it: `pods`, `clusterpolicies.nvidia.com`.
    pub fn name(&self) -> String {
        if self.group.is_empty() {
            self.plural.clone()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }

    /// The path of its list, in one namespace or everywhere.
    pub fn path(&self, namespace: Option<&str>) -> String {
        let base = if self.group.is_empty() {
            "/api".to_owned()
        } else {
            format!("/apis/{}", self.group)
        };
        let namespace = namespace.map(place).unwrap_or_default();
        format!("{base}/{}{namespace}/{}", self.version, self.plural)
    }

    /// The name of its list in the bundle.
    pub fn list(&self) -> String {
        if self.group.is_empty() && self.plural == "secrets" {
            "secrets-index".to_owned()
        } else if self.is_own() {
            self.plural.clone()
        } else {
            format!("custom-resources/{}.{}", self.plural, self.group)
        }
    }

    fn wanted(&self) -> bool {
        !(is_of_metrics(&self.group)
            || DENIED.contains(&self.plural.as_str()) && self.is_own()
            || self.plural.contains('/'))
    }

    fn rank(&self) -> usize {
        let place = FIRST
            .iter()
            .position(|first| first.0 == self.group && first.2 == self.plural);
        place.unwrap_or(FIRST.len())
    }
}

/// Groups of numbers that nobody lists: that their server is down costs no object. Its APIService says that it is.
pub fn is_of_metrics(group: &str) -> bool {
    group == "metrics.k8s.io" || group.ends_with(".metrics.k8s.io")
}

/// The kinds every cluster is asked for, in the order in which they are asked.
pub fn well_known() -> Vec<Resource> {
    let known = FIRST
        .iter()
        .map(|(group, version, plural, kind, namespaced)| Resource {
            group: (*group).to_owned(),
            version: (*version).to_owned(),
            plural: (*plural).to_owned(),
            kind: (*kind).to_owned(),
            namespaced: *namespaced,
        });
    known.collect()
}

/// Every listable kind, the important ones first, and what discovery could not see.
pub async fn resources(api: &Api) -> (Vec<Resource>, Vec<String>) {
    let mut found = Vec::new();
    let mut notes = Vec::new();
    let mut complete = true;
    for root in ["/api", "/apis"] {
        match root_of(api, root, &mut found, &mut notes).await {
            Ok(()) => {}
            Err(error) => {
                complete = false;
                notes.push(format!(
                    "{}; well-known kinds are asked for all the same",
                    error.note(&format!("GET {root}"))
                ));
            }
        }
    }
    if !complete {
        found.extend(well_known());
    }
    let mut seen = BTreeSet::new();
    found.retain(|resource: &Resource| {
        resource.wanted() && seen.insert((resource.group.clone(), resource.plural.clone()))
    });
    found.sort_by_key(|resource| (resource.rank(), resource.clone()));
    (found, notes)
}

async fn root_of(
    api: &Api,
    root: &str,
    found: &mut Vec<Resource>,
    notes: &mut Vec<String>,
) -> Result<(), ApiError> {
    let body = match api.get_all(root, AGGREGATED, MAX_BODY).await {
        // A server or proxy that takes offence at the header may still know the plain form.
        Err(ApiError::Status { .. }) => api.get_all(root, PLAIN, MAX_BODY).await?,
        other => other?,
    };
    let answer: Root =
        serde_json::from_slice(&body).map_err(|error| ApiError::Content(error.to_string()))?;
    if answer.kind == "APIGroupDiscoveryList" {
        answer
            .items
            .into_iter()
            .for_each(|group| group.take(found, notes));
        return Ok(());
    }
    let mut versions: Vec<(String, String)> = answer
        .versions
        .into_iter()
        .map(|version| (String::new(), version))
        .collect();
    for group in answer.groups {
        // The preferred version first: the first that has a kind wins.
        let preferred = group.preferred.map(|preferred| preferred.version);
        let others = group.versions.into_iter().map(|other| other.version);
        for version in preferred.into_iter().chain(others) {
            let version = (group.name.clone(), version);
            if !versions.contains(&version) {
                versions.push(version);
            }
        }
    }
    for (group, version) in versions.into_iter().take(MAX_GROUPS) {
        let path = if group.is_empty() {
            format!("/api/{version}")
        } else {
            format!("/apis/{group}/{version}")
        };
        let listed = api.get_all(&path, PLAIN, MAX_BODY).await;
        let listed = listed.and_then(|body| {
            serde_json::from_slice::<Listed>(&body)
                .map_err(|error| ApiError::Content(error.to_string()))
        });
        match listed {
            Ok(listed) => listed.take(&group, &version, found),
            Err(error) if error.code() == Some(404) => {}
            Err(_) if is_of_metrics(&group) => {}
            Err(error) => notes.push(error.note(&format!("GET {path}"))),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use casefile_bundle::Entry;

    use super::*;

    fn resource(group: &str, plural: &str) -> Resource {
        let text = |text: &str| text.to_owned();
        Resource {
            group: text(group),
            version: text("v1"),
            plural: text(plural),
            kind: text("K"),
            namespaced: true,
        }
    }

    #[test]
    fn lists_lie_where_support_bundle_tools_look_for_them() {
        let path = |group, plural| Entry::List(&resource(group, plural).list()).path();
        assert_eq!(path("", "pods"), "cluster-resources/pods.json");
        assert_eq!(
            path("apps", "daemonsets"),
            "cluster-resources/daemonsets.json"
        );
        assert_eq!(path("", "secrets"), "cluster-resources/secrets-index.json");
        assert_eq!(
            path("nvidia.com", "clusterpolicies"),
            "cluster-resources/custom-resources/clusterpolicies.nvidia.com.json"
        );
        assert_eq!(
            resource("apps", "jobs").path(Some("a")),
            "/apis/apps/v1/namespaces/a/jobs"
        );
        assert_eq!(resource("", "pods").path(None), "/api/v1/pods");
    }

    #[test]
    fn metrics_and_events_are_left_to_others() {
        for (group, plural) in [
            ("metrics.k8s.io", "pods"),
            ("custom.metrics.k8s.io", "x"),
            ("events.k8s.io", "events"),
            ("", "events"),
        ] {
            assert!(!resource(group, plural).wanted(), "{group} {plural}");
        }
        assert!(resource("example.com", "events").wanted());
    }
}
