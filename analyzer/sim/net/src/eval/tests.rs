use super::*;
use crate::iptables::parse_save;
use crate::packet::{CtState, Direction, Family, Interface, Protocol};
use proptest::prelude::*;

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
    packet.ct_states = [CtState::New].into();
    packet
}

fn filter(rules: &str) -> RuleSet {
    let text = format!(
        "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD DROP [0:0]\n:OUTPUT ACCEPT [0:0]\n{rules}\nCOMMIT\n"
    );
    parse_save("iptables-save", &text, Family::V4)
}

fn forward(rules: &str) -> Evaluation {
    evaluate(&filter(rules), &pod_packet(Protocol::UDP, 53))
}

fn decided_line(evaluation: &Evaluation) -> u32 {
    evaluation
        .decided_by
        .as_ref()
        .and_then(DecidedBy::origin)
        .map_or(0, |origin| origin.line)
}

#[test]
fn a_default_deny_is_named_with_the_line_that_sets_it() {
    let answer = forward("-A FORWARD -i eth9 -j ACCEPT");
    assert_eq!(answer.verdict, Verdict::Dropped);
    assert_eq!(decided_line(&answer), 3);
    assert!(matches!(answer.decided_by, Some(DecidedBy::Policy { .. })));
}

#[test]
fn an_interface_wildcard_lets_the_pod_out() {
    let answer = forward("-A FORWARD -i lxc+ -o eno1 -j ACCEPT");
    assert_eq!(answer.verdict, Verdict::Accepted);
    assert_eq!(decided_line(&answer), 5);
}

#[test]
fn a_rate_limited_log_rule_leaves_the_verdict_certain() {
    let answer = forward("-A FORWARD -m limit --limit 3/min -j LOG --log-prefix \"[UFW BLOCK] \"");
    assert_eq!(answer.verdict, Verdict::Dropped);
    assert!(answer.passes_log("[UFW BLOCK]"));
}

#[test]
fn a_set_of_unknown_contents_leaves_an_accept_undecided_and_says_which_set() {
    let answer = forward("-A FORWARD -m set --match-set pods src -j ACCEPT");
    let Verdict::Undecided { why } = &answer.verdict else {
        panic!("{:?}", answer.verdict)
    };
    assert!(
        why.contains("ipset") && why.contains("pods") && why.contains("iptables-save:5"),
        "{why}"
    );
}

#[test]
fn a_doubtful_rule_that_changes_nothing_does_not_matter() {
    let answer = forward("-A FORWARD -m set --match-set pods src -j DROP");
    assert_eq!(answer.verdict, Verdict::Dropped);
    assert_eq!(answer.or_decided_by.len(), 1);
}

#[test]
fn many_doubtful_jumps_are_followed_once_each() {
    let mut rules = String::from(":X - [0:0]\n:Y - [0:0]\n");
    for _ in 0..200 {
        rules.push_str("-A FORWARD -m statistic --mode random --probability 0.5 -j X\n");
    }
    rules.push_str("-A X -m set --match-set a src -j Y\n-A Y -p tcp -j ACCEPT\n");
    assert_eq!(forward(&rules).verdict, Verdict::Dropped);
}

#[test]
fn return_goto_and_negation_follow_the_kernel() {
    let rules = ":A - [0:0]\n:B - [0:0]\n-A FORWARD ! -s 10.1.0.0/16 -j DROP\n-A FORWARD -j A\n\
        -A FORWARD -j ACCEPT\n-A A -p tcp -j DROP\n-A A -p udp -m multiport --dports 53,67 -g B\n-A A -j DROP\n\
        -A B -s 10.1.0.185/32 -j RETURN\n-A B -j DROP";
    let answer = forward(rules);
    assert_eq!(answer.verdict, Verdict::Accepted);
    assert_eq!(decided_line(&answer), 9);
}

#[test]
fn a_goto_from_the_builtin_chain_ends_in_its_policy() {
    let answer =
        forward(":A - [0:0]\n-A FORWARD -g A\n-A FORWARD -j ACCEPT\n-A A -p tcp -j ACCEPT");
    assert_eq!(answer.verdict, Verdict::Dropped);
    assert!(matches!(answer.decided_by, Some(DecidedBy::Policy { .. })));
}

#[test]
fn a_mark_that_a_rule_sets_is_seen_by_later_rules() {
    let rules = "-A FORWARD -p udp -j MARK --set-xmark 0x4000/0x4000\n\
        -A FORWARD -m mark --mark 0x4000/0x4000 -j ACCEPT";
    assert_eq!(forward(rules).verdict, Verdict::Accepted);
}

#[test]
fn established_only_does_not_let_a_new_connection_through() {
    let rules = "-A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT";
    assert_eq!(forward(rules).verdict, Verdict::Dropped);
    let mut packet = pod_packet(Protocol::UDP, 53);
    packet.ct_states.clear();
    assert!(evaluate(&filter(rules), &packet).verdict.is_undecided());
}

#[test]
fn a_drop_in_mangle_counts_before_an_accept_in_filter() {
    let text = "*mangle\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -s 10.1.0.0/16 -j DROP\nCOMMIT\n\
        *filter\n:FORWARD ACCEPT [0:0]\nCOMMIT\n";
    let set = parse_save("x", text, Family::V4);
    let answer = evaluate(&set, &pod_packet(Protocol::UDP, 53));
    assert_eq!(answer.verdict, Verdict::Dropped);
    assert_eq!(decided_line(&answer), 3);
}

#[test]
fn a_dump_that_ends_in_the_middle_decides_nothing_by_policy() {
    let text = "*filter\n:FORWARD DROP [0:0]\n-A FORWARD -s 192.0.2.0/24 -j ACCEPT\n";
    let set = parse_save("x", text, Family::V4);
    let answer = evaluate(&set, &pod_packet(Protocol::UDP, 53));
    assert!(answer.verdict.is_undecided());
    assert!(!answer.notes.is_empty());
}

#[test]
fn a_jump_to_a_chain_that_was_not_captured_is_undecided() {
    assert!(
        forward("-A FORWARD -j MISSING\n-A FORWARD -j ACCEPT")
            .verdict
            .is_undecided()
    );
    assert!(
        forward("-A FORWARD -j NFQUEUE --queue-num 0")
            .verdict
            .is_undecided()
    );
}

#[test]
fn a_destination_rewrite_before_the_filter_is_followed() {
    let text = "*nat\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -p udp -m udp --dport 53 -j DNAT --to-destination 10.0.0.9\n\
        COMMIT\n*filter\n:FORWARD ACCEPT [0:0]\nCOMMIT\n";
    let set = parse_save("x", text, Family::V4);
    let answer = evaluate(&set, &pod_packet(Protocol::UDP, 53));
    assert_eq!(answer.verdict, Verdict::Accepted);
    assert_eq!(answer.leaves.unwrap().dst.to_string(), "10.0.0.9");
    assert_eq!(answer.walk[0].table, "nat");
    assert_eq!(answer.assumptions.len(), 1, "{:?}", answer.assumptions);
    let closed = text.replace(
        "COMMIT\n*filter\n",
        "COMMIT\n*filter\n-A FORWARD -d 10.0.0.9/32 -j DROP\n",
    );
    let set = parse_save("x", &closed, Family::V4);
    assert_eq!(
        evaluate(&set, &pod_packet(Protocol::UDP, 53)).verdict,
        Verdict::Dropped
    );
    assert_eq!(
        evaluate(&set, &pod_packet(Protocol::TCP, 443)).verdict,
        Verdict::Accepted
    );
}

#[test]
fn chains_that_call_each_other_end_undecided_instead_of_never() {
    let loops = [
        ":A - [0:0]\n:B - [0:0]\n-A FORWARD -j A\n-A A -j B\n-A B -j A",
        ":A - [0:0]\n-A FORWARD -g A\n-A A -g A",
    ];
    for rules in loops {
        assert!(forward(rules).verdict.is_undecided());
    }
}

proptest! {
    #[test]
    fn no_text_makes_parser_or_evaluator_panic(text in "\\PC{0,300}") {
        let set = parse_save("x", &format!("*filter\n:FORWARD DROP [0:0]\n-A FORWARD {text}\nCOMMIT"), Family::V4);
        let _ = evaluate(&set, &pod_packet(Protocol::UDP, 53));
    }

    #[test]
    fn no_mix_of_rule_words_makes_parser_or_evaluator_panic(
        words in proptest::collection::vec(proptest::sample::select(vec![
            "-A", "FORWARD", "A", "-j", "-g", "ACCEPT", "DROP", "RETURN", "MARK", "--set-xmark", "0x1/0x2", "-m",
            "limit", "set", "!", "-p", "udp", "--dport", "53", "-s", "10.0.0.0/8", "\n", "\"", "LOG", "--ctstate", "NEW",
            "*nat", "COMMIT", ":A", "-", "[1:2]", "-I", "-F", "-X", "ttl", "--ttl-eq", "connmark", "--mark", "recent",
        ]), 0..60),
    ) {
        let text = format!("*filter\n:FORWARD DROP [0:0]\n:A - [0:0]\n{}\nCOMMIT\n", words.join(" "));
        let set = parse_save("x", &text, Family::V4);
        let _ = evaluate(&set, &pod_packet(Protocol::UDP, 53));
    }
}

/// A forward chain with one rule that drops, and what has passed it.
fn behind(rule: &str, policy: &str) -> Verdict {
    let text = format!(
        "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT {policy}\n:OUTPUT ACCEPT [0:0]\n{rule} -j DROP\nCOMMIT\n"
    );
    let mut packet = pod_packet(Protocol::UDP, 53);
    packet.length = Some(40);
    evaluate(&parse_save("iptables-save", &text, Family::V4), &packet).verdict
}

#[test]
fn counters_decide_what_hangs_on_earlier_packets_and_leave_open_what_they_do_not_show() {
    let (passes, drops, open) = (Some(true), Some(false), None);
    for (rule, policy, wanted) in [
        (
            "[0:0] -A FORWARD -m hashlimit --hashlimit-above 1/sec --hashlimit-burst 5 --hashlimit-name a",
            "[4:160]",
            passes,
        ),
        (
            "[0:0] -A FORWARD -m hashlimit --hashlimit-above 1/sec --hashlimit-burst 5 --hashlimit-name a",
            "[9:360]",
            open,
        ),
        ("[0:0] -A FORWARD -m quota --quota 0", "[9:360]", passes),
        ("[9:360] -A FORWARD -m quota ! --quota 0", "[0:0]", drops),
        ("[0:0] -A FORWARD -m quota --quota 1000", "[9:360]", drops),
        (
            "[24:960] -A FORWARD -m quota --quota 980",
            "[9:360]",
            passes,
        ),
        (
            "[0:0] -A FORWARD -m quota ! --quota 18446744073709551615",
            "[9:360]",
            passes,
        ),
        (
            "[0:0] -A FORWARD -m connlimit --connlimit-upto 0 --connlimit-mask 32 --connlimit-saddr",
            "[9:360]",
            passes,
        ),
        (
            "[0:0] -A FORWARD -m connlimit --connlimit-above 0 --connlimit-mask 32 --connlimit-saddr",
            "[9:360]",
            drops,
        ),
        (
            "[0:0] -A FORWARD -m connlimit --connlimit-above 10 --connlimit-mask 32 --connlimit-saddr",
            "[9:360]",
            passes,
        ),
        (
            "[0:0] -A FORWARD -m connlimit --connlimit-above 10 --connlimit-mask 32 --connlimit-saddr",
            "[10:400]",
            open,
        ),
        (
            "[0:0] -A FORWARD -m string --string test --algo bm",
            "[9:360]",
            open,
        ),
    ] {
        let found = match behind(rule, policy) {
            Verdict::Accepted => Some(true),
            Verdict::Dropped => Some(false),
            _ => None,
        };
        assert_eq!(found, wanted, "{rule} {policy}");
    }
}

#[test]
fn the_status_of_a_connection_is_that_of_a_first_packet_or_of_an_answered_one() {
    let ask = |rule: &str, packet: &Packet| {
        let set = filter(&format!("{rule} -j ACCEPT"));
        evaluate(&set, packet).verdict
    };
    let first = pod_packet(Protocol::UDP, 53);
    let mut known = first.clone();
    known.ct_states = [CtState::Established].into();
    let mut connection = crate::connection::Connection::begun_by(&known);
    (connection.dnat, connection.snat) = (Some(false), Some(false));
    known.connection = Some(Box::new(connection));
    let (yes, no) = (Verdict::Accepted, Verdict::Dropped);
    for (status, of_first, of_known) in [
        ("NONE", &no, Some(&no)),
        ("CONFIRMED", &no, Some(&yes)),
        ("SEEN_REPLY", &no, Some(&yes)),
        ("EXPECTED", &no, None),
        ("ASSURED", &no, None),
    ] {
        let rule = format!("-A FORWARD -m conntrack --ctstatus {status}");
        assert_eq!(&ask(&rule, &first), of_first, "{status}");
        let found = ask(&rule, &known);
        match of_known {
            Some(wanted) => assert_eq!(&found, wanted, "{status}"),
            None => assert!(found.is_undecided(), "{status}: {found:?}"),
        }
    }
    let helper = "-A FORWARD -m helper --helper ftp";
    assert_eq!(ask(helper, &first), no);
    let other = "-A FORWARD -m helper ! --helper ftp";
    assert_eq!(ask(other, &first), yes);
    let realm = "-A FORWARD -m realm --realm 0x2a";
    assert!(ask(realm, &first).is_undecided(), "no routes were captured");
}

#[test]
fn what_is_sent_to_the_hosts_own_loopback_address_needs_a_setting() {
    let to = |address: &str| {
        let text = format!(
            "*nat\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -p tcp --dport 80 -j DNAT --to-destination {address}:80\nCOMMIT\n\
             *filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n"
        );
        let set = parse_save("iptables-save", &text, Family::V4);
        evaluate(&set, &pod_packet(Protocol::TCP, 80))
            .verdict
            .to_string()
    };
    assert!(
        to("127.0.0.1").contains("route_localnet"),
        "{}",
        to("127.0.0.1")
    );
    assert!(!to("10.1.0.9").contains("route_localnet"));
}

#[test]
fn a_packet_without_a_connection_has_no_mark_of_one() {
    let text = |rules: &str| {
        format!(
            "*raw\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -p udp -j CT --notrack\nCOMMIT\n\
             *mangle\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -j MARK --set-xmark 0x5/0xffffffff\n\
             -A PREROUTING -j CONNMARK --restore-mark --nfmask 0xffffffff --ctmask 0xffffffff\nCOMMIT\n\
             *filter\n:FORWARD ACCEPT [0:0]\n{rules}\nCOMMIT\n"
        )
    };
    for (rule, proto, wanted) in [
        (
            "-A FORWARD -m mark --mark 0x5 -j DROP",
            Protocol::UDP,
            Verdict::Dropped,
        ),
        (
            "-A FORWARD -m mark --mark 0x5 -j DROP",
            Protocol::TCP,
            Verdict::Accepted,
        ),
        (
            "-A FORWARD -m connmark ! --mark 0x9 -j DROP",
            Protocol::UDP,
            Verdict::Accepted,
        ),
        (
            "-A FORWARD -m connmark ! --mark 0x9 -j DROP",
            Protocol::TCP,
            Verdict::Dropped,
        ),
    ] {
        let set = parse_save("iptables-save", &text(rule), Family::V4);
        let verdict = evaluate(&set, &pod_packet(proto, 53)).verdict;
        assert_eq!(verdict, wanted, "{rule} {proto}");
    }
}
