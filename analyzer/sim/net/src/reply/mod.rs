//! The answer to a packet: where it goes, what its node's rules, routes and settings do with it, and whether who
//! asked hears it from the address that was asked.
//!
//! Connection tracking writes translations back only where it saw the question. An answer that takes another way
//! comes from an address that nobody asked, and one that a rule, a route or a source check stops never comes.

mod passage;
#[cfg(test)]
mod tests;
mod way;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::connection::Served;
use super::eval::{Evaluation, Verdict};
use super::iptables::Origin;
use super::packet::{CtState, Direction, Interface, Packet, Protocol, tcp_flag};
use super::question::{Answer, Firewall};
use super::route::{Route, Routing, Source, SourceCheck};
pub use passage::Passage;
use passage::passages;
use way::{WayBack, arrives_by, way_back};

/// What decides over packets on a node.
#[derive(Debug, Clone)]
pub struct Host<'a> {
    /// Name of the node.
    pub name: &'a str,
    /// Its rules.
    pub firewall: &'a Firewall,
    /// Its routes.
    pub routing: &'a Routing,
    /// How each interface looks at sources; interfaces whose settings are not known are left out.
    pub checks: BTreeMap<String, SourceCheck>,
    /// Interfaces that are bridges.
    pub bridges: BTreeSet<String>,
    /// Whether bridged frames pass the rules (`net.bridge.bridge-nf-call-iptables`).
    pub bridged_pass_rules: Option<bool>,
    /// Whether it forwards packets (`net.ipv4.ip_forward`), where that is known.
    pub forwards: Option<bool>,
    /// Addresses of pods of this node, each behind an interface of its own or on a bridge.
    pub pods: Vec<IpAddr>,
    /// Addresses of other nodes and of their pods.
    pub cluster_pods: Vec<IpAddr>,
}

/// What becomes of the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It leaves for who asked, from the address and port that were asked.
    Arrives,
    /// It reaches who asked from another address or port, where no connection waits for it.
    Foreign {
        /// Where it comes from.
        from: IpAddr,
        /// Why, as a sentence fragment.
        why: String,
    },
    /// A rule drops it, or the look at its source.
    Dropped,
    /// A rule refuses it.
    Rejected,
    /// It is not sent, or has nowhere to go.
    Lost {
        /// Why, as a sentence fragment.
        why: String,
    },
    /// The captures do not tell.
    Open {
        /// What is missing, as a sentence fragment.
        why: String,
    },
}

/// The answer to one packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// What becomes of it.
    pub outcome: Outcome,
    /// The answer as it comes to the node that decides, before translations are written back.
    pub packet: Option<Packet>,
    /// What that node's rules do with it: verdict, deciding rule, walk.
    pub evaluation: Option<Evaluation>,
    /// The setting or route that decides in place of a rule, with where it stands.
    pub decided_by: Option<(String, Option<Origin>)>,
    /// Node that decides.
    pub node: String,
    /// Why it comes this way, as a sentence fragment.
    pub way: String,
}

impl Reply {
    fn open(node: &str, why: &str) -> Reply {
        Reply::ended(
            node,
            Outcome::Open {
                why: why.to_owned(),
            },
        )
    }

    fn ended(node: &str, outcome: Outcome) -> Reply {
        Reply {
            outcome,
            packet: None,
            evaluation: None,
            decided_by: None,
            node: node.to_owned(),
            way: String::new(),
        }
    }

    /// A setting or a route decides before the rules that filter are asked.
    fn decide_early(&mut self, what: String, origin: Option<Origin>) {
        self.decided_by = Some((what, origin));
        if let Some(evaluation) = &mut self.evaluation {
            evaluation.walk.truncate(evaluation.early);
            evaluation.decided_by = None;
        }
    }

    /// True where who asked certainly gets no answer that it takes.
    pub fn fails(&self) -> bool {
        !matches!(self.outcome, Outcome::Arrives | Outcome::Open { .. })
    }
}

/// The answer to a packet that a node let through as `answer` says. `far` is the node where what was asked
/// runs, where that is another one and was captured.
pub fn reply(asked: &Packet, answer: &Answer, here: &Host<'_>, far: Option<&Host<'_>>) -> Reply {
    match &answer.evaluation.verdict {
        Verdict::Undecided { why } => {
            let why = format!("what becomes of the packet itself is not known: {why}");
            return Reply::open(here.name, &why);
        }
        Verdict::Dropped | Verdict::Rejected => {
            let why = "nothing is answered: the packet itself does not pass".to_owned();
            return Reply::ended(here.name, Outcome::Lost { why });
        }
        Verdict::Accepted => {}
    }
    let passages = match passages(asked, answer, here) {
        Ok(passages) => passages,
        Err(why) => return Reply::open(here.name, &why),
    };
    let mut replies = passages.iter().map(|one| (one, of_passage(one, here, far)));
    let Some((first, mut found)) = replies.next() else {
        return Reply::open(here.name, "the packet's way is not known");
    };
    for (passage, other) in replies {
        if kind(&other.outcome) != kind(&found.outcome) {
            let why = format!(
                "it depends on which of several takes it: {} of {}, {} of {}",
                word(&found.outcome),
                first.left.packet.dst,
                word(&other.outcome),
                passage.left.packet.dst
            );
            found = Reply {
                outcome: Outcome::Open { why },
                ..found
            };
            break;
        }
    }
    found
}

fn kind(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Arrives => 0,
        Outcome::Foreign { .. } => 1,
        Outcome::Dropped => 2,
        Outcome::Rejected => 3,
        Outcome::Lost { .. } => 4,
        Outcome::Open { .. } => 5,
    }
}

fn word(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Arrives => "it arrives".to_owned(),
        Outcome::Foreign { .. } => "it comes from another address".to_owned(),
        Outcome::Dropped => "it is dropped".to_owned(),
        Outcome::Rejected => "it is refused".to_owned(),
        Outcome::Lost { why } | Outcome::Open { why } => why.clone(),
    }
}

fn of_passage(passage: &Passage, here: &Host<'_>, far: Option<&Host<'_>>) -> Reply {
    if let Some(far) = far
        && let Some(reply) = at_the_far_side(passage, here, far)
    {
        return reply;
    }
    match way_back(passage, here, far) {
        WayBack::Own => within(passage, here, None, "a process of the node answers"),
        WayBack::Back { input, why, doubt } => {
            let mut found = within(passage, here, Some(&input), &why);
            // What would stop it here stops it for certain; that it passes here is not all.
            if let (Outcome::Arrives, Some(why)) = (&found.outcome, doubt) {
                found.outcome = Outcome::Open { why };
            }
            found
        }
        WayBack::Past { why } => Reply {
            way: why.clone(),
            ..Reply::ended(here.name, past(passage, why))
        },
        WayBack::Nowhere { why } => Reply::ended(here.name, Outcome::Lost { why }),
        WayBack::Open { why } => Reply::open(here.name, &why),
    }
}

/// An answer that does not pass the node which translated: nobody writes its source back.
fn past(passage: &Passage, why: String) -> Outcome {
    if passage.dnat() {
        let from = passage.left.packet.dst;
        return Outcome::Foreign { from, why };
    }
    Outcome::Arrives
}

/// What the node where it is answered does with the packet and its answer, unless both pass there.
fn at_the_far_side(passage: &Passage, here: &Host<'_>, far: &Host<'_>) -> Option<Reply> {
    let mut asked = passage.left.packet.clone();
    (asked.src, asked.sport) = (passage.became.src, passage.became.sport);
    asked.connection = None;
    // Marks stay on the node that gave them.
    asked.mark = asked.mark.map(|_| 0);
    asked.direction = Direction::Forward;
    let mut back = Packet::new(Direction::Output, asked.dst, asked.src);
    back.mark = Some(0);
    if let Route::Refused { what, origin } = far.routing.decide(&back) {
        let why = format!("{} has {what} back to {}", far.name, asked.src);
        return Some(Reply {
            decided_by: Some((what, origin)),
            ..Reply::ended(far.name, Outcome::Lost { why })
        });
    }
    asked.in_iface = match here.routing.decide(&passage.left.packet) {
        Route::Via {
            device, gateway, ..
        } => arrives_by(far, gateway.unwrap_or(asked.dst), &device).map(Interface::Name),
        _ => None,
    };
    asked.out_iface = None;
    match far.routing.decide(&asked) {
        Route::Local => asked.direction = Direction::Input,
        Route::Via { device, also, .. } if also.is_empty() => {
            asked.out_iface = Some(Interface::Name(device));
        }
        _ => {}
    }
    let answer = far.firewall.evaluate(&asked);
    if answer.evaluation.verdict.is_blocked() {
        let why = format!("{} lets the packet itself not pass", far.name);
        return Some(Reply {
            evaluation: Some(answer.evaluation),
            packet: Some(asked),
            ..Reply::ended(far.name, Outcome::Lost { why })
        });
    }
    let found = reply(&asked, &answer, far, None);
    (found.outcome != Outcome::Arrives).then_some(found)
}

/// The answer's way through a node: rules, look at its source, route.
fn within(passage: &Passage, here: &Host<'_>, input: Option<&str>, way: &str) -> Reply {
    if passage.served() == Some(Served::OnePacket) {
        let why = "IPVS schedules every packet by itself, and whether it writes answers back is not followed";
        return Reply::open(here.name, why);
    }
    let packet = passage.answer(here.routing, input);
    let evaluation = here.firewall.evaluate(&packet).evaluation;
    let outcome = match &evaluation.verdict {
        Verdict::Dropped => Outcome::Dropped,
        Verdict::Rejected => Outcome::Rejected,
        Verdict::Undecided { why } => Outcome::Open { why: why.clone() },
        Verdict::Accepted => leaves(passage, &evaluation),
    };
    let mut found = Reply {
        outcome,
        packet: Some(packet.clone()),
        evaluation: Some(evaluation),
        decided_by: None,
        node: here.name.to_owned(),
        way: way.to_owned(),
    };
    // The look at the source comes behind PREROUTING, before the rules that filter.
    let stopped_early = found
        .evaluation
        .as_ref()
        .is_some_and(|one| one.verdict.is_blocked() && one.early == one.walk.len());
    if !stopped_early {
        look(&mut found, passage.routed(&packet), here);
    }
    found
}

fn leaves(passage: &Passage, evaluation: &Evaluation) -> Outcome {
    let Some(leaves) = &evaluation.leaves else {
        let why = "its way is not known".to_owned();
        return Outcome::Open { why };
    };
    let asked = &passage.asked;
    if leaves.src == asked.dst && leaves.sport == asked.dport {
        return Outcome::Arrives;
    }
    Outcome::Foreign {
        from: leaves.src,
        why: "its source is not written back".to_owned(),
    }
}

/// The look at the source and the route, behind PREROUTING.
fn look(found: &mut Reply, packet: Packet, here: &Host<'_>) {
    let route = here.routing.decide(&packet);
    if let Route::Refused { what, origin } = &route {
        let (what, origin) = (what.clone(), origin.clone());
        let why = format!("it has {what} to {}", packet.dst);
        found.outcome = Outcome::Lost { why };
        found.decide_early(what, origin);
        return;
    }
    if route == Route::Unknown && !found.fails() {
        let why = format!("the route to {} is not known", packet.dst);
        found.outcome = Outcome::Open { why };
        return;
    }
    let through = packet.direction == Direction::Forward && route != Route::Local;
    if through && here.forwards == Some(false) {
        let why = format!("{} forwards no packets", here.name);
        found.outcome = Outcome::Lost { why };
        found.decide_early("net.ipv4.ip_forward = 0".to_owned(), None);
        return;
    }
    let Some(Interface::Name(device)) = &packet.in_iface else {
        return;
    };
    if packet.direction == Direction::Output || !packet.src.is_ipv4() {
        return;
    }
    let known = here.checks.get(device).copied();
    // Without the settings only what a strict check takes is certain to be taken.
    let strict = SourceCheck {
        filter: 1,
        accept_local: false,
        src_valid_mark: false,
        has_address: None,
    };
    match (here.routing.source(&packet, known.unwrap_or(strict)), known) {
        (Source::Taken, _) => {}
        (Source::Refused { why, origin }, Some(check)) => {
            found.outcome = Outcome::Dropped;
            let why = format!("rp_filter of {device} is {}: {why}", check.filter);
            found.decide_early(why, origin);
        }
        (Source::Refused { .. } | Source::Unknown, None) if found.fails() => {}
        (Source::Refused { why, .. }, None) => {
            let why = format!("rp_filter of {device} was not captured, and {why}");
            found.outcome = Outcome::Open { why };
        }
        (Source::Unknown, _) if found.fails() => {}
        (Source::Unknown, _) => {
            let why = format!(
                "the routes do not tell whether {} is looked for on {device}",
                packet.src
            );
            found.outcome = Outcome::Open { why };
        }
    }
}

/// The type of the answer to an ICMP request.
fn answer_type(proto: Option<Protocol>, kind: Option<u8>) -> Option<u8> {
    match (proto, kind) {
        (Some(Protocol::ICMP), Some(8)) => Some(0),
        (Some(Protocol::ICMPV6), Some(128)) => Some(129),
        _ => None,
    }
}

/// The flags and states that the answer to a first packet has.
fn answered(packet: &mut Packet, asked: &Packet, tracked: bool) {
    packet.proto = asked.proto;
    packet.tcp_flags =
        (asked.proto == Some(Protocol::TCP)).then_some(tcp_flag::SYN | tcp_flag::ACK);
    packet.icmp_type = answer_type(asked.proto, asked.icmp_type);
    packet.icmp_code = packet.icmp_type.map(|_| 0);
    packet.fragment = Some(false);
    packet.bridge_ports.clone_from(&asked.bridge_ports);
    packet.ct_states = match (tracked, asked.proto) {
        (true, _) => [CtState::Established].into(),
        // Tracking sees an answer to something that it did not see.
        (false, Some(Protocol::UDP)) => [CtState::New].into(),
        (false, Some(Protocol::TCP)) => [CtState::Invalid].into(),
        (false, _) => BTreeSet::new(),
    };
}
