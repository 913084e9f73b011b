use ipnet::IpNet;
use proptest::prelude::*;

use super::{Beyond, Fate, Hears, Host, Way, hears, tcp, walk};
use crate::link::{Link, links};
use crate::packet::{Direction, Interface, Packet};
use crate::question::{CapturedText, Captures, Firewall};
use crate::route::Routing;

struct Read {
    links: Vec<Link>,
    routing: Routing,
    firewall: Firewall,
}

fn read(of_links: &str, of_routes: &str, rules: &str) -> Read {
    let captured = |path, text| CapturedText { path, text };
    let mut routing = Routing::default();
    routing.read_routes(captured("ip-route", of_routes));
    Read {
        links: links(captured("ip-link", of_links)),
        routing,
        firewall: Firewall::from_captures(&Captures {
            iptables: Some(captured("iptables-save", rules)),
            ..Captures::default()
        }),
    }
}

fn host<'a>(name: &'a str, read: &'a Read, ends: &'a [(IpNet, std::net::IpAddr)]) -> Host<'a> {
    Host {
        name,
        links: &read.links,
        routing: &read.routing,
        firewall: Some(&read.firewall),
        ends,
    }
}

fn from_pod(to: &str) -> Packet {
    let mut packet = Packet::new(
        Direction::Forward,
        [10, 42, 0, 7].into(),
        to.parse().unwrap(),
    );
    packet.in_iface = Some(Interface::Name("cali1".into()));
    packet.mark = Some(0);
    packet
}

const OPEN: &str = "*filter\n:INPUT ACCEPT\n:FORWARD ACCEPT\n:OUTPUT ACCEPT\nCOMMIT\n";
/// IP in IP over WireGuard over a card, as a tunnel between sites below a CNI.
const STACK: &str = "2: eno1: <UP> mtu 1500\n    link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n    inet 192.0.2.7/24 scope global eno1\n\
3: wg0: <UP> mtu 1420\n    link/none\n    wireguard\n    inet 172.30.0.1/24 scope global wg0\n\
4: tunl0@NONE: <UP> mtu 1440\n    link/ipip 0.0.0.0 brd 0.0.0.0\n    ipip any remote any local any ttl inherit nopmtudisc\n\
5: cali1@if3: <UP> mtu 1440\n    link/ether ee:ee:ee:ee:ee:ee brd ff:ff:ff:ff:ff:ff\n    veth\n";
const STACK_ROUTES: &str = "default via 192.0.2.1 dev eno1\n192.0.2.0/24 dev eno1 scope link\n172.30.0.0/24 dev wg0 scope link\n\
10.42.0.7 dev cali1 scope link\n10.42.1.0/24 via 172.30.0.2 dev tunl0 onlink\n";

#[test]
fn a_tunnel_over_a_tunnel_is_reckoned_down_to_the_card() {
    let node = read(STACK, STACK_ROUTES, OPEN);
    let ends = [("172.30.0.2/32".parse().unwrap(), [192, 0, 2, 8].into())];
    let hosts = [host("n1", &node, &ends)];
    let way = walk(&hosts, 0, &from_pod("10.42.1.5"));
    let sizes: Vec<_> = way
        .steps
        .iter()
        .map(|step| (step.device.as_str(), step.own, step.largest))
        .collect();
    // WireGuard itself fits the card: 1420 + 60.
    assert_eq!(
        sizes,
        [
            ("tunl0", 1440, Some(1440)),
            ("wg0", 1420, Some(1400)),
            ("eno1", 1500, None)
        ]
    );
    assert_eq!(way.largest(), Some(1400));
    assert_eq!(way.steps[1].beyond, Beyond::Told { mtu: 1400 });
    assert_eq!(way.steps[1].origin.to_string(), "ip-link:4");
    assert!(way.open[0].contains("behind eno1"), "{:?}", way.open);
}

#[test]
fn wireguard_fills_its_packets_up_to_sixteen_bytes() {
    let small = STACK
        .replace("mtu 1500", "mtu 1455")
        .replace("mtu 1420", "mtu 1440");
    let node = read(
        &small,
        &STACK_ROUTES.replace("via 172.30.0.2 dev tunl0 onlink", "dev wg0"),
        OPEN,
    );
    let ends = [("10.42.1.0/24".parse().unwrap(), [192, 0, 2, 8].into())];
    let hosts = [host("n1", &node, &ends)];
    let way = walk(&hosts, 0, &from_pod("10.42.1.5"));
    // 1455 - 60 = 1395, and 1393 to 1395 bytes are filled up to 1408.
    assert_eq!(way.steps[1].largest, Some(1392));
    assert_eq!(way.steps[1].beyond, Beyond::Fragmented);
    assert_eq!(way.largest(), Some(1440), "fragments arrive");
    assert_eq!(way.fate(1440), Fate::Passes { fragmented: true });
}

#[test]
fn a_route_with_a_size_stands_in_for_its_device() {
    let routes = STACK_ROUTES.replace(
        "192.0.2.0/24 dev eno1 scope link",
        "192.0.2.0/24 dev eno1 scope link mtu lock 1300",
    );
    let node = read(STACK, &routes, OPEN);
    let hosts = [host("n1", &node, &[])];
    let way = walk(&hosts, 0, &from_pod("192.0.2.9"));
    assert_eq!(way.steps[0].own, 1300);
    assert_eq!(way.steps[0].origin.to_string(), "ip-route:2");
    assert_eq!(way.fate(1301), Fate::Stopped(0));
}

fn drops(rules: &str) -> Hears {
    let node = read(STACK, STACK_ROUTES, rules);
    let pod = read(
        "2: eth0: <UP> mtu 1440\n    inet 10.42.0.7/32 scope global eth0\n",
        "default via 169.254.1.1 dev eth0\nlocal 10.42.0.7 dev eth0 table local\n",
        OPEN,
    );
    let hosts = [host("n1", &node, &[]), host("pod", &pod, &[])];
    hears(&hosts, 0, [10, 42, 0, 7].into())
}

#[test]
fn a_rule_that_drops_the_answer_makes_a_black_hole() {
    assert_eq!(drops(OPEN), Hears::Yes);
    let rule = OPEN.replace(
        "COMMIT",
        "-A OUTPUT -p icmp -m icmp --icmp-type 3/4 -j DROP\nCOMMIT",
    );
    let Hears::No { why, origin } = drops(&rule) else {
        panic!("it is dropped");
    };
    assert!(why.contains("--icmp-type 3/4"), "{why}");
    assert_eq!(origin.unwrap().to_string(), "iptables-save:5");
    // Rules that were cut off tell nothing.
    assert!(matches!(
        drops("*filter\n:OUTPUT ACCEPT\n"),
        Hears::Open { .. }
    ));
}

#[test]
fn a_clamp_to_the_path_makes_segments_fit() {
    let rules = |rule: &str| format!("*mangle\n:FORWARD ACCEPT\n{rule}COMMIT\n{OPEN}");
    let clamp = "-A FORWARD -p tcp -m tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu\n";
    let ask = |rules: &str| {
        let node = read(
            &STACK.replace("mtu 1440", "mtu 1400"),
            &STACK_ROUTES.replace("10.42.0.7 dev", "10.42.0.0/24 dev"),
            rules,
        );
        let hosts = [host("n1", &node, &[])];
        let back = Packet {
            src: [10, 42, 1, 5].into(),
            dst: [10, 42, 0, 7].into(),
            proto: Some(crate::packet::Protocol::TCP),
            ..from_pod("10.42.0.7")
        };
        let ways = (
            walk(&hosts, 0, &from_pod("10.42.1.5")),
            walk(&hosts, 0, &back),
        );
        tcp(
            &hosts,
            (&ways.0, &ways.1),
            [10, 42, 0, 7].into(),
            Some((1500, 1500)),
        )
    };
    assert_eq!(ask(&rules("")).starts_with, 1500);
    let clamped = ask(&rules(clamp));
    assert_eq!(clamped.starts_with, 1400);
    assert_eq!(clamped.clamp.unwrap().origin.to_string(), "iptables-save:3");
    let fixed = ask(&rules(
        &clamp.replace("--clamp-mss-to-pmtu", "--set-mss 1200"),
    ));
    assert_eq!(fixed.starts_with, 1240);
}

#[test]
fn a_tunnel_that_lies_on_itself_is_no_endless_walk() {
    let node = read(
        "2: vx: <UP> mtu 1450\n    vxlan id 7 remote 10.9.0.2 local 10.9.0.1\n    inet 10.9.0.1/24\n3: a@b: <UP> mtu 9\n    vlan id 1\n4: b@a: <UP> mtu 9\n    vlan id 1\n",
        "10.9.0.0/24 dev vx\n10.8.0.0/24 dev a\n",
        OPEN,
    );
    let hosts = [host("n1", &node, &[])];
    let way = walk(&hosts, 0, &from_pod("10.9.0.9"));
    assert!(
        way.open.iter().any(|what| what.contains("lies on itself")),
        "{way:?}"
    );
    let way = walk(&hosts, 0, &from_pod("10.8.0.9"));
    assert!(!way.open.is_empty() && way.steps.len() < 9);
}

fn any_link() -> impl Strategy<Value = Link> {
    let name = || prop::sample::select(vec!["a", "b", "c", "d"]);
    let kind = prop::sample::select(vec![
        "",
        "veth",
        "bridge",
        "vlan",
        "bond",
        "vxlan",
        "geneve",
        "ipip",
        "gre",
        "wireguard",
        "xfrm",
        "sit",
    ]);
    let size = prop_oneof![Just(0), Just(u64::MAX), 0u64..10_000];
    let maybe = || prop::option::of(name());
    let end = prop::option::of(0u8..6);
    (name(), kind, size, maybe(), maybe(), end, 0u8..6).prop_map(
        |(name, kind, mtu, parent, master, remote, own)| Link {
            name: name.to_owned(),
            mtu,
            kind: kind.to_owned(),
            parent: parent.map(str::to_owned),
            master: master.map(str::to_owned),
            addresses: vec![[10, 0, 0, own].into()],
            tunnel: crate::link::Tunnel {
                remote: remote.map(|end| [10, 0, 0, end].into()),
                ..Default::default()
            },
            origin: crate::iptables::Origin {
                path: "x".into(),
                line: 1,
            },
            text: String::new(),
        },
    )
}

fn any_host() -> impl Strategy<Value = (Vec<Link>, String)> {
    let route = (
        0u8..6,
        prop::sample::select(vec!["a", "b", "c", "d"]),
        prop::option::of(0u64..3000),
        0u8..3,
    );
    let routes = prop::collection::vec(route, 0..8).prop_map(|routes| {
        let lines = routes.iter().map(|(to, device, mtu, kind)| {
            let mtu = mtu.map_or(String::new(), |mtu| format!(" mtu {mtu}"));
            match kind {
                0 => format!("local 10.0.0.{to} dev {device} table local\n"),
                1 => format!(
                    "10.0.0.{to} via 10.0.0.{} dev {device}{mtu}\n",
                    (to + 1) % 6
                ),
                _ => format!("10.0.0.{to} dev {device}{mtu}\n"),
            }
        });
        lines.collect()
    });
    (prop::collection::vec(any_link(), 0..8), routes)
}

/// Larger packets never do better, and what is said of the largest holds.
fn is_sound(way: &Way) {
    if let Some(largest) = way.largest() {
        assert!(matches!(way.fate(largest), Fate::Passes { .. }));
        assert!(
            matches!(way.fate(largest.saturating_add(1)), Fate::Stopped(_)) || largest == u64::MAX
        );
    }
}

proptest! {
    #[test]
    fn any_order_and_circle_of_links_ends(hosts in prop::collection::vec(any_host(), 1..4), to in 0u8..6) {
        let reads: Vec<Read> = hosts.iter().map(|(links, routes)| Read { links: links.clone(), ..read("", routes, OPEN) }).collect();
        let ends = [("10.0.0.0/29".parse().unwrap(), [10, 0, 0, 3].into())];
        let hosts: Vec<Host<'_>> = reads.iter().map(|read| host("h", read, &ends)).collect();
        let mut packet = from_pod("10.0.0.1");
        packet.dst = [10, 0, 0, to].into();
        let way = walk(&hosts, 0, &packet);
        is_sound(&way);
        let _ = tcp(&hosts, (&way, &way), packet.src, None);
        let _ = tcp(&hosts, (&way, &way), packet.src, Some((u64::MAX, 0)));
        for step in &way.steps {
            let _ = step.to_string();
        }
    }
}
