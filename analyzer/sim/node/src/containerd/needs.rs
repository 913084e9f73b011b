//! What plugins that CRI rests on need: another plugin, a program or a file of the node.

use super::config::EffectiveConfig;
use super::problem::ConfigProblem;
use super::release::Release;
use super::value::{Setting, Value};

/// The differ of every build for Linux, and those that builds for Windows have in its place.
const WALKING: &str = "walking";
const OF_WINDOWS: [&str; 3] = ["windows", "windows-lcow", "cimfs"];
/// What the transfer service of most nodes unpacks for.
const USUAL: [&str; 2] = ["linux/amd64", "linux/amd64/v1"];

/// Plugins that CRI does not load without, from which release on and up to which; tried on 1.6.20, 1.7.24 and 2.1.9.
const PARTS: [(&str, Release, Release); 19] = [
    (
        "io.containerd.content.v1.content",
        Release::V1_6,
        Release::V2_3,
    ),
    (
        "io.containerd.differ.v1.walking",
        Release::V1_6,
        Release::V2_3,
    ),
    (
        "io.containerd.event.v1.exchange",
        Release::V1_6,
        Release::V2_3,
    ),
    (
        "io.containerd.gc.v1.scheduler",
        Release::V1_6,
        Release::V2_3,
    ),
    (
        "io.containerd.metadata.v1.bolt",
        Release::V1_6,
        Release::V2_3,
    ),
    (
        "io.containerd.runtime.v2.task",
        Release::V1_6,
        Release::V2_3,
    ),
    (
        "io.containerd.service.v1.containers-service",
        Release::V1_6,
        Release::V2_3,
    ),
    (
        "io.containerd.service.v1.content-service",
        Release::V1_6,
        Release::V2_3,
    ),
    (
        "io.containerd.service.v1.diff-service",
        Release::V1_6,
        Release::V2_3,
    ),
    (
        "io.containerd.service.v1.images-service",
        Release::V1_6,
        Release::V2_3,
    ),
    (
        "io.containerd.service.v1.namespaces-service",
        Release::V1_6,
        Release::V2_3,
    ),
    (
        "io.containerd.service.v1.snapshots-service",
        Release::V1_6,
        Release::V2_3,
    ),
    (
        "io.containerd.service.v1.tasks-service",
        Release::V1_6,
        Release::V2_3,
    ),
    (
        "io.containerd.service.v1.leases-service",
        Release::V1_6,
        Release::V1_6,
    ),
    (
        "io.containerd.runtime.v1.linux",
        Release::V1_6,
        Release::V1_7,
    ),
    (
        "io.containerd.lease.v1.manager",
        Release::V1_7,
        Release::V2_3,
    ),
    (
        "io.containerd.sandbox.store.v1.local",
        Release::V1_7,
        Release::V2_3,
    ),
    (
        "io.containerd.sandbox.controller.v1.shim",
        Release::V2_0,
        Release::V2_3,
    ),
    (
        "io.containerd.podsandbox.controller.v1.podsandbox",
        Release::V2_0,
        Release::V2_3,
    ),
];

/// Problems of these plugins; without them CRI does not load.
pub(super) fn check(config: &EffectiveConfig) -> Vec<ConfigProblem> {
    if config.uncertain() {
        return Vec::new();
    }
    let differs = differ(config).into_iter().chain(unpacker(config));
    let of_node = scratch(config).into_iter().chain(pool(config));
    let parts = disabled(config).into_iter().chain(platform(config));
    differs.chain(parts).chain(of_node).collect()
}

/// A part of containerd that CRI asks for is switched off. A version 1 file names plugins by the last word of their ids.
fn disabled(config: &EffectiveConfig) -> Option<ConfigProblem> {
    let release = config.containerd.release;
    let short = release.is_v1() && config.schema < 2;
    let mut parts = PARTS
        .iter()
        .filter(|(_, from, to)| (*from..=*to).contains(&release));
    let off = |id: &str| {
        let name = if short {
            id.rsplit('.').next().unwrap_or(id)
        } else {
            id
        };
        config
            .disabled_plugins
            .iter()
            .find(|item| item.value == name)
    };
    let item = parts.find_map(|(id, ..)| off(id))?;
    Some(ConfigProblem::CriRejects {
        message: format!(
            "disabled_plugins lists {:?}, without which CRI does not load",
            item.value
        ),
        place: Some(item.place.clone()),
    })
}

fn setting<'a>(config: &'a EffectiveConfig, plugin: &str, key: &str) -> Option<&'a Setting> {
    config.plugins.setting(&[plugin, key])
}

/// The differs that the diff service names have to load (`plugins/services/diff/local.go`). That of erofs is known from 2.1
/// and loads where the node has `mkfs.erofs`, which no file of the configuration tells.
fn differ(config: &EffectiveConfig) -> Option<ConfigProblem> {
    // 1.x looks up the plugins of a version 1 file by their short names.
    let short = config.containerd.release.is_v1() && config.schema < 2;
    let plugin = if short {
        "diff-service"
    } else {
        "io.containerd.service.v1.diff-service"
    };
    let named = setting(config, plugin, "default")?;
    let Value::List(names) = &named.value else {
        return None;
    };
    let mut names = names.iter().filter_map(Value::as_str);
    let missing = names.find(|name| !provided(config, name))?;
    Some(lacking(config, "the diff service", missing, named))
}

/// Since 2.1 CRI pulls by the transfer service, which loads only with the differs that it unpacks with
/// (`plugins/transfer/plugin.go`).
fn unpacker(config: &EffectiveConfig) -> Option<ConfigProblem> {
    let plugin = "io.containerd.transfer.v1.local";
    let unpacks = setting(config, plugin, "unpack_config")
        .filter(|_| config.containerd.pulls_by_transfer())?;
    let Value::List(all) = &unpacks.value else {
        return None;
    };
    let mut names = all.iter().filter_map(|one| match one {
        Value::Table(of) => of.get("differ")?.as_str(),
        _ => None,
    });
    let missing = names.find(|name| !name.is_empty() && !provided(config, name))?;
    Some(lacking(config, "the transfer service", missing, unpacks))
}

/// It unpacks for a platform only where a differ of that platform is there, which is that of the node.
fn platform(config: &EffectiveConfig) -> Option<ConfigProblem> {
    let unpacks = setting(config, "io.containerd.transfer.v1.local", "unpack_config")
        .filter(|_| config.containerd.pulls_by_transfer())?;
    let Value::List(all) = &unpacks.value else {
        return None;
    };
    let mut named = all.iter().filter_map(|one| match one {
        Value::Table(of) => of.get("platform")?.as_str(),
        _ => None,
    });
    let other = named.find(|name| !name.is_empty() && !USUAL.contains(name))?;
    Some(ConfigProblem::NodeNeeded {
        message: format!(
            "the transfer service unpacks for {other}, and loads only on a node that is one"
        ),
        place: unpacks.place.clone(),
    })
}

/// containerd 2 does not load CRI where the devmapper snapshotter has a pool to use and fails to, whoever asks for it.
fn pool(config: &EffectiveConfig) -> Option<ConfigProblem> {
    let plugin = "io.containerd.snapshotter.v1.devmapper";
    let named =
        setting(config, plugin, "pool_name").filter(|_| !config.containerd.release.is_v1())?;
    let pool = named.value.as_str().filter(|name| !name.is_empty())?;
    let mut off = config.disabled_plugins.iter();
    let off = off.any(|item| item.value == plugin);
    (!off).then(|| ConfigProblem::NodeNeeded {
        message: format!(
            "the devmapper snapshotter uses the thin pool {pool}, which the node has to have"
        ),
        place: named.place.clone(),
    })
}

fn provided(config: &EffectiveConfig, differ: &str) -> bool {
    let proxies = config.top.section(&["proxy_plugins"]);
    differ == WALKING || proxies.is_some_and(|all| all.entries.contains_key(differ))
}

/// What lacks a differ: that of erofs may be there.
fn lacking(config: &EffectiveConfig, who: &str, missing: &str, named: &Setting) -> ConfigProblem {
    if missing == "erofs" && config.containerd.pulls_by_transfer() {
        return ConfigProblem::NodeNeeded {
            message: format!(
                "{who} names differ erofs, which loads only where the node has mkfs.erofs"
            ),
            place: named.place.clone(),
        };
    }
    if OF_WINDOWS.contains(&missing) {
        return ConfigProblem::NodeNeeded {
            message: format!("{who} names differ {missing}, which only containerd on Windows has"),
            place: named.place.clone(),
        };
    }
    ConfigProblem::CriRejects {
        message: format!(
            "{who} names differ {missing:?}, which is neither built in nor one of proxy_plugins"
        ),
        place: Some(named.place.clone()),
    }
}

/// containerd 2 copies the blockfile snapshotter's scratch file at its start, and CRI does not load without it
/// (`plugins/snapshots/blockfile`).
fn scratch(config: &EffectiveConfig) -> Option<ConfigProblem> {
    let plugin = "io.containerd.snapshotter.v1.blockfile";
    let file = setting(config, plugin, "scratch_file")?;
    let path = file.value.as_str().filter(|path| !path.is_empty())?;
    let again = setting(config, plugin, "recreate_scratch")?;
    let copies = again.value.as_bool() == Some(true) && !config.containerd.release.is_v1();
    copies.then(|| ConfigProblem::NodeNeeded {
        message: format!(
            "the blockfile snapshotter copies {path} at each start, which the node has to have"
        ),
        place: file.place.clone(),
    })
}
