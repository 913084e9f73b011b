//! Which pods a quota with scopes counts (`pkg/quota/v1/evaluator/core/pods.go` of kubernetes).

use serde::Deserialize;

use super::api::{PodSpec, QuotaSpec};

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Selector {
    match_expressions: Vec<Expression>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Expression {
    scope_name: String,
    operator: String,
    values: Vec<String>,
}

/// Whether the quota counts the pod: all of its scopes have to fit. `None` where a scope is not known here.
pub(super) fn counts(quota: &QuotaSpec, pod: &PodSpec) -> Option<bool> {
    let mut all = true;
    for scope in &quota.scopes {
        all &= fits(scope, "Exists", &[], pod)?;
    }
    if let Some(selector) = &quota.scope_selector {
        let selector: Selector = serde_json::from_value(selector.clone()).ok()?;
        for one in &selector.match_expressions {
            all &= fits(&one.scope_name, &one.operator, &one.values, pod)?;
        }
    }
    Some(all)
}

fn fits(scope: &str, operator: &str, values: &[String], pod: &PodSpec) -> Option<bool> {
    let ends = pod
        .active_deadline_seconds
        .is_some_and(|seconds| seconds >= 0);
    match scope {
        "Terminating" => Some(ends),
        "NotTerminating" => Some(!ends),
        "BestEffort" => Some(best_effort(pod)),
        "NotBestEffort" => Some(!best_effort(pod)),
        "PriorityClass" => {
            let class = &pod.priority_class_name;
            match operator {
                "Exists" => Some(!class.is_empty()),
                "DoesNotExist" => Some(class.is_empty()),
                "In" => Some(values.contains(class)),
                "NotIn" => Some(!values.contains(class)),
                _ => None,
            }
        }
        // Counts claims, never pods.
        "VolumeAttributesClass" => Some(false),
        _ => None,
    }
}

/// No container asks for processor time or memory.
fn best_effort(pod: &PodSpec) -> bool {
    let mut containers = pod.containers.iter().chain(&pod.init_containers);
    !containers.any(|one| {
        let resources = [&one.resources.requests, &one.resources.limits];
        resources
            .into_iter()
            .flat_map(|all| all.iter())
            .any(|(name, amount)| matches!(name, "cpu" | "memory") && amount > 0)
    })
}
