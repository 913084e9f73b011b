//! A connection as connection tracking keeps it: how it began, what answers look like, what is rewritten.

use std::net::IpAddr;

use super::packet::Packet;

/// The addresses and ports of one direction of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tuple {
    /// Source address.
    pub src: IpAddr,
    /// Source port, where the protocol has ports and it is known.
    pub sport: Option<u16>,
    /// Destination address.
    pub dst: IpAddr,
    /// Destination port.
    pub dport: Option<u16>,
}

impl Tuple {
    /// What a packet shows.
    pub fn of(packet: &Packet) -> Tuple {
        Tuple {
            src: packet.src,
            sport: packet.sport,
            dst: packet.dst,
            dport: packet.dport,
        }
    }

    /// The other direction, without translation.
    pub fn turned(self) -> Tuple {
        Tuple {
            src: self.dst,
            sport: self.dport,
            dst: self.src,
            dport: self.sport,
        }
    }
}

/// A connection to a virtual service of IPVS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// Its answers are written back.
    Connection,
    /// Every packet is scheduled by itself, and answers stay as they are.
    OnePacket,
}

/// The connection that a packet belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// The packet answers; false for the direction that the connection began with.
    pub reply: bool,
    /// As its first packet came in.
    pub original: Tuple,
    /// As its answers come in; `None` before all translations are known.
    pub replies: Option<Tuple>,
    /// Whether its destination is rewritten (and the source of its answers written back).
    pub dnat: Option<bool>,
    /// Whether its source is rewritten (and the destination of its answers written back).
    pub snat: Option<bool>,
    /// IPVS rewrites it: then its answers are written back there.
    pub served: Option<Served>,
    /// The connection mark; `None` where it is not known.
    pub mark: Option<u32>,
}

impl Connection {
    /// The connection that a first packet begins.
    pub fn begun_by(packet: &Packet) -> Connection {
        Connection {
            reply: false,
            original: Tuple::of(packet),
            // No rule has translated it yet.
            replies: Some(Tuple::of(packet).turned()),
            dnat: None,
            snat: Some(false),
            served: None,
            mark: Some(0),
        }
    }
}

/// What connection tracking knows of a packet at a point of its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tracked<'a> {
    /// The packet belongs to no connection: untracked, invalid, or not looked at yet.
    No,
    /// It may belong to one that is not known.
    Unknown,
    /// This one.
    Yes(&'a Connection),
}

/// What a rule may read of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TupleSide {
    /// Of the answers (`ctreplsrc`, `ct reply`) instead of the original direction.
    pub answers: bool,
    /// Destination instead of source.
    pub destination: bool,
}

impl TupleSide {
    /// Address of this side; the inner `None` is for what is not known yet.
    pub fn address(self, connection: &Connection) -> Option<IpAddr> {
        let tuple = self.tuple(connection)?;
        Some(if self.destination {
            tuple.dst
        } else {
            tuple.src
        })
    }

    /// Port of this side.
    pub fn port(self, connection: &Connection) -> Option<u16> {
        let tuple = self.tuple(connection)?;
        if self.destination {
            tuple.dport
        } else {
            tuple.sport
        }
    }

    fn tuple(self, connection: &Connection) -> Option<Tuple> {
        if self.answers {
            connection.replies
        } else {
            Some(connection.original)
        }
    }
}
