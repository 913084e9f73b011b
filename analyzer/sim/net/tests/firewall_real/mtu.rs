//! Sizes along a path against real packets: datagrams that must not be fragmented, and a TCP transfer.
//!
//! `FW_MTU_SETS` sets the number of generated rows of hosts (25), `FW_MTU_SEED` the first.

use std::collections::BTreeMap;
use std::io::Write as _;

use casefile_sim_net::link::{Link, links};
use casefile_sim_net::mtu::{Beyond, Fate, Hears, Host, Way, hears, tcp, walk};
use casefile_sim_net::packet::{Direction, Packet, Protocol, tcp_flag};
use casefile_sim_net::question::{CapturedText, Captures, Firewall};
use casefile_sim_net::route::Routing;

use crate::dice::Dice;
use crate::lab::missing;
use crate::mtu_lab::{Row, Setup, Taken, setup};

const POD: [u8; 4] = [10, 1, 0, 2];
const OTHER: [u8; 4] = [10, 2, 0, 2];

/// A host as read from what was taken.
struct Read {
    links: Vec<Link>,
    routing: Routing,
    firewall: Firewall,
}

fn captured<'a>(path: &'a str, text: &'a str) -> CapturedText<'a> {
    CapturedText { path, text }
}

/// Rules as far as there are any.
fn rules<'a>(path: &'a str, text: &'a str) -> Option<CapturedText<'a>> {
    (!text.trim().is_empty()).then_some(captured(path, text))
}

/// What a host without rules of iptables would show if it had once had some.
const NONE: &str = "*filter\n:INPUT ACCEPT\n:FORWARD ACCEPT\n:OUTPUT ACCEPT\nCOMMIT\n";

fn read(taken: &Taken) -> Read {
    let mut routing = Routing::default();
    routing.read_routes(captured("ip-route", &taken.routes));
    routing.read_rules(captured("ip-rule", &taken.rules));
    // What iptables shows stands in nft's list, too; a host without rules shows that by an empty list.
    let captures = Captures {
        iptables: rules("iptables-save", &taken.iptables).or(Some(captured("iptables-save", NONE))),
        nft: rules("nft", &taken.nft),
        routes: [Some(captured("ip-route", &taken.routes)), None],
        ..Captures::default()
    };
    Read {
        links: links(captured("ip-addr", &taken.links)),
        firewall: Firewall::from_captures(&captures),
        routing,
    }
}

fn packet(from: [u8; 4], to: [u8; 4]) -> Packet {
    let mut packet = Packet::new(Direction::Output, from.into(), to.into());
    packet.proto = Some(Protocol::TCP);
    (packet.sport, packet.dport) = (Some(40_000), Some(9));
    packet.tcp_flags = Some(tcp_flag::SYN);
    packet.mark = Some(0);
    packet.fragment = Some(false);
    packet
}

/// What the walk says of a datagram, in the words of the program that sends.
fn expected(hosts: &[Host<'_>], way: &Way, size: u64) -> String {
    let at = match way.fate(size) {
        Fate::Passes { .. } => return "arrived".to_owned(),
        Fate::Stopped(at) => at,
    };
    let step = &way.steps[at];
    match step.beyond {
        Beyond::Sender { mtu } => format!("sender {mtu}"),
        Beyond::Told { mtu } => match hears(hosts, step.host, POD.into()) {
            Hears::Yes => format!("told {mtu} {}", step.host),
            Hears::No { .. } => "lost".to_owned(),
            Hears::Open { why } => format!("open: {why}"),
        },
        Beyond::Lost | Beyond::Fragmented => "lost".to_owned(),
    }
}

/// The sizes to send: around each that stands on the way, and some by chance.
fn sizes(dice: &mut Dice, way: &Way) -> Vec<u64> {
    let limits = way.steps.iter().filter_map(|step| step.largest);
    let mut sizes: Vec<u64> = limits.flat_map(|size| [size, size + 1]).collect();
    sizes.extend([600, 1501]);
    sizes.extend((0..2).map(|_| 1200 + dice.below(400) as u64));
    sizes.sort_unstable();
    sizes.dedup();
    sizes.retain(|size| (100..9000).contains(size));
    sizes
}

#[derive(Default)]
struct Score {
    sent: usize,
    equal: usize,
    open: usize,
    transfers: usize,
    transfers_equal: usize,
    outcomes: BTreeMap<String, usize>,
    differences: Vec<String>,
}

#[test]
fn sizes_along_a_path_equal_those_of_the_kernel() {
    let mut out = std::io::stderr();
    if let Some(why) = missing() {
        let _ = writeln!(out, "skipped: {why}");
        return;
    }
    let number = |name: &str, usual: u64| {
        let set = std::env::var(name).ok().and_then(|text| text.parse().ok());
        set.unwrap_or(usual)
    };
    let (first, sets) = (number("FW_MTU_SEED", 1), number("FW_MTU_SETS", 25));
    let mut score = Score::default();
    let mut about: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in first..first + sets {
        let mut dice = Dice::new(seed + 7_000);
        let setup = setup(&mut dice, &format!("mt{}-", std::process::id()));
        for what in &setup.about {
            *about.entry(what).or_default() += 1;
        }
        let mut row = Row::new(&setup).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        check(&mut row, &setup, seed, &mut dice, &mut score);
    }
    let _ = writeln!(
        out,
        "{sets} rows of hosts ({about:?}), {} datagrams, {} equal, {} left open ({:?}); {} transfers, {} equal",
        score.sent, score.equal, score.open, score.outcomes, score.transfers, score.transfers_equal
    );
    assert!(
        score.differences.is_empty(),
        "{} differ, the first:\n{}",
        score.differences.len(),
        score.differences[..score.differences.len().min(4)].join("\n\n")
    );
}

fn check(row: &mut Row, setup: &Setup, seed: u64, dice: &mut Dice, score: &mut Score) {
    let taken = row.take(seed.is_multiple_of(2));
    let reads: Vec<Read> = taken.iter().map(read).collect();
    let hosts: Vec<Host<'_>> = reads
        .iter()
        .zip(&setup.names)
        .map(|(read, name)| Host {
            name,
            links: &read.links,
            routing: &read.routing,
            firewall: Some(&read.firewall),
            ends: &[],
        })
        .collect();
    let last = hosts.len() - 1;
    let (way, back) = (
        walk(&hosts, 0, &packet(POD, OTHER)),
        walk(&hosts, last, &packet(OTHER, POD)),
    );
    let steps: Vec<String> = way.steps.iter().map(ToString::to_string).collect();
    let tell = |what: String| {
        format!(
            "seed {seed} ({:?}): {what}\nopen {:?}, reached {:?}\n{}",
            setup.about,
            way.open,
            way.reached,
            steps.join("\n")
        )
    };
    for size in sizes(dice, &way) {
        let ours = expected(&hosts, &way, size);
        let mut real = row.ask(&format!("udp {size}"));
        if let Some(address) = real
            .strip_prefix("told ")
            .and_then(|rest| rest.split(' ').nth(1))
        {
            let holder = hosts.iter().position(|host| {
                let mut all = host.links.iter().flat_map(|link| &link.addresses);
                all.any(|own| own.to_string() == address)
            });
            let mtu = real.split(' ').nth(1).unwrap_or_default();
            real = format!(
                "told {mtu} {}",
                holder.map_or_else(String::new, |at| at.to_string())
            );
        }
        score.sent += 1;
        let kind = real.split(' ').next().unwrap_or_default().to_owned();
        *score.outcomes.entry(kind).or_default() += 1;
        if ours.starts_with("open: ") {
            // nft's names of codes are not read by the rules' evaluation.
            score.open += 1;
        } else if ours == real {
            score.equal += 1;
        } else {
            score
                .differences
                .push(tell(format!("{size} bytes: {ours}, really {real}")));
        }
    }
    let ours = tcp(&hosts, (&way, &back), POD.into(), None);
    let real = row.ask("tcp");
    score.transfers += 1;
    *score.outcomes.entry(format!("tcp {real}")).or_default() += 1;
    let said = match ours.passes {
        Some(true) => "passed",
        Some(false) => "stalled",
        None => "open",
    };
    if said == real {
        score.transfers_equal += 1;
    } else {
        score
            .differences
            .push(tell(format!("tcp: {ours:?}, really {real}")));
    }
}
