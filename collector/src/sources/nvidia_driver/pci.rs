//! `host/pci.json`: NVIDIA's and Mellanox's devices on the PCI bus, as sysfs shows them: which driver has them, at
//! which link speed and width they run against what they could, and their error counters.

use serde_json::{Map, Value};

use crate::files::json_lines;
use crate::host::Host;
use crate::out::Out;
use crate::sources::nvidia_smi::put;
use crate::sysfs::{attributes, link_name};
use crate::take::{Need, Tally};

const DEVICES: &str = "/sys/bus/pci/devices";
/// NVIDIA (GPUs, their audio functions, NVSwitches) and Mellanox (InfiniBand).
const VENDORS: [&str; 2] = ["0x10de", "0x15b3"];
/// Attributes, from the kernel's `Documentation/ABI/testing/sysfs-bus-pci`.
const ATTRIBUTES: [&str; 26] = [
    "vendor",
    "device",
    "class",
    "revision",
    "subsystem_vendor",
    "subsystem_device",
    "numa_node",
    "local_cpulist",
    "enable",
    "irq",
    "driver_override",
    "current_link_speed",
    "current_link_width",
    "max_link_speed",
    "max_link_width",
    "power_state",
    "d3cold_allowed",
    "power/control",
    "power/runtime_status",
    "sriov_numvfs",
    "sriov_totalvfs",
    "reset_method",
    "resource",
    "aer_dev_correctable",
    "aer_dev_fatal",
    "aer_dev_nonfatal",
];

/// What is read, for the plan.
pub(super) fn reads() -> impl Iterator<Item = String> {
    let links = ["driver", "iommu_group"];
    ATTRIBUTES
        .into_iter()
        .chain(links)
        .map(|name| format!("{DEVICES}/*/{name}"))
}

/// Writes the list.
pub(super) fn write(host: &Host, out: &Out, tally: &mut Tally) {
    let names = match host.names(DEVICES) {
        Ok(names) => names,
        Err(error) if !host.is_live() && error.is_absent() => return,
        Err(error) => return tally.absent(out, Need::Optional, error.sentence()),
    };
    let rows: Vec<Value> = names.iter().filter_map(|name| device(host, name)).collect();
    if !rows.iter().any(is_gpu) {
        tally.absent(
            out,
            Need::Optional,
            "no NVIDIA device is on the PCI bus (looked in /sys/bus/pci/devices)",
        );
    }
    tally.taken += rows.len();
    put(out, "host/pci.json", &json_lines("devices", rows), tally);
}

fn device(host: &Host, name: &str) -> Option<Value> {
    let dir = format!("{DEVICES}/{name}");
    let vendor = host.read_text(&format!("{dir}/vendor")).ok()?;
    if !VENDORS.contains(&vendor.trim()) {
        return None;
    }
    let mut row = Map::new();
    row.insert("address".to_owned(), name.into());
    row.extend(attributes(host, &dir, &ATTRIBUTES));
    for link in ["driver", "iommu_group"] {
        row.insert(
            link.to_owned(),
            link_name(host, &format!("{dir}/{link}")).into(),
        );
    }
    Some(Value::Object(row))
}

fn is_gpu(row: &Value) -> bool {
    row["vendor"] == "0x10de"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::out::testing::sink;

    #[test]
    fn a_gpu_without_a_driver_and_with_errors_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join("sys/bus/pci/devices").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("0000:07:00.0/vendor", "0x10de\n");
        write("0000:07:00.0/current_link_width", "8\n");
        write("0000:07:00.0/max_link_width", "16\n");
        write(
            "0000:07:00.0/aer_dev_correctable",
            "RxErr 3\nBadTLP 0\nTOTAL_ERR_COR 3\n",
        );
        write("0000:00:1f.0/vendor", "0x8086\n");
        let host = Host::new(dir.path());
        let row = device(&host, "0000:07:00.0").unwrap();
        assert_eq!(row["aer_dev_correctable"]["RxErr"], 3);
        assert_eq!(
            (&row["current_link_width"], &row["driver"]),
            (&"8".into(), &Value::Null)
        );
        assert!(device(&host, "0000:00:1f.0").is_none());
        let (out, mut done) = sink("nvidia_driver", 1 << 20);
        let mut tally = Tally::default();
        super::write(&host, &out, &mut tally);
        assert_eq!(
            done.try_recv().unwrap().meta.path.as_str(),
            "nodes/node-1/host/pci.json"
        );
        assert_eq!(tally.taken, 1);
    }
}
