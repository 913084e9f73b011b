//! The kinds of change, one a file.

pub mod annotation;
pub mod configmap;
pub mod containerd_import;
pub mod containerd_registry;
pub mod containerd_runtime;
pub mod containerd_section;
pub mod docker_daemon;
pub mod firewalld;
mod generated;
pub mod hardware;
pub mod helm_values;
pub mod host_file;
pub mod iptables;
mod iptables_rule;
pub mod kube_object;
pub mod kubelet_config;
pub mod kubelet_flag;
pub mod label;
pub mod manual;
mod node_file;
mod object;
pub mod package;
mod patch;
mod pod_merge;
pub mod pod_restart;
pub mod pod_spec;
pub mod quota;
pub mod reboot;
pub mod restart;
pub mod sysctl;
pub mod taint;
pub mod toleration;
mod toml_text;
mod toolkit_writes;
pub mod ufw_route;
mod ufw_rule;
pub mod unit;
pub mod volume_attachment;
mod workload;
mod workload_steps;
mod yaml_edit;

use casefile_bundle::Entry;
use serde_json::Value;

use super::Refused;
use super::captured::Captured;

/// The items of a Kubernetes list of the bundle, edited by `edit`; one item a line, as the collector writes it.
fn edit_list(
    state: &mut Captured,
    path: &str,
    edit: impl FnOnce(&mut Vec<Value>) -> Result<(), Refused>,
) -> Result<(), Refused> {
    let text = state.now(path).unwrap_or_default();
    let mut list: Value = if text.is_empty() {
        serde_json::json!({"kind": "List", "apiVersion": "v1", "items": []})
    } else {
        serde_json::from_str(&text).map_err(|error| Refused::new(format!("{path}: {error}")))?
    };
    let Some(Value::Array(items)) = list.get_mut("items").map(Value::take) else {
        return Err(Refused::new(format!("{path} is no list of objects")));
    };
    let mut items = items;
    edit(&mut items)?;
    let lines: Vec<String> = items.iter().map(Value::to_string).collect();
    let head = |name: &str| list.get(name).cloned().unwrap_or_default();
    let text = format!(
        "{{\"kind\":{},\"apiVersion\":{},\"items\":[\n{}\n]}}\n",
        head("kind"),
        head("apiVersion"),
        lines.join(",\n")
    );
    state.set(path, text);
    Ok(())
}

/// Merges as helm does: maps key by key, null removes, everything else replaces.
fn merge(into: &mut Value, delta: &Value) {
    match (into, delta) {
        (Value::Object(into), Value::Object(delta)) => {
            for (key, value) in delta {
                if value.is_null() {
                    into.remove(key);
                } else {
                    merge(into.entry(key.clone()).or_insert(Value::Null), value);
                }
            }
        }
        (into, delta) => *into = delta.clone(),
    }
}

/// Reads YAML, or says where it is wrong.
fn yaml(what: &str, text: &str) -> Result<Value, Refused> {
    serde_saphyr::from_str(text).map_err(|error| Refused::new(format!("{what}: {error}")))
}

/// Writes YAML.
fn to_yaml(value: &Value) -> Result<String, Refused> {
    serde_saphyr::to_string(value).map_err(|error| Refused::new(error.to_string()))
}

/// The named node, also as `node/NAME`, or the only one whose files the bundle holds.
fn node(named: Option<&str>, state: &Captured) -> Result<String, Refused> {
    let named = named.map(|name| name.strip_prefix("node/").unwrap_or(name).to_owned());
    named.or_else(|| state.only_node()).ok_or_else(|| {
        Refused::new(
            "the bundle holds files of no node or of several; name the node of this change",
        )
    })
}

/// The entry of a host file.
fn entry(node: &str, path: &str) -> String {
    Entry::Rootfs(node, path).path()
}

/// What the entries of a node's copied files start with; the path on the node follows, with its slash.
fn copies(node: &str) -> String {
    Entry::Node(node, "rootfs").path()
}

/// The named file, or the first of the usual ones, that was collected of a node.
fn first_collected(
    state: &mut Captured,
    node: &str,
    named: Option<&str>,
    usual: &[&str],
) -> Result<String, Refused> {
    let wanted: Vec<&str> = named.map_or_else(|| usual.to_vec(), |path| vec![path]);
    let found = wanted
        .iter()
        .find(|path| state.now(&entry(node, path)).is_some());
    found.map(|path| (*path).to_owned()).ok_or_else(|| {
        Refused::new(format!(
            "the bundle holds none of {} of node {node}, so nothing can be shown about the kubelet's settings",
            wanted.join(", ")
        ))
    })
}

/// The list without each of its items in turn; nothing smaller comes of a list of one.
fn each_left_out<T: Clone>(all: &[T]) -> Vec<Vec<T>> {
    if all.len() < 2 {
        return Vec::new();
    }
    let without = |skip: usize| {
        let kept = all.iter().enumerate().filter(|(index, _)| *index != skip);
        kept.map(|(_, one)| one.clone()).collect()
    };
    (0..all.len()).map(without).collect()
}

#[cfg(test)]
mod tests {
    use super::merge;
    use serde_json::json;

    /// What Helm 4.0's own engine gives for these values.
    #[test]
    fn values_merge_as_helm_merges_them() {
        let mut values = json!({"a": 1, "b": {"c": 1, "d": 2}, "l": [1, 2], "m": {"x": [{"name": "a", "v": 1}]}});
        merge(
            &mut values,
            &json!({"b": {"c": null}, "l": [3], "m": {"x": [{"name": "b"}]}}),
        );
        assert_eq!(
            values,
            json!({"a": 1, "b": {"d": 2}, "l": [3], "m": {"x": [{"name": "b"}]}})
        );
    }
}
