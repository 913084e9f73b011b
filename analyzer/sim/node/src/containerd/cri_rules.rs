//! The checks the CRI plugin makes before it loads.

use super::Answer;
use super::config::EffectiveConfig;
use super::handlers::{Cri, Known, Tables, cri_view};
use super::migrate::{CRI_IMAGES, CRI_RUNTIME, GRPC_CRI};
use super::problem::ConfigProblem;
use super::release::Release;
use super::value::{FileLine, Section, Value};

/// All refusals, in the order containerd looks for them, then handlers that cannot be used.
pub(super) fn check(
    config: &EffectiveConfig,
    tables: &Tables<'_>,
    cri: &Cri,
) -> Vec<ConfigProblem> {
    let mut out = disabled(config);
    let v1 = config.containerd.release.is_v1();
    if v1 && let Some(problem) = untrusted_twice(tables.runtime) {
        out.push(problem);
    }
    out.extend(default_runtime(cri));
    out.extend(snapshotter(config, cri));
    out.extend(unpacked(config));
    out.extend(super::needs::check(config));
    if v1 {
        out.extend(only_for_v1_shim(tables.runtime, cri));
    }
    if config.containerd.release != Release::V1_6 {
        out.extend(devices(tables.runtime));
    }
    out.extend(registry(config.containerd.release, tables.images, cri));
    out.extend(durations(config.containerd.release, tables));
    if !v1 {
        out.extend(cni_twice(tables.runtime));
    }
    for handler in cri
        .handlers
        .values()
        .filter(|handler| handler.runtime_type.value.is_empty())
    {
        if let Some(place) = handler.place.clone() {
            out.push(ConfigProblem::NoRuntimeType {
                handler: handler.name.clone(),
                place,
            });
        }
    }
    out
}

/// The plugins without which there is no CRI.
fn parts(config: &EffectiveConfig) -> &'static [&'static str] {
    match config.containerd.release {
        release if release.is_v1() && config.schema < 2 => &["cri"],
        release if release.is_v1() => &[GRPC_CRI],
        _ => &[GRPC_CRI, CRI_RUNTIME, CRI_IMAGES],
    }
}

/// The daemon ends where a plugin that it is told to require does not load (`cmd/containerd/server`).
pub(super) fn required(config: &EffectiveConfig) -> Option<ConfigProblem> {
    let ids = parts(config);
    let mut items = config.required_plugins.iter();
    let item = items.find(|item| ids.contains(&item.value.as_str()))?;
    let none = cri_view(config).available == Answer::No;
    none.then(|| ConfigProblem::RequiredCri {
        id: item.value.clone(),
        place: item.place.clone(),
    })
}

fn disabled(config: &EffectiveConfig) -> Vec<ConfigProblem> {
    let ids = parts(config);
    let hits = config
        .disabled_plugins
        .iter()
        .filter(|item| ids.contains(&item.value.as_str()));
    hits.map(|item| ConfigProblem::CriDisabled {
        id: item.value.clone(),
        place: item.place.clone(),
    })
    .collect()
}

fn rejects(message: impl Into<String>, place: Option<&FileLine>) -> ConfigProblem {
    ConfigProblem::CriRejects {
        message: message.into(),
        place: place.cloned(),
    }
}

fn untrusted_twice(runtime: &Section) -> Option<ConfigProblem> {
    let old = runtime.setting(&["containerd", "untrusted_workload_runtime", "runtime_type"])?;
    let listed = runtime
        .section(&["containerd", "runtimes"])?
        .entries
        .get("untrusted")?;
    let set = !old.value.is_zero();
    set.then(|| {
        rejects(
            "both untrusted_workload_runtime and runtimes.untrusted are set",
            Some(listed.place()),
        )
    })
}

fn default_runtime(cri: &Cri) -> Option<ConfigProblem> {
    let name = &cri.default_runtime_name;
    if name.value.is_empty() {
        return Some(ConfigProblem::DefaultRuntimeEmpty {
            place: name.place().cloned(),
        });
    }
    (!cri.handlers.contains_key(&name.value)).then(|| ConfigProblem::DefaultRuntimeMissing {
        name: name.value.clone(),
        place: name.place().cloned(),
        runtimes: cri.runtimes_place.clone(),
    })
}

/// Snapshotters that builds of containerd have in them; the last two are k3s's.
const SNAPSHOTTERS: [&str; 12] = [
    "overlayfs",
    "native",
    "btrfs",
    "zfs",
    "devmapper",
    "aufs",
    "blockfile",
    "erofs",
    "windows",
    "windows-lcow",
    "stargz",
    "fuse-overlayfs",
];

/// Schema versions below this one state a handler's snapshotter where containerd 2 asks for it when CRI loads.
const SCHEMA_OF_PLATFORMS: i64 = 3;

/// The common snapshotter has to be built in or a proxy plugin: CRI does not load without it. containerd 2 moves those of
/// the handlers to the image service, which asks for them as well.
fn snapshotter(config: &EffectiveConfig, cri: &Cri) -> Option<ConfigProblem> {
    let v1 = config.containerd.release.is_v1();
    let moved = |own: &&Known<String>| {
        let mut files = config.files.iter();
        let of = own.place().map(|place| place.host_path.as_str());
        let file = files.find(|file| Some(file.host_path.as_str()) == of);
        !v1 && file.is_some_and(|file| file.schema < SCHEMA_OF_PLATFORMS)
    };
    let own = cri.handlers.values().map(|handler| &handler.snapshotter);
    let mut all = std::iter::once(&cri.snapshotter).chain(own.filter(moved));
    all.find_map(|one| provided(config, one))
}

fn provided(config: &EffectiveConfig, asked: &Known<String>) -> Option<ConfigProblem> {
    let name = asked.value.as_str();
    let proxies = config.top.section(&["proxy_plugins"]);
    let proxy = proxies.is_some_and(|all| all.entries.contains_key(name));
    if config.uncertain() || proxy {
        return None;
    }
    if let ("btrfs" | "zfs", Some(place)) = (name, asked.place()) {
        return Some(ConfigProblem::NodeNeeded {
            message: format!(
                "snapshotter {name:?} loads only where the root of containerd lies on that file system"
            ),
            place: place.clone(),
        });
    }
    let why = match name {
        "devmapper" if !has_pool(config) => "has no pool_name, without which it does not load",
        _ if name.is_empty() || SNAPSHOTTERS.contains(&name) => return None,
        _ => "is neither built in nor one of proxy_plugins",
    };
    Some(rejects(
        format!("snapshotter {name:?} {why}"),
        asked.place(),
    ))
}

/// Whether the devmapper snapshotter names the pool that it needs (`plugins/snapshots/devmapper/config.go`).
fn has_pool(config: &EffectiveConfig) -> bool {
    let names = ["io.containerd.snapshotter.v1.devmapper", "devmapper"];
    let pools = names
        .iter()
        .filter_map(|name| config.plugins.setting(&[name, "pool_name"]));
    pools
        .into_iter()
        .any(|pool| pool.value.as_str().is_some_and(|name| !name.is_empty()))
}

/// From 2.1 images are pulled by the transfer service, which does not load with a snapshotter that nobody provides; then
/// CRI does not load either (`plugins/transfer/plugin.go`).
fn unpacked(config: &EffectiveConfig) -> Option<ConfigProblem> {
    const TRANSFER: &str = "io.containerd.transfer.v1.local";
    if !config.containerd.pulls_by_transfer() || config.uncertain() {
        return None;
    }
    let listed = config.plugins.setting(&[TRANSFER, "unpack_config"])?;
    let proxies = config.top.section(&["proxy_plugins"]);
    let provided = |name: &str| {
        let built_in = SNAPSHOTTERS.contains(&name) && name != "stargz" && name != "fuse-overlayfs";
        built_in || proxies.is_some_and(|all| all.entries.contains_key(name))
    };
    let Value::List(entries) = &listed.value else {
        return None;
    };
    let named = entries.iter().filter_map(|entry| match entry {
        Value::Table(keys) => keys.get("snapshotter")?.as_str(),
        _ => None,
    });
    let missing = named
        .into_iter()
        .find(|name| !name.is_empty() && !provided(name))?;
    Some(rejects(
        format!(
            "unpack_config of the transfer service names snapshotter {missing:?}, which is neither built in nor one of proxy_plugins"
        ),
        Some(&listed.place),
    ))
}

/// Options of the shim that was removed in 2.0.
fn only_for_v1_shim(runtime: &Section, cri: &Cri) -> Vec<ConfigProblem> {
    const LINUX_V1: &str = "io.containerd.runtime.v1.linux";
    let mut out = Vec::new();
    let default = cri.handlers.get(&cri.default_runtime_name.value);
    let default_is_v1 = default.is_some_and(|handler| handler.runtime_type.value == LINUX_V1);
    for path in [&["systemd_cgroup"][..], &["containerd", "no_pivot"]] {
        let set = runtime
            .setting(path)
            .filter(|setting| setting.value.as_bool() == Some(true));
        if let Some(setting) = set.filter(|_| !default_is_v1) {
            let name = path.last().copied().unwrap_or_default();
            out.push(rejects(
                format!("{name} only works for runtime {LINUX_V1}"),
                Some(&setting.place),
            ));
        }
    }
    for handler in cri
        .handlers
        .values()
        .filter(|handler| handler.runtime_type.value != LINUX_V1)
    {
        for key in ["runtime_engine", "runtime_root"] {
            let set = runtime.setting(&["containerd", "runtimes", &handler.name, key]);
            if let Some(setting) = set.filter(|setting| !setting.value.is_zero()) {
                out.push(rejects(
                    format!("{key} only works for runtime {LINUX_V1}"),
                    Some(&setting.place),
                ));
            }
        }
    }
    out
}

fn devices(runtime: &Section) -> Vec<ConfigProblem> {
    let all = "privileged_without_host_devices_all_devices_allowed";
    let on = |section: &Section, key: &str| {
        section
            .setting(&[key])
            .is_some_and(|setting| setting.value.as_bool() == Some(true))
    };
    let runtimes = runtime.section(&["containerd", "runtimes"]);
    let sections = runtimes
        .into_iter()
        .flat_map(|section| section.entries.values())
        .filter_map(|node| node.section());
    let wrong = sections
        .filter(|section| on(section, all) && !on(section, "privileged_without_host_devices"));
    wrong
        .map(|section| {
            let place = section.setting(&[all]).map(|setting| &setting.place);
            rejects(
                format!("{all} requires privileged_without_host_devices"),
                place,
            )
        })
        .collect()
}

fn registry(release: Release, images: &Section, cri: &Cri) -> Vec<ConfigProblem> {
    let mut out = Vec::new();
    if cri.registry_config_path.value.is_empty() {
        return out;
    }
    if let Some(place) = cri.registry_mirrors.values().next() {
        out.push(rejects(
            "registry.mirrors cannot be set when registry.config_path is set",
            Some(place),
        ));
    }
    let configs = images
        .section(&["registry", "configs"])
        .into_iter()
        .flat_map(|section| section.entries.values());
    let mut tls = configs.filter_map(|node| node.section()?.get(&["tls"]));
    if let Some(node) = tls.next().filter(|_| release.is_v1()) {
        out.push(rejects(
            "registry.configs.*.tls cannot be set when registry.config_path is set",
            Some(node.place()),
        ));
    }
    out
}

fn durations(release: Release, tables: &Tables<'_>) -> Vec<ConfigProblem> {
    let mut keys = vec![];
    if release.is_v1() {
        keys.push((tables.runtime, "stream_idle_timeout"));
    }
    if release != Release::V1_6 {
        keys.push((tables.images, "image_pull_progress_timeout"));
        keys.push((tables.runtime, "drain_exec_sync_io_timeout"));
    }
    let set = keys
        .into_iter()
        .filter_map(|(section, key)| Some((key, section.setting(&[key])?)));
    let wrong = set.filter(|(_, setting)| {
        setting
            .value
            .as_str()
            .is_some_and(|text| !text.is_empty() && !duration(text))
    });
    wrong
        .map(|(key, setting)| rejects(format!("{key} is no duration"), Some(&setting.place)))
        .collect()
}

/// Whether Go's `time.ParseDuration` accepts the text.
fn duration(text: &str) -> bool {
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    let mut parts = 0;
    while !rest.is_empty() {
        let number = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (head, tail) = rest.split_at(number);
        let unit = ["ns", "us", "µs", "μs", "ms", "s", "m", "h"]
            .iter()
            .filter_map(|unit| tail.strip_prefix(unit))
            .min_by_key(|left| left.len());
        let digits = head.bytes().any(|b| b.is_ascii_digit()) && head.matches('.').count() <= 1;
        let Some(left) = unit.filter(|_| digits) else {
            return false;
        };
        rest = left;
        parts += 1;
    }
    parts > 0
}

fn cni_twice(runtime: &Section) -> Option<ConfigProblem> {
    let one = runtime
        .setting(&["cni", "bin_dir"])
        .filter(|setting| !setting.value.is_zero())?;
    let many = runtime
        .setting(&["cni", "bin_dirs"])
        .filter(|setting| !setting.value.is_zero())?;
    // The built-in list, written out, gives way.
    let built_in = many.value.strings() == ["/opt/cni/bin"];
    (!built_in).then(|| {
        rejects(
            "cni.bin_dir and cni.bin_dirs cannot both be set",
            Some(&one.place),
        )
    })
}
