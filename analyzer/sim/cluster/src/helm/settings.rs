//! Values that charts of the GPU stack pass on in a way of their own: not beside an image, or under another name.

use serde_json::Value;

use super::expected::{Expectation, of, scalar, tolerations};
use super::{Drift, Seen, check};

/// Where a value has to show.
enum Shows {
    /// As this environment variable.
    Env(&'static str),
    /// As a ConfigMap that is mounted.
    ConfigMap,
    /// As tolerations of the pods.
    Tolerations,
}

struct Setting {
    chart: &'static str,
    /// Path of the value.
    value: &'static str,
    /// Part of the workloads' names.
    workloads: &'static str,
    shows: Shows,
}

const fn setting(
    chart: &'static str,
    value: &'static str,
    workloads: &'static str,
    shows: Shows,
) -> Setting {
    Setting {
        chart,
        value,
        workloads,
        shows,
    }
}

const OPERATOR: &str = "gpu-operator";
const PLUGIN: &str = "nvidia-device-plugin";

/// What is known of charts. The operator's daemonsets are made from its custom resource, the plugin's by templates.
static SETTINGS: [Setting; 11] = [
    setting(
        OPERATOR,
        "mig.strategy",
        "nvidia-device-plugin-daemonset",
        Shows::Env("MIG_STRATEGY"),
    ),
    setting(
        OPERATOR,
        "mig.strategy",
        "gpu-feature-discovery",
        Shows::Env("MIG_STRATEGY"),
    ),
    setting(
        OPERATOR,
        "devicePlugin.config.name",
        "nvidia-device-plugin-daemonset",
        Shows::ConfigMap,
    ),
    setting(
        OPERATOR,
        "migManager.config.name",
        "nvidia-mig-manager",
        Shows::ConfigMap,
    ),
    setting(
        OPERATOR,
        "daemonsets.tolerations",
        "nvidia-device-plugin-daemonset",
        Shows::Tolerations,
    ),
    setting(PLUGIN, "migStrategy", "", Shows::Env("MIG_STRATEGY")),
    setting(
        PLUGIN,
        "deviceListStrategy",
        "",
        Shows::Env("DEVICE_LIST_STRATEGY"),
    ),
    setting(
        PLUGIN,
        "failOnInitError",
        "",
        Shows::Env("FAIL_ON_INIT_ERROR"),
    ),
    setting(
        PLUGIN,
        "nvidiaDriverRoot",
        "",
        Shows::Env("NVIDIA_DRIVER_ROOT"),
    ),
    setting(
        PLUGIN,
        "passDeviceSpecs",
        "",
        Shows::Env("PASS_DEVICE_SPECS"),
    ),
    setting(PLUGIN, "config.name", "", Shows::ConfigMap),
];

/// The value at a dotted path.
pub(super) fn at<'a>(values: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(values, |now, key| now.get(key))
}

/// Values of a known chart that its workloads do not show.
#[must_use]
pub fn drifts(chart: &str, values: &Value, seen: &[Seen]) -> Vec<Drift> {
    let known = SETTINGS.iter().filter(|one| one.chart == chart);
    known
        .flat_map(|setting| of_setting(setting, values, seen))
        .collect()
}

fn of_setting(setting: &Setting, values: &Value, seen: &[Seen]) -> Vec<Drift> {
    let name = |one: &Seen| {
        one.workload
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let own: Vec<&Seen> = seen
        .iter()
        .filter(|one| one.env.is_some() && name(one).contains(setting.workloads))
        .collect();
    let (parent, key) = setting
        .value
        .rsplit_once('.')
        .unwrap_or(("", setting.value));
    let found = expectations(setting, values, parent, key);
    let drifts = found.iter().filter_map(|one| check(parent, one, &own));
    drifts.collect()
}

fn expectations(setting: &Setting, values: &Value, parent: &str, key: &str) -> Vec<Expectation> {
    let table = if parent.is_empty() {
        Some(values)
    } else {
        at(values, parent)
    };
    let Some(table) = table.and_then(Value::as_object) else {
        return Vec::new();
    };
    let text = || {
        table
            .get(key)
            .and_then(scalar)
            .filter(|text| !text.is_empty())
    };
    let mut out = Vec::new();
    match setting.shows {
        Shows::Env(variable) => {
            out.extend(text().map(|text| of("env", key.to_owned(), variable, text)));
        }
        Shows::ConfigMap => {
            out.extend(text().map(|text| of("config-map", key.to_owned(), &text.clone(), text)));
        }
        Shows::Tolerations => tolerations(table, key, &mut out),
    }
    out
}

/// The daemonsets that the GPU Operator makes of its custom resource, by the section that switches each.
const OPERANDS: [(&str, &str); 8] = [
    ("driver", "nvidia-driver-daemonset"),
    ("toolkit", "nvidia-container-toolkit-daemonset"),
    ("devicePlugin", "nvidia-device-plugin-daemonset"),
    ("dcgm", "nvidia-dcgm"),
    ("dcgmExporter", "nvidia-dcgm-exporter"),
    ("gfd", "gpu-feature-discovery"),
    ("migManager", "nvidia-mig-manager"),
    ("nodeStatusExporter", "nvidia-node-status-exporter"),
];

/// Parts of the GPU Operator that are switched on and not there, or off and there. `daemonsets` are all of the release's:
/// without any that the operator makes it has not begun, and nothing is said.
#[must_use]
pub fn operands(values: &Value, daemonsets: &[String]) -> Vec<Drift> {
    let name = |workload: &str| workload.rsplit('/').next().unwrap_or_default().to_owned();
    // Precompiled drivers have the kernel in the name.
    let is = |workload: &str, wanted: &str| {
        let name = name(workload);
        name == wanted || (wanted == OPERANDS[0].1 && name.starts_with(wanted))
    };
    let any = |wanted: &str| daemonsets.iter().find(|one| is(one, wanted));
    if !OPERANDS.iter().any(|(_, wanted)| any(wanted).is_some()) {
        return Vec::new();
    }
    let by_resource = at(values, "driver.nvidiaDriverCRD.enabled") == Some(&Value::Bool(true));
    let parts = OPERANDS
        .iter()
        .filter(|(section, _)| *section != "driver" || !by_resource);
    let drifts = parts.filter_map(|(section, wanted)| {
        let enabled = at(values, &format!("{section}.enabled"))?.as_bool()?;
        let (kind, seen, places) = match (enabled, any(wanted)) {
            (true, None) => ("absent", format!("no daemonset {wanted}"), Vec::new()),
            (false, Some(one)) => (
                "disabled",
                format!("daemonset {wanted} is there"),
                vec![one.clone()],
            ),
            _ => return None,
        };
        Some(Drift {
            kind,
            value: format!("{section}.enabled"),
            expected: enabled.to_string(),
            seen,
            places,
        })
    });
    drifts.collect()
}
