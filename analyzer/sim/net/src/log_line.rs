//! A logged packet: one kernel line written by an iptables `LOG` target (or
//! nft `log`), such as `[UFW BLOCK] IN=lxc1 OUT=eno1 SRC=… DST=… PROTO=UDP …`.
//!
//! Field order and names follow the kernel's `nf_log_syslog`. A mark of zero is
//! not printed there, so a complete line without `MARK=` means mark 0.

use std::net::IpAddr;

use super::packet::{BridgePorts, Direction, Interface, Packet, Protocol, tcp_flag};

/// A packet that the kernel logged, with the prefix of the rule that did it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedPacket {
    /// The log prefix without surrounding space, e.g. `[UFW BLOCK]` or `FINAL_REJECT:`.
    pub prefix: String,
    /// What the line says about the packet.
    pub packet: Packet,
}

impl LoggedPacket {
    /// True when the prefix announces that the packet was dropped or rejected.
    ///
    /// A prefix is free text; only words in common use are recognised.
    pub fn says_blocked(&self) -> bool {
        let upper = self.prefix.to_ascii_uppercase();
        ["BLOCK", "DROP", "REJECT", "DENY", "DENIED"]
            .iter()
            .any(|word| upper.contains(word))
    }

    /// True for one of ufw's own prefixes.
    pub fn is_ufw(&self) -> bool {
        self.prefix.starts_with("[UFW ")
    }
}

/// Longest line that is looked at; the kernel cuts lines near 1,000 bytes.
const MAX_LINE: usize = 8192;

/// Reads one kernel firewall line, whatever time stamps and host name precede it.
///
/// `None` when the line is not a netfilter log line: no `IN=` and `OUT=` with
/// `SRC=` and `DST=` addresses behind them.
pub fn parse_log_line(line: &str) -> Option<LoggedPacket> {
    if line.len() > MAX_LINE {
        return None;
    }
    let start = fields_start(line)?;
    let prefix = prefix_before(&line[..start]);
    // An ICMP error quotes the packet it is about between brackets; the quoted
    // addresses must not overwrite the outer ones.
    let own = match line[start..].find(" [SRC=") {
        Some(at) => &line[start..start + at],
        None => &line[start..],
    };
    let mut fields = Fields::default();
    for word in own.split_ascii_whitespace() {
        fields.take(word);
    }
    fields.mark = fields.mark.or_else(|| mark_behind_quote(&line[start..]));
    let packet = fields.into_packet()?;
    Some(LoggedPacket { prefix, packet })
}

/// Where `IN=` starts: at the start of a word, or glued to a prefix that does
/// not end in a space, and with `OUT=` following.
fn fields_start(line: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(found) = line[from..].find("IN=") {
        let at = from + found;
        let glued_to_name = line[..at]
            .chars()
            .next_back()
            .is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
        if !glued_to_name && line[at..].contains(" OUT=") {
            return Some(at);
        }
        from = at + 3;
    }
    None
}

/// The log prefix at the end of what stands before the fields.
fn prefix_before(head: &str) -> String {
    let head = head.trim_end();
    if let Some(inner) = head.strip_suffix(']')
        && let Some(open) = inner.rfind('[')
    {
        let bracket = &head[open..];
        // `kernel: [12345.678]` directly before the fields is a time stamp: no prefix.
        let stamp = inner[open + 1..]
            .chars()
            .all(|c| c.is_ascii_digit() || c == '.' || c == ' ');
        return if stamp {
            String::new()
        } else {
            bracket.to_owned()
        };
    }
    let mut rest = head;
    if let Some(at) = rest.rfind("kernel:") {
        rest = rest[at + "kernel:".len()..].trim_start();
    }
    if rest.starts_with('[')
        && let Some(close) = rest.find(']')
    {
        rest = rest[close + 1..].trim_start();
    }
    rest.to_owned()
}

/// `MARK=` is printed after the quoted packet of an ICMP error.
fn mark_behind_quote(text: &str) -> Option<u32> {
    let at = text.rfind("] MARK=0x")?;
    let digits = text[at + "] MARK=0x".len()..]
        .split_ascii_whitespace()
        .next()?;
    u32::from_str_radix(digits, 16).ok()
}

/// Fields collected from the words of a line.
#[derive(Default)]
struct Fields {
    in_iface: Option<String>,
    out_iface: Option<String>,
    phys_in: Option<String>,
    phys_out: Option<String>,
    mac: Option<String>,
    src: Option<IpAddr>,
    dst: Option<IpAddr>,
    proto: Option<Protocol>,
    sport: Option<u16>,
    dport: Option<u16>,
    icmp_type: Option<u8>,
    icmp_code: Option<u8>,
    flags: u8,
    mark: Option<u32>,
    ttl: Option<u8>,
    length: Option<u32>,
    fragment: bool,
}

impl Fields {
    fn take(&mut self, word: &str) {
        let Some((key, value)) = word.split_once('=') else {
            if self.proto == Some(Protocol::TCP)
                && let Some(bit) = tcp_flag::parse(word)
            {
                self.flags |= bit;
            }
            self.fragment |= word.starts_with("FRAG:");
            return;
        };
        match key {
            "IN" => self.in_iface = Some(value.to_owned()),
            "OUT" => self.out_iface = Some(value.to_owned()),
            "PHYSIN" => self.phys_in = non_empty(value),
            "PHYSOUT" => self.phys_out = non_empty(value),
            "MAC" => self.mac = non_empty(value),
            "SRC" => self.src = value.parse().ok(),
            "DST" => self.dst = value.parse().ok(),
            "PROTO" => self.proto = Protocol::parse(value),
            "SPT" => self.sport = value.parse().ok(),
            "DPT" => self.dport = value.parse().ok(),
            "TYPE" => self.icmp_type = value.parse().ok(),
            "CODE" => self.icmp_code = value.parse().ok(),
            "TTL" | "HOPLIMIT" => self.ttl = value.parse().ok(),
            // UDP prints a second LEN (of its own header); the first is the packet's.
            "LEN" if self.length.is_none() => self.length = value.parse().ok(),
            "MARK" => {
                self.mark = value
                    .strip_prefix("0x")
                    .and_then(|hex| u32::from_str_radix(hex, 16).ok());
            }
            _ => {}
        }
    }

    fn into_packet(self) -> Option<Packet> {
        let (input, output) = (
            self.in_iface.unwrap_or_default(),
            self.out_iface.unwrap_or_default(),
        );
        let direction = match (input.is_empty(), output.is_empty()) {
            (false, false) => Direction::Forward,
            (false, true) => Direction::Input,
            (true, false) => Direction::Output,
            (true, true) => return None,
        };
        let (src, dst) = (self.src?, self.dst?);
        if src.is_ipv4() != dst.is_ipv4() {
            return None;
        }
        let mut packet = Packet::new(direction, src, dst);
        packet.in_iface = non_empty(&input).map(Interface::Name);
        packet.out_iface = non_empty(&output).map(Interface::Name);
        packet.bridge_ports = Some(BridgePorts {
            input: self.phys_in,
            output: self.phys_out,
        });
        packet.proto = self.proto;
        packet.sport = self.sport;
        packet.dport = self.dport;
        packet.icmp_type = self.icmp_type;
        packet.icmp_code = self.icmp_code;
        packet.tcp_flags = (self.proto == Some(Protocol::TCP)).then_some(self.flags);
        packet.mark = self.mark.or(self.proto.map(|_| 0));
        packet.fragment = Some(self.fragment && self.dport.is_none());
        packet.ttl = self.ttl;
        packet.length = self.length;
        if let Some((dst, src)) = self.mac.as_deref().and_then(parse_macs) {
            packet.mac_dst = Some(dst);
            packet.mac_src = Some(src);
        }
        packet.past_prerouting = true;
        Some(packet)
    }
}

fn non_empty(value: &str) -> Option<String> {
    (!value.is_empty()).then(|| value.to_owned())
}

/// `MAC=` is the raw link header: destination, source, ether type.
fn parse_macs(text: &str) -> Option<([u8; 6], [u8; 6])> {
    let bytes: Vec<u8> = text
        .split(':')
        .map(|byte| u8::from_str_radix(byte, 16))
        .collect::<Result<_, _>>()
        .ok()?;
    if bytes.len() != 14 {
        return None;
    }
    Some((bytes[..6].try_into().ok()?, bytes[6..12].try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SEED: &str = "Sep 28 09:36:20 192-18-132-31 kernel: [54237.164083] [UFW BLOCK] IN=lxc4f39491e6165 OUT=eno1 MAC=ea:34:8a:6c:c4:4f:0a:67:41:64:51:44:08:00 SRC=10.1.0.185 DST=1.1.1.1 LEN=45 TOS=0x00 PREC=0x00 TTL=62 ID=4481 DF PROTO=UDP SPT=59834 DPT=53 LEN=25 MARK=0xa1700f00 ";

    #[test]
    fn a_blocked_dns_query_of_a_pod_is_read_with_its_interfaces_ports_and_mark() {
        let logged = parse_log_line(SEED).unwrap();
        assert_eq!(logged.prefix, "[UFW BLOCK]");
        assert!(logged.says_blocked() && logged.is_ufw());
        let packet = logged.packet;
        assert_eq!(packet.direction, Direction::Forward);
        assert_eq!(
            packet.in_iface,
            Some(Interface::Name("lxc4f39491e6165".into()))
        );
        assert_eq!(packet.out_iface, Some(Interface::Name("eno1".into())));
        assert_eq!(packet.src, "10.1.0.185".parse::<IpAddr>().unwrap());
        assert_eq!(packet.proto, Some(Protocol::UDP));
        assert_eq!((packet.sport, packet.dport), (Some(59834), Some(53)));
        assert_eq!(packet.mark, Some(0xa170_0f00));
        assert_eq!((packet.ttl, packet.length), (Some(62), Some(45)));
    }

    #[test]
    fn a_prefix_without_brackets_or_space_is_still_found() {
        let line = "Nov 01 h kernel: FINAL_REJECT: IN=eth0 OUT= MAC= SRC=10.0.0.1 DST=10.0.0.2 LEN=60 TTL=64 PROTO=TCP SPT=1 DPT=22 WINDOW=64240 RES=0x00 SYN URGP=0";
        let logged = parse_log_line(line).unwrap();
        assert_eq!(logged.prefix, "FINAL_REJECT:");
        assert_eq!(logged.packet.direction, Direction::Input);
        assert_eq!(logged.packet.tcp_flags, Some(tcp_flag::SYN));
        assert_eq!(logged.packet.mark, Some(0));
        let glued = parse_log_line(
            "calico-drop:IN=cali1 OUT=eth0 SRC=1.1.1.1 DST=2.2.2.2 PROTO=ICMP TYPE=8 CODE=0",
        )
        .unwrap();
        assert_eq!(glued.prefix, "calico-drop:");
        assert_eq!(glued.packet.icmp_type, Some(8));
    }

    #[test]
    fn an_icmp_error_keeps_its_own_addresses_not_the_quoted_ones() {
        let line = "[UFW BLOCK] IN=eth0 OUT= SRC=10.9.9.9 DST=10.0.0.2 LEN=80 TTL=64 PROTO=ICMP TYPE=3 CODE=3 [SRC=10.0.0.2 DST=10.9.9.9 LEN=52 PROTO=UDP SPT=1 DPT=2 LEN=32 ] MARK=0x10 ";
        let packet = parse_log_line(line).unwrap().packet;
        assert_eq!(packet.src, "10.9.9.9".parse::<IpAddr>().unwrap());
        assert_eq!(packet.proto, Some(Protocol::ICMP));
        assert_eq!(packet.dport, None);
        assert_eq!(packet.mark, Some(0x10));
    }

    #[test]
    fn an_ipv6_line_is_read() {
        let line = "[  12.5] [UFW AUDIT] IN= OUT=eth0 SRC=fe80:0000:0000:0000:0000:0000:0000:0001 DST=ff02:0000:0000:0000:0000:0000:0000:0016 LEN=96 TC=0 HOPLIMIT=1 FLOWLBL=0 PROTO=ICMPv6 TYPE=143 CODE=0";
        let logged = parse_log_line(line).unwrap();
        assert_eq!(logged.prefix, "[UFW AUDIT]");
        assert_eq!(logged.packet.direction, Direction::Output);
        assert_eq!(logged.packet.proto, Some(Protocol::ICMPV6));
        assert_eq!(logged.packet.ttl, Some(1));
    }

    #[test]
    fn a_time_stamp_before_the_fields_is_not_taken_for_a_prefix() {
        let line = "kernel: [ 12.5] IN=a OUT=b SRC=1.1.1.1 DST=2.2.2.2 PROTO=UDP SPT=1 DPT=2";
        assert_eq!(parse_log_line(line).unwrap().prefix, "");
    }

    #[test]
    fn other_lines_are_not_firewall_lines() {
        for line in [
            "",
            "BEGIN=1 OUT=2",
            "IN= OUT= SRC=1.1.1.1 DST=1.1.1.2",
            "IN=a OUT=b SRC=x DST=y",
        ] {
            assert_eq!(parse_log_line(line), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_line_makes_the_parser_panic(line in "\\PC{0,200}") {
            let _ = parse_log_line(&line);
        }

        #[test]
        fn no_cut_or_changed_firewall_line_makes_the_parser_panic(
            cut in 0usize..300, insert in "\\PC{0,12}", at in 0usize..300,
        ) {
            let mut text: String = SEED.chars().take(cut).collect();
            let position = text.char_indices().map(|(i, _)| i).nth(at).unwrap_or(text.len());
            text.insert_str(position, &insert);
            let _ = parse_log_line(&text);
        }
    }
}
