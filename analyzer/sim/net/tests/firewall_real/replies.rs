//! Answers of translated connections against what reaches a client: a client, a node with real rules, and a backend
//! that answers, each in a namespace of its own.
//!
//! `FW_REPLY_SETS` sets the number of generated sets (40), `FW_SEED` the first seed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use casefile_sim_net::packet::{CtState, Direction, Interface, Packet, Protocol, tcp_flag};
use casefile_sim_net::question::{CapturedText, Captures, Firewall};
use casefile_sim_net::reply::{Host, Outcome, Reply, reply};
use casefile_sim_net::route::{Route, Routing, SourceCheck};

use crate::compare::{captures, moved_places};
use crate::dice::Dice;
use crate::lab::{Texts, missing, sh};
use crate::reply_rules::{Set, generate};

const CLIENT: &str = "10.1.0.185";
/// What the client asks: name, protocol, address and port.
const SHOTS: &[(&str, &str, &str, u16)] = &[
    ("a service over TCP", "tcp", "10.96.0.1", 80),
    ("a service over UDP", "udp", "10.96.0.1", 53),
    ("the backend itself", "tcp", "192.0.2.53", 9000),
    ("a service that is the client", "tcp", "10.96.0.2", 80),
    ("a port of the node", "tcp", "10.1.0.1", 30080),
    ("the node itself", "udp", "10.1.0.1", 9000),
    ("a service on the node", "tcp", "10.96.0.3", 80),
];

struct Lab {
    tag: String,
    scratch: tempfile::TempDir,
    wire: Child,
    to_wire: ChildStdin,
    from_wire: BufReader<ChildStdout>,
}

impl Lab {
    fn new() -> Lab {
        let tag = format!("rp-{}", std::process::id());
        let script = format!(
            "set -e
            for n in c n b; do ip netns add {tag}$n; ip -n {tag}$n link set lo up; done
            for n in c n b; do ip netns exec {tag}$n sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0 net.ipv4.tcp_synack_retries=0 net.ipv4.tcp_syncookies=0 net.ipv4.tcp_max_syn_backlog=8000 net.core.somaxconn=8000; done
            link() {{ ip -n {tag}$1 link add $2 type veth peer name $4 netns {tag}$3; ip -n {tag}$1 link set $2 up; ip -n {tag}$3 link set $4 up; }}
            link c eth0 n lxc1; link n eno1 b eth0; link n eno2 b eth1; link c eth1 b eth2; link c wire0 c wire1
            ip -n {tag}c addr add {CLIENT}/24 dev eth0; ip -n {tag}n addr add 10.1.0.1/24 dev lxc1
            ip -n {tag}n addr add 192.0.2.1/24 dev eno1; ip -n {tag}b addr add 192.0.2.53/24 dev eth0
            ip -n {tag}n addr add 198.51.100.1/24 dev eno2; ip -n {tag}b addr add 198.51.100.53/24 dev eth1
            ip -n {tag}c addr add 203.0.113.1/24 dev eth1; ip -n {tag}b addr add 203.0.113.53/24 dev eth2
            ip -n {tag}c route add default via 10.1.0.1
            ip netns exec {tag}n sysctl -qw net.ipv4.ip_forward=1
            ip netns exec {tag}c iptables -A INPUT -p udp --dport 9000 -j ACCEPT
            ip netns exec {tag}c iptables -A INPUT -p tcp --dport 9000 -j ACCEPT
            ip netns exec {tag}c iptables -A INPUT -p icmp --icmp-type echo-reply -j ACCEPT
            ip netns exec {tag}c iptables -A INPUT -j DROP
            ip netns exec {tag}c ping -c1 -W1 10.1.0.1 >/dev/null || true
            ip netns exec {tag}b ping -c1 -W1 192.0.2.1 >/dev/null || true
            ip netns exec {tag}b ping -c1 -W1 198.51.100.1 >/dev/null || true
            ip netns exec {tag}c ping -c1 -W1 203.0.113.53 >/dev/null || true"
        );
        assert!(sh(&script).0, "the namespaces could not be set up");
        let wire = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/firewall_real/reply_wire.py");
        let mut wire = Command::new("python3")
            .arg(wire)
            .args(["c", "n", "b"].map(|name| format!("{tag}{name}")))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 starts");
        let to_wire = wire.stdin.take().expect("stdin");
        let from_wire = BufReader::new(wire.stdout.take().expect("stdout"));
        let mut lab = Lab {
            tag,
            scratch: tempfile::tempdir().expect("scratch folder"),
            wire,
            to_wire,
            from_wire,
        };
        assert_eq!(lab.line(), "ready");
        lab
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.from_wire
            .read_line(&mut line)
            .expect("the wire answers");
        line.trim().to_owned()
    }

    fn run(&self, name: &str, script: &str) -> (bool, String) {
        let path = self.scratch.path().join("script.sh");
        std::fs::write(&path, script).expect("script");
        sh(&format!(
            "ip netns exec {}{name} sh {} 2>&1",
            self.tag,
            path.display()
        ))
    }

    /// The answers that reach the client, as `ADDRESS:PORT`.
    fn ask(&mut self, proto: &str, sport: u16, dst: &str, dport: u16) -> String {
        writeln!(self.to_wire, "{proto} {CLIENT} {sport} {dst} {dport}").expect("the wire listens");
        self.line()
    }

    fn load(&self, set: &Set) -> Result<(), String> {
        let mut node = String::from(
            "nft flush ruleset\nfor p in 100; do ip rule del pref $p 2>/dev/null; done\n",
        );
        for (name, value) in ["all", "lxc1", "eno1", "eno2"].iter().zip(set.filters) {
            let _ = writeln!(
                node,
                "echo {value} > /proc/sys/net/ipv4/conf/{name}/rp_filter"
            );
        }
        let command = if set.nft {
            "nft -f -"
        } else {
            "iptables-restore"
        };
        let _ = writeln!(node, "{command} <<'END' || exit 1\n{}END", set.node);
        let routes = format!(
            "for r in 10.1.0.0/24 10.1.0.185 192.0.2.1; do ip route del $r 2>/dev/null; ip route del unreachable $r 2>/dev/null; done\n{}\n\
             nft flush ruleset\niptables-restore <<'END' || exit 1\n{}END\n",
            set.routes, set.backend
        );
        for (name, script) in [("n", node), ("b", routes)] {
            let (done, why) = self.run(name, &script);
            if !done {
                return Err(format!("{why}\n{script}"));
            }
        }
        Ok(())
    }

    fn take(&self, name: &str, nft: bool) -> (Texts, Routing) {
        let rules = if nft {
            "nft list ruleset"
        } else {
            "iptables-save -c"
        };
        let rules = self.run(name, rules).1;
        let mut routing = Routing::default();
        let routes = self.run(name, "ip -4 route show table all").1;
        routing.read_routes(CapturedText {
            path: "ip-route",
            text: &routes,
        });
        let policy = self.run(name, "ip -4 rule").1;
        routing.read_rules(CapturedText {
            path: "ip-rule",
            text: &policy,
        });
        let mut texts = Texts::default();
        *(if nft {
            &mut texts.nft
        } else {
            &mut texts.iptables
        }) = rules;
        (texts, routing)
    }

    fn routes(&self, name: &str) -> String {
        self.run(name, "ip -4 route show table all").1
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = self.wire.kill();
        let _ = self.wire.wait();
        for name in ["c", "n", "b"] {
            sh(&format!("ip netns del {}{name}", self.tag));
        }
    }
}

fn asked(proto: &str, sport: u16, dst: &str, dport: u16, routing: &Routing) -> Packet {
    let mut packet = Packet::new(
        Direction::Forward,
        CLIENT.parse().expect("address"),
        dst.parse().expect("address"),
    );
    packet.in_iface = Some(Interface::Name("lxc1".to_owned()));
    packet.proto = Some(if proto == "tcp" {
        Protocol::TCP
    } else {
        Protocol::UDP
    });
    packet.tcp_flags = (proto == "tcp").then_some(tcp_flag::SYN);
    (packet.sport, packet.dport) = (Some(sport), Some(dport));
    packet.mark = Some(0);
    packet.ttl = Some(64);
    packet.fragment = Some(false);
    packet.ct_states = [CtState::New].into();
    match routing.decide(&packet) {
        Route::Local => packet.direction = Direction::Input,
        Route::Via { device, .. } => packet.out_iface = Some(Interface::Name(device)),
        _ => {}
    }
    packet
}

/// The look at sources by the settings of a set.
fn checks(filters: [u8; 4]) -> BTreeMap<String, SourceCheck> {
    let one = |filter: u8| SourceCheck {
        filter: filter.max(filters[0]),
        accept_local: false,
        src_valid_mark: false,
        has_address: Some(true),
    };
    ["lxc1", "eno1", "eno2"]
        .iter()
        .zip(&filters[1..])
        .map(|(name, filter)| ((*name).to_owned(), one(*filter)))
        .collect()
}

fn host<'a>(name: &'a str, firewall: &'a Firewall, routing: &'a Routing) -> Host<'a> {
    Host {
        name,
        firewall,
        routing,
        checks: BTreeMap::new(),
        bridges: BTreeSet::new(),
        bridged_pass_rules: None,
        forwards: Some(true),
        pods: Vec::new(),
        cluster_pods: Vec::new(),
    }
}

/// What the client would see by our account; `Err` where it is left open.
fn expected(reply: &Reply, dst: &str, dport: u16) -> Result<String, String> {
    match &reply.outcome {
        Outcome::Arrives => Ok(format!("{dst}:{dport}")),
        Outcome::Foreign { from, .. } => Ok(format!("{from}:9000")),
        Outcome::Dropped | Outcome::Rejected | Outcome::Lost { .. } => Ok("none".to_owned()),
        Outcome::Open { why } => Err(why.clone()),
    }
}

#[derive(Default)]
struct Score {
    sets: usize,
    asked: usize,
    equal: usize,
    open: BTreeMap<String, usize>,
    outcomes: BTreeMap<String, usize>,
    differences: Vec<String>,
}

#[test]
fn answers_reach_the_client_as_the_kernel_lets_them() {
    let mut out = std::io::stderr();
    if let Some(why) = missing() {
        let _ = writeln!(out, "skipped: {why}");
        return;
    }
    let number = |name: &str, default: u64| {
        let set = std::env::var(name).ok().and_then(|text| text.parse().ok());
        set.unwrap_or(default)
    };
    let first = number("FW_SEED", 1);
    let mut lab = Lab::new();
    let mut score = Score::default();
    for seed in first..first + number("FW_REPLY_SETS", 40) {
        let set = generate(&mut Dice::new(seed + 3_000), seed % 3 == 2);
        if let Err(why) = lab.load(&set) {
            panic!("seed {seed}: the kernel refuses: {why}");
        }
        score.sets += 1;
        check(&mut lab, seed, &set, &mut score);
    }
    let _ = writeln!(
        out,
        "{} sets, {} questions, {} answers as the kernel's, {} left open; outcomes: {:?}; open: {:?}",
        score.sets,
        score.asked,
        score.equal,
        score.open.values().sum::<usize>(),
        score.outcomes,
        score.open
    );
    assert!(
        score.differences.is_empty(),
        "{} differ, the first:\n{}",
        score.differences.len(),
        score.differences[..score.differences.len().min(3)].join("\n\n")
    );
    assert!(
        score.outcomes.len() >= 4,
        "the sets test every outcome: {:?}",
        score.outcomes
    );
}

fn check(lab: &mut Lab, seed: u64, set: &Set, score: &mut Score) {
    let (backend_texts, backend_routing) = lab.take("b", false);
    let backend = Firewall::from_captures(&captures(&backend_texts, ""));
    let far = host("backend", &backend, &backend_routing);
    let (mut before, routing) = lab.take("n", set.nft);
    let routes = lab.routes("n");
    for (nth, (name, proto, dst, dport)) in (0u16..).zip(SHOTS) {
        let sport = 20_000 + u16::try_from(seed % 4_000).unwrap_or(0) * 10 + nth;
        let seen = lab.ask(proto, sport, dst, *dport);
        let (after, _) = lab.take("n", set.nft);
        let texts: Captures<'_> = captures(&before, &routes);
        let firewall = Firewall::from_captures(&texts);
        let here = Host {
            checks: checks(set.filters),
            pods: vec![CLIENT.parse().expect("address")],
            ..host("node", &firewall, &routing)
        };
        let packet = asked(proto, sport, dst, *dport, &routing);
        let answer = firewall.evaluate(&packet);
        let leaves = answer.evaluation.leaves.as_ref();
        let beyond = leaves.is_some_and(|one| one.dst.to_string() == "192.0.2.53");
        let found = reply(&packet, &answer, &here, beyond.then_some(&far));
        score.asked += 1;
        let kind = format!("{:?}", found.outcome);
        let kind = kind.split([' ', '{']).next().unwrap_or("").to_owned();
        *score.outcomes.entry(kind).or_default() += 1;
        let result = match expected(&found, dst, *dport) {
            Err(why) => {
                *score.open.entry(why).or_default() += 1;
                Ok(())
            }
            Ok(ours) if ours != seen => Err(format!("ours {ours}, the kernel {seen}")),
            Ok(_) => {
                let walks = [Some(&answer.evaluation), found.evaluation.as_ref()];
                let ours = found.node == "node";
                moved_places(&walks[..if ours { 2 } else { 1 }], &before, &after)
            }
        };
        match result {
            Ok(()) if matches!(found.outcome, Outcome::Open { .. }) => {}
            Ok(()) => score.equal += 1,
            Err(why) => score.differences.push(format!(
                "seed {seed}, {name}: {why}\n{found:?}\n{:?}\nfilters {:?}, routes {}\n{}\n{}",
                answer.evaluation.verdict, set.filters, set.routes, set.node, set.backend
            )),
        }
        before = after;
    }
}
