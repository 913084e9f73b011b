//! Generated rule sets.

use std::fmt::Write;

use crate::dice::Dice;
use crate::lab::Texts;
use crate::nft;

const CHAIN_COUNT: usize = 6;

/// Kinds of generated rules, each with its share in a hundred.
pub(crate) const KINDS: &[(&str, u64)] = &[
    ("iptables-nft", 25),
    ("iptables-legacy", 10),
    ("iptables with ipsets", 15),
    ("iptables with translations", 10),
    ("nft", 30),
    ("nft beside iptables, both kinds", 10),
];

/// The same for IPv6, beside those of IPv4.
pub(crate) const SIX: &[(&str, u64)] = &[
    ("ip6tables", 10),
    ("ip6tables with translations", 5),
    ("nft for IPv6", 15),
    ("packets of IPv6 through rules for IPv4", 5),
];

/// Rules of a kind of [`SIX`], different for each seed.
pub(crate) fn six(kind: &str, seed: u64) -> Texts {
    if kind == "packets of IPv6 through rules for IPv4" {
        return Texts {
            six: true,
            ..rules("nft", seed + 80_000)
        };
    }
    let four = match kind {
        "ip6tables" => "iptables-nft",
        "ip6tables with translations" => "iptables with translations",
        _ => "nft",
    };
    crate::six::said(&rules(four, seed + 70_000))
}

/// Rules of a kind, different for each seed.
pub(crate) fn rules(kind: &str, seed: u64) -> Texts {
    let mut texts = Texts::default();
    match kind {
        "iptables-nft" => texts.iptables = rule_set(seed),
        "iptables-legacy" => texts.legacy = rule_set(seed + 10_000),
        "iptables with ipsets" => {
            texts.ipset = IPSETS.to_owned();
            texts.iptables = with_sets(&rule_set(seed + 20_000), seed);
        }
        "iptables with translations" => texts.iptables = translated(&rule_set(seed + 30_000), seed),
        "nft" => texts.nft = nft::rule_set(seed),
        _ => {
            texts.iptables = rule_set(seed + 40_000);
            texts.legacy = rule_set(seed + 50_000);
            texts.nft = nft::rule_set(seed + 60_000);
        }
    }
    texts
}

const IPSETS: &str = "create hosts hash:ip family inet
add hosts 10.1.0.185
add hosts 192.0.2.9
create nets hash:net family inet
add nets 10.0.0.0/8
add nets 10.1.0.128/25 nomatch
add nets 192.0.2.0/24
create services hash:ip,port family inet
add services 192.0.2.53,udp:53
add services 192.0.2.53,tcp:8080
create ranges hash:net,port family inet
add ranges 192.0.2.0/26,tcp:440-450
add ranges 10.1.0.0/16,udp:8472
create ports bitmap:port range 0-65535
add ports 53
add ports 20-22
create blocks hash:ip family inet netmask 24
add blocks 10.1.0.7
create all list:set size 8
add all hosts
add all nets
";

/// The rules, some of them with set matches.
fn with_sets(rules: &str, seed: u64) -> String {
    let mut dice = Dice::new(seed + 7);
    let mut text = String::new();
    for line in rules.lines() {
        let in_filter = line.starts_with("-A FORWARD ") || line.starts_with("-A U");
        match line.rsplit_once(" -") {
            Some((head, tail)) if in_filter && dice.below(2) == 0 && !line.contains(['"', '!']) => {
                let set = dice.one(&[
                    "-m set --match-set hosts src",
                    "-m set ! --match-set hosts dst",
                    "-m set --match-set nets src",
                    "-m set --match-set nets dst",
                    "-m set --match-set services dst,dst",
                    "-m set ! --match-set ranges dst,dst",
                    "-m set --match-set ports dst",
                    "-m set --match-set blocks src",
                    "-m set --match-set all src",
                ]);
                let (head, tail) = match tail.split_once(' ') {
                    Some((word, _)) if word.len() == 1 && "jg".contains(word) => (head, tail),
                    _ => {
                        text += line;
                        text.push('\n');
                        continue;
                    }
                };
                let _ = writeln!(text, "{head} {set} -{tail}");
            }
            _ => {
                text += line;
                text.push('\n');
            }
        }
    }
    text
}

/// The rules behind a nat table that changes where packets go.
fn translated(rules: &str, seed: u64) -> String {
    let mut dice = Dice::new(seed + 9);
    let mut text = String::from(
        "*nat\n:PREROUTING ACCEPT\n:INPUT ACCEPT\n:OUTPUT ACCEPT\n:POSTROUTING ACCEPT\n:SVC -\n:MARK-MASQ -\n",
    );
    text += "-A PREROUTING -j SVC\n-A MARK-MASQ -j MARK --set-xmark 0x10/0xf0\n";
    for _ in 0..1 + dice.below(4) {
        let rule = dice.one(&[
            "-A SVC -p udp -m udp --dport 123 -j DNAT --to-destination 192.0.2.53:53",
            "-A SVC -i lxc+ -p tcp -m tcp --dport 8080 -j DNAT --to-destination 192.0.2.53:443",
            "-A SVC -p udp -m udp --dport 8472 -j DNAT --to-destination 10.1.0.185:9000",
            "-A SVC -d 192.0.2.0/24 -p udp -m udp --dport 53 -j DNAT --to-destination 10.1.0.1:10250",
            "-A SVC -p udp -m udp --dport 123 -j REDIRECT --to-ports 53",
            "-A SVC -s 10.0.0.0/8 -p tcp -j MARK-MASQ",
            "-A SVC -p icmp -j RETURN",
            "-A SVC -p udp -m udp --dport 10250 -j DNAT --to-destination 192.0.2.53:53",
        ]);
        let _ = writeln!(text, "{rule}");
    }
    text + "COMMIT\n" + rules
}

/// A rule set that the kernel accepts, different for each seed.
fn rule_set(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let mut text = String::new();
    if dice.below(4) == 0 {
        text += "*raw\n:PREROUTING ACCEPT\n:OUTPUT ACCEPT\n";
        let matched = conditions(&mut dice, "PREROUTING", false);
        let _ = write!(
            text,
            "-A PREROUTING{matched} -j {}\nCOMMIT\n",
            dice.one(&["CT --notrack", "RETURN", "DROP"])
        );
    }
    if dice.below(2) == 0 {
        text += "*mangle\n:PREROUTING ACCEPT\n:INPUT ACCEPT\n:FORWARD ACCEPT\n:OUTPUT ACCEPT\n:POSTROUTING ACCEPT\n";
        for chain in ["PREROUTING", "FORWARD", "FORWARD", "POSTROUTING"] {
            let matched = conditions(&mut dice, chain, true);
            let _ = writeln!(text, "-A {chain}{matched} -j {}", dice.one(MANGLE_TARGETS));
        }
        text += "COMMIT\n";
    }
    let _ = write!(
        text,
        "*filter\n:INPUT ACCEPT\n:FORWARD {}\n:OUTPUT ACCEPT\n",
        dice.one(&["ACCEPT", "DROP"])
    );
    for chain in 0..CHAIN_COUNT {
        let _ = writeln!(text, ":U{chain} -");
    }
    for _ in 0..4 + dice.below(8) {
        text += &rule(&mut dice, "FORWARD", 0);
    }
    for _ in 0..3 {
        text += &rule(&mut dice, "INPUT", 0);
    }
    for chain in 0..CHAIN_COUNT {
        for _ in 0..1 + dice.below(5) {
            text += &rule(&mut dice, &format!("U{chain}"), chain + 1);
        }
    }
    text + "COMMIT\n"
}

const MANGLE_TARGETS: &[&str] = &[
    "MARK --set-xmark 0x1/0xffffffff",
    "MARK --set-xmark 0x10/0xf0",
    "MARK --or-mark 0x8",
    "MARK --and-mark 0xfffffff0",
    "MARK --xor-mark 0x18",
    "RETURN",
    "ACCEPT",
];

fn rule(dice: &mut Dice, chain: &str, first_callable: usize) -> String {
    let hook = if chain == "INPUT" { "INPUT" } else { "FORWARD" };
    let matched = conditions(dice, hook, true);
    let reject = matched.starts_with(" -p tcp");
    let callable = CHAIN_COUNT - first_callable;
    let target = match dice.below(12) {
        0..=4 if callable > 0 => {
            let to = first_callable + dice.below(callable);
            format!("{} U{to}", dice.one(&["-j", "-j", "-j", "-g"]))
        }
        5 => "-j RETURN".to_owned(),
        6 | 7 => "-j ACCEPT".to_owned(),
        8 => "-j DROP".to_owned(),
        9 if reject => "-j REJECT --reject-with tcp-reset".to_owned(),
        9 => format!(
            "-j REJECT --reject-with {}",
            dice.one(&["icmp-port-unreachable", "icmp-admin-prohibited"])
        ),
        10 => format!(
            "-j {}",
            dice.one(&["MARK --set-xmark 0x2/0xff", "MARK --or-mark 0x10"])
        ),
        11 => "-m limit --limit 5/min -j LOG --log-prefix \"a \\\"b\\\" \"".to_owned(),
        _ => String::new(),
    };
    format!("-A {chain}{matched} {target}\n")
}

fn conditions(dice: &mut Dice, hook: &str, tracked: bool) -> String {
    let mut text = protocol(dice);
    for _ in 0..dice.below(3) {
        text += match dice.below(if tracked { 9 } else { 5 }) {
            0 => dice.one(&[
                " -m comment --comment \"say \\\"yes\\\" ! -j DROP\"",
                " -m comment --comment plain",
            ]),
            1 if !text.contains(" -s ") => {
                dice.one(&[" -s 10.0.0.0/8", " ! -s 10.1.0.185/32", " -s 192.0.2.0/24"])
            }
            2 if !text.contains(" -d ") => dice.one(&[
                " -d 192.0.2.53/32",
                " ! -d 192.0.2.0/24",
                " -d 10.1.0.0/255.255.0.0",
            ]),
            3 if hook != "POSTROUTING" && !text.contains(" -i ") => {
                dice.one(&[" -i lxc+", " -i eno1", " ! -i lxc4f39491e6165"])
            }
            4 if hook != "PREROUTING" && hook != "INPUT" && !text.contains(" -o ") => {
                dice.one(&[" -o eno1", " -o lxc+", " ! -o eno1"])
            }
            5 => dice.one(&[
                " -m conntrack --ctstate NEW",
                " -m conntrack --ctstate RELATED,ESTABLISHED",
                " -m conntrack ! --ctstate NEW,INVALID",
                " -m state --state INVALID",
                " -m conntrack --ctstate UNTRACKED",
            ]),
            6 => dice.one(&[
                " -m mark --mark 0x10/0xf0",
                " -m mark ! --mark 0x0",
                " -m mark --mark 0x2",
            ]),
            7 => dice.one(&[
                " -m addrtype --dst-type UNICAST",
                " -m addrtype ! --src-type LOCAL",
                " -m iprange --dst-range 192.0.2.50-192.0.2.60",
                " -m length --length 30:40",
                " -m pkttype --pkt-type unicast",
            ]),
            _ => "",
        };
    }
    text
}

/// A match on the protocol and its fields.
fn protocol(dice: &mut Dice) -> String {
    match dice.below(8) {
        0 | 1 => {
            format!(
                " -p udp -m udp{}",
                dice.one(&[
                    "",
                    " --dport 53",
                    " ! --dport 53",
                    " --dport 100:9000",
                    " --sport :1023"
                ])
            )
        }
        2 | 3 => {
            format!(
                " -p tcp -m tcp{}",
                dice.one(&[
                    "",
                    " --dport 443",
                    " --syn",
                    " ! --syn",
                    " --tcp-flags SYN,FIN SYN,FIN",
                    " ! --dport 8000:9000"
                ])
            )
        }
        4 => {
            format!(
                " -p icmp -m icmp --icmp-type {}",
                dice.one(&["8", "3", "any", "echo-request"])
            )
        }
        5 => dice
            .one(&[
                " -p tcp -m multiport --dports 22,443,8000:8100",
                " -p udp -m multiport ! --dports 53,123",
                " -p udp -m multiport --ports 7001",
            ])
            .to_owned(),
        6 => dice.one(&[" ! -p icmp", " ! -p tcp"]).to_owned(),
        _ => String::new(),
    }
}
