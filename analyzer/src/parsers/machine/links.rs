//! Links of the network and ports of InfiniBand, one a line, as the collector gathered them.

use std::collections::BTreeMap;

use casefile_bundle::{ANY, Entry};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::node_json::parse_each;
use super::super::{Document, Parsed, Parser, Read};
use super::quoted;
use crate::facts::machine::{FabricPort, NetLink};

/// Reads `nodes/<node>/host/links.json`.
pub(in crate::parsers) static LINKS: Parser = Parser {
    id: "net-links",
    reads: &[Entry::Host(ANY, "links.json")],
    read: Read::Whole(parse_links),
};

/// Reads `nodes/<node>/host/infiniband.json`.
pub(in crate::parsers) static PORTS: Parser = Parser {
    id: "fabric-ports",
    reads: &[Entry::Host(ANY, "infiniband.json")],
    read: Read::Whole(parse_ports),
};

/// What counters of trouble are called. Counters of pause frames and of wakened queues are not among them.
const TROUBLE: [&str; 8] = [
    "error",
    "err_",
    "_err",
    "crc",
    "drop",
    "discard",
    "timeout",
    "link_down",
];

/// Counters of trouble above zero, from numbers or texts of numbers.
fn troubles<'a>(lists: impl IntoIterator<Item = &'a Map<String, Value>>) -> BTreeMap<String, u64> {
    let pairs = lists.into_iter().flatten();
    pairs
        .filter_map(|(name, value)| {
            let count = match value {
                Value::String(text) => text.trim().parse().ok()?,
                other => other.as_u64()?,
            };
            let lower = name.to_ascii_lowercase();
            let counts = count > 0 && TROUBLE.iter().any(|word| lower.contains(word));
            counts.then(|| (name.clone(), count))
        })
        .collect()
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Link {
    name: String,
    operstate: String,
    mtu: Option<String>,
    speed: Option<String>,
    carrier_changes: Option<String>,
    driver: Option<String>,
    statistics: Map<String, Value>,
    adapter_statistics: Map<String, Value>,
    driver_info: Map<String, Value>,
    module: Map<String, Value>,
}

fn parse_links(document: &Document<'_>) -> Parsed {
    parse_each(document, "link", |link: Link, place, object, parsed| {
        let number = |text: Option<&String>| text.and_then(|text| text.trim().parse().ok());
        let word = |map: &Map<String, Value>, name: &str| {
            map.get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let alarms = link.module.iter().filter(|(name, state)| {
            let lower = name.to_ascii_lowercase();
            let on = state
                .as_str()
                .is_some_and(|state| state.eq_ignore_ascii_case("on"));
            on && (lower.contains("alarm") || lower.contains("warning"))
        });
        let data = NetLink {
            node: document.node.to_owned(),
            state: link.operstate,
            mtu: number(link.mtu.as_ref()),
            speed: number(link.speed.as_ref()),
            driver: link.driver.unwrap_or_default(),
            firmware: word(&link.driver_info, "firmware-version"),
            carrier_changes: number(link.carrier_changes.as_ref()).unwrap_or(0),
            errors: troubles([&link.statistics, &link.adapter_statistics]),
            alarms: alarms.map(|(name, _)| name.clone()).collect(),
            name: link.name,
        };
        parsed.facts.push(quoted(place, object, data));
    })
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Port {
    adapter: String,
    port: String,
    state: String,
    phys_state: String,
    rate: String,
    link_layer: String,
    fw_ver: String,
    counters: Map<String, Value>,
    hw_counters: Map<String, Value>,
}

/// `4: ACTIVE` gives `ACTIVE`.
fn named(state: &str) -> String {
    state.rsplit(": ").next().unwrap_or(state).trim().to_owned()
}

fn parse_ports(document: &Document<'_>) -> Parsed {
    parse_each(document, "port", |port: Port, place, object, parsed| {
        let data = FabricPort {
            node: document.node.to_owned(),
            adapter: port.adapter,
            port: port.port,
            state: named(&port.state),
            physical: named(&port.phys_state),
            rate: port.rate,
            layer: port.link_layer,
            firmware: port.fw_ver,
            errors: troubles([&port.counters, &port.hw_counters]),
        };
        parsed.facts.push(quoted(place, object, data));
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::facts;
    use super::*;

    #[test]
    fn a_link_says_its_errors_its_firmware_and_what_its_optics_warn_of() {
        let text = "{\"links\":[\n{\"name\":\"eth0\",\"operstate\":\"up\",\"mtu\":\"9000\",\"speed\":\"100000\",\
            \"carrier_changes\":\"14\",\"driver\":\"mlx5_core\",\"pci\":\"0000:3b:00.0\",\
            \"statistics\":{\"rx_crc_errors\":12,\"rx_bytes\":991},\
            \"adapter_statistics\":{\"rx_discards_phy\":\"7\",\"rx_pause_ctrl_phy\":\"3\"},\
            \"driver_info\":{\"firmware-version\":\"22.41.1000 (MT_0000000359)\"},\
            \"module\":{\"Laser rx power low alarm\":\"On\",\"Laser bias current high alarm\":\"Off\"}}\n]}\n";
        let links = facts::<NetLink>(&LINKS, "nodes/n1/host/links.json", text);
        let link = &links[0].data;
        assert_eq!(
            (link.mtu, link.speed, link.carrier_changes),
            (Some(9000), Some(100_000), 14)
        );
        let errors: Vec<_> = link.errors.keys().map(String::as_str).collect();
        assert_eq!(errors, ["rx_crc_errors", "rx_discards_phy"]);
        assert_eq!(link.alarms, ["Laser rx power low alarm"]);
        assert!(link.firmware.starts_with("22.41"));
    }

    #[test]
    fn a_port_that_is_down_is_named_with_its_counters() {
        let text = "{\"ports\":[\n{\"adapter\":\"mlx5_0\",\"port\":\"1\",\"state\":\"1: DOWN\",\
            \"phys_state\":\"2: Polling\",\"rate\":\"40 Gb/sec (4X QDR)\",\"link_layer\":\"InfiniBand\",\
            \"fw_ver\":\"20.31.1014\",\"counters\":{\"link_downed\":7,\"port_rcv_data\":99},\"hw_counters\":{}}\n]}\n";
        let ports = facts::<FabricPort>(&PORTS, "nodes/n1/host/infiniband.json", text);
        let port = &ports[0].data;
        assert_eq!(
            (port.state.as_str(), port.physical.as_str()),
            ("DOWN", "Polling")
        );
        assert_eq!(port.errors.get("link_downed"), Some(&7));
        assert_eq!(port.errors.len(), 1);
    }
}
