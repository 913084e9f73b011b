//! What a tunnel adds to a packet.
//!
//! The bytes are those that the kernel's drivers reckon with: `VXLAN_HEADROOM` of `net/vxlan.h`,
//! `GENEVE_IPV4_HLEN` of `drivers/net/geneve.c`, `t_hlen` of `net/ipv4/ip_tunnel.c`, and for WireGuard
//! `MESSAGE_MINIMUM_LENGTH` and the padding of `drivers/net/wireguard/send.c`.

use crate::link::{Df, Link};

/// Devices whose MTU says nothing: their programs set the real size at routes and in pods.
const NOMINAL: [&str; 6] = [
    "cilium_",
    "genev_sys_",
    "vxlan_sys_",
    "ovn-k8s-",
    "lxc",
    "ovs-system",
];
/// Tunnels that are known by name where an output does not show kinds.
const BY_NAME: [(&str, &str); 8] = [
    ("flannel.ipip", "ipip"),
    ("flannel-wg", "wireguard"),
    ("flannel.", "vxlan"),
    ("vxlan.calico", "vxlan"),
    ("geneve.", "geneve"),
    ("tunl0", "ipip"),
    ("wireguard.cali", "wireguard"),
    ("wg-cali", "wireguard"),
];

/// What a packet becomes below a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Below {
    /// It leaves as it is.
    Same,
    /// It is put into another packet.
    Inside(Header),
    /// It is put into another packet, and how large that becomes is not known.
    Unknown,
}

/// The header that a tunnel puts around a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Bytes over IPv4.
    over_v4: u64,
    /// Bytes over IPv6.
    over_v6: u64,
    /// WireGuard fills up to 16 bytes, but to no more than the device's MTU; that MTU.
    padded_to: Option<u64>,
    /// Whether routers may fragment the outer packet; `None` where that is not shown.
    pub df: Option<Df>,
    /// The tunnel tells the sender at once what is too large for the way out, as those of IP in IP do.
    pub tells: bool,
}

impl Header {
    /// Bytes of the header, without padding.
    pub fn bytes(&self, over_v6: bool) -> u64 {
        if over_v6 { self.over_v6 } else { self.over_v4 }
    }

    /// The largest inner packet whose outer one is no larger than this; none where any that the device takes fits.
    pub fn inside(&self, outer: u64, over_v6: bool) -> Option<u64> {
        let room = outer.saturating_sub(self.bytes(over_v6));
        match self.padded_to {
            Some(mtu) if mtu <= room => None,
            Some(_) => Some(room & !15),
            None => Some(room),
        }
    }
}

/// True for devices whose MTU is nominal.
pub fn is_nominal(link: &Link) -> bool {
    NOMINAL.iter().any(|start| link.name.starts_with(start))
}

/// The link's kind, by what is shown or by its name.
pub fn kind(link: &Link) -> &str {
    if !link.kind.is_empty() {
        return &link.kind;
    }
    let by_name = BY_NAME
        .iter()
        .find(|(start, _)| link.name.starts_with(start));
    by_name.map_or("", |(_, kind)| kind)
}

/// What the link makes of a packet.
pub fn below(link: &Link) -> Below {
    let options = link.tunnel.options;
    let header = |over_v4: u64, over_v6: u64| Header {
        over_v4: over_v4 + options,
        over_v6: over_v6 + options,
        padded_to: None,
        df: link.tunnel.df,
        tells: false,
    };
    let telling = |header: Header| Header {
        tells: true,
        df: header.df.or(Some(Df::Inherit)),
        ..header
    };
    Below::Inside(match kind(link) {
        // IPv4 or IPv6 20 or 40, UDP 8, VXLAN or Geneve 8, Ethernet 14; Geneve's options are not shown.
        "vxlan" => header(50, 70),
        "geneve" if link.tunnel.external => return Below::Unknown,
        "geneve" => header(50, 70),
        "ipip" => telling(header(20, 40)),
        "sit" => telling(header(20, 40)),
        // With the option against tunnels in circles, which is the default.
        "ip6tnl" => telling(header(48, 48)),
        "gre" => telling(header(24, 24)),
        "ip6gre" => telling(header(52, 52)),
        "gretap" => header(38, 38),
        "ip6gretap" => header(66, 66),
        // UDP 8, type and receiver 8, counter 8, tag 16.
        "wireguard" => Header {
            padded_to: Some(link.mtu),
            df: Some(Df::Unset),
            ..header(60, 80)
        },
        "vti" | "xfrm" | "vti6" | "l2tp" | "ppp" | "tun" => return Below::Unknown,
        _ => return Below::Same,
    })
}
