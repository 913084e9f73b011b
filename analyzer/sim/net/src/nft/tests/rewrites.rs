//! What rules read of headers, counts and lists behind what other rules have changed.

use super::*;
use crate::header::HeaderBytes;

/// A first packet of UDP with all that is usual, through a chain that drops.
fn verdict_of(rules: &str, packet: &Packet) -> Verdict {
    let text = format!(
        "table inet t {{\nchain f {{\ntype filter hook forward priority filter; policy drop;\n{rules}\n}}\n}}\n"
    );
    asked(&text, packet).verdict
}

fn first(proto: Protocol) -> Packet {
    let mut packet = pod_packet(proto, 53);
    packet.length = Some(40);
    packet.ttl = Some(64);
    packet.headers = HeaderBytes::plain(&packet);
    let tuple = crate::connection::Tuple {
        src: packet.src,
        sport: packet.sport,
        dst: packet.dst,
        dport: packet.dport,
    };
    packet.connection = Some(Box::new(crate::connection::Connection {
        reply: false,
        original: tuple,
        replies: Some(tuple.turned()),
        dnat: Some(false),
        snat: Some(false),
        served: None,
        mark: None,
    }));
    packet
}

#[test]
fn a_rule_sees_what_an_earlier_one_has_made_of_the_header() {
    let packet = first(Protocol::UDP);
    for (rules, wanted) in [
        ("ip dscp set cs1\nip dscp cs1 accept", Verdict::Accepted),
        ("ip dscp set ef\nip dscp cs0 accept", Verdict::Dropped),
        // A rule for IPv6 changes nothing of IPv4.
        ("ip6 dscp set cs1\nip dscp cs0 accept", Verdict::Accepted),
        ("ip ttl set 1\nip ttl 1 accept", Verdict::Accepted),
        ("ip ecn set ce\nip ecn ce accept", Verdict::Accepted),
        ("@nh,96,32 0x0a0100b9 accept", Verdict::Accepted),
        ("@th,16,16 54 accept", Verdict::Dropped),
    ] {
        assert_eq!(verdict_of(rules, &packet), wanted, "{rules}");
    }
    let lost = "ip dscp set ip dscp map { cs0 : cs1 }\nip dscp cs1 accept";
    assert!(verdict_of(lost, &packet).is_undecided());
}

#[test]
fn the_first_packet_is_all_that_its_connection_has_counted() {
    let packet = first(Protocol::UDP);
    for (rule, passes) in [
        ("ct packets 1 accept", true),
        ("ct bytes > 40 accept", false),
        ("ct original bytes 40 accept", true),
        ("ct reply packets 0 accept", true),
        ("ct avgpkt > 39 accept", true),
        (
            "limit rate 1 kbytes/second counter packets 2 bytes 900 accept",
            true,
        ),
        ("quota over 1 kbytes used 900 bytes accept", false),
        ("quota over 1 kbytes used 1000 bytes accept", true),
    ] {
        let wanted = if passes {
            Verdict::Accepted
        } else {
            Verdict::Dropped
        };
        assert_eq!(verdict_of(rule, &packet), wanted, "{rule}");
    }
    let spent = "limit rate 1 kbytes/second counter packets 2 bytes 1000 accept";
    assert!(verdict_of(spent, &packet).is_undecided());
    let mut later = packet;
    later.ct_states = [CtState::Established].into();
    assert!(verdict_of("ct bytes > 40 accept", &later).is_undecided());
}

#[test]
fn what_a_map_does_not_hold_ends_its_rule() {
    let packet = first(Protocol::UDP);
    let rule = "ct state vmap { established : accept } accept";
    assert_eq!(verdict_of(rule, &packet), Verdict::Dropped);
    let open = "ct state vmap { new : continue } accept";
    assert!(verdict_of(open, &packet).is_undecided());
}

#[test]
fn bits_are_compared_behind_what_is_done_to_them() {
    let mut packet = first(Protocol::UDP);
    packet.mark = Some(0x10);
    for (rule, passes) in [
        ("meta mark | 0x23 == 0x33 accept", true),
        ("meta mark & 0xf0 ^ 0x30 == 0x20 accept", true),
        ("meta mark or 0x23 != 0x33 accept", false),
        ("meta l4proto { eigrp, udp } accept", true),
    ] {
        let wanted = if passes {
            Verdict::Accepted
        } else {
            Verdict::Dropped
        };
        assert_eq!(verdict_of(rule, &packet), wanted, "{rule}");
    }
    let mut tcp = first(Protocol::TCP);
    tcp.tcp_flags = Some(0x12);
    let flags = "tcp flags & (fin | syn | rst | psh | ack) == { fin | ack, syn | ack } accept";
    assert_eq!(verdict_of(flags, &tcp), Verdict::Accepted);
    tcp.tcp_flags = Some(0x02);
    assert_eq!(verdict_of(flags, &tcp), Verdict::Dropped);
}

#[test]
fn sockets_systems_and_translations_fail_what_cannot_have_them() {
    let mut ping = first(Protocol::ICMP);
    (ping.sport, ping.dport) = (None, None);
    (ping.icmp_type, ping.icmp_code) = (Some(8), Some(0));
    for rule in [
        "socket transparent 1 accept",
        "socket cgroupv2 level 1 \"system.slice\" accept",
        "osf ttl loose name \"Linux\" accept",
    ] {
        assert_eq!(verdict_of(rule, &ping), Verdict::Dropped, "{rule}");
        let mut tcp = first(Protocol::TCP);
        tcp.tcp_flags = Some(0x02);
        assert!(verdict_of(rule, &tcp).is_undecided(), "{rule}");
    }
    let mut invalid = first(Protocol::TCP);
    invalid.ct_states = [CtState::Invalid].into();
    for rule in ["ct status snat accept", "ct status != dnat accept"] {
        assert_eq!(verdict_of(rule, &invalid), Verdict::Dropped, "{rule}");
    }
    let listens = "meta l4proto tcp tproxy to :8080 accept";
    let mut tcp = first(Protocol::TCP);
    tcp.tcp_flags = Some(0x02);
    assert!(verdict_of(listens, &tcp).is_undecided());
    assert_eq!(verdict_of(listens, &ping), Verdict::Dropped);
}

#[test]
fn a_route_has_a_realm_only_where_one_is_configured() {
    let verdict = |routes: &str, rule: &str| {
        let text = format!(
            "table inet t {{\nchain f {{\ntype filter hook forward priority filter; policy drop;\n{rule} accept\n}}\n}}\n"
        );
        let ruleset = parse_ruleset("nft", &text);
        let mut routing = crate::route::Routing::default();
        let path = "ip-route";
        routing.read_routes(crate::question::CapturedText { path, text: routes });
        let rules = Rules {
            nft: ruleset.tables.iter().collect(),
            routes: Some(&routing),
            ..Rules::default()
        };
        evaluate_all(&rules, &first(Protocol::UDP)).verdict
    };
    let plain = "default via 192.0.2.1 dev eno1\n";
    assert_eq!(verdict(plain, "rt classid 0"), Verdict::Accepted);
    assert_eq!(verdict(plain, "meta rtclassid 10"), Verdict::Dropped);
    let realm = "default via 192.0.2.1 dev eno1 realm 10\n";
    assert!(verdict(realm, "rt classid 10").is_undecided());
}

#[test]
fn a_value_that_a_rule_sets_breaks_it_off_where_the_packet_does_not_have_it() {
    let packet = first(Protocol::UDP);
    let mut loose = packet.clone();
    (loose.connection, loose.ct_states) = (None, [CtState::Invalid].into());
    for (rule, packet, wanted) in [
        ("meta mark set mark map { 1 : 10, 2 : 20 }", &packet, false),
        ("meta mark set mark map { 0 : 10, 2 : 20 }", &packet, true),
        ("ct mark set ct mark or 0x1", &packet, true),
        ("ct mark set ct mark or 0x1", &loose, false),
        ("meta mark set ct mark", &loose, false),
        ("ct zone set mark map { 1 : 1, 2 : 2 }", &packet, false),
        ("add @s { ip saddr }", &packet, true),
        ("add @s { ip6 saddr . ip6 daddr }", &packet, false),
        (
            "ct mark set osf name map { \"Windows\" : 1 }",
            &packet,
            false,
        ),
    ] {
        let wanted = match wanted {
            true => Verdict::Accepted,
            false => Verdict::Dropped,
        };
        let rule = format!("{rule} accept");
        assert_eq!(verdict_of(&rule, packet), wanted, "{rule}");
    }
}

#[test]
fn a_connection_that_begins_has_no_helper_label_or_zone_that_no_rule_gives() {
    let packet = first(Protocol::UDP);
    for (rule, wanted) in [
        ("ct helper \"ftp\" accept", Verdict::Dropped),
        ("ct zone 0 accept", Verdict::Accepted),
        ("ct original zone 1 accept", Verdict::Dropped),
        ("ct label 127 accept", Verdict::Dropped),
        ("ct label != 127 accept", Verdict::Accepted),
    ] {
        assert_eq!(verdict_of(rule, &packet), wanted, "{rule}");
    }
    for rules in [
        "ip daddr 203.0.113.1 ct label set 127\nct label 127 accept",
        "ip daddr 203.0.113.1 ct zone set 1\nct zone 1 accept",
    ] {
        assert!(verdict_of(rules, &packet).is_undecided(), "{rules}");
    }
    let expires = verdict_of("ct expiration 30s accept", &packet);
    assert!(
        matches!(&expires, Verdict::Undecided { why } if why.contains("conntrack -L")),
        "{expires:?}"
    );
}

#[test]
fn a_packet_that_comes_in_has_the_priority_of_its_class_and_no_tag() {
    let mut packet = first(Protocol::UDP);
    for (rule, wanted) in [
        ("meta priority none accept", Verdict::Accepted),
        ("meta priority bcad:dadc accept", Verdict::Dropped),
        ("meta priority != root accept", Verdict::Accepted),
        ("vlan id 1 accept", Verdict::Dropped),
        ("meta protocol { ip, arp, vlan } accept", Verdict::Accepted),
        ("meta protocol != { ip, arp } accept", Verdict::Dropped),
        ("meta mark 0xffffff00/24 accept", Verdict::Dropped),
        ("meta mark 0x00000000/24 accept", Verdict::Accepted),
    ] {
        assert_eq!(verdict_of(rule, &packet), wanted, "{rule}");
    }
    // A class of the old kind: minimize delay.
    packet.headers.network[1] = Some(0x10);
    assert_eq!(
        verdict_of("meta priority 0:6 accept", &packet),
        Verdict::Accepted
    );
    let set = "ip daddr 203.0.113.1 meta priority set 1:10\nmeta priority none accept";
    assert!(verdict_of(set, &packet).is_undecided());
    // Only TCP has segments.
    let clamp = "tcp option maxseg size set 1360 accept";
    assert_eq!(verdict_of(clamp, &packet), Verdict::Dropped);
    assert_eq!(verdict_of(clamp, &first(Protocol::TCP)), Verdict::Accepted);
}

#[test]
fn what_stands_behind_a_value_that_is_set_is_asked_as_well() {
    let packet = first(Protocol::UDP);
    for set in [
        "meta priority set 1:2",
        "ct label set 40",
        "ct event set new",
        "meta pkttype set host",
    ] {
        let other = format!("{set} udp dport 5353 accept");
        assert_eq!(verdict_of(&other, &packet), Verdict::Dropped, "{set}");
        let own = format!("{set} udp dport 53 accept");
        assert_eq!(verdict_of(&own, &packet), Verdict::Accepted, "{set}");
    }
    // Which bits the connection's label has once a rule sets one is not worked out.
    let labelled = verdict_of("ct label set 40 ct label & 40 != 40 accept", &packet);
    assert!(labelled.is_undecided(), "{labelled}");
}
