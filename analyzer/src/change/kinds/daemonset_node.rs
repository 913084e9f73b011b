//! A DaemonSet that keeps away from a node: its pods tolerate the node's taints, and the node has the labels they select.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::label::{Meta, MetaKey};
use super::object::Named;
use super::object_patch::ObjectPatch;
use crate::change::captured::Captured;
use crate::change::{Applied, Kind, Refused};

/// Labels that a program writes again by what it sees of the node.
const DISCOVERED: &str = "feature.node.kubernetes.io/";
/// Taints that stand for a state of the node; the DaemonSet controller tolerates them itself.
const STATES: [&str; 2] = ["node.kubernetes.io/", "node.cloudprovider.kubernetes.io/"];

/// A DaemonSet and a node that shall have a pod of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DaemonSetNode {
    /// Namespace of the DaemonSet.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Node.
    pub node: String,
}

impl Kind for DaemonSetNode {
    fn apply(&self, state: &mut Captured) -> Result<Applied, Refused> {
        let named = Named::new("DaemonSet", Some(&self.namespace), &self.name);
        let missing = |what: &Named| Refused::new(format!("{} holds no {what}", what.entry()));
        let set = named.read(state).ok_or_else(|| missing(&named))?;
        let node = Named::new("Node", None, &self.node);
        let object = node.read(state).ok_or_else(|| missing(&node))?;
        let spec = &set["spec"]["template"]["spec"];
        let labels = labels(spec, &object)?;
        let lacks = untolerated(spec, &object);
        if labels.is_empty() && lacks.is_empty() {
            return Err(Refused::new(format!(
                "{named} selects {node} and tolerates its taints, so something else keeps its pods away"
            )));
        }
        let mut all = Applied::default();
        for (key, value) in labels {
            let key = MetaKey {
                kind: "Node".into(),
                namespace: None,
                name: self.node.clone(),
                key,
                value: Some(value),
            };
            let one = key.set(state, Meta::Labels)?;
            all.actions.extend(one.actions);
            all.title = one.title;
            all.assumes
                .push(format!("no program takes the label {} away again", key.key));
        }
        if !lacks.is_empty() {
            let one = self.tolerating(&named, &set, &lacks).applied(state)?;
            all.actions.extend(one.actions);
            all.title = one.title;
            all.costs.push(format!(
                "pods of {named} run on nodes that are kept free with {}",
                keys(&lacks)
            ));
            let release = set["metadata"]["annotations"]["meta.helm.sh/release-name"].as_str();
            all.assumes.extend(release.map(|release| format!("helm release {release} gets the same values, or its next upgrade takes them back")));
        }
        all.runtime = vec![format!(
            "the DaemonSet controller starts a pod of {named} on {node}; only the cluster shows whether it then registers the GPUs"
        )];
        Ok(all)
    }
}

impl DaemonSetNode {
    /// The patch of the DaemonSet, or of the GPU Operator's policy, which would take a change of the former back.
    fn tolerating(&self, named: &Named, set: &Value, lacks: &[Value]) -> ObjectPatch {
        let mut all = set["spec"]["template"]["spec"]["tolerations"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        all.extend(lacks.iter().cloned());
        let owners = set["metadata"]["ownerReferences"]
            .as_array()
            .into_iter()
            .flatten();
        let policy = owners
            .filter(|one| one["kind"] == "ClusterPolicy")
            .find_map(|one| one["name"].as_str());
        let (named, fields) = match policy {
            Some(policy) => (
                Named::new("ClusterPolicy", None, policy),
                json!({"spec": {"daemonsets": {"tolerations": all}}}),
            ),
            None => (
                named.clone(),
                json!({"spec": {"template": {"spec": {"tolerations": all}}}}),
            ),
        };
        ObjectPatch {
            how: "merge",
            fields,
            title: format!("Tolerate {} in {named}", keys(lacks)),
            follows: format!("its pods may run on node {}", self.node),
            interrupts: "The pods of the DaemonSet are replaced one after another.".into(),
            named,
        }
    }
}

fn keys(tolerations: &[Value]) -> String {
    let keys: Vec<&str> = tolerations
        .iter()
        .filter_map(|one| one["key"].as_str())
        .collect();
    keys.join(", ")
}

/// Tolerations for the taints that keep the pods away.
fn untolerated(spec: &Value, node: &Value) -> Vec<Value> {
    let own: Vec<&Value> = spec["tolerations"]
        .as_array()
        .into_iter()
        .flatten()
        .collect();
    let tolerates = |one: &&Value, taint: &Value| {
        let any = |field: &str| one[field].as_str().is_none_or(str::is_empty);
        let exists = one["operator"] == "Exists";
        (any("effect") || one["effect"] == taint["effect"])
            && ((any("key") && exists) || one["key"] == taint["key"])
            && (exists
                || one["value"].as_str().unwrap_or_default()
                    == taint["value"].as_str().unwrap_or_default())
    };
    let taints = node["spec"]["taints"].as_array().into_iter().flatten();
    let keeps_away = |taint: &&Value| {
        let key = taint["key"].as_str().unwrap_or_default();
        taint["effect"] != "PreferNoSchedule"
            && !STATES.iter().any(|prefix| key.starts_with(prefix))
            && !own.iter().any(|one| tolerates(one, taint))
    };
    taints
        .filter(keeps_away)
        .map(|taint| json!({"key": taint["key"], "operator": "Exists", "effect": taint["effect"]}))
        .collect()
}

/// Labels that the node needs and that a person may set.
fn labels(spec: &Value, node: &Value) -> Result<Vec<(String, String)>, Refused> {
    let has = |key: &str, value: &str| node["metadata"]["labels"][key] == value;
    let mut all = Vec::new();
    for (key, value) in spec["nodeSelector"].as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        if !has(key, value) {
            all.push((key.clone(), value.to_owned()));
        }
    }
    let terms = &spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        ["nodeSelectorTerms"];
    let simple: Vec<Option<(String, String)>> = terms
        .as_array()
        .into_iter()
        .flatten()
        .map(simple_term)
        .collect();
    let fits =
        |term: &Option<(String, String)>| term.as_ref().is_some_and(|(key, value)| has(key, value));
    if !simple.is_empty() && !simple.iter().any(fits) {
        let free = simple
            .into_iter()
            .flatten()
            .find(|(key, _)| !key.starts_with(DISCOVERED));
        all.push(free.ok_or_else(|| Refused::new("the DaemonSet's node affinity asks for labels that a program discovers; repair that program"))?);
    }
    match all.iter().find(|(key, _)| key.starts_with(DISCOVERED)) {
        Some((key, _)) => Err(Refused::new(format!(
            "the node lacks the label {key}, which Node Feature Discovery writes; set by hand it does not stay"
        ))),
        None => Ok(all),
    }
}

/// A term that one label with one value fulfils.
fn simple_term(term: &Value) -> Option<(String, String)> {
    let [only] = term["matchExpressions"].as_array()?.as_slice() else {
        return None;
    };
    let [value] = only["values"].as_array()?.as_slice() else {
        return None;
    };
    (only["operator"] == "In").then_some(())?;
    Some((only["key"].as_str()?.to_owned(), value.as_str()?.to_owned()))
}

/// The kind with the texts of a trial.
#[cfg(test)]
pub(super) fn tried(trial: &super::Trial<'_>) -> Vec<Value> {
    vec![json!({"daemonset-node": {"namespace": "a", "name": trial.bad, "node": trial.bad}})]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_taints_that_keep_the_pods_away_are_tolerated() {
        let spec = json!({"tolerations": [{"key": "a", "operator": "Exists"}, {"key": "b", "value": "1", "effect": "NoSchedule"}]});
        let taint = |key: &str, value: &str, effect: &str| json!({"key": key, "value": value, "effect": effect});
        let node = json!({"spec": {"taints": [
            taint("a", "x", "NoExecute"), taint("b", "2", "NoSchedule"), taint("c", "", "PreferNoSchedule"),
            taint("node.kubernetes.io/unreachable", "", "NoExecute"), taint("nvidia.com/gpu", "true", "NoSchedule")]}});
        assert_eq!(keys(&untolerated(&spec, &node)), "b, nvidia.com/gpu");
    }

    #[test]
    fn a_label_that_a_program_discovers_is_not_set_by_hand() {
        let expects = |key: &str| json!({"matchExpressions": [{"key": key, "operator": "In", "values": ["true"]}]});
        let affinity = |terms: Value| json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}});
        let pci = "feature.node.kubernetes.io/pci-10de.present";
        let both = affinity(json!([expects(pci), expects("nvidia.com/gpu.present")]));
        let node = json!({"metadata": {"labels": {}}});
        assert_eq!(
            labels(&both, &node).unwrap(),
            [("nvidia.com/gpu.present".to_owned(), "true".to_owned())]
        );
        assert!(labels(&affinity(json!([expects(pci)])), &node).is_err());
        let deploy = json!({"nodeSelector": {"nvidia.com/gpu.deploy.device-plugin": "true"}});
        let off = json!({"metadata": {"labels": {"nvidia.com/gpu.deploy.device-plugin": "false"}}});
        assert_eq!(labels(&deploy, &off).unwrap().len(), 1);
    }
}
