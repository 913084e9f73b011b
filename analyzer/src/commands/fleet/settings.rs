//! How a node and its cluster are set up: what `fleet odd` compares.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use casefile_bundle::{Entry, Input, Keys, Limits, entry};
use casefile_fleet::analysed::Setting;
use serde_json::Value;

use crate::join::{Unit, cluster_uid};
use crate::model::Analysis;

/// Largest file of settings, in bytes.
const LARGEST: usize = 256 << 10;
/// Largest list of namespaces, in bytes.
const NAMESPACES: usize = 4 << 20;
/// Settings kept of one bundle.
const MOST: usize = 3_000;
/// Longest value, in bytes.
const LONGEST: usize = 200;

/// What a bundle's files say.
#[derive(Default)]
pub(super) struct CapturedSettings {
    /// uid of the cluster.
    pub(super) cluster: Option<String>,
    /// Settings, sorted.
    pub(super) settings: Vec<Setting>,
}

/// What a file holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Namespaces,
    Sysctl,
    Bios,
    Module,
    Arguments,
    Release,
    Values,
    Tree,
    Modprobe,
}

pub(super) fn collect(
    unit: &Unit,
    keys: Option<&Keys>,
    analysis: &Analysis,
) -> anyhow::Result<CapturedSettings> {
    let mut found = Found::default();
    found.versions(analysis);
    if let Unit::Alone(input) = unit {
        let mut text: Vec<u8> = Vec::new();
        casefile_bundle::read_chosen(
            Input::new(input, keys),
            &Limits::default(),
            &mut |entry| holds(entry.path.as_str()).is_some(),
            &mut |piece| {
                if piece.seq == 0 {
                    text.clear();
                }
                let path = piece.entry.path.as_str();
                let Some(what) = holds(path) else {
                    return ControlFlow::Continue(());
                };
                let most = if what == Holds::Namespaces {
                    NAMESPACES
                } else {
                    LARGEST
                };
                if text.len() + piece.bytes.len() <= most {
                    text.extend_from_slice(piece.bytes);
                }
                if piece.last {
                    found.file(what, path, &String::from_utf8_lossy(&text));
                }
                ControlFlow::Continue(())
            },
        )?;
    }
    Ok(CapturedSettings {
        cluster: found.cluster,
        settings: found.settings.into_iter().take(MOST).collect(),
    })
}

/// What is read of an entry, if it holds settings. Counters and what differs by itself are none.
fn holds(path: &str) -> Option<Holds> {
    let moving = [
        "nf_conntrack_count",
        "/random/",
        "file-nr",
        "inode-",
        "dentry-state",
        "ns_last_pid",
        "/kernel/hostname",
        "/lxc",
        "/cali",
        "/veth",
        "/eni",
    ];
    if moving.iter().any(|part| path.contains(part)) {
        return None;
    }
    let below = path.split_once("/rootfs/").map(|(_, below)| below);
    let name = path.rsplit('/').next().unwrap_or("");
    match below {
        _ if path == Entry::List("namespaces").path() => Some(Holds::Namespaces),
        _ if path.starts_with(entry::HELM) && name == "values-user.yaml" => Some(Holds::Values),
        _ if path.starts_with(entry::HELM) && name == "release.json" => Some(Holds::Release),
        Some(file) if file.starts_with("proc/sys/") => Some(Holds::Sysctl),
        Some(file) if file.starts_with("sys/class/dmi/id/") => Some(Holds::Bios),
        Some(file) if file.starts_with("sys/module/") && file.contains("/parameters/") => {
            Some(Holds::Module)
        }
        Some("proc/cmdline") => Some(Holds::Arguments),
        Some(file) if file.starts_with("etc/modprobe.d/") => Some(Holds::Modprobe),
        Some(file)
            if ["toml", "yaml", "yml"].contains(&name.rsplit('.').next().unwrap_or(""))
                && (file.starts_with("etc/") || file.starts_with("var/lib/kubelet/")) =>
        {
            Some(Holds::Tree)
        }
        _ => None,
    }
}

#[derive(Default)]
struct Found {
    cluster: Option<String>,
    settings: BTreeSet<Setting>,
}

impl Found {
    fn add(&mut self, scope: &str, kind: &str, name: &str, value: &str) {
        let value = value.trim();
        if value.is_empty() || value.len() > LONGEST || name.len() > LONGEST {
            return;
        }
        self.settings.insert(Setting {
            scope: scope.to_owned(),
            kind: kind.to_owned(),
            name: name.to_owned(),
            value: value.to_owned(),
        });
    }

    /// Versions that the analysis has resolved, of this node and of the cluster's parts.
    fn versions(&mut self, analysis: &Analysis) {
        let own = analysis.input.node.as_deref().unwrap_or("");
        for item in &analysis.environment {
            let (label, of) = item.label.split_once(" of ").unwrap_or((&item.label, ""));
            if !of.is_empty() && of != own && of != "the driver" {
                continue;
            }
            // A card's label holds its bus id; its product is in the table of GPUs.
            if !label.starts_with("GPU ") && !label.starts_with("Node ") {
                self.add("node", "version", label, &item.value);
            }
        }
        for part in &analysis.state.components {
            self.add("cluster", "image", &part.component, &part.version);
        }
    }

    fn file(&mut self, what: Holds, path: &str, text: &str) {
        let below = path.split_once("/rootfs/").map_or(path, |(_, below)| below);
        let last = below.rsplit('/').next().unwrap_or("");
        match what {
            Holds::Namespaces => self.cluster = cluster_uid(text),
            Holds::Sysctl => {
                let name = below.trim_start_matches("proc/sys/").replace('/', ".");
                self.add("node", "sysctl", &name, text);
            }
            Holds::Bios => self.add("node", "bios", last, text),
            Holds::Module => {
                let name = below.trim_start_matches("sys/module/");
                self.add("node", "module", &name.replace("/parameters/", "."), text);
            }
            Holds::Arguments => {
                for word in text.split_whitespace() {
                    let (name, value) = word.split_once('=').unwrap_or((word, "set"));
                    if !["BOOT_IMAGE", "root", "initrd"].contains(&name) {
                        self.add("node", "kernel argument", name, value);
                    }
                }
            }
            Holds::Modprobe => {
                for line in text
                    .lines()
                    .map(str::trim)
                    .filter(|line| !line.starts_with('#'))
                {
                    if let Some((name, value)) = line.rsplit_once([' ', '\t']) {
                        self.add("node", "modprobe", name, value);
                    }
                }
            }
            Holds::Release => {
                let release: Value = serde_json::from_str(text).unwrap_or(Value::Null);
                for key in ["chart", "chart_version", "app_version"] {
                    let value = release.get(key).and_then(Value::as_str).unwrap_or("");
                    self.add(
                        "cluster",
                        "chart",
                        &format!("{} {key}", release_of(path)),
                        value,
                    );
                }
            }
            Holds::Values => {
                if let Ok(values) = serde_saphyr::from_str::<Value>(text) {
                    self.leaves("cluster", "chart", &release_of(path), &values);
                }
            }
            Holds::Tree => {
                let tree = if last.ends_with(".toml") {
                    toml::from_str::<Value>(text).ok()
                } else {
                    serde_saphyr::from_str::<Value>(text).ok()
                };
                if let Some(tree) = tree {
                    self.leaves("node", "file", &format!("/{below}"), &tree);
                }
            }
        }
    }

    fn leaves(&mut self, scope: &str, kind: &str, key: &str, value: &Value) {
        match value {
            Value::Object(map) => {
                for (name, value) in map {
                    self.leaves(scope, kind, &format!("{key} {name}"), value);
                }
            }
            Value::String(text) => self.add(scope, kind, key, text),
            Value::Null => {}
            other => self.add(scope, kind, key, &other.to_string()),
        }
    }
}

/// Chart names carry a number that the installer drew: `gpu-operator-1758912452`.
fn release_of(path: &str) -> String {
    let release = path.split('/').nth(2).unwrap_or("");
    let plain = release.trim_end_matches(|c: char| c.is_ascii_digit());
    plain.trim_end_matches('-').to_owned()
}
