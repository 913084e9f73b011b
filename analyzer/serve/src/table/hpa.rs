//! Metrics of autoscalers in version 1, brought into the form of version 2.

use serde_json::{Map, Value, json};

use crate::value::{annotation, at};

/// Specs and statuses of metrics. All but CPU stand in annotations, as JSON of version 2beta1.
pub(super) fn of_version_1(object: &Value) -> (Vec<Value>, Vec<Value>) {
    let read = |name: &str| -> Vec<Value> {
        annotation(object, name)
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default()
    };
    let mut specs: Vec<Value> = read("autoscaling.alpha.kubernetes.io/metrics")
        .iter()
        .map(|old| current_form(old, "target"))
        .collect();
    let mut statuses: Vec<Value> = read("autoscaling.alpha.kubernetes.io/current-metrics")
        .iter()
        .map(|old| current_form(old, "current"))
        .collect();
    let cpu = |field: &str, percent: &Value| json!({"type": "Resource", "resource": {"name": "cpu", field: {"averageUtilization": percent}}});
    if let percent @ Value::Number(_) = at(object, "spec.targetCPUUtilizationPercentage") {
        specs.insert(0, cpu("target", percent));
    }
    if let percent @ Value::Number(_) = at(object, "status.currentCPUUtilizationPercentage") {
        statuses.insert(0, cpu("current", percent));
    }
    (specs, statuses)
}

/// One metric: fields such as `targetAverageValue` become `target.averageValue`.
fn current_form(old: &Value, side: &str) -> Value {
    let kind = old["type"].as_str().unwrap_or("");
    let mut letters = kind.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    let field: String = first.into_iter().chain(letters).collect();
    let source = &old[&field];
    let mut values = Map::new();
    let names = [
        (
            "averageUtilization",
            ["targetAverageUtilization", "currentAverageUtilization"],
        ),
        (
            "averageValue",
            ["targetAverageValue", "currentAverageValue"],
        ),
        ("averageValue", ["averageValue", "averageValue"]),
        ("value", ["targetValue", "currentValue"]),
    ];
    let index = usize::from(side == "current");
    for (name, old_names) in names {
        if let value @ (Value::String(_) | Value::Number(_)) = &source[old_names[index]] {
            values.insert(name.to_owned(), value.clone());
        }
    }
    json!({"type": kind, field: {"name": source["name"], side: values}})
}
