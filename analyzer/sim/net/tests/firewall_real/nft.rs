//! Generated rule sets of nft.

use std::fmt::Write;

use crate::dice::Dice;

const CHAIN_COUNT: usize = 5;

const SETS: &str = "	set hosts {
		type ipv4_addr
		flags interval
		elements = { 10.1.0.128/25, 192.0.2.50-192.0.2.60 }
	}
	set ports {
		type inet_service
		flags interval
		elements = { 22, 53, 400-500 }
	}
	set pairs {
		type ipv4_addr . inet_service
		flags interval
		elements = { 192.0.2.53 . 53, 192.0.2.0/24 . 8000-9000, 10.1.0.185 . 22 }
	}
	set names {
		type ifname
		elements = { \"eno1\", \"lo\" }
	}
	map ways {
		type inet_service : verdict
		elements = { 53 : jump u1, 443 : goto u2, 22 : drop, 8472 : accept }
	}
	map states {
		type ct_state : verdict
		elements = { invalid : drop, established : accept }
	}
";

/// An nft rule set that the kernel accepts, different for each seed.
pub(crate) fn rule_set(seed: u64) -> String {
    let mut dice = Dice::new(seed + 3);
    let family = dice.one(&["inet", "ip"]);
    let mut text = format!("table {family} gen {{\n{SETS}");
    // Chains are called before they are written, which nft allows within a table only downwards.
    for chain in (0..CHAIN_COUNT).rev() {
        let _ = writeln!(text, "\tchain u{chain} {{");
        for _ in 0..1 + dice.below(4) {
            text += &rule(&mut dice, Hook::Any, chain + 1);
        }
        text += "\t}\n";
    }
    let policy = dice.one(&["accept", "drop"]);
    base(
        &mut dice,
        &mut text,
        "forward",
        "filter",
        policy,
        Hook::Forward,
    );
    if dice.below(3) == 0 {
        let priority = dice.one(&["filter - 10", "filter + 10", "-151"]);
        base(
            &mut dice,
            &mut text,
            "forward",
            priority,
            "accept",
            Hook::Forward,
        );
    }
    if dice.below(2) == 0 {
        let priority = dice.one(&["mangle", "raw", "dstnat + 5"]);
        base(
            &mut dice,
            &mut text,
            "prerouting",
            priority,
            "accept",
            Hook::Before,
        );
    }
    base(
        &mut dice,
        &mut text,
        "input",
        "filter",
        "accept",
        Hook::Before,
    );
    if dice.below(3) == 0 {
        base(
            &mut dice,
            &mut text,
            "postrouting",
            "mangle",
            "accept",
            Hook::After,
        );
    }
    if dice.below(3) == 0 {
        text += "\tchain nat-prerouting {\n\t\ttype nat hook prerouting priority dstnat; policy accept;\n";
        for _ in 0..1 + dice.below(2) {
            let to = if family == "ip" { "" } else { "ip " };
            let rule = dice.one(&[
                "udp dport 123 counter dnat @to 192.0.2.53:53",
                "iifname \"lxc*\" tcp dport { 8080, 8081 } counter dnat @to 192.0.2.53:443",
                "udp dport 8472 counter dnat @to 10.1.0.185:9000",
                "ip daddr 192.0.2.0/24 udp dport 53 counter dnat @to 10.1.0.1:10250",
                "udp dport 123 counter redirect to :53",
                "meta l4proto udp counter dnat @to udp dport map { 123 : 192.0.2.53 . 53, 10250 : 192.0.2.53 . 9000 }",
                "ip protocol icmp counter return",
            ]);
            let _ = writeln!(text, "\t\t{}", rule.replace("@to", &format!("{to}to")));
        }
        text += "\t}\n";
    }
    if family == "ip" {
        // nft refuses what says nothing in a table of one family.
        text = text.replace("meta nfproto ipv4 ", "");
    }
    text + "}\n"
}

/// What a hook's rules may ask for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hook {
    Any,
    Forward,
    Before,
    After,
}

fn base(dice: &mut Dice, text: &mut String, hook: &str, priority: &str, policy: &str, sees: Hook) {
    let name = format!("b{}", text.len());
    let _ = write!(
        text,
        "\tchain {name} {{\n\t\ttype filter hook {hook} priority {priority}; policy {policy};\n"
    );
    // Chains behind a jump ask for what only earlier hooks know.
    let callable = if sees == Hook::After { CHAIN_COUNT } else { 0 };
    for _ in 0..3 + dice.below(6) {
        *text += &rule(dice, sees, callable);
    }
    *text += "\t}\n";
}

fn rule(dice: &mut Dice, sees: Hook, first_callable: usize) -> String {
    let mut conditions = String::new();
    for _ in 0..dice.below(4) {
        let one = condition(dice, sees);
        if sees == Hook::After && one.starts_with("fib") {
            continue;
        }
        // One match of a kind, so that nothing contradicts itself.
        let key: String = one.split(' ').take(2).collect();
        let known: String = conditions.split_whitespace().collect();
        if !known.contains(&key) && agree(&conditions, one) {
            conditions += one;
            conditions.push(' ');
        }
    }
    let callable = CHAIN_COUNT.saturating_sub(first_callable);
    let end = match dice.below(14) {
        0..=3 if callable > 0 => {
            let to = first_callable + dice.below(callable);
            format!("{} u{to}", dice.one(&["jump", "jump", "goto"]))
        }
        4 => "return".to_owned(),
        5 | 6 => "accept".to_owned(),
        7 => "drop".to_owned(),
        8 if sees == Hook::Forward => dice
            .one(&["reject", "reject with icmp host-prohibited"])
            .to_owned(),
        9 => dice
            .one(&[
                "meta mark set 0x10",
                "meta mark set meta mark | 0x8",
                "meta mark set meta mark & 0xfffffff0 ^ 0x2",
                "meta mark set meta mark and 0xf0",
            ])
            .to_owned(),
        10 => "limit rate 5/minute log prefix \"a b \" flags all".to_owned(),
        11 | 12 => {
            let map = map(dice, first_callable <= 1);
            let before = if agree(&conditions, map) {
                conditions.as_str()
            } else {
                ""
            };
            return format!("\t\t{before}{map}\n");
        }
        _ => String::new(),
    };
    format!("\t\t{conditions}counter {end}\n")
}

/// True when two matches do not ask for different protocols, which nft refuses.
fn agree(a: &str, b: &str) -> bool {
    let protocol = |text: &str| {
        let asked = ["tcp", "udp", "icmp"].map(|name| text.contains(name));
        asked.contains(&true).then_some(asked)
    };
    match (protocol(a), protocol(b)) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    }
}

fn map<'a>(dice: &mut Dice, jumps: bool) -> &'a str {
    if jumps && dice.below(2) == 0 {
        return dice.one(&["udp dport vmap @ways", "tcp dport vmap @ways"]);
    }
    dice.one(&[
        "ct state vmap @states",
        "ct state vmap { invalid : drop, established : accept, related : accept }",
        "meta l4proto vmap { icmp : accept, 132 : drop }",
        "udp dport vmap { 53 : accept, 100-200 : drop }",
        "iifname vmap { \"lxc*\" : continue, \"eno1\" : return }",
        "ip daddr . th dport vmap { 192.0.2.53 . 443 : drop, 192.0.2.0/24 . 8000-9000 : accept }",
        "numgen random mod 1 vmap { 0 : continue }",
    ])
}

fn condition<'a>(dice: &mut Dice, sees: Hook) -> &'a str {
    let all = [
        "ip saddr 10.0.0.0/8",
        "ip saddr != 10.1.0.185",
        "ip saddr @hosts",
        "ip daddr { 192.0.2.53, 10.1.0.0/25 }",
        "ip daddr != { 192.0.2.53, 10.9.0.0/16 }",
        "ip daddr @hosts",
        "ip daddr & 255.255.0.255 == 192.0.0.53",
        "udp dport 53",
        "udp dport != 53",
        "udp dport 100-9000",
        "udp sport < 1024",
        "tcp dport { 443, 8000-8100 }",
        "tcp dport != { 22, 443 }",
        "tcp dport @ports",
        "tcp flags syn / fin,syn",
        "tcp flags & (fin | syn) == fin | syn",
        "tcp flags ! fin",
        "tcp flags fin,rst",
        "th dport 53",
        "meta l4proto { tcp, udp } th dport @ports",
        "meta l4proto != icmp",
        "ip protocol udp",
        "icmp type echo-request",
        "icmp type { destination-unreachable, echo-reply }",
        "ct state new",
        "ct state established,related",
        "ct state != invalid",
        "ct state { new, untracked }",
        "ct state != { established, related }",
        "ct state != established,related",
        "ct status dnat",
        "meta mark 0x10",
        "meta mark & 0xf0 == 0x10",
        "meta mark != 0x0",
        "meta mark 0x8-0x12",
        "iifname \"lxc*\"",
        "iifname != \"eno1\"",
        "iifname { \"eno1\", \"lxc*\" }",
        "iifname @names",
        "iif \"eno1\"",
        "meta pkttype host",
        "meta pkttype { broadcast, multicast }",
        "meta length 20-35",
        "meta length > 35",
        "ip length 28",
        "ip ttl < 64",
        "fib daddr type local",
        "fib daddr type { unicast, broadcast }",
        "fib saddr type != local",
        "meta nfproto ipv4",
        "ip daddr . udp dport @pairs",
        "ip saddr . tcp dport { 10.1.0.185 . 443, 192.0.2.53 . 22 }",
        "ip daddr . meta l4proto . th dport { 192.0.2.53 . udp . 53, 192.0.2.53 . tcp . 443 }",
        "iifname . ip saddr { \"eno1\" . 192.0.2.53 }",
    ];
    if sees == Hook::Forward && dice.below(5) == 0 {
        return dice.one(&[
            "oifname \"eno1\"",
            "oifname != \"lxc*\"",
            "oifname { \"eno1\", \"lo\" }",
            "oif \"eno1\"",
        ]);
    }
    dice.one(&all)
}
