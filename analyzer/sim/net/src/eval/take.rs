//! What a met rule does to a way: verdicts, jumps, marks, translations.

use std::sync::Arc;

use super::explore::{Explorer, MAX_DEPTH};
use super::way::{Does, Fate, Frame, Met, Way};
use crate::condition::Tri;
use crate::connection::Tracked;
use crate::iptables::{NatTo, Table, Target};
use crate::packet::{Direction, Interface, Packet, Protocol};
use crate::queue::Queue;

impl<'a> Explorer<'a> {
    /// Applies the rule the way met last.
    pub(super) fn take(&mut self, way: &mut Way<'a>) -> Option<Fate> {
        let Met::Rule(rule, does) = self.entries[way.last?].what else {
            return None;
        };
        for effect in &rule.effects {
            self.change(way, effect);
        }
        match does {
            Does::Target(target) => self.take_target(way, target),
            Does::Nat(to) => self.translate(way, to),
        }
    }

    fn take_target(&mut self, way: &mut Way<'a>, target: &'a Target) -> Option<Fate> {
        match target {
            Target::Accept => self.pass_hook(way),
            Target::Drop => return Some(Fate::Dropped),
            Target::Reject(_) => return Some(Fate::Rejected),
            Target::Nat(nat) => return self.translate(way, &nat.to),
            Target::Queue(queue) => return self.queue(way, *queue),
            Target::Proxy(at) => return Some(self.proxy(way, at)),
            Target::Return => {
                way.out_of_rule();
                self.leave_chain(way);
            }
            Target::Jump(name) | Target::Goto(name) | Target::Named(name) => {
                let goto = matches!(target, Target::Goto(_));
                return self.enter_chain(way, name, goto);
            }
            other => self.change(way, other),
        }
        None
    }

    /// Applies a target that only changes what later rules see.
    fn change(&mut self, way: &mut Way<'a>, target: &'a Target) {
        let view = self.view(way);
        let filled = match target {
            Target::Fill(fill) => Some(fill.of(&view)),
            _ => None,
        };
        let connected = view.tracked != Tracked::No;
        match target {
            Target::Fill(_) => way.fills.extend(filled),
            // Without a connection there is no mark to take or to keep.
            Target::RestoreMark { .. } | Target::SaveMark { .. } | Target::SetConnMark { .. }
                if !connected => {}
            // What tracking knows already stays known to it (`nft_notrack_eval`).
            Target::Untrack => way.untracked |= !connected,
            other => change(way, other),
        }
    }

    /// Where nobody listens the packet is dropped, or goes on to the next base chain.
    fn queue(&mut self, way: &mut Way<'a>, queue: Queue) -> Option<Fate> {
        let what = queue.words();
        match self.rules().queues {
            None => Some(Fate::Unknown(format!(
                "the program at {what} decides; whether one listens there, /proc/net/netfilter/nfnetlink_queue would tell"
            ))),
            Some(listeners) if listeners.may_take(queue) => Some(Fate::Unknown(format!(
                "the program that listens at {what} decides"
            ))),
            Some(_) if queue.bypass => {
                self.pass_hook(way);
                None
            }
            Some(_) => Some(Fate::Dropped),
        }
    }

    /// `TPROXY` drops what no transparent socket takes; which sockets are transparent nothing lists.
    fn proxy(&self, way: &Way<'a>, at: &str) -> Fate {
        let at_words = if at.is_empty() { "its port" } else { at };
        match self.listener(&way.packet, &[at]) {
            Some(Tri::No) => Fate::Dropped,
            _ if self.rules().listening.is_none() => Fate::Unknown(format!(
                "a transparent socket at {at_words} takes it, and without one it is dropped: `ss -lntu` would tell whether one listens"
            )),
            _ => Fate::Unknown(format!(
                "it is dropped unless the socket that listens at {at_words} is transparent, or one is open for its connection"
            )),
        }
    }

    /// Rewrites the destination; the nat hooks that follow at this stage are passed over.
    fn translate(&mut self, way: &mut Way<'a>, to: &NatTo) -> Option<Fate> {
        let mut packet = (*way.packet).clone();
        let mut sure = true;
        match to {
            NatTo::Source(_) => {
                (way.natted, way.source) = (true, way.last);
                self.pass_hook(way);
                return None;
            }
            NatTo::Local(_) | NatTo::LocalAny => {
                packet.dport = match to {
                    NatTo::Local(port) => port.or(packet.dport),
                    _ => None,
                };
                packet.direction = match packet.direction {
                    Direction::Forward => Direction::Input,
                    other => other,
                };
                packet.out_iface = (packet.direction == Direction::Output)
                    .then(|| Interface::Name("lo".to_owned()));
                sure = self.redirect(&mut packet);
            }
            NatTo::Destination(address, port) => {
                // A table of both families leaves packets of the other one as they are.
                if address.is_some_and(|a| a.is_ipv4() != packet.dst.is_ipv4()) {
                    return None;
                }
                packet.dst = address.unwrap_or(packet.dst);
                packet.dport = port.or(packet.dport);
                if let Some(why) = martian(&packet) {
                    return Some(Fate::Unknown(why));
                }
                if address.is_some()
                    && let Err(why) = self.route(&mut packet)
                {
                    return Some(Fate::Unknown(why));
                }
            }
            NatTo::Server(to) => return self.serve(way, *to),
            NatTo::Map(..) | NatTo::Unknown => {
                return Some(Fate::Unknown(
                    "the rule rewrites the destination to an address that it does not show"
                        .to_owned(),
                ));
            }
        }
        if packet.proto.is_some_and(|p: Protocol| !p.has_ports()) {
            packet.dport = way.packet.dport;
        }
        // A translation to what the packet has already is none (`nf_nat_setup_info`).
        let same = packet.dst == way.packet.dst && packet.dport == way.packet.dport;
        way.rewritten = match same {
            true => way.rewritten.filter(|_| sure),
            false => Some(true),
        };
        // Answers will come from where the packet goes now.
        if let Some(connection) = packet.connection.as_deref_mut().filter(|one| !one.reply)
            && let Some(replies) = &mut connection.replies
        {
            (replies.src, replies.sport) = (packet.dst, packet.dport);
        }
        way.packet = Arc::new(packet);
        way.natted = true;
        self.pass_hook(way);
        None
    }

    pub(super) fn enter_chain(
        &mut self,
        way: &mut Way<'a>,
        name: &'a str,
        goto: bool,
    ) -> Option<Fate> {
        let (table_name, table) = self.table(way)?;
        let Some((name, chain)) = table.chains.get_key_value(name) else {
            if name.to_lowercase().starts_with("synproxy") {
                return Some(Fate::Unknown(format!(
                    "`{name}` answers in the receiver's place, and lets the connection begin once the sender acknowledges that"
                )));
            }
            return Some(Fate::Unknown(format!(
                "`{name}` is neither a captured chain of table {table_name} nor a target that is understood"
            )));
        };
        // The kernel takes no rules that call a chain from within itself.
        let within = way.frames.iter().any(|(frame, _)| frame.name == name);
        if (within && !goto) || way.frames.len() >= MAX_DEPTH {
            return Some(Fate::Unknown(format!(
                "chains of table {table_name} call each other in a loop"
            )));
        }
        if goto {
            way.out_of_rule();
            // The chain that is left is not returned to.
            let base = way.frames.len() == 1;
            if let Some((frame, chain)) = way.frames.last_mut() {
                frame.next = chain.rules.len();
            }
            if !base {
                way.frames.pop();
            }
        }
        way.frames.push((Frame { name, next: 0 }, chain));
        None
    }

    pub(super) fn table(&self, way: &Way<'a>) -> Option<(&'a str, &'a Table)> {
        let hook = self.hook(way.stage, way.hook)?;
        hook.found.map(|(table, _)| (hook.table, table))
    }
}

/// True for what later rules and the verdict do not depend on.
pub(super) fn harmless(target: &Target) -> bool {
    matches!(target, Target::None | Target::Log(_) | Target::Pass(_))
}

/// Applies a target that only changes what later rules see.
fn change(way: &mut Way<'_>, target: &Target) {
    match target {
        Target::SetMark { value, mask } => way.mark = marked(way.mark, *value, *mask),
        Target::RestoreMark { nfmask, ctmask } => {
            way.mark = way
                .connmark
                .and_then(|c| marked(way.mark, c & ctmask, *nfmask));
        }
        Target::LoseMark => way.mark = None,
        Target::SetConnMark { value, mask } => way.connmark = marked(way.connmark, *value, *mask),
        Target::SaveMark { nfmask, ctmask } => {
            way.connmark = way
                .mark
                .and_then(|mark| marked(way.connmark, mark & nfmask, *ctmask));
        }
        Target::ChangeConnMark => way.connmark = None,
        Target::SetService(change) => {
            Arc::make_mut(&mut way.packet).set_service(*change);
        }
        Target::SetTtl(ttl) => Arc::make_mut(&mut way.packet).ttl = *ttl,
        _ => {}
    }
}

fn marked(mark: Option<u32>, value: u32, mask: u32) -> Option<u32> {
    if mask == u32::MAX {
        Some(value)
    } else {
        mark.map(|m| (m & !mask) ^ value)
    }
}

/// What comes in by an interface for the loopback address is dropped when it is routed (`ip_route_input_slow`), unless a
/// setting of that interface allows it, as kube-proxy sets it for node ports on localhost.
fn martian(packet: &Packet) -> Option<String> {
    let Some(Interface::Name(name)) = &packet.in_iface else {
        return None;
    };
    let loopback = matches!(packet.dst, std::net::IpAddr::V4(four) if four.is_loopback());
    (loopback && name != "lo").then(|| {
        format!(
            "its destination becomes {}, which is dropped as it comes in by {name} unless net.ipv4.conf.all.route_localnet or that of {name} is 1",
            packet.dst
        )
    })
}
