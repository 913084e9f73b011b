//! What watches the fabric: DCGM's health, the members of an IMEX domain, and network adapters that watch themselves.

use std::collections::BTreeMap;

use casefile_bundle::{ANY, Entry};
use serde::Deserialize;

use super::super::{Document, Parsed, Parser, Read};
use super::{quoted, stated, with_lines};
use crate::facts::AnyFact;
use crate::facts::hardware::{AdapterHealth, GpuHealth, ImexNode};

/// Reads `dcgmi health -c`.
pub(in crate::parsers) static HEALTH: Parser = Parser {
    id: "gpu-health",
    reads: &[Entry::Printed(ANY, "dcgmi-health")],
    read: Read::Whole(parse_health),
};

/// Reads `nvidia-imex-ctl -N -j`.
pub(in crate::parsers) static DOMAIN: Parser = Parser {
    id: "imex-domain",
    reads: &[Entry::Printed(ANY, "imex-status")],
    read: Read::Whole(parse_domain),
};

/// Reads `devlink -j health show`.
pub(in crate::parsers) static ADAPTERS: Parser = Parser {
    id: "adapter-health",
    reads: &[Entry::Printed(ANY, "devlink-health")],
    read: Read::Whole(parse_adapters),
};

/// A table of two columns: names of parts and systems, and what is said of them. Where a cell goes on, the one before it
/// is empty.
fn parse_health(document: &Document<'_>) -> Parsed {
    let mut found: Vec<(GpuHealth, u32, &str)> = Vec::new();
    let (mut group, mut part) = (String::new(), String::new());
    for (line, number) in document.text.lines().zip(1u32..) {
        let Some(cells) = line.trim().strip_prefix('|') else {
            continue;
        };
        let (left, right) = cells
            .trim_end_matches('|')
            .split_once('|')
            .unwrap_or((cells.trim_end_matches('|'), ""));
        let (name, said) = (left.trim().trim_start_matches("-> "), right.trim());
        let mut add = |part: &str, system: &str, said: &str| {
            let (health, message) = said.split_once(" - ").unwrap_or((said, ""));
            let data = GpuHealth {
                node: document.node.to_owned(),
                part: part.to_owned(),
                system: system.to_owned(),
                health: health.trim().to_owned(),
                message: message.trim().to_owned(),
            };
            found.push((data, number, line));
        };
        if let Some(rest) = name.strip_prefix("Overall Health") {
            add(
                "all",
                "",
                [rest.trim_start_matches(':').trim(), said]
                    .concat()
                    .as_str(),
            );
        } else if said.is_empty() && ["GPU", "NvSwitch", "CPU"].contains(&name) {
            name.clone_into(&mut group);
        } else if let Some(index) = name.strip_prefix("GPU ID:") {
            part = format!("GPU {}", index.trim());
            add(&part, "", said);
        } else if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) {
            part = format!("{group} {name}");
            add(&part, "", said);
        } else if name.ends_with(" system") {
            add(&part, name, said);
        } else if let Some((system, said)) =
            said.split_once(" system: ").filter(|_| name.is_empty())
        {
            add(&part, &format!("{system} system"), said);
        } else if let Some((last, ..)) = found
            .last_mut()
            .filter(|_| name.is_empty() && !said.is_empty())
        {
            last.message = format!("{} {said}", last.message).trim().to_owned();
        }
    }
    let facts = found
        .into_iter()
        .map(|(data, number, line)| stated(document, number, line, data));
    with_lines(document, facts.collect())
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Domain {
    nodes: BTreeMap<String, Member>,
    status: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Member {
    status: String,
    host: String,
    host_name: String,
    connections: BTreeMap<String, Peer>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Peer {
    host: String,
    status: String,
}

fn parse_domain(document: &Document<'_>) -> Parsed {
    // Where the tool refuses, it says so in words.
    let Ok(domain) = serde_json::from_str::<Domain>(document.text) else {
        return with_lines(document, Vec::new());
    };
    let facts = domain.nodes.into_values().map(|member| -> AnyFact {
        let place = document.at_offset(document.text.find(member.host.as_str()).unwrap_or(0));
        let said = format!(
            "{}: {}, domain {}",
            member.host, member.status, domain.status
        );
        let apart = member
            .connections
            .into_values()
            .filter(|peer| peer.status != "CONNECTED");
        let data = ImexNode {
            node: document.node.to_owned(),
            domain: domain.status.clone(),
            name: Some(member.host_name)
                .filter(|name| name != "N/A")
                .unwrap_or_default(),
            status: member.status,
            unconnected: apart.map(|peer| peer.host).collect(),
            host: member.host,
        };
        quoted(place, &said, data)
    });
    with_lines(document, facts.collect())
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Health {
    health: BTreeMap<String, Vec<Reporter>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Reporter {
    reporter: String,
    state: String,
    error: u64,
    recover: u64,
}

fn parse_adapters(document: &Document<'_>) -> Parsed {
    let health: Health = match serde_json::from_str(document.text) {
        Ok(health) => health,
        Err(error) => {
            let text = format!("what devlink says of adapters was not read: {error}");
            return Parsed::problem(document.line(1), text);
        }
    };
    let mut parsed = Parsed::default();
    for (device, reporters) in health.health {
        let at = document.text.find(&format!("\"{device}\"")).unwrap_or(0);
        for one in reporters {
            let said = format!(
                "{device} {}: {}, {} errors",
                one.reporter, one.state, one.error
            );
            let data = AdapterHealth {
                node: document.node.to_owned(),
                device: device.clone(),
                reporter: one.reporter,
                state: one.state,
                errors: one.error,
                recoveries: one.recover,
            };
            parsed
                .facts
                .push(quoted(document.at_offset(at), &said, data));
        }
    }
    parsed
}

#[cfg(test)]
mod tests {
    use super::super::testing::facts;
    use super::*;

    /// After the examples of DCGM's documentation, in the form of release 3 and in that of release 2.
    #[test]
    fn a_part_that_is_not_healthy_says_which_system_and_why() {
        let text = "+---------------------------+------------------------------+\n| Health Monitor Report                                    |\n\
            +===========================+==============================+\n| Overall Health            | Warning                      |\n\
            | GPU                       |                              |\n| -> 0                      | Warning                      |\n\
            |    -> Errors              |                              |\n|       -> PCIe system      | Warning                      |\n\
            |                           | Detected more than 8 PCIe    |\n|                           | replays per minute for GPU 0 |\n+---+---+\n";
        let found = facts::<GpuHealth>(&HEALTH, "nodes/n1/commands/dcgmi-health.out", text);
        let said: Vec<_> = found
            .iter()
            .map(|one| {
                (
                    one.data.part.as_str(),
                    one.data.system.as_str(),
                    one.data.health.as_str(),
                )
            })
            .collect();
        assert_eq!(
            said,
            [
                ("all", "", "Warning"),
                ("GPU 0", "", "Warning"),
                ("GPU 0", "PCIe system", "Warning")
            ]
        );
        assert_eq!(
            found[2].data.message,
            "Detected more than 8 PCIe replays per minute for GPU 0"
        );
        let old = "| Overall Health:    Healthy                |\n| GPU ID: 1  | Warning       |\n|            | PCIe system: Warning - Detected more than 8 |\n|            | PCIe replays |\n";
        let found = facts::<GpuHealth>(&HEALTH, "nodes/n1/commands/dcgmi-health.out", old);
        assert_eq!(found[0].data.health, "Healthy");
        let last = &found[2].data;
        assert_eq!(
            (
                last.part.as_str(),
                last.system.as_str(),
                last.health.as_str()
            ),
            ("GPU 1", "PCIe system", "Warning")
        );
        assert_eq!(last.message, "Detected more than 8 PCIe replays");
    }

    /// The members of `nvidia-imex-ctl -N -j` as the tests of public tools for it have them.
    #[test]
    fn a_domain_that_is_down_names_who_is_not_connected() {
        let text = r#"{"nodes":{"0":{"status":"READY","host":"10.0.0.1","connections":{"0":{"host":"10.0.0.1","status":"CONNECTED","changed":true},
            "1":{"host":"10.0.0.2","status":"INVALID","changed":false}},"hostName":"gpu-a"},
            "1":{"status":"UNAVAILABLE","host":"10.0.0.2","connections":{},"hostName":"N/A"}},"timestamp":"9/4/2026 00:00:00.000","status":"DEGRADED"}"#;
        let found = facts::<ImexNode>(&DOMAIN, "nodes/n1/commands/imex-status.out", text);
        assert_eq!(found[0].data.unconnected, ["10.0.0.2"]);
        let other = &found[1].data;
        assert_eq!(
            (
                other.status.as_str(),
                other.name.as_str(),
                other.domain.as_str()
            ),
            ("UNAVAILABLE", "", "DEGRADED")
        );
        assert!(
            facts::<ImexNode>(
                &DOMAIN,
                "nodes/n1/commands/imex-status.out",
                "cannot connect to the daemon\n"
            )
            .is_empty()
        );
    }

    #[test]
    fn an_adapter_whose_firmware_failed_is_read() {
        let text = r#"{"health":{"pci/0000:82:00.0":[{"reporter":"fw","state":"healthy","error":0,"recover":0},
            {"reporter":"fw_fatal","state":"error","error":1,"recover":0,"grace_period":1200000,"auto_recover":true}]}}"#;
        let found = facts::<AdapterHealth>(&ADAPTERS, "nodes/n1/commands/devlink-health.out", text);
        assert_eq!(
            (found[1].data.state.as_str(), found[1].data.errors),
            ("error", 1)
        );
    }
}
