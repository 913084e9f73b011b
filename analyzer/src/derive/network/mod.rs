//! Addresses, routes and links of the nodes: overlaps, MTUs that do not fit, missing routes, resolver
//! files, and whether the traffic that a cluster needs gets through.

mod answer;
pub(crate) mod ask;
#[cfg(test)]
mod ask_tests;
mod links;
mod mtu;
#[cfg(test)]
mod mtu_tests;
mod overlap;
mod path_mtu;
#[cfg(test)]
mod path_mtu_tests;
mod reach;
mod reply;
#[cfg(test)]
mod reply_tests;
mod resolv;
mod routes;
#[cfg(test)]
mod tests;

use super::{Deriver, Known};
use crate::facts::{AnyFact, Fact, FactType};
use crate::firewall::iptables::Origin;
use crate::firewall::question::CapturedText;
use crate::firewall::route::Routing;
use crate::model::Place;

/// Joins links, routes, resolver files, nodes and rules.
pub(super) static DERIVER: Deriver = Deriver {
    id: "node-network",
    derive,
};

fn derive(known: &Known<'_>) -> Vec<AnyFact> {
    let ranges = overlap::ranges(known);
    let mut facts = overlap::of_cluster(&ranges);
    facts.extend(overlap::of_addresses(known, &ranges));
    let far = reply::FarNodes::default();
    let mut nodes = Vec::new();
    for node in known.nodes() {
        let routing = routing(known, &node);
        let links = links::read(known, &node);
        facts.extend(resolv::derive(known, &node, &ranges));
        facts.extend(mtu::derive(&node, &links, &routing));
        facts.extend(mtu::configured(known, &node, &links, &routing));
        if !routing.routes.is_empty() {
            facts.extend(overlap::of_node(&ranges, &node, &routing));
            facts.extend(routes::derive(known, &node, &routing));
        }
        facts.extend(reach::derive(known, &node, &routing, &links, &far));
        // One without links and routes leads nowhere, and there may be very many.
        if !links.is_empty() || !routing.routes.is_empty() {
            nodes.push(path_mtu::OfNode::new(known, &node, links, routing));
        }
    }
    facts.extend(path_mtu::derive(known, &nodes));
    facts.extend(mtu::between_nodes(known, &nodes));
    facts
}

/// The captured output of a command on a node.
fn command<'a>(known: &Known<'a>, node: &str, name: &str) -> Option<CapturedText<'a>> {
    let path = format!("nodes/{node}/commands/{name}.out");
    let (path, text) = known.documents.get_key_value(&path)?;
    Some(CapturedText { path, text })
}

fn routing(known: &Known<'_>, node: &str) -> Routing {
    let mut routing = Routing::default();
    for name in ["ip-route", "ip6-route"] {
        if let Some(captured) = command(known, node, name) {
            routing.read_routes(captured);
        }
    }
    for name in ["ip-rule", "ip6-rule"] {
        if let Some(captured) = command(known, node, name) {
            routing.read_rules(captured);
        }
    }
    let own = links::local(&links::read(known, node), &routing);
    routing.routes.extend(own);
    routing
}

/// A fact that stands at a place, with the text there.
fn fact<T: FactType>(data: T, origin: &Origin, text: &str) -> AnyFact {
    Fact {
        data,
        place: Place {
            path: origin.path.as_ref().into(),
            line: (origin.line > 0).then_some(origin.line),
        },
        text: crate::facts::excerpt(text, 300).into(),
        at: None,
    }
    .into()
}
