//! The cgroup driver of each handler beside the kubelet's.

use super::checks::word;
use super::{Resolved, of_place};
use crate::containerd::instances::{Evidence, Instance, NodeFacts};
use crate::containerd::{Cri, EffectiveConfig, Handler, kubelet_settings};
use crate::derive::Known;
use crate::facts::runtime_parts::CgroupDriver;
use crate::facts::{AnyFact, Fact};
use crate::model::Place;
use crate::runtimes::cgroups::{self, Kubelet};

/// What the node says of its kubelet's driver.
#[derive(Clone, Default)]
pub(in crate::derive) struct Setting {
    pub(in crate::derive) set: Option<(String, Evidence)>,
    pub(in crate::derive) seen: bool,
    pub(in crate::derive) version: String,
}

/// Reads it from the command line, its files, and the configuration.
pub(in crate::derive) fn setting(facts: &NodeFacts<'_>, version: &str) -> Setting {
    Setting {
        set: kubelet_settings::setting(facts, "cgroup-driver", "cgroupDriver"),
        seen: kubelet_settings::config_seen(facts),
        version: version.to_owned(),
    }
}

impl Setting {
    /// What is compared, given what the runtime says when it is asked.
    pub(in crate::derive) fn kubelet<'a>(&'a self, runtime_says: Option<&'a str>) -> Kubelet<'a> {
        Kubelet {
            set: self.set.as_ref().map(|(driver, _)| driver.as_str()),
            seen: self.seen,
            version: &self.version,
            runtime_says,
        }
    }
}

fn is_runc(handler: &Handler) -> bool {
    handler
        .runtime_type
        .value
        .starts_with("io.containerd.runc.")
}

fn driver(handler: &Handler) -> &'static str {
    if handler.systemd_cgroup.value {
        "systemd"
    } else {
        "cgroupfs"
    }
}

/// What containerd 2 answers a kubelet that asks: the driver of the default handler, else of the first that has one.
fn answer(config: &EffectiveConfig, cri: &Cri) -> Option<&'static str> {
    if config.containerd.release.is_v1() {
        return None;
    }
    let default = cri.handlers.get(&cri.default_runtime_name.value);
    let mut all = default.into_iter().chain(cri.handlers.values());
    Some(all.find(|one| is_runc(one)).map_or("systemd", driver))
}

/// A fact a handler that runs containers through runc.
pub(super) fn facts(known: &Known<'_>, resolved: &Resolved, instance: &Instance) -> Vec<AnyFact> {
    let Some((config, cri)) = resolved.of(instance) else {
        return Vec::new();
    };
    let kubelet = cgroups::effective(resolved.cgroups.kubelet(answer(config, cri)));
    let handlers = cri.handlers.values().filter(|one| is_runc(one));
    let complete = !config.uncertain();
    handlers
        .map(|handler| {
            // A drop-in that was not captured may set what no captured file sets.
            let known_driver = complete || handler.systemd_cgroup.place().is_some();
            let runtime = if known_driver { driver(handler) } else { "" };
            let data = CgroupDriver {
                node: resolved.node.clone(),
                instance: instance.id.clone(),
                used_by_kubelet: resolved.used(&instance.id).to_owned(),
                handler: handler.name.clone(),
                default: handler.name == cri.default_runtime_name.value,
                runtime: runtime.to_owned(),
                kubelet: kubelet.driver.clone(),
                kubelet_from: kubelet.from.to_owned(),
                matches: word(cgroups::matches(&kubelet.driver, runtime)).to_owned(),
            };
            let line = handler.systemd_cgroup.place().or(handler.place.as_ref());
            let root = || Place {
                path: config
                    .files
                    .first()
                    .map_or_else(String::new, |file| file.bundle_path.clone())
                    .into(),
                line: None,
            };
            let (place, text) =
                line.map_or_else(|| (root(), String::new()), |line| of_place(known, line));
            Fact {
                data,
                place,
                text: text.into(),
                at: None,
            }
            .into()
        })
        .collect()
}
