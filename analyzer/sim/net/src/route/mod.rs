//! The routes of a node: by which interface a packet leaves, or why it does not.
//!
//! Policy rules are asked in the order of their priority, a table's routes by the
//! longest prefix and then the lowest metric, as the kernel does.

mod own;
mod parse;
mod source;
#[cfg(test)]
mod tests;

use std::net::IpAddr;

pub use source::{Source, SourceCheck};

use ipnet::IpNet;

use super::iptables::Origin;
use super::packet::{Direction, Family, Interface, Packet};

/// The routes and policy rules of a node.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Routing {
    /// Routes of all tables, in file order.
    pub routes: Vec<RouteEntry>,
    rules: Vec<PolicyRule>,
    /// Some route or rule gives packets a realm.
    realms: bool,
}

/// What becomes of packets to a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RouteKind {
    /// Sent on through an interface.
    Unicast,
    /// Delivered to the host itself.
    Local,
    /// Delivered to the host and its whole link.
    Broadcast,
    /// Refused with "network unreachable".
    Unreachable,
    /// Dropped without an answer.
    Blackhole,
    /// Refused with "administratively prohibited".
    Prohibit,
    /// Looked up in the next table.
    Throw,
}

/// One route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteEntry {
    /// Destinations.
    pub to: IpNet,
    /// Table, by name or number: `main`, `local`, `1`.
    pub table: String,
    /// What it does.
    pub kind: RouteKind,
    /// Outgoing interface; of several next hops the first.
    pub device: Option<String>,
    /// Interfaces of further next hops.
    pub also: Vec<String>,
    /// Next hop, where it is not on the link.
    pub gateway: Option<IpAddr>,
    /// Lower ones are preferred.
    pub metric: u32,
    /// The largest packet of this route in bytes, where it says so (`mtu`).
    pub mtu: Option<u64>,
    /// The size stands (`mtu lock`): what routers beyond say is not believed, and the host's own TCP leaves
    /// its packets to be fragmented. The JSON form does not show it.
    pub mtu_locked: bool,
    /// The largest segment that TCP announces over this route in bytes, where it says so.
    pub advmss: Option<u64>,
    /// The link is down: the kernel passes the route over. One without carrier (`linkdown`) it uses,
    /// unless `ignore_routes_with_linkdown` is set.
    pub dead: bool,
    /// Where it stands.
    pub origin: Origin,
    /// As written.
    pub text: String,
}

/// One policy rule (`ip rule`).
#[derive(Debug, Clone, PartialEq, Eq)]
struct PolicyRule {
    priority: u32,
    not: bool,
    from: Option<IpNet>,
    to: Option<IpNet>,
    iif: Option<String>,
    mark: Option<(u32, u32)>,
    /// A selector that is not followed (port ranges, user ids).
    other: bool,
    /// Table; `None` for a rule that refuses.
    table: Option<String>,
    /// Routes of the table with a prefix as short as this, or shorter, do not count.
    suppress: Option<u8>,
}

/// What a look-up in the tables gives.
#[derive(Clone, Copy)]
enum Look<'a> {
    Entry(&'a RouteEntry),
    /// A policy rule refuses.
    Rule,
    Nothing,
    Unknown,
}

/// The answer for one packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// It is for the host itself.
    Local,
    /// It leaves by an interface.
    Via {
        /// Outgoing interface; of several next hops the first.
        device: String,
        /// Other interfaces that it may leave by instead: those of further next hops.
        also: Vec<String>,
        /// Next hop, where it is not on the link.
        gateway: Option<IpAddr>,
        /// Where the route stands.
        origin: Origin,
        /// The route as written.
        text: String,
    },
    /// It goes nowhere.
    Refused {
        /// `no route`, `a blackhole route`, ...
        what: String,
        /// Where that stands, if it is written anywhere.
        origin: Option<Origin>,
    },
    /// The captures do not tell.
    Unknown,
}

impl Routing {
    /// Whether some route or rule gives packets a realm.
    pub(crate) fn has_realms(&self) -> bool {
        self.realms
    }

    /// Whether some policy rule asks for a mark.
    pub(crate) fn asks_marks(&self) -> bool {
        self.rules.iter().any(|rule| rule.mark.is_some())
    }
}

impl Routing {
    /// True without any route of this family: they were not captured.
    pub fn lacks(&self, family: Family) -> bool {
        !self.routes.iter().any(|route| {
            let v4 = route.to.addr().is_ipv4();
            v4 == (family == Family::V4)
                && !matches!(route.kind, RouteKind::Local | RouteKind::Broadcast)
        })
    }

    /// Where the packet is routed.
    pub fn decide(&self, packet: &Packet) -> Route {
        if self.lacks(packet.family()) {
            return Route::Unknown;
        }
        self.look(packet).route()
    }

    fn look(&self, packet: &Packet) -> Look<'_> {
        let usual = usual_rules();
        let rules = if self.rules.is_empty() {
            &usual
        } else {
            &self.rules
        };
        let mut possible: Option<Look<'_>> = None;
        for rule in rules {
            let matches = rule.matches(packet);
            if matches == Some(false) {
                continue;
            }
            let Some(found) = self.in_table(rule, packet) else {
                continue;
            };
            let differs = |known: &Look<'_>| !same_way(&known.route(), &found.route());
            if possible.as_ref().is_some_and(differs) {
                return Look::Unknown;
            }
            if matches.is_some() {
                return found;
            }
            // It may apply: then the answer is only certain if others agree.
            possible = Some(found);
        }
        match possible {
            Some(_) => Look::Unknown,
            None => Look::Nothing,
        }
    }

    /// The route that the packet takes, also one that refuses it; none where none does or the captures do not tell.
    pub fn entry(&self, packet: &Packet) -> Option<&RouteEntry> {
        match self.look(packet) {
            Look::Entry(entry) if !self.lacks(packet.family()) => Some(entry),
            _ => None,
        }
    }

    /// What a rule's table holds for the packet; none where the next rule is asked.
    fn in_table(&self, rule: &PolicyRule, packet: &Packet) -> Option<Look<'_>> {
        let Some(table) = &rule.table else {
            return Some(Look::Rule);
        };
        let best = self
            .routes
            .iter()
            .filter(|route| !route.dead && route.table == *table && route.to.contains(&packet.dst))
            .min_by_key(|route| (128 - route.to.prefix_len().min(128), route.metric))?;
        let suppressed = rule
            .suppress
            .is_some_and(|longest| best.to.prefix_len() <= longest);
        (best.kind != RouteKind::Throw && !suppressed).then_some(Look::Entry(best))
    }
}

impl Look<'_> {
    fn route(self) -> Route {
        let entry = match self {
            Look::Entry(entry) => entry,
            Look::Rule => {
                return Route::Refused {
                    what: "a policy rule that refuses".to_owned(),
                    origin: None,
                };
            }
            Look::Nothing => {
                return Route::Refused {
                    what: "no route".to_owned(),
                    origin: None,
                };
            }
            Look::Unknown => return Route::Unknown,
        };
        let refused = |what: &str| Route::Refused {
            what: what.to_owned(),
            origin: Some(entry.origin.clone()),
        };
        match entry.kind {
            RouteKind::Local | RouteKind::Broadcast => Route::Local,
            RouteKind::Unreachable => refused("an unreachable route"),
            RouteKind::Blackhole => refused("a blackhole route"),
            RouteKind::Prohibit => refused("a prohibiting route"),
            RouteKind::Throw => refused("no route"),
            RouteKind::Unicast => match &entry.device {
                Some(device) => Route::Via {
                    device: device.clone(),
                    also: entry
                        .also
                        .iter()
                        .filter(|other| *other != device)
                        .cloned()
                        .collect(),
                    gateway: entry.gateway,
                    origin: entry.origin.clone(),
                    text: entry.text.clone(),
                },
                None => Route::Unknown,
            },
        }
    }
}

fn same_way(a: &Route, b: &Route) -> bool {
    match (a, b) {
        (Route::Via { device: a, .. }, Route::Via { device: b, .. }) => a == b,
        (a, b) => a == b,
    }
}

/// The rules that every host starts with.
fn usual_rules() -> Vec<PolicyRule> {
    let rule = |priority: u32, table: &str| PolicyRule {
        priority,
        not: false,
        from: None,
        to: None,
        iif: None,
        mark: None,
        other: false,
        table: Some(table.to_owned()),
        suppress: None,
    };
    vec![
        rule(0, "local"),
        rule(32766, "main"),
        rule(32767, "default"),
    ]
}

impl PolicyRule {
    /// Whether the rule applies; `None` where the packet does not tell.
    fn matches(&self, packet: &Packet) -> Option<bool> {
        let mut known = Some(true);
        let mut ask = |answer: Option<bool>| match answer {
            Some(false) => known = Some(false),
            None if known == Some(true) => known = None,
            _ => {}
        };
        if let Some(from) = &self.from {
            ask(Some(from.contains(&packet.src)));
        }
        if let Some(to) = &self.to {
            ask(Some(to.contains(&packet.dst)));
        }
        if let Some((value, mask)) = self.mark {
            ask(packet.mark.map(|mark| mark & mask == value));
        }
        if let Some(iif) = &self.iif {
            ask(match (&packet.in_iface, packet.direction) {
                (_, Direction::Output) => Some(iif == "lo"),
                (Some(Interface::Name(name)), _) => Some(name == iif),
                (Some(Interface::Prefix(prefix)), _) if !iif.starts_with(prefix.as_str()) => {
                    Some(false)
                }
                _ => None,
            });
        }
        if self.other {
            ask(None);
        }
        if self.not {
            known.map(|yes| !yes)
        } else {
            known
        }
    }
}
