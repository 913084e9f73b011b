//! The answer to a question: whether it comes back to who asked, by this node's account and by that of the node
//! where it is answered, if that one was captured as well.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;

use super::answer::Here;
use super::links;
use super::reach::pods;
use super::{Known, routing};
use crate::derive::egress::{captures, has_rules};
use crate::facts::kube::{Node, Pod};
use crate::facts::node::Setting;
use crate::firewall::link::Link;
use crate::firewall::packet::Packet;
use crate::firewall::question::{Answer, Firewall};
use crate::firewall::reply::{Host, Outcome, Reply, reply};
use crate::firewall::route::{Routing, SourceCheck};

/// Nodes that are kept read for the questions of others.
const MOST_FAR: usize = 8;

/// What was captured of another node.
pub(super) struct Far {
    node: String,
    routing: Routing,
    links: Vec<Link>,
    firewall: Firewall,
}

/// Nodes that were read for the questions of others; none for one without rules or routes.
#[derive(Default)]
pub(super) struct FarNodes(RefCell<BTreeMap<String, Option<Rc<Far>>>>);

impl FarNodes {
    fn get(&self, known: &Known<'_>, node: &str) -> Option<Rc<Far>> {
        if let Some(found) = self.0.borrow().get(node) {
            return found.clone();
        }
        let captures = captures(known.documents, node);
        let routing = routing(known, node);
        let far = (has_rules(&captures) && !routing.routes.is_empty()).then(|| {
            Rc::new(Far {
                node: node.to_owned(),
                links: links::read(known, node),
                firewall: Firewall::from_captures(&captures),
                routing,
            })
        });
        let mut all = self.0.borrow_mut();
        if all.len() < MOST_FAR {
            all.insert(node.to_owned(), far.clone());
        }
        far
    }
}

/// What becomes of the answer, and what decides, in words.
pub(super) fn words(
    here: &Here<'_>,
    far: &FarNodes,
    packet: &Packet,
    answer: &Answer,
) -> (String, String) {
    let asked = answer.evaluation.leaves.as_ref().map(|leaves| leaves.dst);
    let far = asked
        .and_then(|asked| node_of(here.known, here.node, asked))
        .and_then(|node| far.get(here.known, &node));
    let known = here.known;
    let far_here = far.as_ref().map(|far| Here {
        known,
        node: &far.node,
        routing: &far.routing,
        links: &far.links,
        firewall: &far.firewall,
    });
    let far_host = far_here.as_ref().map(host);
    let found = reply(packet, answer, &host(here), far_host.as_ref());
    (outcome(here.node, &found), decided_by(&found))
}

/// The other node where an address is a pod's or its own.
fn node_of(known: &Known<'_>, here: &str, address: IpAddr) -> Option<String> {
    let is = |text: &str| text.parse() == Ok(address);
    let pods = known.facts.table::<Pod>().iter().map(|pod| &pod.data);
    let by_pod = pods
        .filter(|pod| pod.ip.as_deref().is_some_and(is) && !pod.node.is_empty())
        .map(|pod| pod.node.clone());
    let nodes = known.facts.table::<Node>().iter().map(|node| &node.data);
    let by_node = nodes
        .filter(|node| node.addresses.iter().any(|one| is(one)))
        .map(|node| node.name.clone());
    by_pod.chain(by_node).find(|node| node != here)
}

fn host<'a>(here: &Here<'a>) -> Host<'a> {
    let on = |name: &str| here.setting(name).map(|(value, _)| value > 0);
    let bridges = here.links.iter().filter(|link| is_bridge(link));
    Host {
        name: here.node,
        firewall: here.firewall,
        routing: here.routing,
        checks: checks(here),
        bridges: bridges.map(|link| link.name.clone()).collect(),
        bridged_pass_rules: on("net.bridge.bridge-nf-call-iptables"),
        forwards: on("net.ipv4.ip_forward"),
        pods: pods(here.known, true, here.node),
        cluster_pods: elsewhere(here.known, here.node),
    }
}

/// How each link looks at sources. A node has thousands of settings, so they are gone through once.
fn checks(here: &Here<'_>) -> BTreeMap<String, SourceCheck> {
    const START: &str = "net.ipv4.conf.";
    let mut values: BTreeMap<(String, String), u8> = BTreeMap::new();
    let settings = here.known.facts.table::<Setting>().iter();
    for setting in settings.filter(|one| one.data.node == here.node) {
        let name = setting.data.name.replace('/', ".");
        let Some((device, what)) = name
            .strip_prefix(START)
            .and_then(|name| name.rsplit_once('.'))
        else {
            continue;
        };
        if let Ok(value) = setting.data.value.parse() {
            let key = (device.to_owned(), what.to_owned());
            values.entry(key).or_insert(value);
        }
    }
    let value = |device: &str, what: &str| {
        let key = (device.to_owned(), what.to_owned());
        values.get(&key).copied()
    };
    let check = |link: &Link| {
        let of = |what: &str| [value("all", what), value(&link.name, what)];
        let on = |what: &str| of(what).into_iter().flatten().any(|value| value > 0);
        let [Some(all), Some(own)] = of("rp_filter") else {
            return None;
        };
        let check = SourceCheck {
            filter: all.max(own),
            accept_local: on("accept_local"),
            src_valid_mark: on("src_valid_mark"),
            has_address: Some(link.addresses.iter().any(IpAddr::is_ipv4)),
        };
        Some((link.name.clone(), check))
    };
    here.links.iter().filter_map(check).collect()
}

/// Addresses of other nodes and of their pods.
fn elsewhere(known: &Known<'_>, node: &str) -> Vec<IpAddr> {
    let nodes = known.facts.table::<Node>().iter().map(|one| &one.data);
    let others = nodes.filter(|one| one.name != node);
    let addresses = others.flat_map(|one| &one.addresses);
    pods(known, false, node)
        .into_iter()
        .chain(addresses.filter_map(|one| one.parse().ok()))
        .collect()
}

/// By its kind, or where that was not shown by the name that CNI plugins and Docker give bridges.
fn is_bridge(link: &Link) -> bool {
    let named = ["cni", "docker", "br-", "kube-bridge", "cbr", "mynet"];
    link.kind == "bridge"
        || (link.kind.is_empty() && named.iter().any(|start| link.name.starts_with(start)))
}

fn outcome(node: &str, found: &Reply) -> String {
    let at = if found.node == node {
        String::new()
    } else {
        format!(" on node {}", found.node)
    };
    match &found.outcome {
        Outcome::Arrives => "arrives".to_owned(),
        Outcome::Foreign { from, why } => {
            format!("comes from {from}, which nobody asked: {why}")
        }
        Outcome::Dropped => format!("dropped{at}"),
        Outcome::Rejected => format!("rejected{at}"),
        Outcome::Lost { why } => format!("lost{at}: {why}"),
        Outcome::Open { why } => format!("not-checked{at}: {why}"),
    }
}

fn decided_by(found: &Reply) -> String {
    if let Some((what, origin)) = &found.decided_by {
        return match origin {
            Some(origin) => format!("{what} ({origin})"),
            None => what.clone(),
        };
    }
    let decided = found
        .evaluation
        .as_ref()
        .and_then(|one| one.decided_by.as_ref());
    decided.map(ToString::to_string).unwrap_or_default()
}
