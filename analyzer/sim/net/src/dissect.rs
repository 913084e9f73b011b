//! A packet read from its bytes, as `tcpdump -x` prints them: from the IP header on.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::header::HeaderBytes;
use crate::packet::{BridgePorts, CtState, Direction, Packet, Protocol, tcp_flag};

/// More than any header with its options.
const MAX_BYTES: usize = 65_535;

/// The bytes of a text in hexadecimal: pairs or groups of digits, with or without the offsets of `tcpdump -x`
/// (`0x0010:`) before them.
///
/// # Errors
/// Names the word that is not hexadecimal.
pub fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let mut all = Vec::new();
    for word in text.split_whitespace().filter(|word| !word.ends_with(':')) {
        let digits = word.strip_prefix("0x").unwrap_or(word);
        let wrong = || format!("{word} is not hexadecimal");
        if digits.len() % 2 != 0 || !digits.is_ascii() {
            return Err(wrong());
        }
        for at in (0..digits.len()).step_by(2) {
            all.push(u8::from_str_radix(&digits[at..at + 2], 16).map_err(|_| wrong())?);
        }
        if all.len() > MAX_BYTES {
            return Err("these are more bytes than a packet has".to_owned());
        }
    }
    Ok(all)
}

/// The packet that the bytes are. What a router or a translation changes on its way (addresses, ports, the time to
/// live, checksums) is read into fields and left open in the bytes.
///
/// # Errors
/// Says what is missing of the header.
pub fn packet(bytes: &[u8]) -> Result<Packet, String> {
    match bytes.first().map(|byte| byte >> 4) {
        Some(4) => four(bytes),
        Some(6) => six(bytes),
        Some(version) => Err(format!(
            "the first byte says version {version}, which is no IP"
        )),
        None => Err("there is no byte".to_owned()),
    }
}

fn four(bytes: &[u8]) -> Result<Packet, String> {
    let head = usize::from(bytes[0] & 0x0f) * 4;
    if head < 20 || bytes.len() < head {
        return Err("the header of IPv4 is cut off".to_owned());
    }
    let address = |at: usize| {
        let mut four = [0; 4];
        four.copy_from_slice(&bytes[at..at + 4]);
        IpAddr::V4(Ipv4Addr::from(four))
    };
    let mut packet = begun(address(12), address(16));
    let offset = pair(bytes, 6) & 0x1fff;
    packet.fragment = Some(offset > 0);
    packet.ttl = Some(bytes[8]);
    packet.proto = Some(Protocol(bytes[9]));
    packet.length = Some(u32::from(pair(bytes, 2)));
    packet.headers.network = known(&bytes[..head], &[8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
    if offset == 0 {
        behind(&mut packet, &bytes[head..]);
    }
    Ok(packet)
}

fn six(bytes: &[u8]) -> Result<Packet, String> {
    const HEAD: usize = 40;
    if bytes.len() < HEAD {
        return Err("the header of IPv6 is cut off".to_owned());
    }
    let address = |at: usize| {
        let mut sixteen = [0; 16];
        sixteen.copy_from_slice(&bytes[at..at + 16]);
        IpAddr::V6(Ipv6Addr::from(sixteen))
    };
    let mut packet = begun(address(8), address(24));
    packet.ttl = Some(bytes[7]);
    packet.length = Some(u32::from(pair(bytes, 4)) + 40);
    let changes: Vec<usize> = (7..HEAD).collect();
    packet.headers.network = known(&bytes[..HEAD], &changes);
    match bytes[6] {
        // An extension header: rules look for what stands behind it, and may look at itself.
        next @ (0 | 43 | 44 | 51 | 60 | 135) => {
            return Err(format!(
                "the packet has an IPv6 extension header ({next}), which is not read"
            ));
        }
        next => packet.proto = Some(Protocol(next)),
    }
    packet.fragment = Some(false);
    behind(&mut packet, &bytes[HEAD..]);
    Ok(packet)
}

fn begun(src: IpAddr, dst: IpAddr) -> Packet {
    let mut packet = Packet::new(Direction::Forward, src, dst);
    packet.bridge_ports = Some(BridgePorts::default());
    packet
}

/// Ports, flags and kinds behind the IP header, as far as the bytes reach.
fn behind(packet: &mut Packet, bytes: &[u8]) {
    let whole = |at: usize| (bytes.len() >= at + 2).then(|| pair(bytes, at));
    let mut changes: Vec<usize> = Vec::new();
    match packet.proto {
        Some(Protocol::TCP) => {
            changes = vec![0, 1, 2, 3, 16, 17];
            packet.tcp_flags = bytes.get(13).copied();
        }
        Some(Protocol::UDP) => changes = vec![0, 1, 2, 3, 6, 7],
        Some(Protocol::ICMP | Protocol::ICMPV6) => {
            changes = vec![2, 3];
            packet.icmp_type = bytes.first().copied();
            packet.icmp_code = bytes.get(1).copied();
        }
        Some(proto) if proto.has_ports() => changes = vec![0, 1, 2, 3],
        _ => {}
    }
    if packet.proto.is_some_and(Protocol::has_ports) {
        (packet.sport, packet.dport) = (whole(0), whole(2));
    }
    packet.headers = HeaderBytes {
        transport: known(bytes, &changes),
        ..std::mem::take(&mut packet.headers)
    };
    // What opens a connection is its first packet; any other may be of one that is known, or of none.
    let opens = match packet.proto {
        Some(Protocol::TCP) => packet.tcp_flags == Some(tcp_flag::SYN),
        Some(Protocol::UDP | Protocol::SCTP) => true,
        Some(Protocol::ICMP) => packet.icmp_type == Some(8),
        Some(Protocol::ICMPV6) => packet.icmp_type == Some(128),
        _ => false,
    };
    if opens {
        packet.ct_states = [CtState::New].into();
    }
}

fn known(bytes: &[u8], changes: &[usize]) -> Vec<Option<u8>> {
    let bytes = bytes.iter().enumerate();
    bytes
        .map(|(at, byte)| (!changes.contains(&at)).then_some(*byte))
        .collect()
}

fn pair(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::Bits;

    /// A query to a name server as `tcpdump -x` printed it, with the class EF.
    const QUERY: &str = "\
        0x0000:  45b8 0039 1c46 4000 4011 0000 0a2a 0009
        0x0010:  c000 0235 9c40 0035 0025 0000 0001 0100
        0x0020:  0001 0000 0000 0000 0765 7861 6d70 6c65
        0x0030:  0363 6f6d 0000 0100 01";

    fn read(text: &str) -> Result<Packet, String> {
        packet(&bytes(text)?)
    }

    #[test]
    fn a_packet_is_read_from_what_tcpdump_prints() {
        let packet = read(QUERY).expect("a packet");
        assert_eq!(packet.src.to_string(), "10.42.0.9");
        assert_eq!(packet.dst.to_string(), "192.0.2.53");
        assert_eq!(packet.proto, Some(Protocol::UDP));
        assert_eq!((packet.sport, packet.dport), (Some(40_000), Some(53)));
        assert_eq!((packet.ttl, packet.length), (Some(64), Some(57)));
        assert_eq!(packet.ct_states, [CtState::New].into());
        let bits = |bits: Bits| packet.headers.read(bits);
        assert_eq!(bits(Bits::network(8, 6)), Some(46), "the class");
        assert_eq!(bits(Bits::network(48, 16)), Some(0x4000), "fragmentation");
        assert_eq!(bits(Bits::network(64, 8)), None, "a router lowers it");
        assert_eq!(
            bits(Bits::transport(64, 16)),
            Some(1),
            "what the query says first"
        );
    }

    #[test]
    fn what_is_no_whole_header_is_refused_with_the_reason() {
        for (text, why) in [
            ("", "no byte"),
            ("45", "cut off"),
            ("4500 00zz", "hexadecimal"),
            ("450", "hexadecimal"),
            ("75", "version 7"),
            ("60", "cut off"),
        ] {
            let said = read(text).expect_err(text);
            assert!(said.contains(why), "{text}: {said}");
        }
        let hops = format!("6000 0000 0008 0040 {}", "0000 ".repeat(20));
        assert!(read(&hops).is_err_and(|why| why.contains("extension")));
    }
}
