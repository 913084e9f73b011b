//! What a rule or a chain does before what stands behind it: changes before conditions, sets that are filled on the way,
//! chains that translate at a priority of their own.

use super::*;

/// A table of IPv4 with these chains, and a packet of UDP to port 53.
fn verdict(chains: &str) -> Verdict {
    asked(
        &format!("table ip t {{\n{chains}\n}}\n"),
        &pod_packet(Protocol::UDP, 53),
    )
    .verdict
}

/// A chain at a hook.
fn at(hook: &str, priority: &str, rules: &str) -> String {
    let name = format!("c{}", priority.len() + rules.len());
    format!(
        "chain {name} {{\ntype filter hook {hook} priority {priority}; policy accept;\n{rules}\n}}\n"
    )
}

#[test]
fn a_change_is_made_whatever_the_conditions_behind_it_say() {
    for (rules, wanted) in [
        (
            "meta mark set 0x7 tcp dport 443 accept\nmeta mark 0x7 drop",
            Verdict::Dropped,
        ),
        (
            "ct mark set 0x7 tcp dport 443 accept\nct mark 0x7 drop",
            Verdict::Dropped,
        ),
        (
            "ip ttl set 7 tcp dport 443 accept\nip ttl 7 drop",
            Verdict::Dropped,
        ),
        (
            "meta mark set 0x7 udp dport 53 accept\nmeta mark 0x7 drop",
            Verdict::Accepted,
        ),
        // A verdict leaves the chain that the rule stands in, not only the rest of the rule.
        (
            "meta mark set 0x7 udp dport 53 return\ndrop",
            Verdict::Accepted,
        ),
        (
            "meta mark set ct mark & 0xff\nmeta mark 0x0 drop",
            Verdict::Dropped,
        ),
    ] {
        let rules = at("forward", "filter", rules);
        assert_eq!(verdict(&rules), wanted, "{rules}");
    }
    let rules = at("forward", "filter", "meta mark set 0x7 udp dport 53 drop");
    let text = format!("table ip t {{\n{rules}\n}}\n");
    let evaluation = asked(&text, &pod_packet(Protocol::UDP, 53));
    let Some(DecidedBy::Rule { chain, text, .. }) = &evaluation.decided_by else {
        panic!("{evaluation:?}");
    };
    assert!(
        chain.starts_with('c') && text.starts_with("meta mark set 0x7"),
        "{chain} {text}"
    );
    assert_eq!(evaluation.walk.len(), 1, "{:?}", evaluation.walk);
}

#[test]
fn a_set_that_a_rule_fills_holds_the_packet_behind_it() {
    let seen = "set seen { type ipv4_addr; flags dynamic; }\nset gone { type ipv4_addr; elements = { 10.1.0.185 }; }\n";
    for (rules, wanted) in [
        (
            "udp dport 53 add @seen { ip saddr }\nip saddr @seen drop",
            Some(Verdict::Dropped),
        ),
        (
            "udp dport 54 add @seen { ip saddr }\nip saddr @seen drop",
            Some(Verdict::Accepted),
        ),
        (
            "udp dport 53 add @seen { ip daddr }\nip saddr @seen drop",
            None,
        ),
        (
            "udp dport 53 delete @gone { ip saddr }\nip saddr @gone drop",
            Some(Verdict::Accepted),
        ),
        (
            "udp dport 53 update @gone { ip daddr }\nip saddr @gone drop",
            Some(Verdict::Dropped),
        ),
    ] {
        let told = verdict(&format!("{seen}{}", at("forward", "filter", rules)));
        match wanted {
            Some(wanted) => assert_eq!(told, wanted, "{rules}"),
            None => assert!(
                told.is_undecided() || told == Verdict::Accepted,
                "{rules}: {told:?}"
            ),
        }
    }
}

#[test]
fn an_element_with_a_limit_of_its_own_is_found_or_not() {
    for element in [
        "10.1.0.185 limit rate 1/hour burst 1 packets",
        "10.1.0.185 quota 5 bytes used 7 bytes",
    ] {
        let sets = format!("set s {{ type ipv4_addr; elements = {{ {element} }}; }}\n");
        let told = verdict(&format!(
            "{sets}{}",
            at("forward", "filter", "ip saddr @s drop")
        ));
        assert!(told.is_undecided(), "{element}: {told:?}");
    }
}

#[test]
fn chains_that_translate_are_asked_where_the_kernel_translates() {
    let nat = |hook: &str, priority: &str, rule: &str| {
        format!(
            "chain nat {{\ntype nat hook {hook} priority {priority}; policy accept;\n{rule}\n}}\n"
        )
    };
    // Its own priority orders it among such chains only.
    let early = nat("prerouting", "-160", "udp dport 53 dnat to 192.0.2.9:5353");
    let before = at("prerouting", "mangle", "udp dport 53 drop");
    assert_eq!(verdict(&format!("{early}{before}")), Verdict::Dropped);
    let late = nat("prerouting", "50", "udp dport 53 dnat to 192.0.2.9:5353");
    let behind = at("prerouting", "filter", "udp dport 53 drop");
    assert_eq!(verdict(&format!("{late}{behind}")), Verdict::Accepted);
    // Behind it the source may be another.
    let source = nat("postrouting", "srcnat", "masquerade");
    let behind = at("postrouting", "150", "ip saddr 10.1.0.185 drop");
    assert!(verdict(&format!("{source}{behind}")).is_undecided());
    let other = nat("postrouting", "srcnat", "udp dport 54 masquerade");
    assert_eq!(verdict(&format!("{other}{behind}")), Verdict::Dropped);
    let stops = nat("postrouting", "srcnat", "udp dport 53 drop");
    assert_eq!(verdict(&stops), Verdict::Dropped);
}

#[test]
fn tracking_has_seen_what_is_forwarded_and_keeps_what_it_knows() {
    assert_eq!(
        verdict(&at("forward", "raw", "ct state new drop")),
        Verdict::Dropped
    );
    assert_eq!(
        verdict(&at("prerouting", "raw", "ct state new drop")),
        Verdict::Accepted
    );
    assert!(verdict(&at("prerouting", "-200", "ct state new drop")).is_undecided());
    let late = at("forward", "filter", "notrack\nct state untracked drop");
    assert_eq!(verdict(&late), Verdict::Accepted);
    let early = at("prerouting", "raw", "notrack");
    let behind = at("forward", "filter", "ct state untracked drop");
    assert_eq!(verdict(&format!("{early}{behind}")), Verdict::Dropped);
}

#[test]
fn what_is_written_into_a_header_and_not_followed_decides_nothing() {
    for rule in [
        "udp dport 53 ip daddr set 192.0.2.9 counter",
        "udp dport set 54 accept",
    ] {
        let text = format!(
            "{}{}",
            at("prerouting", "raw", rule),
            at("forward", "filter", "ip daddr 192.0.2.9 drop")
        );
        assert!(verdict(&text).is_undecided(), "{rule}");
    }
    let kind = at("prerouting", "raw", "meta pkttype set broadcast");
    let asks = at("forward", "filter", "meta pkttype broadcast drop");
    assert!(verdict(&format!("{kind}{asks}")).is_undecided());
}

#[test]
fn a_chain_of_a_device_is_asked_for_what_comes_in_by_it() {
    let table = |device: &str| {
        format!(
            "table netdev d {{\nchain in {{\ntype filter hook ingress device \"{device}\" priority -500; policy accept;\nudp dport 53 drop\n}}\n}}\n"
        )
    };
    let own = asked(&table("lxc4f39491e6165"), &pod_packet(Protocol::UDP, 53));
    assert_eq!(own.verdict, Verdict::Dropped);
    let other = asked(&table("eth9"), &pod_packet(Protocol::UDP, 53));
    assert_eq!(other.verdict, Verdict::Accepted);
}

#[test]
fn a_table_refuses_for_certain_only_what_no_other_table_may_have_changed() {
    let two = |first: &str, second: &str| {
        let hook = |name: &str, hook: &str, rules: &str| {
            format!(
                "table ip {name} {{\nchain c {{\ntype {hook}; policy accept;\n{rules}\n}}\n}}\n"
            )
        };
        let first = hook("a", first, "limit rate 5/second meta mark set 0x1");
        let second = hook("b", "filter hook forward priority filter", second);
        asked(&format!("{first}{second}"), &pod_packet(Protocol::UDP, 53)).verdict
    };
    let early = "filter hook prerouting priority mangle";
    assert!(two(early, "meta mark != 0x1 drop").is_undecided());
    // Whatever the mark is.
    assert_eq!(two(early, "udp dport 53 drop"), Verdict::Dropped);
}
