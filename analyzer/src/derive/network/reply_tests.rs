use super::tests::{OPEN, ROUTES, RULES, add, cluster, of_n1, reach, read};
use crate::facts::network::ReachCheck;
use crate::facts::node::Setting;

#[test]
fn an_answer_is_followed_through_this_node_and_the_one_that_gives_it() {
    let ask = |rules: &str| {
        let files = [
            ("commands/ip-route.out", ROUTES),
            ("commands/iptables-save.out", rules),
        ];
        reach(&[], &files, "pod to cluster DNS")
    };
    // New packets pass, their answers do not: the chain has no rule for what is established.
    let strict = RULES.replace(
        "-A FORWARD -i cali+ -p udp -j ACCEPT",
        "-A FORWARD -i cali+ -p udp -m conntrack --ctstate NEW -j ACCEPT",
    );
    let dropped = ask(&strict);
    assert_eq!(
        (dropped.verdict.as_str(), dropped.reply.as_str()),
        ("accepted", "dropped")
    );
    assert!(
        dropped.reply_by.contains("policy DROP of chain FORWARD"),
        "{}",
        dropped.reply_by
    );
    let open = strict.replace("*filter\n", "*filter\n:KUBE-FORWARD - [0:0]\n").replace("-A FORWARD -i cali+ -o", "-A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n-A FORWARD -i cali+ -o");
    let alone = ask(&open);
    assert_eq!(
        alone.reply,
        "not-checked: the node of 10.42.1.5, which answers, was not captured"
    );
    // With the other node's bundle its rules and routes count as well.
    let other = "default via 192.0.2.1 dev eth0\n10.42.1.5 dev cali9 scope link\n10.42.0.0/24 via 192.0.2.7 dev eth0\n192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.8\nlocal 192.0.2.8 dev eth0 table local proto kernel scope host src 192.0.2.8\n";
    let joined = |routes: &str, rules: &str| {
        let mut documents = of_n1(&[
            ("commands/ip-route.out", ROUTES),
            ("commands/iptables-save.out", &open),
        ]);
        for (name, text) in [("ip-route", routes), ("iptables-save", rules)] {
            documents.insert(format!("nodes/n2/commands/{name}.out"), text.to_owned());
        }
        let found = read(&cluster(), &documents);
        let mut rows = found
            .table::<ReachCheck>()
            .iter()
            .map(|row| row.data.clone());
        let row = rows.find(|row| row.node == "n1" && row.question == "pod to cluster DNS");
        row.unwrap().reply
    };
    assert_eq!(joined(other, OPEN), "arrives");
    let closed = OPEN.replace("FORWARD ACCEPT", "FORWARD DROP");
    assert_eq!(
        joined(other, &closed),
        "lost on node n2: n2 lets the packet itself not pass"
    );
    let unreachable = other.replace(
        "10.42.0.0/24 via 192.0.2.7 dev eth0",
        "unreachable 10.42.0.0/24",
    );
    assert!(
        joined(&unreachable, OPEN).starts_with("lost on node n2: n2 has an unreachable route back")
    );
}

#[test]
fn a_strict_source_check_drops_an_answer_that_the_other_node_sends_by_another_link() {
    let routes = format!(
        "{ROUTES}198.51.100.0/24 dev eth1 proto kernel scope link src 198.51.100.7\nlocal 198.51.100.7 dev eth1 table local proto kernel scope host src 198.51.100.7\n"
    );
    let links = "2: eth0: <UP> mtu 1500\n    inet 192.0.2.7/24 scope global eth0\n3: eth1: <UP> mtu 1500\n    inet 198.51.100.7/24 scope global eth1\n";
    let other = "default via 192.0.2.1 dev eth0\n10.42.1.5 dev cali9 scope link\n10.42.0.0/24 via 198.51.100.7 dev eth1\nlocal 192.0.2.8 dev eth0 table local proto kernel scope host src 192.0.2.8\n";
    let rules = OPEN.replace(
        "*nat\n:PREROUTING ACCEPT [0:0]\n",
        "*nat\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -d 10.43.0.10/32 -p udp -m comment --comment \"kube-system/kube-dns:dns cluster IP\" -m udp --dport 53 -j DNAT --to-destination 10.42.1.5:53\n",
    );
    let ask = |settings: &[(&str, &str)]| {
        let mut facts = cluster();
        for (name, value) in settings {
            let setting = Setting {
                node: "n1".into(),
                name: (*name).into(),
                value: (*value).into(),
            };
            add(&mut facts, setting);
        }
        let mut documents = of_n1(&[
            ("commands/ip-route.out", &routes),
            ("commands/ip-addr.out", links),
            ("commands/iptables-save.out", &rules),
        ]);
        for (name, text) in [("ip-route", other), ("iptables-save", OPEN)] {
            documents.insert(format!("nodes/n2/commands/{name}.out"), text.to_owned());
        }
        let found = read(&facts, &documents);
        let mut rows = found
            .table::<ReachCheck>()
            .iter()
            .map(|row| row.data.clone());
        let row = rows.find(|row| row.node == "n1" && row.question == "pod to cluster DNS");
        row.map(|row| (row.reply, row.reply_by)).unwrap()
    };
    let all = ("net.ipv4.conf.all.rp_filter", "0");
    let (strict, by) = ask(&[all, ("net.ipv4.conf.eth1.rp_filter", "1")]);
    assert_eq!(strict, "dropped");
    assert!(
        by.starts_with("rp_filter of eth1 is 1: it comes in on eth1"),
        "{by}"
    );
    assert_eq!(
        ask(&[all, ("net/ipv4/conf/eth1/rp_filter", "2")]).0,
        "arrives"
    );
    assert!(
        ask(&[all])
            .0
            .starts_with("not-checked: rp_filter of eth1 was not captured")
    );
}
