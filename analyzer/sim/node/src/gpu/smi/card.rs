//! A GPU with its state, from the labels of every driver generation.

use serde::{Deserialize, Serialize};

use super::Report;
use super::clients::{self, Client, Slice};
use super::tree::Tree;
use super::values::{count, flag, known, number, version};

/// A GPU as `nvidia-smi` reports it. `None` and empty mean that it was not reported or not understood.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Card {
    /// Index in the order of `nvidia-smi`.
    pub index: Option<u64>,
    /// PCI bus id, e.g. `00000000:17:00.0`.
    pub bus_id: String,
    /// Product name.
    pub name: String,
    /// UUID.
    pub uuid: String,
    /// Architecture, e.g. `Hopper`.
    pub architecture: String,
    /// MIG mode, e.g. `Enabled`.
    pub mig: String,
    /// MIG mode after the next reset.
    pub mig_pending: String,
    /// MIG instances.
    pub mig_devices: u64,
    /// Temperature in degrees Celsius.
    pub temperature: Option<i64>,
    /// Temperature at which clocks are lowered, in degrees Celsius.
    pub temperature_slowdown: Option<i64>,
    /// Temperature of the memory in degrees Celsius.
    pub memory_temperature: Option<i64>,
    /// Power drawn in watts.
    pub power: Option<i64>,
    /// Power limit in force, in watts.
    pub power_limit: Option<i64>,
    /// Performance state, `P0` the fastest.
    pub performance_state: String,
    /// Why clocks are lowered: `hw-slowdown`, `hw-thermal`, `hw-power-brake`, `sw-thermal`, `sw-power-cap`.
    pub slowdowns: Vec<String>,
    /// ECC mode.
    pub ecc_mode: String,
    /// Uncorrectable ECC errors since the driver was loaded.
    pub ecc_uncorrectable: Option<u64>,
    /// Corrected ECC errors since the driver was loaded.
    pub ecc_corrected: Option<u64>,
    /// Uncorrectable ECC errors of the card's life.
    pub ecc_uncorrectable_total: Option<u64>,
    /// Retired pages (before Ampere).
    pub retired_pages: Option<u64>,
    /// A page waits for a reset to be retired.
    pub retirement_pending: Option<bool>,
    /// Rows remapped after uncorrectable errors.
    pub remapped_uncorrectable: Option<u64>,
    /// Rows remapped after corrected errors.
    pub remapped_corrected: Option<u64>,
    /// Row remapping waits for a reset.
    pub remap_pending: Option<bool>,
    /// Row remapping failed: no spare rows.
    pub remap_failed: Option<bool>,
    /// Recovery action that the driver asks for; empty if none or not reported.
    pub recovery_action: String,
    /// The driver says that a reset is required.
    pub reset_required: Option<bool>,
    /// State of the NVLink fabric, e.g. `Completed`.
    pub fabric_state: String,
    /// Status of the NVLink fabric, e.g. `Success`.
    pub fabric_status: String,
    /// Version of the GSP firmware.
    pub gsp_firmware: String,
    /// `VGPU` in a virtual machine that has a part of a GPU, `Pass-Through`, `Host VGPU`; empty on a real machine.
    pub virtualization: String,
    /// Licence of a virtual GPU, e.g. `Licensed`, `Unlicensed (Restricted)`; without the date of its end.
    pub license: String,
    /// PCIe lanes in use.
    pub link_width: Option<i64>,
    /// PCIe lanes at most.
    pub link_width_max: Option<i64>,
    /// Memory in MiB.
    pub memory: Option<i64>,
    /// Memory used in MiB.
    pub memory_used: Option<i64>,
    /// What the driver says instead of values where the GPU does not answer, e.g. `GPU is lost`.
    pub trouble: String,
    /// Slices of a GPU with MIG; pictures show them, no rule tests them.
    #[serde(skip)]
    pub slices: Vec<Slice>,
    /// Processes on it, likewise.
    #[serde(skip)]
    pub clients: Vec<Client>,
}

/// Reads versions and GPUs.
pub(super) fn report(root: &Tree) -> Report {
    let versions = [
        "driver_version",
        "kmd_version",
        "cuda_version",
        "cuda_umd_version",
    ];
    let line = versions
        .iter()
        .find_map(|label| Some(root.below(label)?.line));
    let readable = |label: &str| root.at(&[label]).and_then(version);
    let module = readable("kmd_version");
    let cards = root.all("gpu").map(|tree| (tree.line, card(tree)));
    Report {
        driver: readable("driver_version").or_else(|| module.clone()),
        module,
        cuda: readable("cuda_umd_version").or_else(|| readable("cuda_version")),
        line: line.unwrap_or(root.line.max(1)),
        attached: root.at(&["attached_gpus"]).and_then(count),
        cards: cards.collect(),
    }
}

#[expect(clippy::too_many_lines, reason = "a table: one line a field")]
fn card(tree: &Tree) -> Card {
    let text = |paths: &[&str]| {
        let value = tree.at(paths).and_then(known);
        value.unwrap_or_default().to_owned()
    };
    let celsius = |paths: &[&str]| tree.at(paths).and_then(|value| number(value, "C"));
    let watts = |paths: &[&str]| tree.at(paths).and_then(|value| number(value, "W"));
    let lanes = |paths: &[&str]| tree.at(paths).and_then(|value| number(value, "x"));
    let mib = |paths: &[&str]| tree.at(paths).and_then(|value| number(value, "MiB"));
    let yes = |paths: &[&str]| tree.at(paths).and_then(flag);
    let card = Card {
        index: None,
        bus_id: text(&["pci.pci_bus_id", "pci.bus_id"]),
        name: text(&["product_name"]),
        uuid: text(&["uuid", "gpu_uuid"]),
        architecture: text(&["product_architecture"]),
        mig: text(&["mig_mode.current_mig", "mig_mode.current"]),
        mig_pending: text(&["mig_mode.pending_mig", "mig_mode.pending"]),
        mig_devices: mig_devices(tree),
        temperature: celsius(&["temperature.gpu_temp", "temperature.gpu_current_temp"]),
        temperature_slowdown: celsius(&[
            "temperature.gpu_temp_slow_threshold",
            "temperature.gpu_slowdown_temp",
        ]),
        memory_temperature: celsius(&[
            "temperature.memory_temp",
            "temperature.memory_current_temp",
        ]),
        power: watts(&[
            "gpu_power_readings.power_draw",
            "gpu_power_readings.average_power_draw",
            "gpu_power_readings.instant_power_draw",
            "gpu_power_readings.instantaneous_power_draw",
            "power_readings.power_draw",
        ]),
        power_limit: watts(&[
            "gpu_power_readings.current_power_limit",
            "power_readings.enforced_power_limit",
            "power_readings.power_limit",
        ]),
        performance_state: text(&["performance_state"]),
        slowdowns: slowdowns(tree),
        ecc_mode: text(&["ecc_mode.current_ecc", "ecc_mode.current"]),
        ecc_uncorrectable: errors(tree, "volatile", true),
        ecc_corrected: errors(tree, "volatile", false),
        ecc_uncorrectable_total: errors(tree, "aggregate", true),
        retired_pages: retired(tree),
        retirement_pending: yes(&[
            "retired_pages.pending_retirement",
            "retired_pages.pending_blacklist",
            "retired_pages.pending_page_blacklist",
        ]),
        remapped_uncorrectable: remapped(tree, &["remapped_row_unc", "uncorrectable_error"]),
        remapped_corrected: remapped(tree, &["remapped_row_corr", "correctable_error"]),
        remap_pending: yes(&[
            "remapped_rows.remapped_row_pending",
            "remapped_rows.pending",
        ]),
        remap_failed: yes(&[
            "remapped_rows.remapped_row_failure",
            "remapped_rows.remapping_failure_occurred",
        ]),
        recovery_action: Some(text(&["gpu_recovery_action"]))
            .filter(|action| action != "None")
            .unwrap_or_default(),
        reset_required: yes(&["gpu_reset_status.reset_required"]),
        fabric_state: text(&["fabric.state"]),
        fabric_status: text(&["fabric.status"]),
        gsp_firmware: tree
            .at(&["gsp_firmware_version"])
            .and_then(version)
            .unwrap_or_default(),
        virtualization: Some(text(&["gpu_virtualization_mode.virtualization_mode"]))
            .filter(|mode| mode != "None")
            .unwrap_or_default(),
        license: license(tree),
        link_width: lanes(&[
            "pci.pci_gpu_link_info.link_widths.current_link_width",
            "pci.gpu_link_info.link_width.current",
        ]),
        link_width_max: lanes(&[
            "pci.pci_gpu_link_info.link_widths.max_link_width",
            "pci.gpu_link_info.link_width.max",
        ]),
        memory: mib(&["fb_memory_usage.total"]),
        memory_used: mib(&["fb_memory_usage.used"]),
        trouble: trouble(tree),
        slices: clients::slices(tree),
        clients: clients::clients(tree),
    };
    Card {
        bus_id: if card.bus_id.is_empty() {
            tree.value.clone()
        } else {
            card.bus_id
        },
        ..card
    }
}

/// The product was called GRID up to driver 440.
fn license(tree: &Tree) -> String {
    let status = tree.at(&[
        "vgpu_software_licensed_product.license_status",
        "grid_licensed_product.license_status",
    ]);
    let status = status.and_then(known).unwrap_or_default();
    let (state, _) = status.split_once(" (Expiry").unwrap_or((status, ""));
    known(state).unwrap_or_default().to_owned()
}

fn mig_devices(tree: &Tree) -> u64 {
    // XML has them below a heading, text beside the GPU's other sections.
    let below = tree.below("mig_devices");
    let devices = below.map_or(0, |devices| devices.all("mig_device").count());
    let beside = tree.all("mig_device").count();
    u64::try_from(devices.max(beside)).unwrap_or(u64::MAX)
}

/// Adds up the counters of one period. Drivers before 450 count by bit, later ones by memory; a sum stands for itself.
fn errors(tree: &Tree, period: &str, uncorrectable: bool) -> Option<u64> {
    let errors = tree.below("ecc_errors")?.below(period)?;
    let by_bit = if uncorrectable {
        "double_bit.total"
    } else {
        "single_bit.total"
    };
    if let Some(total) = errors.at(&[by_bit]).and_then(count) {
        return Some(total);
    }
    let wanted = |label: &str| {
        let bad = label.contains("uncorrectable");
        if uncorrectable {
            bad
        } else {
            label.contains("correctable") && !bad
        }
    };
    let counters = errors.children.iter().filter(|one| wanted(&one.label));
    counters
        .filter_map(|one| count(&one.value))
        .reduce(u64::saturating_add)
}

fn retired(tree: &Tree) -> Option<u64> {
    let pages = tree.below("retired_pages")?;
    let paths = [
        [
            "multiple_single_bit_retirement.retired_count",
            "single_bit_ecc",
        ],
        ["double_bit_retirement.retired_count", "double_bit_ecc"],
    ];
    let counts = paths
        .iter()
        .filter_map(|either| pages.at(either).and_then(count));
    counts.reduce(u64::saturating_add)
}

fn remapped(tree: &Tree, labels: &[&str]) -> Option<u64> {
    tree.below("remapped_rows")?.at(labels).and_then(count)
}

/// Why clocks are lowered. Labels changed their prefix with driver 535; the text form nests two of them.
fn slowdowns(tree: &Tree) -> Vec<String> {
    const REASONS: [(&str, &str); 5] = [
        ("hw_slowdown", "hw-slowdown"),
        ("hw_thermal_slowdown", "hw-thermal"),
        ("hw_power_brake_slowdown", "hw-power-brake"),
        ("sw_thermal_slowdown", "sw-thermal"),
        ("sw_power_cap", "sw-power-cap"),
    ];
    let heads = ["clocks_event_reasons", "clocks_throttle_reasons"];
    let Some(reasons) = heads.iter().find_map(|head| tree.below(head)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    reasons.walk(&mut |one| {
        let label = one
            .label
            .strip_prefix("clocks_event_reason_")
            .or_else(|| one.label.strip_prefix("clocks_throttle_reason_"))
            .unwrap_or(&one.label);
        let known = REASONS.iter().find(|(name, _)| *name == label);
        if let (Some((_, word)), Some(true)) = (known, flag(&one.value)) {
            found.push((*word).to_owned());
        }
    });
    found
}

/// The first value that says that the GPU does not answer. A mode that its firmware does not know is no reading: drivers
/// print an unknown error there for GPUs that are well.
fn trouble(tree: &Tree) -> String {
    let mut found = String::new();
    tree.walk(&mut |one| {
        let value = one.value.trim_matches(['[', ']']);
        let lower = value.to_ascii_lowercase();
        let is_mode = one.label.to_ascii_lowercase().contains("mode");
        let gone = ["is lost", "requires reset"];
        let bad = gone.iter().any(|part| lower.contains(part))
            || (lower.contains("unknown error") && !is_mode);
        if found.is_empty() && bad {
            value.clone_into(&mut found);
        }
    });
    found
}
