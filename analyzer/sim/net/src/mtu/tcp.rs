//! What TCP makes of a path: the size that the two ends agree on, rules that make it smaller on the way (`TCPMSS`,
//! nft's `maxseg`), and what follows where that is still too large.

use std::net::IpAddr;

use super::{Beyond, Fate, Hears, Host, Passed, Way, hears};
use crate::iptables::Origin;
use crate::packet::{CtState, Direction, Packet, tcp_flag};

/// Sizes that a sender learns before this gives up; each is smaller than the one before.
const MAX_LESSONS: usize = 16;
/// The smallest size that Linux believes an answer (`net.ipv4.route.min_pmtu`).
const MIN_LEARNT: u64 = 552;

/// A rule that makes the announced segment smaller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clamp {
    /// The host, as an index.
    pub host: usize,
    /// The segment that it allows, in bytes.
    pub mss: u64,
    /// The rule as written.
    pub text: String,
    /// Where it stands.
    pub origin: Origin,
}

/// A TCP transfer over a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tcp {
    /// The packet that the sender starts with when it has much to send, in bytes.
    pub starts_with: u64,
    /// The rule that made it as small, if one did.
    pub clamp: Option<Clamp>,
    /// Sizes that the sender is told on the way, in order.
    pub learns: Vec<u64>,
    /// Whether data gets through, as far as the way was followed; none where the captures do not tell.
    pub passes: Option<bool>,
    /// Why not, or what is open, as a sentence fragment.
    pub why: String,
    /// The step that stops it, of those of the way.
    pub stopped_at: Option<usize>,
    /// What drops the answer that the sender would need, where a rule does.
    pub deaf: Option<Origin>,
}

/// Bytes of the headers of IP and TCP without options.
fn headers(address: IpAddr) -> u64 {
    if address.is_ipv4() { 40 } else { 60 }
}

/// A transfer of data from an address over a way: the answers take the other one. `offered` are the largest packets that the two ends
/// would send and announce, where they are not among the hosts.
pub fn tcp(
    hosts: &[Host<'_>],
    (way, back): (&Way, &Way),
    from: IpAddr,
    offered: Option<(u64, u64)>,
) -> Tcp {
    let own = |way: &Way| way.passed.first().and_then(|passed| passed.mtu);
    let (sends, announces) = match offered {
        Some((sends, takes)) => (Some(sends), Some(takes.saturating_sub(headers(from)))),
        None => (own(way), announced(hosts, back, headers(from))),
    };
    let mut tcp = Tcp {
        starts_with: 0,
        clamp: None,
        learns: Vec::new(),
        passes: None,
        why: "the sizes of the two ends were not collected".to_owned(),
        stopped_at: None,
        deaf: None,
    };
    let (Some(sends), Some(announces)) = (sends, announces) else {
        return tcp;
    };
    let clamp = clamps(hosts, back)
        .into_iter()
        .min_by_key(|clamp| clamp.mss);
    tcp.clamp = clamp.filter(|clamp| clamp.mss < announces);
    let mss = tcp.clamp.as_ref().map_or(announces, |clamp| clamp.mss);
    tcp.starts_with = sends.min(mss.saturating_add(headers(from)));
    try_sizes(hosts, way, from, &mut tcp);
    tcp
}

/// The segment that the receiver announces: that of its route, or what fits its own size.
fn announced(hosts: &[Host<'_>], back: &Way, headers: u64) -> Option<u64> {
    let first = back.passed.first()?;
    let route = hosts.get(first.host)?.routing.entry(&first.packet);
    let fits = first.mtu?.saturating_sub(headers);
    Some(route.and_then(|route| route.advmss).unwrap_or(fits))
}

/// Sends until a size passes, one is swallowed, or no answer comes.
fn try_sizes(hosts: &[Host<'_>], way: &Way, from: IpAddr, tcp: &mut Tcp) {
    let mut size = tcp.starts_with;
    for _ in 0..MAX_LESSONS {
        let at = match way.fate(size) {
            Fate::Passes { .. } => {
                tcp.passes = Some(true);
                tcp.why.clear();
                return;
            }
            Fate::Stopped(at) => at,
        };
        let step = &way.steps[at];
        tcp.stopped_at = Some(at);
        let mtu = match step.beyond {
            Beyond::Told { mtu } => mtu.max(MIN_LEARNT),
            Beyond::Sender { mtu } => mtu,
            Beyond::Lost | Beyond::Fragmented => {
                (tcp.passes, tcp.why) = (Some(false), format!("{step}"));
                return;
            }
        };
        match hears(hosts, step.host, from) {
            Hears::Yes if mtu < size => tcp.learns.push(mtu),
            Hears::Yes => {
                (tcp.passes, tcp.why) = (Some(false), format!("{step}, which is no less"));
                return;
            }
            Hears::No { why, origin } => {
                (tcp.passes, tcp.why, tcp.deaf) =
                    (Some(false), format!("the answer is {why}"), origin);
                return;
            }
            Hears::Open { why } => {
                (tcp.passes, tcp.why) = (None, why);
                return;
            }
        }
        size = mtu;
    }
    tcp.why = "too many sizes".to_owned();
}

/// The rules that make what the receiver announces smaller, on the way of its answer to the sender.
fn clamps(hosts: &[Host<'_>], back: &Way) -> Vec<Clamp> {
    back.passed
        .iter()
        .flat_map(|passed| of_host(hosts, passed))
        .collect()
}

fn of_host(hosts: &[Host<'_>], passed: &Passed) -> Vec<Clamp> {
    let host = &hosts[passed.host];
    let mut packet = passed.packet.clone();
    packet.tcp_flags = Some(tcp_flag::SYN | tcp_flag::ACK);
    packet.ct_states = [CtState::Established].into();
    let Some(firewall) = host.firewall else {
        return Vec::new();
    };
    let evaluation = firewall.evaluate(&packet).evaluation;
    let of_path = smaller_way(host, passed).map(|mtu| mtu.saturating_sub(headers(packet.dst)));
    let clamps = evaluation.walk.iter().filter_map(|step| {
        let mss = match allowed(&step.text)? {
            Allowed::Fixed(mss) => mss,
            Allowed::OfPath => of_path?,
        };
        Some(Clamp {
            host: passed.host,
            mss,
            text: step.text.clone(),
            origin: step.origin.clone(),
        })
    });
    clamps.collect()
}

enum Allowed {
    Fixed(u64),
    OfPath,
}

/// The segment that a rule sets, as iptables or nft writes it.
fn allowed(rule: &str) -> Option<Allowed> {
    let words: Vec<&str> = rule.split_ascii_whitespace().collect();
    if words.contains(&"TCPMSS") {
        if words.contains(&"--clamp-mss-to-pmtu") {
            return Some(Allowed::OfPath);
        }
        let at = words.iter().position(|word| *word == "--set-mss")?;
        return Some(Allowed::Fixed(words.get(at + 1)?.parse().ok()?));
    }
    let at = words
        .windows(3)
        .position(|three| three == ["maxseg", "size", "set"])?;
    match words.get(at + 3..)? {
        ["rt", "mtu", ..] => Some(Allowed::OfPath),
        [size, ..] => size.parse().ok().map(Allowed::Fixed),
        [] => None,
    }
}

/// The smaller of the sizes by which a host routes to both ends, which a clamp to the path goes by.
fn smaller_way(host: &Host<'_>, passed: &Passed) -> Option<u64> {
    let mut back = Packet::new(Direction::Output, passed.packet.dst, passed.packet.src);
    back.mark = Some(0);
    let route = host.routing.entry(&back);
    let reverse = route.and_then(|route| {
        let device = route.device.as_deref().and_then(|name| host.link(name));
        route.mtu.or(device.map(|link| link.mtu))
    });
    Some(passed.mtu?.min(reverse.unwrap_or(u64::MAX)))
}
