use super::mtu;
use crate::facts::network::MtuMismatch;
use crate::facts::{AnyFact, Facts};
use crate::firewall::link::{Link, links};
use crate::firewall::question::CapturedText;
use crate::firewall::route::Routing;
use proptest::prelude::*;

const LINKS: &str = "2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc fq state UP mode DEFAULT group default qlen 1000\n    link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n    inet 192.0.2.7/24 brd 192.0.2.255 scope global eth0\n\
    7: flannel.1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue state UNKNOWN\n    vxlan id 1 local 192.0.2.7 dev eth0 srcport 0 0 dstport 8472\n\
    9: cilium_vxlan: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UNKNOWN\n    vxlan external id 0\n\
    11: veth1a2b@if3: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue master cni0 state UP\n";

fn read(text: &str) -> Vec<Link> {
    links(CapturedText {
        path: "ip-link",
        text,
    })
}

fn mismatches(links: &[Link], routes: &str) -> Vec<(String, u64, u64)> {
    let mut routing = Routing::default();
    routing.read_routes(CapturedText {
        path: "ip-route",
        text: routes,
    });
    let mut facts = Facts::default();
    let found: Vec<AnyFact> = mtu::derive("n", links, &routing);
    found.into_iter().for_each(|fact| facts.add(fact));
    let rows = facts.table::<MtuMismatch>().iter();
    rows.map(|row| (row.data.device.clone(), row.data.mtu, row.data.fits))
        .collect()
}

#[test]
fn a_tunnel_needs_room_for_its_header_and_pods_need_to_fit_the_tunnel() {
    let links = read(LINKS);
    assert_eq!(links.len(), 4);
    assert_eq!(
        (links[1].kind.as_str(), links[1].parent.as_deref()),
        ("vxlan", Some("eth0"))
    );
    assert_eq!(links[0].addresses.len(), 1);
    assert_eq!(links[1].origin.to_string(), "ip-link:4");
    let routes =
        "default via 192.0.2.1 dev eth0\n10.42.1.0/24 via 10.42.1.0 dev flannel.1 onlink\n";
    let found = mismatches(&links, routes);
    assert_eq!(
        found,
        [
            ("flannel.1".to_owned(), 1450, 1400),
            ("veth1a2b".to_owned(), 1500, 1450)
        ]
    );
}

#[test]
fn links_that_fit_and_tunnels_with_a_nominal_size_are_no_mismatch() {
    let fits = LINKS
        .replace("mtu 1450 qdisc fq", "mtu 1500 qdisc fq")
        .replace(
            "mtu 1500 qdisc noqueue master",
            "mtu 1450 qdisc noqueue master",
        );
    let routes =
        "default via 192.0.2.1 dev eth0\n10.42.1.0/24 dev flannel.1\n10.0.0.0/8 dev cilium_vxlan\n";
    assert_eq!(mismatches(&read(&fits), routes), []);
}

#[test]
fn json_shows_the_same_links() {
    let text = r#"[{"ifname":"eth0","mtu":9000,"addr_info":[{"family":"inet","local":"192.0.2.7","prefixlen":24}]},
        {"ifname":"vxlan.calico","mtu":8990,"linkinfo":{"info_kind":"vxlan","info_data":{"id":4096,"link":"eth0"}}}]"#;
    let found = mismatches(&read(text), "");
    assert_eq!(found, [("vxlan.calico".to_owned(), 8990, 8950)]);
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "([0-9]: |eth0|@|mtu |vxlan|inet |/|dev |\n|\\PC){0,60}") {
        let _ = mismatches(&read(&text), &text);
    }
}
