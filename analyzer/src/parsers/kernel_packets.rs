//! Packets that the kernel logged for a firewall rule.

use chrono::{DateTime, Utc};

use super::{Extracted, Extractor, Repeated, Statement};
use crate::firewall::log_line::{LoggedPacket, parse_log_line};
use crate::firewall::packet::Interface;
use crate::lines::LogLine;

/// Reads lines that hold a netfilter LOG record; each has an `OUT=` field, empty or not.
pub(super) static EXTRACTOR: Extractor = Extractor {
    needle: " OUT=",
    extract: |line| extract(line).map(Extracted::Packet),
};

/// A logged packet, and how many of its like were seen in the same stretch of log.
pub type PacketLine = Repeated<Logged>;

/// A packet as parsed.
#[derive(Debug, Clone)]
pub struct Logged(pub LoggedPacket);

impl Statement for Logged {
    const KIND: &'static str = "packet-line";
    /// Everything but ports of the sender, ids and lengths.
    type Key = (String, String, String, String, String, Option<u16>);
    fn key(&self, _at: Option<DateTime<Utc>>) -> Self::Key {
        let packet = &self.0.packet;
        (
            self.0.prefix.clone(),
            name(packet.in_iface.as_ref()),
            name(packet.out_iface.as_ref()),
            packet.src.to_string(),
            packet.dst.to_string(),
            packet.dport,
        )
    }
}

fn name(interface: Option<&Interface>) -> String {
    interface.map_or_else(String::new, ToString::to_string)
}

fn extract(line: &LogLine<'_>) -> Option<PacketLine> {
    let packet = parse_log_line(&line.text)?;
    Some(Repeated::new(line, Logged(packet), usize::MAX))
}
