mod order;
mod rewrites;
mod statements;

use super::*;
use crate::eval::{DecidedBy, Evaluation, Rules, Verdict, evaluate_all};
use crate::packet::{CtState, Direction, Interface, Packet, Protocol};
use proptest::prelude::*;

const FIREWALLD: &str = "table inet firewalld {\n\tchain filter_FORWARD {\n\t\ttype filter hook forward priority filter + 10; policy accept;\n\t\tct state established,related accept\n\t\tjump filter_FORWARD_IN_ZONES\n\t}\n\tchain filter_FORWARD_IN_ZONES {\n\t\treject with icmpx admin-prohibited\n\t}\n\tchain nat_PREROUTING {\n\t\ttype nat hook prerouting priority dstnat; policy accept;\n\t}\n}\ntable ip filter {\n\tchain FORWARD {\n\t\ttype filter hook forward priority filter; policy drop;\n\t}\n}\n";

fn pod_packet(proto: Protocol, dport: u16) -> Packet {
    let mut packet = Packet::new(
        Direction::Forward,
        "10.1.0.185".parse().unwrap(),
        "1.1.1.1".parse().unwrap(),
    );
    packet.in_iface = Some(Interface::Name("lxc4f39491e6165".into()));
    packet.out_iface = Some(Interface::Name("eno1".into()));
    packet.proto = Some(proto);
    packet.sport = Some(40000);
    packet.dport = Some(dport);
    packet.mark = Some(0);
    packet.fragment = Some(false);
    packet.ct_states = [CtState::New].into();
    packet
}

fn asked(text: &str, packet: &Packet) -> Evaluation {
    let ruleset = parse_ruleset("nft", text);
    let rules = Rules {
        nft: ruleset.tables.iter().collect(),
        ..Rules::default()
    };
    evaluate_all(&rules, packet)
}

/// A forward chain that drops, with these rules, and what stands beside it.
fn forward(rules: &str, beside: &str) -> Evaluation {
    let text = format!(
        "table inet t {{\n{beside}\nchain f {{\ntype filter hook forward priority filter; policy drop;\n{rules}\n}}\n}}\n"
    );
    asked(&text, &pod_packet(Protocol::UDP, 53))
}

fn passes(rules: &str) -> bool {
    match forward(rules, "").verdict {
        Verdict::Accepted => true,
        Verdict::Dropped => false,
        other => panic!("{rules}: {other:?}"),
    }
}

#[test]
fn a_firewalld_table_that_rejects_behind_a_jump_may_drop_forwarded_packets_only() {
    let tables = parse_ruleset("nft", FIREWALLD).tables;
    assert_eq!(tables.len(), 2);
    assert_eq!(tables[0].title(), "table inet firewalld");
    assert!(!tables[0].looks_like_iptables() && tables[1].looks_like_iptables());
    assert!(tables[0].may_drop(Direction::Forward));
    assert!(!tables[0].may_drop(Direction::Output));
    assert_eq!(tables[0].bases[0].priority, 10);
}

#[test]
fn an_accept_in_one_table_does_not_save_the_packet_from_another() {
    let open = FIREWALLD.replace("policy drop", "policy accept");
    let answer = asked(&open, &pod_packet(Protocol::UDP, 53));
    assert_eq!(answer.verdict, Verdict::Rejected);
    let Some(DecidedBy::Rule {
        table,
        chain,
        origin,
        ..
    }) = answer.decided_by
    else {
        panic!("{:?}", answer.decided_by)
    };
    assert_eq!(
        (table.as_str(), chain.as_str()),
        ("inet firewalld", "filter_FORWARD_IN_ZONES")
    );
    assert_eq!(origin.to_string(), "nft:8");
}

#[test]
fn chains_of_a_hook_are_asked_in_the_order_of_their_priorities() {
    let text = "table ip a {\nchain late {\ntype filter hook forward priority filter + 10; policy accept;\nmeta mark 0x5 drop\n}\nchain early {\ntype filter hook forward priority -5; policy accept;\nmeta mark set 0x5\n}\n}\n";
    assert_eq!(
        asked(text, &pod_packet(Protocol::UDP, 53)).verdict,
        Verdict::Dropped
    );
}

#[test]
fn of_equal_priorities_the_chain_that_was_made_last_comes_first() {
    let text = "table ip a {\nchain one {\ntype filter hook forward priority 0; policy accept;\nmeta mark 0x5 drop\n}\nchain two {\ntype filter hook forward priority 0; policy accept;\nmeta mark set 0x5\n}\n}\n";
    let answer = asked(text, &pod_packet(Protocol::UDP, 53));
    assert_eq!(answer.verdict, Verdict::Dropped);
}

#[test]
fn matches_follow_the_kernel() {
    for yes in [
        "udp dport 53 accept",
        "udp dport { 22, 50-60 } accept",
        "udp dport != { 22, 80-90 } accept",
        "meta l4proto { tcp, udp } th dport 53 accept",
        "ip saddr 10.1.0.0/16 ip daddr != 10.0.0.0/8 counter packets 1 bytes 2 accept",
        "iifname \"lxc*\" oifname \"eno1\" accept",
        "iifname { \"eth0\", \"lxc*\" } accept",
        "ct state established,new accept",
        "ct state vmap { established : drop, new : accept }",
        "ct state != { established, related } accept",
        "ip saddr . udp dport { 10.1.0.185 . 53, 10.1.0.186 . 54 } accept",
        "ip saddr . udp dport vmap { 10.1.0.0/24 . 50-60 : accept }",
        "ip daddr & 255.0.0.255 == 1.0.0.1 accept",
        "meta mark set meta mark | 0x10 meta nftrace set 1\nmeta mark & 0x000000f0 == 0x00000010 accept",
        "meta mark set meta mark & 0xffff0fff ^ 0x00000004\nmeta mark 0x4 accept",
        "meta nfproto ipv4 accept",
        "udp dport >= 53 udp dport < 54 accept",
        "udp dport vmap { 53 : goto other }\n}\nchain other {\naccept",
        "log prefix \"a b \" level warn flags all\naccept comment \"drop\"",
        "fib daddr type unicast accept",
        "ip protocol udp accept",
    ] {
        assert!(passes(yes), "{yes}");
    }
    for no in [
        "tcp dport != 22 accept",
        "ip6 saddr fe80::/10 accept",
        "ip6 saddr != fe80::/10 accept",
        "icmp type echo-request accept",
        "meta l4proto != udp accept",
        "ct status dnat accept",
        "tcp flags syn / fin,syn accept",
        "ip saddr != { 10.1.0.0/16, 10.2.0.1 } accept",
        "return\naccept",
        "fib daddr type local accept",
    ] {
        assert!(!passes(no), "{no}");
    }
}

#[test]
fn named_sets_and_maps_are_looked_up_with_intervals_and_over_several_lines() {
    let sets = "set s {\ntype ipv4_addr . inet_service\nflags interval\nelements = { 10.0.0.1 . 80,\n\t\t 10.1.0.0/24 . 50-60 comment \"x\" }\n}\nmap m {\ntype ipv4_addr . inet_proto . inet_service : verdict\nelements = { 1.1.1.1 . udp . 53 comment \"a, b\" : goto b }\n}\nchain b {\naccept\n}\n";
    assert_eq!(
        forward("ip saddr . udp dport @s accept", sets).verdict,
        Verdict::Accepted
    );
    let by_map = forward("ip daddr . meta l4proto . th dport vmap @m", sets);
    assert_eq!(by_map.verdict, Verdict::Accepted);
    assert_eq!(by_map.decided_by.unwrap().origin().unwrap().line, 13);
    let missing = forward("ip saddr @gone accept", sets);
    assert!(missing.verdict.is_undecided());
}

#[test]
fn what_depends_on_earlier_packets_or_is_not_understood_is_undecided_and_named() {
    for rules in [
        "limit rate 5/second accept",
        "quantum entangled yes accept",
        "ip saddr 10.1.0.185 teleport",
    ] {
        let answer = forward(rules, "");
        let Verdict::Undecided { why } = answer.verdict else {
            panic!("{rules}: {:?}", answer.verdict)
        };
        assert!(why.contains("nft:5"), "{why}");
    }
    // Where it cannot change the verdict it does not.
    assert_eq!(
        forward("quantum entangled yes drop", "").verdict,
        Verdict::Dropped
    );
    let ruleset = parse_ruleset(
        "nft",
        "table ip t {\nchain c {\nquantum leap accept\n}\n}\n",
    );
    assert_eq!((ruleset.unread, ruleset.problems[0].origin.line), (1, 3));
}

#[test]
fn half_a_ruleset_decides_nothing_that_the_missing_half_could_change() {
    let text = "table ip t {\nchain c {\ntype filter hook forward priority 0; policy accept;\nudp dport 54 ac";
    let ruleset = parse_ruleset("nft", text);
    assert!(ruleset.cut);
    assert!(
        asked(text, &pod_packet(Protocol::UDP, 53))
            .verdict
            .is_undecided()
    );
}

#[test]
fn a_service_of_kube_proxy_goes_to_every_endpoint() {
    let text = "table ip kube-proxy {\nset cluster-ips {\ntype ipv4_addr\nelements = { 1.1.1.1 }\n}\n\
        map service-ips {\ntype ipv4_addr . inet_proto . inet_service : verdict\nelements = { 1.1.1.1 . udp . 53 comment \"ns/dns\" : goto service-A/dns/udp/ }\n}\n\
        chain nat-prerouting {\ntype nat hook prerouting priority dstnat; policy accept;\nip daddr . meta l4proto . th dport vmap @service-ips\n}\n\
        chain service-A/dns/udp/ {\nnumgen random mod 2 vmap { 0 : goto endpoint-1, 1 : goto endpoint-2 }\n}\n\
        chain endpoint-1 {\nmeta l4proto udp dnat to 10.2.0.1:5353\n}\nchain endpoint-2 {\nmeta l4proto udp dnat to 10.2.0.2:5353\n}\n\
        chain filter-forward {\ntype filter hook forward priority -110; policy accept;\nct state new ip daddr @cluster-ips reject\nip daddr 10.2.0.2 udp dport 5353 drop\nct status dnat accept\n}\n}\n";
    let answer = asked(text, &pod_packet(Protocol::UDP, 53));
    assert!(answer.verdict.is_undecided(), "{answer:#?}");
    let one = text.replace("ip daddr 10.2.0.2 udp dport 5353 drop\n", "");
    let answer = asked(&one, &pod_packet(Protocol::UDP, 53));
    assert_eq!(answer.verdict, Verdict::Accepted);
    assert_eq!(answer.leaves.unwrap().dport, Some(5353));
    assert!(
        answer
            .walk
            .iter()
            .any(|step| step.text.starts_with("numgen")),
        "{:#?}",
        answer.walk
    );
}

#[test]
fn a_dormant_table_stops_nothing() {
    let chain = "chain f {\ntype filter hook forward priority filter; policy drop;\n}\n";
    for (flags, verdict) in [
        ("flags dormant", Verdict::Accepted),
        ("flags owner, dormant", Verdict::Accepted),
        ("flags owner", Verdict::Dropped),
    ] {
        let text = format!(
            "table inet old {{ {flags}\n{chain}}}\ntable inet new {{\nchain f {{\ntype filter hook forward priority 1; policy accept;\n}}\n}}\n"
        );
        let answer = asked(&text, &pod_packet(Protocol::UDP, 53));
        assert_eq!(answer.verdict, verdict, "{flags}");
    }
}

#[test]
fn a_chain_inside_a_rule_decides_and_returns_like_any_other() {
    let chain = |verdict: &str| {
        format!(
            "udp dport 53 counter packets 3 bytes 90 jump {{\ncounter packets 2 bytes 60 {verdict}\n}}\naccept"
        )
    };
    assert!(!passes(&chain("drop")));
    assert!(passes(&chain("return")));
    let answer = forward(&chain("reject"), "");
    assert_eq!(answer.verdict, Verdict::Rejected);
    let Some(DecidedBy::Rule { text, origin, .. }) = answer.decided_by else {
        panic!("{answer:?}");
    };
    assert!(text.contains("reject") && !text.contains("dport"), "{text}");
    assert_eq!(origin.line, 6);
}

#[test]
fn what_only_another_protocol_has_matches_no_packet_of_this_one() {
    for rule in [
        "ah spi 5 drop",
        "tcp option maxseg size 1-500 drop",
        "icmp gateway 7 drop",
        "rt type 0 drop",
        "exthdr hbh exists drop",
        "sctp vtag { 1, 2 } drop",
    ] {
        assert!(passes(&format!("{rule}\naccept")), "{rule}");
    }
    let own = forward("udp checksum 3 drop\naccept", "").verdict;
    assert!(own.is_undecided(), "{own:?}");
}

#[test]
fn a_redirection_to_where_the_packet_goes_anyway_is_no_translation() {
    let answer = |port: u16| {
        let text = format!(
            "table inet t {{\nchain n {{\ntype nat hook prerouting priority dstnat;\nudp dport 53 redirect to :{port}\n}}\n\
             chain i {{\ntype filter hook input priority filter; policy drop;\nct status dnat accept\n}}\n}}\n"
        );
        let ruleset = parse_ruleset("nft", &text);
        let text = r#"[{"type":"local","dst":"10.1.0.1","dev":"lxc4f39491e6165","table":"local","protocol":"kernel","scope":"host","prefsrc":"10.1.0.1"}]"#;
        let mut routes = crate::route::Routing::default();
        routes.read_routes(crate::question::CapturedText {
            path: "routes",
            text,
        });
        let rules = Rules {
            nft: ruleset.tables.iter().collect(),
            routes: Some(&routes),
            ..Rules::default()
        };
        let mut packet = pod_packet(Protocol::UDP, 53);
        packet.direction = Direction::Input;
        packet.dst = "10.1.0.1".parse().unwrap();
        packet.out_iface = None;
        evaluate_all(&rules, &packet).verdict
    };
    assert_eq!(answer(53), Verdict::Dropped);
    assert_eq!(answer(5353), Verdict::Accepted);
}

#[test]
fn a_tcp_reset_answers_tcp_only() {
    let text = "table ip t {\nchain f {\ntype filter hook forward priority filter; policy accept;\nreject with tcp reset\n}\n}\n";
    for (protocol, verdict) in [
        (Protocol::TCP, Verdict::Rejected),
        (Protocol::UDP, Verdict::Accepted),
    ] {
        assert_eq!(asked(text, &pod_packet(protocol, 53)).verdict, verdict);
    }
}

#[test]
fn chains_that_only_call_one_another_rewrite_nothing() {
    let text = |zone: &str| {
        format!(
            "table inet firewalld {{\nchain nat_PREROUTING {{\ntype nat hook prerouting priority dstnat; policy accept;\njump zones\n}}\n\
            chain zones {{\n{zone}\n}}\n\
            chain f {{\ntype filter hook forward priority 10; policy accept;\nct status dnat accept\nreject with icmpx admin-prohibited\n}}\n}}\n"
        )
    };
    let mut packet = pod_packet(Protocol::UDP, 53);
    packet.past_prerouting = true;
    assert_eq!(asked(&text("return"), &packet).verdict, Verdict::Rejected);
    let forwards = text("udp dport 5353 dnat ip to 10.0.0.1:53");
    assert!(asked(&forwards, &packet).verdict.is_undecided());
}

#[test]
fn a_rule_that_cannot_be_decided_before_a_drop_is_named_beside_it() {
    let answer = forward("limit rate 5/second drop\nudp dport 53 drop", "");
    assert_eq!(answer.verdict, Verdict::Dropped);
    let others: Vec<String> = answer
        .or_decided_by
        .iter()
        .map(ToString::to_string)
        .collect();
    assert!(
        others.iter().any(|one| one.contains("limit rate")),
        "{others:?}"
    );
}

#[test]
fn a_rule_that_asks_for_a_mark_is_told_from_one_that_sets_it() {
    let text = "table ip mangle {\n chain c {\n meta mark & 0x1 == 0x1 accept\n meta mark set mark and 0x2\n meta mark set meta mark and 0x2\n }\n}\n";
    assert_eq!(parse_ruleset("nft", text).tables[0].mark_matches(), 1);
}

#[test]
fn an_own_table_named_filter_with_own_chain_names_is_not_taken_for_iptables() {
    let text = "table ip filter {\n chain forward {\n type filter hook forward priority 0; policy drop;\n }\n}\n";
    assert!(!parse_ruleset("nft", text).tables[0].looks_like_iptables());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_makes_reader_or_evaluator_panic(
        words in proptest::collection::vec(proptest::sample::select(vec![
            "table", "ip", "inet", "t", "{", "}", "\n", "chain", "c", "type filter hook forward priority 0;", "policy drop;",
            "set", "map", "elements = {", "@s", "ip saddr", "10.0.0.0/8", ".", ",", ":", "vmap", "{ 1 : drop, 2 : jump c }",
            "tcp dport", "!=", "&", "(", ")", "\"", "\\", "meta mark set", "0x5", "^", "dnat to", "1.2.3.4:80", "map", "numgen random mod 2",
            "jump c", "goto c", "accept", "log prefix", "limit rate", "#", "ct state", "new,established", "fib daddr type", "/",
        ]), 0..80),
        noise in "\\PC{0,20}",
    ) {
        let text = format!("table inet t {{\nchain c {{\ntype filter hook forward priority 0;\n{}{noise}", words.join(" "));
        let _ = asked(&text, &pod_packet(Protocol::UDP, 53));
    }
}
