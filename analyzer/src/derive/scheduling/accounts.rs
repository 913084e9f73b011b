//! What each node has of its devices and what pods hold; HAMi's cards; quotas that keep pods from being made.

use std::collections::BTreeSet;

use super::{Known, beside};
use crate::facts::AnyFact;
use crate::facts::scheduling::{HamiCard, NodeResource, QuotaRefusal};
use crate::parsers::missing_pods;
use crate::scheduling::hami::Pool;
use crate::scheduling::requests::pod_requests;
use crate::scheduling::{Cluster, api, quota};

pub(super) fn facts(known: &Known<'_>, cluster: &Cluster<'_>) -> Vec<AnyFact> {
    let mut facts = Vec::new();
    let pool = Pool::of(cluster);
    let mut cards = Vec::new();
    for node in known.facts.table::<api::Node>() {
        for resource in resources(&node.data, cluster) {
            let account = account(&node.data, resource, cluster);
            facts.push(beside(account, node));
        }
        if let Some(Ok(own)) = pool.cards(&node.data.metadata.name) {
            let own = own.iter();
            cards.extend(own.map(|card| (hami_card(&node.data.metadata.name, card), node)));
        }
    }
    mark_roomiest(&mut cards);
    facts.extend(cards.into_iter().map(|(card, node)| beside(card, node)));
    facts.extend(refusals(known, cluster));
    facts
}

/// Devices that a node has or that its pods ask for.
fn resources<'a>(node: &'a api::Node, cluster: &'a Cluster<'_>) -> BTreeSet<&'a str> {
    let status = &node.status;
    let lists = [
        &status.capacity,
        &status.allocatable,
        &cluster.load(&node.metadata.name).allocated,
    ];
    let names = lists
        .into_iter()
        .flat_map(|list| list.iter().map(|(name, _)| name));
    names.filter(|name| name.contains('/')).collect()
}

fn account(node: &api::Node, resource: &str, cluster: &Cluster<'_>) -> NodeResource {
    let load = cluster.load(&node.metadata.name);
    let capacity = node.status.capacity.of(resource);
    let allocatable = node.status.allocatable.of(resource);
    let allocated = load.allocated.of(resource);
    let holders = load.pods.iter().filter_map(|pod| {
        let amount = pod_requests(&pod.spec).of(resource);
        (amount > 0).then(|| format!("{} {amount}", pod.id()))
    });
    let mut holders: Vec<String> = holders.collect();
    holders.sort();
    NodeResource {
        node: node.metadata.name.clone(),
        resource: resource.to_owned(),
        capacity,
        allocatable,
        allocated,
        free: allocatable.saturating_sub(allocated),
        unhealthy: capacity.saturating_sub(allocatable).max(0),
        holders,
    }
}

fn hami_card(node: &str, card: &crate::scheduling::hami::Card) -> HamiCard {
    HamiCard {
        node: node.to_owned(),
        uuid: card.id.clone(),
        kind: card.kind.clone(),
        mode: card.mode.clone(),
        healthy: card.health,
        slots: card.count,
        slots_held: card.used,
        memory: card.devmem,
        memory_held: card.used_memory,
        slots_free: card.count.saturating_sub(card.used),
        memory_free: card.devmem.saturating_sub(card.used_memory),
        cores_free: card.devcore.saturating_sub(card.used_cores),
        cores: card.devcore,
        cores_held: card.used_cores,
        holders: card.holders.clone(),
        roomiest: false,
    }
}

/// Marks the cards that have as much memory left as any that takes another container.
fn mark_roomiest<T>(cards: &mut [(HamiCard, T)]) {
    let takes = |card: &HamiCard| card.healthy && card.slots_free > 0;
    let free = cards.iter().filter(|(card, _)| takes(card));
    let most = free.map(|(card, _)| card.memory_free).max();
    for (card, _) in cards {
        card.roomiest = takes(card) && Some(card.memory_free) == most;
    }
}

fn refusals(known: &Known<'_>, cluster: &Cluster<'_>) -> Vec<AnyFact> {
    let (quotas, ranges) = (&cluster.inputs.quotas, &cluster.inputs.limit_ranges);
    let mut facts = Vec::new();
    for workload in known.facts.table::<api::Workload>() {
        let namespace = &workload.data.metadata.namespace;
        let template = &workload.data.spec.template.spec;
        if let Some(refusal) = quota::refuses(template, namespace, quotas, ranges, cluster.release)
        {
            let fact = QuotaRefusal {
                namespace: namespace.clone(),
                workload: format!("{}/{}", workload.data.kind, workload.data.metadata.name),
                missing: missing_pods(&workload.data),
                object: refusal.object,
                sentence: refusal.says,
            };
            facts.push(beside(fact, workload));
        }
    }
    facts
}
