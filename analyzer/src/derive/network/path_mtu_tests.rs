use std::collections::BTreeSet;

use super::{DERIVER, Known};
use crate::facts::kube::{Node, Pod};
use crate::facts::network::{MtuMismatch, PathMtu};
use crate::facts::{Fact, FactType, Facts};
use crate::model::Place;
use crate::scan::Documents;
use crate::scan::pasted::Origins;
use crate::shared::Shared;

fn add<T: FactType>(facts: &mut Facts, data: T) {
    let place = Place {
        path: "x".into(),
        line: Some(1),
    };
    let fact = Fact {
        data,
        place,
        text: Shared::default(),
        at: None,
    };
    facts.add(fact.into());
}

/// Two nodes with a pod each.
fn derived(files: &[(&str, &str)]) -> Facts {
    let mut facts = Facts::default();
    for at in [0, 1] {
        let node = format!("n{at}");
        add(
            &mut facts,
            Pod {
                name: "p".into(),
                node: node.clone(),
                ip: Some(format!("10.42.{at}.7")),
                ..Pod::default()
            },
        );
        add(
            &mut facts,
            Node {
                name: node,
                addresses: vec![format!("192.0.2.{at}")],
                pod_cidrs: vec![format!("10.42.{at}.0/24")],
                ..Node::default()
            },
        );
    }
    let documents: Documents = files
        .iter()
        .map(|(path, text)| (format!("nodes/{path}"), (*text).to_owned()))
        .collect();
    let paths: BTreeSet<&str> = documents.keys().map(String::as_str).collect();
    let known = Known {
        facts: &facts,
        documents: &documents,
        paths: &paths,
        origins: &Origins::new(),
        broken: &BTreeSet::new(),
        now: None,
        manifest: None,
        replayed: false,
    };
    let mut found = Facts::default();
    for fact in (DERIVER.derive)(&known) {
        found.add(fact);
    }
    found
}

const LINKS: &str = r#"[{"ifname":"eno1","mtu":1500,"addr_info":[{"local":"192.0.2.0"}]},
{"ifname":"flannel.1","mtu":1450,"linkinfo":{"info_kind":"vxlan","info_data":{"id":1,"link":"eno1","local":"192.0.2.0","df":"unset"}}},
{"ifname":"cni0","mtu":1450,"linkinfo":{"info_kind":"bridge"}},
{"ifname":"veth1","mtu":1450,"master":"cni0","linkinfo":{"info_kind":"veth"}}]"#;
const ROUTES: &str = "default via 192.0.2.99 dev eno1\n192.0.2.0/24 dev eno1 scope link\n10.42.0.0/24 dev cni0 scope link\n10.42.1.0/24 via 10.42.1.0 dev flannel.1 onlink\n";

fn to_the_other_node(facts: &Facts) -> PathMtu {
    let mut rows = facts.table::<PathMtu>().iter();
    let found =
        rows.find(|row| row.data.node == "n0" && row.data.question == "pod to pod on another node");
    found.expect("it is asked").data.clone()
}

#[test]
fn what_lies_beyond_the_node_is_open_until_its_bundle_is_there() {
    let alone = [
        ("n0/commands/ip-addr.out", LINKS),
        ("n0/commands/ip-route.out", ROUTES),
    ];
    let way = to_the_other_node(&derived(&alone));
    assert_eq!(
        (way.verdict.as_str(), way.offered, way.largest),
        ("fits-as-far-as-known", 1450, Some(1450))
    );
    assert!(way.open[0].contains("192.0.2.1"), "{:?}", way.open);
    assert!(
        way.answers.starts_with("not-checked: the rules of n0"),
        "{}",
        way.answers
    );

    // The other node's card is smaller: the outer packets of 1500 bytes vanish there.
    let links = LINKS
        .replace("192.0.2.0", "192.0.2.1")
        .replacen("1500", "1400", 1);
    let routes = ROUTES
        .replace("10.42.1", "10.42.x")
        .replace("10.42.0", "10.42.1")
        .replace("10.42.x", "10.42.0")
        + "local 192.0.2.1 dev eno1 table local\n";
    let both = [
        alone[0],
        alone[1],
        ("n1/commands/ip-addr.out", &links),
        ("n1/commands/ip-route.out", &routes),
    ];
    let found = derived(&both);
    let way = to_the_other_node(&found);
    assert_eq!(
        (way.verdict.as_str(), way.largest),
        ("black-hole", Some(1350)),
        "{way:?}"
    );
    assert!(
        way.because.contains("n1/commands/ip-addr.out"),
        "{}",
        way.because
    );
    let mut kinds = found
        .table::<MtuMismatch>()
        .iter()
        .map(|row| (row.data.kind.as_str(), row.data.node.as_str()));
    assert!(kinds.any(|kind| kind == ("other-node", "n0")));
}

#[test]
fn the_size_that_a_cni_is_to_give_pods_has_to_fit_the_tunnel() {
    let config = "{\"cniVersion\":\"1.0.0\",\"plugins\":[\n{\"type\":\"bridge\",\"mtu\":1500},\n{\"type\":\"portmap\",\"mtu\":0}]}";
    let mut files = vec![
        ("n0/commands/ip-addr.out", LINKS),
        ("n0/commands/ip-route.out", ROUTES),
        ("n0/rootfs/etc/cni/net.d/10-x.conflist", config),
        (
            "n0/rootfs/run/flannel/subnet.env",
            "FLANNEL_SUBNET=10.42.0.1/24\nFLANNEL_MTU=1450\n",
        ),
    ];
    let found = derived(&files);
    let rows = found.table::<MtuMismatch>();
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(
        (rows[0].data.mtu, rows[0].data.fits, rows[0].place.line),
        (1500, 1450, Some(2))
    );
    files.remove(2);
    assert!(derived(&files).table::<MtuMismatch>().is_empty());
}
