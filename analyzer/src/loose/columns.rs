//! Tables whose columns somebody chose: `kubectl get pods -o custom-columns=...`.

use serde_json::{Value, json};

use super::split::Section;
use super::tables::{Row, count, is_name, pod_object, some};

/// What the rows of a table are whose columns somebody chose (`-o custom-columns`): pods, where the command says so or where each
/// has a phase and a node.
pub(super) fn row_of(
    section: &Section<'_>,
    head: &[&str],
) -> Option<fn(&Row<'_>) -> Option<Value>> {
    let has = |names: &[&str]| head.iter().any(|one| names.contains(one));
    let pods = section.command.is_some_and(|command| {
        let mut words = command.split_whitespace();
        words.any(|word| matches!(word, "pods" | "pod" | "po"))
    });
    let shaped = head.len() >= 3 && has(&["NAME", "POD"]) && has(&["STATUS", "PHASE"]);
    (shaped && (pods || has(&["NODE"]))).then_some(chosen_pod)
}

/// A row of a table whose columns somebody chose.
fn chosen_pod(row: &Row<'_>) -> Option<Value> {
    const PHASES: [&str; 5] = ["Running", "Pending", "Succeeded", "Failed", "Unknown"];
    let either = |one: &str, other: &str| match row.cell(one) {
        "" => row.cell(other).to_owned(),
        cell => cell.to_owned(),
    };
    let (name, status) = (either("NAME", "POD"), either("STATUS", "PHASE"));
    if !is_name(&name) || !PHASES.contains(&status.as_str()) {
        return None;
    }
    let restarts = count(row.cell("RESTARTS"));
    let mut object = pod_object(&name, row.namespace(), &status, true, restarts);
    object["spec"]["nodeName"] = json!(some(row.cell("NODE")).unwrap_or(""));
    // Only its phase was asked for.
    if row.cell("READY").is_empty() {
        object["status"]["conditions"] = json!([]);
    }
    Some(object)
}
