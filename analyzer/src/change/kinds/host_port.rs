//! A port of the node that a pod asks for and another program has: the pod does without it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::workload;
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// A pod that shall ask for no port of its node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostPort {
    /// `NAMESPACE/NAME` of the pod.
    pub pod: String,
}

impl Kind for HostPort {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let spec = workload::spec(state, &self.pod)?;
        if spec["hostNetwork"] == true {
            return Err(Refused::new(format!(
                "{} uses the node's network, so its ports are the node's; a person decides whether it needs that",
                self.pod
            )));
        }
        let (containers, ports) = without(&spec);
        if ports.is_empty() {
            return Err(Refused::new(format!(
                "{} asks for no port of its node",
                self.pod
            )));
        }
        let ports = ports.join(", ");
        let title = format!("Do without the host port {ports}");
        let mut applied =
            workload::change(state, &self.pod, &json!({"containers": containers}), &title)?;
        applied.costs.push(format!(
            "port {ports} of the node no longer leads to {}; who uses it has to use a Service",
            self.pod
        ));
        Ok(applied)
    }
}

/// The containers with host ports, each port without its own, and those ports.
fn without(spec: &Value) -> (Vec<Value>, Vec<String>) {
    let (mut containers, mut taken) = (Vec::new(), Vec::new());
    for one in spec["containers"].as_array().into_iter().flatten() {
        let ports = one["ports"].as_array().into_iter().flatten();
        let own = ports.filter(|port| port["hostPort"].as_u64().is_some_and(|port| port > 0));
        let freed: Vec<Value> = own
            .inspect(|port| taken.push(port["hostPort"].to_string()))
            .map(|port| json!({"containerPort": port["containerPort"], "hostPort": null}))
            .collect();
        if !freed.is_empty() {
            containers.push(json!({"name": one["name"], "ports": freed}));
        }
    }
    (containers, taken)
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<Value> {
    vec![json!({"host-port": {"pod": format!("a/{}", trial.bad)}})]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_of_the_node_go_and_the_containers_own_stay() {
        let spec = json!({"containers": [
            {"name": "a", "ports": [{"containerPort": 80, "hostPort": 8080}, {"containerPort": 9}]}, {"name": "b"}]});
        let (containers, ports) = without(&spec);
        assert_eq!(ports, ["8080"]);
        assert_eq!(
            containers,
            [json!({"name": "a", "ports": [{"containerPort": 80, "hostPort": null}]})]
        );
    }
}
