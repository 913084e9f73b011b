//! What a table that is not read would have changed: only that makes an unread table a fault.

use super::config::EffectiveConfig;
use super::handlers::{Cri, Handler, cri_view};
use super::migrate::{self, CRI_IMAGES, CRI_RUNTIME, GRPC_CRI};
use super::value::{Node, Section, Value};

/// What would be in effect if the CRI tables under other schemas' names were read, as far as that differs from what is.
///
/// Each item names one setting (`runtime handler nvidia`, `the sandbox image`); none means that nothing is lost.
#[must_use]
pub(super) fn settings_lost(config: &EffectiveConfig) -> Vec<String> {
    let mut read = config.clone();
    read.problems.clear();
    if config.containerd.release.is_v1() {
        read_in_v1(&mut read);
    } else {
        read_in_v2(&mut read);
    }
    differences(&cri_view(config), &cri_view(&read))
}

/// containerd 1.x: the table of schema 2 in a file of schema 1, and those of containerd 2.
fn read_in_v1(config: &mut EffectiveConfig) {
    let plugins = &mut config.plugins.entries;
    let mut cri = Section::new(config.top.place.clone());
    for id in ["cri", GRPC_CRI, CRI_RUNTIME, CRI_IMAGES] {
        if let Some(Node::Table(section)) = plugins.remove(id) {
            fill(&mut cri, section);
        }
    }
    config.schema = config.schema.max(2);
    plugins.insert(GRPC_CRI.to_owned(), Node::Table(cri));
}

/// containerd 2: the CRI tables of schemas 1 and 2 in a configuration of schema 3 or above.
fn read_in_v2(config: &mut EffectiveConfig) {
    let plugins = &mut config.plugins;
    if let Some(Node::Table(first)) = plugins.entries.remove("cri") {
        let place = first.place.clone();
        let slot = plugins
            .entries
            .entry(GRPC_CRI.to_owned())
            .or_insert_with(|| Node::Table(Section::new(place)));
        if let Node::Table(second) = slot {
            fill(second, first);
        }
    }
    migrate::split_cri(plugins, &mut config.dropped, &mut config.problems);
}

/// Adds what is not there yet, at every depth.
fn fill(to: &mut Section, from: Section) {
    for (key, node) in from.entries {
        match (to.entries.get_mut(&key), node) {
            (None, node) => {
                to.entries.insert(key, node);
            }
            (Some(Node::Table(known)), Node::Table(more)) => fill(known, more),
            (Some(_), _) => {}
        }
    }
}

fn differences(is: &Cri, would: &Cri) -> Vec<String> {
    let mut out = Vec::new();
    for (name, handler) in &would.handlers {
        match is.handlers.get(name) {
            None => out.push(format!("runtime handler {name}")),
            Some(known) => out.extend(
                of_handler(known, handler)
                    .into_iter()
                    .map(|what| format!("{what} of runtime handler {name}")),
            ),
        }
    }
    let settings = [
        (
            is.default_runtime_name.value == would.default_runtime_name.value,
            "the default runtime",
        ),
        (is.enable_cdi.value == would.enable_cdi.value, "enable_cdi"),
        (
            is.cdi_spec_dirs.value == would.cdi_spec_dirs.value,
            "the CDI directories",
        ),
        (
            is.cni_bin_dirs.value == would.cni_bin_dirs.value,
            "the directory of CNI plugins",
        ),
        (
            is.cni_conf_dir.value == would.cni_conf_dir.value,
            "the directory of CNI configurations",
        ),
        (
            is.sandbox_image.value == would.sandbox_image.value,
            "the sandbox image",
        ),
        (
            is.snapshotter.value == would.snapshotter.value,
            "the snapshotter",
        ),
        (
            is.registry_config_path.value == would.registry_config_path.value,
            "the registry's config_path",
        ),
        (
            is.registry_mirrors.keys().eq(would.registry_mirrors.keys()),
            "registry mirrors",
        ),
    ];
    let lost = settings.into_iter().filter(|(same, _)| !same);
    out.extend(lost.map(|(_, what)| what.to_owned()));
    out
}

fn of_handler(is: &Handler, would: &Handler) -> Vec<&'static str> {
    let options = |handler: &Handler| -> Vec<(String, Value)> {
        let set = handler.options.iter();
        set.filter(|(_, setting)| !setting.value.is_zero())
            .map(|(key, setting)| (key.clone(), setting.value.clone()))
            .collect()
    };
    let pairs = [
        (
            is.runtime_type.value == would.runtime_type.value,
            "runtime_type",
        ),
        (
            is.systemd_cgroup.value == would.systemd_cgroup.value,
            "SystemdCgroup",
        ),
        (
            is.binary_name.value == would.binary_name.value,
            "BinaryName",
        ),
        (
            is.base_runtime_spec.value == would.base_runtime_spec.value,
            "base_runtime_spec",
        ),
    ];
    let mut out: Vec<&'static str> = pairs
        .into_iter()
        .filter(|(same, _)| !same)
        .map(|(_, what)| what)
        .collect();
    if out.is_empty() && options(is) != options(would) {
        out.push("options");
    }
    out
}
