//! `nvidia-smi vgpu -q`: the virtual GPUs that a machine gives to its virtual machines.

use casefile_bundle::{ANY, Entry};

use super::super::{Document, Parsed, Parser, Read};
use super::{stated, with_lines};
use crate::facts::AnyFact;
use crate::facts::hardware::VirtualGpu;

/// Reads it.
pub(in crate::parsers) static VIRTUAL: Parser = Parser {
    id: "virtual-gpus",
    reads: &[Entry::Printed(ANY, "nvidia-smi-vgpu")],
    read: Read::Whole(parse),
};

/// A virtual GPU begins with its number; sections of numbers below it are left to the lines.
fn parse(document: &Document<'_>) -> Parsed {
    let mut facts: Vec<AnyFact> = Vec::new();
    let mut gpu = "";
    let mut open: Option<(VirtualGpu, u32, &str)> = None;
    for (line, number) in document.text.lines().zip(1u32..) {
        let text = line.trim();
        let address = line.strip_prefix("GPU ").filter(|rest| rest.contains(':'));
        if let Some(address) = address {
            close(document, open.take(), &mut facts);
            gpu = address.trim();
        } else if let Some((name, value)) = text.split_once(" : ") {
            let (name, value) = (name.trim(), value.trim());
            if name == "vGPU ID" {
                close(document, open.take(), &mut facts);
                let data = VirtualGpu {
                    node: document.node.to_owned(),
                    gpu: gpu.to_owned(),
                    id: value.to_owned(),
                    ..VirtualGpu::default()
                };
                open = Some((data, number, line));
            } else if let Some((data, at, quote)) = open.as_mut() {
                let field = match name {
                    "VM Name" => &mut data.machine,
                    "vGPU Name" => &mut data.name,
                    "Guest Driver Version" => &mut data.driver,
                    "License Status" => &mut data.license,
                    _ => continue,
                };
                // While no driver is loaded in the machine, "N/A (Expiry: N/A)".
                let (value, _) = value.split_once(" (Expiry").unwrap_or((value, ""));
                if value == "N/A" {
                    continue;
                }
                value.clone_into(field);
                if name == "License Status" {
                    (*at, *quote) = (number, line);
                }
            }
        }
    }
    close(document, open, &mut facts);
    with_lines(document, facts)
}

fn close(document: &Document<'_>, open: Option<(VirtualGpu, u32, &str)>, facts: &mut Vec<AnyFact>) {
    facts.extend(open.map(|(data, number, line)| stated(document, number, line, data)));
}

#[cfg(test)]
mod tests {
    use super::super::testing::facts;
    use super::*;

    #[test]
    fn each_virtual_gpu_has_its_licence_and_none_while_its_machine_starts() {
        let text = "GPU 00000000:3B:00.0\n    Active vGPUs                          : 2\n    vGPU ID                               : 3251634100\n        \
            VM Name                           : train-1\n        vGPU Name                         : NVIDIA L40S-8Q\n        \
            Guest Driver Version              : N/A\n        License Status                    : N/A (Expiry: N/A)\n        \
            PCI\n            Bus Id                        : 00000000:00:00.0\n    vGPU ID                               : 3251634110\n        \
            VM Name                           : train-2\n        vGPU Name                         : NVIDIA L40S-8Q\n        \
            Guest Driver Version              : 550.90.07\n        License Status                    : Unlicensed (Restricted)\n\
            GPU 00000000:5E:00.0\n    Active vGPUs                          : 1\n    vGPU ID                               : 3251634120\n        \
            VM Name                           : train-3\n        License Status                    : Licensed (Expiry: 2027-1-2 3:4:5 GMT)\n";
        let found = facts::<VirtualGpu>(&VIRTUAL, "nodes/n1/commands/nvidia-smi-vgpu.out", text);
        let said: Vec<_> = found
            .iter()
            .map(|one| {
                let data = &one.data;
                let (gpu, machine) = (data.gpu.as_str(), data.machine.as_str());
                (gpu, machine, data.driver.as_str(), data.license.as_str())
            })
            .collect();
        assert_eq!(
            said,
            [
                ("00000000:3B:00.0", "train-1", "", ""),
                (
                    "00000000:3B:00.0",
                    "train-2",
                    "550.90.07",
                    "Unlicensed (Restricted)"
                ),
                ("00000000:5E:00.0", "train-3", "", "Licensed"),
            ]
        );
        assert!(found[1].text.contains("License Status"));
        let none = "No supported devices in vGPU mode\n";
        assert!(
            facts::<VirtualGpu>(&VIRTUAL, "nodes/n1/commands/nvidia-smi-vgpu.out", none).is_empty()
        );
    }
}
