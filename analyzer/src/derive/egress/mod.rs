//! Pod egress: what the captured firewall does with the packets it logged, and with those pods need.

mod said;
pub(super) mod sides;
#[cfg(test)]
mod tests;
pub(super) mod words;

use std::collections::BTreeSet;
use std::net::IpAddr;

use ipnet::IpNet;

use super::{Deriver, Known, line_at};
use crate::facts::firewall::{BlockedPacket, EgressCheck, FirewallState};
use crate::facts::kube::{Node, Pod};
use crate::facts::{AnyFact, Fact};
use crate::firewall::iptables::Origin;
use crate::firewall::packet::{Interface, Packet};
use crate::firewall::question::{
    CapturedText, Captures, Firewall, pod_interface, pod_to_dns, pod_to_tcp,
};
use crate::firewall::ufw::UfwFiles;
use crate::model::Place;
use crate::parsers::PacketLine;
use crate::scan::Documents;
use sides::{default_route_interface, pod_address, pod_side, upstream_servers};
use words::{decided_at, direction, in_words, name, nft_rule, owner, path, verdict, words};

/// Joins firewall captures, logged packets, pods and nodes.
pub(super) static DERIVER: Deriver = Deriver {
    id: "pod-egress",
    derive,
};

/// An outside address for the question "may a pod reach the outside": TEST-NET-1, which nobody owns.
pub(super) const OUTSIDE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
/// Groups of logged packets that are evaluated; a flood has few groups and many lines.
const MOST_PACKETS: usize = 64;

fn derive(known: &Known<'_>) -> Vec<AnyFact> {
    let mut facts = Vec::new();
    for node in known.nodes() {
        let captures = captures(known.documents, &node);
        let firewall = Firewall::from_captures(&captures);
        facts.extend(state(&firewall, &node, known.documents));
        for line in blocked_lines(known, &node) {
            facts.extend(logged(known, &firewall, &captures, line));
        }
        if has_rules(&captures) {
            facts.extend(needed(known, &firewall, &node));
        }
    }
    facts
}

/// Groups of blocked packets of a node. The kernel log is often captured twice, by the journal and by
/// dmesg; a group that the journal has is taken from there only.
fn blocked_lines<'a>(known: &'a Known<'_>, node: &str) -> Vec<&'a PacketLine> {
    let lines = known
        .facts
        .table::<PacketLine>()
        .iter()
        .map(|line| &line.data);
    let blocked: Vec<&PacketLine> = lines
        .filter(|line| line.node == node && line.says.0.says_blocked())
        .collect();
    let in_journal = |line: &PacketLine| line.place.path.contains("/journal/");
    let known_to_journal: BTreeSet<_> = blocked
        .iter()
        .filter(|line| in_journal(line))
        .map(|line| line.key())
        .collect();
    let kept = blocked
        .into_iter()
        .filter(|line| in_journal(line) || !known_to_journal.contains(&line.key()));
    kept.take(MOST_PACKETS).collect()
}

pub(crate) fn captures<'a>(documents: &'a Documents, node: &str) -> Captures<'a> {
    let entry = |path: &str| {
        let (path, text) = documents.get_key_value(&format!("nodes/{node}/{path}"))?;
        Some(CapturedText { path, text })
    };
    let command = |name: &str| entry(&format!("commands/{name}.out"));
    let file = |name: &str| entry(&format!("rootfs/etc/{name}"));
    Captures {
        iptables: command("iptables-save"),
        iptables_legacy: command("iptables-legacy-save"),
        ip6tables: command("ip6tables-save"),
        ip6tables_legacy: command("ip6tables-legacy-save"),
        nft: command("nft-list-ruleset"),
        ipsets: command("ipset-list"),
        ipvs: entry("rootfs/proc/net/ip_vs"),
        ipvs_tracks: tracks_ipvs(documents, node),
        listening: command("ss-listening"),
        queues: entry("rootfs/proc/net/netfilter/nfnetlink_queue"),
        routes: [command("ip-route"), command("ip6-route")],
        policy_rules: [command("ip-rule"), command("ip6-rule")],
        ufw_status: command("ufw-status-verbose"),
        ufw_files: UfwFiles {
            defaults: file("default/ufw"),
            conf: file("ufw/ufw.conf"),
            before: file("ufw/before.rules"),
            after: file("ufw/after.rules"),
            user: file("ufw/user.rules"),
            before6: file("ufw/before6.rules"),
            after6: file("ufw/after6.rules"),
            user6: file("ufw/user6.rules"),
        },
    }
}

/// `net.ipv4.vs.conntrack`, from the list of the kernel's settings.
fn tracks_ipvs(documents: &Documents, node: &str) -> Option<bool> {
    let settings = documents.get(&format!("nodes/{node}/host/sysctl.txt"))?;
    let mut lines = settings.lines();
    let line = lines.find_map(|line| line.strip_prefix("net.ipv4.vs.conntrack"))?;
    Some(line.trim_start_matches([' ', '=']).trim() != "0")
}

pub(super) fn has_rules(captures: &Captures<'_>) -> bool {
    captures.iptables.is_some()
        || captures.iptables_legacy.is_some()
        || captures.ufw_files.user.is_some()
        || captures.nft.is_some_and(|nft| nft.text.contains("table "))
}

fn state(firewall: &Firewall, node: &str, documents: &Documents) -> Option<AnyFact> {
    let ufw = firewall.ufw();
    let active = ufw.active()?;
    let status = ufw.status.as_ref();
    let by_status = status.and_then(|status| {
        status
            .defaults_origin
            .as_ref()
            .or(status.active_origin.as_ref())
    });
    let origin = by_status.or(ufw.enabled.as_ref().map(|setting| &setting.origin))?;
    let word = |word: Option<&String>| word.cloned().unwrap_or_else(|| "unknown".into());
    let state = FirewallState {
        node: node.to_owned(),
        ufw: if active {
            "active".into()
        } else {
            "inactive".into()
        },
        incoming: word(status.and_then(|status| status.incoming.as_ref())),
        outgoing: word(status.and_then(|status| status.outgoing.as_ref())),
        routed: word(status.and_then(|status| status.routed.as_ref())),
    };
    Some(fact(state, origin, documents))
}

/// A fact that stands at a line of a captured file.
fn fact<T: crate::facts::FactType>(data: T, origin: &Origin, documents: &Documents) -> AnyFact {
    let path: &str = &origin.path;
    let text = line_at(documents, path, origin.line);
    Fact {
        data,
        place: Place {
            path: path.into(),
            line: (origin.line > 0).then_some(origin.line),
        },
        text: text.unwrap_or_default().trim().into(),
        at: None,
    }
    .into()
}

/// A packet that the kernel logged: the line, and the rule or policy that decides over it.
fn logged(
    known: &Known<'_>,
    firewall: &Firewall,
    captures: &Captures<'_>,
    line: &PacketLine,
) -> Vec<AnyFact> {
    let packet = &line.says.0.packet;
    let logged = firewall.evaluate_logged(&line.says.0);
    let (from_pod, why, sender) = origin_of(known, packet, &line.node);
    let met = logged.log_rule_found;
    let mut answer = logged.answer;
    // A rule that only logs may be called what it likes: the walk that meets it knows what comes after it.
    let otherwise = if met || known.replayed {
        None
    } else {
        said::otherwise(captures, line, &mut answer)
    };
    let owner = owner(&answer, line.says.0.is_ufw());
    let words = words(&answer);
    let blocked = BlockedPacket {
        node: line.node.clone(),
        prefix: line.says.0.prefix.trim_matches(['[', ']', ' ']).to_owned(),
        direction: direction(packet.direction).into(),
        in_iface: name(packet.in_iface.as_ref()),
        out_iface: name(packet.out_iface.as_ref()),
        src: packet.src.to_string(),
        dst: packet.dst.to_string(),
        proto: packet
            .proto
            .map(|proto| proto.to_string())
            .unwrap_or_default(),
        dport: packet.dport,
        from_pod,
        from_pod_why: why,
        sender,
        count: line.count,
        verdict: verdict(&answer),
        decided_by: words.clone(),
        owner: owner.clone(),
        decided_at: decided_at(&answer)
            .map(ToString::to_string)
            .unwrap_or_default(),
    };
    let [nft_table, nft_chain, nft_rule] = nft_rule(&answer, known.documents);
    let check = decided_at(&answer).map(|origin| {
        let check = EgressCheck {
            nft_table,
            nft_chain,
            nft_rule,
            node: line.node.clone(),
            question: if from_pod {
                "logged packet of a pod".into()
            } else {
                "logged packet".into()
            },
            packet: in_words(packet),
            in_iface: name(packet.in_iface.as_ref()),
            out_iface: name(packet.out_iface.as_ref()),
            verdict: verdict(&answer),
            decided_by: words,
            owner,
        };
        fact(check, origin, known.documents)
    });
    let path = from_pod.then(|| {
        path(
            &line.node,
            "packet of a pod that the kernel logged",
            packet,
            &answer,
        )
    });
    let line = Fact {
        data: blocked,
        place: line.place.clone(),
        text: line.text.as_str().into(),
        at: line.at,
    };
    std::iter::once(line.into())
        .chain(otherwise)
        .chain(check)
        .chain(path)
        .collect()
}

/// Whether a packet came from a pod, how that is known, and which pod has its address.
fn origin_of(known: &Known<'_>, packet: &Packet, node: &str) -> (bool, String, String) {
    let source = packet.src.to_string();
    let pods = known.facts.table::<Pod>().iter();
    let mut senders = pods
        .filter(|pod| !pod.data.host_network && pod.data.ip.as_deref() == Some(source.as_str()));
    if let Some(pod) = senders.next() {
        let sender = format!("pod/{}/{}", pod.data.namespace, pod.data.name);
        return (true, format!("{source} is the address of {sender}"), sender);
    }
    let ranges = known
        .facts
        .table::<Node>()
        .iter()
        .flat_map(|node| &node.data.pod_cidrs);
    for range in ranges {
        if range
            .parse::<IpNet>()
            .is_ok_and(|net| net.contains(&packet.src))
        {
            return (
                true,
                format!("{source} lies in the pod range {range}"),
                String::new(),
            );
        }
    }
    if let Some(Interface::Name(name)) = &packet.in_iface
        && let Some(pattern) = pod_interface(name)
    {
        let why = format!("it came in on {name}, which is a pod's interface ({pattern}) on {node}");
        return (true, why, String::new());
    }
    (false, String::new(), String::new())
}

/// Questions that matter to every pod: its upstream DNS and the outside.
fn needed(known: &Known<'_>, firewall: &Firewall, node: &str) -> Vec<AnyFact> {
    let Some(pod) = pod_address(known, node) else {
        return Vec::new();
    };
    let inside = pod_side(known, node, firewall.routes(), pod);
    let outside = default_route_interface(known.documents, node).map(Interface::Name);
    let mut questions: Vec<(String, Packet)> = upstream_servers(known, node)
        .into_iter()
        .filter(|server| server.is_ipv4() == pod.is_ipv4())
        .map(|server| {
            let packet = pod_to_dns(pod, inside.clone(), outside.clone(), server);
            ("pod to upstream DNS".to_owned(), packet)
        })
        .collect();
    if pod.is_ipv4() {
        let packet = pod_to_tcp(pod, inside, outside, OUTSIDE, 443);
        questions.push(("pod to the outside over HTTPS".to_owned(), packet));
    }
    let answers = questions.into_iter().flat_map(|(question, packet)| {
        let answer = firewall.evaluate(&packet);
        let path = path(node, &question, &packet, &answer);
        let [nft_table, nft_chain, nft_rule] = nft_rule(&answer, known.documents);
        let check = EgressCheck {
            nft_table,
            nft_chain,
            nft_rule,
            node: node.to_owned(),
            question,
            packet: in_words(&packet),
            in_iface: name(packet.in_iface.as_ref()),
            out_iface: name(packet.out_iface.as_ref()),
            verdict: verdict(&answer),
            decided_by: words(&answer),
            owner: owner(&answer, false),
        };
        let check = decided_at(&answer).map(|origin| fact(check, origin, known.documents));
        check.into_iter().chain([path])
    });
    answers.collect()
}
