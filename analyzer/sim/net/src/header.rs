//! The bytes of a packet's headers, as far as they are known, and the fields that rules read there by their place.

use std::net::IpAddr;

use crate::packet::{Packet, Protocol, tcp_flag};

/// Which header a field stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// The internet header.
    Network,
    /// The header behind it.
    Transport,
    /// What the header of TCP or UDP carries.
    Carried,
}

/// Some bits of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bits {
    /// The header.
    pub layer: Layer,
    /// Where they begin, in bits.
    pub offset: u16,
    /// How many they are, at most 128.
    pub length: u16,
}

impl Bits {
    /// Bits of the internet header.
    pub const fn network(offset: u16, length: u16) -> Bits {
        let layer = Layer::Network;
        Bits {
            layer,
            offset,
            length,
        }
    }

    /// Bits of the header behind it.
    pub const fn transport(offset: u16, length: u16) -> Bits {
        let layer = Layer::Transport;
        Bits {
            layer,
            offset,
            length,
        }
    }
}

/// Bytes of a packet's headers; `None` for each that is not known or that changes on the way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeaderBytes {
    /// The internet header.
    pub network: Vec<Option<u8>>,
    /// The header behind it.
    pub transport: Vec<Option<u8>>,
}

impl HeaderBytes {
    /// What the headers of an ordinary first packet hold: no option of IPv4, no mark of a service class, and of TCP and
    /// UDP what does not depend on the sender.
    pub fn plain(packet: &Packet) -> HeaderBytes {
        HeaderBytes {
            network: match packet.dst.is_ipv4() {
                true => vec![Some(0x45), Some(0)],
                false => vec![Some(0x60), Some(0)],
            },
            transport: transport(packet),
        }
    }

    /// The headers where the packet has come to: what is known of its fields, which translations and routers change, over
    /// what is known of its bytes.
    pub fn current(packet: &Packet) -> HeaderBytes {
        let mut now = packet.headers.clone();
        let length = packet.length.and_then(|length| u16::try_from(length).ok());
        let proto = packet.proto.map(|proto| proto.0);
        match (packet.src, packet.dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => {
                put(&mut now.network, 2, length.map(u16::to_be_bytes));
                // The lower part of a fragment's place.
                let whole = packet.fragment == Some(false);
                put(&mut now.network, 7, whole.then_some([0]));
                put(&mut now.network, 8, packet.ttl.map(|ttl| [ttl]));
                put(&mut now.network, 9, proto.map(|proto| [proto]));
                put(&mut now.network, 12, Some(src.octets()));
                put(&mut now.network, 16, Some(dst.octets()));
            }
            (IpAddr::V6(src), IpAddr::V6(dst)) => {
                let behind = length.and_then(|length| length.checked_sub(40));
                put(&mut now.network, 4, behind.map(u16::to_be_bytes));
                put(&mut now.network, 6, proto.map(|proto| [proto]));
                put(&mut now.network, 7, packet.ttl.map(|ttl| [ttl]));
                put(&mut now.network, 8, Some(src.octets()));
                put(&mut now.network, 24, Some(dst.octets()));
            }
            _ => {}
        }
        let behind = &mut now.transport;
        if packet.proto.is_some_and(Protocol::has_ports) {
            put(behind, 0, packet.sport.map(u16::to_be_bytes));
            put(behind, 2, packet.dport.map(u16::to_be_bytes));
        }
        match packet.proto {
            Some(Protocol::TCP) => put(behind, 13, packet.tcp_flags.map(|flags| [flags])),
            // RFC 768: its own header and what it carries. A fragment says the length of the whole.
            Some(Protocol::UDP) if packet.fragment == Some(false) => {
                let head = match now.network.first() {
                    Some(Some(first)) if packet.dst.is_ipv4() => Some(u16::from(first & 0x0f) * 4),
                    _ => None,
                };
                let carried = length
                    .zip(head)
                    .and_then(|(length, head)| length.checked_sub(head));
                put(behind, 4, carried.map(u16::to_be_bytes));
            }
            Some(Protocol::ICMP | Protocol::ICMPV6) => {
                put(behind, 0, packet.icmp_type.map(|kind| [kind]));
                put(behind, 1, packet.icmp_code.map(|code| [code]));
            }
            _ => {}
        }
        now.sum_up(packet);
        now
    }

    /// Checksums, where every byte is known that they are taken over: translations and routers take them anew.
    fn sum_up(&mut self, packet: &Packet) {
        let (true, Some(Some(first))) = (packet.dst.is_ipv4(), self.network.first()) else {
            return;
        };
        let head = usize::from(first & 0x0f) * 4;
        let sum = summed(&self.network, head, 10);
        put(&mut self.network, 10, sum.map(u16::to_be_bytes));
        let carried = packet
            .length
            .and_then(|length| usize::try_from(length).ok()?.checked_sub(head));
        // Others hold a part of theirs only, where the network card is to take the rest; UDP may go without one.
        if let (Some(carried), Some(Protocol::ICMP), Some(false)) =
            (carried, packet.proto, packet.fragment)
        {
            let sum = summed(&self.transport, carried, 2);
            put(&mut self.transport, 2, sum.map(u16::to_be_bytes));
        }
    }

    /// Bytes behind the internet header, where that is known.
    pub(crate) fn carried(&self, packet: &Packet) -> Option<u32> {
        let head = match (packet.dst.is_ipv4(), self.network.first()) {
            (true, Some(Some(first))) => u32::from(first & 0x0f) * 4,
            (true, _) => return None,
            (false, _) => 40,
        };
        packet.length?.checked_sub(head)
    }

    /// The number that bits hold; `None` where a byte of them is not known.
    pub fn read(&self, bits: Bits) -> Option<u128> {
        let bytes = match bits.layer {
            Layer::Network => &self.network,
            Layer::Transport | Layer::Carried => &self.transport,
        };
        let (first, length) = (usize::from(bits.offset), usize::from(bits.length));
        if length == 0 || length > 128 {
            return None;
        }
        let mut value = 0u128;
        for at in first..first + length {
            let byte = (*bytes.get(at / 8)?)?;
            value = value << 1 | u128::from(byte >> (7 - at % 8) & 1);
        }
        Some(value)
    }
}

impl Packet {
    /// Changes the service class: the bits of a mask are cleared and a value is turned in. A class that was not known is
    /// known only where all of it is replaced.
    pub fn set_service(&mut self, change: Option<(u8, u8)>) {
        let (from, v4) = match self.dst.is_ipv4() {
            true => (8, true),
            false => (4, false),
        };
        let now = self.headers.read(Bits::network(from, 8));
        let now = now.and_then(|now| u8::try_from(now).ok());
        let next = match change {
            Some((value, 0xff)) => Some(value),
            Some((value, mask)) => now.map(|now| (now & !mask) ^ value),
            None => None,
        };
        let bytes = &mut self.headers.network;
        bytes.resize(bytes.len().max(2), None);
        if v4 {
            bytes[1] = next;
            return;
        }
        // The class of IPv6 lies across two bytes, beside the version and the flow.
        let flow = bytes[1].map(|byte| byte & 0x0f);
        bytes[0] = next.map(|class| 0x60 | class >> 4);
        bytes[1] = next.zip(flow).map(|(class, flow)| class << 4 | flow);
    }
}

/// RFC 1071: the checksum of the first bytes, which stands at a place among them; `None` where one of them is not known.
fn summed(bytes: &[Option<u8>], length: usize, at: usize) -> Option<u16> {
    let known = bytes.get(..length).filter(|_| at + 2 <= length)?;
    let mut sum = 0u32;
    for (nth, byte) in known.iter().enumerate() {
        if nth == at || nth == at + 1 {
            continue;
        }
        let byte = u32::from((*byte)?);
        sum = sum.wrapping_add(if nth % 2 == 0 { byte << 8 } else { byte });
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    u16::try_from(sum).ok().map(|sum| !sum)
}

/// Writes what is known over bytes.
fn put<const N: usize>(bytes: &mut Vec<Option<u8>>, at: usize, values: Option<[u8; N]>) {
    let Some(values) = values else {
        return;
    };
    bytes.resize(bytes.len().max(at + N), None);
    for (byte, value) in bytes.iter_mut().skip(at).zip(values) {
        *byte = Some(value);
    }
}

fn transport(packet: &Packet) -> Vec<Option<u8>> {
    let mut bytes = Vec::new();
    if !packet.proto.is_some_and(Protocol::has_ports) {
        return bytes;
    }
    // Ports may be rewritten on the way: rules read them elsewhere.
    bytes.resize(4, None);
    match packet.proto {
        Some(Protocol::UDP) => {
            let head = if packet.dst.is_ipv4() { 20 } else { 40 };
            let length = packet.length.and_then(|all| all.checked_sub(head));
            let length = length.and_then(|length| u16::try_from(length).ok());
            let [high, low] = length.unwrap_or_default().to_be_bytes();
            bytes.extend([length.map(|_| high), length.map(|_| low)]);
        }
        // A packet that opens a connection acknowledges nothing and has nothing urgent.
        Some(Protocol::TCP) if packet.tcp_flags == Some(tcp_flag::SYN) => {
            bytes.resize(8, None);
            bytes.extend([Some(0); 4]);
            bytes.resize(18, None);
            bytes.extend([Some(0); 2]);
        }
        _ => {}
    }
    bytes
}

/// A field of the internet header by nft's name; those that change on the way have none.
pub fn network_field(name: &str, v4: bool) -> Option<Bits> {
    Some(match (name, v4) {
        ("version", _) => Bits::network(0, 4),
        ("hdrlength", true) => Bits::network(4, 4),
        ("dscp", true) => Bits::network(8, 6),
        ("ecn", true) => Bits::network(14, 2),
        ("id", true) => Bits::network(32, 16),
        ("frag-off", true) => Bits::network(48, 16),
        ("checksum", true) => Bits::network(80, 16),
        ("dscp", false) => Bits::network(4, 6),
        ("ecn", false) => Bits::network(10, 2),
        ("flowlabel", false) => Bits::network(12, 20),
        _ => return None,
    })
}

/// A field of a transport header by nft's names of the header and of the field.
pub fn transport_field(header: &str, name: &str) -> Option<Bits> {
    Some(match (header, name) {
        ("tcp", "sequence") => Bits::transport(32, 32),
        ("tcp", "ackseq") => Bits::transport(64, 32),
        ("tcp", "doff") => Bits::transport(96, 4),
        ("tcp", "reserved") => Bits::transport(100, 4),
        ("tcp", "window") => Bits::transport(112, 16),
        ("tcp", "checksum") => Bits::transport(128, 16),
        ("tcp", "urgptr") => Bits::transport(144, 16),
        ("udp", "length") | ("udplite", "cscov" | "csumcov") => Bits::transport(32, 16),
        ("udp" | "udplite", "checksum") => Bits::transport(48, 16),
        ("icmp" | "icmpv6", "checksum") => Bits::transport(16, 16),
        ("icmp" | "icmpv6", "id") => Bits::transport(32, 16),
        ("icmp" | "icmpv6", "sequence") | ("icmp", "mtu") => Bits::transport(48, 16),
        ("icmp", "gateway") | ("icmpv6", "mtu" | "parameter-problem") => Bits::transport(32, 32),
        _ => return None,
    })
}

/// The types of ICMP whose packets have such a field, which nft asks for without showing it.
pub fn types_with(header: &str, name: &str) -> Option<&'static [u128]> {
    Some(match (header, name) {
        ("icmp", "id" | "sequence") => &[0, 8],
        ("icmp", "gateway") => &[5],
        ("icmp", "mtu") => &[3],
        ("icmpv6", "id" | "sequence") => &[128, 129],
        ("icmpv6", "mtu") => &[2],
        ("icmpv6", "parameter-problem") => &[4],
        _ => return None,
    })
}

/// The service classes by name (RFC 2474, 2597, 3246, 8622), with the two marks of congestion.
pub fn class(name: &str) -> Option<u128> {
    const NAMES: [(&str, u128); 29] = [
        ("be", 0),
        ("le", 1),
        ("cs0", 0),
        ("cs1", 8),
        ("cs2", 16),
        ("cs3", 24),
        ("cs4", 32),
        ("cs5", 40),
        ("cs6", 48),
        ("cs7", 56),
        ("af11", 10),
        ("af12", 12),
        ("af13", 14),
        ("af21", 18),
        ("af22", 20),
        ("af23", 22),
        ("af31", 26),
        ("af32", 28),
        ("af33", 30),
        ("af41", 34),
        ("af42", 36),
        ("af43", 38),
        ("va", 44),
        ("ef", 46),
        ("df", 0),
        ("not-ect", 0),
        ("ect1", 1),
        ("ect0", 2),
        ("ce", 3),
    ];
    let lower = name.to_ascii_lowercase();
    let found = NAMES.iter().find(|(known, _)| *known == lower);
    found.map(|(_, number)| *number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Direction;

    #[test]
    fn a_checksum_is_that_of_the_header_as_it_is_here() {
        let address = |text: &str| text.parse().expect("address");
        let (src, dst) = (address("10.42.0.9"), address("192.0.2.53"));
        let mut packet = Packet::new(Direction::Forward, src, dst);
        packet.proto = Some(Protocol::UDP);
        (packet.ttl, packet.length) = (Some(64), Some(28));
        packet.fragment = Some(false);
        let head = [0x45, 0, 0, 0, 0x1c, 0x46, 0x40, 0].map(Some);
        packet.headers.network = head.to_vec();
        let sum = |packet: &Packet| HeaderBytes::current(packet).read(Bits::network(80, 16));
        assert_eq!(sum(&packet), Some(0x5223));
        // A router takes one from the time to live.
        packet.ttl = Some(63);
        assert_eq!(sum(&packet), Some(0x5323));
        packet.headers.network[5] = None;
        assert_eq!(sum(&packet), None, "the packet's number is not known");
    }
}
