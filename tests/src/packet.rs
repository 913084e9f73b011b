//! A UDP packet made byte by byte, so that what the kernel logs about it is known beforehand.

use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddrV4};

use socket2::{Domain, Protocol, SockAddr, Socket, Type};

/// The parts of a packet that a firewall's log line shows.
#[derive(Debug, Clone)]
pub struct Datagram {
    /// Source address and port.
    pub source: SocketAddrV4,
    /// Destination address and port.
    pub destination: SocketAddrV4,
    /// Time to live as sent; a router logs one less.
    pub ttl: u8,
    /// IP identification; 0 lets the kernel choose.
    pub id: u16,
    /// What the datagram carries.
    pub payload: Vec<u8>,
}

impl Datagram {
    /// The whole IP packet, with "don't fragment" set.
    pub fn bytes(&self) -> Vec<u8> {
        let udp_length = 8 + self.payload.len();
        let mut udp = Vec::with_capacity(udp_length);
        udp.extend(self.source.port().to_be_bytes());
        udp.extend(self.destination.port().to_be_bytes());
        udp.extend((udp_length as u16).to_be_bytes());
        udp.extend([0, 0]);
        udp.extend(&self.payload);

        let mut packet = vec![0x45, 0];
        packet.extend(((20 + udp_length) as u16).to_be_bytes());
        packet.extend(self.id.to_be_bytes());
        packet.extend([0x40, 0, self.ttl, 17, 0, 0]);
        packet.extend(self.source.ip().octets());
        packet.extend(self.destination.ip().octets());
        let sum = checksum(&packet);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet.extend(udp);
        packet
    }

    /// Sends it from this network namespace through a raw socket.
    ///
    /// # Errors
    /// Without the right to open raw sockets, or without a route.
    pub fn send(&self) -> std::io::Result<()> {
        let raw = Protocol::from(255);
        let socket = Socket::new(Domain::IPV4, Type::RAW, Some(raw))?;
        let to = SockAddr::from(SocketAddrV4::new(*self.destination.ip(), 0));
        socket.send_to(&self.bytes(), &to)?;
        Ok(())
    }
}

/// A DNS query for the name servers of the root, 17 bytes, as a resolver's health check sends it.
pub fn root_query(id: u16) -> Vec<u8> {
    let mut query = id.to_be_bytes().to_vec();
    query.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    query.extend([0, 0, 2, 0, 1]);
    query
}

/// Answers UDP datagrams on an address with a one-byte refusal until `count` were seen.
///
/// # Errors
/// When the address cannot be bound or the socket fails.
pub fn answer(address: Ipv4Addr, port: u16, count: usize) -> std::io::Result<()> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    socket.bind(&SockAddr::from(SocketAddrV4::new(address, port)))?;
    let mut space = [MaybeUninit::uninit(); 512];
    for _ in 0..count {
        let (_, from) = socket.recv_from(&mut space)?;
        socket.send_to(&[0], &from)?;
    }
    Ok(())
}

fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_has_the_lengths_that_the_firewall_will_log() {
        let datagram = Datagram {
            source: "10.1.0.185:59834".parse().unwrap(),
            destination: "1.1.1.1:53".parse().unwrap(),
            ttl: 63,
            id: 4481,
            payload: root_query(1),
        };
        let bytes = datagram.bytes();
        assert_eq!(bytes.len(), 45);
        assert_eq!(u16::from_be_bytes([bytes[24], bytes[25]]), 25);
        assert_eq!(checksum(&bytes[..20]), 0);
    }
}
