//! The rule set behind the rows of `ufw status verbose`, for bundles that hold
//! nothing else: ufw's usual chains, its default policies, one rule per row.
//!
//! The before and after rules of the host are not shown by the status; the ones
//! ufw ships for forwarded and answered packets stand in for them.

use super::{UfwRow, UfwStatus};
use crate::iptables::{Backend, Origin, Policy, RuleSet};
use crate::packet::Family;

/// What stands for the shipped before rules.
const SHIPPED: &str = "<ufw's shipped rules>";

/// Builds the rule set of one family; `None` unless the status says that ufw is
/// active and shows its defaults.
pub(crate) fn from_rows(status: &UfwStatus, family: Family) -> Option<RuleSet> {
    let origin = status
        .defaults_origin
        .clone()
        .filter(|_| status.active == Some(true))?;
    let mut set = RuleSet::empty(family, Backend::UfwStatus, &origin.path);
    let name = if family == Family::V4 { "ufw" } else { "ufw6" };
    let logs = status
        .logging
        .as_deref()
        .is_none_or(|logging| !logging.starts_with("off"));
    set.apply(SHIPPED, &shipped(name, logs));
    for row in status
        .rows
        .iter()
        .filter(|row| row.v6 == (family == Family::V6))
    {
        let chain = match row.direction.as_str() {
            "FWD" => "forward",
            "OUT" => "output",
            _ => "input",
        };
        for options in row_options(row) {
            set.apply(
                &row.origin.path,
                &format!("*filter\n-A {name}-user-{chain} {options}\nCOMMIT\n"),
            );
            let rules = &mut set
                .tables
                .get_mut("filter")?
                .chains
                .get_mut(&format!("{name}-user-{chain}"))?
                .rules;
            if let Some(rule) = rules.last_mut() {
                rule.origin = row.origin.clone();
                rule.text = format!("{} {} {} {}", row.to, row.action, row.direction, row.from);
            }
        }
    }
    for (chain, default) in [
        ("INPUT", &status.incoming),
        ("OUTPUT", &status.outgoing),
        ("FORWARD", &status.routed),
    ] {
        policy(
            &mut set,
            name,
            chain,
            default.as_deref().unwrap_or("disabled"),
            &origin,
        );
    }
    Some(set)
}

fn shipped(name: &str, logs: bool) -> String {
    let mut lines = vec!["*filter".to_owned()];
    for (direction, chain) in [
        ("input", "INPUT"),
        ("output", "OUTPUT"),
        ("forward", "FORWARD"),
    ] {
        for part in ["before", "after-logging", "reject"] {
            lines.push(format!(":{name}-{part}-{direction} -"));
            lines.push(format!("-A {chain} -j {name}-{part}-{direction}"));
        }
        lines.push(format!(":{name}-user-{direction} -"));
        lines.push(format!(
            "-A {name}-before-{direction} -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT"
        ));
        if direction != "output" {
            let echo = if name == "ufw" {
                "-p icmp --icmp-type 8"
            } else {
                "-p icmpv6 --icmpv6-type 128"
            };
            lines.push(format!("-A {name}-before-{direction} {echo} -j ACCEPT"));
        }
        lines.push(format!(
            "-A {name}-before-{direction} -j {name}-user-{direction}"
        ));
        if logs {
            let log = "-m limit --limit 3/min -j LOG --log-prefix \"[UFW BLOCK] \"";
            lines.push(format!("-A {name}-after-logging-{direction} {log}"));
        }
    }
    lines.push("-I INPUT -i lo -j ACCEPT\n-I OUTPUT -o lo -j ACCEPT\nCOMMIT\n".to_owned());
    lines.join("\n")
}

fn policy(set: &mut RuleSet, name: &str, chain: &str, default: &str, origin: &Origin) {
    let accept = default == "allow";
    if default == "reject" {
        let text = format!(
            "*filter\n-A {name}-reject-{} -j REJECT\nCOMMIT\n",
            chain.to_ascii_lowercase()
        );
        set.apply(&origin.path, &text);
    }
    let chains = set.tables.get_mut("filter").map(|table| &mut table.chains);
    let Some(chains) = chains else { return };
    if let Some(reject) = chains.get_mut(&format!("{name}-reject-{}", chain.to_ascii_lowercase())) {
        reject
            .rules
            .iter_mut()
            .for_each(|rule| rule.origin = origin.clone());
    }
    // `disabled` is shown instead of the default where the host does not route.
    if let Some(found) = chains.get_mut(chain).filter(|_| default != "disabled") {
        let text = if accept { "ACCEPT" } else { "DROP" }.to_owned();
        found.policy = Some(Policy {
            accept,
            text,
            counters: None,
            origin: origin.clone(),
        });
    }
}

/// The options of the rules that a row stands for: a port without protocol
/// stands for TCP and UDP.
fn row_options(row: &UfwRow) -> Vec<String> {
    let (to, from) = (Place::parse(&row.to), Place::parse(&row.from));
    let target = match row.action.as_str() {
        "ALLOW" => "-j ACCEPT",
        "DENY" => "-j DROP",
        "REJECT" => "-j REJECT",
        // Up to six connections in 30 seconds pass: depends on earlier packets.
        _ => "-m recent --update --seconds 30 --hitcount 6 -j REJECT",
    };
    let interfaces = match row.direction.as_str() {
        "FWD" => format!(
            "{} {}",
            flag("-i", from.interface),
            flag("-o", to.interface)
        ),
        "OUT" => flag("-o", from.interface),
        _ => flag("-i", to.interface),
    };
    let ports = !to.port.is_empty() || !from.port.is_empty();
    let proto = if to.proto.is_empty() {
        from.proto
    } else {
        to.proto
    };
    let protos: &[&str] = if proto.is_empty() && ports {
        &["tcp", "udp"]
    } else {
        &[proto]
    };
    let mut rules = Vec::new();
    for proto in protos {
        let mut options = format!("{interfaces} {}", flag("-p", proto));
        for (name, value) in [
            ("-d", to.address),
            ("-s", from.address),
            ("--dports", to.port),
            ("--sports", from.port),
        ] {
            options.push(' ');
            options.push_str(&flag(name, value));
        }
        for unread in [to.unread, from.unread]
            .into_iter()
            .filter(|text| !text.is_empty())
        {
            // A named application profile: its ports are not in the status.
            options = format!(
                "{options} -m ufw-profile --name \"{}\"",
                unread.replace(['"', '\\'], "")
            );
        }
        rules.push(format!("{options} {target}"));
        if row.action == "LIMIT" {
            rules.push(format!("{options} -j ACCEPT"));
        }
    }
    rules
}

fn flag(name: &str, value: &str) -> String {
    if value.is_empty() {
        String::new()
    } else {
        format!("{name} {value}")
    }
}

/// One column of a row, such as `10.0.0.0/8 53/udp on eth0`.
#[derive(Default)]
struct Place<'a> {
    address: &'a str,
    port: &'a str,
    proto: &'a str,
    interface: &'a str,
    unread: &'a str,
}

impl<'a> Place<'a> {
    fn parse(text: &'a str) -> Place<'a> {
        let mut place = Place::default();
        let (body, interface) = text.rsplit_once(" on ").unwrap_or((text, ""));
        place.interface = interface.split_ascii_whitespace().next().unwrap_or("");
        // `80/tcp (Nginx HTTP)`, `22/tcp (v6)`, `Anywhere   (log)`.
        let body = body.split(" (").next().unwrap_or(body).trim();
        for word in body.split_ascii_whitespace() {
            let (head, proto) = word.split_once('/').unwrap_or((word, ""));
            let is_port = head
                .split([',', ':'])
                .all(|port| port.parse::<u16>().is_ok());
            if head == "Anywhere" {
                place.proto = proto;
            } else if is_port {
                (place.port, place.proto) = (head, proto);
            } else if head.parse::<std::net::IpAddr>().is_ok() {
                // `192.0.2.1/udp` carries a protocol, `10.0.0.0/8` a prefix length.
                let prefix = proto.is_empty() || proto.parse::<u8>().is_ok();
                (place.address, place.proto) = if prefix {
                    (word, place.proto)
                } else {
                    (head, proto)
                };
            } else {
                place.unread = body;
            }
        }
        place
    }
}
