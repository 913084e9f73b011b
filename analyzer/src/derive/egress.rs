//! Pod egress: what the captured firewall does with the packets it logged, and with those pods need.

use std::collections::BTreeSet;
use std::net::IpAddr;

use ipnet::IpNet;

use super::{Deriver, Known};
use crate::facts::firewall::{BlockedPacket, EgressCheck, FirewallState};
use crate::facts::kube::{Node, Pod};
use crate::facts::{AnyFact, Fact};
use crate::firewall::eval::DecidedBy;
use crate::firewall::iptables::Origin;
use crate::firewall::packet::{Direction, Interface, Packet};
use crate::firewall::question::{
    Answer, Captured, Captures, Firewall, pod_interface, pod_to_dns, pod_to_tcp,
};
use crate::firewall::ufw::UfwFiles;
use crate::model::Place;
use crate::model::state::{PacketPath, PathStep};
use crate::parsers::PacketLine;
use crate::scan::Documents;

/// Joins firewall captures, logged packets, pods and nodes.
pub(super) static DERIVER: Deriver = Deriver {
    id: "pod-egress",
    derive,
};

/// An outside address for the question "may a pod reach the outside": TEST-NET-1, which nobody owns.
const OUTSIDE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
/// Steps of a packet's way that are kept; of a longer way the middle is left out.
const MOST_STEPS: usize = 16;
/// Groups of logged packets that are evaluated; a flood has few groups and many lines.
const MOST_PACKETS: usize = 64;

fn derive(known: &Known<'_>) -> Vec<AnyFact> {
    let mut facts = Vec::new();
    for node in known.nodes() {
        let captures = captures(known.documents, &node);
        let firewall = Firewall::from_captures(&captures);
        facts.extend(state(&firewall, &node, known.documents));
        for line in blocked_lines(known, &node) {
            facts.extend(logged(known, &firewall, line));
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
        .filter(|line| line.node == node && line.packet.says_blocked())
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
        Some(Captured { path, text })
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

fn has_rules(captures: &Captures<'_>) -> bool {
    captures.iptables.is_some()
        || captures.iptables_legacy.is_some()
        || captures.ufw_files.user.is_some()
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
    let index = usize::try_from(origin.line).unwrap_or(0).checked_sub(1);
    let text = index.and_then(|index| documents.get(path)?.lines().nth(index));
    Fact {
        data,
        place: Place {
            path: path.to_owned(),
            line: (origin.line > 0).then_some(origin.line),
        },
        text: text.unwrap_or_default().trim().to_owned(),
        at: None,
    }
    .into()
}

/// A packet that the kernel logged: the line, and the rule or policy that decides over it.
fn logged(known: &Known<'_>, firewall: &Firewall, line: &PacketLine) -> Vec<AnyFact> {
    let packet = &line.packet.packet;
    let answer = firewall.evaluate_logged(&line.packet);
    let (from_pod, why, sender) = origin_of(known, packet, &line.node);
    let answer = answer.answer;
    let owner = owner(&answer, line.packet.is_ufw());
    let words = words(&answer);
    let blocked = BlockedPacket {
        node: line.node.clone(),
        prefix: line.packet.prefix.trim_matches(['[', ']', ' ']).to_owned(),
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
    let check = decided_at(&answer).map(|origin| {
        let check = EgressCheck {
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
        text: line.text.clone(),
        at: line.at,
    };
    std::iter::once(line.into())
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
    let inside = pod_side(known, node);
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
        let check = EgressCheck {
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

/// The way of a packet, for the drawing.
fn path(node: &str, question: &str, packet: &Packet, answer: &Answer) -> AnyFact {
    let walk = &answer.evaluation.walk;
    let left_out = walk.len().saturating_sub(MOST_STEPS);
    let head = MOST_STEPS / 2;
    let kept = walk
        .iter()
        .enumerate()
        .filter(|(index, _)| *index < head || *index >= head + left_out);
    let steps = kept.map(|(_, step)| PathStep {
        chain: format!("{} {}", step.table, step.chain),
        rule: step.text.clone(),
        does: step.why.clone(),
        place: (step.origin.line > 0).then(|| Place {
            path: step.origin.path.to_string(),
            line: Some(step.origin.line),
        }),
    });
    let data = PacketPath {
        node: node.to_owned(),
        question: question.to_owned(),
        packet: in_words(packet),
        verdict: verdict(answer),
        steps: steps.collect(),
        left_out: u64::try_from(left_out).unwrap_or(u64::MAX),
        decided_by: words(answer),
    };
    let place = decided_at(answer).map_or_else(
        || Place {
            path: String::new(),
            line: None,
        },
        |origin| Place {
            path: origin.path.to_string(),
            line: (origin.line > 0).then_some(origin.line),
        },
    );
    Fact {
        data,
        place,
        text: String::new(),
        at: None,
    }
    .into()
}

/// The address of a pod on the node, preferably one that asks DNS for others.
fn pod_address(known: &Known<'_>, node: &str) -> Option<IpAddr> {
    let pods = known.facts.table::<Pod>().iter().map(|pod| &pod.data);
    let here = |pod: &&Pod| !pod.host_network && (pod.node == node || pod.node.is_empty());
    let mut addresses: Vec<(bool, IpAddr)> = pods
        .filter(here)
        .filter_map(|pod| Some((pod.component != "dns", pod.ip.as_ref()?.parse().ok()?)))
        .collect();
    addresses.sort();
    addresses.first().map(|(_, address)| *address)
}

/// The pattern of the pods' interfaces, told from the interfaces that were captured or logged.
fn pod_side(known: &Known<'_>, node: &str) -> Option<Interface> {
    let logged = known.facts.table::<PacketLine>().iter().filter_map(|line| {
        match &line.data.packet.packet.in_iface {
            Some(Interface::Name(name)) => Some(name.clone()),
            _ => None,
        }
    });
    let listed = known
        .documents
        .get(&format!("nodes/{node}/commands/ip-addr.out"))
        .map(|text| interface_names(text))
        .unwrap_or_default();
    let patterns: BTreeSet<Interface> = logged
        .chain(listed)
        .filter_map(|name| pod_interface(&name))
        .collect();
    patterns.into_iter().next()
}

/// Interface names of `ip addr`, in its JSON or its text form.
fn interface_names(text: &str) -> Vec<String> {
    if let Ok(serde_json::Value::Array(interfaces)) = serde_json::from_str(text) {
        let names = interfaces
            .iter()
            .filter_map(|one| one.get("ifname")?.as_str());
        return names.map(str::to_owned).collect();
    }
    let heads = text
        .lines()
        .filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
    heads
        .filter_map(|line| line.split(": ").nth(1))
        .map(|name| name.split('@').next().unwrap_or(name).to_owned())
        .collect()
}

/// The interface of the default route, from `ip route` in either form.
fn default_route_interface(documents: &Documents, node: &str) -> Option<String> {
    let text = documents.get(&format!("nodes/{node}/commands/ip-route.out"))?;
    if let Ok(serde_json::Value::Array(routes)) = serde_json::from_str(text) {
        let default = routes
            .iter()
            .find(|route| route.get("dst").and_then(|dst| dst.as_str()) == Some("default"))?;
        return default.get("dev")?.as_str().map(str::to_owned);
    }
    let line = text.lines().find(|line| line.starts_with("default "))?;
    let mut words = line.split_whitespace().skip_while(|word| *word != "dev");
    words.nth(1).map(str::to_owned)
}

/// Name servers that cluster DNS forwards to: those of the node, and those that logged packets went to.
fn upstream_servers(known: &Known<'_>, node: &str) -> BTreeSet<IpAddr> {
    let files = ["run/systemd/resolve/resolv.conf", "etc/resolv.conf"];
    let texts = files
        .iter()
        .filter_map(|file| known.documents.get(&format!("nodes/{node}/rootfs/{file}")));
    let named = texts.flat_map(|text| text.lines()).filter_map(|line| {
        line.strip_prefix("nameserver")?
            .trim()
            .parse::<IpAddr>()
            .ok()
    });
    let logged = known
        .facts
        .table::<PacketLine>()
        .iter()
        .map(|line| &line.data.packet.packet)
        .filter(|packet| packet.dport == Some(53))
        .map(|packet| packet.dst);
    named
        .chain(logged)
        .filter(|address| !address.is_loopback())
        .collect()
}

fn name(interface: Option<&Interface>) -> String {
    interface.map(ToString::to_string).unwrap_or_default()
}

fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "forward",
        Direction::Input => "input",
        Direction::Output => "output",
    }
}

fn in_words(packet: &Packet) -> String {
    let interface =
        |one: Option<&Interface>| one.map_or_else(|| "?".to_owned(), ToString::to_string);
    let proto = packet
        .proto
        .map(|proto| proto.to_string())
        .unwrap_or_default();
    let port = packet
        .dport
        .map_or_else(String::new, |port| format!(" port {port}"));
    format!(
        "{} -> {}, {proto}{port}, in on {}, out on {}",
        packet.src,
        packet.dst,
        interface(packet.in_iface.as_ref()),
        interface(packet.out_iface.as_ref())
    )
}

fn verdict(answer: &Answer) -> String {
    use crate::firewall::eval::Verdict;
    match answer.evaluation.verdict {
        Verdict::Accepted => "accepted",
        Verdict::Dropped => "dropped",
        Verdict::Rejected => "rejected",
        Verdict::Undecided { .. } if answer.evaluation.decided_by.is_none() => "not-evaluated",
        Verdict::Undecided { .. } => "undecided",
    }
    .to_owned()
}

/// What decides, in ufw's words where it is ufw's decision.
fn words(answer: &Answer) -> String {
    let decided = answer
        .evaluation
        .decided_by
        .as_ref()
        .map(ToString::to_string);
    match (&answer.ufw, decided) {
        (Some(ufw), Some(decided)) => format!("{} ({decided})", ufw.sentence.trim_end_matches('.')),
        (_, Some(decided)) => decided,
        (_, None) => "no firewall rules were captured".into(),
    }
}

fn decided_at(answer: &Answer) -> Option<&Origin> {
    answer
        .evaluation
        .decided_by
        .as_ref()
        .and_then(DecidedBy::origin)
}

/// Whose rule decided: ufw's by its own words or the log prefix, else by the chain's name.
fn owner(answer: &Answer, logged_by_ufw: bool) -> String {
    let chain = match &answer.evaluation.decided_by {
        Some(DecidedBy::Rule { chain, .. } | DecidedBy::Policy { chain, .. }) => chain.as_str(),
        _ => "",
    };
    let ufw = answer.ufw.is_some() || chain.starts_with("ufw");
    if ufw || (logged_by_ufw && answer.evaluation.decided_by.is_none()) {
        "ufw".into()
    } else if chain.contains("DOCKER") {
        "docker".into()
    } else {
        "iptables".into()
    }
}
