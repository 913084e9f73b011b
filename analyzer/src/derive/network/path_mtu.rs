//! The largest packet that gets from a pod to another node's pod, and out: over every node whose bundle is there.

use std::net::IpAddr;

use ipnet::IpNet;

use super::reach::{interface, pods};
use super::{Known, fact};
use crate::derive::egress::words::in_words;
use crate::derive::egress::{OUTSIDE, captures, has_rules};
use crate::facts::kube::{Node, Pod};
use crate::facts::network::PathMtu;
use crate::facts::{AnyFact, Fact};
use crate::firewall::iptables::Origin;
use crate::firewall::link::Link;
use crate::firewall::mtu::{
    Beyond, Fate, Host, Tcp, Way, is_nominal, needed, rules_say, tcp, walk,
};
use crate::firewall::packet::{Direction, Interface, Packet};
use crate::firewall::question::{Firewall, pod_to_tcp};
use crate::firewall::route::Routing;
use crate::model::Place;
use crate::model::state::{PacketPath, PathStep};
use crate::shared::Shared;

/// An ordinary port of a pod.
const POD_PORT: u16 = 8080;

/// What was read of a node.
pub(super) struct OfNode {
    pub(super) name: String,
    pub(super) links: Vec<Link>,
    pub(super) routing: Routing,
    firewall: Option<Firewall>,
}

impl OfNode {
    pub(super) fn new(known: &Known<'_>, name: &str, links: Vec<Link>, routing: Routing) -> OfNode {
        let captures = captures(known.documents, name);
        OfNode {
            firewall: has_rules(&captures).then(|| Firewall::from_captures(&captures)),
            name: name.to_owned(),
            links,
            routing,
        }
    }
}

/// One question: a packet of a pod of a node, and the largest that the pod sends.
struct Question {
    name: &'static str,
    packet: Packet,
    offered: u64,
    /// What the receiver takes, where its node's bundle is there.
    taken: Option<u64>,
}

/// The answers for every node.
pub(super) fn derive(known: &Known<'_>, nodes: &[OfNode]) -> Vec<AnyFact> {
    let ends = ends(known);
    let hosts: Vec<Host<'_>> = nodes
        .iter()
        .map(|node| Host {
            name: &node.name,
            links: &node.links,
            routing: &node.routing,
            firewall: node.firewall.as_ref(),
            ends: &ends,
        })
        .collect();
    let mut facts = Vec::new();
    for at in 0..hosts.len() {
        for question in questions(known, &hosts, at) {
            facts.extend(answer(&hosts, at, &question));
        }
    }
    facts
}

/// Where pods are: their addresses and ranges with the address of their node.
fn ends(known: &Known<'_>) -> Vec<(IpNet, IpAddr)> {
    let nodes = || known.facts.table::<Node>().iter().map(|node| &node.data);
    let address = |node: &Node| node.addresses.iter().find_map(|one| one.parse().ok());
    let ranges = nodes().flat_map(|node| {
        let ranges = node.pod_cidrs.iter().filter_map(|range| range.parse().ok());
        ranges.zip(std::iter::repeat(address(node)))
    });
    let pods = known.facts.table::<Pod>().iter().map(|pod| &pod.data);
    let pods = pods.filter(|pod| !pod.host_network).filter_map(|pod| {
        let own: IpAddr = pod.ip.as_ref()?.parse().ok()?;
        let node = nodes().find(|node| node.name == pod.node)?;
        Some((IpNet::from(own), address(node)))
    });
    // A tunnel's own address on a node (flannel's .0) lies in the range, too.
    ranges
        .chain(pods)
        .filter_map(|(range, end)| Some((range, end?)))
        .collect()
}

fn questions(known: &Known<'_>, hosts: &[Host<'_>], at: usize) -> Vec<Question> {
    let host = &hosts[at];
    let found = pods(known, true, host.name).into_iter().find_map(|pod| {
        let inside = interface(host.routing, pod)?;
        let Interface::Name(name) = &inside else {
            return None;
        };
        // Where a program sets sizes inside of pods, the link shows none of them.
        let link = host.link(name).filter(|link| !is_nominal(link))?;
        Some((pod, inside.clone(), link))
    });
    let Some((from, inside, link)) = found else {
        return Vec::new();
    };
    let offered = of_pods(host, link);
    let packet = |to: IpAddr, port: u16| {
        let mut packet = pod_to_tcp(from, Some(inside.clone()), None, to, port);
        packet.mark = Some(0);
        packet
    };
    let there = pods(known, false, host.name);
    let other = there
        .into_iter()
        .find(|other| other.is_ipv4() == from.is_ipv4());
    let mut questions: Vec<Question> = other
        .map(|to| Question {
            name: "pod to pod on another node",
            packet: packet(to, POD_PORT),
            offered,
            taken: hosts.iter().find_map(|host| {
                let Interface::Name(name) = interface(host.routing, to)? else {
                    return None;
                };
                let link = host.link(&name)?;
                let direct = hosts[at].name != host.name && is_pods(link);
                direct.then(|| of_pods(host, link))
            }),
        })
        .into_iter()
        .collect();
    if from.is_ipv4() {
        questions.push(Question {
            name: "pod to the outside",
            packet: packet(OUTSIDE, 443),
            offered,
            taken: None,
        });
    }
    questions
}

fn is_pods(link: &Link) -> bool {
    matches!(link.kind.as_str(), "veth" | "bridge") || link.name.starts_with("cali")
}

/// What pods behind a link send: both sides of a pod's link have one size; behind a bridge its largest port counts.
fn of_pods(host: &Host<'_>, link: &Link) -> u64 {
    let ports = host
        .links
        .iter()
        .filter(|port| port.master.as_ref() == Some(&link.name));
    ports.map(|port| port.mtu).max().unwrap_or(link.mtu)
}

fn answer(hosts: &[Host<'_>], at: usize, question: &Question) -> Vec<AnyFact> {
    let packet = &question.packet;
    let way = walk(hosts, at, packet);
    if way.steps.is_empty() {
        return Vec::new();
    }
    let back = walk(hosts, at, &answering(packet, &way));
    let taken = question.taken.unwrap_or(question.offered);
    let tcp = tcp(
        hosts,
        (&way, &back),
        packet.src,
        Some((question.offered, taken)),
    );
    let (verdict, because, origin) = judge(&way, &tcp, question.offered);
    let mut data = PathMtu {
        node: hosts[at].name.to_owned(),
        question: question.name.to_owned(),
        packet: in_words(packet),
        offered: question.offered,
        largest: way.steps.iter().filter_map(|step| step.largest).min(),
        starts_with: tcp.starts_with,
        verdict: verdict.to_owned(),
        because,
        clamp: tcp.clamp.as_ref().map_or_else(String::new, |clamp| {
            format!("`{}` ({})", clamp.text, clamp.origin)
        }),
        answers: answers(&hosts[at], &way, packet),
        walk: way.steps.iter().map(ToString::to_string).collect(),
        open: way.open.clone(),
    };
    if question.taken.is_none() {
        let what = "the other end's size was not collected: this pod's size is assumed";
        data.open.push(what.to_owned());
    }
    let matters = matches!(
        data.verdict.as_str(),
        "black-hole" | "told" | "fragmented" | "clamped"
    );
    let picture = matters.then(|| picture(hosts, &data, &way, &origin));
    let text = way.tightest().map_or("", |step| step.text.as_str());
    std::iter::once(fact(data, &origin, text))
        .chain(picture)
        .collect()
}

/// The answer's packet as this node gets it.
fn answering(packet: &Packet, way: &Way) -> Packet {
    let mut back = packet.clone();
    (back.src, back.dst) = (packet.dst, packet.src);
    (back.sport, back.dport) = (packet.dport, packet.sport);
    back.out_iface = None;
    back.in_iface = way
        .passed
        .first()
        .and_then(|passed| passed.packet.out_iface.clone());
    back
}

/// Verdict, what it rests on, and where that stands.
fn judge(way: &Way, tcp: &Tcp, offered: u64) -> (&'static str, String, Origin) {
    let step = |at: usize| &way.steps[at];
    let first = || way.tightest().unwrap_or(&way.steps[0]);
    let said = |verdict, at: usize| (verdict, step(at).to_string(), step(at).origin.clone());
    match (tcp.passes, tcp.stopped_at) {
        (Some(false), Some(at)) => {
            let origin = tcp.deaf.clone().unwrap_or_else(|| step(at).origin.clone());
            let because = if tcp.deaf.is_some() {
                format!("{}; {}", step(at), tcp.why)
            } else {
                tcp.why.clone()
            };
            ("black-hole", because, origin)
        }
        (Some(true), Some(at)) => said("told", at),
        (None, Some(at)) => {
            let because = format!(
                "{}; whether the pod hears of it is open: {}",
                step(at),
                tcp.why
            );
            ("not-checked", because, step(at).origin.clone())
        }
        _ => {
            let whole = |size: u64| way.fate(size) == Fate::Passes { fragmented: false };
            let verdict = match (whole(tcp.starts_with), whole(offered), &tcp.clamp) {
                (false, ..) => "fragmented",
                (true, false, Some(_)) => "clamped",
                // The other end announces less than this pod would send.
                (true, ..) if way.reached.is_some() => "fits",
                (true, ..) => "fits-as-far-as-known",
            };
            (verdict, first().to_string(), first().origin.clone())
        }
    }
}

/// What the node does with the answer of a router beyond it to one of its pods.
fn answers(host: &Host<'_>, way: &Way, packet: &Packet) -> String {
    let mut answer = needed(Direction::Forward, packet.dst, packet.src);
    answer.out_iface = packet.in_iface.clone();
    answer.in_iface = way
        .passed
        .first()
        .and_then(|passed| passed.packet.out_iface.clone());
    answer.bridge_ports = packet.bridge_ports.clone();
    rules_say(host, &answer)
}

/// The sizes as a drawing.
fn picture(hosts: &[Host<'_>], data: &PathMtu, way: &Way, origin: &Origin) -> AnyFact {
    let place = |origin: &Origin| Place {
        path: origin.path.as_ref().into(),
        line: (origin.line > 0).then_some(origin.line),
    };
    let steps = way.steps.iter().map(|step| PathStep {
        chain: format!("{} {}", hosts[step.host].name, step.device),
        rule: step.text.clone(),
        does: in_short(step.largest, step.beyond),
        place: Some(place(&step.origin)),
    });
    let path = PacketPath {
        node: data.node.clone(),
        question: format!("{}, by its size", data.question),
        packet: format!("{}, up to {} bytes", data.packet, data.offered),
        verdict: data.verdict.clone(),
        steps: steps.collect(),
        left_out: 0,
        decided_by: data.because.clone(),
    };
    Fact {
        data: path,
        place: place(origin),
        text: Shared::default(),
        at: None,
    }
    .into()
}

fn in_short(largest: Option<u64>, beyond: Beyond) -> String {
    let Some(size) = largest else {
        return "takes all that comes this far".to_owned();
    };
    let beyond = match beyond {
        Beyond::Sender { .. } => "refused to the sender at once",
        Beyond::Told { .. } => "dropped with an answer",
        Beyond::Fragmented => "sent on in fragments",
        Beyond::Lost => "dropped without an answer",
    };
    format!("takes {size} bytes of the pod; larger ones are {beyond}")
}
