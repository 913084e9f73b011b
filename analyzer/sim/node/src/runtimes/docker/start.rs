//! What stops dockerd after its configuration was taken, when it comes up; `dockerd --validate` does not see it.

use serde_json::Value;

use super::checks::{self, Wrong};
use super::keys::Release;
use super::{Loaded, runtimes, url};

const DRIVER: &str = "native.cgroupdriver";
/// Options of the log driver json-file, and those of all drivers.
const JSON_FILE: [&str; 10] = [
    "max-file",
    "max-size",
    "compress",
    "labels",
    "labels-regex",
    "env",
    "env-regex",
    "tag",
    "mode",
    "max-buffer-size",
];

/// All checks of a release that need nothing of the host.
pub(super) fn faults(config: &Loaded<'_>) -> Wrong {
    let mut out = Wrong::new();
    if config.release == Release::V20 {
        log_level(config, &mut out);
        out.extend(checks::hosts(config));
    }
    if config.release < Release::V28 {
        out.extend(checks::mirrors(config));
    }
    for name in config.list("insecure-registries") {
        if let Err(why) = url::insecure(&name) {
            out.push(("insecure-registries", why));
        }
    }
    bridge(config, &mut out);
    cgroups(config, &mut out);
    if config.release > Release::V20 {
        runtimes::at_start(config, &mut out);
    }
    drivers(config, &mut out);
    out
}

/// Storage drivers that are no longer built in, and options that the usual log driver does not know.
fn drivers(config: &Loaded<'_>, out: &mut Wrong) {
    let gone = ["aufs", "overlay", "devicemapper"];
    let driver = config.text("storage-driver").unwrap_or_default();
    if config.release > Release::V20 && gone.contains(&driver.as_str()) {
        let why = format!("the {driver} storage-driver has been deprecated and removed");
        out.push(("storage-driver", why));
    }
    let usual = config
        .text("log-driver")
        .is_none_or(|name| name == "json-file");
    let options = config.entries.get("log-opts");
    let options = options
        .as_ref()
        .and_then(Value::as_object)
        .filter(|_| usual);
    for name in options.into_iter().flatten().map(|(name, _)| name) {
        if !JSON_FILE.contains(&name.as_str()) {
            out.push((
                "log-opts",
                format!("unknown log opt '{name}' for json-file log driver"),
            ));
        }
    }
}

fn log_level(config: &Loaded<'_>, out: &mut Wrong) {
    const LEVELS: [&str; 8] = [
        "panic", "fatal", "error", "warn", "warning", "info", "debug", "trace",
    ];
    if let Some(level) = config.text("log-level")
        && !LEVELS.contains(&level.to_lowercase().as_str())
    {
        out.push((
            "log-level",
            format!("unable to parse logging level: {level}"),
        ));
    }
}

fn bridge(config: &Loaded<'_>, out: &mut Wrong) {
    let own = config.text("bridge").is_some();
    for key in ["bip", "bip6"] {
        if own && config.text(key).is_some() {
            let why = format!("bridge and {key} are mutually exclusive options");
            out.push(("bridge", why));
        }
    }
    let icc = config.switch("icc", true);
    let newest = config.release == Release::V28;
    if !icc && !config.switch("iptables", true) {
        out.push((
            "icc",
            "iptables is false with icc false, which uses iptables to function".to_owned(),
        ));
    }
    if newest && !icc && config.switch("ipv6", false) && !config.switch("ip6tables", true) {
        out.push((
            "icc",
            "ip6tables is false with icc false, which uses ip6tables to function".to_owned(),
        ));
    }
    if !newest && config.switch("ip6tables", false) && !config.switch("experimental", false) {
        let why = "ip6tables rules are only available if experimental features are enabled";
        out.push(("ip6tables", why.to_owned()));
    }
}

/// The cgroup driver that is set: the first that is named, from 28 the last.
pub(super) fn driver(config: &Loaded<'_>) -> Option<String> {
    let options = config.list("exec-opts");
    let mut set = options.iter().filter_map(|one| {
        let (key, value) = one.split_once('=')?;
        key.trim()
            .eq_ignore_ascii_case(DRIVER)
            .then(|| value.trim().to_owned())
    });
    let found = if config.release == Release::V28 {
        set.next_back()
    } else {
        set.next()
    };
    found.filter(|driver| !driver.is_empty())
}

fn cgroups(config: &Loaded<'_>, out: &mut Wrong) {
    let driver = driver(config).unwrap_or_default();
    if !matches!(driver.as_str(), "systemd" | "cgroupfs" | "") {
        let why = format!("{DRIVER}={driver} names no driver: use systemd or cgroupfs");
        out.push(("exec-opts", why));
    }
    if let Some(parent) = config.text("cgroup-parent")
        && driver == "systemd"
        && (parent.len() <= 6 || !parent.ends_with(".slice"))
    {
        let why = format!(
            "cgroup-parent for systemd cgroup should be a valid slice named as xxx.slice, not {parent}"
        );
        out.push(("cgroup-parent", why));
    }
}
