//! The answer to one question: what settings, routes and rules of a node do with a packet.

use std::net::IpAddr;

use super::reach::Question;
use super::reply::{self, FarNodes};
use super::{Known, fact};
use crate::derive::egress::words::{decided_at, in_words, owner, verdict, words, zone};
use crate::facts::AnyFact;
use crate::facts::network::ReachCheck;
use crate::facts::node::Setting;
use crate::firewall::eval::{DecidedBy, SourceNat};
use crate::firewall::iptables::Origin;
use crate::firewall::link::Link;
use crate::firewall::packet::{Direction, Family, Interface, Packet};
use crate::firewall::question::{Answer, Firewall};
use crate::firewall::route::{Route, Routing, Source, SourceCheck};

/// A node with what decides over its packets.
pub(super) struct Here<'a> {
    pub(super) known: &'a Known<'a>,
    pub(super) node: &'a str,
    pub(super) routing: &'a Routing,
    pub(super) links: &'a [Link],
    pub(super) firewall: &'a Firewall,
}

impl Here<'_> {
    /// The answer, where it stands anywhere.
    pub(super) fn answer(&self, question: &Question, far: &FarNodes) -> Option<AnyFact> {
        let mut packet = self.routed(question.packet.clone());
        packet.at = self.known.now.map(|now| now.timestamp());
        let answer = self.firewall.evaluate(&packet);
        // A service's address is rewritten before it is routed.
        let leaves = answer.evaluation.leaves.clone();
        let leaves = leaves.unwrap_or_else(|| packet.clone());
        let rewritten = leaves.dst != packet.dst;
        let route = self.routing.decide(&leaves);
        let forwards = leaves.direction == Direction::Forward;
        let mut check = ReachCheck {
            node: self.node.to_owned(),
            question: question.name.to_owned(),
            packet: in_words(&packet),
            route: in_route_words(&route, rewritten.then_some(leaves.dst)),
            verdict: verdict(&answer),
            decided_by: words(&answer),
            owner: owner(&answer, false),
            zone: zone(&answer).unwrap_or_default(),
            setting: String::new(),
            reverse_path: String::new(),
            source: String::new(),
            reply: String::new(),
            reply_by: String::new(),
        };
        let mut origin = decided_at(&answer).cloned();
        let passes = !answer.evaluation.verdict.is_blocked();
        if passes && forwards {
            check.source = self.source(&answer);
        }
        let looked = self.reverse_path(&leaves);
        check.reverse_path = in_source_words(&looked);
        // The kernel looks at sources where it routes: behind PREROUTING, before the filter table.
        let before_rules = passes || of_filter(&answer);
        if let (true, Ok((Source::Refused { why, .. }, setting, at))) = (before_rules, &looked) {
            check.verdict = "reverse-path".to_owned();
            check.decided_by = format!("{setting} ({at}): {why}");
            let name = setting.split(" = ").next().unwrap_or_default();
            check.setting = name.to_owned();
            origin = Some(at.clone());
        } else if passes
            && forwards
            && let Some(setting) = self.not_forwarded(packet.family())
        {
            check.verdict = "not-forwarded".to_owned();
            check.decided_by = format!("{} = 0 ({})", setting.0, setting.1);
            (check.setting, origin) = (setting.0, Some(setting.1));
        } else if passes
            && forwards
            && let Route::Refused { what, origin: at } = &route
        {
            check.verdict = "no-route".to_owned();
            check.decided_by = what.clone();
            origin = at.clone().or(origin);
        }
        if check.verdict == "accepted" {
            (check.reply, check.reply_by) = reply::words(self, far, &packet, &answer);
        }
        if matches!(
            check.verdict.as_str(),
            "reverse-path" | "not-forwarded" | "no-route"
        ) {
            check.owner.clear();
        }
        // Rules that break off decide nothing; then the route is what there is to point at.
        let at = origin.or(match route {
            Route::Via { origin, .. } => Some(origin),
            _ => None,
        });
        Some(fact(check, &at?, ""))
    }

    /// The packet with the way that its first routing gives it.
    fn routed(&self, mut packet: Packet) -> Packet {
        match self.routing.decide(&packet) {
            Route::Via { device, also, .. } if packet.direction == Direction::Forward => {
                // Of several next hops the kernel takes one by a hash.
                packet.out_iface = also.is_empty().then_some(Interface::Name(device));
            }
            Route::Local if packet.direction == Direction::Forward => {
                packet.direction = Direction::Input;
                packet.out_iface = None;
            }
            _ => {}
        }
        packet
    }

    /// Whether the kernel takes the packet's source for genuine, by which setting, and where that stands.
    fn reverse_path(&self, packet: &Packet) -> Result<(Source, String, Origin), String> {
        let (Direction::Forward | Direction::Input, IpAddr::V4(_)) = (packet.direction, packet.src)
        else {
            return Err("only what comes in over IPv4 is asked for".to_owned());
        };
        let Some(Interface::Name(device)) = &packet.in_iface else {
            return Err("the interface that it comes in by is not known".to_owned());
        };
        let (check, words, at) = self.source_check(device)?;
        Ok((self.routing.source(packet, check), words, at))
    }

    /// How an interface looks at sources, the setting that says so, and where that stands.
    fn source_check(&self, device: &str) -> Result<(SourceCheck, String, Origin), String> {
        let value = |of: &str, what: &str| self.setting(&format!("net.ipv4.conf.{of}.{what}"));
        let filter = |of: &str| {
            let name = format!("net.ipv4.conf.{of}.rp_filter");
            let (value, at) = self
                .setting(&name)
                .ok_or_else(|| format!("{name} was not captured"))?;
            Ok::<_, String>((value, format!("{name} = {value}"), at))
        };
        let (all, own) = (filter("all")?, filter(device)?);
        let (filter, words, at) = if own.0 >= all.0 { own } else { all };
        let on = |what: &str| {
            let mut values = [value("all", what), value(device, what)]
                .into_iter()
                .flatten();
            values.any(|(value, _)| value > 0)
        };
        let link = self.links.iter().find(|link| link.name == device);
        let check = SourceCheck {
            filter,
            accept_local: on("accept_local"),
            src_valid_mark: on("src_valid_mark"),
            has_address: link.map(|link| link.addresses.iter().any(IpAddr::is_ipv4)),
        };
        Ok((check, words, at))
    }

    fn source(&self, answer: &Answer) -> String {
        match self.firewall.source_of(&answer.evaluation) {
            SourceNat::Kept => "kept: no captured rule rewrites it".to_owned(),
            SourceNat::Rewritten { text, origin, .. } => {
                format!("rewritten by `{text}` ({origin})")
            }
            SourceNat::Unknown { why } => format!("unknown: {why}"),
        }
    }

    /// A numeric kernel setting of this node, and where it stands.
    pub(super) fn setting(&self, name: &str) -> Option<(u8, Origin)> {
        let mut settings = self.known.facts.table::<Setting>().iter();
        let found = settings
            .find(|one| one.data.node == self.node && one.data.name.replace('/', ".") == name)?;
        let origin = Origin {
            path: found.place.path.as_str().into(),
            line: found.place.line.unwrap_or(0),
        };
        Some((found.data.value.parse().ok()?, origin))
    }

    /// The setting by which the node forwards nothing, and where it stands.
    fn not_forwarded(&self, family: Family) -> Option<(String, Origin)> {
        let name = match family {
            Family::V4 => "net.ipv4.ip_forward",
            Family::V6 => "net.ipv6.conf.all.forwarding",
        };
        let (value, origin) = self.setting(name)?;
        (value == 0).then(|| (name.to_owned(), origin))
    }
}

/// True where a chain of iptables' filter table decides.
fn of_filter(answer: &Answer) -> bool {
    match &answer.evaluation.decided_by {
        Some(DecidedBy::Rule { table, .. } | DecidedBy::Policy { table, .. }) => table == "filter",
        _ => false,
    }
}

fn in_source_words(looked: &Result<(Source, String, Origin), String>) -> String {
    match looked {
        Ok((Source::Taken, ..)) => "taken".to_owned(),
        Ok((Source::Refused { why, .. }, setting, _)) => format!("refused: {setting}, {why}"),
        Ok((Source::Unknown, setting, _)) => {
            format!("not-checked: {setting}, and the routes do not tell the way back")
        }
        Err(why) => format!("not-checked: {why}"),
    }
}

fn in_route_words(route: &Route, rewritten: Option<IpAddr>) -> String {
    let way = match route {
        Route::Local => "to the host itself".to_owned(),
        Route::Via {
            device,
            also,
            origin,
            ..
        } => {
            let or: String = also.iter().map(|other| format!(" or {other}")).collect();
            format!("by {device}{or} ({origin})")
        }
        Route::Refused { what, .. } => what.clone(),
        Route::Unknown => "unknown".to_owned(),
    };
    match rewritten {
        Some(address) => format!("to {address} after translation, {way}"),
        None => way,
    }
}
