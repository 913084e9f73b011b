use super::*;
use crate::eval::{Verdict, evaluate};
use crate::iptables::parse_save;
use crate::packet::{CtState, Direction, Family, Packet, Protocol};
use proptest::prelude::*;

const LIST: &str = "Name: pods\nType: hash:net\nRevision: 7\nHeader: family inet hashsize 1024 maxelem 65536\nSize in memory: 504\nReferences: 1\nNumber of entries: 2\nMembers:\n10.1.0.0/16\n10.1.0.128/25 nomatch\n\n\
    Name: open\nType: hash:ip,port\nHeader: family inet\nMembers:\n192.0.2.53,udp:53\n\n\
    Name: both\nType: list:set\nHeader: size 8\nMembers:\npods\n";

fn packet(src: &str, port: u16) -> Packet {
    let (src, dst) = (src.parse().unwrap(), "192.0.2.53".parse().unwrap());
    let mut packet = Packet::new(Direction::Forward, src, dst);
    packet.proto = Some(Protocol::UDP);
    packet.sport = Some(40000);
    packet.dport = Some(port);
    packet.fragment = Some(false);
    packet.ct_states = [CtState::New].into();
    packet
}

fn verdict(list: &str, rule: &str, packet: &Packet) -> Verdict {
    let text = format!("*filter\n:FORWARD DROP [0:0]\n-A FORWARD {rule}\nCOMMIT\n");
    let mut set = parse_save("x", &text, Family::V4);
    IpSets::parse(CapturedText {
        path: "ipset",
        text: list,
    })
    .resolve(&mut set);
    evaluate(&set, packet).verdict
}

#[test]
fn listed_members_decide_and_the_narrowest_exception_counts() {
    let rule = "-m set --match-set pods src -j ACCEPT";
    assert_eq!(
        verdict(LIST, rule, &packet("10.1.0.5", 53)),
        Verdict::Accepted
    );
    assert_eq!(
        verdict(LIST, rule, &packet("10.1.0.200", 53)),
        Verdict::Dropped
    );
    let listed = "-m set --match-set both src -j ACCEPT";
    assert_eq!(
        verdict(LIST, listed, &packet("10.1.0.5", 53)),
        Verdict::Accepted
    );
    let ports = "-m set --match-set open dst,dst -j ACCEPT";
    assert_eq!(
        verdict(LIST, ports, &packet("10.9.0.5", 53)),
        Verdict::Accepted
    );
    assert_eq!(
        verdict(LIST, ports, &packet("10.9.0.5", 54)),
        Verdict::Dropped
    );
    let negated = "-m set ! --match-set pods src -j ACCEPT";
    assert_eq!(
        verdict(LIST, negated, &packet("10.9.0.5", 53)),
        Verdict::Accepted
    );
}

#[test]
fn a_set_that_is_cut_off_missing_or_of_an_unknown_type_decides_nothing() {
    let rule = "-m set --match-set pods src -j ACCEPT";
    let outside = packet("10.9.0.5", 53);
    let cut = LIST.split("10.1.0.128").next().unwrap();
    assert!(verdict(cut, rule, &outside).is_undecided());
    assert!(verdict("", rule, &outside).is_undecided());
    let odd = LIST.replace("hash:net", "hash:colour");
    assert!(verdict(&odd, rule, &outside).is_undecided());
}

#[test]
fn the_save_form_says_the_same() {
    let save = "create pods hash:net family inet hashsize 1024\nadd pods 10.1.0.0/16\nadd pods 10.1.0.128/25 nomatch\n";
    let rule = "-m set --match-set pods src -j ACCEPT";
    assert_eq!(
        verdict(save, rule, &packet("10.1.0.5", 53)),
        Verdict::Accepted
    );
    assert_eq!(
        verdict(save, rule, &packet("10.1.0.200", 53)),
        Verdict::Dropped
    );
}

#[test]
fn icmp_has_its_type_and_code_in_place_of_a_port_and_marks_are_masked() {
    let mut ping = packet("10.1.0.5", 0);
    (ping.proto, ping.sport, ping.dport) = (Some(Protocol::ICMP), None, None);
    (ping.icmp_type, ping.icmp_code) = (Some(8), Some(0));
    let list = |member: &str| {
        format!("create pings hash:ip,port family inet\nadd pings 192.0.2.53,{member}\n")
    };
    let rule = "-m set --match-set pings dst,dst -j ACCEPT";
    for (member, wanted) in [
        ("icmp:echo-request", Verdict::Accepted),
        ("icmp:8/0", Verdict::Accepted),
        ("icmp:echo-reply", Verdict::Dropped),
        ("udp:53", Verdict::Dropped),
    ] {
        assert_eq!(verdict(&list(member), rule, &ping), wanted, "{member}");
    }
    // A set of ports holds TCP and UDP only, whatever stands where their ports would.
    let ports = "create ports bitmap:port range 0-65535\nadd ports 2048\n";
    assert_eq!(
        verdict(ports, "-m set --match-set ports src -j ACCEPT", &ping),
        Verdict::Dropped
    );
    let marks = "create marks hash:ip,mark family inet markmask 0x0000000f\nadd marks 10.1.0.5,0x00000005\n";
    let mut marked = packet("10.1.0.5", 53);
    marked.mark = Some(0x35);
    assert_eq!(
        verdict(marks, "-m set --match-set marks src,src -j ACCEPT", &marked),
        Verdict::Accepted
    );
}

#[test]
fn a_set_that_a_rule_before_fills_decides_nothing_alone() {
    let list = "create seen hash:ip family inet\n";
    let fills = "-p udp -m udp --dport 53 -j SET --add-set seen src\n-A FORWARD -m set --match-set seen src -j ACCEPT";
    assert!(verdict(list, fills, &packet("10.1.0.5", 53)).is_undecided());
    assert_eq!(
        verdict(list, fills, &packet("10.1.0.5", 54)),
        Verdict::Dropped
    );
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "(Name: |Type: |hash:|net|ip|,|Members:|\n|create |add |\\PC){0,60}") {
        let rule = "-m set --match-set a src -j ACCEPT";
        let _ = verdict(&text, rule, &packet("10.1.0.5", 53));
    }
}
