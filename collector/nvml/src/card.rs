//! One GPU: each value that the library and the card have.

use nvml_wrapper::Device;
use nvml_wrapper::Nvml;
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{
    EccCounter, MemoryError, RetirementCause, TemperatureSensor, TemperatureThreshold,
};
use nvml_wrapper::error::NvmlError;
use serde_json::{Map, Value, json};

use super::{said, words};

const MIB: u64 = 1 << 20;

/// A GPU as a JSON object. Where it does not answer at all, `trouble` says what the driver says instead.
pub(super) fn read(nvml: &Nvml, index: u32) -> Value {
    let mut values = Map::from_iter([("index".to_owned(), json!(index))]);
    match nvml.device_by_index(index) {
        Ok(device) => {
            identity(&device, &mut values);
            state(&device, &mut values);
            memory(&device, &mut values);
        }
        Err(error) => {
            values.insert("trouble".to_owned(), json!(words(&error)));
        }
    }
    values.retain(|_, value| !value.is_null());
    Value::Object(values)
}

fn identity(device: &Device<'_>, values: &mut Map<String, Value>) {
    put(values, "name", said(device.name()));
    put(values, "uuid", said(device.uuid()));
    put(
        values,
        "bus_id",
        said(device.pci_info().map(|pci| pci.bus_id)),
    );
    put(
        values,
        "architecture",
        said(device.architecture().map(|known| format!("{known}"))),
    );
    put(values, "gsp_firmware", said(device.gsp_firmware_version()));
    put(values, "link_width", said(device.current_pcie_link_width()));
    put(values, "link_width_max", said(device.max_pcie_link_width()));
    let mode = |on: u32| if on == 1 { "Enabled" } else { "Disabled" };
    if let Ok(mig) = device.mig_mode() {
        put(values, "mig", json!(mode(mig.current)));
        put(values, "mig_pending", json!(mode(mig.pending)));
    }
}

fn state(device: &Device<'_>, values: &mut Map<String, Value>) {
    let temperature = device.temperature(TemperatureSensor::Gpu);
    if let Err(error @ (NvmlError::GpuLost | NvmlError::Unknown)) = &temperature {
        put(values, "trouble", json!(words(error)));
    }
    put(values, "temperature", said(temperature));
    let slowdown = device.temperature_threshold(TemperatureThreshold::Slowdown);
    put(values, "temperature_slowdown", said(slowdown));
    // Milliwatts; nvidia-smi and the bundle have watts.
    put(
        values,
        "power",
        said(device.power_usage().map(|power| power / 1000)),
    );
    put(
        values,
        "power_limit",
        said(device.enforced_power_limit().map(|power| power / 1000)),
    );
    let level = device
        .performance_state()
        .map(|state| format!("P{}", state.as_c()));
    put(values, "performance_state", said(level));
    put(
        values,
        "slowdowns",
        said(device.current_throttle_reasons().map(slowdowns)),
    );
}

/// The words of the analyzer for why clocks are lowered.
fn slowdowns(reasons: ThrottleReasons) -> Vec<&'static str> {
    let named = [
        (ThrottleReasons::HW_SLOWDOWN, "hw-slowdown"),
        (ThrottleReasons::HW_THERMAL_SLOWDOWN, "hw-thermal"),
        (ThrottleReasons::HW_POWER_BRAKE_SLOWDOWN, "hw-power-brake"),
        (ThrottleReasons::SW_THERMAL_SLOWDOWN, "sw-thermal"),
        (ThrottleReasons::SW_POWER_CAP, "sw-power-cap"),
    ];
    let active = named
        .into_iter()
        .filter(|(reason, _)| reasons.contains(*reason));
    active.map(|(_, word)| word).collect()
}

fn memory(device: &Device<'_>, values: &mut Map<String, Value>) {
    if let Ok(memory) = device.memory_info() {
        put(values, "memory", json!(memory.total / MIB));
        put(values, "memory_used", json!(memory.used / MIB));
    }
    let mode = |on: bool| if on { "Enabled" } else { "Disabled" };
    put(
        values,
        "ecc_mode",
        said(
            device
                .is_ecc_enabled()
                .map(|ecc| mode(ecc.currently_enabled)),
        ),
    );
    for (name, error, counter) in [
        (
            "ecc_uncorrectable",
            MemoryError::Uncorrected,
            EccCounter::Volatile,
        ),
        (
            "ecc_corrected",
            MemoryError::Corrected,
            EccCounter::Volatile,
        ),
        (
            "ecc_uncorrectable_total",
            MemoryError::Uncorrected,
            EccCounter::Aggregate,
        ),
    ] {
        put(values, name, said(device.total_ecc_errors(error, counter)));
    }
    let causes = [
        RetirementCause::MultipleSingleBitEccErrors,
        RetirementCause::DoubleBitEccError,
    ];
    let pages = causes.map(|cause| device.retired_pages(cause).map(|pages| pages.len()));
    if let [Ok(single), Ok(double)] = pages {
        put(values, "retired_pages", json!(single + double));
    }
    put(
        values,
        "retirement_pending",
        said(device.are_pages_pending_retired()),
    );
}

fn put(values: &mut Map<String, Value>, name: &str, value: Value) {
    values.insert(name.to_owned(), value);
}
