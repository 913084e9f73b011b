//! Through which interface a pod's packets come.

use std::collections::BTreeSet;

use super::sides::pod_side;
use crate::derive::Known;
use crate::facts::Facts;
use crate::firewall::packet::Interface;
use crate::firewall::question::{CapturedText, Captures, Firewall};
use crate::scan::Documents;
use crate::scan::pasted::Origins;

const LINKS: &str = "1: lo: <UP>\n2: br-1a2b: <UP>\n3: cni0: <UP>\n4: docker0: <UP>\n";

fn side(routes: &str, links: &str) -> Option<Interface> {
    let documents: Documents =
        [("nodes/n1/commands/ip-addr.out".to_owned(), links.to_owned())].into();
    let paths: BTreeSet<&str> = documents.keys().map(String::as_str).collect();
    let known = Known {
        facts: &Facts::default(),
        documents: &documents,
        paths: &paths,
        origins: &Origins::new(),
        broken: &std::collections::BTreeSet::new(),
        now: None,
        manifest: None,
        replayed: false,
    };
    let mut captures = Captures::default();
    captures.routes[0] = Some(CapturedText {
        path: "routes",
        text: routes,
    });
    let firewall = Firewall::from_captures(&captures);
    pod_side(
        &known,
        "n1",
        firewall.routes(),
        "10.42.0.7".parse().unwrap(),
    )
}

#[test]
fn a_pods_packets_come_in_where_its_address_is_routed_to() {
    let default = "default via 192.0.2.1 dev eth0\n";
    let bridge = format!("{default}10.42.0.0/24 dev cni0 proto kernel scope link src 10.42.0.1\n");
    assert_eq!(side(&bridge, LINKS), Some(Interface::Name("cni0".into())));
    let own = format!("{default}10.42.0.7 dev cali1 scope link\n");
    assert_eq!(side(&own, LINKS), Some(Interface::Name("cali1".into())));
    // A device of the CNI's own says nothing, and of several kinds of interfaces none is preferred.
    let cilium = format!("{default}10.42.0.0/24 via 10.42.0.1 dev cilium_host\n");
    assert_eq!(side(&cilium, LINKS), None);
    assert_eq!(
        side(&cilium, "5: lxc12ab: <UP>\n6: lxc34cd: <UP>\n"),
        Some(Interface::Prefix("lxc".into()))
    );
}
