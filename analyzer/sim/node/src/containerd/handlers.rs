//! Runtime handlers as the CRI plugin sees them, and whether a handler name resolves.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Answer;
use super::config::{EffectiveConfig, Starts};
use super::cri_rules;
use super::migrate::{CRI_IMAGES, CRI_RUNTIME, GRPC_CRI};
use super::problem::{ConfigProblem, Effect};
use super::release::Release;
use super::value::{FileLine, Section, Setting, Superseded, Value};

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A file set it.
    File {
        /// The assignment that won.
        place: FileLine,
        /// The assignments it overrode, oldest first.
        overrode: Vec<Superseded>,
    },
    /// No file sets it: what this release has built in.
    BuiltIn,
}

/// A value with its origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Known<T> {
    /// The value in effect.
    pub value: T,
    /// Where it comes from.
    pub origin: Origin,
}

impl<T> Known<T> {
    fn built_in(value: T) -> Self {
        Self {
            value,
            origin: Origin::BuiltIn,
        }
    }

    fn set(value: T, setting: &Setting) -> Self {
        Self {
            value,
            origin: Origin::File {
                place: setting.place.clone(),
                overrode: setting.overrode.clone(),
            },
        }
    }

    /// The line that set it; none for built-in values.
    #[must_use]
    pub fn place(&self) -> Option<&FileLine> {
        match &self.origin {
            Origin::File { place, .. } => Some(place),
            Origin::BuiltIn => None,
        }
    }
}

/// One runtime handler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Handler {
    /// The name a RuntimeClass gives as `handler`.
    pub name: String,
    /// Where its table opens; none for the built-in `runc`.
    pub place: Option<FileLine>,
    /// The shim, such as `io.containerd.runc.v2`. Empty where no file sets it: the handler is unusable then.
    pub runtime_type: Known<String>,
    /// An absolute path of the shim, instead of the name.
    pub runtime_path: Known<String>,
    /// `options.BinaryName`; empty means `runc` from the path.
    pub binary_name: Known<String>,
    /// `options.SystemdCgroup`.
    pub systemd_cgroup: Known<bool>,
    /// The handler's own snapshotter; empty means the common one.
    pub snapshotter: Known<String>,
    /// `privileged_without_host_devices`.
    pub privileged_without_host_devices: Known<bool>,
    /// An OCI spec file to start from; empty means none.
    pub base_runtime_spec: Known<String>,
    /// The handler's own CNI directory; empty means the common one.
    pub cni_conf_dir: Known<String>,
    /// All options as set in files.
    pub options: BTreeMap<String, Setting>,
}

/// The CRI plugin's view of a configuration, built-in defaults filled in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cri {
    /// Whether the CRI service is there for the kubelet, as far as the configuration decides it.
    pub available: Answer,
    /// The handler of pods without a RuntimeClass.
    pub default_runtime_name: Known<String>,
    /// Handlers by name.
    pub handlers: BTreeMap<String, Handler>,
    /// The table of runtimes; none where no file has one.
    pub runtimes_place: Option<FileLine>,
    /// `enable_cdi`. 1.6 has no CDI: false.
    pub enable_cdi: Known<bool>,
    /// `cdi_spec_dirs`.
    pub cdi_spec_dirs: Known<Vec<String>>,
    /// `cni.bin_dirs`, or `cni.bin_dir` of older releases. The built-in list differs where a distribution
    /// patches it; Debian's has `/usr/lib/cni` first.
    pub cni_bin_dirs: Known<Vec<String>>,
    /// `cni.conf_dir`.
    pub cni_conf_dir: Known<String>,
    /// The pause image. The built-in one differs between patch releases.
    pub sandbox_image: Known<String>,
    /// The common snapshotter.
    pub snapshotter: Known<String>,
    /// `registry.config_path`; empty means none.
    pub registry_config_path: Known<String>,
    /// Hosts of `registry.mirrors`, with their lines.
    pub registry_mirrors: BTreeMap<String, FileLine>,
    /// What the CRI plugin refuses or cannot use. Problems of loading are in the configuration itself.
    pub problems: Vec<ConfigProblem>,
}

/// The tables the CRI plugins read.
pub(super) struct Tables<'a> {
    pub(super) runtime: &'a Section,
    pub(super) images: &'a Section,
}

pub(super) fn tables<'a>(config: &'a EffectiveConfig, empty: &'a Section) -> Tables<'a> {
    let get = |id: &str| config.plugins.section(&[id]).unwrap_or(empty);
    match config.containerd.release {
        release if release.is_v1() => {
            let cri = get(if config.schema < 2 { "cri" } else { GRPC_CRI });
            Tables {
                runtime: cri,
                images: cri,
            }
        }
        _ => Tables {
            runtime: get(CRI_RUNTIME),
            images: get(CRI_IMAGES),
        },
    }
}

fn text(section: &Section, path: &[&str], default: &str) -> Known<String> {
    match section.setting(path) {
        Some(setting) => Known::set(
            setting.value.as_str().unwrap_or_default().to_owned(),
            setting,
        ),
        None => Known::built_in(default.to_owned()),
    }
}

fn flag(section: &Section, path: &[&str], default: bool) -> Known<bool> {
    match section.setting(path) {
        Some(setting) => Known::set(setting.value.as_bool().unwrap_or_default(), setting),
        None => Known::built_in(default),
    }
}

fn list(section: &Section, path: &[&str], default: &[&str]) -> Known<Vec<String>> {
    match section.setting(path) {
        Some(setting) => Known::set(setting.value.strings(), setting),
        None => Known::built_in(default.iter().map(|&item| item.to_owned()).collect()),
    }
}

fn handler(name: &str, section: &Section, built_in_type: &str) -> Handler {
    let options = section.section(&["options"]);
    let options = options.map(|options| {
        options
            .entries
            .iter()
            .filter_map(|(key, node)| Some((key.clone(), node.setting()?.clone())))
    });
    Handler {
        name: name.to_owned(),
        place: Some(section.place.clone()),
        runtime_type: text(section, &["runtime_type"], built_in_type),
        runtime_path: text(section, &["runtime_path"], ""),
        binary_name: text(section, &["options", "BinaryName"], ""),
        systemd_cgroup: flag(section, &["options", "SystemdCgroup"], false),
        snapshotter: text(section, &["snapshotter"], ""),
        privileged_without_host_devices: flag(section, &["privileged_without_host_devices"], false),
        base_runtime_spec: text(section, &["base_runtime_spec"], ""),
        cni_conf_dir: text(section, &["cni_conf_dir"], ""),
        options: options.into_iter().flatten().collect(),
    }
}

const RUNC_V2: &str = "io.containerd.runc.v2";

/// 1.5 to 1.7 forget their built-in `runc` as soon as a file has a table of runtimes; 2.x keeps it and joins the two, 1.4
/// keeps it where the table has no `runc` of its own.
fn handlers(config: &EffectiveConfig, runtime: &Section) -> BTreeMap<String, Handler> {
    let v1 = config.containerd.release.is_v1();
    let mut out = BTreeMap::new();
    let listed = runtime.section(&["containerd", "runtimes"]);
    if listed.is_none() || config.containerd.keeps_runc() {
        let built_in = handler("runc", &Section::new(runtime.place.clone()), RUNC_V2);
        out.insert(
            "runc".to_owned(),
            Handler {
                place: None,
                ..built_in
            },
        );
    }
    for (name, node) in listed.into_iter().flat_map(|section| &section.entries) {
        let Some(section) = node.section() else {
            continue;
        };
        let built_in_type = if name == "runc" && !v1 { RUNC_V2 } else { "" };
        out.insert(name.clone(), handler(name, section, built_in_type));
    }
    if v1 {
        for (key, name) in [
            ("untrusted_workload_runtime", "untrusted"),
            ("default_runtime", "default"),
        ] {
            if let Some(section) = runtime.section(&["containerd", key]) {
                let implied = handler(name, section, "");
                if !implied.runtime_type.value.is_empty() {
                    out.insert(name.to_owned(), implied);
                }
            }
        }
    }
    out
}

fn default_name(config: &EffectiveConfig, runtime: &Section) -> Known<String> {
    let old = runtime.setting(&["containerd", "default_runtime", "runtime_type"]);
    match old.filter(|setting| config.containerd.release.is_v1() && !setting.value.is_zero()) {
        Some(setting) => Known::set("default".to_owned(), setting),
        None => text(runtime, &["containerd", "default_runtime_name"], "runc"),
    }
}

fn bin_dirs(release: Release, runtime: &Section) -> Known<Vec<String>> {
    let one = runtime
        .setting(&["cni", "bin_dir"])
        .filter(|setting| !setting.value.is_zero());
    let many = runtime
        .setting(&["cni", "bin_dirs"])
        .filter(|_| !release.is_v1());
    match (one, many) {
        (Some(one), None) => Known::set(
            one.value.as_str().map(str::to_owned).into_iter().collect(),
            one,
        ),
        (_, Some(many)) => Known::set(many.value.strings(), many),
        (None, None) => Known::built_in(vec!["/opt/cni/bin".to_owned()]),
    }
}

/// The CRI plugin's view of a configuration.
#[must_use]
pub fn cri_view(config: &EffectiveConfig) -> Cri {
    let empty = Section::new(config.top.place.clone());
    let tables = tables(config, &empty);
    let (runtime, images) = (tables.runtime, tables.images);
    let release = config.containerd.release;
    let (pause, cdi) = match release {
        Release::V1_6 => ("registry.k8s.io/pause:3.6", false),
        Release::V1_7 => ("registry.k8s.io/pause:3.8", false),
        Release::V2_0 | Release::V2_3 => ("registry.k8s.io/pause:3.10", true),
    };
    let image_key: &[&str] = if release.is_v1() {
        &["sandbox_image"]
    } else {
        &["pinned_images", "sandbox"]
    };
    let snapshotter_key: &[&str] = if release.is_v1() {
        &["containerd", "snapshotter"]
    } else {
        &["snapshotter"]
    };
    let mirrors = images
        .section(&["registry", "mirrors"])
        .into_iter()
        .flat_map(|section| &section.entries);
    let mut enable_cdi = flag(runtime, &["enable_cdi"], cdi);
    if release == Release::V1_6 {
        enable_cdi.value = false;
    }
    let mut cri = Cri {
        available: Answer::Yes,
        default_runtime_name: default_name(config, runtime),
        handlers: handlers(config, runtime),
        runtimes_place: runtime
            .section(&["containerd", "runtimes"])
            .map(|section| section.place.clone()),
        enable_cdi,
        cdi_spec_dirs: list(runtime, &["cdi_spec_dirs"], &["/etc/cdi", "/var/run/cdi"]),
        cni_bin_dirs: bin_dirs(release, runtime),
        cni_conf_dir: text(runtime, &["cni", "conf_dir"], "/etc/cni/net.d"),
        sandbox_image: text(images, image_key, pause),
        snapshotter: text(images, snapshotter_key, "overlayfs"),
        registry_config_path: text(images, &["registry", "config_path"], ""),
        registry_mirrors: mirrors
            .map(|(host, node)| (host.clone(), node.place().clone()))
            .collect(),
        problems: Vec::new(),
    };
    cri.problems = cri_rules::check(config, &tables, &cri);
    cri.available = availability(config, &cri);
    cri
}

fn availability(config: &EffectiveConfig, cri: &Cri) -> Answer {
    let refused = |effect| matches!(effect, Effect::CriRefuses | Effect::CriDisabled);
    if config.starts() == Starts::No {
        Answer::No
    } else if config.uncertain() {
        Answer::Unknown
    } else if config
        .problems
        .iter()
        .chain(&cri.problems)
        .any(|problem| refused(problem.effect()))
    {
        Answer::No
    } else if cri
        .problems
        .iter()
        .any(|problem| problem.effect() == Effect::Uncertain)
    {
        Answer::Unknown
    } else {
        Answer::Yes
    }
}

impl Cri {
    /// Handlers whose name or binary says NVIDIA.
    #[must_use]
    pub fn nvidia_handlers(&self) -> Vec<&Handler> {
        let nvidia = |handler: &&Handler| {
            handler.name.contains("nvidia") || handler.binary_name.value.contains("nvidia")
        };
        self.handlers.values().filter(nvidia).collect()
    }
}

/// The value of an option that is not among the named ones.
#[must_use]
pub fn option<'a>(handler: &'a Handler, key: &str) -> Option<&'a Value> {
    handler.options.get(key).map(|setting| &setting.value)
}
