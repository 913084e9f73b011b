//! The forms in which an API server says what it has.

use serde::Deserialize;

use super::discovery::{Resource, is_of_metrics};

/// `/api` or `/apis`, aggregated or plain.
#[derive(Deserialize)]
pub struct Root {
    #[serde(default)]
    pub kind: String,
    #[serde(default)]
    pub items: Vec<Group>,
    #[serde(default)]
    pub versions: Vec<String>,
    #[serde(default)]
    pub groups: Vec<PlainGroup>,
}

/// One group of the plain form.
#[derive(Deserialize)]
pub struct PlainGroup {
    pub name: String,
    #[serde(default)]
    pub versions: Vec<PlainVersion>,
    #[serde(default, rename = "preferredVersion")]
    pub preferred: Option<PlainVersion>,
}

/// One version of a group.
#[derive(Deserialize)]
pub struct PlainVersion {
    pub version: String,
}

/// A version's kinds, in the plain form.
#[derive(Deserialize)]
pub struct Listed {
    #[serde(default)]
    resources: Vec<PlainResource>,
}

/// One kind, in the plain form.
#[derive(Deserialize)]
pub struct PlainResource {
    name: String,
    kind: String,
    #[serde(default)]
    namespaced: bool,
    #[serde(default)]
    verbs: Vec<String>,
}

impl Listed {
    /// Adds the kinds that can be listed.
    pub fn take(self, group: &str, version: &str, found: &mut Vec<Resource>) {
        let listable = self
            .resources
            .into_iter()
            .filter(|one| one.verbs.iter().any(|verb| verb == "list"));
        found.extend(listable.map(|one| Resource {
            group: group.to_owned(),
            version: version.to_owned(),
            plural: one.name,
            kind: one.kind,
            namespaced: one.namespaced,
        }));
    }
}

/// One group of the aggregated form.
#[derive(Deserialize)]
pub struct Group {
    #[serde(default)]
    pub metadata: GroupMeta,
    #[serde(default)]
    pub versions: Vec<Version>,
}

/// A group's metadata.
#[derive(Default, Deserialize)]
pub struct GroupMeta {
    #[serde(default)]
    name: String,
}

/// One version of a group, with its kinds.
#[derive(Deserialize)]
pub struct Version {
    version: String,
    #[serde(default)]
    resources: Vec<AggregatedResource>,
    #[serde(default)]
    freshness: String,
}

/// One kind, in the aggregated form.
#[derive(Deserialize)]
pub struct AggregatedResource {
    resource: String,
    #[serde(default, rename = "responseKind")]
    kind: Option<ResponseKind>,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    verbs: Vec<String>,
}

/// A kind's name.
#[derive(Deserialize)]
pub struct ResponseKind {
    #[serde(default)]
    kind: String,
}

impl Group {
    /// Adds the kinds that can be listed.
    pub fn take(self, found: &mut Vec<Resource>, notes: &mut Vec<String>) {
        let group = self.metadata.name;
        for version in self.versions {
            if version.freshness == "Stale" && !is_of_metrics(&group) {
                notes.push(format!(
                    "failed: the server behind the API group {group}/{} does not answer; its kinds may be missing",
                    version.version
                ));
            }
            let listable = version
                .resources
                .into_iter()
                .filter(|one| one.verbs.iter().any(|verb| verb == "list"));
            found.extend(listable.map(|one| Resource {
                group: group.clone(),
                version: version.version.clone(),
                kind: one.kind.map(|kind| kind.kind).unwrap_or_default(),
                plural: one.resource,
                namespaced: one.scope == "Namespaced",
            }));
        }
    }
}
