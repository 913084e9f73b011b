//! PCI devices: `lspci -vvv`, and the counters that the kernel keeps of their errors.

use std::collections::BTreeMap;

use casefile_bundle::{ANY, Entry};

use super::super::{Document, Parsed, Parser, Read};
use super::{stated, with_lines};
use crate::facts::AnyFact;
use crate::facts::hardware::{PciDevice, PciErrors};

/// Reads `lspci -vvvnn`.
pub(in crate::parsers) static DEVICES: Parser = Parser {
    id: "pci-devices",
    reads: &[Entry::Printed(ANY, "lspci-verbose")],
    read: Read::Whole(parse_devices),
};

/// Reads `aer_dev_correctable`, `aer_dev_nonfatal` and `aer_dev_fatal` of each device.
pub(in crate::parsers) static COUNTERS: Parser = Parser {
    id: "pci-errors",
    reads: &[Entry::Rootfs(ANY, "sys/bus/pci/devices/*/aer_dev_*")],
    read: Read::Whole(parse_counters),
};

fn parse_devices(document: &Document<'_>) -> Parsed {
    let mut facts: Vec<AnyFact> = Vec::new();
    let mut open: Option<(PciDevice, u32, &str)> = None;
    let mut close = |found: Option<(PciDevice, u32, &str)>| {
        // What has no link and no error says nothing that `lspci` does not.
        let tells = |device: &PciDevice| device.speed.is_some() || !device.errors.is_empty();
        if let Some((device, number, line)) = found.filter(|(device, ..)| tells(device)) {
            facts.push(stated(document, number, line, device));
        }
    };
    for (line, number) in document.text.lines().zip(1u32..) {
        if let Some((address, name)) = head(line) {
            let device = PciDevice {
                node: document.node.to_owned(),
                address: address.to_owned(),
                name: name.to_owned(),
                ..PciDevice::default()
            };
            close(open.replace((device, number, line)));
        } else if let Some((device, ..)) = &mut open {
            say(device, line.trim());
        }
    }
    close(open);
    with_lines(document, facts)
}

/// `19:00.0 3D controller: NVIDIA ...`; lines about a device are indented.
fn head(line: &str) -> Option<(&str, &str)> {
    let (address, name) = line.split_once(' ')?;
    let (bus, function) = address.rsplit_once('.')?;
    let hex = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    (bus.contains(':') && bus.split(':').all(hex) && hex(function))
        .then_some((address, name.trim()))
}

fn say(device: &mut PciDevice, line: &str) {
    let Some((name, said)) = line.split_once(':') else {
        return;
    };
    match name {
        "LnkCap" => (device.max_speed, device.max_width) = link(said),
        "LnkSta" => {
            (device.speed, device.width) = link(said);
            device.narrower = device
                .width
                .zip(device.max_width)
                .is_some_and(|(is, can)| is > 0 && is < can);
            device.slower = device
                .speed
                .zip(device.max_speed)
                .is_some_and(|(is, can)| is < can);
        }
        "UESta" => device
            .errors
            .extend(raised(said).map(|flag| format!("uncorrectable {flag}"))),
        "CESta" => device
            .errors
            .extend(raised(said).map(|flag| format!("correctable {flag}"))),
        "ACSCtl" => device.acs.extend(raised(said).map(str::to_owned)),
        "Kernel driver in use" => said.trim().clone_into(&mut device.driver),
        _ => {}
    }
}

/// `Speed 32GT/s (ok), Width x16 (ok)`.
fn link(said: &str) -> (Option<f64>, Option<u64>) {
    let after = |name: &str| said.split_once(name).map(|(_, rest)| rest);
    let speed = after("Speed ").and_then(|rest| rest.split_once("GT/s")?.0.parse().ok());
    let width = after("Width x").and_then(|rest| {
        let end = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        rest[..end].parse().ok()
    });
    (speed, width)
}

/// The flags of a register that are set: `BadTLP+ Rollover-`.
fn raised(said: &str) -> impl Iterator<Item = &str> {
    said.split_ascii_whitespace()
        .filter_map(|flag| flag.strip_suffix('+'))
}

fn parse_counters(document: &Document<'_>) -> Parsed {
    let mut parsed = Parsed::default();
    let mut parts = document.path.rsplit('/');
    let (Some(file), Some(address)) = (parts.next(), parts.next()) else {
        return parsed;
    };
    let rows = document
        .text
        .lines()
        .zip(1u32..)
        .filter_map(|(line, number)| {
            let (name, count) = line.trim().rsplit_once(' ')?;
            let count: u64 = count.parse().ok()?;
            (count > 0 && !name.starts_with("TOTAL_")).then_some((name, count, number, line))
        });
    let rows: Vec<_> = rows.collect();
    if let Some((_, _, number, line)) = rows.first() {
        let errors: BTreeMap<String, u64> = rows
            .iter()
            .map(|(name, count, ..)| ((*name).to_owned(), *count))
            .collect();
        let data = PciErrors {
            node: document.node.to_owned(),
            address: address.to_owned(),
            severity: file.trim_start_matches("aer_dev_").to_owned(),
            count: errors
                .values()
                .fold(0, |all, count| all.saturating_add(*count)),
            errors,
        };
        parsed.facts.push(stated(document, *number, line, data));
    }
    parsed
}

#[cfg(test)]
mod tests {
    use super::super::testing::facts;
    use super::*;

    const TEXT: &str = "00:00.0 System peripheral: Intel Corporation Device 09a2 (rev 20)\n\tNUMA node: 0\n\n\
        0000:19:00.0 3D controller [0302]: NVIDIA Corporation Device [10de:2330] (rev a1)\n\
        \t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM L1, Exit Latency L1 <4us\n\
        \t\tLnkSta:\tSpeed 8GT/s (downgraded), Width x8 (downgraded)\n\
        \t\tUESta:\tDLP- SDES- CmpltTO+ UnsupReq-\n\t\tCESta:\tRxErr+ BadTLP+ BadDLLP-\n\
        \tKernel driver in use: nvidia\n\n\
        1a:01.0 PCI bridge: Broadcom / LSI Device c030\n\
        \t\tLnkCap:\tPort #2, Speed 32GT/s, Width x16, ASPM not supported\n\t\tLnkSta:\tSpeed 32GT/s, Width x16\n\
        \t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+\n";

    #[test]
    fn a_link_that_lost_lanes_and_a_bridge_that_redirects_are_read() {
        let found = facts::<PciDevice>(&DEVICES, "nodes/n1/commands/lspci-verbose.out", TEXT);
        assert_eq!(found.len(), 2, "what has no link says nothing");
        let gpu = &found[0].data;
        assert_eq!(
            (gpu.width, gpu.max_width, gpu.speed, gpu.max_speed),
            (Some(8), Some(16), Some(8.0), Some(32.0))
        );
        assert!(
            gpu.narrower && gpu.slower && gpu.driver == "nvidia",
            "{gpu:?}"
        );
        assert_eq!(
            gpu.errors,
            [
                "uncorrectable CmpltTO",
                "correctable RxErr",
                "correctable BadTLP"
            ]
        );
        assert_eq!(found[0].place.line, Some(4));
        let bridge = &found[1].data;
        assert!(!bridge.narrower && !bridge.slower && bridge.errors.is_empty());
        assert_eq!(bridge.acs, ["SrcValid", "ReqRedir", "CmpltRedir"]);
    }

    #[test]
    fn counters_above_zero_are_counted_without_the_kernels_own_sum() {
        let path = "nodes/n1/rootfs/sys/bus/pci/devices/0000:19:00.0/aer_dev_correctable";
        let text = "RxErr 3\nBadTLP 0\nBadDLLP 2\nTOTAL_ERR_COR 5\n";
        let found = facts::<PciErrors>(&COUNTERS, path, text);
        let one = &found[0].data;
        assert_eq!(
            (one.address.as_str(), one.severity.as_str(), one.count),
            ("0000:19:00.0", "correctable", 5)
        );
        assert_eq!(one.errors.len(), 2);
        assert!(facts::<PciErrors>(&COUNTERS, path, "RxErr 0\nTOTAL_ERR_COR 0\n").is_empty());
    }
}
