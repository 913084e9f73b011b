use super::*;
use crate::eval::{Verdict, evaluate};
use crate::packet::{CtState, Interface, Packet, Protocol};
use proptest::prelude::*;

const STATUS: &str = "Status: active\nLogging: on (medium)\nDefault: deny (incoming), allow (outgoing), deny (routed)\n\
    New profiles: skip\n\nTo                         Action      From\n--                         ------      ----\n\
    22/tcp                     ALLOW IN    Anywhere                  \n\
    10.0.0.0/8                 ALLOW OUT   Anywhere                  \n\
    Anywhere on eno1           ALLOW FWD   Anywhere on lxc+           # pods out\n\
    Anywhere (v6) on eno1      ALLOW FWD   Anywhere (v6) on lxc+     \n\
    [ 9] 443/tcp               DENY        192.168.0.1\n";

pub(crate) const DEFAULTS: &str = "IPV6=yes\n# comment\nDEFAULT_INPUT_POLICY=\"DROP\"\nDEFAULT_OUTPUT_POLICY=\"ACCEPT\"\nDEFAULT_FORWARD_POLICY=\"DROP\"\n";
pub(crate) const BEFORE: &str = "*filter\n:ufw-before-input - [0:0]\n:ufw-before-output - [0:0]\n:ufw-before-forward - [0:0]\n:ufw-not-local - [0:0]\n-A ufw-before-forward -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n-A ufw-before-forward -p icmp --icmp-type echo-request -j ACCEPT\nCOMMIT\n";
pub(crate) const AFTER: &str = "*filter\n:ufw-after-input - [0:0]\n:ufw-after-output - [0:0]\n:ufw-after-forward - [0:0]\nCOMMIT\n";
pub(crate) const USER: &str = "*filter\n:ufw-user-input - [0:0]\n:ufw-user-output - [0:0]\n:ufw-user-forward - [0:0]\n:ufw-after-logging-forward - [0:0]\n### RULES ###\n\n### tuple ### route:allow tcp 443 0.0.0.0/0 any 0.0.0.0/0 in_lxc+!out_eno1 comment=706f64\n-A ufw-user-forward -i lxc+ -o eno1 -p tcp --dport 443 -j ACCEPT\n\n### END RULES ###\n-A ufw-after-logging-forward -j LOG --log-prefix \"[UFW BLOCK] \" -m limit --limit 3/min --limit-burst 10\nCOMMIT\n";

fn file<'a>(path: &'a str, text: &'a str) -> Option<CapturedText<'a>> {
    Some(CapturedText { path, text })
}

pub(crate) fn files<'a>() -> UfwFiles<'a> {
    UfwFiles {
        defaults: file("etc/default/ufw", DEFAULTS),
        conf: file("etc/ufw/ufw.conf", "# c\nENABLED=yes\nLOGLEVEL=low\n"),
        before: file("etc/ufw/before.rules", BEFORE),
        after: file("etc/ufw/after.rules", AFTER),
        user: file("etc/ufw/user.rules", USER),
        ..UfwFiles::default()
    }
}

fn from_pod(proto: Protocol, dport: u16) -> Packet {
    let mut packet = Packet::new(
        Direction::Forward,
        "10.1.0.185".parse().unwrap(),
        "1.1.1.1".parse().unwrap(),
    );
    packet.in_iface = Some(Interface::Name("lxc4f39491e6165".into()));
    packet.out_iface = Some(Interface::Name("eno1".into()));
    packet.proto = Some(proto);
    packet.dport = Some(dport);
    packet.ct_states = [CtState::New].into();
    packet
}

#[test]
fn status_rows_defaults_and_directions_are_read() {
    let status = parse_status("ufw-status", STATUS);
    assert_eq!(status.active, Some(true));
    assert_eq!(status.logging.as_deref(), Some("on (medium)"));
    assert_eq!(status.routed.as_deref(), Some("deny"));
    assert_eq!(status.defaults_origin.unwrap().line, 3);
    assert_eq!(status.rows.len(), 5);
    let forward = &status.rows[2];
    assert_eq!(
        (forward.to.as_str(), forward.from.as_str()),
        ("Anywhere on eno1", "Anywhere on lxc+")
    );
    assert_eq!(
        (
            forward.action.as_str(),
            forward.direction.as_str(),
            forward.v6
        ),
        ("ALLOW", "FWD", false)
    );
    assert_eq!(forward.origin.line, 10);
    assert!(status.rows[3].v6);
    assert_eq!(
        (
            status.rows[4].to.as_str(),
            status.rows[4].direction.as_str()
        ),
        ("443/tcp", "IN")
    );
    assert_eq!(parse_status("x", "Status: inactive\n").active, Some(false));
    assert_eq!(
        parse_status("x", "ERROR: You need to be root to run this script\n").active,
        None
    );
}

#[test]
fn the_default_that_blocks_routed_traffic_is_named_with_its_line_in_etc_default_ufw() {
    let ufw = Ufw::new(None, &files());
    let set = assemble(&files(), Family::V4).unwrap();
    assert_eq!(set.problems, []);
    let answer = evaluate(&set, &from_pod(Protocol::UDP, 53));
    assert_eq!(answer.verdict, Verdict::Dropped);
    assert!(answer.passes_log("[UFW BLOCK]"));
    let words = ufw
        .explain(&answer.decided_by.unwrap(), &set, Direction::Forward)
        .unwrap();
    assert!(
        words.sentence.contains("Default: deny (routed)"),
        "{}",
        words.sentence
    );
    assert_eq!(words.origin.unwrap().to_string(), "etc/default/ufw:5");
}

#[test]
fn a_route_rule_is_explained_as_ufw_remembers_it() {
    let ufw = Ufw::new(None, &files());
    let set = assemble(&files(), Family::V4).unwrap();
    let answer = evaluate(&set, &from_pod(Protocol::TCP, 443));
    assert_eq!(answer.verdict, Verdict::Accepted);
    let words = ufw
        .explain(&answer.decided_by.unwrap(), &set, Direction::Forward)
        .unwrap();
    assert_eq!(
        words.sentence,
        "ufw rule `route:allow tcp 443 0.0.0.0/0 any 0.0.0.0/0 in_lxc+!out_eno1`"
    );
    assert_eq!(words.origin.unwrap().to_string(), "etc/ufw/user.rules:9");
}

#[test]
fn a_status_alone_answers_for_routed_traffic_and_names_its_row_or_default() {
    let status = parse_status("ufw-status", STATUS);
    let set = from_rows(&status, Family::V4).unwrap();
    assert_eq!(set.problems, []);
    let ufw = Ufw::new(file("ufw-status", STATUS), &UfwFiles::default());
    let answer = evaluate(&set, &from_pod(Protocol::UDP, 53));
    assert_eq!(answer.verdict, Verdict::Accepted);
    let words = ufw
        .explain(&answer.decided_by.unwrap(), &set, Direction::Forward)
        .unwrap();
    assert_eq!(
        words.sentence,
        "ufw rule `Anywhere on eno1 ALLOW FWD Anywhere on lxc+`"
    );
    assert_eq!(words.origin.unwrap().line, 10);
    let mut other = from_pod(Protocol::UDP, 53);
    other.in_iface = Some(Interface::Name("veth0".into()));
    let answer = evaluate(&set, &other);
    assert_eq!(answer.verdict, Verdict::Dropped);
    assert!(answer.passes_log("[UFW BLOCK]"));
    let words = ufw
        .explain(&answer.decided_by.unwrap(), &set, Direction::Forward)
        .unwrap();
    assert_eq!(words.origin.unwrap().to_string(), "ufw-status:3");
}

#[test]
fn a_missing_file_of_ufw_leaves_the_verdict_open_and_is_named() {
    let partial = UfwFiles {
        user: None,
        ..files()
    };
    let set = assemble(&partial, Family::V4).unwrap();
    assert!(
        set.problems
            .iter()
            .any(|p| p.message.contains("user rules"))
    );
    assert!(
        evaluate(&set, &from_pod(Protocol::UDP, 53))
            .verdict
            .is_undecided()
    );
    assert!(assemble(&UfwFiles::default(), Family::V4).is_none());
}

proptest! {
    #[test]
    fn no_status_or_file_text_makes_a_parser_panic(text in "(ALLOW|DENY|\\[|\\]|Status:|Default:|IN|FWD| |\n|#|\\PC){0,60}") {
        let status = UfwStatus { active: Some(true), defaults_origin: Some(origin("x", 1)), ..parse_status("x", &text) };
        let _ = from_rows(&status, Family::V4);
        let captured = file("x", &text);
        let files = UfwFiles { defaults: captured, user: captured, before: captured, ..UfwFiles::default() };
        let _ = Ufw::new(captured, &files);
        let _ = assemble(&files, Family::V4);
    }
}
