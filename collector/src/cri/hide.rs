//! What a runtime tells that must stay on the node: values of environment variables (Secrets are among them by the
//! time a container starts) and credentials of registries.

use serde_json::Value;

/// Stands where a value was.
const HIDDEN: &str = "<not collected>";
/// Variables whose values explain a GPU container, and hold no secret.
const SHOWN: [&str; 8] = [
    "CUDA_",
    "GPU_CORE_",
    "HAMI_",
    "KUBERNETES_SERVICE_HOST",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "NVIDIA_",
    "PATH",
];

/// Replaces values of variables and of registry credentials, wherever they stand in an answer.
pub(crate) fn without_secrets(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(without_secrets),
        Value::Object(map) => {
            for (key, value) in map {
                match key.as_str() {
                    "env" | "envs" => hide_variables(value),
                    "auth" | "auths" => hide_all(value),
                    _ => without_secrets(value),
                }
            }
        }
        _ => {}
    }
}

/// `["NAME=value"]` of an OCI specification, or `[{"key": "NAME", "value": "value"}]` of a CRI configuration.
fn hide_variables(variables: &mut Value) {
    let Value::Array(items) = variables else {
        return hide_all(variables);
    };
    for item in items {
        match item {
            Value::String(text) => {
                let name = text.split('=').next().unwrap_or_default().to_owned();
                if !shown(&name) {
                    *text = format!("{name}={HIDDEN}");
                }
            }
            Value::Object(map) => {
                let name = map.get("key").or_else(|| map.get("name"));
                let keep = name.and_then(Value::as_str).is_some_and(shown);
                if let Some(value) = map.get_mut("value").filter(|_| !keep) {
                    *value = HIDDEN.into();
                }
            }
            other => *other = Value::Null,
        }
    }
}

fn shown(name: &str) -> bool {
    SHOWN.iter().any(|start| name.starts_with(start))
}

/// Keys stay, so that a reader sees that there were credentials.
fn hide_all(value: &mut Value) {
    match value {
        Value::Object(map) => map.values_mut().for_each(hide_all),
        Value::Array(items) => items.iter_mut().for_each(hide_all),
        Value::String(text) if !text.is_empty() => *text = HIDDEN.to_owned(),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_of_variables_stay_on_the_node_unless_they_explain_the_gpu() {
        let mut answer = json!({"info": {
            "runtimeSpec": {"process": {"env": ["DB=geheim", "NVIDIA_VISIBLE_DEVICES=all", "EMPTY"]}},
            "config": {"envs": [{"key": "DB", "value": "geheim"}, {"key": "NVIDIA_VISIBLE_DEVICES", "value": "void"}]},
        }});
        without_secrets(&mut answer);
        let text = answer.to_string();
        assert!(!text.contains("geheim"), "{text}");
        assert!(
            text.contains("NVIDIA_VISIBLE_DEVICES=all") && text.contains("\"void\""),
            "{text}"
        );
        assert!(text.contains("DB="), "{text}");
    }

    #[test]
    fn credentials_of_registries_stay_on_the_node() {
        let mut answer = json!({"config": {"registry": {"configs": {"r.example": {
            "auth": {"username": "u", "password": "geheim", "auth": ""}, "tls": {"insecure_skip_verify": true},
        }}}}});
        without_secrets(&mut answer);
        let text = answer.to_string();
        assert!(
            !text.contains("geheim") && text.contains("insecure_skip_verify"),
            "{text}"
        );
    }
}
