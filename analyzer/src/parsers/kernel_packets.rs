//! Packets that the kernel logged for a firewall rule.

use chrono::{DateTime, Utc};

use super::{Extracted, Extractor, Repeats};
use crate::facts::{FactType, Field};
use crate::firewall::log_line::{LoggedPacket, parse_log_line};
use crate::firewall::packet::Interface;
use crate::lines::LogLine;
use crate::model::Place;

/// Reads lines that hold a netfilter LOG record; each has an `OUT=` field, empty or not.
pub(super) static EXTRACTOR: Extractor = Extractor {
    needle: " OUT=",
    extract: |line| extract(line).map(Extracted::Packet),
};

/// A logged packet, and how many of its like were seen in the same stretch of log.
#[derive(Debug, Clone)]
pub struct PacketLine {
    /// Node.
    pub node: String,
    /// Packet as parsed.
    pub packet: LoggedPacket,
    /// Where the first stands.
    pub place: Place,
    /// Text of the first.
    pub text: String,
    /// Time of the first.
    pub at: Option<DateTime<Utc>>,
    /// Time of the last.
    pub last: Option<DateTime<Utc>>,
    /// How many.
    pub count: u64,
}

impl PacketLine {
    /// What makes two lines alike: everything but ports of the sender, ids and lengths.
    pub fn key(&self) -> (String, String, String, String, String, Option<u16>) {
        let packet = &self.packet.packet;
        (
            self.packet.prefix.clone(),
            name(packet.in_iface.as_ref()),
            name(packet.out_iface.as_ref()),
            packet.src.to_string(),
            packet.dst.to_string(),
            packet.dport,
        )
    }
}

impl Repeats for PacketLine {
    type Key = (String, String, String, String, String, Option<u16>);
    fn key(&self) -> Self::Key {
        PacketLine::key(self)
    }
    fn node(&self) -> &str {
        &self.node
    }
    fn place(&self) -> &Place {
        &self.place
    }
    fn place_mut(&mut self) -> &mut Place {
        &mut self.place
    }
    fn stated(&self) -> (&str, Option<DateTime<Utc>>) {
        (&self.text, self.at)
    }
    fn absorb(&mut self, later: &Self) {
        self.count = self.count.saturating_add(later.count);
        self.at = crate::lines::earliest(self.at, later.at);
        self.last = self.last.max(later.last);
    }
}

impl serde::Serialize for PacketLine {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl FactType for PacketLine {
    const KIND: &'static str = "packet-line";
    const FIELDS: &'static [Field] = &[];
    fn subject(&self) -> String {
        format!("node/{}", self.node)
    }
}

fn name(interface: Option<&Interface>) -> String {
    interface.map_or_else(String::new, ToString::to_string)
}

fn extract(line: &LogLine<'_>) -> Option<PacketLine> {
    let packet = parse_log_line(&line.text)?;
    Some(PacketLine {
        node: line.node.to_owned(),
        packet,
        place: line.place(),
        text: line.text.to_string(),
        at: line.at,
        last: line.at,
        count: 1,
    })
}
