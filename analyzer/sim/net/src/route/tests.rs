use super::*;
use crate::question::CapturedText;
use proptest::prelude::*;

const ROUTES: &str = "10.42.20.64/26 dev wireguard.cali table 1 scope link \n\
    throw 10.42.207.0/26 table 1 \n\
    default via 134.199.160.1 dev eth0 proto static \n\
    10.42.20.64/26 via 10.42.20.64 dev vxlan.calico onlink \n\
    blackhole 10.42.207.0/26 proto 80 \n\
    10.42.207.3 dev cali4e366eba6b4 scope link \n\
    10.42.0.0/16 dev eth9 scope link linkdown \n\
    local 10.49.0.6 dev eth0 table local proto kernel scope host src 10.49.0.6 \n";
const RULES: &str = "0:\tfrom all lookup local \n99:\tnot from all fwmark 0x100000/0x100000 lookup 1 \n32766:\tfrom all lookup main \n";

fn text(text: &str) -> CapturedText<'_> {
    CapturedText { path: "ip", text }
}

fn routing(routes: &str, rules: &str) -> Routing {
    let mut routing = Routing::default();
    routing.read_routes(text(routes));
    routing.read_rules(text(rules));
    routing
}

fn to(address: &str, mark: Option<u32>) -> Packet {
    let mut packet = Packet::new(
        Direction::Forward,
        "10.42.207.9".parse().unwrap(),
        address.parse().unwrap(),
    );
    packet.mark = mark;
    packet
}

fn device(route: Route) -> String {
    match route {
        Route::Via { device, .. } => device,
        other => format!("{other:?}"),
    }
}

#[test]
fn policy_rules_marks_and_throw_routes_choose_the_table_as_the_kernel_does() {
    let routing = routing(ROUTES, RULES);
    assert_eq!(
        device(routing.decide(&to("10.42.20.65", Some(0)))),
        "wireguard.cali"
    );
    assert_eq!(
        device(routing.decide(&to("10.42.20.65", Some(0x10_0000)))),
        "vxlan.calico"
    );
    assert_eq!(routing.decide(&to("10.42.20.65", None)), Route::Unknown);
    assert_eq!(
        device(routing.decide(&to("10.42.207.3", Some(0)))),
        "cali4e366eba6b4"
    );
    assert_eq!(device(routing.decide(&to("1.1.1.1", Some(0)))), "eth0");
    assert_eq!(routing.decide(&to("10.49.0.6", Some(0))), Route::Local);
}

#[test]
fn a_missing_pod_in_its_own_block_meets_the_blackhole() {
    let Route::Refused { what, origin } =
        routing(ROUTES, RULES).decide(&to("10.42.207.8", Some(0)))
    else {
        panic!("routed")
    };
    assert!(what.contains("blackhole"), "{what}");
    assert_eq!(origin.unwrap().line, 5);
}

#[test]
fn json_is_read_like_text() {
    let routes = r#"[{"dst":"default","gateway":"192.0.2.1","dev":"eno1","protocol":"dhcp","metric":100,"flags":[]},
        {"dst":"default","gateway":"198.51.100.1","dev":"eno2","metric":50,"flags":["dead","linkdown"]},
        {"type":"local","dst":"192.0.2.7","dev":"eno1","table":"local","flags":[]},
        {"type":"unreachable","dst":"10.9.0.0/16","flags":[]}]"#;
    let rules = r#"[{"priority":0,"src":"all","table":"local"},{"priority":10,"src":"10.42.0.0","srclen":16,"dst":"10.9.0.0","dstlen":16,"action":"prohibit"},{"priority":32766,"src":"all","table":"main"}]"#;
    let routing = routing(routes, rules);
    assert_eq!(device(routing.decide(&to("8.8.8.8", Some(0)))), "eno1");
    assert_eq!(routing.decide(&to("192.0.2.7", Some(0))), Route::Local);
    let refused = routing.decide(&to("10.9.1.1", Some(0)));
    assert!(matches!(refused, Route::Refused { .. }), "{refused:?}");
}

#[test]
fn routes_that_were_not_captured_are_unknown_and_not_missing() {
    assert_eq!(
        routing("", "").decide(&to("1.1.1.1", Some(0))),
        Route::Unknown
    );
    let only = routing("10.0.0.0/8 dev eth0\n", "");
    assert!(matches!(
        only.decide(&to("1.1.1.1", Some(0))),
        Route::Refused { .. }
    ));
}

proptest! {
    #[test]
    fn no_text_makes_the_readers_panic(routes in "(\\PC|\n|via|dev|nexthop|default|table| ){0,60}", rules in "(\\PC|\n|from|fwmark|:| ){0,60}", filter in 0..4u8) {
        let routing = routing(&routes, &rules);
        let mut packet = to("1.1.1.1", None);
        let route = routing.decide(&packet);
        prop_assert_eq!(&route, &routing.decide(&packet));
        packet.in_iface = Some(Interface::Name("dev".to_owned()));
        let check = SourceCheck { filter, accept_local: false, src_valid_mark: true, has_address: None };
        let source = routing.source(&packet, check);
        // Without routes nothing is refused.
        prop_assert!(route != Route::Unknown || routing.routes.iter().any(|one| one.to.addr().is_ipv4()) || source == Source::Unknown);
    }
}
