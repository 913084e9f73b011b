//! A resource quota that refuses pods, raised by what they lack.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::kube_object::KubeObject;
use super::object::Named;
use super::to_yaml;
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// A quota, and what the API server says when it refuses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Quota {
    /// `resourcequota/NAMESPACE/NAME`.
    pub object: String,
    /// The refusal, which names resources as `requested: R=1, used: R=4, limited: R=4`.
    pub sentence: String,
    /// How many pods are missing.
    pub missing: String,
}

impl Kind for Quota {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let mut parts = self.object.split('/').skip(1);
        let (Some(namespace), Some(name)) = (parts.next(), parts.next()) else {
            return Err(Refused::new(format!(
                "{:?} is no resourcequota/NAMESPACE/NAME",
                self.object
            )));
        };
        let missing: u64 = self.missing.parse().unwrap_or(1).clamp(1, 10_000);
        let mut hard = serde_json::Map::new();
        for (resource, asked) in amounts(&self.sentence, "requested: ") {
            let of = |label: &str| {
                let found = amounts(&self.sentence, label)
                    .into_iter()
                    .find(|(name, _)| *name == resource);
                found.map(|(_, amount)| amount)
            };
            if let (Some(used), Some(limit)) = (of("used: "), of("limited: ")) {
                let needed = used.saturating_add(asked.saturating_mul(missing));
                if needed > limit {
                    hard.insert(resource, Value::String(needed.to_string()));
                }
            }
        }
        if hard.is_empty() {
            return Err(Refused::new(format!(
                "the refusal names no whole numbers to raise {} by; choose the new limit by hand",
                self.object
            )));
        }
        let manifest = to_yaml(&json!({
            "apiVersion": "v1", "kind": "ResourceQuota",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"hard": hard},
        }))?;
        let mut applied = KubeObject {
            manifest,
            patch: true,
            remove: false,
        }
        .apply(state)?;
        // The quota controller copies the new limit to where admission reads it.
        Named::new("ResourceQuota", Some(namespace), name).edit(state, |item| {
            for (resource, amount) in &hard {
                item["status"]["hard"][resource] = amount.clone();
            }
            Ok(())
        })?;
        let raised: Vec<String> = hard
            .iter()
            .map(|(name, amount)| format!("{name} to {}", amount.as_str().unwrap_or_default()))
            .collect();
        applied.costs.push(format!(
            "namespace {namespace} may take more of what others share ({})",
            raised.join(", ")
        ));
        Ok(applied)
    }
}

/// `name=number` pairs after a label, up to the next label.
fn amounts(sentence: &str, label: &str) -> Vec<(String, u64)> {
    let Some((_, rest)) = sentence.split_once(label) else {
        return Vec::new();
    };
    let own = rest.split(": ").next().unwrap_or_default();
    own.split(',')
        .filter_map(|pair| pair.trim().split_once('='))
        .filter_map(|(name, amount)| Some((name.to_owned(), amount.trim().parse().ok()?)))
        .collect()
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<serde_json::Value> {
    let object = format!("resourcequota/a/{}", trial.bad);
    let sentence = "requested: pods=1, used: pods=1, limited: pods=1";
    vec![json!({"quota": {"object": object, "sentence": sentence, "missing": "1"}})]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_from_the_api_servers_refusal() {
        let sentence = "exceeded quota: gpu, requested: pods=1,requests.nvidia.com/gpu=2, used: pods=3,requests.nvidia.com/gpu=4, limited: pods=3,requests.nvidia.com/gpu=4";
        assert_eq!(
            amounts(sentence, "requested: "),
            [
                ("pods".to_owned(), 1),
                ("requests.nvidia.com/gpu".to_owned(), 2)
            ]
        );
        assert_eq!(amounts(sentence, "limited: ")[1].1, 4);
    }
}
