//! Tables of nft whose rules change and ask in any order, at priorities of all kinds.

use std::fmt::Write;

use crate::dice::Dice;

const SETS: &str = "	set seen {
		type ipv4_addr
		flags dynamic,timeout
	}
	set flows {
		type ipv4_addr . inet_service
		flags dynamic,timeout
	}
	set gone {
		type ipv4_addr
		elements = { 10.1.0.185, 192.0.2.53, 192.0.2.1 }
	}
	set scarce {
		type ipv4_addr
		flags dynamic
		elements = { 10.1.0.185 limit rate 1/hour burst 1 packets, 192.0.2.53 limit rate over 1/hour burst 1 packets }
	}
	set far {
		type inet_service
		flags interval
		elements = { 53, 400-500, 8472 }
	}
	map marks {
		type ipv4_addr : mark
		elements = { 10.1.0.185 : 0x00000005, 192.0.2.53 : 0x00000010 }
	}
	map ways {
		type inet_service : verdict
		elements = { 53 : jump u0, 443 : goto u1, 123 : return, 22 : accept, 8080 : drop }
	}
";

const BASES: [(&str, &[&str]); 5] = [
    (
        "prerouting",
        &["raw", "-200", "mangle", "dstnat", "filter", "50", "-301"],
    ),
    ("input", &["mangle", "filter", "security", "110"]),
    (
        "forward",
        &["raw", "-200", "mangle", "filter", "filter", "security"],
    ),
    ("output", &["raw", "mangle", "-100", "filter", "filter + 5"]),
    (
        "postrouting",
        &["mangle", "filter", "srcnat", "srcnat + 10", "200"],
    ),
];

/// A table of nft.
pub(super) fn table(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let mut text = format!("table ip gen {{\n{SETS}");
    for chain in ["u1", "u0"] {
        let _ = writeln!(text, "\tchain {chain} {{");
        for _ in 0..1 + dice.below(3) {
            let _ = writeln!(text, "\t\t{}", rule(&mut dice, "any", false));
        }
        text += "\t}\n";
    }
    for number in 0..3 + dice.below(4) {
        let (hook, priorities) = BASES[dice.below(BASES.len())];
        let priority = dice.one(priorities);
        let policy = dice.one(&["accept", "accept", "accept", "drop"]);
        let _ = writeln!(
            text,
            "\tchain b{number} {{\n\t\ttype filter hook {hook} priority {priority}; policy {policy};"
        );
        for _ in 0..2 + dice.below(4) {
            let _ = writeln!(text, "\t\t{}", rule(&mut dice, hook, true));
        }
        text += "\t}\n";
    }
    for number in 0..dice.below(4) {
        text += &translating(&mut dice, number);
    }
    text + "}\n"
}

/// A chain that translates, at a priority of its own.
fn translating(dice: &mut Dice, number: usize) -> String {
    let (hook, rules): (&str, &[&str]) = match dice.below(5) {
        0 | 1 => (
            "prerouting",
            &[
                "udp dport 123 counter dnat to 192.0.2.53:53",
                "tcp dport 8080 counter dnat to 192.0.2.53:443",
                "udp dport 53 counter redirect to :10250",
                "meta mark 0x5 udp dport 53 counter dnat to 10.1.0.1:10250",
                "udp dport 53 counter drop",
            ],
        ),
        2 => (
            "output",
            &[
                "udp dport 53 counter dnat to 192.0.2.53:123",
                "tcp dport 443 counter accept",
                "tcp dport 443 counter drop",
            ],
        ),
        3 => (
            "input",
            &[
                "udp dport 53 counter snat to 192.0.2.99",
                "udp dport 53 counter drop",
            ],
        ),
        _ => (
            "postrouting",
            &[
                "oifname \"eno1\" counter masquerade",
                "udp dport 53 counter snat to 192.0.2.77",
                "meta mark 0x5 counter masquerade",
                "udp dport 123 counter drop",
            ],
        ),
    };
    let priority = dice.one(&["-190", "-110", "-100", "-90", "0", "50", "100", "150"]);
    let policy = dice.one(&["accept", "accept", "accept", "accept", "drop"]);
    let mut text = format!(
        "\tchain n{number} {{\n\t\ttype nat hook {hook} priority {priority}; policy {policy};\n"
    );
    for _ in 0..1 + dice.below(2) {
        let _ = writeln!(text, "\t\t{}", dice.one(rules));
    }
    text + "\t}\n"
}

/// A rule whose conditions and changes stand in any order.
fn rule(dice: &mut Dice, hook: &str, calls: bool) -> String {
    let mut text = String::new();
    for _ in 0..1 + dice.below(4) {
        let one = match dice.below(5) {
            0 | 1 => change(dice),
            _ => condition(dice, hook),
        };
        let protocol = |text: &str| ["tcp", "udp", "icmp"].map(|name| text.contains(name));
        let (old, new) = (protocol(&text), protocol(one));
        let apart = old.contains(&true) && new.contains(&true) && old != new;
        let key: String = one.split(' ').take(2).collect();
        let known: String = text.split_whitespace().collect();
        if apart || known.contains(&key) {
            continue;
        }
        let _ = write!(text, "{one} ");
    }
    text += "counter";
    text += match dice.below(9) {
        0 | 1 => " accept",
        2 | 3 => " drop",
        4 => " return",
        5 if calls => " jump u0",
        6 if calls => " goto u1",
        7 if calls && !text.contains("tcp") && !text.contains("icmp") => {
            return text.replace("counter", "udp dport vmap @ways");
        }
        _ => "",
    };
    text
}

fn change<'a>(dice: &mut Dice) -> &'a str {
    dice.one(&[
        "meta mark set 0x5",
        "meta mark set meta mark | 0x10",
        "meta mark set ct mark",
        "meta mark set ct mark & 0xf",
        "meta mark set ip saddr map @marks",
        "ct mark set 0x5",
        "ct mark set meta mark",
        "ct mark set ct mark | 0x10",
        "notrack",
        "add @seen { ip saddr }",
        "update @seen { ip daddr timeout 1h }",
        "delete @gone { ip saddr }",
        "add @flows { ip saddr . udp dport }",
        "add @marks { ip daddr : 0x7 }",
        "ip ttl set 9",
        "ip dscp set ef",
        "ip daddr set 192.0.2.53",
        "udp dport set 54",
        "meta priority set 1:2",
        "ct event set new",
        "meta nftrace set 0",
        "log prefix \"odd \"",
    ])
}

fn condition<'a>(dice: &mut Dice, hook: &str) -> &'a str {
    let shared = [
        "meta mark 0x5",
        "meta mark & 0x10 == 0x10",
        "meta mark != 0x0",
        "ct mark 0x5",
        "ct mark & 0x10 != 0",
        "ct mark != 0x9",
        "ct state new",
        "ct state untracked",
        "ct state invalid",
        "ct state != invalid",
        "ct state new,established",
        "ct status dnat",
        "ct status & dnat != dnat",
        "ct status snat",
        "ct direction original",
        "ct original ip daddr 192.0.2.53",
        "meta l4proto udp ct original proto-dst 123",
        "ct reply ip saddr 192.0.2.53",
        "ip saddr @seen",
        "ip daddr @seen",
        "ip saddr != @seen",
        "ip saddr @gone",
        "ip saddr @scarce",
        "ip saddr . udp dport @flows",
        "ip saddr 10.1.0.185",
        "ip saddr 192.0.2.1",
        "ip saddr 192.0.2.77",
        "ip daddr 192.0.2.53",
        "ip daddr { 10.1.0.1, 192.0.2.1 }",
        "udp dport 53",
        "udp dport { 54, 123 }",
        "udp dport @far",
        "udp sport >= 20000",
        "tcp dport 443",
        "tcp flags syn / syn,ack",
        "tcp flags & (syn | fin) == syn | fin",
        "icmp type echo-request",
        "th dport 53",
        "@th,16,16 0x35",
        "ip ttl 9",
        "ip ttl < 64",
        "ip dscp ef",
        "meta pkttype host",
        "meta priority 1:2",
        "meta length < 35",
        "meta l4proto { tcp, udp }",
        "ip protocol != udp",
        "fib daddr . iif type local",
        "fib daddr type local",
        "fib saddr type local",
        "fib saddr . iif oif exists",
        "fib saddr . iif oif missing",
        "iifname \"lxc*\"",
        "iif eno1",
        "oifname \"eno1\"",
        "oifname != \"eno1\"",
        "numgen inc mod 1 == 0",
        "jhash ip saddr mod 1 == 0",
        "meta skuid 0",
        "rt ip nexthop 192.0.2.53",
        "ip saddr . ip daddr { 10.1.0.185 . 192.0.2.53, 192.0.2.1 . 192.0.2.53 }",
        "ct state . udp dport { new . 53, established . 7002 }",
        "limit rate 1000/second burst 1000 packets",
    ];
    let one = dice.one(&shared);
    // nft takes no question for a route back where there is none.
    let back = one.starts_with("fib saddr . iif");
    let local = one.starts_with("fib daddr . iif");
    if (back || local) && !matches!(hook, "prerouting" | "input")
        || one.starts_with("fib") && hook == "postrouting"
    {
        return "meta l4proto udp";
    }
    one
}
