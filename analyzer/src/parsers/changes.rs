//! Who changed an object last, by the notes of the API server on who manages which of its fields.

use casefile_bundle::entry;
use chrono::{DateTime, Utc};
use serde::Deserialize;

use crate::facts::services::LastChange;
use crate::facts::{AnyFact, Fact};
use crate::model::Place;

/// Notes longer than this are not read, in bytes.
const MAX: usize = 256 << 10;
const CUSTOM: &str = "custom-resources";

#[derive(Default, Deserialize)]
#[serde(default)]
struct Named {
    metadata: Meta,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Meta {
    name: String,
    namespace: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Manager {
    manager: String,
    operation: String,
    time: Option<DateTime<Utc>>,
    subresource: String,
}

/// The kind whose list lies at a path of the bundle; none for kinds that are not looked at.
fn kind(path: &str) -> Option<&str> {
    let mut parts = path.split('/').skip(1);
    let first = parts.next()?.trim_end_matches(".json");
    if first == CUSTOM {
        return Some(parts.next()?.trim_end_matches(".json"));
    }
    entry::SET_BY_PEOPLE.contains(&first).then_some(first)
}

/// The newest of an object's `managers`, the content of their list, that did not write its status.
pub(crate) fn last(place: &Place, object: &[u8], managers: &[u8]) -> Option<AnyFact> {
    let kind = kind(&place.path).filter(|_| managers.len() <= MAX)?;
    let list = [b"[", managers, b"]"].concat();
    let all: Vec<Manager> = serde_json::from_slice(&list).ok()?;
    let newest = all
        .into_iter()
        .filter(|one| one.subresource.is_empty() && one.time.is_some())
        .max_by_key(|one| one.time)?;
    let meta = serde_json::from_slice::<Named>(object).ok()?.metadata;
    let text = format!("\"manager\":\"{}\"", newest.manager);
    let data = LastChange {
        kind: kind.to_owned(),
        namespace: meta.namespace,
        name: meta.name,
        manager: newest.manager,
        operation: newest.operation,
    };
    let fact = Fact {
        data,
        place: place.clone(),
        text: text.into(),
        at: newest.time,
    };
    Some(fact.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Facts;

    #[test]
    fn who_edited_the_policy_counts_and_who_wrote_its_status_does_not() {
        let place = Place {
            path: "cluster-resources/custom-resources/clusterpolicies.nvidia.com.json".into(),
            line: Some(2),
        };
        let object = br#"{"metadata":{"name":"cluster-policy","managedFields":[]},"spec":{}}"#;
        let managers = br#"{"manager":"helm","operation":"Update","time":"2026-11-01T10:00:00Z"},
            {"manager":"kubectl-edit","operation":"Update","time":"2026-11-20T10:00:00Z"},
            {"manager":"gpu-operator","operation":"Update","time":"2026-11-21T10:00:00Z","subresource":"status"}"#;
        let mut facts = Facts::default();
        facts.add(last(&place, object, managers).unwrap());
        let found = facts.table::<LastChange>();
        let change = &found[0].data;
        assert_eq!(
            (change.manager.as_str(), change.name.as_str()),
            ("kubectl-edit", "cluster-policy")
        );
        assert_eq!(change.kind, "clusterpolicies.nvidia.com");
        assert_eq!(
            found[0].at.map(|at| at.to_rfc3339()).as_deref(),
            Some("2026-11-20T10:00:00+00:00")
        );
        let pods = Place {
            path: "cluster-resources/pods/default.json".into(),
            line: None,
        };
        assert!(last(&pods, object, managers).is_none());
    }
}
