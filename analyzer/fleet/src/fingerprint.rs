//! Whether two incidents are the same one: the same cause, shown by the same evidence.

use std::collections::BTreeSet;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::template::template;

/// A mark that is equal for incidents of the same cause with the same kinds of evidence for it, on whatever node and
/// day: 16 hexadecimal digits behind the cause's id.
///
/// The kinds are the sentences of the evidence and the ids of the symptoms, without numbers and names. How many lines
/// say the same does not count; so a night with more of them is the same incident.
pub fn fingerprint(incident: &Value, node: &str) -> String {
    let cause = incident.pointer("/cause/id").and_then(Value::as_str);
    let items = |name: &str| incident.get(name).and_then(Value::as_array);
    let mut kinds = BTreeSet::new();
    for line in items("evidence").into_iter().flatten() {
        if line.get("role").and_then(Value::as_str) == Some("for") {
            let says = line.get("says").and_then(Value::as_str).unwrap_or("");
            kinds.insert(template(says, node));
        }
    }
    for symptom in items("symptom_details").into_iter().flatten() {
        let id = symptom.get("id").and_then(Value::as_str).unwrap_or("");
        kinds.insert(format!("symptom {id}"));
    }
    let mut hash = Sha256::new();
    for kind in &kinds {
        hash.update(kind.as_bytes());
        hash.update([0]);
    }
    format!("{}:{}", cause.unwrap_or(""), &hex(&hash.finalize())[..16])
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn incident(node: &str, bus: &str, says: &str) -> Value {
        json!({
            "cause": {"id": "gpu-fell-off-bus"},
            "evidence": [{"role": "for", "says": format!("GPU {bus} on {node} {says}")}],
            "symptom_details": [{"id": "pods-failing", "text": "2 pods fail"}],
        })
    }

    #[test]
    fn another_node_and_card_is_the_same_incident_and_other_evidence_is_not() {
        let first = fingerprint(
            &incident("gpu-1", "0000:81:00.0", "fell off the bus"),
            "gpu-1",
        );
        let second = fingerprint(
            &incident("hpc-gpu-22", "0000:41:00.0", "fell off the bus"),
            "hpc-gpu-22",
        );
        let other = fingerprint(&incident("gpu-1", "0000:81:00.0", "answers again"), "gpu-1");
        assert_eq!(first, second);
        assert_ne!(first, other);
        assert!(first.starts_with("gpu-fell-off-bus:"));
    }
}
