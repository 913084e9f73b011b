//! Discovery: which groups, versions and kinds there are, the old way and aggregated.

use serde_json::{Value, json};

use crate::answer::Answer;
use crate::ask::Form;
use crate::store::{Kind, Store};

/// What a recording allows.
fn verbs(kind: &Kind) -> &'static [&'static str] {
    if kind.is_watched() {
        &["get", "list", "watch"]
    } else {
        &["get", "list"]
    }
}

/// Kinds that hold nothing and answer questions.
const REVIEWS: [(&str, &str, &str); 3] = [
    (
        "authentication.k8s.io",
        "selfsubjectreviews",
        "SelfSubjectReview",
    ),
    (
        "authorization.k8s.io",
        "selfsubjectaccessreviews",
        "SelfSubjectAccessReview",
    ),
    (
        "authorization.k8s.io",
        "selfsubjectrulesreviews",
        "SelfSubjectRulesReview",
    ),
];

/// Groups in the order of kinds; reviews come last.
fn groups(store: &Store) -> Vec<String> {
    let mut groups: Vec<String> = Vec::new();
    let of_kinds = store.kinds.iter().map(|kind| kind.group.as_str());
    for group in of_kinds.chain(REVIEWS.iter().map(|review| review.0)) {
        if !group.is_empty() && !groups.iter().any(|known| known == group) {
            groups.push(group.to_owned());
        }
    }
    groups
}

/// Versions of a group, the preferred one first.
fn versions(store: &Store, group: &str) -> Vec<String> {
    let mut versions: Vec<String> = Vec::new();
    for kind in store.kinds.iter().filter(|kind| kind.group == group) {
        if !versions.contains(&kind.version) {
            versions.push(kind.version.clone());
        }
    }
    versions.sort_by_cached_key(|version| crate::definitions::version_rank(version));
    if versions.is_empty() && REVIEWS.iter().any(|review| review.0 == group) {
        versions.push("v1".to_owned());
    }
    versions
}

fn kinds_of<'s>(store: &'s Store, group: &str, version: &str) -> Vec<&'s Kind> {
    let is = |kind: &&Kind| kind.group == group && kind.version == version;
    store.kinds.iter().filter(is).collect()
}

/// `/api`.
pub(crate) fn core(store: &Store, form: Form) -> Answer {
    if form == Form::Discovery {
        return aggregated(vec![group_item(store, "")]);
    }
    Answer::json(line(
        &json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}),
    ))
}

/// `/apis`.
pub(crate) fn all(store: &Store, form: Form) -> Answer {
    let groups = groups(store);
    if form == Form::Discovery {
        return aggregated(
            groups
                .iter()
                .map(|group| group_item(store, group))
                .collect(),
        );
    }
    let groups: Vec<Value> = groups.iter().map(|name| group_value(store, name)).collect();
    Answer::json(line(
        &json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}),
    ))
}

/// `/apis/GROUP`; none if there is no such group.
pub(crate) fn group(store: &Store, name: &str) -> Option<Answer> {
    if !groups(store).iter().any(|known| known == name) {
        return None;
    }
    let mut value = group_value(store, name);
    value["kind"] = json!("APIGroup");
    value["apiVersion"] = json!("v1");
    Some(Answer::json(line(&value)))
}

fn group_value(store: &Store, name: &str) -> Value {
    let versions: Vec<Value> = versions(store, name)
        .iter()
        .map(|version| json!({"groupVersion": format!("{name}/{version}"), "version": version}))
        .collect();
    let preferred = versions.first().cloned().unwrap_or_default();
    json!({"name": name, "versions": versions, "preferredVersion": preferred})
}

/// `/api/v1` or `/apis/GROUP/VERSION`; none if there is no such version.
pub(crate) fn version(store: &Store, group: &str, version: &str) -> Option<Answer> {
    if !versions(store, group).iter().any(|known| known == version) {
        return None;
    }
    let mut resources = Vec::new();
    for kind in kinds_of(store, group, version) {
        let mut resource = json!({
            "name": kind.plural,
            "singularName": kind.singular,
            "namespaced": kind.namespaced,
            "kind": kind.kind,
            "verbs": verbs(kind),
        });
        if !kind.short.is_empty() {
            resource["shortNames"] = json!(kind.short);
        }
        if !kind.categories.is_empty() {
            resource["categories"] = json!(kind.categories);
        }
        resources.push(resource);
        for sub in &kind.subresources {
            resources.push(json!({
                "name": format!("{}/{sub}", kind.plural),
                "singularName": "",
                "namespaced": kind.namespaced,
                "kind": if sub == "scale" { "Scale" } else { &kind.kind },
                "verbs": ["get"],
            }));
        }
    }
    for (_, plural, kind) in reviews(group, version) {
        resources.push(json!({
            "name": plural, "singularName": kind.to_lowercase(), "namespaced": false, "kind": kind, "verbs": ["create"],
        }));
    }
    let name = if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    };
    Some(Answer::json(line(&json!({
        "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": name, "resources": resources,
    }))))
}

fn reviews<'g>(
    group: &'g str,
    version: &str,
) -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> + use<'g> {
    let version_1 = version == "v1";
    REVIEWS
        .iter()
        .filter(move |review| version_1 && review.0 == group)
}

fn group_item(store: &Store, group: &str) -> Value {
    let versions: Vec<Value> = versions(store, group)
        .iter()
        .map(|version| {
            let mut resources: Vec<Value> =
                kinds_of(store, group, version).into_iter().map(resource_item).collect();
            for (group, plural, kind) in reviews(group, version) {
                resources.push(json!({
                    "resource": plural, "singularResource": kind.to_lowercase(), "scope": "Cluster", "verbs": ["create"],
                    "responseKind": {"group": group, "version": version, "kind": kind},
                }));
            }
            json!({"version": version, "resources": resources, "freshness": "Current"})
        })
        .collect();
    let metadata = if group.is_empty() {
        json!({})
    } else {
        json!({"name": group})
    };
    json!({"metadata": metadata, "versions": versions})
}

fn resource_item(kind: &Kind) -> Value {
    let response = json!({"group": kind.group, "version": kind.version, "kind": kind.kind});
    let mut item = json!({
        "resource": kind.plural,
        "responseKind": response,
        "scope": if kind.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": kind.singular,
        "verbs": verbs(kind),
    });
    if !kind.short.is_empty() {
        item["shortNames"] = json!(kind.short);
    }
    if !kind.categories.is_empty() {
        item["categories"] = json!(kind.categories);
    }
    if !kind.subresources.is_empty() {
        let subresources: Vec<Value> = kind
            .subresources
            .iter()
            .map(|sub| {
                let of = match sub.as_str() {
                    "scale" => json!({"group": "autoscaling", "version": "v1", "kind": "Scale"}),
                    _ => response.clone(),
                };
                json!({"subresource": sub, "responseKind": of, "verbs": ["get"]})
            })
            .collect();
        item["subresources"] = json!(subresources);
    }
    item
}

fn aggregated(items: Vec<Value>) -> Answer {
    let list = json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items,
    });
    let mut answer = Answer::json(line(&list));
    answer.content_type = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    answer.headers.push(("Vary", "Accept".to_owned()));
    answer
}

pub(crate) fn line(value: &Value) -> String {
    format!("{value}\n")
}
