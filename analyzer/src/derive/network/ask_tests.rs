use std::collections::BTreeSet;

use super::Known;
use super::ask::{Asked, End, Told, packet};
use super::tests::{ROUTES, RULES, add, cluster, of_n1};
use crate::facts::Facts;
use crate::facts::kube::{Node, Pod, Service, ServicePort};
use crate::facts::network::ReachCheck;
use crate::firewall::packet::{Packet, Protocol};

fn asked(from: &str, to: &str, protocol: Protocol) -> Result<ReachCheck, String> {
    seen(RULES, from, to, protocol, None)
}

fn seen(
    rules: &str,
    from: &str,
    to: &str,
    protocol: Protocol,
    shown: Option<Packet>,
) -> Result<ReachCheck, String> {
    let files = [
        ("commands/ip-route.out", ROUTES),
        ("commands/iptables-save.out", rules),
    ];
    told(&cluster(), &files, (from, to, protocol), shown).map(|told| told.check)
}

fn told(
    facts: &Facts,
    files: &[(&str, &str)],
    (from, to, protocol): (&str, &str, Protocol),
    shown: Option<Packet>,
) -> Result<Told, String> {
    let documents = of_n1(files);
    let paths: BTreeSet<&str> = documents.keys().map(String::as_str).collect();
    let known = Known {
        facts,
        documents: &documents,
        paths: &paths,
        origins: &crate::scan::pasted::Origins::new(),
        broken: &std::collections::BTreeSet::new(),
        now: None,
        manifest: None,
        replayed: false,
    };
    let (from, _) = End::parse(from)?;
    let (to, port) = End::parse(to)?;
    let asked = Asked {
        from,
        to,
        port,
        protocol,
        node: None,
        shown,
    };
    packet(&known, &asked)
}

#[test]
fn a_packet_is_followed_from_the_pod_to_the_rule_that_decides() {
    let verdict = |from: &str, to: &str, protocol| asked(from, to, protocol).map(|one| one.verdict);
    assert_eq!(
        verdict("pod//a", "svc/kube-system/kube-dns:53", Protocol::UDP),
        Err(End::parse("pod//a").unwrap_err())
    );
    assert_eq!(
        verdict("10.42.0.7", "10.42.0.8:80", Protocol::TCP),
        Ok("accepted".into())
    );
    assert_eq!(
        verdict("10.42.0.7", "svc/kube-system/kube-dns:53", Protocol::UDP),
        Ok("accepted".into())
    );
    assert_eq!(
        verdict("10.42.0.7", "198.51.100.9:443", Protocol::TCP),
        Ok("dropped".into())
    );
    assert_eq!(
        verdict("node/n2", "node/n1:10250", Protocol::TCP).map_err(|_| ()),
        Err(()),
        "n2's files were not collected"
    );
    let missing = asked("10.42.0.7", "svc/shop/web:80", Protocol::TCP);
    assert!(missing.is_err_and(|why| why.contains("shop/web")));
}

#[test]
fn the_bytes_of_a_packet_decide_a_rule_that_reads_them() {
    let rules = "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n\
         -A FORWARD -m u32 --u32 \"0x2&0xffff=0x1c46\" -j DROP\n-A FORWARD -m dscp --dscp 0x2e -j DROP\nCOMMIT\n";
    let ask = |text: Option<&str>, to: &str| {
        let bytes = text.map(|text| crate::firewall::dissect::bytes(text).unwrap());
        let shown = bytes.map(|bytes| crate::firewall::dissect::packet(&bytes).unwrap());
        seen(rules, "10.42.0.7", to, Protocol::UDP, shown).map(|one| one.verdict)
    };
    let head = |class: &str, number: &str| {
        format!("45{class} 001c {number} 4000 4011 0000 0a2a 0007 c633 6409 9c40 0035 0008 0000")
    };
    let to = "198.51.100.9:53";
    assert_eq!(ask(None, to), Ok("undecided".into()));
    assert_eq!(ask(Some(&head("00", "0001")), to), Ok("accepted".into()));
    assert_eq!(ask(Some(&head("b8", "0001")), to), Ok("dropped".into()));
    assert_eq!(ask(Some(&head("00", "1c46")), to), Ok("dropped".into()));
    let other = ask(Some(&head("00", "0001")), "198.51.100.10:53");
    assert!(other.is_err_and(|why| why.contains("another packet")));
}

#[test]
fn ends_are_read_with_and_without_ports() {
    assert_eq!(
        End::parse("10.0.0.1:80"),
        Ok((End::Address("10.0.0.1".parse().unwrap()), Some(80)))
    );
    assert_eq!(
        End::parse("[fd00::1]:80").map(|(_, port)| port),
        Ok(Some(80))
    );
    assert_eq!(
        End::parse("svc/a/b:443"),
        Ok((End::Service("a".into(), "b".into()), Some(443)))
    );
    assert!(End::parse("web").is_err() && End::parse("svc/a/b:http").is_err());
}

/// kube-proxy's nft mode beside tables of iptables that the kubelet made: a node port, a cluster address, the address of a
/// load balancer, and a service that nobody serves.
const NFT: &str = "table ip kube-proxy {
	set cluster-ips {
		type ipv4_addr
		elements = { 10.43.7.1, 10.43.9.9 }
	}
	map service-ips {
		type ipv4_addr . inet_proto . inet_service : verdict
		elements = { 10.43.7.1 . tcp . 80 : goto service-AAAA-shop/web/tcp/http,
			     198.51.100.7 . tcp . 80 : goto external-AAAA-shop/web/tcp/http }
	}
	map service-nodeports {
		type inet_proto . inet_service : verdict
		elements = { tcp . 31080 : goto external-AAAA-shop/web/tcp/http }
	}
	map no-endpoint-services {
		type ipv4_addr . inet_proto . inet_service : verdict
		elements = { 10.43.9.9 . tcp . 80 : goto reject-chain }
	}
	chain reject-chain {
		reject
	}
	chain services {
		ip daddr . meta l4proto . th dport vmap @service-ips
		fib daddr type local ip daddr != 127.0.0.0/8 meta l4proto . th dport vmap @service-nodeports
	}
	chain service-endpoints-check {
		ip daddr . meta l4proto . th dport vmap @no-endpoint-services
	}
	chain filter-forward {
		type filter hook forward priority -110; policy accept;
		ct state new jump service-endpoints-check
	}
	chain nat-prerouting {
		type nat hook prerouting priority dstnat; policy accept;
		jump services
	}
	chain nat-postrouting {
		type nat hook postrouting priority srcnat; policy accept;
		meta mark & 0x00004000 == 0x00004000 masquerade fully-random
	}
	chain service-AAAA-shop/web/tcp/http {
		ip daddr 10.43.7.1 tcp dport 80 ip saddr != 10.42.0.0/16 meta mark set meta mark | 0x00004000
		goto endpoint-BBBB-shop/web/tcp/http__10.42.0.8/8080
	}
	chain external-AAAA-shop/web/tcp/http {
		meta mark set meta mark | 0x00004000
		goto service-AAAA-shop/web/tcp/http
	}
	chain endpoint-BBBB-shop/web/tcp/http__10.42.0.8/8080 {
		ip saddr 10.42.0.8 meta mark set meta mark | 0x00004000
		meta l4proto tcp dnat to 10.42.0.8:8080
	}
}
";
const KUBELET: &str = "*mangle\n:PREROUTING ACCEPT [0:0]\n:KUBE-KUBELET-CANARY - [0:0]\nCOMMIT\n*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n";

fn web() -> Service {
    Service {
        namespace: "shop".into(),
        name: "web".into(),
        kind: "LoadBalancer".into(),
        addresses: vec!["10.43.7.1".into()],
        external: vec!["198.51.100.7".into()],
        ports: vec![ServicePort {
            number: 80,
            protocol: "TCP".into(),
        }],
    }
}

#[test]
fn services_are_followed_in_nft_mode_by_name_node_port_and_load_balancer() {
    let files = [
        ("commands/ip-route.out", ROUTES),
        ("commands/iptables-save.out", KUBELET),
        ("commands/nft-list-ruleset.out", NFT),
    ];
    let mut facts = cluster();
    add(&mut facts, web());
    let ask = |from, to| told(&facts, &files, (from, to, Protocol::TCP), None).unwrap();
    for (from, to) in [
        // Without a port it is the service's own.
        ("10.42.0.7", "svc/shop/web"),
        ("203.0.113.9", "node/n1:31080"),
        ("203.0.113.9", "198.51.100.7:80"),
    ] {
        let told = ask(from, to);
        assert_eq!(told.check.verdict, "accepted", "{to}: {told:?}");
        assert!(
            told.check
                .route
                .starts_with("to 10.42.0.8 after translation, by cali2"),
            "{to}: {}",
            told.check.route
        );
        // A node's address is told, and nothing else is open.
        let beside = |note: &&String| !note.ends_with("is the InternalIP of node n1");
        assert_eq!(told.notes.iter().find(beside), None, "{to}");
    }
    let nobody = ask("10.42.0.7", "10.43.9.9:80");
    assert_eq!(nobody.check.verdict, "rejected", "{nobody:?}");
    let closed = ask("203.0.113.9", "node/n1:31081");
    assert_eq!(closed.check.route, "to the host itself");
}

#[test]
fn a_service_that_no_rule_serves_is_said_to_be_served_elsewhere() {
    let files = [
        ("commands/ip-route.out", ROUTES),
        ("commands/iptables-save.out", KUBELET),
    ];
    let mut facts = cluster();
    add(&mut facts, web());
    let ask = |to, protocol| told(&facts, &files, ("10.42.0.7", to, protocol), None);
    let told = ask("svc/shop/web", Protocol::TCP).unwrap();
    assert!(
        told.check.packet.contains("port 80"),
        "{}",
        told.check.packet
    );
    assert!(
        told.notes.iter().any(|note| note.contains("shop/web")),
        "{told:?}"
    );
    let other = ask("svc/shop/web", Protocol::UDP).unwrap_err();
    assert!(other.contains("serves TCP 80"), "{other}");
    let missing = ask("svc/shop/nothing:80", Protocol::TCP).unwrap_err();
    assert!(missing.contains("shop/nothing"), "{missing}");
}

/// CNI's portmap plugin.
const HOST_PORT: &str = "*nat\n:PREROUTING ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n:POSTROUTING ACCEPT [0:0]\n:CNI-HOSTPORT-DNAT - [0:0]\n:CNI-DN-1f - [0:0]\n:CNI-HOSTPORT-SETMARK - [0:0]\n:CNI-HOSTPORT-MASQ - [0:0]\n\
[3:180] -A PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT\n\
[3:180] -A CNI-HOSTPORT-DNAT -p tcp -m comment --comment \"dnat name: \\\"k8s-pod-network\\\" id: \\\"1f\\\"\" -m multiport --dports 8443 -j CNI-DN-1f\n\
[0:0] -A CNI-DN-1f -s 10.42.0.0/24 -p tcp -m tcp --dport 8443 -j CNI-HOSTPORT-SETMARK\n\
[3:180] -A CNI-DN-1f -p tcp -m tcp --dport 8443 -j DNAT --to-destination 10.42.0.8:443\n\
[0:0] -A CNI-HOSTPORT-SETMARK -j MARK --set-xmark 0x2000/0x2000\nCOMMIT\n\
*filter\n:INPUT DROP [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n";

#[test]
fn a_host_port_leads_to_its_pod_and_another_port_to_the_host() {
    let files = [
        ("commands/ip-route.out", ROUTES),
        ("commands/iptables-save.out", HOST_PORT),
    ];
    let ask = |to| {
        let packet = ("203.0.113.9", to, Protocol::TCP);
        told(&cluster(), &files, packet, None).unwrap().check
    };
    let served = ask("node/n1:8443");
    assert_eq!(served.verdict, "accepted", "{served:?}");
    assert!(served.route.starts_with("to 10.42.0.8 after"), "{served:?}");
    assert_eq!(served.reply, "arrives", "{served:?}");
    assert_eq!(ask("node/n1:8444").verdict, "dropped");
}

#[test]
fn a_ping_and_ipv6_are_asked_for_what_they_are() {
    let rules = "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD DROP [0:0]\n:OUTPUT ACCEPT [0:0]\n-A FORWARD -p icmp -m icmp --icmp-type 8 -j ACCEPT\nCOMMIT\n";
    let six = "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD DROP [0:0]\n:OUTPUT ACCEPT [0:0]\n-A FORWARD -p ipv6-icmp -m icmp6 --icmpv6-type 128 -j ACCEPT\n-A FORWARD -i cali6 -p udp -m udp --dport 53 -j ACCEPT\n-A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\nCOMMIT\n*nat\n:PREROUTING ACCEPT [0:0]\n:POSTROUTING ACCEPT [0:0]\n-A POSTROUTING -s fd00:42::/64 -o eth0 -j MASQUERADE\nCOMMIT\n";
    let routes = "default via 2001:db8::1 dev eth0\nfd00:42::7 dev cali6 metric 1024\n2001:db8::/64 dev eth0 proto kernel\nlocal 2001:db8::7 dev eth0 table local\n";
    let files = [
        ("commands/ip-route.out", ROUTES),
        ("commands/ip6-route.out", routes),
        ("commands/iptables-save.out", rules),
        ("commands/ip6tables-save.out", six),
    ];
    let mut facts = Facts::default();
    add(
        &mut facts,
        Pod {
            namespace: "shop".into(),
            name: "web".into(),
            node: "n1".into(),
            ip: Some("10.42.0.7".into()),
            ips: vec!["10.42.0.7".into(), "fd00:42::7".into()],
            ..Pod::default()
        },
    );
    add(
        &mut facts,
        Node {
            name: "n1".into(),
            addresses: vec!["192.0.2.7".into(), "2001:db8::7".into()],
            ..Node::default()
        },
    );
    let ask = |to, protocol| {
        let packet = ("pod/shop/web", to, protocol);
        told(&facts, &files, packet, None).unwrap().check
    };
    let four = ask("198.51.100.9", Protocol::ICMP);
    assert_eq!(four.verdict, "accepted", "{four:?}");
    // The address of the same family is taken.
    let ping = ask("2001:db8:1::9", Protocol::ICMP);
    assert_eq!(ping.verdict, "accepted", "{ping:?}");
    assert!(ping.packet.starts_with("fd00:42::7"), "{}", ping.packet);
    let dns = ask("[2001:db8:1::9]:53", Protocol::UDP);
    assert_eq!(
        (dns.verdict.as_str(), dns.reply.as_str()),
        ("accepted", "arrives"),
        "{dns:?}"
    );
    assert!(dns.packet.contains("in on cali6"), "{}", dns.packet);
    assert_eq!(ask("[2001:db8:1::9]:443", Protocol::TCP).verdict, "dropped");
}

#[test]
fn without_the_local_table_the_links_addresses_are_the_nodes_own() {
    let routes = "default via 192.0.2.1 dev eth0\n192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.7\n\
                  10.42.0.0/24 dev cni0 proto kernel scope link src 10.42.0.1\n";
    let addresses = "2: eth0: <UP> mtu 1500\n    inet 192.0.2.7/24 scope global eth0\n\
                     3: cni0: <UP> mtu 1450\n    inet 10.42.0.1/24 scope global cni0\n";
    let rules = "*nat\n:PREROUTING ACCEPT [0:0]\n:POSTROUTING ACCEPT [0:0]\n\
                 -A PREROUTING -p tcp --dport 30080 -j DNAT --to-destination 10.42.0.9:80\n\
                 -A POSTROUTING -d 10.42.0.9 -j MASQUERADE\nCOMMIT\n\
                 *filter\n:INPUT DROP [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n";
    let ask = |to: &str, links: &str| {
        let files = [
            ("commands/ip-route.out", routes),
            ("commands/ip-addr.out", links),
            ("commands/iptables-save.out", rules),
        ];
        let ends = ("198.51.100.7", to, Protocol::TCP);
        told(&Facts::default(), &files, ends, None).map(|told| told.check)
    };
    // What is for the node itself does not go on.
    let own = ask("192.0.2.7:10250", addresses).expect("an answer");
    assert_eq!(
        (own.verdict.as_str(), own.route.as_str()),
        ("dropped", "to the host itself")
    );
    let blind = ask("192.0.2.7:10250", "").expect("an answer");
    assert_eq!(blind.verdict, "accepted", "taken for another host's");
    // The object of the node was not collected; its links show its address, and which one masquerading takes.
    let port = ask("node/n1:30080", addresses).expect("an answer");
    assert_eq!(port.verdict, "accepted");
    assert!(!port.reply.contains("masquerading"), "{}", port.reply);
}

#[test]
fn a_node_is_asked_at_the_address_that_its_object_names_and_the_answer_says_which() {
    let routes = "default via 192.0.2.1 dev eth0\n192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.7\n\
                  10.9.0.0/16 dev eth1 proto kernel scope link src 10.9.0.7\n";
    let addresses = "2: eth0: <UP> mtu 1500\n    inet 192.0.2.7/24 scope global eth0\n\
                     3: eth1: <UP> mtu 1500\n    inet 10.9.0.7/16 scope global eth1\n";
    let rules = "*filter\n:INPUT DROP [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n\
                 -A INPUT -d 10.9.0.7/32 -j ACCEPT\nCOMMIT\n";
    let files = [
        ("commands/ip-route.out", routes),
        ("commands/ip-addr.out", addresses),
        ("commands/iptables-save.out", rules),
    ];
    let ends = ("198.51.100.7", "node/n1:10250", Protocol::TCP);
    // Its lowest address is one of another network.
    let by_routes = told(&Facts::default(), &files, ends, None).expect("an answer");
    assert_eq!(by_routes.check.verdict, "dropped");
    assert_eq!(
        by_routes.notes,
        [
            "192.0.2.7 is taken for node n1 by its routes; its Node object, which names its InternalIP, was not collected"
        ]
    );
    let mut facts = Facts::default();
    add(
        &mut facts,
        Node {
            name: "n1".into(),
            addresses: vec!["10.9.0.7".into()],
            ..Node::default()
        },
    );
    let by_object = told(&facts, &files, ends, None).expect("an answer");
    assert_eq!(by_object.check.verdict, "accepted");
    assert_eq!(by_object.notes, ["10.9.0.7 is the InternalIP of node n1"]);
}
