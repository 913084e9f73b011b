//! Generated rule sets, said again for IPv6.

use crate::lab::Texts;

/// What stands for what; longer texts first where one holds the other.
const WORDS: &[(&str, &str)] = &[
    ("10.1.0.0/255.255.0.0", "fd00:1::/32"),
    ("192.0.2.50-192.0.2.60", "2001:db8::50-2001:db8::60"),
    ("255.255.0.255 == 192.0.0.53", "ffff::ffff == 2001::53"),
    ("10.0.0.0/8", "fd00::/16"),
    ("10.1.0.0/16", "fd00:1::/32"),
    ("10.1.0.0/25", "fd00:1::/120"),
    ("10.1.0.128/25", "fd00:1::100/120"),
    ("10.9.0.0/16", "fd09::/16"),
    ("192.0.2.0/24", "2001:db8::/64"),
    ("10.1.0.185/32", "fd00:1::185/128"),
    ("192.0.2.53/32", "2001:db8::53/128"),
    ("10.1.0.185:9000", "[fd00:1::185]:9000"),
    ("10.1.0.1:10250", "[fd00:1::1]:10250"),
    ("192.0.2.53:443", "[2001:db8::53]:443"),
    ("192.0.2.53:53", "[2001:db8::53]:53"),
    ("10.1.0.185", "fd00:1::185"),
    ("192.0.2.53", "2001:db8::53"),
];

const OF_IPTABLES: &[(&str, &str)] = &[
    (
        "-p icmp -m icmp --icmp-type 8",
        "-p ipv6-icmp -m icmp6 --icmpv6-type 128",
    ),
    (
        "-p icmp -m icmp --icmp-type 3",
        "-p ipv6-icmp -m icmp6 --icmpv6-type 1",
    ),
    ("-p icmp -m icmp --icmp-type any", "-p ipv6-icmp"),
    (
        "-p icmp -m icmp --icmp-type echo-request",
        "-p ipv6-icmp -m icmp6 --icmpv6-type echo-request",
    ),
    ("-p icmp", "-p ipv6-icmp"),
    ("icmp-port-unreachable", "icmp6-port-unreachable"),
    ("icmp-admin-prohibited", "icmp6-adm-prohibited"),
];

const OF_NFT: &[(&str, &str)] = &[
    ("table ip gen", "table ip6 gen"),
    ("ipv4_addr", "ipv6_addr"),
    ("ip saddr", "ip6 saddr"),
    ("ip daddr", "ip6 daddr"),
    ("ip protocol udp", "ip6 nexthdr udp"),
    ("ip protocol icmp", "ip6 nexthdr ipv6-icmp"),
    (
        "reject with icmp host-prohibited",
        "reject with icmpv6 admin-prohibited",
    ),
    ("icmp type", "icmpv6 type"),
    ("ip length 28", "ip6 length 8"),
    ("ip ttl", "ip6 hoplimit"),
    ("nfproto ipv4", "nfproto ipv6"),
    ("l4proto != icmp", "l4proto != ipv6-icmp"),
    ("vmap { icmp :", "vmap { ipv6-icmp :"),
    ("dnat ip to", "dnat ip6 to"),
];

/// The rules for IPv6.
pub(crate) fn said(texts: &Texts) -> Texts {
    let replaced = |text: &str, words: &[(&str, &str)]| {
        let mut text = text.to_owned();
        for (old, new) in words {
            text = text.replace(old, new);
        }
        text
    };
    let iptables = replaced(&texts.iptables, WORDS);
    let nft = replaced(&texts.nft, WORDS);
    Texts {
        six: true,
        iptables: replaced(&iptables, OF_IPTABLES),
        nft: replaced(&nft, OF_NFT).replace(
            "meta nfproto ipv6 ",
            if nft.contains("table ip gen") {
                ""
            } else {
                "meta nfproto ipv6 "
            },
        ),
        ..Texts::default()
    }
}
