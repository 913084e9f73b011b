use super::tests::{OPEN, ROUTES, RULES, cluster, of_n1, reach, read};
use crate::facts::network::ReachCheck;

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
