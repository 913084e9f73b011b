//! IP addresses under a keyed permutation that preserves prefixes: two addresses that share their first n bits still
//! share exactly n bits, so routes, subnets and firewall rules match as before (the construction of Xu, Fan, Ammar and
//! Moon, "Prefix-Preserving IP Address Anonymization", 2002, with HMAC-SHA256 as the keyed function).
//!
//! Along the ways to well-known networks no bit is flipped. So those networks map onto themselves, and the whole is
//! still a permutation that preserves prefixes.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};

use crate::redact::Key;

/// Addresses that are remembered so that they need not be computed again.
const CACHE: usize = 1 << 16;

/// Networks whose addresses stay as they are: they mean the same on every site.
const KEPT: &[(&str, u8)] = &[
    ("0.0.0.0", 8),
    ("127.0.0.0", 8),
    ("169.254.0.0", 16),
    ("192.0.2.0", 24),
    ("198.18.0.0", 15),
    ("224.0.0.0", 3),
    ("::", 96),
    ("::ffff:0:0", 96),
    ("fe80::", 10),
    ("ff00::", 8),
    // Public resolvers.
    ("1.1.1.1", 32),
    ("1.0.0.1", 32),
    ("8.8.8.8", 32),
    ("8.8.4.4", 32),
    ("9.9.9.9", 32),
    // Defaults of distributions: the API server's and the cluster DNS's addresses.
    ("10.96.0.1", 32),
    ("10.96.0.10", 32),
    ("10.43.0.1", 32),
    ("10.43.0.10", 32),
    ("10.152.183.1", 32),
    ("10.152.183.10", 32),
    ("10.100.0.1", 32),
    ("10.100.0.10", 32),
    ("10.0.0.1", 32),
    ("10.0.0.10", 32),
    ("172.20.0.1", 32),
    ("172.20.0.10", 32),
    ("172.17.0.1", 32),
    // Calico's gateway inside pods is link-local; its virtual MAC's network and node-local DNS are as well.
];
/// Networks that stay private networks of the same kind, while the addresses in them change.
const SAME_KIND: &[(&str, u8)] = &[
    ("10.0.0.0", 8),
    ("100.64.0.0", 10),
    ("172.16.0.0", 12),
    ("192.168.0.0", 16),
    ("fc00::", 7),
    ("fd00::", 8),
    ("2000::", 3),
    ("2001:db8::", 32),
];

/// A network as bits at the top of 128.
#[derive(Clone, Copy)]
struct Net {
    bits: u128,
    length: u8,
    whole: bool,
    v6: bool,
}

/// The permutation of one run.
pub(super) struct Permutation {
    key: Key,
    nets: Vec<Net>,
    cache: Mutex<HashMap<IpAddr, IpAddr>>,
}

fn top_bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => u128::from(u32::from(v4)) << 96,
        IpAddr::V6(v6) => u128::from(v6),
    }
}

fn mask(length: u8) -> u128 {
    match length {
        0 => 0,
        length => u128::MAX << (128 - u32::from(length)),
    }
}

impl Permutation {
    /// The permutation of this key; `kept` are addresses of this site that stay readable (its cluster DNS).
    pub(super) fn new(key: Key, kept: &[IpAddr]) -> Self {
        let net = |whole: bool| {
            move |(text, length): &(&str, u8)| {
                let address: IpAddr = text.parse().ok()?;
                Some(Net {
                    bits: top_bits(address),
                    length: *length,
                    whole,
                    v6: address.is_ipv6(),
                })
            }
        };
        let mut nets: Vec<Net> = KEPT.iter().filter_map(net(true)).collect();
        nets.extend(SAME_KIND.iter().filter_map(net(false)));
        nets.extend(kept.iter().map(|address| Net {
            bits: top_bits(*address),
            length: if address.is_ipv6() { 128 } else { 32 },
            whole: true,
            v6: address.is_ipv6(),
        }));
        Self {
            key,
            nets,
            cache: Mutex::new(HashMap::new()),
        }
    }

    /// The address that stands for this one.
    pub(super) fn map(&self, address: IpAddr) -> IpAddr {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = cache.get(&address) {
            return *known;
        }
        let mapped = self.compute(address);
        if cache.len() >= CACHE {
            cache.clear();
        }
        cache.insert(address, mapped);
        mapped
    }

    /// The network that stands for this one: its host bits stay zero.
    pub(super) fn map_network(&self, address: IpAddr, length: u8) -> IpAddr {
        let bits = top_bits(self.map(address));
        let width = if address.is_ipv6() { 128 } else { 32 };
        let host_bits = top_bits(address) & !mask(length.min(width));
        let host_bits = if width == 32 {
            host_bits >> 96
        } else {
            host_bits
        };
        if length >= width || host_bits != 0 {
            return self.map(address);
        }
        from_bits(bits & mask(length), address.is_ipv6())
    }

    fn compute(&self, address: IpAddr) -> IpAddr {
        let (bits, v6) = (top_bits(address), address.is_ipv6());
        let width = if v6 { 128 } else { 32 };
        let inside = |net: &&Net| net.v6 == v6 && bits & mask(net.length) == net.bits;
        if self.nets.iter().filter(inside).any(|net| net.whole) {
            return address;
        }
        let on_the_way = |at: u8| {
            let kept = |net: &Net| net.length > at && net.bits & mask(at) == bits & mask(at);
            self.nets.iter().any(|net| net.v6 == v6 && kept(net))
        };
        let mut mapped = 0;
        for at in 0..width {
            let bit = 1_u128 << (127 - at);
            let flip = !on_the_way(at) && self.coin(v6, at, bits & mask(at));
            mapped |= (bits & bit) ^ if flip { bit } else { 0 };
        }
        // Beside a kept address few bits are drawn, so that now and then all of them stay. The neighbour stays then as well, so
        // that both can take the other's place.
        if mapped == bits && !on_the_way(width - 1) {
            mapped ^= 1_u128 << (128 - width);
        }
        from_bits(mapped, v6)
    }

    /// One keyed bit for each prefix.
    fn coin(&self, v6: bool, length: u8, prefix: u128) -> bool {
        let mut text = [0; 24];
        text[..6].copy_from_slice(b"prefix");
        text[6] = u8::from(v6);
        text[7] = length;
        text[8..].copy_from_slice(&prefix.to_be_bytes());
        self.key.digest(&text)[0] & 1 == 1
    }
}

fn from_bits(bits: u128, v6: bool) -> IpAddr {
    if v6 {
        IpAddr::V6(Ipv6Addr::from(bits))
    } else {
        let [a, b, c, d, ..] = bits.to_be_bytes();
        IpAddr::V4(Ipv4Addr::new(a, b, c, d))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn permutation() -> Permutation {
        Permutation::new(Key::from_bytes(&[7; 32]), &["10.77.0.10".parse().unwrap()])
    }

    fn shared(a: IpAddr, b: IpAddr) -> u32 {
        (top_bits(a) ^ top_bits(b)).leading_zeros()
    }

    #[test]
    fn well_known_addresses_stay_and_private_ones_stay_private() {
        let p = permutation();
        for text in [
            "127.0.0.1",
            "127.0.0.53",
            "0.0.0.0",
            "169.254.1.1",
            "255.255.255.0",
            "224.0.0.251",
            "10.152.183.10",
            "10.77.0.10",
            "8.8.8.8",
            "::",
            "::1",
            "fe80::1",
            "ff02::fb",
        ] {
            let address: IpAddr = text.parse().unwrap();
            assert_eq!(p.map(address), address);
        }
        for (text, net, length) in [
            ("10.1.2.3", "10.0.0.0", 8),
            ("192.168.7.9", "192.168.0.0", 16),
            ("172.18.1.1", "172.16.0.0", 12),
            ("fd00:1::5", "fd00::", 8),
        ] {
            let (address, net): (IpAddr, IpAddr) = (text.parse().unwrap(), net.parse().unwrap());
            assert_ne!(p.map(address), address, "{text}");
            assert!(shared(p.map(address), net) >= length, "{text}");
        }
    }

    #[test]
    fn no_address_stands_for_itself_beside_a_kept_one() {
        let permutation = permutation();
        let own: Vec<IpAddr> = (12..=255)
            .map(|last| IpAddr::V4(Ipv4Addr::new(10, 77, 0, last)))
            .collect();
        let mapped: Vec<IpAddr> = own.iter().map(|one| permutation.map(*one)).collect();
        assert!(own.iter().zip(&mapped).all(|(one, other)| one != other));
        let distinct: std::collections::BTreeSet<&IpAddr> = mapped.iter().collect();
        assert_eq!(distinct.len(), own.len());
    }

    #[test]
    fn a_network_stays_a_network() {
        let p = permutation();
        let net = p.map_network("10.1.0.0".parse().unwrap(), 16);
        let host = p.map("10.1.2.3".parse().unwrap());
        assert_eq!(top_bits(net) & !mask(16), 0);
        assert_eq!(shared(net, host).min(16), 16);
    }

    proptest! {
        #[test]
        fn shared_prefixes_stay_exactly_as_long(a in any::<u32>(), b in any::<u32>(), keep in 0..33_u32) {
            let b = if keep == 0 { b } else { (a & u32::MAX.checked_shl(32 - keep).unwrap_or(0)) | (b & u32::MAX.checked_shr(keep).unwrap_or(0)) };
            let (a, b) = (IpAddr::from(Ipv4Addr::from(a)), IpAddr::from(Ipv4Addr::from(b)));
            let p = permutation();
            prop_assert_eq!(shared(p.map(a), p.map(b)), shared(a, b));
        }

        #[test]
        fn shared_prefixes_of_ipv6_stay_exactly_as_long(a in any::<u128>(), b in any::<u128>(), keep in 1..129_u32) {
            let b = (a & u128::MAX.checked_shl(128 - keep).unwrap_or(0)) | (b & u128::MAX.checked_shr(keep).unwrap_or(0));
            let (a, b) = (IpAddr::from(Ipv6Addr::from(a)), IpAddr::from(Ipv6Addr::from(b)));
            let p = permutation();
            prop_assert_eq!(shared(p.map(a), p.map(b)), shared(a, b));
        }
    }
}
