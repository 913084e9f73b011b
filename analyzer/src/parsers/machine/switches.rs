//! NVSwitches that the kernel drives: a folder each in `/proc/driver/nvidia-nvswitch/devices`.

use casefile_bundle::{ANY, Entry};

use super::super::{Document, Parsed, Parser, Read};
use super::stated;
use crate::facts::hardware::NvSwitch;

/// Reads the one file in the folder of a switch.
pub(in crate::parsers) static SWITCHES: Parser = Parser {
    id: "nvswitches",
    reads: &[Entry::Rootfs(
        ANY,
        "proc/driver/nvidia-nvswitch/devices/*/information",
    )],
    read: Read::Whole(parse),
};

/// `BIOS Version: 96.10.6e.00.01`, or `N/A`. That the folder is there says that the driver has the switch.
fn parse(document: &Document<'_>) -> Parsed {
    let Some(address) = document.path.rsplit('/').nth(1) else {
        return Parsed::default();
    };
    let version = document
        .text
        .lines()
        .find_map(|line| line.strip_prefix("BIOS Version:"));
    let bios = version.map(str::trim).filter(|version| *version != "N/A");
    let data = NvSwitch {
        node: document.node.to_owned(),
        address: address.to_owned(),
        bios: bios.unwrap_or_default().to_owned(),
    };
    let line = document.text.lines().next().unwrap_or_default();
    Parsed {
        facts: vec![stated(document, 1, line, data)],
        ..Parsed::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::facts;
    use super::*;

    #[test]
    fn a_switch_is_there_whether_or_not_its_firmware_was_read() {
        let read = |address: &str, text: &str| {
            let path = format!(
                "nodes/n1/rootfs/proc/driver/nvidia-nvswitch/devices/{address}/information"
            );
            let found = facts::<NvSwitch>(&SWITCHES, &path, text);
            assert_eq!(found.len(), 1);
            (found[0].data.address.clone(), found[0].data.bios.clone())
        };
        assert_eq!(
            read("0000:05:00.0", "BIOS Version: 92.10.14.00.01\n"),
            ("0000:05:00.0".to_owned(), "92.10.14.00.01".to_owned())
        );
        assert_eq!(read("0000:06:00.0", "BIOS Version: N/A\n").1, "");
    }
}
