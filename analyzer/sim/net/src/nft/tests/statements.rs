//! Statements that are no matches, and what is read of those that are cut off.

use super::*;

#[test]
fn a_packet_that_is_no_tcp_lacks_every_option_and_passes_by_what_strips_one() {
    for (rule, udp) in [
        ("tcp option 255 missing drop", Verdict::Dropped),
        ("tcp option window exists drop", Verdict::Accepted),
        ("tcp option timestamp tsecr 1 drop", Verdict::Accepted),
        ("reset tcp option 123 drop", Verdict::Accepted),
    ] {
        let text = format!(
            "table inet t {{\nchain c {{\ntype filter hook forward priority 0; policy accept;\n{rule}\n}}\n}}\n"
        );
        assert_eq!(
            asked(&text, &pod_packet(Protocol::UDP, 53)).verdict,
            udp,
            "{rule}"
        );
    }
    let text = "table inet t {\nchain c {\ntype filter hook forward priority 0; policy accept;\nreset tcp option 123 drop\n}\n}\n";
    let tcp = asked(text, &pod_packet(Protocol::TCP, 53));
    assert_eq!(tcp.verdict, Verdict::Dropped);
}

#[test]
fn what_is_asked_of_a_connection_fails_without_one_and_an_expectation_may_drop() {
    let chain = |rule: &str| {
        format!(
            "table ip t {{\nchain c {{\ntype filter hook forward priority 0; policy accept;\n{rule}\n}}\n}}\n"
        )
    };
    let mut packet = pod_packet(Protocol::UDP, 53);
    packet.ct_states = [CtState::New].into();
    let asks = chain("ct l3proto ipv4 drop");
    assert_eq!(asked(&asks, &packet).verdict, Verdict::Dropped);
    let expects = chain("ct expectation set \"e\"");
    assert!(asked(&expects, &packet).verdict.is_undecided());
    packet.ct_states = [CtState::Invalid].into();
    assert_eq!(asked(&asks, &packet).verdict, Verdict::Accepted);
    assert_eq!(asked(&expects, &packet).verdict, Verdict::Accepted);
}

#[test]
fn statements_that_are_cut_off_are_read() {
    for cut in [
        "limit rate",
        "limit rate over",
        "ct count over",
        "quota name",
        "counter name",
        "synproxy name",
        "log level",
        "log flags tcp",
        "meter m",
        "xt match",
        "log prefix",
    ] {
        let text = format!(
            "table inet t {{\nchain c {{\ntype filter hook forward priority 0;\ntcp dport 1 accept\n{cut}\n}}\n}}\n"
        );
        let _ = asked(&text, &pod_packet(Protocol::UDP, 53));
    }
}

#[test]
fn codes_of_icmp_are_known_by_name() {
    let rules = "icmp type destination-unreachable icmp code frag-needed drop";
    let text = format!(
        "table ip t {{\nchain c {{\ntype filter hook forward priority 0; policy accept;\n{rules}\n}}\n}}\n"
    );
    for (code, verdict) in [(4, Verdict::Dropped), (3, Verdict::Accepted)] {
        let mut packet = pod_packet(Protocol::ICMP, 0);
        (packet.icmp_type, packet.icmp_code) = (Some(3), Some(code));
        assert_eq!(asked(&text, &packet).verdict, verdict, "{code}");
    }
}
