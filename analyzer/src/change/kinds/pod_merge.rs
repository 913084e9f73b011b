//! Merges fields into a pod's spec as the API server does with a strategic merge patch.
//!
//! Lists that have a merge key (`patchMergeKey` of the Kubernetes API types) merge by it; all others, such as
//! `args` and `tolerations`, are replaced as a whole.

use serde_json::Value;

/// The key by which the items of a list are told apart; none where the list is replaced.
fn merge_key(list: &str) -> Option<&'static str> {
    match list {
        "containers"
        | "initContainers"
        | "ephemeralContainers"
        | "env"
        | "volumes"
        | "imagePullSecrets"
        | "resourceClaims" => Some("name"),
        "volumeMounts" => Some("mountPath"),
        "volumeDevices" => Some("devicePath"),
        "ports" => Some("containerPort"),
        "hostAliases" => Some("ip"),
        "topologySpreadConstraints" => Some("topologyKey"),
        _ => None,
    }
}

/// Merges `delta` into a spec; null removes a field.
pub(super) fn merge(into: &mut Value, delta: &Value) {
    merge_field("", into, delta);
}

fn merge_field(name: &str, into: &mut Value, delta: &Value) {
    match (into, delta) {
        (Value::Object(into), Value::Object(delta)) => {
            for (key, value) in delta {
                if value.is_null() {
                    into.remove(key);
                } else {
                    merge_field(key, into.entry(key.clone()).or_insert(Value::Null), value);
                }
            }
        }
        (Value::Array(into), Value::Array(delta)) if merge_key(name).is_some() => {
            for item in delta {
                let same = |old: &Value| {
                    let id = merge_key(name).and_then(|key| item.get(key).map(|id| (key, id)));
                    id.is_some_and(|(key, id)| old.get(key) == Some(id))
                };
                match into.iter().position(same) {
                    Some(at) => merge_field("", &mut into[at], item),
                    None => into.push(without_nulls(item)),
                }
            }
        }
        (into, delta) => *into = without_nulls(delta),
    }
}

/// What stands where nothing stood before: there is nothing for a null to remove.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(_, value)| !value.is_null());
            Value::Object(
                kept.map(|(key, value)| (key.clone(), without_nulls(value)))
                    .collect(),
            )
        }
        Value::Array(items) => Value::Array(items.iter().map(without_nulls).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_with_a_key_merge_by_it_and_the_others_are_replaced() {
        let mut spec = json!({
            "containers": [{"name": "a", "image": "x", "args": ["-f", "old"], "securityContext": {"allowPrivilegeEscalation": false}}],
            "tolerations": [{"key": "k"}], "nodeSelector": {"gpu": "h100"},
        });
        merge(
            &mut spec,
            &json!({
                "containers": [{"name": "a", "env": [{"name": "E", "value": "1"}], "args": ["-f", "new"], "securityContext": {"allowPrivilegeEscalation": null, "capabilities": {"add": ["SYS_ADMIN"], "drop": null}}}],
                "tolerations": [{"key": "g"}], "nodeSelector": null,
            }),
        );
        assert_eq!(
            spec,
            json!({
                "containers": [{"name": "a", "image": "x", "args": ["-f", "new"], "env": [{"name": "E", "value": "1"}], "securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}],
                "tolerations": [{"key": "g"}],
            })
        );
    }
}
