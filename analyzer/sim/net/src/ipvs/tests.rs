//! Packets to virtual services as a kernel with IPVS (6.1) treated them, by hand, in namespaces: a client behind `cali1`
//! (10.1.0.185), the node (192.0.2.1), servers at 192.0.2.53 and .54, service addresses on `kube-ipvs0`.

use super::*;
use crate::eval::{DecidedBy, Verdict};
use crate::packet::{CtState, Direction, Interface, Packet, tcp_flag};
use crate::question::{Answer, Captures, Firewall};
use crate::reply::{Host, Outcome, Reply, reply};
use crate::route::Routing;
use proptest::prelude::*;

const HEAD: &str = "IP Virtual Server version 1.2.1 (size=4096)\nProt LocalAddress:Port Scheduler Flags\n  -> RemoteAddress:Port Forward Weight ActiveConn InActConn\n";
const SERVICE: &str = "TCP  0A600001:01BB rr  \n";
const SERVER: &str = "  -> C0000235:2328      Masq    1      0          0         \n";
const ROUTES: &str = "192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.1\n10.1.0.185 dev cali1 scope link\n\
    local 192.0.2.1 dev eth0 table local proto kernel scope host src 192.0.2.1\nlocal 169.254.1.1 dev cali1 table local proto kernel scope host src 169.254.1.1\n\
    local 10.96.0.1 dev kube-ipvs0 table local proto kernel scope host src 10.96.0.1\nlocal 10.96.0.10 dev kube-ipvs0 table local proto kernel scope host src 10.96.0.10\n\
    local 10.96.0.20 dev kube-ipvs0 table local proto kernel scope host src 10.96.0.20\n";
const RULES: &str = "*mangle\n:PREROUTING ACCEPT [0:0]\nCOMMIT\n*nat\n:PREROUTING ACCEPT [0:0]\n:POSTROUTING ACCEPT [0:0]\nCOMMIT\n*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n";
const MASQUERADE: &str = "*nat\n:PREROUTING ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n:POSTROUTING ACCEPT [0:0]\n:MARK - [0:0]\n-A PREROUTING -d 10.96.0.0/24 -j MARK\n-A OUTPUT -d 10.96.0.0/24 -j MARK\n-A MARK -j MARK --set-xmark 0x4000/0x4000\n-A POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN\n-A POSTROUTING -j MARK --set-xmark 0x4000/0x0\n-A POSTROUTING -j MASQUERADE --random-fully\nCOMMIT\n*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n";

/// A node with these services and rules.
struct Node<'a> {
    services: &'a str,
    rules: &'a str,
    routes: &'a str,
    sets: &'a str,
    tracks: bool,
    forwards: bool,
}

const PLAIN: Node<'static> = Node {
    services: "",
    rules: RULES,
    routes: ROUTES,
    sets: "",
    tracks: true,
    forwards: true,
};

fn text<'a>(path: &'a str, text: &'a str) -> Option<CapturedText<'a>> {
    Some(CapturedText { path, text })
}

fn packet(proto: Protocol, to: &str, port: u16) -> Packet {
    let mut packet = Packet::new(
        Direction::Input,
        "10.1.0.185".parse().unwrap(),
        to.parse().unwrap(),
    );
    packet.in_iface = Some(Interface::Name("cali1".to_owned()));
    packet.proto = Some(proto);
    (packet.sport, packet.dport) = (Some(40_000), Some(port));
    packet.tcp_flags = (proto == Protocol::TCP).then_some(tcp_flag::SYN);
    packet.mark = Some(0);
    packet.fragment = Some(false);
    packet.ct_states = [CtState::New].into();
    packet
}

fn ask(node: &Node<'_>, packet: &Packet) -> (Answer, Reply) {
    let services = format!("{HEAD}{}", node.services);
    let captures = Captures {
        iptables: text("iptables-save", node.rules),
        ipsets: text("ipset", node.sets),
        ipvs: text("ip_vs", &services),
        ipvs_tracks: Some(node.tracks),
        routes: [text("ip-route", node.routes), None],
        ..Captures::default()
    };
    let firewall = Firewall::from_captures(&captures);
    let mut routing = Routing::default();
    routing.read_routes(text("ip-route", node.routes).unwrap());
    let here = Host {
        name: "n",
        firewall: &firewall,
        routing: &routing,
        checks: std::collections::BTreeMap::new(),
        bridges: std::collections::BTreeSet::new(),
        bridged_pass_rules: None,
        forwards: Some(node.forwards),
        // The servers answer by the link that leads to them, unless a test says otherwise.
        pods: ["10.1.0.185", "192.0.2.53", "192.0.2.54"]
            .map(|one| one.parse().unwrap())
            .to_vec(),
        cluster_pods: Vec::new(),
    };
    let answer = firewall.evaluate(packet);
    let reply = reply(packet, &answer, &here, None);
    (answer, reply)
}

fn tcp(node: &Node<'_>) -> (Verdict, Outcome, Option<u32>) {
    let (answer, reply) = ask(node, &packet(Protocol::TCP, "10.96.0.1", 443));
    let decider = answer.evaluation.decided_by.as_ref();
    let line = decider
        .and_then(DecidedBy::origin)
        .map(|origin| origin.line);
    (answer.evaluation.verdict, reply.outcome, line)
}

fn goes_to(answer: &Answer) -> String {
    let leaves = answer.evaluation.leaves.as_ref().unwrap();
    format!("{}:{}", leaves.dst, leaves.dport.unwrap())
}

#[test]
fn a_service_is_read_with_its_scheduler_flags_and_servers() {
    let listed = "TCP  [fd00:0000:0000:0000:0000:0000:0000:0010]:0035 wrr \n  -> [fd00:0000:0000:0000:0000:0000:0000:0053]:14E9      Masq    10     3          7         \nUDP  0A60000A:0035 rr ops  \n  -> C0000235:235D      Masq    1      0          0         \nTCP  0A60000A:0000 sh  persistent 360 FFFFFFFF\n  -> C0000236:0000      Route   3      0          0         \n  -> C0000235:0000      Tunnel  2      0          0         \nFWM  00000010 rr \n";
    let all = VirtualServices::parse(text("ip_vs", &format!("{HEAD}{listed}")).unwrap());
    assert!(!all.cut && all.unread.is_empty());
    let [six, dns, any, mark] = all.services.as_slice() else {
        panic!("{all:?}")
    };
    let server = &six.servers[0];
    assert_eq!(
        six.at,
        At::Address(Protocol::TCP, "fd00::10".parse().unwrap(), 53)
    );
    assert_eq!((server.port, server.weight), (5353, 10));
    assert_eq!(
        (server.active, server.inactive, server.origin.line),
        (3, 7, 5)
    );
    assert!(dns.one_packet() && dns.scheduler == "rr");
    assert_eq!(any.flags, "persistent 360 FFFFFFFF");
    assert_eq!(any.servers[1].forwarding, Forwarding::Tunnel);
    assert_eq!((mark.at, mark.servers.len()), (At::Mark(16), 0));
}

#[test]
fn one_server_takes_the_packet_and_its_answer_comes_from_the_service() {
    let services = format!("{SERVICE}{SERVER}");
    let node = Node {
        services: &services,
        ..PLAIN
    };
    let (answer, reply) = ask(&node, &packet(Protocol::TCP, "10.96.0.1", 443));
    assert_eq!(answer.evaluation.verdict, Verdict::Accepted);
    assert_eq!(goes_to(&answer), "192.0.2.53:9000");
    let places: Vec<(&str, u32)> = answer
        .evaluation
        .walk
        .iter()
        .map(|step| (&*step.origin.path, step.origin.line))
        .collect();
    assert!(places.contains(&("ip_vs", 5)), "{places:?}");
    assert_eq!(reply.outcome, Outcome::Arrives, "{reply:?}");
}

#[test]
fn without_a_server_that_takes_it_a_connection_is_refused_at_the_services_line() {
    let zero = SERVER.replace("Masq    1", "Masq    0");
    for servers in ["", zero.as_str()] {
        let services = format!("{SERVICE}{servers}");
        let (verdict, _, line) = tcp(&Node {
            services: &services,
            ..PLAIN
        });
        assert_eq!((verdict, line), (Verdict::Rejected, Some(4)));
    }
    let udp = Node {
        services: "UDP  0A60000A:0035 rr  \n",
        ..PLAIN
    };
    let (answer, _) = ask(&udp, &packet(Protocol::UDP, "10.96.0.10", 53));
    assert_eq!(answer.evaluation.verdict, Verdict::Rejected);
    // Another port of the address is no service: the node itself is asked.
    let (answer, _) = ask(&udp, &packet(Protocol::UDP, "10.96.0.10", 54));
    assert_eq!(answer.evaluation.verdict, Verdict::Accepted);
    assert_eq!(goes_to(&answer), "10.96.0.10:54");
}

#[test]
fn of_several_servers_only_those_with_a_weight_may_take_it() {
    let other = SERVER.replace("C0000235", "C0000236");
    let zero = other.replace("Masq    1", "Masq    0");
    let services = format!("{SERVICE}{SERVER}{zero}");
    let node = Node {
        services: &services,
        ..PLAIN
    };
    let (answer, _) = ask(&node, &packet(Protocol::TCP, "10.96.0.1", 443));
    assert_eq!(goes_to(&answer), "192.0.2.53:9000");
    assert_eq!(answer.evaluation.courses.len(), 1);
    let services = format!("{SERVICE}{SERVER}{other}");
    let closed = RULES.replace(
        ":OUTPUT ACCEPT [0:0]\nCOMMIT",
        ":OUTPUT ACCEPT [0:0]\n-A OUTPUT -d 192.0.2.54/32 -j DROP\nCOMMIT",
    );
    let node = Node {
        services: &services,
        rules: &closed,
        ..PLAIN
    };
    let (verdict, ..) = tcp(&node);
    let Verdict::Undecided { why } = verdict else {
        panic!("{verdict:?}")
    };
    assert!(why.contains("chooses one of 2 real servers"), "{why}");
}

#[test]
fn rules_stop_it_before_ipvs_behind_it_and_on_the_way_back() {
    let services = format!("{SERVICE}{SERVER}");
    let node = |rules| Node {
        services: &services,
        rules,
        ..PLAIN
    };
    let input = RULES.replace("INPUT ACCEPT", "INPUT DROP");
    assert_eq!(tcp(&node(&input)).0, Verdict::Dropped);
    let output = RULES.replace(":OUTPUT ACCEPT", ":OUTPUT DROP");
    assert_eq!(tcp(&node(&output)).0, Verdict::Dropped);
    // The packet passes the output chains, its answer the forward chain.
    let forward = RULES.replace("FORWARD ACCEPT", "FORWARD DROP");
    let (verdict, outcome, _) = tcp(&node(&forward));
    assert_eq!((verdict, outcome), (Verdict::Accepted, Outcome::Dropped));
    let off = Node {
        forwards: false,
        ..node(RULES)
    };
    assert!(matches!(tcp(&off).1, Outcome::Lost { .. }));
}

#[test]
fn masquerading_needs_connection_tracking_and_a_service_that_is_its_own_server_needs_masquerading()
{
    let services = format!("{SERVICE}{SERVER}");
    let masked = Node {
        services: &services,
        rules: MASQUERADE,
        ..PLAIN
    };
    let (_, reply) = ask(&masked, &packet(Protocol::TCP, "10.96.0.1", 443));
    assert_eq!(reply.outcome, Outcome::Arrives, "{reply:?}");
    assert_eq!(reply.packet.unwrap().dst.to_string(), "192.0.2.1");
    // Without tracking the source stays, and the answer is invalid to the rules.
    let loose = Node {
        tracks: false,
        ..masked
    };
    let (_, reply) = ask(&loose, &packet(Protocol::TCP, "10.96.0.1", 443));
    assert_eq!(reply.outcome, Outcome::Arrives, "{reply:?}");
    let back = reply.packet.unwrap();
    assert_eq!(back.dst.to_string(), "10.1.0.185");
    assert_eq!(back.ct_states, [CtState::Invalid].into());
    let strict = RULES.replace(
        ":OUTPUT ACCEPT [0:0]\nCOMMIT",
        ":OUTPUT ACCEPT [0:0]\n-A FORWARD -m conntrack --ctstate INVALID -j DROP\nCOMMIT",
    );
    let loose = Node {
        tracks: false,
        services: &services,
        rules: &strict,
        ..PLAIN
    };
    assert_eq!(tcp(&loose).1, Outcome::Dropped);
    let own = services.replace("C0000235", "0A0100B9");
    let node = |rules| Node {
        services: &own,
        rules,
        ..PLAIN
    };
    assert!(matches!(tcp(&node(RULES)).1, Outcome::Lost { .. }));
    assert_eq!(tcp(&node(MASQUERADE)).1, Outcome::Arrives);
}

/// kube-proxy's sets: pods of this node that may be their own servers, and the services' addresses.
const SETS: &str = "Name: KUBE-LOOP-BACK\nType: hash:ip,port,ip\nHeader: family inet hashsize 1024 maxelem 65536\nNumber of entries: 1\nMembers:\n10.1.0.185,tcp:9000,10.1.0.185\n\nName: KUBE-CLUSTER-IP\nType: hash:ip,port\nHeader: family inet hashsize 1024 maxelem 65536\nNumber of entries: 1\nMembers:\n10.96.0.1,tcp:443\n";
const KUBE_PROXY: &str = "*nat\n:PREROUTING ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n:POSTROUTING ACCEPT [0:0]\n:KUBE-SERVICES - [0:0]\n:KUBE-MARK-MASQ - [0:0]\n:KUBE-POSTROUTING - [0:0]\n-A PREROUTING -j KUBE-SERVICES\n-A POSTROUTING -j KUBE-POSTROUTING\n-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000\n-A KUBE-POSTROUTING -m set --match-set KUBE-LOOP-BACK dst,dst,src -j MASQUERADE\n-A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN\n-A KUBE-POSTROUTING -j MASQUERADE --random-fully\n-A KUBE-SERVICES ! -s 10.1.0.0/16 -m set --match-set KUBE-CLUSTER-IP dst,dst -j KUBE-MARK-MASQ\n-A KUBE-SERVICES -m set --match-set KUBE-CLUSTER-IP dst,dst -j ACCEPT\nCOMMIT\n*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n";

#[test]
fn kube_proxys_sets_say_which_answers_need_a_masquerade() {
    let own = format!("{SERVICE}{}", SERVER.replace("C0000235", "0A0100B9"));
    let node = Node {
        services: &own,
        rules: KUBE_PROXY,
        sets: SETS,
        ..PLAIN
    };
    assert_eq!(tcp(&node).1, Outcome::Arrives);
    // Without the pod in the set it gets a packet from itself; without the set it is not known.
    let without = SETS.replace(
        "10.1.0.185,tcp:9000,10.1.0.185",
        "10.1.0.9,tcp:9000,10.1.0.9",
    );
    assert!(matches!(
        tcp(&Node {
            sets: &without,
            ..node
        })
        .1,
        Outcome::Lost { .. }
    ));
    let node = Node {
        services: &own,
        rules: KUBE_PROXY,
        ..PLAIN
    };
    assert!(matches!(tcp(&node).1, Outcome::Open { .. }));
}

#[test]
fn marks_every_port_and_servers_of_the_node_itself() {
    let marked = RULES.replace(":PREROUTING ACCEPT [0:0]\nCOMMIT\n*nat", ":PREROUTING ACCEPT [0:0]\n-A PREROUTING -d 10.96.0.20/32 -j MARK --set-xmark 0x10/0xffffffff\nCOMMIT\n*nat");
    let node = Node {
        services: "FWM  00000010 rr \n  -> C0000236:0000      Masq    1      0          0         \n",
        rules: &marked,
        ..PLAIN
    };
    let (answer, reply) = ask(&node, &packet(Protocol::TCP, "10.96.0.20", 9000));
    assert_eq!(goes_to(&answer), "192.0.2.54:9000");
    assert_eq!(reply.outcome, Outcome::Arrives, "{reply:?}");
    let node = Node {
        services: "TCP  0A600001:0000 rr  persistent 360 FFFFFFFF\n  -> C0000235:0000      Masq    1      0          0         \n",
        ..PLAIN
    };
    let (answer, _) = ask(&node, &packet(Protocol::TCP, "10.96.0.1", 9001));
    assert_eq!(goes_to(&answer), "192.0.2.53:9001");
    let local = format!("{SERVICE}{}", SERVER.replace("C0000235", "C0000201"));
    let node = Node {
        services: &local,
        ..PLAIN
    };
    let (answer, reply) = ask(&node, &packet(Protocol::TCP, "10.96.0.1", 443));
    assert_eq!(goes_to(&answer), "192.0.2.1:9000");
    assert_eq!(reply.outcome, Outcome::Arrives, "{reply:?}");
}

#[test]
fn no_way_to_the_server_no_address_of_the_node_and_other_forwarding() {
    let services = format!("{SERVICE}{SERVER}");
    let routes = format!("{ROUTES}blackhole 192.0.2.53\n");
    let node = Node {
        services: &services,
        routes: &routes,
        ..PLAIN
    };
    assert_eq!(tcp(&node).0, Verdict::Rejected);
    // An address that the node does not have is routed on, and IPVS does not see it.
    let services = services.replace("0A600001", "0A600063");
    let node = Node {
        services: &services,
        ..PLAIN
    };
    let mut other = packet(Protocol::TCP, "10.96.0.99", 443);
    other.direction = Direction::Forward;
    let (answer, _) = ask(&node, &other);
    assert_eq!(goes_to(&answer), "10.96.0.99:443");
    let tunnel = format!("{SERVICE}{}", SERVER.replace("Masq  ", "Tunnel"));
    let (verdict, ..) = tcp(&Node {
        services: &tunnel,
        ..PLAIN
    });
    assert!(verdict.is_undecided(), "{verdict:?}");
}

#[test]
fn half_a_listing_decides_as_the_whole_one_or_not_at_all() {
    let whole = format!("{SERVICE}{SERVER}");
    for (cut, _) in whole.char_indices() {
        let (verdict, ..) = tcp(&Node {
            services: &whole[..cut],
            ..PLAIN
        });
        let line_ends = cut == 0 || whole[..cut].ends_with('\n');
        assert!(verdict.is_undecided() || line_ends, "{cut}: {verdict:?}");
    }
}

proptest! {
    #[test]
    fn no_words_make_the_reader_panic(
        words in proptest::collection::vec(proptest::sample::select(vec![
            "TCP", "UDP", "FWM", "->", "0A600001:01BB", "[fd00::1]:0035", "rr", "Masq", "Local", "1", "0", "\n", "persistent", "ops", "FFFFFFFF", ":", "[",
        ]), 0..60),
    ) {
        let services = words.join(" ");
        let _ = tcp(&Node { services: &services, ..PLAIN });
    }
}
