use proptest::prelude::*;

use super::{Df, Link, links};
use crate::question::CapturedText;

fn read(text: &str) -> Vec<Link> {
    links(CapturedText {
        path: "ip-addr",
        text,
    })
}

const TEXT: &str = "2: e0@if2: <BROADCAST,UP> mtu 1400 qdisc noqueue master cni0 state UP\n    link/ether 5e:09:5b:fc:08:86 brd ff:ff:ff:ff:ff:ff link-netns b promiscuity 0\n    veth \n    bridge_slave state forwarding\n    inet 192.0.2.7/24 scope global e0\n\
6: vx@e0: <BROADCAST,UP> mtu 1500 qdisc noop state DOWN\n    vxlan id 7 remote 192.0.2.8 local 192.0.2.7 dev e0 srcport 0 0 dstport 4789 df set ageing 300\n\
7: tunl0@NONE: <NOARP> mtu 1480 qdisc noop state DOWN\n    ipip any remote any local any ttl inherit nopmtudisc\n\
8: gre1@NONE: <NOARP> mtu 1472 qdisc noop state DOWN\n    gre remote 192.0.2.8 local 192.0.2.7 ttl inherit ikey 0.0.0.5 okey 0.0.0.5 icsum ocsum pmtudisc\n";
const JSON: &str = r#"[{"ifname":"e0","mtu":1400,"master":"cni0","linkinfo":{"info_kind":"veth","info_slave_kind":"bridge"},"addr_info":[{"local":"192.0.2.7"}]},
{"ifname":"vx","mtu":1500,"linkinfo":{"info_kind":"vxlan","info_data":{"id":7,"remote":"192.0.2.8","local":"192.0.2.7","link":"e0","df":"set"}}},
{"ifname":"tunl0","mtu":1480,"linkinfo":{"info_kind":"ipip","info_data":{"proto":"ipip","remote":"any","local":"any","nopmtudisc":null}}},
{"ifname":"gre1","mtu":1472,"linkinfo":{"info_kind":"gre","info_data":{"remote":"192.0.2.8","local":"192.0.2.7","okey":"0.0.0.5","ocsum":true,"pmtudisc":true}}}]"#;

#[test]
fn text_and_json_show_the_same() {
    for form in [TEXT, JSON] {
        let links = read(form);
        let [e0, vx, tunl, gre] = links.as_slice() else {
            panic!("{links:?}");
        };
        assert_eq!(
            (e0.kind.as_str(), e0.master.as_deref()),
            ("veth", Some("cni0"))
        );
        assert_eq!(e0.addresses.len(), 1);
        assert_eq!((vx.tunnel.df, vx.tunnel.id), (Some(Df::Set), Some(7)));
        assert_eq!(vx.tunnel.remote, "192.0.2.8".parse().ok());
        assert_eq!(vx.parent.as_deref(), Some("e0"));
        assert_eq!(
            (tunl.tunnel.df, tunl.tunnel.remote),
            (Some(Df::Inherit), None)
        );
        assert_eq!((gre.tunnel.df, gre.tunnel.options), (Some(Df::Set), 8));
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "([0-9]: |eth0|@|mtu |vxlan |remote |df |gre |okey |inet |/|dev |\n|\\PC){0,60}") {
        let _ = read(&text);
    }
}
