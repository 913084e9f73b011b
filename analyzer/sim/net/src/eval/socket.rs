//! Matches that look for a socket of the host: `socket`, nft's `tproxy`.

use super::explore::Explorer;
use crate::condition::Tri;
use crate::packet::{Packet, Protocol};
use crate::sockets::Found;

impl Explorer<'_> {
    /// `socket --transparent`, nft's `socket mark`: a packet that begins a connection finds what listens, and nothing else.
    /// iptables passes over what listens at every address, unless it is told not to (`net/netfilter/xt_socket.c`).
    pub(super) fn socket(&self, packet: &Packet, words: &[&str]) -> Option<Tri> {
        if let Some(none) = no_socket(packet) {
            return Some(none);
        }
        let listening = self.rules().listening.filter(|_| self.begins())?;
        let plain = !words.iter().any(|word| word.starts_with("--"));
        let iptables = words.first() == Some(&"socket") && (words.len() == 1 || !plain);
        match listening.of(packet)? {
            Found::Nothing => Some(Tri::No),
            Found::Wildcard if iptables && !words.contains(&"--nowildcard") => Some(Tri::No),
            Found::Own if iptables && !words.contains(&"--transparent") => Some(Tri::Yes),
            _ => None,
        }
    }

    /// `tproxy to 127.0.0.1:52345`, `tproxy ip to :50080`: goes on where somebody listens there.
    pub(super) fn listener(&self, packet: &Packet, words: &[&str]) -> Option<Tri> {
        let proto = packet.proto?;
        if proto != Protocol::TCP && proto != Protocol::UDP {
            return Some(Tri::No);
        }
        let listening = self.rules().listening.filter(|_| self.begins())?;
        let (address, port) = match words.last()?.rsplit_once(':') {
            Some((address, port)) => (address.trim_matches(['[', ']']), port.parse().ok()?),
            None => (*words.last()?, packet.dport?),
        };
        match listening.find(proto, address.parse().ok(), port) {
            Found::Nothing => Some(Tri::No),
            _ => None,
        }
    }
}

/// Only TCP and UDP have sockets; an error of ICMP is of the packet that it quotes.
fn no_socket(packet: &Packet) -> Option<Tri> {
    let echo = |kind: u8| matches!(kind, 0 | 8 | 13 | 14);
    let none = match packet.proto? {
        Protocol::TCP | Protocol::UDP => false,
        Protocol::ICMP => packet.icmp_type.is_some_and(echo),
        Protocol::ICMPV6 => packet.icmp_type.is_some_and(|kind| kind >= 128),
        _ => true,
    };
    none.then_some(Tri::No)
}
