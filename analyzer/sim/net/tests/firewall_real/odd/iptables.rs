//! Tables of iptables with odd matches, sets and marks.

use std::fmt::Write;

use crate::dice::Dice;

pub(super) const IPSETS: &str = "create knocks hash:ip family inet
create doors hash:ip,port family inet
add doors 192.0.2.53,udp:53
add doors 192.0.2.53,icmp:echo-reply
add doors 10.1.0.1,udp:10250
create pings hash:ip,port family inet
add pings 192.0.2.53,icmp:echo-request
create numbers bitmap:port range 0-65535
add numbers 53
add numbers 2048
create leavers hash:net family inet
add leavers 10.1.0.0/16
add leavers 10.1.0.128/25 nomatch
create sides hash:net,iface family inet
add sides 10.1.0.0/16,lxc wildcard
add sides 192.0.2.0/24,eno1
";

/// Tables of iptables.
pub(super) fn tables(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let mut text = String::new();
    let tables: [(&str, &[&str], &[&str]); 4] = [
        ("raw", &["PREROUTING", "OUTPUT"], RAW),
        (
            "mangle",
            &["PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"],
            MANGLE,
        ),
        ("nat", &["PREROUTING", "OUTPUT", "POSTROUTING"], &[]),
        ("filter", &["INPUT", "FORWARD", "OUTPUT"], FILTER),
    ];
    for (table, chains, targets) in tables {
        if table != "filter" && dice.below(3) == 0 {
            continue;
        }
        let _ = writeln!(text, "*{table}");
        for chain in chains {
            let policy = match table {
                "filter" => dice.one(&["ACCEPT", "ACCEPT", "DROP"]),
                _ => "ACCEPT",
            };
            let _ = writeln!(text, ":{chain} {policy} [0:0]");
        }
        let _ = writeln!(text, ":X{table} - [0:0]");
        for chain in chains {
            for _ in 0..1 + dice.below(3) {
                if table == "nat" {
                    let _ = writeln!(text, "-A {chain} {}", nat(&mut dice, chain));
                    continue;
                }
                let (matched, target) = (matches(&mut dice, chain), dice.one(targets));
                let _ = writeln!(text, "-A {chain}{matched} {target}");
            }
        }
        for _ in 0..2 {
            let target = dice.one(&["-j RETURN", "-j ACCEPT", "", "-j TRACE"]);
            let _ = writeln!(text, "-A X{table}{} {target}", matches(&mut dice, "X"));
        }
        text += "COMMIT\n";
    }
    text
}

const RAW: &[&str] = &[
    "-j CT --notrack",
    "-j SET --add-set knocks src",
    "-j Xraw",
    "-j DROP",
    "",
];
const MANGLE: &[&str] = &[
    "-j MARK --set-xmark 0x5/0xffffffff",
    "-j MARK --set-xmark 0x10/0x10",
    "-j CONNMARK --restore-mark --nfmask 0xffffffff --ctmask 0xffffffff",
    "-j CONNMARK --save-mark --nfmask 0xf --ctmask 0xf",
    "-j CONNMARK --set-xmark 0x5/0xff",
    "-j SET --add-set knocks dst",
    "-j SET --del-set doors dst,dst",
    "-j TTL --ttl-set 9",
    "-j TTL --ttl-dec 1",
    "-j DSCP --set-dscp 0x2e",
    "-j TOS --set-tos 0x10/0x3f",
    "-j CLASSIFY --set-class 1:2",
    "-g Xmangle",
    "-j RETURN",
];
const FILTER: &[&str] = &[
    "-j ACCEPT",
    "-j DROP",
    "-j RETURN",
    "-j Xfilter",
    "-g Xfilter",
    "-j REJECT --reject-with icmp-port-unreachable",
    "-j NFQUEUE --queue-num 7 --queue-bypass",
    "-j NFQUEUE --queue-num 7",
    "",
];

fn nat(dice: &mut Dice, chain: &str) -> &'static str {
    match chain {
        "POSTROUTING" => dice.one(&[
            "-o eno1 -j MASQUERADE",
            "-m mark --mark 0x5 -j MASQUERADE",
            "-p udp -m udp --dport 53 -j SNAT --to-source 192.0.2.77",
            "-j Xnat",
        ]),
        "OUTPUT" => dice.one(&[
            "-p udp -m udp --dport 53 -j DNAT --to-destination 192.0.2.53:123",
            "-p tcp -m addrtype ! --dst-type LOCAL -j RETURN",
            "-j Xnat",
        ]),
        _ => dice.one(&[
            "-p udp -m udp --dport 123 -j DNAT --to-destination 192.0.2.53:53",
            "-p udp -m udp --dport 53 -j REDIRECT --to-ports 10250",
            "-m set --match-set doors dst,dst -p udp -j DNAT --to-destination 10.1.0.1:10250",
            "-m addrtype --dst-type LOCAL -j Xnat",
            "-m conntrack --ctstate DNAT -j ACCEPT",
        ]),
    }
}

fn matches(dice: &mut Dice, chain: &str) -> String {
    let mut text = String::new();
    for _ in 0..dice.below(3) {
        let one = dice.one(&[
            " -m mark --mark 0x5",
            " -m mark ! --mark 0x0/0x10",
            " -m connmark --mark 0x5/0xf",
            " -m connmark ! --mark 0x9",
            " -m conntrack --ctstate NEW,UNTRACKED",
            " -m conntrack ! --ctstate INVALID",
            " -m conntrack --ctstate DNAT",
            " -m conntrack --ctstate NEW --ctorigdst 192.0.2.53/32",
            " -m conntrack ! --ctorigdst 192.0.2.53/32",
            " -m conntrack --ctdir ORIGINAL",
            " -m conntrack --ctstatus NONE",
            " -m conntrack ! --ctstatus SEEN_REPLY",
            " -m set --match-set knocks src",
            " -m set ! --match-set knocks dst",
            " -m set --match-set doors dst,dst",
            " -m set --match-set pings dst,dst",
            " -m set --match-set numbers dst",
            " -m set ! --match-set numbers src",
            " -m set --match-set leavers src",
            " -m set --match-set leavers src --return-nomatch",
            " -m set --match-set sides src,src",
            " -m ttl --ttl-eq 9",
            " -m ttl --ttl-lt 64",
            " -m dscp --dscp 0x2e",
            " -m tos --tos 0x10/0x3f",
            " -m addrtype --dst-type LOCAL",
            " -m addrtype ! --src-type LOCAL --dst-type UNICAST",
            " -m statistic --mode nth --every 1 --packet 0",
            " -m statistic --mode random --probability 1.0",
            " -m pkttype --pkt-type unicast",
            " -m length --length 0:35",
            " -m rpfilter --invert",
            " -m rpfilter --loose",
            " -m helper --helper ftp",
            " -m policy --dir in --pol none",
            " -m comment --comment \"-j DROP\"",
            " -p udp -m udp --dport 53",
            " -p udp -m multiport ! --dports 53,123",
            " -p tcp -m tcp --tcp-flags SYN,ACK SYN",
            " -p tcp -m multiport --ports 22,443",
            " -p icmp -m icmp ! --icmp-type 0",
            " ! -p udp",
            " -s 10.1.0.185/32",
            " ! -d 192.0.2.0/24",
            " -m iprange ! --src-range 10.1.0.1-10.1.0.200",
            " -m u32 --u32 \"0x6&0xff=0x11\"",
            " -m recent --name odd --set --rsource",
            " -m recent --name odd --rcheck --rsource",
        ]);
        let clash = (one.contains("-p ") && text.contains("-p "))
            || one
                .split(' ')
                .nth(2)
                .is_some_and(|module| text.contains(&format!(" {module} ")))
            || (one.contains("rpfilter") && chain != "PREROUTING")
            || (one.contains("--dir in") && matches!(chain, "OUTPUT" | "POSTROUTING" | "X"));
        if !clash {
            text += one;
        }
    }
    text
}
