//! HAMi's accounting of shared GPUs: what its device plugin registered on each node, what pods hold of it, and on
//! which card a pending pod's containers would fit. Source: `pkg/device` and `pkg/scheduler` of Project-HAMi/HAMi.

mod card;
mod fit;
mod register;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use card::Card;
pub use fit::{Ask, Defaults, Refused, asks, place};
pub use register::{allocated, devices};

use super::api::{Node, Pod};
use super::cluster::Cluster;
use super::predicates::{Predicate, Reason};

/// Annotation of a node: its cards.
pub const REGISTER: &str = "hami.io/node-nvidia-register";
/// Annotation of a node: when scheduler and device plugin last heard of one another.
pub const HANDSHAKE: &str = "hami.io/node-handshake";
/// Annotation of a pod: node that HAMi chose.
pub const NODE: &str = "hami.io/vgpu-node";
/// Annotation of a pod: cards that it holds.
pub const ALLOCATED: &str = "hami.io/vgpu-devices-allocated";

/// Cards of all nodes, with what pods hold of them.
#[derive(Debug, Clone, Default)]
pub struct Pool {
    defaults: Defaults,
    nodes: BTreeMap<String, Result<Vec<Card>, String>>,
}

impl Pool {
    /// Reads what is registered and takes off what pods hold.
    pub fn of(cluster: &Cluster<'_>) -> Self {
        let mut nodes: BTreeMap<String, Result<Vec<Card>, String>> = BTreeMap::new();
        for node in &cluster.inputs.nodes {
            nodes.insert(node.metadata.name.clone(), registered(node));
        }
        for pod in cluster.inputs.pods.iter().filter(|pod| !pod.ended()) {
            let annotations = &pod.metadata.annotations;
            let (Some(node), Some(held)) = (annotations.get(NODE), annotations.get(ALLOCATED))
            else {
                continue;
            };
            if let Some(Ok(cards)) = nodes.get_mut(node) {
                for share in allocated(held).into_iter().flatten() {
                    if let Some(card) = cards.iter_mut().find(|card| card.is(&share.uuid)) {
                        card.take(&share, &pod.id());
                    }
                }
            }
        }
        Self {
            defaults: cluster.inputs.hami,
            nodes,
        }
    }

    /// The cards of a node, or why there are none.
    pub fn cards(&self, node: &str) -> Option<&Result<Vec<Card>, String>> {
        self.nodes.get(node)
    }

    /// What HAMi's extender has against a node, if anything.
    pub fn filter(&self, pod: &Pod, node: &Node) -> Option<Reason> {
        let wanted = asks(pod, self.defaults);
        if wanted.is_empty() {
            return None;
        }
        let (says, detail) = match self.nodes.get(&node.metadata.name)? {
            Err(why) => ("node unregistered", why.clone()),
            Ok(cards) => match place(cards, &wanted, &pod.metadata.annotations) {
                Ok(_) => return None,
                Err(refused) => ("NodeUnfitPod", refused.to_string()),
            },
        };
        Some(Reason {
            predicate: Predicate::Hami,
            says: says.to_owned(),
            detail,
            about: String::new(),
            unresolvable: false,
        })
    }
}

/// The cards that a node registered; an error says why the scheduler would not know the node.
fn registered(node: &Node) -> Result<Vec<Card>, String> {
    let annotations = &node.metadata.annotations;
    if let Some(handshake) = annotations.get(HANDSHAKE)
        && handshake.starts_with("Deleted")
    {
        return Err(format!(
            "HAMi's scheduler gave the node up: {HANDSHAKE} is {handshake}"
        ));
    }
    match annotations.get(REGISTER) {
        None => Err(format!("the node has no annotation {REGISTER}")),
        Some(text) => devices(text),
    }
}
