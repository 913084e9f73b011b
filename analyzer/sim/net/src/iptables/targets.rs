//! The target of a rule with its own options.

use super::values;
use crate::condition::lookup::Fill;
use crate::queue::Queue;

use super::{Nat, NatTo, NewSource, SourceAddress, SourcePort, Target};

/// Targets that change nothing which later rules can see.
const PASSING_TARGETS: [&str; 20] = [
    "NFLOG",
    "ULOG",
    "TRACE",
    "AUDIT",
    "CHECKSUM",
    "TCPMSS",
    "TOS",
    "ECN",
    "DSCP",
    "TTL",
    "HL",
    "CLASSIFY",
    "SET",
    "SECMARK",
    "CONNSECMARK",
    "TEE",
    "LED",
    "RATEEST",
    "IDLETIMER",
    "TCPOPTSTRIP",
];

/// Other targets with options; what follows the name of a chain are conditions.
const TARGETS_WITH_OPTIONS: [&str; 16] = [
    "REJECT",
    "LOG",
    "MARK",
    "CONNMARK",
    "CT",
    "DNAT",
    "SNAT",
    "MASQUERADE",
    "REDIRECT",
    "NETMAP",
    "NFQUEUE",
    "QUEUE",
    "TPROXY",
    "SYNPROXY",
    "NFACCT",
    "HMARK",
];

/// True when options behind the name belong to the target.
pub(super) fn takes_arguments(name: &str) -> bool {
    TARGETS_WITH_OPTIONS.contains(&name) || PASSING_TARGETS.contains(&name)
}

/// The target of this name with these arguments.
pub(super) fn target(name: &str, arguments: &[&str]) -> Target {
    let argument = |option: &str| {
        let at = arguments.iter().position(|word| *word == option)?;
        Some(arguments.get(at + 1).copied().unwrap_or(""))
    };
    match name {
        "" => Target::None,
        "ACCEPT" => Target::Accept,
        "DROP" => Target::Drop,
        "RETURN" => Target::Return,
        "REJECT" => Target::Reject(
            argument("--reject-with")
                .unwrap_or("icmp-port-unreachable")
                .to_owned(),
        ),
        "LOG" => Target::Log(argument("--log-prefix").unwrap_or("").trim().to_owned()),
        "MARK" => mark_target(&argument).unwrap_or_else(|| Target::Named("MARK".to_owned())),
        "CONNMARK" if arguments.contains(&"--restore-mark") => {
            let bits = |option: &str| argument(option).map_or(Some(u32::MAX), values::number);
            match (
                argument("--mask").and_then(values::number),
                bits("--nfmask"),
                bits("--ctmask"),
            ) {
                (Some(mask), ..) => Target::RestoreMark {
                    nfmask: mask,
                    ctmask: mask,
                },
                (None, Some(nfmask), Some(ctmask)) => Target::RestoreMark { nfmask, ctmask },
                _ => Target::Named("CONNMARK".to_owned()),
            }
        }
        "CONNMARK" => conn_mark(&argument, arguments),
        "NOTRACK" => Target::Untrack,
        "CT" if arguments.contains(&"--notrack") => Target::Untrack,
        "CT" => Target::Pass(name.to_owned()),
        "TOS" => Target::SetService(argument("--set-tos").and_then(service)),
        "DSCP" => Target::SetService(argument("--set-dscp").and_then(|text| {
            let class = u8::try_from(values::number(text)?).ok()?;
            Some((class.checked_mul(4)?, 0xfc))
        })),
        "TTL" | "HL" => {
            let set = argument("--ttl-set").or_else(|| argument("--hl-set"));
            Target::SetTtl(set.and_then(|ttl| ttl.parse().ok()))
        }
        "NFQUEUE" | "QUEUE" => Target::Queue(Queue::of_options(arguments)),
        "TPROXY" => Target::Proxy(proxy(argument("--on-ip"), argument("--on-port"))),
        // A mark that is made of a hash of the packet.
        "HMARK" => Target::LoseMark,
        "DNAT" | "SNAT" | "MASQUERADE" | "REDIRECT" | "NETMAP" => Target::Nat(Box::new(Nat {
            text: join(name, arguments),
            to: match name {
                "DNAT" => destination(argument("--to-destination").unwrap_or("")),
                "REDIRECT" => match argument("--to-ports") {
                    Some(ports) if ports.contains('-') => NatTo::LocalAny,
                    ports => NatTo::Local(ports.and_then(|port| port.parse().ok())),
                },
                "NETMAP" => NatTo::Unknown,
                "SNAT" => NatTo::Source(source(argument("--to-source").unwrap_or(""), arguments)),
                _ => NatTo::Source(masquerade(argument("--to-ports"), arguments)),
            },
        })),
        "SET" => set_target(&argument),
        _ if PASSING_TARGETS.contains(&name) => Target::Pass(name.to_owned()),
        _ => Target::Named(name.to_owned()),
    }
}

/// `SET --add-set name src`, `SET --map-set name src --map-mark`.
fn set_target<'a>(argument: &impl Fn(&str) -> Option<&'a str>) -> Target {
    let fill = |name: &str, deletes| {
        Target::Fill(Box::new(Fill {
            name: format!("ipset {name}"),
            key: None,
            deletes,
        }))
    };
    match (argument("--add-set"), argument("--del-set")) {
        (Some(name), None) => fill(name, false),
        (None, Some(name)) => fill(name, true),
        (None, None) if argument("--map-mark").is_none() => Target::Pass("SET".to_owned()),
        // Both at once, or a mark that the set holds.
        (None, None) => Target::LoseMark,
        _ => Target::Named("SET".to_owned()),
    }
}

/// Where a transparent socket has to listen: without a port, or at port 0, at that of the packet (`net/netfilter/xt_TPROXY.c`).
fn proxy(address: Option<&str>, port: Option<&str>) -> String {
    let address = address.filter(|one| *one != "0.0.0.0" && *one != "::");
    let (address, port) = (address.unwrap_or(""), port.filter(|one| *one != "0"));
    match port {
        Some(port) => format!("{address}:{port}"),
        None => address.to_owned(),
    }
}

/// `0x10/0x3f`: the value that is turned in and the bits that are cleared first.
fn service(text: &str) -> Option<(u8, u8)> {
    let (value, mask) = values::masked(text)?;
    let mask = if mask == u32::MAX { 0xff } else { mask };
    Some((u8::try_from(value).ok()?, u8::try_from(mask).ok()?))
}

/// `10.0.0.9`, `10.0.0.9:53`, `:53`, `[fd00::1]:53`; ranges are not followed.
pub(crate) fn destination(text: &str) -> NatTo {
    let (address, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let Some((address, port)) = rest.split_once(']') else {
                return NatTo::Unknown;
            };
            (address, port.strip_prefix(':'))
        }
        None if text.matches(':').count() > 1 => (text, None),
        None => match text.split_once(':') {
            Some((address, port)) => (address, Some(port)),
            None => (text, None),
        },
    };
    let read = |text: &str| (!text.is_empty()).then(|| text.parse());
    let port = match port.map(str::parse::<u16>).transpose() {
        Ok(port) => port,
        Err(_) => return NatTo::Unknown,
    };
    match read(address).transpose() {
        Ok(address) if address.is_some() || port.is_some() => NatTo::Destination(address, port),
        _ => NatTo::Unknown,
    }
}

/// What masquerading makes of a source.
fn masquerade(ports: Option<&str>, arguments: &[&str]) -> NewSource {
    NewSource {
        address: SourceAddress::Own,
        port: new_port(ports, arguments),
    }
}

/// `192.0.2.1`, `192.0.2.1:1024-2048`, `192.0.2.1-192.0.2.9`; which of several it takes is not followed.
pub(crate) fn source(text: &str, options: &[&str]) -> NewSource {
    let (address, port) = match destination(text) {
        NatTo::Destination(address, port) => (address, port.map(|port| port.to_string())),
        _ => match text.rsplit_once(':') {
            Some((head, ports)) if ports.contains('-') => {
                let head = head.trim_matches(['[', ']']);
                (head.parse().ok(), Some(ports.to_owned()))
            }
            _ => (None, None),
        },
    };
    NewSource {
        address: address.map_or(SourceAddress::Unknown, SourceAddress::Is),
        port: new_port(port.as_deref(), options),
    }
}

/// The port by the ports that a rule gives and its options.
pub(crate) fn new_port(ports: Option<&str>, options: &[&str]) -> SourcePort {
    let random = options.iter().any(|option| option.contains("random"));
    match ports.map(str::parse) {
        Some(Ok(port)) => SourcePort::Is(port),
        Some(Err(_)) => SourcePort::Any,
        None if random => SourcePort::Any,
        None => SourcePort::Kept,
    }
}

/// `CONNMARK` but for `--restore-mark`.
fn conn_mark<'a>(argument: &impl Fn(&str) -> Option<&'a str>, arguments: &[&str]) -> Target {
    if arguments.contains(&"--save-mark") {
        let bits = |option: &str| argument(option).map_or(Some(u32::MAX), values::number);
        let both = argument("--mask").and_then(values::number);
        return match (both, bits("--nfmask"), bits("--ctmask")) {
            (Some(mask), ..) => Target::SaveMark {
                nfmask: mask,
                ctmask: mask,
            },
            (None, Some(nfmask), Some(ctmask)) => Target::SaveMark { nfmask, ctmask },
            _ => Target::ChangeConnMark,
        };
    }
    match mark_target(argument) {
        Some(Target::SetMark { value, mask }) => Target::SetConnMark { value, mask },
        _ => Target::ChangeConnMark,
    }
}

fn join(name: &str, arguments: &[&str]) -> String {
    let mut text = name.to_owned();
    for argument in arguments {
        text.push(' ');
        text.push_str(argument);
    }
    text
}

fn mark_target<'a>(argument: &impl Fn(&str) -> Option<&'a str>) -> Option<Target> {
    if let Some(text) = argument("--set-xmark") {
        return values::masked(text).map(|(value, mask)| Target::SetMark { value, mask });
    }
    if let Some(text) = argument("--set-mark") {
        return values::masked(text).map(|(value, mask)| Target::SetMark {
            value,
            mask: mask | value,
        });
    }
    if let Some(bits) = argument("--and-mark").and_then(values::number) {
        return Some(Target::SetMark {
            value: 0,
            mask: !bits,
        });
    }
    if let Some(bits) = argument("--or-mark").and_then(values::number) {
        return Some(Target::SetMark {
            value: bits,
            mask: bits,
        });
    }
    let bits = argument("--xor-mark").and_then(values::number)?;
    Some(Target::SetMark {
        value: bits,
        mask: 0,
    })
}
