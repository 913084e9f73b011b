//! A container that asks HAMi for more vGPUs than any node has cards, with as many as there are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::object::Named;
use super::pod_spec::PodSpec;
use super::workload;
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// Where HAMi's plugin notes the cards of a node, each ended by a colon.
const REGISTER: &str = "hami.io/node-nvidia-register";
const RESOURCE: &str = "nvidia.com/gpu";

/// A pod that shall ask for no more vGPUs than a node has cards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HamiCards {
    /// `NAMESPACE/NAME` of the pod.
    pub pod: String,
}

impl Kind for HamiCards {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let spec = workload::spec(state, &self.pod)?;
        let cards = most_cards(state)?;
        let containers: Vec<Value> = spec["containers"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|one| asked(one).is_some_and(|asked| asked > cards))
            .map(|one| lowered(one, cards))
            .collect();
        if containers.is_empty() {
            return Err(Refused::new(format!(
                "no container of {} asks for more vGPUs than the {cards} cards of a node",
                self.pod
            )));
        }
        let change = PodSpec {
            pod: self.pod.clone(),
            spec: json!({"containers": containers}).to_string(),
            metadata: None,
            container: None,
        };
        change.apply(state)
    }
}

/// The cards of the node that registered most of them.
fn most_cards(state: &mut Captured) -> Result<usize, Refused> {
    let path = Named::new("Node", None, "x").entry();
    let text = state.now(&path).unwrap_or_default();
    let list: Value = serde_json::from_str(&text).unwrap_or_default();
    let nodes = list["items"].as_array().into_iter().flatten();
    let registered = nodes.filter_map(|node| node["metadata"]["annotations"][REGISTER].as_str());
    let count = |text: &str| text.split(':').filter(|card| card.contains(',')).count();
    match registered.map(count).max() {
        Some(cards) if cards > 0 => Ok(cards),
        _ => Err(Refused::new(format!(
            "no node of {path} has cards registered with HAMi, so their number is not known"
        ))),
    }
}

fn asked(container: &Value) -> Option<usize> {
    let amount = &container["resources"]["limits"][RESOURCE];
    amount
        .as_str()
        .map_or_else(|| amount.to_string(), str::to_owned)
        .parse()
        .ok()
}

fn lowered(container: &Value, cards: usize) -> Value {
    let now = json!({RESOURCE: cards.to_string()});
    let mut resources = json!({"limits": now});
    if container["resources"]["requests"].get(RESOURCE).is_some() {
        resources["requests"] = now;
    }
    json!({"name": container["name"], "resources": resources})
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<Value> {
    vec![json!({"hami-cards": {"pod": format!("a/{}", trial.bad)}})]
}
