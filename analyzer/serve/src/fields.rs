//! Field selectors: each kind has its own few fields, and its own way to say that there are no others.

use serde_json::Value;

use crate::status::Status;
use crate::store::Kind;
use crate::value::{at, text};

/// A field selector.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fields(Vec<(String, bool, String)>);

impl Fields {
    /// Reads one for a kind, since each kind has its own fields.
    ///
    /// Errors: a Status that says what is wrong with it.
    pub(crate) fn parse(selector: &str, kind: &Kind) -> Result<Self, Status> {
        let mut terms = Vec::new();
        for part in split_unescaped(selector).filter(|part| !part.is_empty()) {
            let found = [("!=", false), ("==", true), ("=", true)]
                .into_iter()
                .find_map(|(sign, equal)| {
                    part.split_once(sign)
                        .map(|(name, value)| (name, equal, value))
                });
            let Some((name, equal, value)) = found else {
                return Err(Status::bad_request(format!(
                    "invalid selector: '{selector}'; can't understand '{part}'"
                )));
            };
            if !supported(kind).any(|known| known == name) {
                return Err(Status::bad_request(unsupported(kind, name)));
            }
            terms.push((name.to_owned(), equal, unescape(value)));
        }
        Ok(Self(terms))
    }

    /// Those of one name and, in a namespace, of it.
    pub(crate) fn named(name: &str) -> Self {
        Self(vec![("metadata.name".to_owned(), true, name.to_owned())])
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether fields have the values.
    pub(crate) fn match_fields(&self, object: &Value) -> bool {
        self.0
            .iter()
            .all(|(name, equal, value)| (field(object, name) == *value) == *equal)
    }
}

fn split_unescaped(text: &str) -> impl Iterator<Item = &str> {
    let mut escaped = false;
    text.split(move |c: char| {
        let cut = c == ',' && !escaped;
        escaped = c == '\\' && !escaped;
        cut
    })
}

fn unescape(value: &str) -> String {
    value
        .replace("\\,", ",")
        .replace("\\=", "=")
        .replace("\\\\", "\\")
}

fn own_fields(kind: &Kind) -> &'static [&'static str] {
    match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "pods") => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ],
        ("", "nodes") => &["spec.unschedulable"],
        ("", "namespaces") => &["status.phase"],
        ("", "secrets") => &["type"],
        ("", "services") => &["spec.clusterIP", "spec.type"],
        ("", "replicationcontrollers") => &["status.replicas"],
        ("", "events") => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        ("events.k8s.io", "events") => &[
            "reason",
            "regarding.kind",
            "regarding.namespace",
            "regarding.name",
            "regarding.uid",
            "regarding.apiVersion",
            "regarding.resourceVersion",
            "regarding.fieldPath",
            "reportingController",
            "type",
        ],
        ("batch", "jobs") => &["status.successful"],
        ("certificates.k8s.io", "certificatesigningrequests" | "clustertrustbundles") => {
            &["spec.signerName"]
        }
        ("resource.k8s.io", "resourceslices") => &["spec.nodeName", "spec.driver"],
        _ => &[],
    }
}

fn supported(kind: &Kind) -> impl Iterator<Item = &str> {
    let own = own_fields(kind).iter().copied();
    let custom = kind.selectable.iter().map(String::as_str);
    ["metadata.name", "metadata.namespace"]
        .into_iter()
        .chain(own)
        .chain(custom)
}

fn unsupported(kind: &Kind, name: &str) -> String {
    match (kind.group.as_str(), kind.plural.as_str()) {
        ("batch", "jobs") => format!("field label {name:?} not supported for Job"),
        ("resource.k8s.io", "resourceslices") => {
            let version = kind.api_version();
            format!(
                "field label not supported for {version}, Kind={}: {name}",
                kind.kind
            )
        }
        _ if kind.is_custom() || !own_fields(kind).is_empty() => {
            format!("field label not supported: {name}")
        }
        _ => format!(
            "{name:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
        ),
    }
}

/// A field as a selector compares it: the zero value where it is not set.
fn field(object: &Value, name: &str) -> String {
    match name {
        "source" => {
            let component = text(object, "source.component");
            let of = if component.is_empty() {
                text(object, "reportingComponent")
            } else {
                component
            };
            return of.to_owned();
        }
        "status.successful" => return crate::value::int(object, "status.succeeded").to_string(),
        "status.podIPs" => {
            let ips = crate::value::list(object, name)
                .iter()
                .map(|one| text(one, "ip"));
            return ips.collect::<Vec<_>>().join(",");
        }
        _ => {}
    }
    match at(object, name) {
        Value::String(text) => text.clone(),
        Value::Bool(on) => on.to_string(),
        Value::Number(number) => number.to_string(),
        _ => match name {
            "spec.unschedulable" | "spec.hostNetwork" => "false".to_owned(),
            "status.replicas" => "0".to_owned(),
            _ => String::new(),
        },
    }
}
