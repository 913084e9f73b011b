//! GPUs of AMD and Intel, as `amd-smi`, `rocm-smi` and `xpu-smi` print them in JSON.

use casefile_bundle::{ANY, Entry};

use serde_json::Value;

use super::super::{Document, Parsed, Parser, Read};
use super::quoted;
use crate::facts::metrics::OtherGpu;

/// Reads the tools' outputs.
pub(in crate::parsers) static PARSER: Parser = Parser {
    id: "other-gpus",
    reads: &[
        Entry::Printed(ANY, "amd-smi-metric"),
        Entry::Printed(ANY, "amd-smi-static"),
        Entry::Printed(ANY, "rocm-smi"),
        Entry::Printed(ANY, "xpu-smi-discovery"),
    ],
    read: Read::Whole(parse),
};

fn parse(document: &Document<'_>) -> Parsed {
    let all: Value = match serde_json::from_str(document.text) {
        Ok(all) => all,
        Err(error) => {
            let text = format!("output of a GPU tool was not read: {error}");
            return Parsed::problem(document.line(1), text);
        }
    };
    let rows: Vec<(u64, OtherGpu)> = if document.path.contains("/xpu-smi") {
        list(&all["device_list"]).map(xpu).collect()
    } else if document.path.contains("/rocm-smi") {
        let cards = all.as_object().into_iter().flatten();
        cards.filter_map(|(name, card)| rocm(name, card)).collect()
    } else {
        // ROCm 7 puts the list below a name; 6 gives it bare.
        list(&all).chain(list(&all["gpu_data"])).map(amd).collect()
    };
    let mut parsed = Parsed::default();
    for (index, mut gpu) in rows {
        document.node.clone_into(&mut gpu.node);
        gpu.index = index;
        let said = said(&gpu);
        parsed
            .facts
            .push(quoted(place_of(document, index), &said, gpu));
    }
    parsed
}

/// The line where the entry of this index begins.
fn place_of(document: &Document<'_>, index: u64) -> crate::model::Place {
    let marks = [
        format!("\"gpu\": {index},"),
        format!("\"card{index}\""),
        format!("\"device_id\": {index},"),
    ];
    let at = marks
        .iter()
        .find_map(|mark| document.text.find(mark.as_str()));
    document.at_offset(at.unwrap_or(0))
}

fn said(gpu: &OtherGpu) -> String {
    let number =
        |value: Option<u64>| value.map_or_else(|| "unknown".to_owned(), |value| value.to_string());
    format!(
        "{} GPU {} {}: uncorrected memory errors {}, temperature {}",
        gpu.maker,
        gpu.index,
        gpu.model,
        number(gpu.ecc_uncorrected),
        number(gpu.temperature)
    )
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    let text = value.as_str().unwrap_or_default();
    if text == "N/A" {
        String::new()
    } else {
        text.to_owned()
    }
}

/// `8`, `"8"`, `"53.0"` and `{"value": 8, "unit": "MB"}` are numbers; `N/A` is none.
fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Object(pair) => number(pair.get("value")?),
        Value::String(text) => whole(text.trim().parse().ok()?),
        other => other.as_u64().or_else(|| whole(other.as_f64()?)),
    }
}

fn whole(value: f64) -> Option<u64> {
    // Above this a float holds no whole numbers, and no tool prints one.
    (value.is_finite() && (0.0..9.0e15).contains(&value)).then_some(value as u64)
}

fn hottest<'a>(sensors: impl IntoIterator<Item = &'a Value>) -> Option<u64> {
    sensors.into_iter().filter_map(number).max()
}

fn amd(gpu: &Value) -> (u64, OtherGpu) {
    let heat = &gpu["temperature"];
    let driver = &gpu["driver"];
    let version = text(&driver["version"]);
    let data = OtherGpu {
        maker: "AMD".to_owned(),
        model: text(&gpu["asic"]["market_name"]),
        bus_id: text(&gpu["bus"]["bdf"]),
        driver: format!("{} {version}", text(&driver["name"]))
            .trim()
            .to_owned(),
        memory_total: number(&gpu["mem_usage"]["total_vram"])
            .or_else(|| number(&gpu["vram"]["size"])),
        memory_used: number(&gpu["mem_usage"]["used_vram"]),
        temperature: hottest([&heat["edge"], &heat["hotspot"], &heat["mem"]]),
        ecc_corrected: number(&gpu["ecc"]["total_correctable_count"]),
        ecc_uncorrected: number(&gpu["ecc"]["total_uncorrectable_count"]),
        pcie_replays: number(&gpu["pcie"]["replay_count"]),
        state: text(&gpu["power"]["throttle_status"]),
        ..OtherGpu::default()
    };
    (number(&gpu["gpu"]).unwrap_or(0), data)
}

fn rocm(name: &str, card: &Value) -> Option<(u64, OtherGpu)> {
    let index = name.strip_prefix("card")?.parse().ok()?;
    let mib = |name: &str| number(&card[name]).map(|bytes| bytes >> 20);
    let sensors = card.as_object()?.iter();
    let sensors = sensors.filter(|(name, _)| name.starts_with("Temperature ("));
    let data = OtherGpu {
        maker: "AMD".to_owned(),
        // What newer releases call a name was a series before.
        model: [text(&card["Card series"]), text(&card["Card Series"])].concat(),
        bus_id: text(&card["PCI Bus"]),
        memory_total: mib("VRAM Total Memory (B)"),
        memory_used: mib("VRAM Total Used Memory (B)"),
        temperature: hottest(sensors.map(|(_, value)| value)),
        pcie_replays: number(&card["PCIe Replay Count"]),
        ..OtherGpu::default()
    };
    Some((index, data))
}

fn xpu(device: &Value) -> (u64, OtherGpu) {
    let data = OtherGpu {
        maker: "Intel".to_owned(),
        model: text(&device["device_name"]),
        bus_id: text(&device["pci_bdf_address"]),
        state: text(&device["device_state"]),
        ..OtherGpu::default()
    };
    (number(&device["device_id"]).unwrap_or(0), data)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{facts, read};
    use super::*;

    fn gpus(file: &str, text: &str) -> Vec<OtherGpu> {
        let path = format!("nodes/n1/commands/{file}.out");
        facts::<OtherGpu>(&PARSER, &path, text)
            .into_iter()
            .map(|fact| fact.data)
            .collect()
    }

    /// Parts of `amd-smi metric --json` of ROCm 6 on a Radeon (a public note on fan control), counts changed, and the
    /// frame that ROCm 7 puts around them.
    const METRIC: &str = r#"[
    {
        "gpu": 0,
        "power": {"socket_power": {"value": 6, "unit": "W"}, "throttle_status": "UNTHROTTLED"},
        "temperature": {"edge": {"value": 36, "unit": "C"}, "hotspot": {"value": 37, "unit": "C"}, "mem": "N/A"},
        "pcie": {"width": 8, "speed": {"value": 16, "unit": "GT/s"}, "replay_count": "N/A"},
        "ecc": {"total_correctable_count": 3, "total_uncorrectable_count": 1, "cache_correctable_count": "N/A"},
        "ecc_blocks": "N/A",
        "mem_usage": {"total_vram": {"value": 8176, "unit": "MB"}, "used_vram": {"value": 202, "unit": "MB"}}
    }
]"#;

    #[test]
    fn what_amd_smi_does_not_know_is_unknown_and_not_nought() {
        let found = gpus("amd-smi-metric", METRIC);
        assert_eq!(
            (found[0].ecc_corrected, found[0].ecc_uncorrected),
            (Some(3), Some(1))
        );
        assert_eq!(
            (found[0].temperature, found[0].pcie_replays),
            (Some(37), None)
        );
        assert_eq!(
            (found[0].memory_total, found[0].memory_used),
            (Some(8176), Some(202))
        );
        let seven = format!("{{\"gpu_data\": {METRIC}}}");
        assert_eq!(gpus("amd-smi-metric", &seven).len(), 1);
        let path = "nodes/n1/commands/amd-smi-metric.out";
        assert_eq!(read(&PARSER, path, "No such device").problems.len(), 1);
    }

    #[test]
    fn a_card_names_its_model_its_driver_and_its_address() {
        let text = r#"[{"gpu": 1, "asic": {"market_name": "Navi 23 [Radeon RX 6600/6600 XT"}, "bus": {"bdf": "0000:0b:00.0"},
            "driver": {"name": "amdgpu", "version": "7.0.0-3-pve"}, "vram": {"size": {"value": 8176, "unit": "MB"}}}]"#;
        let found = gpus("amd-smi-static", text);
        assert_eq!(
            (found[0].index, found[0].driver.as_str()),
            (1, "amdgpu 7.0.0-3-pve")
        );
        assert_eq!(
            (found[0].bus_id.as_str(), found[0].memory_total),
            ("0000:0b:00.0", Some(8176))
        );
    }

    /// Parts of `rocm-smi --showallinfo --json` of ROCm 6.0.2 on two MI100 (testdata of telegraf's amd_rocm_smi input).
    #[test]
    fn rocm_smis_texts_of_numbers_are_numbers() {
        let text = r#"{"card0": {"Device ID": "0x738c", "Temperature (Sensor edge) (C)": "53.0",
            "Temperature (Sensor junction) (C)": "55.0", "PCIe Replay Count": "0", "PCI Bus": "0000:83:00.0",
            "VRAM Total Memory (B)": "34342961152", "VRAM Total Used Memory (B)": "6750208",
            "Card series": "Arcturus GL-XL [Instinct MI100]"}, "system": {"Driver version": "6.3.6"}}"#;
        let found = gpus("rocm-smi", text);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].temperature, found[0].memory_total),
            (Some(55), Some(32752))
        );
        assert!(found[0].model.contains("MI100"));
    }

    /// After `xpu-smi discovery -j` on a Flex 170 (a public test of a monitor), address changed.
    #[test]
    fn xpu_smis_devices_have_a_state() {
        let text = r#"{"device_list": [{"device_function_type": "physical", "device_id": 0,
            "device_name": "Intel(R) Data Center GPU Flex 170", "device_state": "Normal",
            "pci_bdf_address": "0000:4e:00.0", "vendor_name": "Intel(R) Corporation"}]}"#;
        let found = gpus("xpu-smi-discovery", text);
        assert_eq!(
            (found[0].maker.as_str(), found[0].state.as_str()),
            ("Intel", "Normal")
        );
        assert_eq!(found[0].bus_id, "0000:4e:00.0");
    }
}
