//! Routes, policy rules and reverse path filtering against what the kernel answers to `ip route get ... iif`.
//!
//! `FW_ROUTE_SETS` sets the number of generated sets of routes and rules (40).

use std::fmt::Write as _;
use std::io::Write as _;

use casefile_sim_net::packet::{Direction, Interface, Packet};
use casefile_sim_net::question::CapturedText;
use casefile_sim_net::route::{Route, Routing, Source, SourceCheck};

use crate::dice::Dice;
use crate::lab::{missing, sh};

/// Links of the router; the third has no carrier, the fourth no address.
const LINKS: [&str; 4] = ["eth0", "eth1", "eth2", "lxc7"];

/// Of several next hops the kernel takes one by a hash, and rules ask for the one that it takes.
const OPEN: &str = "open: one of several next hops";

/// What is asked of the kernel and of the evaluation.
struct Question {
    from: &'static str,
    to: &'static str,
    input: &'static str,
    mark: u32,
}

/// A generated node: how it is set up, and what its settings are.
struct Setup {
    script: String,
    filters: [u8; 5],
    accept_local: bool,
    valid_mark: bool,
}

const V4: [&str; 8] = [
    "10.0.0.9",
    "10.0.1.9",
    "10.0.2.9",
    "10.9.0.9",
    "10.9.1.9",
    "10.9.1.1",
    "172.16.0.9",
    "10.0.1.1",
];
const V6: [&str; 8] = [
    "fd00:0::9",
    "fd00:1::9",
    "fd00:2::9",
    "fd09:0::9",
    "fd09:1::9",
    "fd09:1::1",
    "fd0a::9",
    "fd00:1::1",
];
const NETS_4: [&str; 5] = [
    "10.9.0.0/16",
    "10.9.1.0/24",
    "10.9.1.1/32",
    "172.16.0.0/12",
    "default",
];
const NETS_6: [&str; 5] = [
    "fd09::/16",
    "fd09:1::/32",
    "fd09:1::1/128",
    "fd0a::/16",
    "default",
];

fn setup(dice: &mut Dice, six: bool) -> Setup {
    let nets = if six { NETS_6 } else { NETS_4 };
    let ip = if six { "ip -6" } else { "ip -4" };
    let mut script = format!(
        "for t in 10 20; do {ip} route flush table $t 2>/dev/null; done; {ip} route flush proto static 2>/dev/null\n\
         for p in 100 200 300 400; do {ip} rule del pref $p 2>/dev/null; done\n"
    );
    for _ in 0..2 + dice.below(6) {
        let net = nets[dice.below(nets.len())];
        let table = dice.one(&["main", "main", "10", "20"]);
        let link = LINKS[dice.below(LINKS.len())];
        let also = LINKS[dice.below(LINKS.len())];
        let metric = 100 + dice.below(3);
        let (kind, way) = match dice.below(9) {
            0 => (
                dice.one(&["unreachable", "blackhole", "prohibit", "throw"]),
                String::new(),
            ),
            1 if !six => ("", format!("nexthop dev {link} nexthop dev {also}")),
            _ => ("", format!("dev {link}")),
        };
        // The kernel refuses a second route of the same kind; that changes nothing for the question.
        let _ = writeln!(
            script,
            "{ip} route add {kind} {net} proto static table {table} metric {metric} {way} 2>/dev/null"
        );
    }
    for (index, pref) in [100, 200, 300].iter().enumerate() {
        if dice.below(2) == 0 {
            let not = if dice.below(5) == 0 { "not" } else { "" };
            let select = match dice.below(5) {
                0 => format!("from {}", nets[index]),
                1 => format!("to {}", nets[3]),
                2 => format!("iif {}", LINKS[dice.below(LINKS.len())]),
                3 => "fwmark 0x10/0xf0".to_owned(),
                _ => "from all".to_owned(),
            };
            let action = dice.one(&[
                "lookup 10",
                "lookup 20",
                "lookup 10",
                "lookup main suppress_prefixlength 0",
                "prohibit",
            ]);
            let _ = writeln!(
                script,
                "{ip} rule add {not} {select} pref {pref} {action} 2>/dev/null"
            );
        }
    }
    let filters = [0, 1, 2, 3, 4].map(|_| u8::try_from(dice.below(3)).unwrap_or(0));
    let (accept_local, valid_mark) = (dice.below(3) == 0, dice.below(2) == 0);
    if !six {
        for (name, value) in ["all"].iter().chain(&LINKS).zip(filters) {
            let _ = writeln!(
                script,
                "echo {value} > /proc/sys/net/ipv4/conf/{name}/rp_filter"
            );
        }
        for (name, on) in [
            ("accept_local", accept_local),
            ("src_valid_mark", valid_mark),
        ] {
            let _ = writeln!(
                script,
                "echo {} > /proc/sys/net/ipv4/conf/all/{name}",
                u8::from(on)
            );
        }
    }
    script.push_str("true\n");
    Setup {
        script,
        filters,
        accept_local,
        valid_mark,
    }
}

fn questions(dice: &mut Dice, six: bool) -> Vec<Question> {
    let addresses = if six { V6 } else { V4 };
    let one = |dice: &mut Dice| addresses[dice.below(addresses.len())];
    let all = (0..14).map(|_| Question {
        from: one(dice),
        to: one(dice),
        input: LINKS[dice.below(LINKS.len())],
        mark: [0, 0x10, 0x25][dice.below(3)],
    });
    all.collect()
}

/// What the kernel says: the device that the packet leaves by, `lo` for the host itself, or the complaint.
fn kernel(tag: &str, questions: &[Question], six: bool) -> Vec<Result<String, String>> {
    let mut script = String::new();
    for Question {
        from,
        to,
        input,
        mark,
    } in questions
    {
        let family = if six { "-6" } else { "-4" };
        let _ = writeln!(
            script,
            "ip {family} route get to {to} from {from} iif {input} mark {mark} 2>&1; echo ----"
        );
    }
    let output = sh(&format!("ip netns exec {tag}r sh -c '{script}'")).1;
    let answers = output.split("----\n").take(questions.len()).map(|text| {
        let mut words = text.split_ascii_whitespace();
        if text.contains("RTNETLINK")
            || text.contains("Error:")
            || text.starts_with("unreachable")
            || text.starts_with("prohibit")
            || text.starts_with("blackhole")
        {
            return Err(text.trim().to_owned());
        }
        let local = text.starts_with("local");
        let device = words
            .by_ref()
            .skip_while(|word| *word != "dev")
            .nth(1)
            .unwrap_or("");
        Ok(if local { "lo" } else { device }.to_owned())
    });
    answers.collect()
}

fn evaluated(routing: &Routing, setup: &Setup, question: &Question) -> Result<Vec<String>, String> {
    let read = |text: &str| text.parse().expect("address");
    let mut packet = Packet::new(Direction::Forward, read(question.from), read(question.to));
    packet.in_iface = Some(Interface::Name(question.input.to_owned()));
    packet.mark = Some(question.mark);
    let ways = match routing.decide(&packet) {
        Route::Local => vec!["lo".to_owned()],
        Route::Via { device, also, .. } => std::iter::once(device).chain(also).collect(),
        Route::Refused { what, .. } => return Err(what),
        Route::Unknown => return Err("unknown".to_owned()),
    };
    let at = LINKS
        .iter()
        .position(|link| *link == question.input)
        .expect("a link");
    let check = SourceCheck {
        filter: setup.filters[0].max(setup.filters[at + 1]),
        accept_local: setup.accept_local,
        src_valid_mark: setup.valid_mark,
        has_address: Some(question.input != "lxc7"),
    };
    match routing.source(&packet, check) {
        Source::Taken => Ok(ways),
        Source::Refused { why, .. } => Err(why),
        Source::Unknown if ways.len() > 1 => Err(OPEN.to_owned()),
        Source::Unknown => Err("unknown".to_owned()),
    }
}

#[test]
fn routes_and_reverse_paths_equal_those_of_the_kernel() {
    let mut out = std::io::stderr();
    if let Some(why) = missing() {
        let _ = writeln!(out, "skipped: {why}");
        return;
    }
    let tag = format!("rt-{}", std::process::id());
    let lab = Namespaces::new(&tag);
    let sets = std::env::var("FW_ROUTE_SETS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(40u64);
    let (mut asked, mut refused, mut open, mut differences) = (0, 0, 0, Vec::new());
    for seed in 0..sets {
        for six in [false, true] {
            let mut dice = Dice::new(seed + 900);
            let setup = setup(&mut dice, six);
            let path = lab.scratch.path().join("setup.sh");
            std::fs::write(&path, &setup.script).expect("script");
            assert!(sh(&format!("ip netns exec {tag}r sh {}", path.display())).0);
            let routing = captured(&tag, six, seed % 2 == 0);
            let questions = questions(&mut dice, six);
            for (question, real) in questions.iter().zip(kernel(&tag, &questions, six)) {
                let ours = evaluated(&routing, &setup, question);
                asked += 1;
                refused += usize::from(real.is_err());
                let equal = match (&ours, &real) {
                    (Ok(ways), Ok(device)) => ways.contains(device),
                    (Err(why), _) if why == OPEN => {
                        open += 1;
                        true
                    }
                    (Err(why), Err(_)) => why != "unknown",
                    _ => false,
                };
                if !equal {
                    let Question {
                        from,
                        to,
                        input,
                        mark,
                    } = question;
                    differences.push(format!("seed {seed}: {from} to {to} in on {input} mark {mark}: {ours:?}, the kernel {real:?}, filters {:?}\n{}", setup.filters, setup.script));
                }
            }
        }
    }
    let _ = writeln!(
        out,
        "{sets} sets of routes and rules for IPv4 and IPv6, {asked} packets, {} equal, {open} left open because the kernel takes one of several next hops by a hash; {refused} are refused",
        asked - open - differences.len()
    );
    assert!(
        differences.is_empty(),
        "{} differ, the first:\n{}",
        differences.len(),
        differences[0]
    );
    assert!(
        refused * 10 > asked && refused < asked,
        "the packets test both answers"
    );
}

/// What a collector would have taken.
fn captured(tag: &str, six: bool, json: bool) -> Routing {
    let (family, form) = (if six { "-6" } else { "-4" }, if json { "-j" } else { "" });
    let take = |what: &str| sh(&format!("ip -n {tag}r {family} {form} {what}")).1;
    let (routes, rules) = (take("route show table all"), take("rule"));
    let mut routing = Routing::default();
    routing.read_routes(CapturedText {
        path: "ip-route",
        text: &routes,
    });
    routing.read_rules(CapturedText {
        path: "ip-rule",
        text: &rules,
    });
    routing
}

struct Namespaces {
    tag: String,
    scratch: tempfile::TempDir,
}

impl Namespaces {
    fn new(tag: &str) -> Namespaces {
        let mut script = format!(
            "set -e\nip netns add {tag}r; ip netns add {tag}p; ip -n {tag}r link set lo up\n"
        );
        for (at, link) in LINKS.iter().enumerate() {
            let _ = writeln!(
                script,
                "ip -n {tag}r link add {link} type veth peer name p{at} netns {tag}p"
            );
            if *link != "lxc7" {
                let _ = writeln!(
                    script,
                    "ip -n {tag}r addr add 10.0.{at}.1/24 dev {link}; ip -n {tag}r addr add fd00:{at}::1/32 dev {link} nodad"
                );
            }
            let _ = writeln!(script, "ip -n {tag}r link set {link} up");
            if *link != "eth2" {
                let _ = writeln!(script, "ip -n {tag}p link set p{at} up");
            }
        }
        let _ = writeln!(
            script,
            "ip netns exec {tag}r sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1"
        );
        let scratch = tempfile::tempdir().expect("scratch folder");
        let lab = Namespaces {
            tag: tag.to_owned(),
            scratch,
        };
        assert!(sh(&script).0, "the namespaces could not be set up");
        lab
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in ["r", "p"] {
            sh(&format!("ip netns del {}{name}", self.tag));
        }
    }
}
