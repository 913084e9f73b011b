//! The sockets of the host that first packets may find: those that listen (`ss -lntu`).

use std::net::IpAddr;

use crate::packet::{Packet, Protocol};
use crate::question::CapturedText;

/// A socket that listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Socket {
    proto: Protocol,
    /// `None` listens at every address.
    address: Option<IpAddr>,
    port: u16,
}

/// Every socket that listens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listening(Vec<Socket>);

/// What a look-up finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Found {
    Nothing,
    /// Only one that listens at every address.
    Wildcard,
    /// One of this very address.
    Own,
}

impl Listening {
    /// Reads `ss -lntu`, with or without the processes; `None` where the text is something else.
    pub fn parse(captured: CapturedText<'_>) -> Option<Listening> {
        let mut lines = captured.text.lines();
        lines.find(|line| line.contains("Local Address"))?;
        Some(Listening(lines.filter_map(socket).collect()))
    }

    /// What a packet of this protocol to an address and port finds.
    pub(crate) fn find(&self, proto: Protocol, address: Option<IpAddr>, port: u16) -> Found {
        let own = |one: &&Socket| one.proto == proto && one.port == port;
        let fits = self
            .0
            .iter()
            .filter(own)
            .filter_map(|one| match one.address {
                None => Some(Found::Wildcard),
                Some(at) if address.is_none_or(|address| address == at) => Some(Found::Own),
                Some(_) => None,
            });
        fits.max().unwrap_or(Found::Nothing)
    }

    /// What the packet's own destination finds; `None` where that is not known.
    pub(crate) fn of(&self, packet: &Packet) -> Option<Found> {
        Some(self.find(packet.proto?, Some(packet.dst), packet.dport?))
    }
}

/// `udp UNCONN 0 0 127.0.0.53%lo:53 0.0.0.0:*`.
fn socket(line: &str) -> Option<Socket> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let [netid, _, _, _, local, ..] = words.as_slice() else {
        return None;
    };
    let proto = match *netid {
        "tcp" => Protocol::TCP,
        "udp" => Protocol::UDP,
        _ => return None,
    };
    let (address, port) = local.rsplit_once(':')?;
    let address = address.split('%').next().unwrap_or(address);
    let address = address.trim_matches(['[', ']']);
    let address: Option<IpAddr> = match address {
        "*" => None,
        text => Some(text.parse().ok()?),
    };
    Some(Socket {
        proto,
        address: address.filter(|address| !address.is_unspecified()),
        port: port.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SS: &str = "Netid State  Recv-Q Send-Q Local Address:Port Peer Address:PortProcess\n\
udp   UNCONN 0      0      127.0.0.53%lo:53   0.0.0.0:*    users:((\"systemd-resolve\",pid=1,fd=2))\n\
tcp   LISTEN 0      4096   *:10250            *:*\n\
tcp   LISTEN 0      128    [::]:22            [::]:*\n\
tcp   LISTEN 0      128    [2001:db8::7]:443  [::]:*\n";

    #[test]
    fn sockets_are_found_by_address_and_port() {
        let path = "ss-listening";
        let all = Listening::parse(CapturedText { path, text: SS }).expect("ss");
        let find = |proto, address: &str, port| all.find(proto, address.parse().ok(), port);
        assert_eq!(find(Protocol::UDP, "127.0.0.53", 53), Found::Own);
        assert_eq!(find(Protocol::UDP, "10.0.0.1", 53), Found::Nothing);
        assert_eq!(find(Protocol::TCP, "10.0.0.1", 10_250), Found::Wildcard);
        assert_eq!(find(Protocol::UDP, "10.0.0.1", 10_250), Found::Nothing);
        assert_eq!(find(Protocol::TCP, "10.0.0.1", 22), Found::Wildcard);
        assert_eq!(find(Protocol::TCP, "2001:db8::7", 443), Found::Own);
        let text = "ss: command not found\n";
        assert_eq!(Listening::parse(CapturedText { path, text }), None);
    }

    /// The verdict of a rule that accepts, in a chain that drops, for a first packet of UDP to this port.
    fn verdict(rule: &str, port: u16, listening: bool) -> crate::eval::Verdict {
        use crate::packet::{CtState, Direction};
        use crate::question::{Captures, Firewall};
        let nft = rule.starts_with("table");
        let text = match nft {
            true => rule.to_owned(),
            false => format!(
                "*mangle\n:PREROUTING DROP [0:0]\n{rule} -j ACCEPT\nCOMMIT\n*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n"
            ),
        };
        let captured = |path, text| Some(CapturedText { path, text });
        let captures = Captures {
            iptables: captured("iptables-save", &text).filter(|_| !nft),
            nft: captured("nft", &text).filter(|_| nft),
            listening: captured("ss-listening", SS).filter(|_| listening),
            ..Captures::default()
        };
        let address = |text: &str| text.parse().expect("address");
        let (src, dst) = (address("10.42.0.7"), address("192.0.2.53"));
        let mut packet = Packet::new(Direction::Forward, src, dst);
        packet.proto = Some(Protocol::TCP);
        (packet.sport, packet.dport) = (Some(40_000), Some(port));
        packet.fragment = Some(false);
        packet.ct_states = [CtState::New].into();
        Firewall::from_captures(&captures)
            .evaluate(&packet)
            .evaluation
            .verdict
    }

    #[test]
    fn a_first_packet_finds_what_listens_and_nothing_else() {
        use crate::eval::Verdict;
        let rule = "-A PREROUTING -p tcp -m socket --transparent";
        assert_eq!(verdict(rule, 8080, true), Verdict::Dropped);
        // iptables passes over what listens everywhere.
        assert_eq!(verdict(rule, 10_250, true), Verdict::Dropped);
        let wild = "-A PREROUTING -p tcp -m socket --nowildcard";
        assert!(verdict(wild, 10_250, true).is_undecided());
        let unknown = verdict(rule, 8080, false);
        assert!(
            matches!(&unknown, Verdict::Undecided { why } if why.contains("ss -tuan")),
            "{unknown:?}"
        );
        let nft = |rule: &str| {
            format!(
                "table ip t {{\n chain c {{\n type filter hook prerouting priority mangle; policy drop;\n {rule} accept\n }}\n}}\n"
            )
        };
        let socket = nft("meta l4proto tcp socket transparent 0");
        assert_eq!(verdict(&socket, 8080, true), Verdict::Dropped);
        assert!(verdict(&socket, 22, true).is_undecided());
        let proxy = nft("meta l4proto tcp tproxy to :50080");
        assert_eq!(verdict(&proxy, 80, true), Verdict::Dropped);
    }

    #[test]
    fn tproxy_of_iptables_drops_what_no_socket_can_take() {
        use crate::eval::Verdict;
        let rule = |port: u16| {
            format!(
                "-A PREROUTING -p tcp -j TPROXY --on-port {port} --on-ip 0.0.0.0 --tproxy-mark 0x1/0x1\n-A PREROUTING"
            )
        };
        assert_eq!(verdict(&rule(50_080), 80, true), Verdict::Dropped);
        let unknown = verdict(&rule(50_080), 80, false).to_string();
        assert!(unknown.contains("ss -lntu"), "{unknown}");
        let taken = verdict(&rule(10_250), 80, true).to_string();
        assert!(taken.contains("transparent"), "{taken}");
    }
}
