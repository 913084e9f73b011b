//! Generated rules of a node that translates, as kube-proxy writes them, in iptables and in nft.

use std::fmt::Write as _;

use crate::dice::Dice;

/// What a node and the backend behind it are set up with.
pub(crate) struct Set {
    /// `node` is for nft.
    pub(crate) nft: bool,
    pub(crate) node: String,
    pub(crate) backend: String,
    /// Commands that give the backend its way back.
    pub(crate) routes: String,
    /// `rp_filter` of `all` and of the node's three links.
    pub(crate) filters: [u8; 4],
}

pub(crate) fn generate(dice: &mut Dice, nft: bool) -> Set {
    let node = if nft {
        nft_rules(dice)
    } else {
        iptables_rules(dice)
    };
    let back = dice.one(&[
        "ip route add 10.1.0.0/24 via 192.0.2.1",
        "ip route add 10.1.0.0/24 via 192.0.2.1",
        "ip route add 10.1.0.0/24 via 198.51.100.1",
        "ip route add 10.1.0.185 dev eth2",
        "ip route add unreachable 10.1.0.0/24",
    ]);
    let to_node = dice.one(&[
        "",
        "",
        "",
        "ip route add 192.0.2.1/32 via 198.51.100.1 dev eth1",
    ]);
    let backend = format!(
        "*filter\n:INPUT ACCEPT\n:FORWARD ACCEPT\n:OUTPUT ACCEPT\n{}COMMIT\n",
        dice.one(&[
            "",
            "",
            "",
            "-A INPUT -s 10.1.0.0/16 -p tcp -j DROP\n",
            "-A OUTPUT -m conntrack --ctstate ESTABLISHED -d 192.0.2.1/32 -j DROP\n",
            "-A OUTPUT -p udp -m conntrack --ctdir REPLY -j DROP\n",
        ])
    );
    let filters = [0, 1, 2, 3].map(|_| [0, 0, 1, 2][dice.below(4)]);
    Set {
        nft,
        node,
        backend,
        routes: format!("{back}\n{to_node}"),
        filters,
    }
}

const MARKING: &[&str] = &[
    "-A KUBE-SVC -j KUBE-MARK-MASQ\n",
    "-A KUBE-SVC ! -s 10.1.0.0/16 -j KUBE-MARK-MASQ\n",
    "",
    "-A KUBE-SVC -m conntrack --ctorigdst 10.1.0.1 -j KUBE-MARK-MASQ\n",
];

const REWRITING: &[&str] = &[
    "-A KUBE-POSTROUTING -m mark ! --mark 0x4000/0x4000 -j RETURN\n-A KUBE-POSTROUTING -j MARK --xor-mark 0x4000\n-A KUBE-POSTROUTING -j MASQUERADE --random-fully\n",
    "-A KUBE-POSTROUTING -m mark --mark 0x4000/0x4000 -j MASQUERADE\n",
    "-A KUBE-POSTROUTING -m mark --mark 0x4000/0x4000 -j SNAT --to-source 192.0.2.1\n",
    "-A KUBE-POSTROUTING -m mark --mark 0x4000/0x4000 -j SNAT --to-source 198.51.100.1\n",
    "-A KUBE-POSTROUTING -o eno+ -p tcp -j SNAT --to-source 192.0.2.1:2000-3000\n",
];

const FORWARD: &[&str] = &[
    "-m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT",
    "-m conntrack --ctstate INVALID -j DROP",
    "-i lxc1 -j ACCEPT",
    "-o lxc1 -j DROP",
    "-m conntrack --ctdir REPLY -j ACCEPT",
    "-m conntrack --ctdir ORIGINAL -j ACCEPT",
    "-m conntrack --ctdir REPLY -p udp -j REJECT",
    "-m conntrack --ctorigdst 10.96.0.0/24 --ctorigdstport 80 -j ACCEPT",
    "-m conntrack --ctorigdst 10.96.0.1 --ctdir REPLY -j DROP",
    "-m conntrack --ctorigsrc 10.1.0.185 -j ACCEPT",
    "-m conntrack --ctreplsrc 192.0.2.53 --ctdir REPLY -j ACCEPT",
    "-m conntrack --ctstate DNAT -j ACCEPT",
    "-m conntrack --ctstate SNAT -i eno1 -j ACCEPT",
    "-m conntrack --ctstate NEW -j ACCEPT",
    "-s 192.0.2.53/32 -p tcp -m tcp --sport 9000 -j ACCEPT",
    "-i eno2 -j DROP",
    "-m mark --mark 0x40/0x40 -j ACCEPT",
    "-p tcp -m tcp --tcp-flags SYN,ACK SYN,ACK -m conntrack --ctstate ESTABLISHED -j ACCEPT",
];

const LOCAL: &[&str] = &[
    "-A INPUT -i lxc1 -p udp -j DROP",
    "-A INPUT -m conntrack --ctstate NEW -j ACCEPT",
    "-A OUTPUT -m conntrack --ctstate ESTABLISHED -p udp -j DROP",
    "-A OUTPUT -m conntrack --ctdir REPLY --ctorigdst 10.96.0.3 -j DROP",
    "-A OUTPUT -d 10.1.0.185/32 -p tcp -m tcp --sport 9000 -j DROP",
];

const MANGLE: &[&str] = &[
    "-A PREROUTING -j CONNMARK --restore-mark",
    "-A FORWARD -i lxc1 -m conntrack --ctstate NEW -j CONNMARK --set-xmark 0x40/0x40",
    "-A FORWARD -i lxc1 -p tcp -j MARK --set-xmark 0x40/0x40",
    "-A FORWARD -j CONNMARK --save-mark",
    "-A PREROUTING -d 192.0.2.1/32 -i eno1 -p udp -j DROP",
    "-A PREROUTING -d 10.1.0.185/32 -i eno1 -p udp -j DROP",
    "-A POSTROUTING -s 10.96.0.1/32 -o lxc1 -j DROP",
    "-A POSTROUTING -s 192.0.2.53/32 -o lxc1 -p udp -j DROP",
    "-A PREROUTING -i eno1 -m connmark --mark 0x40/0x40 -j ACCEPT",
    "-A PREROUTING -i eno1 -m addrtype --dst-type LOCAL -p udp -j DROP",
];

/// Where services lead: to the backend, and sometimes back to the client or to the node.
fn iptables_rules(dice: &mut Dice) -> String {
    let mut text = String::from(
        "*nat\n:PREROUTING ACCEPT\n:INPUT ACCEPT\n:OUTPUT ACCEPT\n:POSTROUTING ACCEPT\n:KUBE-SERVICES -\n:KUBE-SVC -\n:KUBE-SEP -\n:KUBE-MARK-MASQ -\n:KUBE-POSTROUTING -\n\
         -A PREROUTING -j KUBE-SERVICES\n-A POSTROUTING -j KUBE-POSTROUTING\n-A KUBE-MARK-MASQ -j MARK --or-mark 0x4000\n\
         -A KUBE-SERVICES -d 10.96.0.1/32 -p tcp -m tcp --dport 80 -j KUBE-SVC\n\
         -A KUBE-SERVICES -d 10.96.0.1/32 -p udp -m udp --dport 53 -j KUBE-SVC\n\
         -A KUBE-SERVICES -d 10.1.0.1/32 -p tcp -m tcp --dport 30080 -j KUBE-SVC\n",
    );
    if dice.below(2) == 0 {
        text += "-A KUBE-SERVICES -d 10.96.0.2/32 -p tcp -j KUBE-MARK-MASQ\n";
    }
    text += "-A KUBE-SERVICES -d 10.96.0.2/32 -p tcp -m tcp --dport 80 -j DNAT --to-destination 10.1.0.185:9000\n";
    let _ = writeln!(
        text,
        "-A KUBE-SERVICES -d 10.96.0.3/32 -p tcp -m tcp --dport 80 -j {}",
        dice.one(&[
            "REDIRECT --to-ports 9000",
            "DNAT --to-destination 192.0.2.1:9000"
        ])
    );
    text += dice.one(MARKING);
    text += "-A KUBE-SVC -j KUBE-SEP\n-A KUBE-SEP -p tcp -j DNAT --to-destination 192.0.2.53:9000\n-A KUBE-SEP -p udp -j DNAT --to-destination 192.0.2.53:9000\n";
    text += dice.one(REWRITING);
    text += "COMMIT\n*mangle\n:PREROUTING ACCEPT\n:INPUT ACCEPT\n:FORWARD ACCEPT\n:OUTPUT ACCEPT\n:POSTROUTING ACCEPT\n";
    for _ in 0..dice.below(4) {
        let _ = writeln!(text, "{}", dice.one(MANGLE));
    }
    let _ = write!(
        text,
        "COMMIT\n*filter\n:INPUT ACCEPT\n:FORWARD {}\n:OUTPUT ACCEPT\n",
        dice.one(&["ACCEPT", "DROP"])
    );
    for _ in 0..1 + dice.below(5) {
        let _ = writeln!(text, "-A FORWARD {}", dice.one(FORWARD));
    }
    for _ in 0..dice.below(3) {
        let _ = writeln!(text, "{}", dice.one(LOCAL));
    }
    text + "COMMIT\n"
}

const NFT_FORWARD: &[&str] = &[
    "ct state established,related counter accept",
    "ct state invalid counter drop",
    "iifname \"lxc1\" counter accept",
    "oifname \"lxc1\" counter drop",
    "ct direction reply counter accept",
    "ct direction original counter accept",
    "ct direction reply meta l4proto udp counter reject",
    "meta l4proto tcp ct original ip daddr 10.96.0.0/24 ct original proto-dst 80 counter accept",
    "ct original ip daddr 10.96.0.1 ct direction reply counter drop",
    "ct reply ip saddr 192.0.2.53 ct direction reply counter accept",
    "ct status dnat counter accept",
    "ct status snat iifname \"eno1\" counter accept",
    "ct state new counter accept",
    "ip saddr 192.0.2.53 tcp sport 9000 counter accept",
    "ct mark 0x40 counter accept",
    "meta mark 0x40 counter accept",
    "ct direction . meta l4proto { reply . tcp } counter accept",
];

const NFT_EARLY: &[&str] = &[
    "meta mark set ct mark",
    "ip daddr 192.0.2.1 iifname \"eno1\" meta l4proto udp counter drop",
    "ip daddr 10.1.0.185 iifname \"eno1\" meta l4proto udp counter drop",
    "iifname \"lxc1\" ct state new ct mark set 0x40 counter",
    "iifname \"lxc1\" meta l4proto tcp meta mark set 0x40 ct mark set meta mark counter",
    "fib daddr type local iifname \"eno1\" meta l4proto udp counter drop",
];

const NFT_LATE: &[&str] = &[
    "ip saddr 10.96.0.1 oifname \"lxc1\" counter drop",
    "ip saddr 192.0.2.53 oifname \"lxc1\" counter drop",
];

fn nft_rules(dice: &mut Dice) -> String {
    let mut text = String::from("table ip gen {\n chain services {\n");
    let marking = dice.one(&[
        "  counter meta mark set meta mark | 0x4000\n",
        "  ip saddr != 10.1.0.0/16 counter meta mark set meta mark | 0x4000\n",
        "",
    ]);
    let hairpin = dice.one(&["meta mark set meta mark | 0x4000 ", ""]);
    let _ = write!(
        text,
        "{marking}  meta l4proto tcp counter dnat to 192.0.2.53:9000\n  meta l4proto udp counter dnat to 192.0.2.53:9000\n }}\n \
         chain nat-prerouting {{\n  type nat hook prerouting priority dstnat; policy accept;\n  \
         ip daddr 10.96.0.1 tcp dport 80 counter goto services\n  ip daddr 10.96.0.1 udp dport 53 counter goto services\n  ip daddr 10.1.0.1 tcp dport 30080 counter goto services\n  \
         ip daddr 10.96.0.2 tcp dport 80 {hairpin}counter dnat to 10.1.0.185:9000\n  ip daddr 10.96.0.3 tcp dport 80 counter redirect to :9000\n }}\n \
         chain nat-postrouting {{\n  type nat hook postrouting priority srcnat; policy accept;\n  {}\n }}\n",
        dice.one(&[
            "meta mark & 0x4000 != 0 counter masquerade",
            "meta mark & 0x4000 != 0 counter masquerade fully-random",
            "meta mark & 0x4000 != 0 counter snat to 192.0.2.1",
            "oifname \"eno1\" meta l4proto tcp counter snat to 192.0.2.1:2000-3000",
        ])
    );
    let _ = write!(
        text,
        " chain forward {{\n  type filter hook forward priority 0; policy {};\n",
        dice.one(&["accept", "drop"])
    );
    for _ in 0..1 + dice.below(5) {
        let _ = writeln!(text, "  {}", dice.one(NFT_FORWARD));
    }
    let early = dice.one(&["-150", "-90"]);
    let _ = write!(
        text,
        " }}\n chain early {{\n  type filter hook prerouting priority {early}; policy accept;\n"
    );
    for _ in 0..dice.below(3) {
        let _ = writeln!(text, "  {}", dice.one(NFT_EARLY));
    }
    let late = dice.one(&["90", "110"]);
    let _ = write!(
        text,
        " }}\n chain late {{\n  type filter hook postrouting priority {late}; policy accept;\n"
    );
    for _ in 0..dice.below(2) {
        let _ = writeln!(text, "  {}", dice.one(NFT_LATE));
    }
    text + " }\n}\n"
}
