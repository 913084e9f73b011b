//! A pod whose image is for another CPU architecture than its node's: it runs on nodes of the architecture that fits.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::object::Named;
use super::pod_spec::PodSpec;
use super::{objects, workload};
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

const LABEL: &str = "kubernetes.io/arch";

/// A pod that does not run where it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImageArch {
    /// `NAMESPACE/NAME` of the pod.
    pub pod: String,
    /// Its container that does not run.
    pub container: String,
}

impl Kind for ImageArch {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let spec = workload::spec(state, &self.pod)?;
        let node = spec["nodeName"].as_str().unwrap_or_default().to_owned();
        let own = arch_of(state, &node).ok_or_else(|| {
            Refused::new(format!(
                "the architecture of node {node:?} was not collected"
            ))
        })?;
        let containers = spec["containers"].as_array().into_iter().flatten();
        let image = containers
            .filter(|one| one["name"] == self.container.as_str())
            .find_map(|one| one["image"].as_str());
        let image = image.map(str::to_owned).ok_or_else(|| {
            Refused::new(format!(
                "{} has no container {:?}",
                self.pod, self.container
            ))
        })?;
        let runs: BTreeSet<String> = nodes_that_run(state, &image)
            .iter()
            .filter_map(|node| arch_of(state, node))
            .filter(|arch| *arch != own)
            .collect();
        let runs: Vec<String> = runs.into_iter().collect();
        let [arch] = runs.as_slice() else {
            return Err(Refused::new(format!(
                "nodes of {} other architectures are shown to run {image}, so for which it was built is not known",
                runs.len()
            )));
        };
        let change = PodSpec {
            pod: self.pod.clone(),
            spec: json!({"nodeSelector": {LABEL: arch}}).to_string(),
            metadata: None,
            container: None,
        };
        let mut applied = change.apply(state)?;
        applied.costs = vec![format!(
            "{} runs on nodes of {arch} only, and no longer on {own}",
            self.pod
        )];
        Ok(applied.only_there(format!(
            "pods of {} start on nodes of {arch}; only the cluster shows whether they run there",
            self.pod
        )))
    }
}

fn arch_of(state: &mut Captured, node: &str) -> Option<String> {
    let node = Named::new("Node", None, node).read(state)?;
    let label = node["metadata"]["labels"][LABEL].as_str();
    let told = node["status"]["nodeInfo"]["architecture"].as_str();
    label.or(told).map(str::to_owned)
}

/// Nodes where a container of this image runs and is ready.
fn nodes_that_run(state: &mut Captured, image: &str) -> BTreeSet<String> {
    let pods = objects(state, "pods").into_iter();
    let own = pods.filter(|pod| runs(pod, image));
    own.filter_map(|pod| pod["spec"]["nodeName"].as_str().map(str::to_owned))
        .collect()
}

/// Whether a container of the image is ready; the status may write the image's name in full, so that the spec tells it.
fn runs(pod: &Value, image: &str) -> bool {
    let containers = pod["spec"]["containers"].as_array().into_iter().flatten();
    let named: Vec<&Value> = containers
        .filter(|one| one["image"] == image)
        .map(|one| &one["name"])
        .collect();
    let statuses = pod["status"]["containerStatuses"].as_array();
    statuses
        .into_iter()
        .flatten()
        .any(|one| named.contains(&&one["name"]) && one["ready"] == true)
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<Value> {
    vec![json!({"image-arch": {"pod": format!("a/{}", trial.bad), "container": trial.bad}})]
}
