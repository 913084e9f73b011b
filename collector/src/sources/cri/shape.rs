//! Answers of a runtime in the shape in which `crictl` prints them.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::cri::without_secrets;

/// An answer with its `info` beside its own fields, each text that is JSON as JSON: as `crictl info` and `crictl inspect` print it.
pub(super) fn flat(answer: &impl Serialize, info: &BTreeMap<String, String>) -> Value {
    let mut map = match serde_json::to_value(answer) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    };
    for (key, text) in info {
        let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone()));
        map.entry(key.clone()).or_insert(value);
    }
    let mut value = Value::Object(map);
    without_secrets(&mut value);
    value
}

/// One top-level member a line, so that a line can be pointed at.
pub(super) fn by_line(value: Value) -> String {
    let Value::Object(map) = value else {
        return format!("{value}\n");
    };
    let members: Vec<_> = map
        .iter()
        .map(|(key, value)| format!("{}:{value}", Value::String(key.clone())))
        .collect();
    format!("{{\n{}\n}}\n", members.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cri::messages::StatusResponse;

    #[test]
    fn the_status_is_flattened_as_crictl_does_and_stays_json() {
        let info = BTreeMap::from([
            (
                "config".to_owned(),
                r#"{"containerd":{"runtimes":{"runc":{"type":"io.containerd.runc.v2"}}}}"#
                    .to_owned(),
            ),
            (
                "lastCNILoadStatus".to_owned(),
                "cni config load failed".to_owned(),
            ),
        ]);
        let text = by_line(flat(&StatusResponse::default(), &info));
        let value: Value = serde_json::from_str(&text).expect("is JSON");
        assert_eq!(
            value["config"]["containerd"]["runtimes"]["runc"]["type"],
            "io.containerd.runc.v2"
        );
        assert_eq!(value["lastCNILoadStatus"], "cni config load failed");
        assert!(
            text.lines().any(|line| line.starts_with("\"config\":")),
            "{text}"
        );
    }
}
